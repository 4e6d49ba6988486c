//! Declarations: objects with their places, and what a name stands for.

use super::{Lower, MOST_BYTES, Place, Problem, Result, Symbol, decay, declared_name, wrong};

use super::attributes::Said;
use crate::constructs::On;
use crate::syntax::ast::*;
use crate::types::Ty;
use throng_goto::program::{Access, Expr, Instr, Local, Object, PRIVATE, Private, Reg, address, object_of};

impl<'a> Lower<'a> {
    pub(super) fn declaration(&mut self, d: &'a Node<Declaration>) -> Result<()> {
        if let ([], [s]) = (&d.node.declarators[..], &d.node.specifiers[..])
            && let DeclarationSpecifier::TypeSpecifier(Node { node: TypeSpecifier::Struct(s), .. }) = &s.node
        {
            self.declare_tag(s);
        }
        let base = match self.specifiers(&d.node.specifiers) {
            Ok(base) => base,
            Err(p) => return self.refuse_all(d, p),
        };
        for item in &d.node.declarators {
            self.each_declared(|s| {
                s.declare(&base, item, d.span).or_else(|p| s.refuse_on_use(item, base.class, p))
            })?;
        }
        Ok(())
    }

    /// A declaration whose specifiers are not modelled.
    pub(super) fn refuse_all(&mut self, d: &'a Node<Declaration>, p: Problem) -> Result<()> {
        let class = d.node.specifiers.iter().find_map(|s| match s.node {
            DeclarationSpecifier::StorageClass(c) if c != StorageClassSpecifier::ThreadLocal => Some(c),
            _ => None,
        });
        match &d.node.declarators[..] {
            // Structures and enumerations know it themselves.
            [] if p.construct().is_some() => Ok(()),
            [] => Err(p),
            all => all
                .iter()
                .try_for_each(|item| self.each_declared(|s| s.refuse_on_use(item, class, p.clone()))),
        }
    }

    /// One of the names of a declaration; what is wrong with it does not concern the others.
    pub(super) fn each_declared(&mut self, declare: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.scopes.is_empty() {
            return declare(self);
        }
        self.attempt(declare);
        Ok(())
    }

