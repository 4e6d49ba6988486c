//! Integers of 128 bits: two numbers, of which the first has the lower bits.

use super::arithmetic::{LONG, with_sign};
use super::function::{Operand, Writer};
use super::{Problem, Result};
use crate::layout::container;
use crate::syntax::tree::{Binary, Cast, Type, Typed, Value};
use throng_goto::program::{BOOL, BinOp, Expr, PTR};

/// A number of 128 bits.
const WIDE: Type<'static> = Type::Int(128);

fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::bin(op, a, b, PTR)
}

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    /// Returns the two halves of a number, in registers.
    fn halves(&mut self, v: &Value<'t>) -> Result<[Expr; 2]> {
        let parts = self.parts(&WIDE, v)?;
        let mut found = parts.into_iter().map(|part| {
            let e = self.number(part, PTR);
            self.keep(PTR, e)
        });
        match (found.next(), found.next()) {
            (Some(low), Some(high)) => Ok([low, high]),
            _ => Err(Problem::unsupported("a value of this kind as 128 bits")),
        }
    }

    fn set_halves(&mut self, result: Option<&'t str>, low: Expr, high: Expr) {
        let halves = [low, high].map(|e| Operand::Is(self.keep(PTR, e)));
        self.set(result, halves.to_vec());
    }

    pub(super) fn wide_binary(
        &mut self,
        result: Option<&'t str>,
        how: Binary,
        a: &Value<'t>,
        b: &Value<'t>,
    ) -> Result<()> {
        let ([a0, a1], [b0, b1]) = (self.halves(a)?, self.halves(b)?);
        match how {
            Binary::And | Binary::Or | Binary::Xor => {
                let op = match how {
                    Binary::And => BinOp::And,
                    Binary::Or => BinOp::Or,
                    _ => BinOp::Xor,
                };
                self.set_halves(result, bin(op, a0, b0), bin(op, a1, b1));
            }
            Binary::Add => {
                let low = self.keep(PTR, bin(BinOp::Add, a0.clone(), b0));
                let carry = bin(BinOp::Lt, low.clone(), a0);
                self.set_halves(result, low, bin(BinOp::Add, bin(BinOp::Add, a1, b1), carry));
            }
            Binary::Sub => {
                let borrow = self.keep(BOOL, bin(BinOp::Lt, a0.clone(), b0.clone()));
                let high = bin(BinOp::Sub, bin(BinOp::Sub, a1, b1), borrow);
                self.set_halves(result, bin(BinOp::Sub, a0, b0), high);
            }
            Binary::Mul => {
                let (low, carry) = self.whole_product(a0.clone(), b0.clone());
                let crossed = bin(BinOp::Add, bin(BinOp::Mul, a0, b1), bin(BinOp::Mul, a1, b0));
                self.set_halves(result, low, bin(BinOp::Add, carry, crossed));
            }
            Binary::Shl | Binary::LShr => match b0 {
                Expr::Const(n @ 0..128) => self.wide_shift(result, how, [a0, a1], n),
                _ => return Err(Problem::unsupported("a shift of 128 bits by a computed number")),
            },
            _ => return Err(Problem::unsupported("this operation on 128 bits")),
        }
        Ok(())
    }

    /// Returns the lower and the upper half of the product of two numbers of 64 bits.
    fn whole_product(&mut self, a: Expr, b: Expr) -> (Expr, Expr) {
        let low = |e: &Expr| bin(BinOp::And, e.clone(), Expr::Const(0xffff_ffff));
        let high = |e: &Expr| bin(BinOp::Shr, e.clone(), Expr::Const(32));
        let ll = self.keep(PTR, bin(BinOp::Mul, low(&a), low(&b)));
        let lh = self.keep(PTR, bin(BinOp::Mul, low(&a), high(&b)));
        let hl = self.keep(PTR, bin(BinOp::Mul, high(&a), low(&b)));
        let hh = bin(BinOp::Mul, high(&a), high(&b));
        let middle = self.keep(PTR, bin(BinOp::Add, bin(BinOp::Add, high(&ll), low(&lh)), low(&hl)));
        let upper =
            bin(BinOp::Add, bin(BinOp::Add, bin(BinOp::Add, hh, high(&lh)), high(&hl)), high(&middle));
        (bin(BinOp::Mul, a, b), upper)
    }

    fn wide_shift(&mut self, result: Option<&'t str>, how: Binary, [low, high]: [Expr; 2], n: i64) {
        let (c, zero) = (Expr::Const, Expr::Const(0));
        let (l, h) = match (how, n) {
            (_, 0) => (low, high),
            (Binary::Shl, 64..) => (zero, bin(BinOp::Shl, low, c(n - 64))),
            (Binary::Shl, _) => {
                let moved = bin(BinOp::Shr, low.clone(), c(64 - n));
                (bin(BinOp::Shl, low, c(n)), bin(BinOp::Or, bin(BinOp::Shl, high, c(n)), moved))
            }
            (_, 64..) => (bin(BinOp::Shr, high, c(n - 64)), zero),
            _ => {
                let moved = bin(BinOp::Shl, high.clone(), c(64 - n));
                (bin(BinOp::Or, bin(BinOp::Shr, low, c(n)), moved), bin(BinOp::Shr, high, c(n)))
            }
        };
        self.set_halves(result, l, h);
    }

    pub(super) fn wide_compare(
        &mut self,
        result: Option<&'t str>,
        how: &str,
        a: &Value<'t>,
        b: &Value<'t>,
    ) -> Result<()> {
        let ([a0, a1], [b0, b1]) = (self.halves(a)?, self.halves(b)?);
        let bits = throng_goto::program::Int::new(1, false);
        let both = |op, x, y| Expr::bin(op, x, y, bits);
        let e = match how {
            "eq" => both(BinOp::And, bin(BinOp::Eq, a0, b0), bin(BinOp::Eq, a1, b1)),
            "ne" => both(BinOp::Or, bin(BinOp::Ne, a0, b0), bin(BinOp::Ne, a1, b1)),
            _ => {
                // The upper halves decide, unless they are equal.
                let upper = Self::comparison(&format!("{}t", &how[..2]), 64, a1.clone(), b1.clone())?;
                let lower = Self::comparison(&format!("u{}", &how[1..]), 64, a0, b0)?;
                both(BinOp::Or, upper, both(BinOp::And, bin(BinOp::Eq, a1, b1), lower))
            }
        };
        self.define(result, BOOL, e);
        Ok(())
    }

    pub(super) fn wide_cast(
        &mut self,
        result: Option<&'t str>,
        how: Cast,
        from: &Typed<'t>,
        to: &Type<'t>,
    ) -> Result<()> {
        match (how, &from.0, to) {
            (Cast::Trunc, Type::Int(128), Type::Int(bits @ ..=64)) => {
                let [low, _] = self.halves(&from.1)?;
                let at = if *bits == 1 { BOOL } else { container(*bits) };
                self.define(result, at, super::arithmetic::without_sign(low, *bits));
            }
            (Cast::ZExt, Type::Int(..=64), _) => {
                let low = self.typed(from)?;
                self.set_halves(result, Expr::cast(low, PTR), Expr::Const(0));
            }
            (Cast::SExt, Type::Int(bits @ ..=64), _) => {
                let e = self.typed(from)?;
                let low = self.keep(LONG, with_sign(e, *bits));
                let high = Expr::bin(BinOp::Shr, low.clone(), Expr::Const(63), LONG);
                self.set_halves(result, Expr::cast(low, PTR), Expr::cast(high, PTR));
            }
            _ => return Err(Problem::unsupported("this conversion of 128 bits")),
        }
        Ok(())
    }
}
