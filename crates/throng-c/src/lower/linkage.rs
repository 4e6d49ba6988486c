//! Names across translation units: each unit has a scope of its own, internal names stay in it, and
//! external ones mean the same in all.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::syntax::ast::*;

use super::{Base, Lower, Problem, Result, Symbol, unsupported, wrong};
use crate::types::{Func, Struct, Ty};
use throng_goto::program::object_of;
use throng_goto::step::OPEN;

/// The scope of a translation unit.
#[derive(Default)]
pub(super) struct Unit {
    /// The file it is from.
    file: String,
    /// Whether it is a file of the library in C.
    of_library: bool,
    names: HashMap<String, Symbol>,
    /// Functions that only this unit can call.
    internal: HashSet<String>,
    /// Functions with an inline definition that is not `static`.
    inline: Vec<(String, Span)>,
    /// Names that are refused where they are used, and why.
    refused: HashMap<String, String>,
    /// Arrays of unknown size that are declared `extern`.
    open_arrays: Vec<String>,
}

/// A variable at a fixed address, in all its declarations.
pub(super) struct Variable {
    ty: Ty,
    external: bool,
    /// True if some declaration is a definition.
    defined: bool,
    has_value: bool,
    private: bool,
}

/// What is known about the names of all units.
#[derive(Default)]
pub(super) struct Linkage {
    /// Functions that are declared not to return, and weak ones.
    pub(super) noreturn: HashSet<String>,
    pub(super) weak: HashSet<String>,
    /// Functions that are another one with another name.
    aliases: HashMap<String, String>,
    units: Vec<Unit>,
    /// The unit that is being read.
    pub(super) unit: usize,
    /// External variables and functions.
    external: HashMap<String, Symbol>,
    variables: HashMap<i64, Variable>,
}

/// Returns the name of a function as it is written, without the file before it.
pub(crate) fn written_name(link: &str) -> &str {
    link.rsplit(':').next().unwrap_or(link)
}

impl Linkage {
    /// Returns the scopes of translation units, which are still empty.
    pub(super) fn new(units: &[TranslationUnit], files: &[String]) -> Linkage {
        let mut linkage = Linkage::default();
        for (unit, file) in units.iter().zip(files) {
            let again = linkage.units.iter().filter(|u| u.file == *file).count();
            let file = if again == 0 { file.clone() } else { format!("{file}#{}", again + 1) };
            let mut scope = Unit { file, ..Unit::default() };
            if units.len() > 1 {
                scope.find_internal(unit);
            }
            let aliases = unit.0.iter().flat_map(aliases);
            linkage.aliases.extend(aliases.map(|(name, of)| (scope.linked(name), scope.linked(&of))));
            linkage.units.push(scope);
        }
        linkage
    }

    /// Adds the scope of a file of the library, whose functions are not those of the program.
    pub(super) fn add_library(&mut self, file: &str, tree: &TranslationUnit) -> usize {
        let mut scope = Unit { file: file.to_string(), of_library: true, ..Unit::default() };
        for item in &tree.0 {
            if let ExternalDeclaration::FunctionDefinition(f) = &item.node {
                scope.internal.extend(declared_name(&f.node.declarator.node).map(str::to_string));
            }
        }
        self.units.push(scope);
        self.units.len() - 1
    }

    /// Returns whether the program has several units.
    pub(super) fn several(&self) -> bool {
        self.units.iter().filter(|unit| !unit.of_library).nth(1).is_some()
    }

    /// Returns the file scope of the unit that is being read.
    pub(super) fn names(&self) -> &HashMap<String, Symbol> {
        &self.units[self.unit].names
    }

    pub(super) fn insert(&mut self, name: String, symbol: Symbol) {
        self.units[self.unit].names.insert(name, symbol);
    }

    /// Refuses a function of a name that is given from outside, if its definition is not modelled.
    pub(super) fn usable_entry(&self, name: &str) -> Result<()> {
        match self.units.iter().find_map(|unit| unit.refused.get(name)) {
            Some(what) => unsupported(Span::none(), what.clone()),
            None => Ok(()),
        }
    }

    /// Functions of a name that is given from outside: the external one, or the only internal one.
    pub(super) fn entry(&self, name: &str) -> String {
        let mut inside = self.units.iter().filter(|u| u.internal.contains(name));
        match (self.external.contains_key(name), inside.next(), inside.next()) {
            (false, Some(unit), None) => format!("{}:{name}", unit.file),
            _ => name.to_string(),
        }
    }
}

impl Unit {
    fn linked(&self, name: &str) -> String {
        if self.internal.contains(name) { format!("{}:{name}", self.file) } else { name.to_string() }
    }

