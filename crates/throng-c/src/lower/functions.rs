//! Templates: the code of each function that threads start in, or that is called.
//!
//! A parameter is a register; one in memory is written there where the function begins. Behind the
//! parameters, a function with variable arguments gets the address of those that have no name; before
//! them, one whose result is a structure gets the address where that goes.

use std::collections::HashMap;

use super::floating::is_opaque;
use super::linkage::written_name;
use super::{Current, Definition, Lower, Place, Problem, Result, declared_at, unsupported, wrong};
use crate::library::special::is_atomic_function;
use crate::syntax::ast::Span;
use crate::types::{Func, Ty};
use throng_goto::program::{BOOL, Expr, Instr, PTR, Reg, Start, Template, expressions};

/// What the code of a function is written for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) enum Role {
    /// The first thread starts in it, and the program exits when it returns.
    #[default]
    Main,
    /// Threads start in it whose creation is not part of the program.
    Entry,
    /// Threads that the program creates start in it.
    Thread,
    /// It is called.
    Called,
}

/// Returns whether a function takes more arguments than it has parameters. `f()` says nothing about
/// its arguments.
pub(super) fn takes_more(ty: &Func) -> bool {
    ty.variadic && !ty.parameters.is_empty()
}

/// Returns whether the result of a function goes where its first argument says.
pub(super) fn returns_by_address(ty: &Func) -> bool {
    matches!(ty.result.plain(), Ty::Struct(_))
}

impl<'a> Lower<'a> {
    /// Writes every template that threads start in, or that is called.
    pub(super) fn templates(&mut self) {
        let main = ["main".to_string()];
        let question = self.question;
        let (first, role) = match question.entries.is_empty() {
            true => (&main[..], Role::Main),
            false => (&question.entries[..], Role::Entry),
        };
        let first: Vec<String> = first.iter().map(|name| self.linkage.entry(name)).collect();
        for name in &first {
            if !self.definitions.contains_key(name) {
                if let Err(p) = self.linkage.usable_entry(written_name(name)) {
                    self.problems.push(p);
                    return;
                }
                self.no_function(name);
                return;
            }
        }
        let numbers: Vec<usize> = first.iter().map(|name| self.template(name, role)).collect();
        self.write_templates();
        if role == Role::Entry && self.problems.is_empty() {
            self.program.start = match self.program.numbered {
                true => Start::One(self.starter(&numbers)),
                false => Start::Any(numbers),
            };
        }
    }

    /// Writes templates until there is one for all that is called. What a pointer may point to is,
    /// if some pointer is.
    fn write_templates(&mut self) {
        let mut pointers: HashMap<i64, usize> = HashMap::new();
        loop {
            while let Some((name, role)) = self.waiting.pop() {
                self.write_template(&name, role);
            }
            let new = self.pointed.iter().copied().find(|n| self.calls_pointers && !pointers.contains_key(n));
            let Some(n) = new else { break };
            let name = self.program.functions[n as usize].clone();
            let known = self.definitions.contains_key(&name);
            let template = if known { self.template(&name, Role::Called) } else { usize::MAX };
            pointers.insert(n, template);
        }
        for (n, template) in pointers {
            if let Some(t) = self.program.templates.get_mut(template) {
                t.pointer = Some(n as u32);
            }
        }
    }

    /// A template that starts any number of threads: they get numbers as they are started.
    fn starter(&mut self, templates: &[usize]) -> usize {
        self.current = Current::default();
        self.current.template.name = "start".into();
        self.current.template.single = true;
        let head = self.label();
        self.place_label(head);
        for &t in templates {
            let more = self.register(BOOL, None);
            let (here, next) = (self.label(), self.label());
            self.emit(Instr::Any(more));
            self.emit(Instr::Branch(Expr::Reg(more), here, next));
            self.place_label(here);
            let types = self.program.templates[t].registers.clone();
            let mut arguments = Vec::new();
            for &at in &types[..self.program.templates[t].arguments] {
                let r = self.register(at, None);
                self.emit(Instr::Any(r));
                arguments.push(Expr::Reg(r));
            }
            let number = self.register(PTR, None);
            self.emit(Instr::Spawn(t, arguments, number));
            self.place_label(next);
        }
        self.emit(Instr::Jump(head));
        let template = self.finished_template();
        self.program.templates.push(template);
        self.program.starts_any = true;
        self.program.templates.len() - 1
    }

