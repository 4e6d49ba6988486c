//! Which names are declared, and which of them are types.
//!
//! Members, tags and labels have name spaces of their own and are not kept here.

use rustc_hash::FxHashMap;

/// The ordinary identifiers in scope. Entering and leaving a scope takes time in what it declares.
#[derive(Default)]
pub(super) struct Scopes<'t> {
    /// Whether each declared name is a type.
    names: FxHashMap<&'t str, bool>,
    /// What names meant outside the scopes in which they were declared again.
    hidden: Vec<(&'t str, Option<bool>)>,
    /// How long `hidden` was when each scope began.
    open: Vec<usize>,
}

impl<'t> Scopes<'t> {
    pub(super) fn enter(&mut self) {
        self.open.push(self.hidden.len());
    }

    pub(super) fn leave(&mut self) {
        let begin = self.open.pop().unwrap_or(0);
        for (name, before) in self.hidden.drain(begin..).rev() {
            match before {
                Some(is_type) => self.names.insert(name, is_type),
                None => self.names.remove(name),
            };
        }
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: &'t str, is_type: bool) {
        let before = self.names.insert(name, is_type);
        if !self.open.is_empty() && before != Some(is_type) {
            self.hidden.push((name, before));
        }
    }

    /// Declares a name as a type in the outermost scope, so that it is unknown only once.
    pub(super) fn declare_everywhere(&mut self, name: &'t str) {
        self.names.insert(name, true);
    }

    pub(super) fn is_type(&self, name: &str) -> bool {
        self.names.get(name) == Some(&true)
    }

    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }
}
