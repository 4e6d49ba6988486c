//! Variable arguments: those without a name are in a block of slots of eight bytes, of which a
//! structure takes as many as it needs. The address of the block is the last argument. A `va_list` has the address of the next slot in its first bytes.

use std::rc::Rc;

use super::builtins::Args;
use super::floating::{is_opaque, opaque};
use super::{Lower, Result, Value, unatomic, unsupported, wrong};
use crate::library::special::Variadic;
use crate::syntax::ast::*;
use crate::types::{Ty, promote};
use throng_goto::program::{BinOp, Expr, PTR};

/// Number of bytes of a slot.
const SLOT: i64 = 8;

/// Returns the type of `va_list`.
pub(super) fn list_type() -> Ty {
    Ty::Array(Rc::new(Ty::Int(PTR)), Some(3))
}

impl<'a> Lower<'a> {
    /// Returns the address of the arguments that have no name in the function.
    pub(super) fn more_arguments(&mut self, arguments: Vec<Value>, span: Span) -> Result<Expr> {
        if arguments.is_empty() {
            return Ok(Expr::Const(0));
        }
        let sizes = arguments.iter().map(|v| self.slots(&v.ty, span)).collect::<Result<Vec<i64>>>()?;
        let ty = Ty::Array(Rc::new(Ty::Int(PTR)), Some(sizes.iter().sum::<i64>() as u64));
        // A `va_list` gets to know the address.
        let block = Expr::Local(self.local("(arguments)", &ty, true, span)?);
        let mut offset = 0;
        for (v, slots) in arguments.into_iter().zip(sizes) {
            let to = Expr::bin(BinOp::Add, block.clone(), Expr::Const(offset), PTR);
            offset += slots * SLOT;
            if is_opaque(&v.ty) {
                continue;
            }
            if let Ty::Struct(_) = v.ty.plain() {
                self.copy(&to, &v.expr, &v.ty, span)?;
                continue;
            }
            let Some(passed) = passed_type(&v.ty) else { return unsupported(span, "this variable argument") };
            let v = self.convert(v, &passed, span)?;
            let Some(at) = passed.scalar() else { continue };
            self.store_as(self.access, &to, 0, v.expr, at);
        }
        Ok(block)
    }

    /// Returns how many slots a value takes.
    fn slots(&self, ty: &Ty, span: Span) -> Result<i64> {
        Ok(match ty.plain() {
            Ty::Struct(_) => (self.size_of(ty, span)? as i64 + SLOT - 1) / SLOT,
            _ => 1,
        })
    }

    /// Lowers `va_start`, `va_end` and `va_copy`.
    pub(super) fn variadic(&mut self, what: Variadic, args: Args<'a>, span: Span) -> Result<()> {
        let list = self.arg(args, 0, span)?;
        let next = match what {
            Variadic::End => return Ok(()),
            Variadic::Start => match self.current.variable_arguments {
                Some(r) => Expr::Reg(r),
                None if self.dry => return Ok(()),
                None => return unsupported(span, "`va_start` in a function that is not called"),
            },
            Variadic::Copy => {
                let from = self.arg(args, 1, span)?;
                self.load_as(self.access, &from.expr, 0, PTR)
            }
        };
        self.store_as(self.access, &list.expr, 0, next, PTR);
        Ok(())
    }

    /// Lowers `va_arg`.
    pub(super) fn variable_argument(&mut self, v: &'a VaArgExpression, span: Span) -> Result<Value> {
        let ty = unatomic(self.type_name(&v.type_name)?);
        let list = self.value(&v.va_list)?;
        if !matches!(list.ty.plain(), Ty::Ptr(_)) {
            return wrong(span, "this is not a `va_list`");
        }
        let passed = passed_type(&ty).filter(|passed| *passed == ty);
        let at = passed.and_then(|passed| passed.scalar());
        if at.is_none() && !is_opaque(&ty) && !matches!(ty, Ty::Struct(_)) {
            return unsupported(span, "`va_arg` with this type");
        }
        let list = self.kept(list).expr;
        let next = self.load_as(self.access, &list, 0, PTR);
        let expr = match at {
            Some(at) => self.load_as(self.access, &next, 0, at),
            // A structure is its address.
            None if matches!(ty, Ty::Struct(_)) => next.clone(),
            None => opaque().expr,
        };
        let size = self.slots(&ty, span)? * SLOT;
        let moved = Expr::bin(BinOp::Add, next, Expr::Const(size), PTR);
        self.store_as(self.access, &list, 0, moved, PTR);
        Ok(Value { expr, ty })
    }
}

/// Returns the type as which a value is passed; `None` if it does not fit into a slot.
fn passed_type(ty: &Ty) -> Option<Ty> {
    match ty.plain() {
        Ty::Int(i) => Some(Ty::Int(promote(*i))),
        Ty::Float(4) => Some(Ty::Float(8)),
        t => t.scalar().map(|_| t.clone()),
    }
}