    fn find_internal(&mut self, unit: &TranslationUnit) {
        for item in &unit.0 {
            let (specifiers, declarators): (_, Vec<&Node<Declarator>>) = match &item.node {
                ExternalDeclaration::Declaration(d) => {
                    (&d.node.specifiers, d.node.declarators.iter().map(|i| &i.node.declarator).collect())
                }
                ExternalDeclaration::FunctionDefinition(f) => (&f.node.specifiers, vec![&f.node.declarator]),
                _ => continue,
            };
            let is_static = specifiers.iter().any(|s| {
                matches!(&s.node, DeclarationSpecifier::StorageClass(StorageClassSpecifier::Static))
            });
            let defines = matches!(item.node, ExternalDeclaration::FunctionDefinition(_));
            let is_inline = defines && specifiers.iter().any(is_inline);
            for name in declarators.into_iter().filter_map(|d| declared_name(&d.node)) {
                if is_inline && !is_static && !self.internal.contains(name) {
                    self.inline.push((name.to_string(), item.span));
                }
                if is_static || is_inline {
                    self.internal.insert(name.to_string());
                }
            }
        }
    }
}

fn is_inline(s: &Node<DeclarationSpecifier>) -> bool {
    matches!(s.node, DeclarationSpecifier::Function(FunctionSpecifier::Inline))
}

/// Returns the functions that a declaration makes another name of, and that name.
fn aliases(item: &Node<ExternalDeclaration>) -> Vec<(&str, String)> {
    let ExternalDeclaration::Declaration(d) = &item.node else { return Vec::new() };
    let mut found = Vec::new();
    for i in &d.node.declarators {
        let declarator = &i.node.declarator.node;
        let before = d.node.specifiers.iter().flat_map(|s| match &s.node {
            DeclarationSpecifier::Attributes(list) => &list[..],
            _ => &[],
        });
        for a in before.chain(&declarator.attributes).filter(|a| a.name.node == "alias") {
            let target = a.text.trim().trim_matches('"').to_string();
            found.extend(declared_name(declarator).map(|name| (name, target)));
        }
    }
    found
}

/// Returns where the name of a declarator is, if it has one.
pub(crate) fn declared_at(d: &Declarator) -> Option<Span> {
    match &d.kind.node {
        DeclaratorKind::Identifier(n) => Some(n.span),
        DeclaratorKind::Declarator(inner) => declared_at(&inner.node),
        DeclaratorKind::Abstract => None,
    }
}

pub(crate) fn declared_name(d: &Declarator) -> Option<&str> {
    match &d.kind.node {
        DeclaratorKind::Identifier(n) => Some(&n.node.name),
        DeclaratorKind::Declarator(inner) => declared_name(&inner.node),
        DeclaratorKind::Abstract => None,
    }
}

impl<'a> Lower<'a> {
    /// Returns the name by which functions of all units are told apart: `FILE:NAME` for one that
    /// only this unit can call, if there are several units.
    pub(super) fn linked(&self, name: &str) -> String {
        let link = self.linkage.units[self.linkage.unit].linked(name);
        self.linkage.aliases.get(&link).cloned().unwrap_or(link)
    }

