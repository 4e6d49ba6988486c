//! Functions of LLVM itself, by their names without `llvm.`.

use super::arithmetic::{with_sign, without_sign};
use super::function::{Operand, Writer};
use super::{Problem, Result};
use crate::layout::{Leaf, container};
use crate::syntax::tree::{Binary, Call, Type};
use throng_goto::program::{BOOL, BinOp, Expr, Instr, PTR};

/// Functions that only tell the compiler something, by the begins of their names.
const NOTHING: [&str; 10] = [
    "experimental.noalias.scope.decl",
    "donothing",
    "sideeffect",
    "prefetch",
    "x86.sse2.pause",
    "aarch64.isb",
    "aarch64.hint",
    "invariant.",
    "dbg.",
    "pseudoprobe",
];

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    pub(super) fn intrinsic(
        &mut self,
        result: Option<&'t str>,
        name: &str,
        call: &'a Call<'t>,
    ) -> Result<()> {
        if NOTHING.iter().any(|n| name.starts_with(n)) {
            return Ok(());
        }
        if let Some(rest) = name.strip_prefix("lifetime.") {
            let pointer = call.arguments.iter().find(|a| a.ty == Type::Pointer);
            if let Some(a) = pointer {
                self.lifetime(rest.starts_with("start"), &a.value);
            }
            return Ok(());
        }
        let stem: Vec<&str> = name.split('.').collect();
        match stem[..] {
            ["memcpy", ..] => self.copy_bytes(&call.arguments, false),
            ["memmove", ..] => self.copy_bytes(&call.arguments, true),
            ["memset", ..] => self.set_bytes(&call.arguments),
            ["assume", ..] => {
                let promised = self.nth(call, 0)?;
                self.unless(promised, |w| w.fail("a promise of the program does not hold (`assume`)"));
                Ok(())
            }
            ["trap" | "debugtrap" | "ubsantrap", ..] => {
                self.fail("the process aborts");
                Ok(())
            }
            ["expect", ..]
            | ["launder" | "strip", ..]
            | ["ssa", "copy", ..]
            | ["threadlocal", "address", ..] => {
                let parts = call.argument(0).map(|(ty, v)| self.parts(&ty, &v));
                self.set(result, parts.unwrap_or(Ok(Vec::new()))?);
                Ok(())
            }
            ["is", "constant", ..] => {
                self.define(result, BOOL, Expr::Const(0));
                Ok(())
            }
            ["objectsize", ..] => {
                self.define(result, PTR, Expr::Const(-1));
                Ok(())
            }
            [how, "with", "overflow", bits] => self.with_overflow(result, how, bits, call),
            [how @ ("uadd" | "usub" | "sadd" | "ssub"), "sat", bits] => {
                self.saturating(result, how, bits, call)
            }
            [how @ ("umin" | "umax" | "smin" | "smax"), bits] => self.extreme(result, how, bits, call),
            [how @ ("ucmp" | "scmp"), to, bits] => self.three_way(result, how, to, bits, call),
            ["abs", bits] => self.absolute(result, bits, call),
            [how @ ("ctpop" | "ctlz" | "cttz" | "bswap" | "bitreverse"), bits] => {
                self.bits(result, how, bits, call)
            }
            [how @ ("fshl" | "fshr"), bits] => self.funnel(result, how, bits, call),
            _ => Err(Problem::unsupported(format!("the intrinsic `llvm.{name}`"))),
        }
    }

    fn nth(&mut self, call: &Call<'t>, n: usize) -> Result<Expr> {
        match call.argument(n) {
            Some(typed) => self.typed(&typed),
            None => Err(Problem::new("E853", "an intrinsic is called with too few arguments")),
        }
    }

    /// Returns two arguments, in registers, and how many bits they have.
    fn two(&mut self, bits: &str, call: &Call<'t>) -> Result<(u32, Expr, Expr)> {
        let bits = width(bits)?;
        let (a, b) = (self.nth(call, 0)?, self.nth(call, 1)?);
        let at = Leaf::Int(bits).int();
        Ok((bits, self.keep(at, a), self.keep(at, b)))
    }

    fn with_overflow(
        &mut self,
        result: Option<&'t str>,
        how: &str,
        bits: &str,
        call: &Call<'t>,
    ) -> Result<()> {
        let (bits, a, b) = self.two(bits, call)?;
        let op = operation(&how[1..])?;
        let value = self.operate(op, bits, a.clone(), b.clone())?;
        let value = self.keep(container(bits), value);
        let over = self.overflow(op, how.starts_with('s'), bits, [a, b, value.clone()])?;
        let over = self.keep(BOOL, over);
        self.set(result, vec![Operand::Is(value), Operand::Is(over)]);
        Ok(())
    }

    fn saturating(&mut self, result: Option<&'t str>, how: &str, bits: &str, call: &Call<'t>) -> Result<()> {
        let (bits, a, b) = self.two(bits, call)?;
        let (op, at) = (operation(&how[1..])?, container(bits));
        let value = self.operate(op, bits, a.clone(), b.clone())?;
        let value = self.keep(at, value);
        let is_signed = how.starts_with('s');
        let over = self.overflow(op, is_signed, bits, [a.clone(), b, value.clone()])?;
        let most = super::constants::cut(-1, bits);
        let limit = match (is_signed, op) {
            (false, Binary::Add) => Expr::Const(most),
            (false, _) => Expr::Const(0),
            // What is too large has become negative, and so on.
            (true, _) => {
                let negative =
                    Expr::bin(BinOp::Lt, with_sign(a, bits), Expr::Const(0), super::arithmetic::LONG);
                let (low, high) = (1i64 << (bits - 1), most ^ (1i64 << (bits - 1)));
                self.choice(at, negative, Expr::Const(low & most), Expr::Const(high))
            }
        };
        let e = self.choice(at, over, limit, value);
        self.define(result, at, e);
        Ok(())
    }

    fn extreme(&mut self, result: Option<&'t str>, how: &str, bits: &str, call: &Call<'t>) -> Result<()> {
        let (bits, a, b) = self.two(bits, call)?;
        let less = if how.starts_with('s') { "slt" } else { "ult" };
        let test = Self::comparison(less, bits, a.clone(), b.clone())?;
        let at = Leaf::Int(bits).int();
        let e = match how.ends_with("min") {
            true => self.choice(at, test, a, b),
            false => self.choice(at, test, b, a),
        };
        self.define(result, at, e);
        Ok(())
    }

    /// -1, 0 or 1.
    fn three_way(
        &mut self,
        result: Option<&'t str>,
        how: &str,
        to: &str,
        bits: &str,
        call: &Call<'t>,
    ) -> Result<()> {
        let (bits, a, b) = self.two(bits, call)?;
        let to = width(to)?;
        let kind = if how.starts_with('s') { "slt" } else { "ult" };
        let less = Self::comparison(kind, bits, a.clone(), b.clone())?;
        let more = Self::comparison(kind, bits, b, a)?;
        let at = container(to);
        let e = Expr::bin(BinOp::Sub, Expr::cast(more, at), Expr::cast(less, at), at);
        self.define(result, at, without_sign(e, to));
        Ok(())
    }

    fn absolute(&mut self, result: Option<&'t str>, bits: &str, call: &Call<'t>) -> Result<()> {
        let (bits, at) = (width(bits)?, container(width(bits)?));
        let a = self.nth(call, 0)?;
        let a = self.keep(at, a);
        let least_is_poison = self.nth(call, 1)? != Expr::Const(0);
        if least_is_poison {
            let fine = Expr::bin(BinOp::Ne, a.clone(), Expr::Const(1i64 << (bits - 1)), at);
            self.unless(fine, |w| w.poison("an absolute value overflows"));
        }
        let negative =
            Expr::bin(BinOp::Lt, with_sign(a.clone(), bits), Expr::Const(0), super::arithmetic::LONG);
        let minus = self.operate(Binary::Sub, bits, Expr::Const(0), a.clone())?;
        let e = self.choice(at, negative, minus, a);
        self.define(result, at, e);
        Ok(())
    }

    /// Counts and permutations of bits, computed as they are without an instruction for them.
    fn bits(&mut self, result: Option<&'t str>, how: &str, bits: &str, call: &Call<'t>) -> Result<()> {
        let bits = width(bits)?;
        let at = container(bits);
        let a = self.nth(call, 0)?;
        let a = self.keep(at, Expr::cast(a, at));
        let zero_is_poison = matches!(how, "ctlz" | "cttz") && self.nth(call, 1)? != Expr::Const(0);
        if zero_is_poison {
            self.unless(a.clone(), |w| w.poison("the zeros of 0 are counted"));
        }
        let bit = |n: u32| {
            let moved = Expr::bin(BinOp::Shr, a.clone(), Expr::Const(n.into()), at);
            Expr::bin(BinOp::And, moved, Expr::Const(1), at)
        };
        let r = self.register(at, None);
        match how {
            "ctpop" => {
                self.emit(Instr::Let(r, Expr::Const(0)));
                for n in 0..bits {
                    self.emit(Instr::Let(r, Expr::bin(BinOp::Add, Expr::Reg(r), bit(n), at)));
                }
            }
            "ctlz" | "cttz" => {
                self.emit(Instr::Let(r, Expr::Const(bits.into())));
                // The last bit that is looked at counts.
                let order: Vec<u32> =
                    if how == "ctlz" { (0..bits).collect() } else { (0..bits).rev().collect() };
                for n in order {
                    let count = if how == "ctlz" { bits - 1 - n } else { n };
                    let (set, next) = (self.label(), self.label());
                    self.emit(Instr::Branch(bit(n), set, next));
                    self.place_label(set);
                    self.emit(Instr::Let(r, Expr::Const(count.into())));
                    self.place_label(next);
                }
            }
            _ => {
                let step = if how == "bswap" { 8 } else { 1 };
                self.emit(Instr::Let(r, Expr::Const(0)));
                for n in (0..bits).step_by(step) {
                    let mask = Expr::Const((1 << step) - 1);
                    let part = Expr::bin(BinOp::Shr, a.clone(), Expr::Const(n.into()), at);
                    let part = Expr::bin(BinOp::And, part, mask, at);
                    let to = Expr::Const((bits - step as u32 - n).into());
                    let moved = Expr::bin(BinOp::Shl, part, to, at);
                    self.emit(Instr::Let(r, Expr::bin(BinOp::Or, Expr::Reg(r), moved, at)));
                }
            }
        }
        self.define(result, at, Expr::Reg(r));
        Ok(())
    }

    /// The upper or the lower half of two numbers side by side, shifted.
    fn funnel(&mut self, result: Option<&'t str>, how: &str, bits: &str, call: &Call<'t>) -> Result<()> {
        let (bits, a, b) = self.two(bits, call)?;
        if !bits.is_power_of_two() || bits < 8 {
            return Err(Problem::unsupported("a rotation of this many bits"));
        }
        let at = container(bits);
        let by = self.nth(call, 2)?;
        let by = self.keep(at, Expr::bin(BinOp::And, by, Expr::Const(i64::from(bits) - 1), at));
        let other = Expr::bin(BinOp::Sub, Expr::Const(i64::from(bits) - 1), by.clone(), at);
        let one = Expr::Const(1);
        // A shift by all bits would be too far: shift by one, and then by the rest.
        let e = match how {
            "fshl" => {
                let low = Expr::bin(BinOp::Shr, Expr::bin(BinOp::Shr, b, one, at), other, at);
                Expr::bin(BinOp::Or, without_sign(Expr::bin(BinOp::Shl, a, by, at), bits), low, at)
            }
            _ => {
                let high = Expr::bin(BinOp::Shl, Expr::bin(BinOp::Shl, a, one, at), other, at);
                Expr::bin(BinOp::Or, without_sign(high, bits), Expr::bin(BinOp::Shr, b, by, at), at)
            }
        };
        self.define(result, at, e);
        Ok(())
    }
}

/// Returns the number of bits in a name such as `i32`.
fn width(name: &str) -> Result<u32> {
    let bits = name.strip_prefix('i').and_then(|bits| bits.parse().ok());
    bits.filter(|b| (1..=64).contains(b))
        .ok_or_else(|| Problem::unsupported(format!("an intrinsic on `{name}`")))
}

fn operation(name: &str) -> Result<Binary> {
    match name {
        "add" => Ok(Binary::Add),
        "sub" => Ok(Binary::Sub),
        "mul" => Ok(Binary::Mul),
        _ => Err(Problem::unsupported(format!("`{name}` with overflow"))),
    }
}
