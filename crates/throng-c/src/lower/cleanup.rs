//! The attribute `cleanup`: a function is called with the address of a variable when the block of
//! the variable is left, by whichever way. The variable that was declared last comes first.

use super::{Block, Lower, Problem, Result, Symbol, Value, unsupported, wrong};
use crate::library::special::special;
use crate::syntax::ast::*;
use crate::types::{Func, Ty};
use std::rc::Rc;
use throng_goto::program::Expr;

/// A call for when a block is left.
#[derive(Clone)]
pub(super) struct Cleanup {
    function: String,
    ty: Rc<Func>,
    variable: Expr,
    of: Ty,
    at: Span,
}

impl<'a> Lower<'a> {
    /// A variable is declared for which a function is to be called later.
    pub(super) fn clean_up_later(
        &mut self,
        function: &'a Node<Identifier>,
        variable: Expr,
        of: Ty,
        at: Span,
    ) -> Result<()> {
        let name = &function.node.name;
        let Some(Symbol::Function(ty)) = self.usable_name(name, function.span)?.cloned() else {
            return wrong(function.span, format!("`{name}` is not a function"));
        };
        if special(name, self.is_defined(name)).is_some() {
            return unsupported(function.span, format!("the attribute `cleanup` with `{name}`"));
        }
        let cleanup = Cleanup { function: self.linked(name), ty, variable, of, at };
        if let (Some(block), false) = (self.current.blocks.last_mut(), self.dry) {
            block.cleanups.push(cleanup);
        }
        Ok(())
    }

    /// Control leaves all blocks inside of the first `outer` ones.
    pub(super) fn clean_up(&mut self, outer: usize) {
        let inner = self.current.blocks.iter().skip(outer);
        let calls: Vec<Cleanup> = inner.flat_map(|b| b.cleanups.iter().cloned()).collect();
        self.call_cleanups(calls);
    }

    /// A `goto` leaves blocks, or goes back to where fewer variables were declared.
    pub(super) fn clean_up_between(&mut self, open: &[Block], target: &[Block]) {
        let mut calls = Vec::new();
        for block in open {
            let kept = target.iter().find(|b| b.number == block.number).map_or(0, |b| b.cleanups.len());
            calls.extend(block.cleanups.iter().skip(kept).cloned());
        }
        self.call_cleanups(calls);
    }

    fn call_cleanups(&mut self, calls: Vec<Cleanup>) {
        for c in calls.into_iter().rev() {
            let here = std::mem::replace(&mut self.here, c.at);
            let done = self.call_cleanup(&c);
            self.record(done);
            self.here = here;
        }
    }

    fn call_cleanup(&mut self, c: &Cleanup) -> std::result::Result<(), Problem> {
        let address = Value { expr: c.variable.clone(), ty: Ty::ptr(c.of.clone()) };
        let address = match c.ty.parameters.first() {
            Some((_, parameter)) => self.convert(address, parameter, c.at)?,
            None => address,
        };
        self.call_named(&c.function, &c.ty, vec![address], c.at).map(|_| ())
    }
}
