//! Integers: operators, comparisons, conversions.
//!
//! Registers hold numbers without a sign, of which the bits beyond those of their type are 0.

use super::constants::{cut, has_room, sign_extended};
use super::function::{Operand, Writer};
use super::instructions::wide;
use super::{Problem, Result};
use crate::layout::{Leaf, container};
use crate::syntax::tree::{Binary, Cast, Flags, Type, Typed, Value};
use throng_goto::program::{BOOL, BinOp, Expr, Instr, Int, PTR, PointerUse};

/// Eight bytes with a sign.
pub(super) const LONG: Int = Int::new(8, true);

/// Returns the same bytes with a sign.
fn signed(at: Int) -> Int {
    Int { signed: true, truth: false, ..at.plain() }
}

/// Returns the number that a register of some bits holds, with its sign, as eight bytes.
pub(super) fn with_sign(e: Expr, bits: u32) -> Expr {
    if let Expr::Const(v) = e {
        return Expr::Const(sign_extended(v, bits));
    }
    match bits {
        8 | 16 | 32 => Expr::cast(Expr::cast(e, signed(container(bits))), LONG),
        64 => Expr::cast(e, LONG),
        // There is no cast to other sizes: shift the sign to the top and back.
        _ => {
            let shift = Expr::Const(i64::from(64 - bits));
            let up = Expr::bin(BinOp::Shl, Expr::cast(e, PTR), shift.clone(), PTR);
            Expr::bin(BinOp::Shr, Expr::cast(up, LONG), shift, LONG)
        }
    }
}

