//! Constants and constant expressions, which may be addresses.

use super::{Lower, Problem, Result};
use crate::layout::{container, field_offset, leaves, size_align};
use crate::syntax::tree::{Binary, Cast, Op, Type, Value};
use throng_goto::floating::Width;
use throng_goto::program::{BinOp, Expr, PTR};

impl<'a, 't> Lower<'a, 't> {
    /// Returns the numbers that a constant consists of, each as wide as its register.
    pub(super) fn constant(&mut self, module: usize, ty: &Type<'t>, value: &Value<'t>) -> Result<Vec<i64>> {
        Ok(match (value, ty) {
            (Value::Zero | Value::Null, _) => vec![0; leaves(ty).map_err(Problem::unsupported)?.len()],
            (Value::Int(v), Type::Int(bits @ ..=64)) => vec![cut(*v as i64, *bits)],
            (Value::Int(v), Type::Int(_)) => vec![*v as i64, (*v >> 64) as i64],
            (Value::Float(bits), Type::Double) => vec![*bits as i64],
            (Value::Float(bits), Type::Float) => {
                vec![Width::Single.round(f64::from_bits(*bits))]
            }
            (Value::Global(name), Type::Pointer) => vec![self.address_of(module, name)?],
            (Value::Expr(op), _) => vec![self.constant_operation(module, op)?],
            (Value::Other(what), _) => return Err(Problem::unsupported(what.clone())),
            _ => return Err(Problem::unsupported("a constant of this kind")),
        })
    }

    fn constant_number(&mut self, module: usize, ty: &Type<'t>, value: &Value<'t>) -> Result<i64> {
        match self.constant(module, ty, value)?[..] {
            [v] => Ok(v),
            _ => Err(Problem::unsupported("a constant expression on a value of several parts")),
        }
    }

    fn constant_operation(&mut self, module: usize, op: &Op<'t>) -> Result<i64> {
        match op {
            Op::Element { of, base, indices, .. } => {
                let base = self.constant_number(module, &Type::Pointer, base)?;
                let mut numbers = Vec::new();
                for (ty, v) in indices {
                    let bits = if let Type::Int(bits) = ty { *bits } else { 64 };
                    numbers.push(sign_extended(self.constant_number(module, ty, v)?, bits));
                }
                let of = self.resolved(module, of)?;
                let (offset, _) = element(&of, &numbers.into_iter().map(Some).collect::<Vec<_>>())?;
                Ok(base.wrapping_add(offset))
            }
            Op::Cast(Cast::IntToPtr | Cast::BitCast, _, (ty, v), _) => self.constant_number(module, ty, v),
            Op::Cast(Cast::PtrToInt, _, (ty, v), Type::Int(64)) => self.constant_number(module, ty, v),
            Op::Binary(how @ (Binary::Add | Binary::Sub), _, ty @ Type::Int(64), a, b) => {
                let (a, b) = (self.constant_number(module, ty, a)?, self.constant_number(module, ty, b)?);
                let how = if *how == Binary::Add { BinOp::Add } else { BinOp::Sub };
                let result = Expr::bin(how, Expr::Const(a), Expr::Const(b), PTR).constant();
                result.ok_or_else(|| Problem::unsupported("a constant that depends on where objects are"))
            }
            _ => Err(Problem::unsupported("a constant expression of this kind")),
        }
    }
}

/// Returns a number cut to some bits.
pub(super) fn cut(v: i64, bits: u32) -> i64 {
    match bits {
        64.. => v,
        bits => v & ((1 << bits) - 1),
    }
}

/// Returns a number of some bits with its sign.
pub(super) fn sign_extended(v: i64, bits: u32) -> i64 {
    match bits {
        64.. => v,
        bits => v << (64 - bits) >> (64 - bits),
    }
}

/// Returns the offset that indices lead to as far as they are known, and for each other index its
/// number and the bytes that it counts.
pub(super) fn element(of: &Type<'_>, indices: &[Option<i64>]) -> Result<(i64, Vec<(usize, i64)>)> {
    let size = |ty: &Type<'_>| size_align(ty).map(|s| s.0 as i64).map_err(Problem::unsupported);
    let (mut offset, mut open) = (0i64, Vec::new());
    let mut at = of.clone();
    for (k, index) in indices.iter().enumerate() {
        let step = match (k, &at) {
            (0, ty) => size(ty)?,
            (_, Type::Array(_, of)) => {
                let of = Type::clone(of);
                let step = size(&of)?;
                at = of;
                step
            }
            (_, Type::Struct(fields, packed)) => {
                let field = index.and_then(|n| usize::try_from(n).ok()).filter(|n| *n < fields.len());
                let n =
                    field.ok_or_else(|| Problem::unsupported("an index into a structure of this kind"))?;
                offset += field_offset(fields, *packed, n).map_err(Problem::unsupported)? as i64;
                at = fields[n].clone();
                continue;
            }
            _ => return Err(Problem::unsupported("an index into something without parts")),
        };
        match index {
            Some(n) => offset = offset.wrapping_add(n.wrapping_mul(step)),
            None => open.push((k, step)),
        }
    }
    Ok((offset, open))
}

/// Returns the bits that an integer type of registers does not have.
pub(super) fn has_room(bits: u32) -> bool {
    bits > 1 && u32::from(container(bits).size) * 8 != bits
}
