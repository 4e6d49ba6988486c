//! Numbers, enumerations and arrays to bits (reference 2.17): a tree with types becomes one in
//! which everything is Boolean, before any name is resolved.
//!
//! The variable `n : 0..7` becomes `n.0`, `n.1` and `n.2`, lowest bit first, and the element `a[2]`
//! of an array `a.2.0` and so on. A statement that could leave a range or an array carries a
//! [check](ast::Stmt::check) that says when it does not.
//!
//! Not every pattern of bits is a value of `0..4`. A variable that can have any bits, because it
//! has no initial value or is assigned `*`, is *loose*: reading it yields the nearest value, so
//! that every pattern means a value and every value is possible.

mod expr;
pub mod number;
pub mod plain;
mod statement;

use std::collections::{HashMap, HashSet};

use super::ast::{self, Expr, ExprKind, Ident, Stmt, StmtKind, Target};
use super::resolve::each_stmt;
use super::types::{Group, Groups, Type};
use crate::source::{Diagnostic, Span};
use number::{and, constant};

/// Maximum number of bits of a number.
const MOST_BITS: u32 = 16;

/// Maximum number of elements of an array.
const MOST_ELEMENTS: i64 = 256;

/// Maximum number of statements that all `for` loops together may become.
const MOST_STATEMENTS: usize = 1 << 16;

/// Maximum number of nodes in the expressions of one statement.
const MOST_NODES: usize = 1 << 15;

/// Maximum nesting of the expressions of one statement.
const MOST_DEPTH: usize = 300;

/// A variable and its type.
#[derive(Clone, Debug)]
struct Declared {
    ty: Type,
    /// The number of elements, if it is an array.
    length: Option<usize>,
    /// True if its bits may encode no value of its type.
    loose: bool,
}

/// The types of global variables, and constants.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    variables: HashMap<String, Declared>,
    /// The types of the variables of each function.
    locals: HashMap<String, HashMap<String, Declared>>,
    /// Constants and values of enumerations; the latter have a type.
    constants: HashMap<String, (i64, Option<Type>)>,
}

/// The types of the parameters and results of a function.
#[derive(Clone, Debug, Default)]
struct Signature {
    parameters: Vec<Type>,
    results: Vec<Type>,
}

/// A program without types.
#[derive(Debug, Default)]
pub struct Lowered {
    /// Its tree.
    pub tree: ast::Program,
    /// The bits of each variable.
    pub groups: Groups,
    /// Constants, and types of variables.
    pub globals: Globals,
}

type Result<T> = std::result::Result<T, Diagnostic>;

fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

/// Lowers a program. On errors the result is not usable.
pub fn lower(tree: &ast::Program) -> (Lowered, Vec<Diagnostic>) {
    let mut lowering = Lowering::default();
    lowering.program(tree);
    let Lowering { lowered, mut diagnostics, .. } = lowering;
    diagnostics.sort_by_key(|d| d.span);
    (lowered, diagnostics)
}

/// Lowers a condition over global variables, and those of a function if one is given. An index
/// outside its array makes the condition false.
pub fn lower_condition(e: &Expr, globals: &Globals, function: Option<&str>) -> Result<Expr> {
    let globals = globals.clone();
    let locals = function.and_then(|f| globals.locals.get(f)).cloned().unwrap_or_default();
    let mut lowering =
        Lowering { lowered: Lowered { globals, ..Lowered::default() }, locals, ..Lowering::default() };
    let mut check = constant(true, e.span);
    let condition = lowering.boolean(e, &mut check)?;
    Ok(and(check, condition))
}