/// Returns a number cut to the bits of a register.
pub(super) fn without_sign(e: Expr, bits: u32) -> Expr {
    match bits {
        1 => Expr::bin(BinOp::And, Expr::cast(e, Int::new(1, false)), Expr::Const(1), Int::new(1, false)),
        8 | 16 | 32 | 64 => Expr::cast(e, container(bits)),
        _ => {
            let at = container(bits);
            Expr::bin(BinOp::And, Expr::cast(e, at), Expr::Const(cut(-1, bits)), at)
        }
    }
}

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    pub(super) fn binary(
        &mut self,
        result: Option<&'t str>,
        how: Binary,
        flags: Flags,
        ty: &Type<'t>,
        a: &Value<'t>,
        b: &Value<'t>,
    ) -> Result<()> {
        let bits = match ty {
            Type::Int(bits @ ..=64) => *bits,
            Type::Int(128) => return self.wide_binary(result, how, a, b),
            Type::Float | Type::Double => return self.float_binary(result, how, ty, a, b),
            _ => return Err(Problem::unsupported(format!("an operation on {}", crate::syntax::name_of(ty)))),
        };
        let (mut x, mut y) = (self.merged(how, ty, a)?, self.merged(how, ty, b)?);
        let at = container(bits);
        let promised = flags.unsigned || flags.signed || flags.other;
        if promised || matches!(how, Binary::SDiv | Binary::SRem) {
            (x, y) = (self.keep(at, x), self.keep(at, y));
        }
        if how == Binary::Sub && [a, b].iter().all(|v| self.is_address(v)) {
            self.emit(Instr::Pointer(PointerUse::Ordered(x.clone(), y.clone())));
        }
        let e = self.operate(how, bits, x.clone(), y.clone())?;
        if !promised || result.is_none() {
            self.define(result, if bits == 1 { BOOL } else { at }, e);
            return Ok(());
        }
        let e = self.keep(at, e);
        let broken = self.breaks(how, flags, bits, [x, y, e.clone()])?;
        self.promised(result, if bits == 1 { BOOL } else { at }, e, broken);
        Ok(())
    }

    /// Returns an operand. What has no value and is masked or shifted is part of a word in which
    /// LLVM has put variables together with what is between them.
    fn merged(&mut self, how: Binary, ty: &Type<'t>, value: &Value<'t>) -> Result<Expr> {
        let merges = matches!(how, Binary::And | Binary::Or | Binary::Shl);
        if merges && self.parts(ty, value)?.contains(&Operand::Undefined) {
            self.lower.assume("bytes without a value that are moved together with others are 0");
            return Ok(Expr::Const(0));
        }
        self.scalar(ty, value)
    }

    /// Returns the result of an operator on two numbers of some bits.
    pub(super) fn operate(&mut self, how: Binary, bits: u32, a: Expr, b: Expr) -> Result<Expr> {
        let at = container(bits);
        if has_room(bits) && matches!(how, Binary::Shl | Binary::LShr | Binary::AShr) {
            let fits = Expr::bin(BinOp::Lt, b.clone(), Expr::Const(i64::from(bits)), at);
            self.unless(fits, |w| w.poison("a shift is too far"));
        }
        let plain = |op| Expr::bin(op, a.clone(), b.clone(), at);
        Ok(match how {
            Binary::Add | Binary::Sub if bits == 1 => Expr::bin(BinOp::Ne, a, b, at),
            Binary::Add => without_sign(plain(BinOp::Add), bits),
            Binary::Sub => without_sign(plain(BinOp::Sub), bits),
            Binary::Mul => without_sign(plain(BinOp::Mul), bits),
            Binary::UDiv => plain(BinOp::Div),
            Binary::URem => plain(BinOp::Rem),
            Binary::SDiv | Binary::SRem => self.signed_division(how, bits, a, b),
            Binary::Shl => without_sign(plain(BinOp::Shl), bits),
            Binary::LShr => plain(BinOp::Shr),
            Binary::AShr => without_sign(Expr::bin(BinOp::Shr, with_sign(a, bits), b, LONG), bits),
            Binary::And => plain(BinOp::And),
            Binary::Or => plain(BinOp::Or),
            Binary::Xor if bits == 1 && b == Expr::Const(1) => self.negated(a),
            Binary::Xor => plain(BinOp::Xor),
            _ => return Err(Problem::unsupported("an operation on floating-point numbers as integers")),
        })
    }

    /// The quotient of the least number and -1 does not exist.
    fn signed_division(&mut self, how: Binary, bits: u32, a: Expr, b: Expr) -> Expr {
        let (x, y) = (with_sign(a, bits), with_sign(b, bits));
        let least = Expr::Const(sign_extended(1i64 << (bits - 1), bits));
        let not_least = Expr::bin(BinOp::Ne, x.clone(), least, LONG);
        let not_one = Expr::bin(BinOp::Ne, y.clone(), Expr::Const(-1), LONG);
        let exists = Expr::bin(BinOp::Or, not_least, not_one, Int::new(4, true));
        self.unless(exists, |w| w.poison("a quotient overflows"));
        let op = if how == Binary::SDiv { BinOp::Div } else { BinOp::Rem };
        without_sign(Expr::bin(op, x, y, LONG), bits)
    }

    /// The result of an operation is poison: what becomes of it is not modelled.
    pub(super) fn poison(&mut self, why: &str) {
        self.emit(Instr::Unmodelled(format!("{why}, though the program promises that it does not (poison)")));
    }

    /// Defines the result of an operation that is poison if a promise is broken: then it may be
    /// anything, and matters only if it is used.
    fn promised(&mut self, result: Option<&'t str>, at: Int, e: Expr, broken: Vec<Expr>) {
        let broken: Vec<Expr> = broken.into_iter().filter(|b| *b != Expr::Const(0)).collect();
        let Some(name) = result.filter(|_| !broken.is_empty()) else {
            return self.define(result, at, e);
        };
        let r = self.named_register(at, name);
        let (poison, end) = (self.label(), self.label());
        for b in broken {
            let next = self.label();
            self.emit(Instr::Branch(b, poison, next));
            self.place_label(next);
        }
        self.emit(Instr::Let(r, e));
        self.emit(Instr::Jump(end));
        self.place_label(poison);
        self.emit(Instr::Any(r));
        self.place_label(end);
        self.set(result, vec![Operand::Is(Expr::Reg(r))]);
    }

    /// Returns the conditions under which promises about an operation are broken.
    fn breaks(&mut self, how: Binary, flags: Flags, bits: u32, [a, b, r]: [Expr; 3]) -> Result<Vec<Expr>> {
        let at = container(bits);
        let mut breaks = Vec::new();
        if flags.unsigned || flags.signed {
            for is_signed in [false, true] {
                let asked = if is_signed { flags.signed } else { flags.unsigned };
                if asked {
                    breaks.push(self.overflow(how, is_signed, bits, [a.clone(), b.clone(), r.clone()])?);
                }
            }
        }
        if flags.other {
            breaks.push(match how {
                // `or disjoint`
                Binary::Or => {
                    let both = Expr::bin(BinOp::And, a, b, at);
                    Expr::bin(BinOp::Ne, both, Expr::Const(0), at)
                }
                // `exact`
                Binary::UDiv | Binary::SDiv => {
                    let back = Expr::bin(BinOp::Mul, r, b, at);
                    Expr::bin(BinOp::Ne, without_sign(back, bits), a, at)
                }
                Binary::LShr | Binary::AShr => {
                    let back = Expr::bin(BinOp::Shl, r, b, at);
                    Expr::bin(BinOp::Ne, without_sign(back, bits), a, at)
                }
                _ => return Err(Problem::unsupported("a promise about this operation")),
            });
        }
        Ok(breaks)
    }

    /// Returns whether the exact result `r` of an operation on `a` and `b` does not fit.
    pub(super) fn overflow(
        &mut self,
        how: Binary,
        is_signed: bool,
        bits: u32,
        [a, b, r]: [Expr; 3],
    ) -> Result<Expr> {
        let at = container(bits);
        let less = |x: Expr, y: Expr| Expr::bin(BinOp::Lt, x, y, at);
        let zero = Expr::Const(0);
        Ok(match (how, is_signed) {
            (Binary::Add, false) => less(r, a),
            (Binary::Sub, false) => less(a, b),
            (Binary::Shl, _) => {
                let back = match is_signed {
                    true => without_sign(Expr::bin(BinOp::Shr, with_sign(r, bits), b, LONG), bits),
                    false => Expr::bin(BinOp::Shr, r, b, at),
                };
                Expr::bin(BinOp::Ne, back, a, at)
            }
            (Binary::Add | Binary::Sub | Binary::Mul, true) if bits <= 32 => {
                let op = match how {
                    Binary::Add => BinOp::Add,
                    Binary::Sub => BinOp::Sub,
                    _ => BinOp::Mul,
                };
                // Of 32 bits and less, eight bytes have room for the exact result.
                let exact = Expr::bin(op, with_sign(a, bits), with_sign(b, bits), LONG);
                let exact = self.keep(LONG, exact);
                let low = Expr::bin(BinOp::Lt, exact.clone(), Expr::Const(-(1 << (bits - 1))), LONG);
                let high = Expr::bin(BinOp::Lt, Expr::Const((1 << (bits - 1)) - 1), exact, LONG);
                Expr::bin(BinOp::Or, low, high, Int::new(4, true))
            }
            (Binary::Add, true) => {
                // The signs of both operands differ from that of the result.
                let (x, y) = (Expr::bin(BinOp::Xor, a, r.clone(), at), Expr::bin(BinOp::Xor, b, r, at));
                let both = Expr::bin(BinOp::And, x, y, at);
                Expr::bin(BinOp::Lt, with_sign(both, bits), zero, LONG)
            }
            (Binary::Sub, true) => {
                let (x, y) = (Expr::bin(BinOp::Xor, a.clone(), b, at), Expr::bin(BinOp::Xor, a, r, at));
                let both = Expr::bin(BinOp::And, x, y, at);
                Expr::bin(BinOp::Lt, with_sign(both, bits), zero, LONG)
            }
            (Binary::Mul, false) if bits <= 32 => {
                let exact = Expr::bin(BinOp::Mul, Expr::cast(a, PTR), Expr::cast(b, PTR), PTR);
                Expr::bin(BinOp::Lt, Expr::Const((1 << bits) - 1), exact, PTR)
            }
            (Binary::Mul, _) => self.product_overflows(is_signed, bits, [a, b, r]),
            _ => return Err(Problem::unsupported("a promise about this operation")),
        })
    }

    /// A product overflows if dividing it gives another factor.
    fn product_overflows(&mut self, is_signed: bool, bits: u32, [a, b, r]: [Expr; 3]) -> Expr {
        let found = self.register(BOOL, None);
        let (divide, end) = (self.label(), self.label());
        self.emit(Instr::Let(found, Expr::Const(0)));
        self.emit(Instr::Branch(a.clone(), divide, end));
        self.place_label(divide);
        let at = container(bits);
        if is_signed {
            let (x, y, z) = (with_sign(a, bits), with_sign(b, bits), with_sign(r, bits));
            let least = Expr::Const(sign_extended(1i64 << (bits - 1), bits));
            let minus = Expr::bin(BinOp::Eq, x.clone(), Expr::Const(-1), LONG);
            let (special, usual) = (self.label(), self.label());
            self.emit(Instr::Branch(minus, special, usual));
            self.place_label(special);
            self.emit(Instr::Let(found, Expr::bin(BinOp::Eq, y.clone(), least, LONG)));
            self.emit(Instr::Jump(end));
            self.place_label(usual);
            let other = Expr::bin(BinOp::Div, z, x, LONG);
            self.emit(Instr::Let(found, Expr::bin(BinOp::Ne, other, y, LONG)));
        } else {
            let other = Expr::bin(BinOp::Div, r, a, at);
            self.emit(Instr::Let(found, Expr::bin(BinOp::Ne, other, b, at)));
        }
        self.place_label(end);
        Expr::Reg(found)
    }

    // ---- comparisons ----

    pub(super) fn compare(
        &mut self,
        result: Option<&'t str>,
        float: bool,
        how: &str,
        ty: &Type<'t>,
        a: &Value<'t>,
        b: &Value<'t>,
    ) -> Result<()> {
        if float {
            return self.float_compare(result, how, ty, a, b);
        }
        let leaf = match ty {
            Type::Int(128) => return self.wide_compare(result, how, a, b),
            Type::Int(bits @ ..=64) => Leaf::Int(*bits),
            Type::Pointer => Leaf::Pointer,
            _ => return Err(Problem::unsupported(format!("a comparison of {}", crate::syntax::name_of(ty)))),
        };
        let (a, b) = (self.scalar(ty, a)?, self.scalar(ty, b)?);
        if leaf == Leaf::Pointer && a != Expr::Const(0) && b != Expr::Const(0) {
            let using = match how {
                "eq" | "ne" => PointerUse::Compared(a.clone(), b.clone()),
                _ => PointerUse::Ordered(a.clone(), b.clone()),
            };
            self.emit(Instr::Pointer(using));
        }
        let bits = if let Leaf::Int(bits) = leaf { bits } else { 64 };
        let e = Self::comparison(how, bits, a, b)?;
        self.define(result, BOOL, e);
        Ok(())
    }

    /// Returns the result of a comparison by its name.
    pub(super) fn comparison(how: &str, bits: u32, a: Expr, b: Expr) -> Result<Expr> {
        let at = wide(container(bits));
        let (a, b, at) = match how.starts_with('s') {
            true => (with_sign(a, bits), with_sign(b, bits), LONG),
            false => (a, b, at),
        };
        Ok(match how {
            "eq" => Expr::bin(BinOp::Eq, a, b, at),
            "ne" => Expr::bin(BinOp::Ne, a, b, at),
            "ult" | "slt" => Expr::bin(BinOp::Lt, a, b, at),
            "ugt" | "sgt" => Expr::bin(BinOp::Lt, b, a, at),
            "ule" | "sle" => Expr::bin(BinOp::Le, a, b, at),
            "uge" | "sge" => Expr::bin(BinOp::Le, b, a, at),
            _ => return Err(Problem::unsupported(format!("the comparison `{how}`"))),
        })
    }

    // ---- conversions ----

    pub(super) fn cast(
        &mut self,
        result: Option<&'t str>,
        how: Cast,
        flags: Flags,
        from: &Typed<'t>,
        to: &Type<'t>,
    ) -> Result<()> {
        if from.0 == Type::Int(128) || *to == Type::Int(128) {
            return self.wide_cast(result, how, from, to);
        }
        let bits_of = |ty: &Type<'t>| match ty {
            Type::Int(bits @ ..=64) => Ok(*bits),
            Type::Pointer => Ok(64),
            other => Err(Problem::unsupported(format!("a conversion of {}", crate::syntax::name_of(other)))),
        };
        if matches!(
            how,
            Cast::FpToUi | Cast::FpToSi | Cast::UiToFp | Cast::SiToFp | Cast::FpTrunc | Cast::FpExt
        ) {
            return self.float_cast(result, how, from, to);
        }
        let leaf = self.leaves(to)?;
        let [(_, leaf)] = leaf[..] else {
            return Err(Problem::unsupported("a conversion of a value of several parts"));
        };
        let widens = how == Cast::ZExt && self.parts(&from.0, &from.1)?.contains(&Operand::Undefined);
        let mut e = match widens {
            true => self.merged(Binary::Or, &from.0, &from.1)?,
            false => self.typed(from)?,
        };
        if how == Cast::BitCast {
            self.define(result, leaf.int(), e);
            return Ok(());
        }
        let (narrow, broad) = (bits_of(&from.0)?, bits_of(to)?);
        let most = self.bound(&e);
        if how == Cast::Trunc && most.is_some_and(|most| broad >= 63 || most < 1 << broad) {
            // No bit is lost.
            let e = if broad == 1 { self.truth(e) } else { Expr::cast(e, leaf.int()) };
            self.define(result, leaf.int(), e);
            return Ok(());
        }
        let mut broken = Vec::new();
        if flags.unsigned || flags.signed || flags.other {
            e = self.keep(container(narrow), e);
            broken = Self::breaks_of_cast(how, flags, narrow, broad, &e);
        }
        let only_tested = result.is_none_or(|name| self.only_tests(name) || self.only_subtracts(name));
        if how == Cast::PtrToInt && !matches!(e, Expr::Const(_)) && !only_tested {
            self.emit(Instr::Pointer(PointerUse::Number(e.clone())));
        }
        let e = match how {
            Cast::SExt => without_sign(with_sign(e, narrow), broad),
            Cast::Trunc => without_sign(e, broad),
            Cast::PtrToInt | Cast::IntToPtr if broad < narrow => without_sign(e, broad),
            Cast::PtrToInt | Cast::IntToPtr if broad == narrow => e,
            _ => Expr::cast(e, leaf.int()),
        };
        self.promised(result, leaf.int(), e, broken);
        Ok(())
    }

    fn breaks_of_cast(how: Cast, flags: Flags, narrow: u32, broad: u32, e: &Expr) -> Vec<Expr> {
        let at = container(narrow);
        let mut holds = Vec::new();
        match how {
            Cast::Trunc => {
                if flags.unsigned {
                    holds.push(Expr::bin(BinOp::Le, e.clone(), Expr::Const(cut(-1, broad)), at));
                }
                if flags.signed && broad < 64 {
                    let (least, most) = (-(1i64 << (broad - 1)), (1i64 << (broad - 1)) - 1);
                    let v = with_sign(e.clone(), narrow);
                    holds.push(Expr::bin(BinOp::Le, Expr::Const(least), v.clone(), LONG));
                    holds.push(Expr::bin(BinOp::Le, v, Expr::Const(most), LONG));
                }
            }
            // `zext nneg`
            _ => holds.push(Expr::bin(BinOp::Le, Expr::Const(0), with_sign(e.clone(), narrow), LONG)),
        }
        holds.into_iter().map(Expr::is_zero).collect()
    }
}
