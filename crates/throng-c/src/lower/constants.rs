//! Constants: literals, texts, and expressions that the compiler computes.

use super::expressions::has_effects;
use super::floating::float_literal;
use super::literals::{character, kind_of, string_bytes, string_units};
use super::{Lower, Result, Value, unsupported, wrong};
use crate::syntax::ast::*;
use crate::types::Ty;
use std::rc::Rc;
use throng_goto::program::{Expr, INT, Int, PTR};

impl<'a> Lower<'a> {
    /// Returns the value of a constant expression.
    pub(super) fn constant(&mut self, e: &'a Node<Expression>) -> Result<i64> {
        self.constant_value(e).map(|(v, _)| v)
    }

    /// Returns whether an expression is a number that the compiler knows, or text.
    pub(super) fn is_constant(&mut self, e: &'a Node<Expression>) -> bool {
        let text = matches!(e.node, Expression::StringLiteral(_));
        let number = !has_effects(&e.node) && matches!(self.type_of(e), Ok(Ty::Int(_)));
        text || number && self.constant(e).is_ok()
    }

    /// Returns the value and type of a constant expression.
    pub(super) fn constant_value(&mut self, e: &'a Node<Expression>) -> Result<(i64, Int)> {
        let dry = std::mem::replace(&mut self.dry, true);
        let value = self.value(e);
        self.dry = dry;
        match value? {
            Value { ty, .. } if ty.is_float() => wrong(e.span, "this is not an integer"),
            Value { expr: Expr::Const(v), ty } => Ok((v, ty.scalar().unwrap_or(INT))),
            _ => wrong(e.span, "this is not a constant"),
        }
    }

    pub(super) fn literal_constant(&mut self, c: &Constant, span: Span) -> Result<Value> {
        let imaginary = match c {
            Constant::Integer(i) => i.imaginary,
            Constant::Float(f) => f.imaginary,
            Constant::Character(_) => false,
        };
        let v = self.real_constant(c, span)?;
        if imaginary { self.imaginary(v, span) } else { Ok(v) }
    }

    pub(super) fn real_constant(&self, c: &Constant, span: Span) -> Result<Value> {
        match c {
            Constant::Integer(i) => integer(i, self.long(), span),
            Constant::Character(c) => {
                let (v, i) = character(c, span)?;
                Ok(Value { expr: Expr::Const(v), ty: Ty::Int(i) })
            }
            Constant::Float(f) => float_literal(f, span),
        }
    }

    /// A value of the type `size_t`.
    pub(super) fn size_value(&self, n: Expr) -> Value {
        let ty = self.size_type();
        Value { expr: if ty == PTR { n } else { Expr::cast(n, ty) }, ty: Ty::Int(ty) }
    }

    /// Returns the address and type of a string.
    pub(super) fn string(&mut self, parts: &[String], span: Span) -> Result<(i64, Ty)> {
        let unit = kind_of(parts).unit();
        let array = |n: u64| Ty::Array(Rc::new(Ty::Int(unit)), Some(n));
        if unit.size == 1 {
            let (a, n) = self.text(string_bytes(parts, span)?);
            return Ok((a, array(n)));
        }
        let mut units = string_units(parts, span)?;
        units.push(0);
        let ty = array(units.len() as u64);
        let bytes = units.iter().flat_map(|u| u.to_le_bytes().into_iter().take(unit.size.into()));
        let bytes: Vec<u8> = bytes.collect();
        if self.dry {
            return Ok((0, ty));
        }
        let key = (bytes, unit.size);
        let a = match self.wide_strings.get(&key) {
            Some(&a) => a,
            None => {
                let name = format!("{:?}", parts.concat());
                let a = self.object(name, &ty, key.0.iter().map(|&b| u16::from(b)).collect());
                self.wide_strings.insert(key, a);
                a
            }
        };
        Ok((a, ty))
    }

    pub(super) fn text(&mut self, mut bytes: Vec<u8>) -> (i64, u64) {
        bytes.push(0);
        let n = bytes.len() as u64;
        if self.dry {
            return (0, n);
        }
        if let Some(&a) = self.strings.get(&bytes) {
            return (a, n);
        }
        let ty = Ty::Array(Rc::new(Ty::Int(Int::new(1, true))), Some(n));
        let name = format!("{:?}", String::from_utf8_lossy(&bytes[..bytes.len() - 1]));
        let a = self.object(name, &ty, bytes.iter().map(|&b| u16::from(b)).collect());
        self.strings.insert(bytes, a);
        (a, n)
    }
}

pub(super) fn integer(i: &Integer, long: Int, span: Span) -> Result<Value> {
    let Ok(v) = u64::try_from(i.value) else {
        return wrong(span, "this number is too large");
    };
    if i.decimal && !i.unsigned && v > i64::MAX as u64 {
        return unsupported(span, "a number that is too large for `long`");
    }
    let least: u8 = match i.size {
        IntegerSize::Int => 4,
        IntegerSize::Long => long.size,
        IntegerSize::LongLong => 8,
        IntegerSize::BitInt => return unsupported(span, "`_BitInt`"),
    };
    // The first type of the standard's list that has the value.
    let mut kinds = vec![(4, true), (4, false), (8, true), (8, false)];
    kinds.retain(|&(size, signed)| size >= least && (!i.unsigned || !signed));
    kinds.retain(|&(size, signed)| signed || i.unsigned || !i.decimal || (size == 8 && v > i64::MAX as u64));
    let fits = |&&(size, signed): &&(u8, bool)| {
        let bits = u32::from(size) * 8 - u32::from(signed);
        bits == 64 || v >> bits == 0
    };
    let (size, signed) = kinds.iter().find(fits).copied().unwrap_or((8, false));
    Ok(Value { expr: Expr::Const(v as i64), ty: Ty::Int(Int::new(size, signed)) })
}