    /// Returns whether this unit can call a function of a name that has a body.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.definitions.contains_key(&self.linked(name))
    }

    /// Takes note that a name of the file scope cannot be used, because something in its
    /// declaration is not modelled. What other units refer to is refused at once.
    pub(super) fn refuse(&mut self, name: &str, is_type: bool, defines: bool, p: Problem) -> Result<()> {
        let internal = is_type || self.linked(name) != name;
        let Some(what) = p.construct() else { return Err(p) };
        if defines && !internal && self.linkage.several() {
            return Err(p);
        }
        let what = format!("{what} (of `{name}`)");
        let unit = self.linkage.unit;
        if is_type {
            // It may be named, as headers do, and nothing else: it is a structure without members.
            let refused = Some(what);
            self.structs.push(Struct { name: name.into(), align: 1, unit, refused, ..Struct::default() });
            self.bind(name.to_string(), Symbol::Typedef(Ty::Struct(self.structs.len() - 1), None));
        } else {
            self.linkage.units[unit].refused.insert(name.to_string(), what);
        }
        Ok(())
    }

    /// Refuses a name of the file scope that was declared with something that is not modelled.
    pub(super) fn usable(&self, name: &str, span: Span) -> Result<()> {
        let refused = match self.lookup(name) {
            Some(Symbol::Refused(what)) => Some(what),
            _ if self.scopes.iter().any(|s| s.contains_key(name)) => None,
            _ => self.linkage.units[self.linkage.unit].refused.get(name),
        };
        refused.map_or(Ok(()), |what| unsupported(span, what.clone()))
    }

    /// Declares a function in the file scope.
    pub(super) fn declare_function(&mut self, name: &str, ty: &Rc<Func>, span: Span) -> Result<()> {
        // What files of the library call may have other types where the program declares it.
        let internal = self.linked(name) != name || self.linkage.units[self.linkage.unit].of_library;
        let here = self.linkage.names().get(name).cloned();
        let elsewhere = self.linkage.external.get(name).filter(|_| !internal).cloned();
        for known in here.iter().chain(&elsewhere) {
            match known {
                Symbol::Function(old) if self.same_function(old, ty, &mut Vec::new()) => {}
                Symbol::Function(_) => {
                    return wrong(span, format!("`{name}` is declared with two types"));
                }
                _ => return wrong(span, format!("`{name}` is declared as something else as well")),
            }
        }
        // The declaration with parameters says more.
        let known = here.or(elsewhere).filter(|_| ty.parameters.is_empty());
        let symbol = known.unwrap_or_else(|| Symbol::Function(ty.clone()));
        self.linkage.insert(name.to_string(), symbol.clone());
        if !internal {
            self.linkage.external.insert(name.to_string(), symbol);
        }
        Ok(())
    }

    /// A variable of the file scope, or one that is `extern` in a block: its address.
    pub(super) fn linked_variable(
        &mut self,
        base: &Base,
        name: &str,
        ty: &Ty,
        item: &'a Node<InitDeclarator>,
    ) -> Result<()> {
        let span = item.span;
        let has_value = item.node.initializer.is_some();
        let defines = base.class != Some(StorageClassSpecifier::Extern) || has_value;
        let is_static = base.class == Some(StorageClassSpecifier::Static);
        if !defines && ty.layout(&self.structs).is_none() {
            // Its size is known elsewhere, or it cannot be used.
            let open = &mut self.linkage.units[self.linkage.unit].open_arrays;
            open.push(name.to_string());
            return Ok(());
        }
        let here = self.linkage.names().get(name).cloned();
        let known = here.or_else(|| self.linkage.external.get(name).filter(|_| !is_static).cloned());
        let a = match known {
            Some(Symbol::Memory(a, _)) => {
                self.check_again(a, name, ty, base, span)?;
                a
            }
            Some(_) => return wrong(span, format!("`{name}` is declared as something else as well")),
            None => self.new_variable(base, name, ty, span)?,
        };
        self.define_variable(a, name, defines, has_value, span)?;
        let symbol = Symbol::Memory(a, ty.clone());
        if self.linkage.variables[&a].external {
            self.linkage.external.insert(name.to_string(), symbol.clone());
        }
        match self.scopes.last_mut() {
            Some(scope) => scope.insert(name.to_string(), symbol),
            None => self.linkage.units[self.linkage.unit].names.insert(name.to_string(), symbol),
        };
        self.fixed_initial(a, ty, item, span).inspect_err(|_| self.unknown_initial(a))
    }

    /// Part of the initial value of a variable is not known: it has any value, on which no run may
    /// depend.
    fn unknown_initial(&mut self, a: i64) {
        let object = usize::try_from(object_of(a) - 1).ok();
        if let Some(o) = object.and_then(|o| self.program.objects.get_mut(o)) {
            o.init.fill(OPEN);
            o.external = true;
        }
    }

    /// Checks that a variable may be declared in this way, too.
    fn check_again(&self, a: i64, name: &str, ty: &Ty, base: &Base, span: Span) -> Result<()> {
        let known = &self.linkage.variables[&a];
        let is_static = base.class == Some(StorageClassSpecifier::Static);
        let is_extern = base.class == Some(StorageClassSpecifier::Extern);
        if !self.same_type(&known.ty, ty) {
            return wrong(span, format!("`{name}` is declared with two types"));
        }
        if known.private != base.thread_local
            || is_static && known.external
            || !known.external && !is_static && !is_extern
        {
            return wrong(span, format!("`{name}` is declared with two storage classes"));
        }
        Ok(())
    }

    fn new_variable(&mut self, base: &Base, name: &str, ty: &Ty, span: Span) -> Result<i64> {
        let size = self.size_of(ty, span)? as usize;
        let a = if base.thread_local {
            let align = ty.layout(&self.structs).map_or(1, |l| l.1);
            self.thread_local(name, size as u64, align)
        } else {
            let shown = self.object_name(name);
            let stream = self.stream(name);
            let external = stream.is_none();
            let a = self.object(shown, ty, stream.unwrap_or(vec![OPEN; size]));
            if let Some(object) = self.program.objects.last_mut() {
                (object.global, object.external) = (true, external);
            }
            a
        };
        let external = base.class != Some(StorageClassSpecifier::Static);
        let variable = Variable {
            ty: ty.clone(),
            external,
            defined: false,
            has_value: false,
            private: base.thread_local,
        };
        self.linkage.variables.insert(a, variable);
        Ok(a)
    }

    /// Returns how a variable is called in reports: with its file, where another file has one of
    /// that name.
    fn object_name(&self, name: &str) -> String {
        match self.program.objects.iter().any(|o| o.global && o.name == name) {
            true => format!("{}:{name}", self.linkage.units[self.linkage.unit].file),
            false => name.to_string(),
        }
    }

    /// A variable that is declared `extern` only has any value; a definition without one makes
    /// it 0.
    fn define_variable(
        &mut self,
        a: i64,
        name: &str,
        defines: bool,
        has_value: bool,
        span: Span,
    ) -> Result<()> {
        let Some(v) = self.linkage.variables.get_mut(&a) else { return Ok(()) };
        if v.has_value && has_value {
            return wrong(span, format!("`{name}` is defined twice"));
        }
        if defines
            && !v.defined
            && let Some(o) = self.program.objects.get_mut(object_of(a) as usize - 1)
        {
            o.init.fill(0);
            o.external = false;
        }
        v.defined |= defines;
        v.has_value |= has_value;
        Ok(())
    }

    /// What can only be said when all units were read: sizes of arrays that other units define, and
    /// functions of which C leaves open which definition is called.
    pub(super) fn finish_linkage(&mut self) {
        for unit in &mut self.linkage.units {
            for name in std::mem::take(&mut unit.open_arrays) {
                if let (false, Some(symbol)) =
                    (unit.names.contains_key(&name), self.linkage.external.get(&name))
                {
                    unit.names.insert(name, symbol.clone());
                }
            }
            for (name, span) in unit.inline.iter().filter(|(name, _)| self.definitions.contains_key(name)) {
                let message = format!(
                    "`{name}`, which is `inline` in one file and defined in another one, is not supported"
                );
                self.problems.push(Problem { code: "E803", span: *span, message, hint: None });
            }
        }
    }

    /// Returns whether two declarations of a function agree; one without parameters agrees with
    /// any.
    fn same_function(&self, a: &Func, b: &Func, within: &mut Vec<(usize, usize)>) -> bool {
        let open = a.parameters.is_empty() || b.parameters.is_empty();
        let alike = a.parameters.len() == b.parameters.len() && a.variadic == b.variadic;
        let mut pairs = a.parameters.iter().zip(&b.parameters);
        self.same(&a.result, &b.result, within)
            && (open || alike && pairs.all(|(a, b)| self.same(a.1.plain(), b.1.plain(), within)))
    }

    /// Returns whether types are compatible. Structures of different units are if they have the
    /// same tag and the same members.
    pub(super) fn same_type(&self, a: &Ty, b: &Ty) -> bool {
        self.same(a, b, &mut Vec::new())
    }

    fn same(&self, a: &Ty, b: &Ty, within: &mut Vec<(usize, usize)>) -> bool {
        match (a, b) {
            (Ty::Ptr(a), Ty::Ptr(b)) | (Ty::Atomic(a), Ty::Atomic(b)) => self.same(a, b, within),
            (Ty::Array(a, m), Ty::Array(b, n)) => {
                (m == n || m.is_none() || n.is_none()) && self.same(a, b, within)
            }
            (Ty::Variable(a, _), Ty::Variable(b, _) | Ty::Array(b, _)) => self.same(a, b, within),
            (Ty::Array(a, _), Ty::Variable(b, _)) => self.same(a, b, within),
            (Ty::Func(a), Ty::Func(b)) => self.same_function(a, b, within),
            (Ty::Struct(a), Ty::Struct(b)) => {
                if a == b || within.contains(&(*a, *b)) {
                    return true;
                }
                within.push((*a, *b));
                let (a, b) = (&self.structs[*a], &self.structs[*b]);
                let open = !a.complete || !b.complete;
                let mut pairs = a.fields.iter().zip(&b.fields);
                a.unit != b.unit
                    && a.name == b.name
                    && (open
                        || a.fields.len() == b.fields.len()
                            && a.size == b.size
                            && pairs.all(|(a, b)| {
                                a.name == b.name
                                    && a.offset == b.offset
                                    && a.bits == b.bits
                                    && self.same(&a.ty, &b.ty, within)
                            }))
            }
            _ => a == b,
        }
    }
}