    /// Returns the template that was written, with its labels resolved.
    fn finished_template(&mut self) -> Template {
        let labels = std::mem::take(&mut self.current.labels);
        let mut template = std::mem::take(&mut self.current.template);
        for i in &mut template.code {
            match i {
                Instr::Branch(_, a, b) => {
                    *a = labels[*a];
                    *b = labels[*b];
                }
                Instr::Jump(a) => *a = labels[*a],
                _ => {}
            }
        }
        for i in &template.code {
            expressions(i, &mut |e| e.constants(&mut |v| self.note_function(v)));
        }
        template
    }

    /// Returns the number of the template for a function.
    pub(super) fn template(&mut self, name: &str, role: Role) -> usize {
        let key = (name.to_string(), role);
        if let Some(&n) = self.templates.get(&key) {
            return n;
        }
        let n = self.program.templates.len();
        self.program.templates.push(Template::default());
        self.templates.insert(key.clone(), n);
        self.waiting.push(key);
        n
    }

    fn write_template(&mut self, name: &str, role: Role) {
        let number = self.templates[&(name.to_string(), role)];
        let definition = self.definitions[name].clone();
        self.current = Current { role, ..Current::default() };
        self.current.template.name = name.to_string();
        self.current.template.single = role == Role::Main;
        self.current.addressed = definition.addressed.clone();
        self.current.bare = definition.bare.clone();
        self.linkage.unit = definition.unit;
        self.here = definition.node.node.declarator.span;
        self.scopes.clear();
        self.enter_block();
        self.current.exit = self.label();
        let inside = self.enter_sections(&definition);
        self.attempt(|s| {
            s.begin(&definition)?;
            s.body(&definition);
            Ok(())
        });
        self.leave_sections(&definition, inside);
        self.missing_labels_of(name);
        self.end_function();
        self.attempt(|s| s.leave(role));
        self.scopes.clear();
        self.program.templates[number] = self.finished_template();
    }

    /// Writes what comes before the body of a function: its parameters get their places.
    fn begin(&mut self, definition: &Definition<'a>) -> Result<()> {
        let (ty, role, span) = (&*definition.ty, self.current.role, self.here);
        let called = role == Role::Called;
        let to = (called && returns_by_address(ty)).then(|| self.register(PTR, None));
        let parameter = |(_, t): &(Option<String>, Ty)| self.register(t.scalar().unwrap_or(PTR), None);
        let parameters: Vec<Reg> = ty.parameters.iter().map(parameter).collect();
        self.current.variable_arguments = (called && takes_more(ty)).then(|| self.register(PTR, None));
        self.enter_environment(definition);
        // The arguments of `main` are inputs.
        let count = if role == Role::Main { 0 } else { self.current.template.registers.len() };
        self.current.template.arguments = count;
        if !called && ty.parameters.iter().any(|(_, t)| t.scalar().is_none()) {
            return unsupported(span, "a thread that starts with a structure as argument");
        }
        for (&r, (_, t)) in parameters.iter().zip(&ty.parameters) {
            // Nothing is known that a pointer could point to.
            if role == Role::Entry && matches!(t.plain(), Ty::Ptr(_)) {
                self.emit(Instr::Let(r, Expr::Const(0)));
            }
        }
        if matches!(role, Role::Main | Role::Entry) {
            self.emit_fixed_uses();
            self.refuse_instruments()?;
        }
        if role == Role::Main {
            self.arguments_of_main(definition, &parameters, span)?;
        }
        if role == Role::Main {
            self.construct()?;
        }
        for (&r, (name, t)) in parameters.iter().zip(&ty.parameters) {
            self.place_parameter(name.as_deref().unwrap_or_default(), r, t, span)?;
        }
        self.variable_parameters(&definition.node.node.declarator.node)?;
        self.current.result = self.place_of_result(ty, to, span)?;
        Ok(())
    }

    /// Whether the compiler calls functions at the begin and end of others is not known here.
    fn refuse_instruments(&self) -> Result<()> {
        match &self.instruments {
            Some((name, at)) => unsupported(
                *at,
                format!("the definition of `{name}`, which is meant for `-finstrument-functions`,"),
            ),
            None => Ok(()),
        }
    }

