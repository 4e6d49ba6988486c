//! Bit-fields: which numbers in memory they are a part of, and how these are read and written.
//!
//! Adjacent bit-fields are one memory location. An access to one of them reads the number that has
//! it, and a write of one reads that number and writes it, in two steps. Where a location is not one
//! number, every access to it begins with the first one.

use crate::syntax::ast::Span;

use super::{Lower, Result, Value};
use crate::types::{Bits, Ty, common, promote};
use throng_goto::program::{BinOp, Expr, INT, Instr, Int, PTR};

/// Returns the type in which the numbers of some size are computed with.
fn working(size: u8) -> Int {
    Int::new(if size <= 4 { 4 } else { 8 }, false)
}

/// Returns the type of a value of a bit-field: promoted, unless it has more bits than `int`.
pub(super) fn value_type(of: Int, bits: &Bits) -> Ty {
    match bits.width {
        ..32 => Ty::Int(INT),
        32 => Ty::Int(Int::new(4, of.signed)),
        width if width < u32::from(of.size) * 8 => Ty::Narrow(of, width as u8),
        _ => Ty::Int(of),
    }
}

/// Returns a value with this many bits, extended as its type says.
pub(super) fn narrowed(e: Expr, of: Int, width: u32) -> Expr {
    let at = working(of.size);
    let rest = u32::from(at.size) * 8 - width;
    let e = Expr::cast(e, at);
    if !of.signed {
        return Expr::bin(
            BinOp::And,
            e,
            Expr::Const(at.wrap(if rest == 0 { -1 } else { ((1u64 << width) - 1) as i64 })),
            at,
        );
    }
    let signed = Int { signed: true, ..at };
    let up = Expr::bin(BinOp::Shl, e, Expr::Const(rest.into()), at);
    Expr::bin(BinOp::Shr, Expr::cast(up, signed), Expr::Const(rest.into()), signed)
}

/// Returns a number moved by some bits to the left, or to the right if that is negative.
fn moved(e: Expr, by: i64, at: Int) -> Expr {
    match by {
        0 => e,
        1.. => Expr::bin(BinOp::Shl, e, Expr::Const(by), at),
        _ => Expr::bin(BinOp::Shr, e, Expr::Const(-by), at),
    }
}

/// Returns the type of an operation on two numbers, of which one may be a bit-field with more bits
/// than `int`: with as many bits as that, unless the other number has more.
pub(super) fn common_type(a: &Ty, b: &Ty) -> Option<Ty> {
    let (x, y) = (a.scalar()?, b.scalar()?);
    let bits = |t: &Ty, i: Int| match t.plain() {
        Ty::Narrow(_, width) => *width,
        _ => promote(i).size * 8,
    };
    let (m, n) = (bits(a, x), bits(b, y));
    Some(match (a.plain(), b.plain()) {
        (Ty::Narrow(i, w), Ty::Narrow(j, _)) if m == n => {
            Ty::Narrow(Int { signed: i.signed && j.signed, ..*i }, *w)
        }
        (Ty::Narrow(..), _) if m > n => a.plain().clone(),
        (_, Ty::Narrow(..)) if n > m => b.plain().clone(),
        _ => Ty::Int(common(x, y)),
    })
}

/// Returns a result with no more bits than its type.
pub(super) fn in_type(v: Value) -> Value {
    match v.ty {
        Ty::Narrow(of, width) => Value { expr: Expr::cast(narrowed(v.expr, of, width.into()), of), ty: v.ty },
        _ => v,
    }
}

impl Lower<'_> {
    /// Emits an access to a number of which these bits belong to a bit-field.
    fn access_bits(&mut self, mask: i64, i: Instr) {
        if !self.dry && self.constants.is_none() {
            self.current.template.bits.push((self.current.template.code.len(), mask));
        }
        self.emit(i);
    }

    /// A replay makes the same accesses: a passage names a bit-field of the structure that has it at
    /// an offset.
    pub(super) fn list_field(&mut self, span: Span, offset: u64, bits: &Bits) {
        let unit = |&(at, size): &(u64, u8)| {
            let (mask, _) = bits.within((at, size));
            let unit = Int::new(size, false);
            ((offset + at) as u32, size, unit.wrap(mask) == unit.wrap(-1))
        };
        let units = bits.units.iter().map(unit).collect();
        self.program.fields.insert((span.start, span.end), units);
    }

    /// Reads a bit-field of the structure at an address.
    pub(super) fn read_bits(&mut self, base: &Expr, of: Int, bits: &Bits) -> Value {
        let at = working(if let [(_, size)] = bits.units[..] { size } else { 8 });
        let mut all = Expr::Const(0);
        for &(offset, size) in &bits.units {
            let (mask, from) = bits.within((offset, size));
            let unit = Int::new(size, false);
            let r = self.register(unit, None);
            let a = Expr::bin(BinOp::Add, base.clone(), Expr::Const(offset as i64), PTR);
            self.access_bits(mask, Instr::Load(r, a, unit));
            if mask == 0 {
                continue;
            }
            let part = Expr::bin(BinOp::And, Expr::cast(Expr::Reg(r), at), Expr::Const(mask), at);
            let part = moved(part, from, at);
            all = if all == Expr::Const(0) { part } else { Expr::bin(BinOp::Or, all, part, at) };
        }
        let ty = value_type(of, bits);
        let v = narrowed(all, Int::new(at.size, of.signed), bits.width);
        let expr = Expr::cast(v, ty.scalar().unwrap_or(INT));
        Value { expr, ty }
    }

    /// Writes a value, converted to its type, to a bit-field: the value that it then has.
    pub(super) fn write_bits(
        &mut self,
        base: &Expr,
        of: Int,
        bits: &Bits,
        v: Value,
        span: Span,
    ) -> Result<Value> {
        let v = self.convert(v, &Ty::Int(of), span)?;
        let v = self.kept(v).expr;
        for &(offset, size) in &bits.units {
            let (mask, _) = bits.within((offset, size));
            let (unit, at) = (Int::new(size, false), working(size));
            let a = Expr::bin(BinOp::Add, base.clone(), Expr::Const(offset as i64), PTR);
            let own = self.part_of_unit(&v, of, bits, (offset, size));
            let whole = unit.wrap(mask) == unit.wrap(-1);
            if whole {
                self.emit(Instr::Store(a, own, unit));
                continue;
            }
            let r = self.register(unit, None);
            self.access_bits(0, Instr::Load(r, a.clone(), unit));
            let others = Expr::Const(unit.wrap(!mask));
            let rest = Expr::bin(BinOp::And, Expr::cast(Expr::Reg(r), at), others, at);
            self.access_bits(mask, Instr::Store(a, Expr::bin(BinOp::Or, rest, own, at), unit));
        }
        let ty = value_type(of, bits);
        let expr = Expr::cast(narrowed(v, of, bits.width), ty.scalar().unwrap_or(INT));
        Ok(Value { expr, ty })
    }

    /// Returns what a value of a bit-field is in a number that has a part of it; other bits are 0.
    pub(super) fn part_of_unit(&self, v: &Expr, of: Int, bits: &Bits, unit: (u64, u8)) -> Expr {
        let (mask, from) = bits.within(unit);
        if mask == 0 {
            return Expr::Const(0);
        }
        let at = working(unit.1.max(of.size));
        let part = moved(Expr::cast(v.clone(), at), -from, at);
        let own = Expr::bin(BinOp::And, part, Expr::Const(at.wrap(mask)), at);
        Expr::cast(own, working(unit.1))
    }
}