    /// Something in a declaration of the file scope is not modelled, which matters where the name
    /// is used; elsewhere it is an error.
    pub(super) fn refuse_on_use(
        &mut self,
        item: &'a Node<InitDeclarator>,
        class: Option<StorageClassSpecifier>,
        p: Problem,
    ) -> Result<()> {
        if !self.scopes.is_empty() {
            return self.refuse_local(item, class, p);
        }
        let declarator = &item.node.declarator.node;
        let Some(name) = declared_name(declarator) else { return Err(p) };
        let is_type = class == Some(StorageClassSpecifier::Typedef);
        let is_function = matches!(
            declarator.derived.last().map(|d| &d.node),
            Some(DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_))
        );
        let declares = is_function || class == Some(StorageClassSpecifier::Extern);
        self.refuse(name, is_type, !declares || item.node.initializer.is_some(), p)
    }

    pub(super) fn declare(
        &mut self,
        base: &Base<'a>,
        item: &'a Node<InitDeclarator>,
        declared: Span,
    ) -> Result<()> {
        let (span, declarator) = (item.span, &item.node.declarator);
        let fixed = self.scopes.is_empty()
            || matches!(base.class, Some(StorageClassSpecifier::Extern | StorageClassSpecifier::Static));
        let (name, ty) = self.declarator(base.ty.clone(), declarator)?;
        let Some(name) = name else { return Ok(()) };
        let on = match &ty {
            _ if base.class == Some(StorageClassSpecifier::Typedef) => On::Type,
            Ty::Func(_) => On::Function,
            _ if fixed => On::Variable,
            _ => On::Local,
        };
        let attributes = base.attributes.iter().copied().chain(&declarator.node.attributes);
        let said = self.said(attributes, on)?;
        self.check_label(&name, declarator)?;
        if on != On::Type {
            let simple = said.vector.is_none() && declarator.node.derived.is_empty();
            self.note_alignment(&name, base, said.aligned, simple);
        }
        let ty = self.in_mode(ty, said.mode, span)?;
        let mut ty = self.in_vector(ty, &said, span)?;
        match on {
            On::Type => return self.declare_type(name, ty, base, item, &said),
            On::Function => {
                let Ty::Func(f) = &ty else { return Ok(()) };
                self.declare_function(&name, f, span)?;
                let noreturn = said.noreturn || base.noreturn;
                return self.function_attributes(&name, &Said { noreturn, ..said }, span);
            }
            _ => {}
        }
        if matches!(ty, Ty::Variable(..)) && on == On::Local {
            return self.variable_array(name, ty, item, said.cleanup.is_some());
        }
        if let Some(init) = &item.node.initializer {
            ty = self.sized(ty, init)?;
        }
        if ty == Ty::Auto {
            match &item.node.initializer {
                Some(Node { node: Initializer::Expression(e), .. }) => ty = decay(self.type_of(e)?),
                _ => return wrong(span, "a type or an initial value is missing"),
            }
        }
        if self.scopes.is_empty() || base.class == Some(StorageClassSpecifier::Extern) {
            self.check_weak(&name, base, item, &said)?;
            self.linked_variable(base, &name, &ty, item)?;
        } else if base.class == Some(StorageClassSpecifier::Static) {
            self.static_local(base, name.clone(), ty, item, declared)?;
        } else {
            self.local_variable(name.clone(), ty, item, said.cleanup)?;
        }
        self.align_variable(&name);
        if base.volatile
            && !declarator.node.derived.iter().any(|d| matches!(d.node, DerivedDeclarator::Pointer(_)))
        {
            self.note_volatile(&name);
        }
        Ok(())
    }

    /// A variable at a fixed place is declared `volatile`.
    pub(super) fn note_volatile(&mut self, name: &str) {
        if let Some(Symbol::Memory(a, _)) = self.lookup(name) {
            let object = object_of(*a);
            self.volatiles.insert(object);
        }
    }

    /// Makes the accesses to variables that are declared `volatile` atomic.
    pub(super) fn volatile_accesses(&mut self) {
        for t in &mut self.program.templates {
            for (i, access) in t.code.iter().zip(&mut t.access) {
                let (Instr::Load(_, a, _) | Instr::Store(a, ..)) = i else { continue };
                let mut objects = Vec::new();
                a.constants(&mut |v| objects.push(object_of(v)));
                objects.retain(|o| *o > 0);
                if *access == Access::Plain && matches!(objects[..], [o] if self.volatiles.contains(&o)) {
                    *access = Access::Atomic(throng_goto::program::Order::SeqCst);
                }
            }
        }
    }

    pub(super) fn declare_type(
        &mut self,
        name: String,
        ty: Ty,
        base: &Base<'a>,
        item: &'a Node<InitDeclarator>,
        said: &Said<'a>,
    ) -> Result<()> {
        match self.scopes.last().unwrap_or(self.linkage.names()).get(&name) {
            Some(Symbol::Typedef(known, _)) if !self.same_type(known, &ty) => {
                return wrong(item.span, format!("`{name}` is declared with two types"));
            }
            Some(Symbol::Typedef(..)) | None => {}
            Some(_) => return wrong(item.span, format!("`{name}` is declared as something else as well")),
        }
        if let (true, Ty::Struct(s)) = (said.transparent, &ty) {
            self.structs[*s].transparent = true;
        }
        let simple = said.vector.is_none() && item.node.declarator.node.derived.is_empty();
        let inherited = base.type_aligned.filter(|_| simple);
        self.bind(name, Symbol::Typedef(ty, said.aligned.or(inherited)));
        Ok(())
    }

    /// A variable of a function that lives as long as the program.
    pub(super) fn static_local(
        &mut self,
        base: &Base,
        name: String,
        ty: Ty,
        item: &'a Node<InitDeclarator>,
        declared: Span,
    ) -> Result<()> {
        let span = item.span;
        if let Some((a, ty)) = self.statics.get(&(declared.start, span.start)).cloned() {
            self.bind(name, Symbol::Memory(a, ty));
            return Ok(());
        }
        let size = self.size_of(&ty, span)?;
        if self.dry {
            // Only its type is asked for.
            self.bind(name, Symbol::Local(0, ty));
            return Ok(());
        }
        let align = ty.layout(&self.structs).map_or(1, |l| l.1);
        let a = match base.thread_local {
            true => self.thread_local(&name, size, align),
            false => self.object(name.clone(), &ty, vec![0; size as usize]),
        };
        self.bind(name, Symbol::Memory(a, ty.clone()));
        self.fixed_initial(a, &ty, item, span)?;
        self.statics.insert((declared.start, span.start), (a, ty));
        Ok(())
    }

    /// A new variable that every thread has from its start.
    pub(super) fn thread_local(&mut self, name: &str, size: u64, align: u64) -> i64 {
        let at = (self.program.private.len() as u64).next_multiple_of(align.max(1));
        self.program.private.resize((at + size) as usize, 0);
        self.private(name, at, size)
    }

    /// A new private variable with a place in private memory.
    pub(super) fn private(&mut self, name: &str, at: u64, size: u64) -> i64 {
        let local = Private { name: name.to_string(), base: at as u32, size: size as u32, align: 1 };
        self.program.locals.push(local);
        address(PRIVATE + self.program.locals.len() as i64 - 1, 0)
    }

    /// A new object in shared memory.
    pub(super) fn object(&mut self, name: String, ty: &Ty, init: Vec<u16>) -> i64 {
        let mut parts = Vec::new();
        ty.parts(&self.structs, 0, "", &mut parts);
        let object = Object {
            name,
            init,
            base: 0,
            align: ty.layout(&self.structs).map_or(1, |l| l.1) as u32,
            parts,
            visible: true,
            global: false,
            library: false,
            leaves: false,
            external: false,
        };
        self.program.objects.push(object);
        if !self.current.template.name.is_empty() {
            self.local_objects.push((self.program.objects.len() - 1, self.current.template.name.clone()));
        }
        address(self.program.objects.len() as i64, 0)
    }

    pub(super) fn local_variable(
        &mut self,
        name: String,
        ty: Ty,
        item: &'a Node<InitDeclarator>,
        cleanup: Option<&'a Node<Identifier>>,
    ) -> Result<()> {
        if self.scopes.last().is_some_and(|scope| scope.contains_key(&name)) {
            return wrong(item.span, format!("`{name}` is declared twice"));
        }
        let place = self.variable(&name, &ty, cleanup.is_some(), item.span)?;
        match &item.node.initializer {
            Some(init) => self.initialise(&place, &ty, init)?,
            None => {
                if let Place::Register(r, _) = place {
                    self.emit(Instr::Any(r));
                }
            }
        }
        match (cleanup, place) {
            (Some(function), Place::Memory(a, ty)) => self.clean_up_later(function, a, ty, item.span),
            _ => Ok(()),
        }
    }

    /// A new variable of the function.
    pub(super) fn variable(&mut self, name: &str, ty: &Ty, addressed: bool, span: Span) -> Result<Place> {
        let addressed = addressed || self.current.addressed.contains(name);
        if let (Some(i), false) = (ty.scalar(), addressed) {
            let r = self.register(i, Some(name.to_string()));
            self.bind_register(name, r, ty);
            return Ok(Place::Register(r, ty.clone()));
        }
        let known = addressed || self.current.bare.contains(name) && matches!(ty, Ty::Array(..));
        let k = self.local(name, ty, known, span)?;
        self.bind(name.to_string(), Symbol::Local(k, ty.clone()));
        Ok(Place::Memory(Expr::Local(k), ty.clone()))
    }

    pub(super) fn bind_register(&mut self, name: &str, r: Reg, ty: &Ty) {
        if let Some(block) = self.current.blocks.last_mut().filter(|_| !self.dry) {
            block.registers.push(r);
        }
        self.bind(name.to_string(), Symbol::Register(r, ty.clone()));
    }

    /// A new variable in memory of the function: its number.
    pub(super) fn local(&mut self, name: &str, ty: &Ty, addressed: bool, span: Span) -> Result<u32> {
        let size = self.size_of(ty, span)? as u32;
        if self.dry {
            return Ok(0);
        }
        let align = ty.layout(&self.structs).map_or(1, |l| l.1).max(1) as u32;
        let mut parts = Vec::new();
        if addressed {
            ty.parts(&self.structs, 0, "", &mut parts);
        }
        let local = Local { name: name.into(), size, align, parts, addressed, ..Local::default() };
        let locals = &mut self.current.template.locals;
        locals.push(local);
        let k = locals.len() as u32 - 1;
        if locals.iter().map(|l| u64::from(l.size)).sum::<u64>() > MOST_BYTES {
            let message = format!("the variables of a function take more than {MOST_BYTES} bytes");
            return Err(Problem { code: "E807", span, message, hint: None });
        }
        self.begins(k);
        Ok(k)
    }

    /// Space in memory for a value of the function.
    pub(super) fn space(&mut self, name: &str, ty: &Ty, span: Span) -> Result<Expr> {
        self.local(name, ty, false, span).map(Expr::Local)
    }
}

/// What the specifiers of a declaration say.
pub(super) struct Base<'a> {
    pub(super) ty: Ty,
    pub(super) class: Option<StorageClassSpecifier>,
    pub(super) thread_local: bool,
    pub(super) noreturn: bool,
    pub(super) volatile: bool,
    /// `_Alignas`
    pub(super) aligned: Option<u64>,
    /// The alignment that a `typedef` gives the type.
    pub(super) type_aligned: Option<u64>,
    pub(super) attributes: Vec<&'a Attribute>,
}