    fn place_parameter(&mut self, name: &str, r: Reg, ty: &Ty, span: Span) -> Result<()> {
        if ty.scalar().is_some() && !self.current.addressed.contains(name) {
            let t = &mut self.current.template;
            t.owners[r as usize] = t.name.clone();
            t.names[r as usize] = Some(name.to_string());
            self.bind_register(name, r, ty);
            return Ok(());
        }
        let place = self.variable(name, ty, false, span)?;
        self.assign(&place, super::Value { expr: Expr::Reg(r), ty: ty.clone() }, span)
    }

    /// Returns the place for the result of a function, if it has one.
    fn place_of_result(&mut self, ty: &Func, to: Option<Reg>, span: Span) -> Result<Option<Place>> {
        let result = ty.result.clone();
        Ok(match (result.scalar(), to) {
            _ if result == Ty::Void || is_opaque(&result) => None,
            (Some(i), _) => Some(Place::Register(self.register(i, None), result)),
            (None, Some(r)) => Some(Place::Memory(Expr::Reg(r), result)),
            (None, None) => Some(Place::Memory(self.space("(result)", &result, span)?, result)),
        })
    }

    /// A function may be one that is asked about, and be an atomic section as a whole. Its name
    /// stands for that in a replay.
    fn enter_sections(&mut self, definition: &Definition<'a>) -> Option<usize> {
        let name = self.current.template.name.clone();
        self.at_name(definition, |s| {
            let inside = s.enter_function(written_name(&name));
            if is_atomic_function(written_name(&name)) {
                s.emit(Instr::AtomicBegin);
            }
            inside
        })
    }

    fn leave_sections(&mut self, definition: &Definition<'a>, inside: Option<usize>) {
        let atomic = is_atomic_function(written_name(&self.current.template.name));
        self.at_name(definition, |s| {
            if atomic {
                s.emit(Instr::AtomicEnd);
            }
            inside.into_iter().for_each(|place| s.leave_function(place));
        });
    }

    fn at_name<T>(&mut self, definition: &Definition<'a>, write: impl FnOnce(&mut Self) -> T) -> T {
        let at = declared_at(&definition.node.node.declarator.node).unwrap_or(self.here);
        let here = std::mem::replace(&mut self.here, at);
        let done = write(self);
        self.here = here;
        done
    }

    fn body(&mut self, definition: &Definition<'a>) {
        self.statement(&definition.node.node.statement);
        if let (Some(Place::Register(r, _)), true) = (&self.current.result, self.goes_on()) {
            // It returns without a value.
            let r = *r;
            self.emit(Instr::Any(r));
        }
        let exit = self.current.exit;
        self.finish_jumps(exit);
        self.place_label(exit);
    }

    /// Returns whether what is written next is reached, as far as the last instruction says.
    fn goes_on(&self) -> bool {
        let here = self.current.template.code.len();
        let ends = matches!(
            self.current.template.code.last(),
            Some(Instr::Jump(_) | Instr::End(_) | Instr::Halt | Instr::Unmodelled(_))
        );
        !ends || self.current.labels.contains(&here)
    }

    fn missing_labels_of(&mut self, name: &str) {
        for (label, at) in std::mem::take(&mut self.current.named) {
            if self.current.labels[at] == usize::MAX && self.definitions[name].environment.is_some() {
                self.leaves_function(at);
            } else if self.current.labels[at] == usize::MAX {
                self.current.labels[at] = self.current.template.code.len();
                let missing = wrong::<()>(self.here, format!("there is no label `{label}` in `{name}`"));
                self.record(missing);
            }
        }
    }

    /// Writes what comes behind the body of a function.
    fn leave(&mut self, role: Role) -> std::result::Result<(), Problem> {
        let result = match &self.current.result {
            Some(Place::Register(r, _)) => Some(Expr::Reg(*r)),
            _ => None,
        };
        match role {
            Role::Main => return self.exit_program(),
            Role::Called => self.emit(Instr::Return(result)),
            Role::Entry | Role::Thread => {
                self.end_keys(self.here)?;
                self.emit(Instr::End(result.unwrap_or(Expr::Const(0))));
            }
        }
        Ok(())
    }
}