#[derive(Default)]
struct Lowering {
    lowered: Lowered,
    enumerations: HashMap<String, Type>,
    signatures: HashMap<String, Signature>,
    /// Variables of the current function.
    locals: HashMap<String, Declared>,
    /// The type of the results of the current function.
    results: Vec<Type>,
    /// The variables of the enclosing `for` loops and their values.
    loops: Vec<(String, i64)>,
    /// Names of variables that are assigned `*` or the result of a call somewhere.
    assigned_any: HashSet<String>,
    /// Names of functions that get a `*` as an argument somewhere.
    called_with_any: HashSet<String>,
    /// The variables that each condition of the current statement reads, in order
    /// ([`Stmt::reads`]).
    reads: Vec<Vec<ast::Read>>,
    /// Statements made from `for` loops so far.
    made: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Lowering {
    fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|d| self.diagnostics.push(d)).ok()
    }

    // ── declarations ──

    fn program(&mut self, tree: &ast::Program) {
        for c in &tree.constants {
            if let Some(value) = {
                let value = self.constant(&c.value);
                self.take(value)
            } {
                self.define(&c.name, value, None);
            }
        }
        for e in &tree.enumerations {
            self.enumeration(e);
        }
        for function in &tree.functions {
            each_stmt(&function.body, &mut |s| self.record_free_bits(s));
        }
        for decl in &tree.globals {
            let declared = self.declaration(decl);
            for variable in &declared.0.variables {
                if self.lowered.globals.constants.contains_key(&variable.name.name) {
                    self.diagnostics.push(twice(&variable.name));
                }
            }
            let groups = &mut self.lowered.groups;
            if decl.thread_local { &mut groups.thread_locals } else { &mut groups.shared }.extend(declared.1);
            self.lowered.globals.variables.extend(declared.2);
            self.lowered.tree.globals.push(declared.0);
        }
        for function in &tree.functions {
            let parameters = self.types(&function.parameter_types, function.parameters.len());
            let results = self.types(&function.result_types, function.results as usize);
            self.signatures.insert(function.name.name.clone(), Signature { parameters, results });
        }
        for function in &tree.functions {
            let function = self.function(function);
            self.lowered.tree.functions.push(function);
        }
        self.distinct_bits(tree);
    }

    fn define(&mut self, name: &Ident, value: i64, ty: Option<Type>) {
        if self.lowered.globals.constants.insert(name.name.clone(), (value, ty)).is_some() {
            self.diagnostics.push(twice(name));
        }
    }

    fn enumeration(&mut self, e: &ast::Enumeration) {
        let values: Vec<String> = e.values.iter().map(|v| v.name.clone()).collect();
        let ty = Type::Enum { name: e.name.name.clone(), values };
        for (i, value) in e.values.iter().enumerate() {
            self.define(value, i as i64, Some(ty.clone()));
        }
        if self.enumerations.insert(e.name.name.clone(), ty).is_some() {
            self.diagnostics.push(twice(&e.name));
        }
    }

    /// Records the variables whose bits can be arbitrary.
    fn record_free_bits(&mut self, s: &Stmt) {
        let is_any = |e: &Expr| matches!(e.kind, ExprKind::Any);
        let base = |t: &Target| t.ident.name.trim_end_matches('$').to_string();
        match &s.kind {
            StmtKind::Assign { targets, values, .. } => {
                let any = targets.iter().zip(values).filter(|(_, e)| is_any(e));
                self.assigned_any.extend(any.map(|(t, _)| base(t)));
            }
            StmtKind::Call { targets, callee, arguments } => {
                self.assigned_any.extend(targets.iter().map(base));
                if arguments.iter().any(is_any) {
                    self.called_with_any.insert(callee.name.clone());
                }
            }
            _ => {}
        }
    }

    fn types(&mut self, types: &[ast::Type], count: usize) -> Vec<Type> {
        if types.is_empty() {
            return vec![Type::Bool; count];
        }
        types
            .iter()
            .map(|ty| {
                let ty = self.ty(ty);
                self.take(ty).unwrap_or(Type::Bool)
            })
            .collect()
    }

    fn ty(&mut self, ty: &ast::Type) -> Result<Type> {
        match ty {
            ast::Type::Bool => Ok(Type::Bool),
            ast::Type::Range(from, to) => {
                let (low, high) = (self.constant(from)?, self.constant(to)?);
                let span = from.span.to(to.span);
                if low > high {
                    return Err(error("E222", span, format!("there is no number in {low}..{high}")));
                }
                if number::width(low, high) > MOST_BITS as usize {
                    return Err(error("E222", span, format!("a number has at most {MOST_BITS} bits")));
                }
                Ok(Type::Range(low, high))
            }
            ast::Type::Named(name) => {
                if let Some(ty) = self.enumerations.get(&name.name) {
                    return Ok(ty.clone());
                }
                let bits = name.name.strip_prefix('u').and_then(|digits| digits.parse::<u32>().ok());
                match bits {
                    Some(bits) if (1..=MOST_BITS).contains(&bits) => Ok(Type::Wrap(bits)),
                    Some(_) => {
                        let message = format!("a number has between 1 and {MOST_BITS} bits");
                        Err(error("E222", name.span, message))
                    }
                    None => Err(error("E222", name.span, format!("no type `{}`", name.name))
                        .hint("types are `bool`, `0..7`, `u3` and enumerations")),
                }
            }
        }
    }

    /// Returns the bits of a declaration, their groups, and the types of its variables.
    fn declaration(&mut self, decl: &ast::Decl) -> (ast::Decl, Vec<Group>, Vec<(String, Declared)>) {
        let (mut variables, mut groups, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for v in &decl.variables {
            let declared = self.declared(v);
            let Some((declared, initial)) = self.take(declared) else { continue };
            if declared.ty == Type::Bool && declared.length.is_none() {
                variables.push(ast::DeclVar { ty: None, initial, ..v.clone() });
            } else {
                for group in groups_of(&v.name.name, &declared) {
                    for (i, bit) in group.bits.iter().enumerate() {
                        let name = Ident { name: bit.clone(), span: v.name.span };
                        let initial = initial.as_ref().map(|value| bit_of(value, i));
                        variables.push(ast::DeclVar { name, length: None, ty: None, initial });
                    }
                    groups.push(group);
                }
            }
            types.push((v.name.name.clone(), declared));
        }
        (ast::Decl { variables, ..decl.clone() }, groups, types)
    }

    /// Returns the type of a declared variable and its initial value, which is of that type.
    fn declared(&mut self, v: &ast::DeclVar) -> Result<(Declared, Option<ast::Initial>)> {
        let ty = v.ty.as_ref().map_or(Ok(Type::Bool), |ty| self.ty(ty))?;
        let length = match &v.length {
            None => None,
            Some(e) => match self.constant(e)? {
                n @ 1..=MOST_ELEMENTS => Some(n as usize),
                _ => {
                    let message = format!("an array has between 1 and {MOST_ELEMENTS} elements");
                    return Err(error("E222", e.span, message));
                }
            },
        };
        let name = &v.name.name;
        let any = matches!(v.initial, None | Some(ast::Initial::Any)) || self.assigned_any.contains(name);
        let initial = match &v.initial {
            None | Some(ast::Initial::Any) => v.initial.clone(),
            Some(ast::Initial::False) => Some(self.initial(0, None, &ty, v.name.span)?),
            Some(ast::Initial::True) => Some(self.initial(1, None, &ty, v.name.span)?),
            Some(ast::Initial::Value(e)) => {
                let (value, of) = self.constant_of(e)?;
                Some(self.initial(value, of, &ty, e.span)?)
            }
        };
        let loose = any && !ty.is_full();
        Ok((Declared { ty, length, loose }, initial))
    }

    fn initial(&self, value: i64, of: Option<Type>, ty: &Type, span: Span) -> Result<ast::Initial> {
        if of.as_ref() != Some(ty) && (of.is_some() || matches!(ty, Type::Enum { .. })) {
            return Err(error("E220", span, format!("the initial value is not a value of {}", describe(ty))));
        }
        let (low, high) = ty.bounds();
        if !(low..=high).contains(&value) {
            return Err(error("E226", span, format!("the initial value {value} is not in {low}..{high}")));
        }
        Ok(match ty {
            Type::Bool if value == 0 => ast::Initial::False,
            Type::Bool => ast::Initial::True,
            _ => ast::Initial::Value(Expr { kind: ExprKind::Number(value), span }),
        })
    }

    /// Refuses a name written in the program that is also the name of a bit.
    fn distinct_bits(&mut self, tree: &ast::Program) {
        let mut written: Vec<&Ident> =
            tree.globals.iter().flat_map(|d| &d.variables).map(|v| &v.name).collect();
        for function in &tree.functions {
            written.extend(&function.parameters);
            each_stmt(&function.body, &mut |s| {
                if let StmtKind::Decl(d) = &s.kind {
                    written.extend(d.variables.iter().map(|v| &v.name));
                }
            });
        }
        let groups = &self.lowered.groups;
        let all = groups.shared.iter().chain(&groups.thread_locals).chain(groups.functions.iter().flatten());
        let mut owner: HashMap<&str, &str> = HashMap::new();
        let mut shared = HashSet::new();
        for group in all {
            let name = group.name.split('[').next().unwrap_or_default();
            for bit in &group.bits {
                if *owner.entry(bit).or_insert(name) != name {
                    shared.insert(name);
                }
            }
        }
        for ident in written {
            let bit = ident.name.trim_end_matches('$');
            if owner.contains_key(bit) || shared.contains(ident.name.as_str()) {
                let message = format!("`{}` is also the name of a bit of another variable", ident.name);
                self.diagnostics.push(error("E202", ident.span, message).hint("give it another name"));
            }
        }
    }

    // ── functions ──

    fn function(&mut self, function: &ast::Function) -> ast::Function {
        let signature = self.signatures.get(&function.name.name).cloned().unwrap_or_default();
        self.locals.clear();
        let mut groups = Vec::new();
        let mut parameters = Vec::new();
        let any = function.name.name == "main" || self.called_with_any.contains(&function.name.name);
        for (name, ty) in function.parameters.iter().zip(&signature.parameters) {
            let loose = (any || self.assigned_any.contains(&name.name)) && !ty.is_full();
            let declared = Declared { ty: ty.clone(), length: None, loose };
            parameters.extend(bits_of(name, &declared));
            if *ty != Type::Bool {
                groups.extend(groups_of(&name.name, &declared));
            }
            self.locals.insert(name.name.clone(), declared);
        }
        // A declaration is in scope in the whole function.
        let mut declarations = Vec::new();
        each_stmt(&function.body, &mut |s| {
            if let StmtKind::Decl(d) = &s.kind {
                declarations.push(d);
            }
        });
        let before = self.diagnostics.len();
        for decl in declarations {
            let (_, more, types) = self.declaration(decl);
            groups.extend(more);
            self.locals.extend(types);
        }
        self.lowered.groups.functions.push(groups);
        self.lowered.globals.locals.insert(function.name.name.clone(), self.locals.clone());
        let sound = self.diagnostics.len() == before;
        self.results = signature.results;
        let body = if sound { self.block(&function.body) } else { Vec::new() };
        ast::Function {
            results: self.results.iter().map(|ty| ty.bits() as u32).sum(),
            result_types: Vec::new(),
            parameters,
            parameter_types: Vec::new(),
            body,
            ..function.clone()
        }
    }
}

