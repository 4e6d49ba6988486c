//! Functions inside functions.
//!
//! Such a function is a function like others, with more parameters: the addresses of the variables
//! of the functions around it that it uses, and that the functions inside of these use which it may
//! call. Variables that are used so are in memory. A pointer to the function would have to know
//! these addresses, and is refused if there are any.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::functions::Role;
use super::linkage::declared_name;
use super::uses::Uses;
use super::{Definition, Lower, Result, Symbol, Value, decay, unsupported, wrong};
use crate::constructs::On;
use crate::syntax::ast::*;
use crate::syntax::visit::{self, Visit};
use crate::types::{Func, Ty};
use throng_goto::program::{Expr, Instr, PTR, Reg};

/// A variable of a function, as other functions know it: the template it belongs to, and where it
/// is there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Captured {
    owner: String,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Place {
    Local(u32),
    /// A register that has its address.
    At(Reg),
}

/// What a function inside of another one needs to know of it.
#[derive(Clone)]
pub(super) struct Environment {
    scopes: Vec<HashMap<String, Symbol>>,
    /// The variables whose addresses it gets.
    captured: Vec<Captured>,
    /// Those that names stand for, by scope.
    names: Vec<(usize, String, Captured, Ty)>,
}

/// The names that are used in functions inside of a function.
#[derive(Default)]
pub(super) struct Inner {
    pub(super) names: HashSet<String>,
    inside: bool,
}

impl<'a> Visit<'a> for Inner {
    fn block_item(&mut self, item: &'a Node<BlockItem>) {
        let outside = self.inside;
        self.inside |= matches!(item.node, BlockItem::Function(_));
        if let BlockItem::Function(f) = &item.node {
            // Types of parameters may be sized by variables.
            let mut uses = Names::default();
            uses.function(f);
            self.names.extend(uses.0);
        }
        visit::block_item(self, item);
        self.inside = outside;
    }

    fn expression(&mut self, e: &'a Node<Expression>) {
        if let (true, Expression::Identifier(n)) = (self.inside, &e.node) {
            self.names.insert(n.node.name.clone());
        }
        visit::expression(self, e);
    }

    fn measured(&mut self, e: &'a Node<Expression>) {
        self.expression(e);
    }
}

/// All names that are used in a function.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    fn function(&mut self, f: &Node<FunctionDefinition>) {
        self.declarator(&f.node.declarator.node);
        self.statement(&f.node.statement);
    }

    fn declarator(&mut self, d: &Declarator) {
        for part in &d.derived {
            match &part.node {
                DerivedDeclarator::Array(a) => {
                    if let ArraySize::Expression(e) | ArraySize::StaticExpression(e) = &a.size {
                        self.expression(e);
                    }
                }
                DerivedDeclarator::Function(f) => {
                    let parameters = f.parameters.iter().filter_map(|p| p.node.declarator.as_ref());
                    parameters.for_each(|d| self.declarator(&d.node));
                }
                _ => {}
            }
        }
        if let DeclaratorKind::Declarator(inner) = &d.kind.node {
            self.declarator(&inner.node);
        }
    }
}

impl<'a> Visit<'a> for Names {
    fn expression(&mut self, e: &'a Node<Expression>) {
        if let Expression::Identifier(n) = &e.node {
            self.0.insert(n.node.name.clone());
        }
        visit::expression(self, e);
    }

    fn measured(&mut self, e: &'a Node<Expression>) {
        self.expression(e);
    }
}

impl<'a> Lower<'a> {
    /// Defines a function inside of the one that is being written.
    pub(super) fn nested_function(&mut self, f: &'a Node<FunctionDefinition>) -> Result<()> {
        let base = self.specifiers(&f.node.specifiers)?;
        let attributes = base.attributes.iter().copied().chain(&f.node.declarator.node.attributes);
        self.said(attributes, On::Function)?;
        let (name, ty) = self.declarator(base.ty, &f.node.declarator)?;
        let (Some(name), Ty::Func(ty)) = (name, ty) else { return wrong(f.span, "this is not a function") };
        let ty = self.nested_parameters(f, ty)?;
        let key = self.nested_key(&name);
        self.bind(name, Symbol::Nested(ty.clone(), key.clone()));
        if self.dry {
            return Ok(());
        }
        let mut uses = Uses::default();
        visit::function(&mut uses, f);
        let mut inner = Inner::default();
        visit::function(&mut inner, f);
        uses.addressed.extend(inner.names);
        let environment = self.environment(f, &key)?;
        self.function_number(&key);
        let (addressed, bare) = (Rc::new(uses.addressed), Rc::new(uses.bare));
        let (unit, environment) = (self.linkage.unit, Some(Rc::new(environment)));
        let definition = Definition { node: f, ty, unit, weak: false, addressed, bare, environment };
        self.definitions.insert(key, definition);
        Ok(())
    }

    /// Parameters in the old style have the types that are declared behind them.
    fn nested_parameters(&mut self, f: &'a Node<FunctionDefinition>, ty: Rc<Func>) -> Result<Rc<Func>> {
        let mut new = Func::clone(&ty);
        for d in &f.node.declarations {
            let base = self.specifiers(&d.node.specifiers)?;
            for i in &d.node.declarators {
                let (name, t) = self.declarator(base.ty.clone(), &i.node.declarator)?;
                let mut same = new.parameters.iter_mut().filter(|p| p.0 == name);
                same.by_ref().for_each(|p| p.1 = decay(t.clone()));
            }
        }
        Ok(Rc::new(new))
    }

