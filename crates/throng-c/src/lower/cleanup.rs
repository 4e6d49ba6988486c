//! The attribute `cleanup`: a function is called with the address of a variable when the block of
//! the variable is left, by whichever way. The variable that was declared last comes first. Arrays
//! whose size is not constant are freed there, too.

use super::{Block, Lower, Problem, Result, Symbol, Value, unsupported, wrong};
use crate::library::special::special;
use crate::syntax::ast::*;
use crate::types::{Func, Ty};
use std::rc::Rc;
use throng_goto::program::{Expr, Instr, Reg};

/// What is done when a block is left.
#[derive(Clone)]
pub(super) enum Cleanup {
    Call(Call),
    /// An array is freed whose address is in this register.
    Free(Reg, Span),
}

/// A call of a function with the address of a variable.
#[derive(Clone)]
pub(super) struct Call {
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
        let call = Call { function: self.linked(name), ty, variable, of, at };
        if let (Some(block), false) = (self.current.blocks.last_mut(), self.dry) {
            block.cleanups.push(Cleanup::Call(call));
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
            let (Cleanup::Call(Call { at, .. }) | Cleanup::Free(_, at)) = c;
            let here = std::mem::replace(&mut self.here, at);
            match c {
                Cleanup::Call(call) => {
                    let done = self.call_cleanup(&call);
                    self.record(done);
                }
                Cleanup::Free(r, _) => self.emit(Instr::Free(Expr::Reg(r))),
            }
            self.here = here;
        }
    }

    fn call_cleanup(&mut self, c: &Call) -> std::result::Result<(), Problem> {
        let address = Value { expr: c.variable.clone(), ty: Ty::ptr(c.of.clone()) };
        let address = match c.ty.parameters.first() {
            Some((_, parameter)) => self.convert(address, parameter, c.at)?,
            None => address,
        };
        self.call_named(&c.function, &c.ty, vec![address], c.at).map(|_| ())
    }
}
