//! Vectors of GCC, `__attribute__((vector_size(N)))`.
//!
//! A vector is laid out, copied and passed like a structure with an array inside, and its value is
//! its address, as with structures. Operators compute element by element, and each access to an
//! element is a step of its own.

use std::rc::Rc;

use super::attributes::Said;
use super::{Base, Lower, Place, Result, Value, unatomic, unsupported, wrong};
use crate::constructs::On;
use crate::syntax::ast::Span;
use crate::types::{Field, Func, Struct, Ty};
use throng_goto::program::{BinOp, Expr, INT, Int};

/// An operator with one operand.
#[derive(Clone, Copy)]
pub(super) enum Unary {
    Minus,
    Complement,
}

impl<'a> Lower<'a> {
    /// Returns the type and the number of the elements of a vector.
    pub(super) fn vector(&self, ty: &Ty) -> Option<(Ty, u64)> {
        match ty.plain() {
            Ty::Struct(s) => self.structs[*s].vector.clone(),
            _ => None,
        }
    }

    /// Attributes among specifiers make the type a vector before declarators make more of it.
    pub(super) fn vector_specifiers(&mut self, base: &mut Base<'a>) -> Result<()> {
        if !base.attributes.iter().any(|a| a.name.node == "vector_size") {
            return Ok(());
        }
        let of_type =
            |a: &&crate::syntax::ast::Attribute| matches!(a.name.node.as_str(), "vector_size" | "mode");
        let (own, others): (Vec<_>, Vec<_>) = base.attributes.iter().copied().partition(of_type);
        let Some(span) = own.first().map(|a| a.name.span) else { return Ok(()) };
        let said = self.said(own, On::Type)?;
        let number = self.in_mode(base.ty.clone(), said.mode, span)?;
        base.ty = self.in_vector(number, &said, span)?;
        base.type_aligned = None;
        base.attributes = others;
        Ok(())
    }

    /// Returns a type with a vector in place of the number from which it is derived, if attributes
    /// say so.
    pub(super) fn in_vector(&mut self, ty: Ty, said: &Said, span: Span) -> Result<Ty> {
        let Some(bytes) = said.vector else { return Ok(ty) };
        Ok(match ty {
            Ty::Int(Int { truth: false, .. }) | Ty::Float(4 | 8) => self.vector_of(ty, bytes, span)?,
            Ty::Ptr(t) => Ty::ptr(self.in_vector(Ty::clone(&t), said, span)?),
            Ty::Array(t, n) => Ty::Array(Rc::new(self.in_vector(Ty::clone(&t), said, span)?), n),
            Ty::Func(f) => {
                let result = self.in_vector(f.result.clone(), said, span)?;
                Ty::Func(Rc::new(Func { result, ..Func::clone(&f) }))
            }
            _ => return unsupported(span, "the attribute `vector_size` on this type"),
        })
    }

    /// Returns the type of vectors of a number of bytes. There is one for each type and number of
    /// elements.
    fn vector_of(&mut self, element: Ty, bytes: u64, span: Span) -> Result<Ty> {
        let size = self.size_of(&element, span)?;
        let n = bytes / size;
        if !bytes.is_multiple_of(size) || !n.is_power_of_two() {
            return wrong(span, "a vector has a number of elements that is no power of two");
        }
        let vector = Some((element.clone(), n));
        if let Some(s) = self.structs.iter().position(|s| s.vector == vector) {
            return Ok(Ty::Struct(s));
        }
        let elements = Field { name: None, ty: Ty::Array(Rc::new(element), Some(n)), offset: 0, bits: None };
        let (fields, unit) = (vec![elements], self.linkage.unit);
        let own =
            Struct { fields, size: bytes, align: bytes, complete: true, unit, vector, ..Struct::default() };
        self.structs.push(own);
        let ty = Ty::Struct(self.structs.len() - 1);
        self.size_of(&ty, span)?;
        Ok(ty)
    }

    /// Returns a value of which there may be a subscript: a vector becomes a pointer to its first
    /// element.
    pub(super) fn subscripted(&self, v: Value, span: Span) -> Result<Value> {
        match self.vector(&v.ty) {
            Some(_) if v.ty.is_atomic() => unsupported(span, "an element of an `_Atomic` vector"),
            Some((t, _)) => Ok(Value { expr: v.expr, ty: Ty::ptr(t) }),
            None => Ok(v),
        }
    }

    /// Returns a value that what follows cannot change.
    pub(super) fn kept_operand(&mut self, v: Value, span: Span) -> Result<Value> {
        match self.vector(&v.ty) {
            Some(_) => self.copied(v, span),
            None => Ok(self.kept(v)),
        }
    }

    /// Returns a vector as another type of its size, or a number of its size as a vector; the bits
    /// stay as they are.
    pub(super) fn cast_vector(&mut self, v: Value, ty: &Ty, span: Span) -> Result<Value> {
        let ty = unatomic(ty.clone());
        if ty == Ty::Void || self.same_type(v.ty.plain(), &ty) {
            return self.convert(v, &ty, span);
        }
        let fits =
            |t: &Ty| self.vector(t).is_some() || matches!(t.plain(), Ty::Int(Int { truth: false, .. }));
        if !fits(&v.ty) || !fits(&ty) || v.ty.is_atomic() {
            return unsupported(span, "this conversion of a vector");
        }
        if self.size_of(&v.ty, span)? != self.size_of(&ty, span)? {
            return wrong(span, "a vector is converted to a type of another size");
        }
        self.has_space(span)?;
        let place = match v.ty.scalar() {
            None => self.copied(v, span)?.expr,
            Some(i) => {
                let place = self.space("(vector)", &ty, span)?;
                self.store_as(self.access, &place, 0, v.expr, i);
                place
            }
        };
        let expr = match ty.scalar() {
            None => place,
            Some(i) => self.load_as(self.access, &place, 0, i),
        };
        Ok(Value { expr, ty })
    }

