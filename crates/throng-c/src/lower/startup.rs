//! What attributes say about functions: those that run before and after `main`, those that do not
//! return, and those that have several names or definitions.

use super::attributes::Said;
use super::{Base, Lower, Result, unsupported};
use crate::library::prelude::{AT_EXIT, EXIT};
use crate::syntax::ast::*;
use throng_goto::program::Instr;

/// Functions that run before and after `main`, by their names for the linker, with priorities.
#[derive(Default)]
pub(super) struct Startup {
    constructors: Vec<(String, i64)>,
    destructors: Vec<(String, i64)>,
}

impl<'a> Lower<'a> {
    /// Takes note of the attributes of a function.
    pub(super) fn function_attributes(&mut self, name: &str, said: &Said<'a>, span: Span) -> Result<()> {
        let link = self.linked(name);
        if said.constructor.or(said.destructor).is_some() && !self.question.entries.is_empty() {
            // It runs though nothing calls it.
            let what = "a function that runs before or after `main`, where there is none,";
            self.record(unsupported::<()>(span, what));
        }
        let Startup { constructors, destructors } = &mut self.startup;
        for (list, priority) in [(constructors, said.constructor), (destructors, said.destructor)] {
            // Each declaration may say it again.
            if let Some(priority) = priority.filter(|_| list.iter().all(|known| known.0 != link)) {
                list.push((link.clone(), priority));
            }
        }
        if said.noreturn {
            self.linkage.noreturn.insert(link.clone());
        }
        if said.weak {
            self.linkage.weak.insert(link);
        }
        Ok(())
    }

    /// A name in assembly: what is declared has another name for the linker. The library may call
    /// its functions as it likes.
    pub(super) fn check_label(&self, name: &str, d: &'a Node<Declarator>) -> Result<()> {
        let Some(label) = &d.node.label else { return Ok(()) };
        let text: String = label.node.iter().map(|part| part.trim_matches('"')).collect();
        let in_header = self.prepared.other_file(label.span.start).is_some_and(|f| f.starts_with("/usr/"));
        match in_header && text.contains(name) && !self.is_defined(&text) {
            true => Ok(()),
            false => unsupported(label.span, format!("the name `{text}` in assembly")),
        }
    }

    /// A weak variable may not be there, or be another one.
    pub(super) fn check_weak(
        &self,
        name: &str,
        base: &Base<'a>,
        item: &'a Node<InitDeclarator>,
        said: &Said<'a>,
    ) -> Result<()> {
        let elsewhere = base.class == Some(StorageClassSpecifier::Extern) && item.node.initializer.is_none();
        match said.weak && (elsewhere || self.linkage.several()) {
            true => unsupported(item.span, format!("the attribute `weak` of the variable `{name}`")),
            false => Ok(()),
        }
    }

    /// Calls the functions that run before `main`.
    pub(super) fn construct(&mut self) -> Result<()> {
        let mut order = self.startup.constructors.clone();
        order.sort_by_key(|(name, priority)| (*priority, self.position(name)));
        self.call_all(order)
    }

    /// Calls the functions that run where the program exits, in the opposite order.
    pub(super) fn destruct(&mut self) -> Result<()> {
        let mut order = self.startup.destructors.clone();
        order.sort_by_key(|(name, priority)| (*priority, self.position(name)));
        order.reverse();
        self.call_all(order)
    }

    fn position(&self, name: &str) -> usize {
        self.definitions.get(name).map_or(0, |d| d.node.span.start)
    }

    fn call_all(&mut self, order: Vec<(String, i64)>) -> Result<()> {
        for (name, _) in order {
            let Some(definition) = self.definitions.get(&name) else { continue };
            let at = definition.node.node.declarator.span;
            if !definition.ty.parameters.is_empty() {
                return unsupported(at, "a function with parameters that runs before or after `main`");
            }
            let here = std::mem::replace(&mut self.here, at);
            self.call_defined(&name, Vec::new(), at)?;
            self.here = here;
        }
        Ok(())
    }

    /// Returns whether the program may name functions that are called where it exits.
    fn registers_handlers(&self) -> bool {
        let mut used = self.definitions.values().flat_map(|d| d.bare.iter()).chain(&self.values);
        !self.is_defined(AT_EXIT) && used.any(|name| self.library.plain(name) == AT_EXIT)
    }

    /// The end of the last thread exits the program, too: then functions would run that are not
    /// called here.
    pub(super) fn check_thread_exit(&self, span: Span) -> Result<()> {
        match !self.startup.destructors.is_empty() || self.registers_handlers() {
            true => unsupported(span, "`pthread_exit` where functions run after `main`"),
            false => Ok(()),
        }
    }

    /// The program exits: what runs after `main` comes first.
    pub(super) fn exit_program(&mut self) -> Result<()> {
        if !self.dry {
            if self.registers_handlers()
                && let Some(function) = self.prelude_function(EXIT)
            {
                let ty = self.definitions[&function].ty.clone();
                self.prelude_call(&function, &ty, Vec::new(), self.here)?;
            }
            self.destruct()?;
        }
        self.emit(Instr::Halt);
        Ok(())
    }
}