fn twice(name: &Ident) -> Diagnostic {
    error("E202", name.span, format!("`{}` is declared twice", name.name)).label("second declaration")
}

fn describe(ty: &Type) -> String {
    match ty {
        Type::Bool => "type bool".into(),
        Type::Range(low, high) => format!("type {low}..{high}"),
        Type::Wrap(bits) => format!("type u{bits}"),
        Type::Enum { name, .. } => format!("type {name}"),
    }
}

/// Returns the names of the bits of a variable or an element.
fn element_bits(name: &str, index: Option<usize>, ty: &Type) -> Vec<String> {
    let base = index.map_or(name.to_string(), |k| format!("{name}.{k}"));
    match ty {
        Type::Bool => vec![base],
        _ => (0..ty.bits()).map(|i| format!("{base}.{i}")).collect(),
    }
}

fn groups_of(name: &str, declared: &Declared) -> Vec<Group> {
    let group = |index: Option<usize>| Group {
        name: index.map_or(name.to_string(), |k| format!("{name}[{k}]")),
        ty: declared.ty.clone(),
        bits: element_bits(name, index, &declared.ty),
    };
    match declared.length {
        None => vec![group(None)],
        Some(length) => (0..length).map(|k| group(Some(k))).collect(),
    }
}

fn bits_of(name: &Ident, declared: &Declared) -> Vec<Ident> {
    let groups = groups_of(&name.name, declared);
    groups.into_iter().flat_map(|g| g.bits).map(|bit| Ident { name: bit, span: name.span }).collect()
}

fn bit_of(initial: &ast::Initial, i: usize) -> ast::Initial {
    match initial {
        ast::Initial::Value(Expr { kind: ExprKind::Number(n), .. }) if n >> i & 1 == 1 => ast::Initial::True,
        ast::Initial::Value(_) => ast::Initial::False,
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
