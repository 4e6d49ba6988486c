//! Places: where an lvalue is, and the accesses that read and write it.

use super::complex::Part;
use super::floating::LONG_DOUBLE;
use super::{Lower, Place, Result, Symbol, Value, unatomic, unsupported, wrong};
use crate::syntax::ast::*;
use crate::types::{Bits, Ty};
use std::rc::Rc;
use throng_goto::program::{Access, BinOp, Expr, Instr, Int, Order, PTR, PointerUse};

impl<'a> Lower<'a> {
    pub(super) fn place_or_value(
        &mut self,
        e: &'a Node<Expression>,
    ) -> Result<std::result::Result<Place, Value>> {
        Ok(match &e.node {
            Expression::Identifier(n)
                if !matches!(
                    self.lookup(&n.node.name),
                    Some(
                        Symbol::Constant(..) | Symbol::Function(_) | Symbol::Nested(..) | Symbol::Argument(_)
                    )
                ) =>
            {
                Ok(self.place(e)?)
            }
            Expression::Member(_) | Expression::CompoundLiteral(_) | Expression::StringLiteral(_) => {
                Ok(self.place(e)?)
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                Ok(self.place(e)?)
            }
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Indirection => {
                Ok(self.place(e)?)
            }
            _ => Err(self.value(e)?),
        })
    }

