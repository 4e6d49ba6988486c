//! Constructs that are not modelled, inside functions.
//!
//! Such a program is read all the same: what a run does that comes to the construct is not known,
//! and an instruction there says so ([`Instr::Unmodelled`]). It stands behind what was written of
//! the statement so far, and nothing leads past it, so that no run goes on and no proof does
//! either.

use super::{Lower, Problem, Result, Symbol};
use crate::syntax::ast::*;
use throng_goto::program::Instr;

impl<'a> Lower<'a> {
    /// Writes a part of a function, up to the first construct in it that is not modelled. Mistakes
    /// of the program are recorded.
    pub(super) fn attempt(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) {
        let labels = self.current.labels.len();
        let Err(p) = write(self) else { return };
        if p.construct().is_none() || self.current.template.name.is_empty() {
            _ = self.record(Err::<(), Problem>(p));
        } else if !self.dry {
            self.lead_here(labels);
            self.unmodelled(p);
        }
    }

    /// The run ends here, without a result.
    pub(super) fn unmodelled(&mut self, p: Problem) {
        let at = if p.span.is_none() { self.here } else { p.span };
        let here = std::mem::replace(&mut self.here, at);
        self.emit(Instr::Unmodelled(p.message));
        self.here = here;
    }

    /// Labels of what was written last, from number `first` on, that were not placed lead here;
    /// those of the program are placed where they stand.
    fn lead_here(&mut self, first: usize) {
        let here = self.current.template.code.len();
        let named: Vec<usize> = self.current.named.values().copied().collect();
        for (n, at) in self.current.labels.iter_mut().enumerate().skip(first) {
            if *at == usize::MAX && !named.contains(&n) {
                *at = here;
            }
        }
    }

    /// A name of a block is declared with something that is not modelled.
    pub(super) fn bind_refused(&mut self, name: &str, p: &Problem) {
        if let Some(what) = p.construct() {
            self.bind(name.to_string(), Symbol::Refused(format!("{what} (of `{name}`)")));
        }
    }

    /// A declaration in a block: its names cannot be used if it is not modelled.
    pub(super) fn refuse_local(
        &mut self,
        item: &'a Node<InitDeclarator>,
        class: Option<StorageClassSpecifier>,
        p: Problem,
    ) -> Result<()> {
        use StorageClassSpecifier::{Extern, Static, Typedef};
        let name = super::linkage::declared_name(&item.node.declarator.node).unwrap_or_default();
        if class == Some(Typedef) {
            return self.refuse(name, true, false, p);
        }
        self.bind_refused(name, &p);
        // Nothing happens where such a declaration stands.
        match class {
            Some(Extern | Static) if p.construct().is_some() => Ok(()),
            _ => Err(p),
        }
    }
}
