//! Addresses in computations. C leaves open which number an address is: here it is one of many, so
//! that a result that depends on it is not all that there is.
//!
//! What does not depend on it is exact: sums that stay with an object, differences and comparisons
//! inside of one, whether two addresses are equal, and the low bits of an address, as far as the
//! alignment of its object says.

use super::{Run, Slot, Stepper, Stop};
use crate::program::{BinOp, DANGLING, Expr, FUNCTION, Int, Leaf, object_of};

/// Numbers up to this, and down to its negative, are the address of no object.
const SMALL: i64 = 4096;
/// Alignment of what `malloc` returns.
const ALLOCATED: i64 = 16;

impl Stepper<'_> {
    /// Returns whether the value of an expression depends on which number an address is.
    pub(super) fn is_arbitrary(&self, e: &Expr, run: &Run) -> Result<bool, Stop> {
        Ok(match e {
            Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => false,
            Expr::Float(_, a, b, _) => self.is_arbitrary(a, run)? || self.is_arbitrary(b, run)?,
            Expr::Convert(a, _) => self.is_arbitrary(a, run)? || self.is_address(run, self.number(a, run)?),
            Expr::Cast(a, to) => {
                let cut = to.size < 8 && !to.truth && self.is_address(run, self.number(a, run)?);
                cut || self.is_arbitrary(a, run)?
            }
            Expr::Bin(op, a, b, at) => {
                let below = self.masked(*op, a, b, run)?;
                let (x, y) = (self.number(below.unwrap_or(a), run)?, self.number(b, run)?);
                let (p, q) = (self.is_address(run, x), self.is_address(run, y));
                if *op == BinOp::Lt && self.is_distance(a, run)? {
                    return Ok(q || self.is_arbitrary(b, run)?);
                }
                let mixed = (p || q) && self.mixes(*op, (x, p), (y, q), *at, run);
                mixed || self.is_arbitrary(below.unwrap_or(a), run)? || self.is_arbitrary(b, run)?
            }
        })
    }

    fn number(&self, e: &Expr, run: &Run) -> Result<i64, Stop> {
        let leaf = |of: Leaf| match of {
            Leaf::Register(r) => run.registers[r as usize].ok_or(Stop::Open(r)),
            Leaf::SelfId => Ok(i64::from(self.thread.id)),
            Leaf::Local(k) => Ok(self.local(run, k)),
        };
        e.value(&leaf, &|| {})
    }

    /// Returns what is cut to fewer bits before a mask takes some of them.
    fn masked<'e>(&self, op: BinOp, a: &'e Expr, b: &Expr, run: &Run) -> Result<Option<&'e Expr>, Stop> {
        match (op, a) {
            (BinOp::And, Expr::Cast(inner, to)) if to.size < 8 && !to.truth => {
                let mask = self.number(b, run)?;
                Ok((0..1 << (u32::from(to.size) * 8 - 1)).contains(&mask).then_some(&**inner))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether an expression is the distance of addresses in different objects, which is
    /// larger than what is small.
    fn is_distance(&self, e: &Expr, run: &Run) -> Result<bool, Stop> {
        let Expr::Bin(BinOp::Sub, a, b, Int { size: 8, signed: false, .. }) = e else { return Ok(false) };
        let (x, y) = (self.number(a, run)?, self.number(b, run)?);
        Ok(self.is_address(run, x) && self.is_address(run, y) && object_of(x) != object_of(y))
    }

    /// Returns whether an operation on two numbers, of which some are addresses, depends on which.
    fn mixes(&self, op: BinOp, (x, p): (i64, bool), (y, q): (i64, bool), at: Int, run: &Run) -> bool {
        let alive = |v: i64| object_of(v) != DANGLING;
        let one = p && q && object_of(x) == object_of(y) && alive(x);
        let with = |result: i64, v: i64| object_of(result) != object_of(v);
        match op {
            BinOp::Add if !(p && q) => with(x.wrapping_add(y), if p { x } else { y }),
            BinOp::Sub if p && !q => with(x.wrapping_sub(y), x),
            BinOp::Sub | BinOp::Lt | BinOp::Le => !one,
            BinOp::Eq | BinOp::Ne if p && q => !alive(x) || !alive(y),
            BinOp::Eq | BinOp::Ne => {
                let number = if p { y } else { x };
                !(-SMALL..SMALL).contains(&number) || !alive(if p { x } else { y })
            }
            BinOp::And | BinOp::Or | BinOp::Xor if p != q => {
                let (v, bits) = if p { (x, y) } else { (y, x) };
                let low = self.alignment(run, v) - 1;
                let upper = op == BinOp::And && !bits & !low == 0;
                bits & !low != 0 && !upper
            }
            BinOp::Rem if p && !q && !at.signed => y <= 0 || y & (y - 1) != 0 || y > self.alignment(run, x),
            _ => true,
        }
    }

    /// Returns whether a number is an address.
    fn is_address(&self, run: &Run, v: i64) -> bool {
        let object = object_of(v);
        match object {
            0 => false,
            DANGLING => true,
            _ if object < FUNCTION => {
                object <= self.program.objects.len() as i64
                    || self.slot(run, v).is_some_and(|s| *s != Slot::Empty)
            }
            _ => object - FUNCTION < self.program.functions.len() as i64 || self.is_private(run, v),
        }
    }

    /// Returns a power of two that the address of an object is a multiple of.
    fn alignment(&self, run: &Run, v: i64) -> i64 {
        if let Some(o) = self.program.object_at(v) {
            return i64::from(o.align.max(1));
        }
        if crate::program::is_private(v) {
            return i64::from(self.private_alignment(run, v).max(1));
        }
        match self.slot(run, v) {
            Some(Slot::Used(..)) if !self.program.unaligned => ALLOCATED,
            Some(Slot::Local(of, ..)) => {
                let t = &self.program.templates[of.template as usize];
                i64::from(t.locals[of.local as usize].align.max(1))
            }
            _ => 1,
        }
    }
}