    /// Operations on vectors need a place for their result, which constants do not have.
    fn has_space(&self, span: Span) -> Result<()> {
        match self.constants.is_some() && !self.dry {
            true => unsupported(span, "an operation on vectors in a constant"),
            false => Ok(()),
        }
    }

    /// Applies an operator to the elements of vectors, or to those of one and a number.
    pub(super) fn vector_arithmetic(&mut self, op: BinOp, a: Value, b: Value, span: Span) -> Result<Value> {
        let ty = match (self.vector(&a.ty), self.vector(&b.ty)) {
            (Some(x), Some(y)) if x != y => {
                return unsupported(span, "an operator on vectors of different types");
            }
            (None, _) => unatomic(b.ty.clone()),
            _ => unatomic(a.ty.clone()),
        };
        let Some((element, _)) = self.vector(&ty) else { return wrong(span, "this is not a vector") };
        let (a, b) = (self.vector_operand(a, &element, span)?, self.vector_operand(b, &element, span)?);
        let result = if op.compares() { self.mask_of(&ty, span)? } else { ty };
        self.each_element(&result, span, |s, at| {
            let (x, y) = (s.one_of(&a, at, span)?, s.one_of(&b, at, span)?);
            let v = s.arithmetic(op, x, y, span)?;
            Ok(match op.compares() {
                true => Value { expr: Expr::bin(BinOp::Sub, Expr::Const(0), v.expr, INT), ty: Ty::int() },
                false => v,
            })
        })
    }

    /// Applies an operator to the elements of a vector.
    pub(super) fn vector_unary(&mut self, op: Unary, v: Value, span: Span) -> Result<Value> {
        let ty = unatomic(v.ty.clone());
        let Some((element, _)) = self.vector(&ty) else { return wrong(span, "this is not a vector") };
        if matches!(op, Unary::Complement) && element.is_float() {
            return wrong(span, "these are not integers");
        }
        let v = self.vector_operand(v, &element, span)?;
        let number = |n| Value { expr: Expr::Const(n), ty: Ty::int() };
        self.each_element(&ty, span, |s, at| {
            let x = s.one_of(&v, at, span)?;
            match op {
                Unary::Minus if x.ty.is_float() => s.negated(x, span),
                Unary::Minus => s.arithmetic(BinOp::Sub, number(0), x, span),
                Unary::Complement => s.arithmetic(BinOp::Xor, x, number(-1), span),
            }
        })
    }

    /// Returns the type of what a comparison of vectors results in.
    fn mask_of(&mut self, ty: &Ty, span: Span) -> Result<Ty> {
        let Some((element, n)) = self.vector(ty) else { return wrong(span, "this is not a vector") };
        let size = self.size_of(&element, span)?;
        self.vector_of(Ty::Int(Int::new(size as u8, true)), size * n, span)
    }

    /// Returns an operand: a vector, or a number that takes part as an element of each place.
    fn vector_operand(&mut self, v: Value, element: &Ty, span: Span) -> Result<Value> {
        match (self.vector(&v.ty), v.ty.plain()) {
            (Some(_), _) if v.ty.is_atomic() => unsupported(span, "an operator on an `_Atomic` vector"),
            (Some(_), _) => Ok(v),
            (None, Ty::Int(_) | Ty::Narrow(..) | Ty::Float(_)) => {
                let v = self.convert(v, element, span)?;
                Ok(self.kept(v))
            }
            _ => wrong(span, "this is not a number"),
        }
    }

    /// Returns the element of an operand at an offset.
    fn one_of(&mut self, operand: &Value, at: &Expr, span: Span) -> Result<Value> {
        match self.vector(&operand.ty) {
            Some((t, _)) => {
                let place = Place::Memory(self.moved(&operand.expr, at), t);
                self.read(&place, span)
            }
            None => Ok(operand.clone()),
        }
    }

    /// Returns a new vector, whose elements are computed by their offsets.
    fn each_element(
        &mut self,
        ty: &Ty,
        span: Span,
        mut compute: impl FnMut(&mut Self, &Expr) -> Result<Value>,
    ) -> Result<Value> {
        let Some((element, n)) = self.vector(ty) else { return wrong(span, "this is not a vector") };
        self.has_space(span)?;
        let to = self.space("(vector)", ty, span)?;
        let size = self.size_of(&element, span)? as i64;
        let mut done = Ok(());
        self.each(Some(Expr::Const(n as i64)), size, |s, at, _| {
            let place = Place::Memory(s.moved(&to, at), element.clone());
            let one = compute(s, at).and_then(|v| s.assign(&place, v, span));
            if done.is_ok() {
                done = one;
            }
        });
        done.map(|()| Value { expr: to, ty: ty.clone() })
    }
}