    /// Returns the name of a function inside of the one that is being written, as the program has it.
    fn nested_key(&self, name: &str) -> String {
        let outer = &self.current.template.name;
        let role = if self.current.role == Role::Called { "" } else { "#" };
        let keys = (1..).map(|n| format!("{outer}{role}#{n}:{name}"));
        keys.into_iter().find(|key| !self.definitions.contains_key(key)).unwrap_or_default()
    }

    /// Returns what a function needs of those around it.
    fn environment(&self, f: &'a Node<FunctionDefinition>, key: &str) -> Result<Environment> {
        let mut used = Names::default();
        used.function(f);
        let (mut captured, mut names) = (BTreeSet::new(), Vec::new());
        for name in &used.0 {
            let found = self.scopes.iter().enumerate().rev().find_map(|(n, s)| Some((n, s.get(name)?)));
            match found {
                Some((n, Symbol::Local(_, ty) | Symbol::Array(_, ty))) => {
                    let known = self.captured(&self.scopes[n][name]);
                    names.push((n, name.clone(), known.clone(), sizeless(ty)));
                    captured.insert(known);
                }
                // A register that no one takes the address of is only measured.
                Some((_, Symbol::Nested(_, other))) if other != key => {
                    let known = self.definitions.get(other).and_then(|d| d.environment.as_ref());
                    captured.extend(known.iter().flat_map(|e| e.captured.iter().cloned()));
                }
                _ => {}
            }
        }
        Ok(Environment { scopes: self.scopes.clone(), captured: captured.into_iter().collect(), names })
    }

    /// Returns what other functions know a variable of the running function as.
    fn captured(&self, symbol: &Symbol) -> Captured {
        let place = match symbol {
            Symbol::Local(k, _) => Place::Local(*k),
            Symbol::Array(r, _) => match self.current.captured.iter().find(|(_, own)| *own == r) {
                Some((known, _)) => return known.clone(),
                None => Place::At(*r),
            },
            _ => Place::Local(u32::MAX),
        };
        Captured { owner: self.current.template.name.clone() + self.role_mark(), place }
    }

    fn role_mark(&self) -> &'static str {
        if self.current.role == Role::Called { "" } else { "#" }
    }

    /// Makes the names of the functions around it known in a function, behind its parameters.
    pub(super) fn enter_environment(&mut self, definition: &Definition<'a>) {
        let Some(environment) = definition.environment.clone() else { return };
        let registers: BTreeMap<Captured, Reg> =
            environment.captured.iter().map(|c| (c.clone(), self.register(PTR, None))).collect();
        let mut scopes = environment.scopes.clone();
        for symbol in scopes.iter_mut().flat_map(|s| s.values_mut()) {
            if matches!(symbol, Symbol::Local(..) | Symbol::Array(..) | Symbol::Register(..)) {
                *symbol = Symbol::Refused("a variable of a function around this one".into());
            }
        }
        for (n, name, captured, ty) in &environment.names {
            scopes[*n].insert(name.clone(), Symbol::Array(registers[captured], ty.clone()));
        }
        scopes.append(&mut self.scopes);
        self.scopes = scopes;
        self.current.captured = registers;
    }

    /// Returns the addresses that a function gets of the variables around it.
    pub(super) fn captured_arguments(&self, name: &str, span: Span) -> Result<Vec<Expr>> {
        let environment = self.definitions.get(name).and_then(|d| d.environment.clone());
        let own = self.current.template.name.clone() + self.role_mark();
        let address = |c: &Captured| match (self.current.captured.get(c), c.place) {
            (Some(r), _) => Ok(Expr::Reg(*r)),
            (None, Place::Local(k)) if c.owner == own => Ok(Expr::Local(k)),
            (None, Place::At(r)) if c.owner == own => Ok(Expr::Reg(r)),
            _ => unsupported(span, "a call of this function inside a function"),
        };
        environment.iter().flat_map(|e| &e.captured).map(address).collect()
    }

    /// Returns a function inside a function as a value.
    pub(super) fn nested_value(&mut self, ty: Rc<Func>, key: &str, span: Span) -> Result<Value> {
        let environment = self.definitions.get(key).and_then(|d| d.environment.as_ref());
        if environment.is_none_or(|e| !e.captured.is_empty()) && !self.dry {
            return unsupported(span, "a pointer to a function inside a function whose variables it uses,");
        }
        let a = self.function_address(key);
        Ok(Value { expr: Expr::Const(a), ty: Ty::ptr(Ty::Func(ty)) })
    }

    /// A jump out of a function inside a function ends the calls between.
    pub(super) fn leaves_function(&mut self, label: usize) {
        let end = self.label();
        self.emit(Instr::Jump(end));
        self.place_label(label);
        self.emit(Instr::Unmodelled("a jump out of a function inside a function is not supported".into()));
        self.place_label(end);
    }

    /// A function inside a function that is not modelled cannot be used.
    pub(super) fn define_nested(&mut self, f: &'a Node<FunctionDefinition>) -> Result<()> {
        let name = declared_name(&f.node.declarator.node).unwrap_or_default();
        self.nested_function(f).inspect_err(|p| self.bind_refused(name, p))
    }
}

/// Returns a type without the sizes that only the function around knows.
fn sizeless(ty: &Ty) -> Ty {
    match ty {
        Ty::Variable(t, _) => Ty::Variable(Rc::new(sizeless(t)), None),
        Ty::Array(t, n) => Ty::Array(Rc::new(sizeless(t)), *n),
        Ty::Ptr(t) => Ty::Ptr(Rc::new(sizeless(t))),
        t => t.clone(),
    }
}
