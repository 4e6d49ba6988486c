//! Functions of the compiler on numbers: bits that are counted or moved, and arithmetic that tells
//! whether a result fits.

use super::builtins::Args;
use super::{Lower, Result, Value, unsupported, wrong};
use crate::library::special::{Arithmetic, Count, Overflows};
use crate::syntax::ast::Span;
use crate::types::Ty;
use throng_goto::program::{BinOp, Expr, INT, Instr, Int, PTR};

/// The largest numbers with and without a sign.
const WIDE: Int = Int::new(8, true);

fn bin(op: BinOp, a: &Expr, b: Expr, at: Int) -> Expr {
    Expr::bin(op, a.clone(), b, at)
}

fn is_negative(e: &Expr) -> Expr {
    bin(BinOp::Lt, e, Expr::Const(0), WIDE)
}

impl<'a> Lower<'a> {
    /// Returns the type that the last letters of a name such as `__builtin_clzll` say.
    fn size_in_name(&self, name: &str, signed: bool) -> Int {
        let long = self.long().size;
        let size = if name.ends_with("ll") {
            8
        } else if name.ends_with('l') {
            long
        } else {
            4
        };
        Int::new(size, signed)
    }

    /// Keeps a number in a register.
    fn step(&mut self, e: Expr, at: Int) -> Expr {
        self.kept(Value { expr: e, ty: Ty::Int(at) }).expr
    }