    /// Returns the place an expression stands for.
    pub(super) fn place(&mut self, e: &'a Node<Expression>) -> Result<Place> {
        let span = e.span;
        match &e.node {
            Expression::Identifier(n) => match self.usable_name(&n.node.name, span)?.cloned() {
                Some(Symbol::Memory(a, ty)) => Ok(Place::Memory(Expr::Const(a), ty)),
                Some(Symbol::Local(k, ty)) => Ok(Place::Memory(Expr::Local(k), ty)),
                Some(Symbol::Register(r, ty)) => Ok(Place::Register(r, ty)),
                Some(Symbol::Array(r, ty)) => Ok(Place::Memory(Expr::Reg(r), ty)),
                Some(_) => wrong(span, format!("`{}` is not a variable", n.node.name)),
                None => wrong(span, format!("`{}` is not declared", n.node.name)),
            },
            Expression::StringLiteral(s) => {
                let (a, ty) = self.string(&s.node, span)?;
                Ok(Place::Memory(Expr::Const(a), ty))
            }
            Expression::Member(m) => self.member_place(&m.node, span),
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                let base = self.value(&b.node.lhs)?;
                let base = self.subscripted(base, span)?;
                let index = self.value(&b.node.rhs)?;
                let (base, index) =
                    if matches!(base.ty.plain(), Ty::Ptr(_)) { (base, index) } else { (index, base) };
                let v = self.offset(base, index, BinOp::Add, span)?;
                self.pointee(v, span)
            }
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Indirection => {
                let v = self.value(&u.node.operand)?;
                self.pointee(v, span)
            }
            Expression::CompoundLiteral(c) => {
                let ty = self.type_name(&c.node.type_name)?;
                let ty = self.sized_literal(ty, &c.node, span)?;
                if self.scopes.is_empty() || self.constants.is_some() {
                    return self.fixed_literal(&ty, &c.node, span);
                }
                let place = Place::Memory(self.space("(literal)", &ty, span)?, ty.clone());
                self.initialise_list(&place, &ty, &c.node.initializer_list, span)?;
                Ok(place)
            }
            // As an operand of `&` or `.` after a macro.
            Expression::Cast(_) => unsupported(span, "a conversion as something to assign to"),
            Expression::Statement(_)
            | Expression::Call(_)
            | Expression::Conditional(_)
            | Expression::Comma(_) => {
                let v = self.value(e)?;
                match v.ty.plain() {
                    Ty::Struct(_) => Ok(Place::Memory(v.expr, v.ty)),
                    _ => wrong(span, "this cannot be assigned to"),
                }
            }
            Expression::UnaryOperator(u) if let Some(part) = Part::of(&u.node.operator.node) => {
                let whole = self.place(&u.node.operand)?;
                self.part_place(whole, part, span)
            }
            _ => wrong(span, "this cannot be assigned to"),
        }
    }

    pub(super) fn member_place(&mut self, m: &'a MemberExpression, span: Span) -> Result<Place> {
        let (base, ty) = match m.operator {
            MemberOperator::Direct => match self.place_or_value(&m.expression)? {
                Ok(Place::Memory(a, ty)) => (a, ty),
                Ok(_) => return wrong(span, "this is not a structure"),
                Err(v) => (v.expr, v.ty),
            },
            MemberOperator::Indirect => {
                let v = self.value(&m.expression)?;
                match v.ty.plain() {
                    Ty::Ptr(t) => (v.expr, Ty::clone(t)),
                    _ => return wrong(span, "this is not a pointer to a structure"),
                }
            }
        };
        let name = &m.identifier.node.name;
        if ty.is_atomic() {
            // C leaves open what that means.
            return unsupported(span, "a member of an `_Atomic` structure");
        }
        let Ty::Struct(s) = ty.plain() else { return wrong(span, "this is not a structure") };
        if let Some(what) = self.refusal(&ty) {
            return unsupported(span, what);
        }
        let Some((offset, ty, bits)) = self.member(*s, name) else {
            return wrong(m.identifier.span, format!("there is no member `{name}`"));
        };
        if let (Some(bits), Ty::Int(of)) = (bits, ty.plain()) {
            self.list_field(span, offset, &bits);
            let base = Expr::bin(BinOp::Add, base, Expr::Const(offset as i64), PTR);
            return Ok(Place::Bits(base, *of, bits));
        }
        let whole = Ty::Struct(*s);
        if self.structs[*s].union && whole.has_pointers(&self.structs) && !ty.has_pointers(&self.structs) {
            self.emit(Instr::Pointer(PointerUse::Bytes));
        }
        Ok(Place::Memory(Expr::bin(BinOp::Add, base, Expr::Const(offset as i64), PTR), ty))
    }

    pub(super) fn pointee(&mut self, v: Value, span: Span) -> Result<Place> {
        match v.ty.plain() {
            Ty::Ptr(t) => Ok(Place::Memory(v.expr, Ty::clone(t))),
            _ => wrong(span, "this is not a pointer"),
        }
    }

    pub(super) fn member(&self, s: usize, name: &str) -> Option<(u64, Ty, Option<Rc<Bits>>)> {
        self.structs[s].fields.iter().find_map(|f| match &f.name {
            Some(n) => (n == name).then(|| (f.offset, f.ty.clone(), f.bits.clone())),
            None => match f.ty.plain() {
                Ty::Struct(inner) => self.member(*inner, name).map(|(o, t, b)| (o + f.offset, t, b)),
                _ => None,
            },
        })
    }

    /// Returns the value at a place. Arrays become pointers; structures are their address.
    pub(super) fn read(&mut self, place: &Place, span: Span) -> Result<Value> {
        match place {
            Place::Register(r, ty) => Ok(Value { expr: Expr::Reg(*r), ty: unatomic(ty.clone()) }),
            Place::Bits(base, of, bits) => match self.constants {
                Some(_) => wrong(span, "this is not a constant"),
                None => Ok(self.read_bits(base, *of, bits)),
            },
            Place::Memory(a, ty) => match ty.plain() {
                Ty::Array(t, _) | Ty::Variable(t, _) => Ok(Value { expr: a.clone(), ty: Ty::Ptr(t.clone()) }),
                Ty::Func(_) => Ok(Value { expr: a.clone(), ty: Ty::ptr(ty.clone()) }),
                Ty::Struct(_) => Ok(Value { expr: a.clone(), ty: ty.clone() }),
                Ty::Float(LONG_DOUBLE) => Ok(self.read_opaque(a, ty)),
                Ty::Void => wrong(span, "`void` has no value"),
                t => {
                    let Some(i) = t.scalar() else { return wrong(span, "this has no value") };
                    if let Some(v) = self.constant_variable(a, i) {
                        return Ok(Value { expr: v, ty: t.clone() });
                    }
                    let r = self.register(i, None);
                    self.access_as(ty, |s| s.emit(Instr::Load(r, a.clone(), i)));
                    Ok(Value { expr: Expr::Reg(r), ty: t.clone() })
                }
            },
        }
    }

    /// Returns what a variable has from the start, where only constants are expected: the compiler
    /// has checked that it is `const`.
    pub(super) fn constant_variable(&self, a: &Expr, i: Int) -> Option<Expr> {
        self.constants?;
        let bytes = self.initial_bytes(a.constant()?, i.size.into())?;
        Some(Expr::Const(i.wrap(bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b)))))
    }

    /// Assignment, with conversion.
    pub(super) fn assign(&mut self, place: &Place, v: Value, span: Span) -> Result<()> {
        match place {
            Place::Bits(base, of, bits) => self.write_bits(base, *of, bits, v, span).map(|_| ()),
            Place::Register(r, ty) => {
                let v = self.convert(v, ty, span)?;
                self.emit(Instr::Let(*r, v.expr));
                Ok(())
            }
            Place::Memory(a, ty) if self.is_complex(ty) => self.assign_complex(a, v, ty, span),
            Place::Memory(a, ty) if matches!(ty.plain(), Ty::Struct(_)) => {
                if !self.same_type(v.ty.plain(), ty.plain()) {
                    self.size_of(ty, span)?;
                    return wrong(span, "structures of different types");
                }
                match ty.is_atomic() || v.ty.is_atomic() {
                    true => self.copy_at_once(a, &v, ty, span),
                    false => self.copy(a, &v.expr, ty, span),
                }
            }
            Place::Memory(a, ty) if *ty.plain() == Ty::Float(LONG_DOUBLE) => {
                let v = self.convert(v, ty, span)?;
                self.write_opaque(a, &v.expr, ty);
                Ok(())
            }
            Place::Memory(a, ty) => {
                let v = self.convert(v, ty, span)?;
                let Some(i) = ty.scalar() else { return wrong(span, "this cannot be assigned to") };
                self.access_as(ty, |s| s.emit(Instr::Store(a.clone(), v.expr, i)));
                Ok(())
            }
        }
    }

    /// Emits an access to an object of a type, which may be atomic.
    pub(super) fn access_as(&mut self, ty: &Ty, emit: impl FnOnce(&mut Self)) {
        let kind = if ty.is_atomic() { Access::Atomic(Order::SeqCst) } else { self.access };
        self.with_access(kind, emit)
    }

    /// Emits accesses of a kind.
    pub(super) fn with_access<T>(&mut self, kind: Access, emit: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.access, kind);
        let result = emit(self);
        self.access = before;
        result
    }

    pub(super) fn offset_of(&mut self, o: &'a OffsetOfExpression, span: Span) -> Result<Value> {
        let (mut ty, base) = (self.type_name(&o.type_name)?, &o.base);
        let mut offset = Expr::Const(self.step_into(&mut ty, base, span)? as i64);
        for m in &o.members {
            let more = match &m.node {
                OffsetMember::Member(name) => Expr::Const(self.step_into(&mut ty, name, span)? as i64),
                OffsetMember::Index(index) => {
                    let Ty::Array(t, _) = ty.plain() else { return wrong(m.span, "this is not an array") };
                    let (t, index) = (Ty::clone(t), self.value(index)?);
                    let index = self.convert(index, &Ty::Int(PTR), m.span)?.expr;
                    let size = self.size_of(&t, m.span)?;
                    ty = t;
                    Expr::bin(BinOp::Mul, index, Expr::Const(size as i64), PTR)
                }
                OffsetMember::IndirectMember(_) => return unsupported(m.span, "`offsetof` with `->`"),
            };
            offset = Expr::bin(BinOp::Add, offset, more, PTR);
        }
        Ok(self.size_value(offset))
    }

    /// Returns the offset of a member of a structure type, which becomes the type of the member.
    pub(super) fn step_into(&self, ty: &mut Ty, name: &Node<Identifier>, span: Span) -> Result<u64> {
        let Ty::Struct(s) = ty.plain() else { return wrong(span, "this is not a structure") };
        if let Some(what) = self.refusal(ty) {
            return unsupported(span, what);
        }
        let Some((offset, member, bits)) = self.member(*s, &name.node.name) else {
            return wrong(name.span, format!("there is no member `{}`", name.node.name));
        };
        if bits.is_some() {
            return wrong(name.span, "the offset of a bit-field is asked for");
        }
        *ty = member;
        Ok(offset)
    }
}