    /// Lowers a function that counts bits.
    pub(super) fn count_bits(
        &mut self,
        count: Count,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Value> {
        let at = self.size_in_name(name, false);
        let bits = i64::from(at.size) * 8;
        let v = self.arg(args, 0, span)?;
        let x = self.convert(v, &Ty::Int(at), span)?.expr;
        let x = self.step(x, at);
        let n = match count {
            Count::Ones => self.ones(x, at),
            Count::Parity => {
                let n = self.ones(x, at);
                bin(BinOp::And, &n, Expr::Const(1), at)
            }
            Count::TrailingZeros => {
                self.not_zero(&x, name, span);
                self.trailing_zeros(&x, at)
            }
            Count::LeadingZeros => {
                self.not_zero(&x, name, span);
                let n = self.length_of(x, at);
                Expr::bin(BinOp::Sub, Expr::Const(bits), n, at)
            }
            Count::First => {
                let n = self.trailing_zeros(&x, at);
                let n = bin(BinOp::Add, &n, Expr::Const(1), at);
                let some = bin(BinOp::Ne, &x, Expr::Const(0), at);
                bin(BinOp::Mul, &n, some, at)
            }
            Count::SignBits => {
                let signed = Int { signed: true, ..at };
                let sign =
                    Expr::bin(BinOp::Shr, Expr::cast(x.clone(), signed), Expr::Const(bits - 1), signed);
                let y = bin(BinOp::Xor, &x, Expr::cast(sign, at), at);
                let y = self.step(y, at);
                let n = self.length_of(y, at);
                Expr::bin(BinOp::Sub, Expr::Const(bits - 1), n, at)
            }
        };
        Ok(Value { expr: Expr::cast(n, INT), ty: Ty::int() })
    }

    /// The result for 0 is not defined.
    fn not_zero(&mut self, x: &Expr, name: &str, span: Span) {
        if matches!(x, Expr::Const(v) if *v != 0) || self.dry || self.constants.is_some() {
            return;
        }
        let (some, none) = (self.label(), self.label());
        self.emit(Instr::Branch(bin(BinOp::Ne, x, Expr::Const(0), WIDE), some, none));
        self.place_label(none);
        let here = std::mem::replace(&mut self.here, span);
        self.emit(Instr::Unmodelled(format!("`{name}` of 0 has no defined result")));
        self.here = here;
        self.place_label(some);
    }

    /// Returns how many bits are 1.
    fn ones(&mut self, x: Expr, at: Int) -> Expr {
        let all = |pattern: u64| Expr::Const(at.wrap(pattern as i64));
        let shifted = |x: &Expr, by| bin(BinOp::Shr, x, Expr::Const(by), at);
        let pairs = bin(BinOp::And, &shifted(&x, 1), all(0x5555_5555_5555_5555), at);
        let x = self.step(bin(BinOp::Sub, &x, pairs, at), at);
        let low = bin(BinOp::And, &x, all(0x3333_3333_3333_3333), at);
        let high = bin(BinOp::And, &shifted(&x, 2), all(0x3333_3333_3333_3333), at);
        let x = self.step(Expr::bin(BinOp::Add, low, high, at), at);
        let sum = bin(BinOp::Add, &x, shifted(&x, 4), at);
        let mut x = self.step(bin(BinOp::And, &sum, all(0x0f0f_0f0f_0f0f_0f0f), at), at);
        for by in [8, 16, 32].into_iter().filter(|by| *by < i64::from(at.size) * 8) {
            x = self.step(bin(BinOp::Add, &x, shifted(&x, by), at), at);
        }
        bin(BinOp::And, &x, Expr::Const(0x7f), at)
    }

    /// Returns how many zeros come behind the last 1; all bits, if there is none.
    fn trailing_zeros(&mut self, x: &Expr, at: Int) -> Expr {
        let negated = Expr::bin(BinOp::Sub, Expr::Const(0), x.clone(), at);
        let last = bin(BinOp::And, x, negated, at);
        let below = self.step(Expr::bin(BinOp::Sub, last, Expr::Const(1), at), at);
        self.ones(below, at)
    }

    /// Returns how many bits there are up to the first 1.
    fn length_of(&mut self, mut x: Expr, at: Int) -> Expr {
        for by in [1, 2, 4, 8, 16, 32].into_iter().filter(|by| *by < i64::from(at.size) * 8) {
            let moved = bin(BinOp::Shr, &x, Expr::Const(by), at);
            x = self.step(bin(BinOp::Or, &x, moved, at), at);
        }
        self.ones(x, at)
    }

    /// Returns a number with its bytes in reverse.
    pub(super) fn swap_bytes(&mut self, size: u8, args: Args<'a>, span: Span) -> Result<Value> {
        let (ty, at) = (Int::new(size, false), Int::new(size.max(4), false));
        let v = self.arg(args, 0, span)?;
        let x = self.convert(v, &Ty::Int(ty), span)?.expr;
        let x = self.step(x, ty);
        let mut all = Expr::Const(0);
        for k in 0..i64::from(size) {
            let byte = bin(BinOp::Shr, &x, Expr::Const(8 * k), at);
            let byte = bin(BinOp::And, &byte, Expr::Const(255), at);
            let byte = bin(BinOp::Shl, &byte, Expr::Const(8 * (i64::from(size) - 1 - k)), at);
            all = bin(BinOp::Or, &all, byte, at);
        }
        Ok(Value { expr: Expr::cast(all, ty), ty: Ty::Int(ty) })
    }

    /// Lowers `__builtin_add_overflow` and its like: whether the exact result does not fit.
    pub(super) fn overflowing(&mut self, what: Overflows, args: Args<'a>, span: Span) -> Result<Value> {
        let of_name = what.name.trim_end_matches("_overflow");
        let fixed = what.of.map(|signed| Ty::Int(self.size_in_name(of_name, signed)));
        let mut operands = Vec::new();
        for n in 0..2 {
            let v = self.arg(args, n, span)?;
            let v = match &fixed {
                Some(ty) => self.convert(v, ty, span)?,
                None => v,
            };
            operands.push(self.kept(v));
        }
        let (to, result) = match (args.get(2), what.stores) {
            (None, _) => return wrong(span, "an argument is missing"),
            (Some(e), true) => {
                let v = self.arg(args, 2, span)?;
                match v.ty.plain() {
                    Ty::Ptr(t) => (Some(v.expr), Ty::clone(t)),
                    _ => return wrong(e.span, "this is not a pointer"),
                }
            }
            (Some(e), false) => {
                if super::expressions::has_effects(&e.node) {
                    return unsupported(
                        e.span,
                        "an operand with a side effect, of which only the type is used,",
                    );
                }
                (None, self.type_of(e)?)
            }
        };
        let all = (operands[0].ty.integer(), operands[1].ty.integer(), result.integer());
        let (Some(a), Some(b), Some(to_type)) = all else {
            return unsupported(span, "arithmetic that tells of overflows, on these types,");
        };
        let [x, y] = [0, 1].map(|n| Expr::cast(operands[n].expr.clone(), PTR));
        let (x, y) = (self.step(x, PTR), self.step(y, PTR));
        let (low, high) = match what.op {
            Arithmetic::Add => self.wide_sum((&x, a), (&y, b)),
            Arithmetic::Sub => self.wide_difference((&x, a), (&y, b)),
            Arithmetic::Mul => self.wide_product((&x, a), (&y, b)),
        };
        let overflows = self.does_not_fit(&low, &high, to_type);
        let overflows = self.step(overflows, INT);
        if let Some(to) = to {
            let v = Expr::cast(low, to_type);
            self.access_as(&result, |s| s.emit(Instr::Store(to, v, to_type)));
        }
        Ok(Value { expr: overflows, ty: Ty::Int(Int { truth: true, ..Int::new(1, false) }) })
    }

    /// Returns the bits of a number beyond its 64: all 0 or all 1.
    fn beyond(x: &Expr, of: Int) -> Expr {
        match of.signed {
            true => Expr::bin(BinOp::Sub, Expr::Const(0), is_negative(x), PTR),
            false => Expr::Const(0),
        }
    }

    /// Returns the lower and upper 64 bits of a sum.
    fn wide_sum(&mut self, (x, a): (&Expr, Int), (y, b): (&Expr, Int)) -> (Expr, Expr) {
        let low = self.step(bin(BinOp::Add, x, y.clone(), PTR), PTR);
        let carry = bin(BinOp::Lt, &low, x.clone(), PTR);
        let high = Expr::bin(BinOp::Add, Self::beyond(x, a), Self::beyond(y, b), PTR);
        let high = self.step(Expr::bin(BinOp::Add, high, carry, PTR), PTR);
        (low, high)
    }

    fn wide_difference(&mut self, (x, a): (&Expr, Int), (y, b): (&Expr, Int)) -> (Expr, Expr) {
        let low = self.step(bin(BinOp::Sub, x, y.clone(), PTR), PTR);
        let borrow = bin(BinOp::Lt, x, y.clone(), PTR);
        let high = Expr::bin(BinOp::Sub, Self::beyond(x, a), Self::beyond(y, b), PTR);
        let high = self.step(Expr::bin(BinOp::Sub, high, borrow, PTR), PTR);
        (low, high)
    }

    fn wide_product(&mut self, (x, a): (&Expr, Int), (y, b): (&Expr, Int)) -> (Expr, Expr) {
        let low = self.step(bin(BinOp::Mul, x, y.clone(), PTR), PTR);
        if a.size <= 4 && b.size <= 4 {
            // It has at most 64 bits.
            let high = if a.signed || b.signed { Self::beyond(&low, WIDE) } else { Expr::Const(0) };
            return (low, high);
        }
        let half = |s: &mut Self, e: &Expr, upper: bool| match upper {
            true => s.step(bin(BinOp::Shr, e, Expr::Const(32), PTR), PTR),
            false => s.step(bin(BinOp::And, e, Expr::Const(0xffff_ffff), PTR), PTR),
        };
        let ((x0, x1), (y0, y1)) =
            ((half(self, x, false), half(self, x, true)), (half(self, y, false), half(self, y, true)));
        let times = |x: &Expr, y: &Expr| bin(BinOp::Mul, x, y.clone(), PTR);
        let carried = bin(BinOp::Shr, &times(&x0, &y0), Expr::Const(32), PTR);
        let middle = self.step(Expr::bin(BinOp::Add, times(&x1, &y0), carried, PTR), PTR);
        let lower = half(self, &middle, false);
        let other = self.step(Expr::bin(BinOp::Add, times(&x0, &y1), lower, PTR), PTR);
        let mut high = times(&x1, &y1);
        for part in [half(self, &middle, true), half(self, &other, true)] {
            high = bin(BinOp::Add, &high, part, PTR);
        }
        // So far both were taken as without a sign.
        for ((e, of), factor) in [((x, a), y), ((y, b), x)] {
            let taken = bin(BinOp::And, &Self::beyond(e, of), factor.clone(), PTR);
            high = Expr::bin(BinOp::Sub, high, taken, PTR);
        }
        (low, self.step(high, PTR))
    }

    /// Returns whether a number of 128 bits is not one of a type.
    fn does_not_fit(&mut self, low: &Expr, high: &Expr, to: Int) -> Expr {
        let small = Expr::cast(Expr::cast(low.clone(), to), PTR);
        let changed = bin(BinOp::Ne, low, small.clone(), PTR);
        let expected = match to.signed {
            true => Self::beyond(low, WIDE),
            false => Expr::Const(0),
        };
        let beyond = bin(BinOp::Ne, high, expected, PTR);
        Expr::bin(BinOp::Or, changed, beyond, INT)
    }
}
