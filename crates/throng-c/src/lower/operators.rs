//! Operators: arithmetic in the type that C says, updates, assignments, and choices.

use super::bits::{common_type, in_type};
use super::complex::Part;
use super::expressions::{LONG, has_effects};
use super::floating::{LONG_DOUBLE, opaque};
use super::vectors::Unary;
use super::{Lower, Place, Result, Symbol, Value, decay, unatomic, unsupported, wrong};
use crate::syntax::ast::*;
use crate::types::{Ty, common, promote};
use throng_goto::program::{
    Access, BinOp, Expr, INT, Instr, Int, Order, PRIVATE, PTR, PointerUse, address, object_of,
};

impl<'a> Lower<'a> {
    /// `base + index` or `base - index`, in elements.
    pub(super) fn offset(&mut self, base: Value, index: Value, op: BinOp, span: Span) -> Result<Value> {
        let Ty::Ptr(t) = base.ty.plain().clone() else { return wrong(span, "this is not a pointer") };
        if index.ty.integer().is_none() {
            return wrong(span, "this is not an integer");
        }
        let size = match &*t {
            Ty::Void | Ty::Func(_) => Expr::Const(1),
            t => self.bytes_of(t, span)?,
        };
        let small = index.ty.scalar().is_some_and(|i| i.size < 4) && matches!(size, Expr::Const(..=0x7fff));
        let bytes = Expr::bin(BinOp::Mul, index.expr, size, LONG);
        let moved = Expr::bin(op, base.expr.clone(), bytes, PTR);
        match (fixed(&base.expr), fixed(&moved)) {
            (Some(a), Some(b)) if object_of(a) == object_of(b) => {}
            (Some(_), Some(_)) => {
                return unsupported(span, "a pointer that is gigabytes away from its object");
            }
            _ if small => {}
            _ => self.emit(Instr::Pointer(PointerUse::Moved(base.expr, moved.clone()))),
        }
        Ok(Value { expr: moved, ty: Ty::Ptr(t) })
    }

    pub(super) fn unary(&mut self, u: &'a UnaryOperatorExpression, span: Span) -> Result<Value> {
        let operand = &u.operand;
        match u.operator.node {
            UnaryOperator::Address => {
                if let Expression::Identifier(n) = &operand.node
                    && matches!(self.lookup(&n.node.name), Some(Symbol::Function(_) | Symbol::Nested(..)))
                {
                    return self.value(operand);
                }
                match self.place(operand)? {
                    Place::Memory(a, ty) => Ok(Value { expr: a, ty: Ty::ptr(ty) }),
                    Place::Register(_, ty) if self.dry => Ok(Value { expr: Expr::Const(0), ty: Ty::ptr(ty) }),
                    Place::Register(..) => unsupported(span, "the address of this"),
                    Place::Bits(..) => wrong(span, "the address of a bit-field is taken"),
                }
            }
            UnaryOperator::Indirection => {
                let v = self.value(operand)?;
                if let Ty::Ptr(t) = v.ty.plain()
                    && matches!(**t, Ty::Func(_))
                {
                    return Ok(v);
                }
                let place = self.pointee(v, span)?;
                self.read(&place, span)
            }
            UnaryOperator::Plus => {
                let v = self.value(operand)?;
                match self.vector(&v.ty) {
                    Some(_) => Ok(v),
                    None => self.promoted(v, span),
                }
            }
            UnaryOperator::Minus => {
                let v = self.value(operand)?;
                if self.vector(&v.ty).is_some() {
                    return self.vector_unary(Unary::Minus, v, span);
                }
                if v.ty.is_float() {
                    return self.negated(v, span);
                }
                if self.is_complex(&v.ty) {
                    return self.complex_sign(&v, false, span);
                }
                let v = self.promoted(v, span)?;
                let at = v.ty.scalar().unwrap_or(INT);
                Ok(in_type(Value { expr: Expr::bin(BinOp::Sub, Expr::Const(0), v.expr, at), ty: v.ty }))
            }
            UnaryOperator::Complement => {
                let v = self.value(operand)?;
                if self.vector(&v.ty).is_some() {
                    return self.vector_unary(Unary::Complement, v, span);
                }
                if v.ty.is_float() {
                    return wrong(span, "this is not an integer");
                }
                if self.is_complex(&v.ty) {
                    return self.complex_sign(&v, true, span);
                }
                let v = self.promoted(v, span)?;
                let at = v.ty.scalar().unwrap_or(INT);
                let ones = Expr::Const(at.wrap(-1));
                Ok(in_type(Value { expr: Expr::bin(BinOp::Xor, v.expr, ones, at), ty: v.ty }))
            }
            UnaryOperator::Real => self.complex_part(operand, Part::Real, span),
            UnaryOperator::Imaginary => self.complex_part(operand, Part::Imaginary, span),
            UnaryOperator::Negate => {
                let v = self.value(operand)?;
                let t = self.truth(v, span)?;
                Ok(Value { expr: Expr::is_zero(t), ty: Ty::int() })
            }
            ref op => {
                let place = self.place(operand)?;
                if self.is_complex(&place.ty()) {
                    return unsupported(span, "`++` or `--` on a complex number");
                }
                let (add, post) = match op {
                    UnaryOperator::PostIncrement => (BinOp::Add, true),
                    UnaryOperator::PostDecrement => (BinOp::Sub, true),
                    UnaryOperator::PreIncrement => (BinOp::Add, false),
                    _ => (BinOp::Sub, false),
                };
                let one = Value { expr: Expr::Const(1), ty: Ty::int() };
                let (old, new) = self.update(&place, one, add, span)?;
                Ok(if post { old } else { new })
            }
        }
    }

    /// `place op= v`: the values before and after.
    pub(super) fn update(
        &mut self,
        place: &Place,
        v: Value,
        op: BinOp,
        span: Span,
    ) -> Result<(Value, Value)> {
        let ty = place.ty();
        let atomic = ty.is_atomic() && matches!(place, Place::Memory(..));
        let from = self.current.template.code.len();
        if atomic {
            self.emit(Instr::AtomicBegin);
        }
        let read = self.read(place, span)?;
        // A register may be written before the old value is used.
        let old = self.kept_operand(read, span)?;
        let new = self.arithmetic(op, old.clone(), v, span)?;
        if let Place::Bits(base, of, bits) = place {
            let new = self.write_bits(base, *of, bits, new, span)?;
            return Ok((old, new));
        }
        let new = self.convert(new, &ty, span)?;
        let new = self.kept(new);
        self.assign(place, new.clone(), span)?;
        if atomic {
            self.one_event(from);
            self.emit(Instr::AtomicEnd);
        }
        Ok((old, new))
    }

    /// The atomic accesses from here on are one event, `memory_order_seq_cst`.
    pub(super) fn one_event(&mut self, from: usize) {
        let kinds = self.current.template.access.iter_mut().skip(from).filter(|kind| kind.is_atomic());
        kinds.for_each(|kind| *kind = Access::Update(Order::SeqCst, Order::SeqCst));
    }

    /// Returns the value in a register of its own.
    pub(super) fn kept(&mut self, v: Value) -> Value {
        match (&v.expr, v.ty.scalar()) {
            (_, None) => v,
            (e, _) if fixed(e).is_some() => v,
            (_, Some(i)) => {
                let r = self.register(i, None);
                self.emit(Instr::Let(r, v.expr));
                Value { expr: Expr::Reg(r), ty: v.ty }
            }
        }
    }

    pub(super) fn promoted(&mut self, v: Value, span: Span) -> Result<Value> {
        match v.ty.plain() {
            Ty::Int(i) => {
                let to = Ty::Int(promote(*i));
                self.convert(v, &to, span)
            }
            Ty::Ptr(_) | Ty::Float(_) | Ty::Narrow(..) => Ok(v),
            ty if self.is_complex(ty) => Ok(v),
            _ => wrong(span, "this is not a number"),
        }
    }

    pub(super) fn arithmetic(&mut self, op: BinOp, a: Value, b: Value, span: Span) -> Result<Value> {
        if self.vector(&a.ty).is_some() || self.vector(&b.ty).is_some() {
            return self.vector_arithmetic(op, a, b, span);
        }
        if self.is_complex(&a.ty) || self.is_complex(&b.ty) {
            return self.complex_arithmetic(op, a, b, span);
        }
        let pointer = |v: &Value| matches!(v.ty.plain(), Ty::Ptr(_));
        match op {
            BinOp::Add if pointer(&a) => return self.offset(a, b, op, span),
            BinOp::Add if pointer(&b) => return self.offset(b, a, op, span),
            BinOp::Sub if pointer(&a) && pointer(&b) => {
                let Ty::Ptr(t) = a.ty.plain() else { return wrong(span, "this is not a pointer") };
                let size = match &**t {
                    Ty::Void | Ty::Func(_) => Expr::Const(1),
                    t => match self.bytes_of(t, span)? {
                        Expr::Const(0) => Expr::Const(1),
                        bytes => bytes,
                    },
                };
                self.emit(Instr::Pointer(PointerUse::Ordered(a.expr.clone(), b.expr.clone())));
                let bytes = Expr::bin(BinOp::Sub, a.expr, b.expr, LONG);
                let n = Expr::bin(BinOp::Div, bytes, size, LONG);
                let difference = self.long();
                let expr = if difference == LONG { n } else { Expr::cast(n, difference) };
                return Ok(Value { expr, ty: Ty::Int(difference) });
            }
            BinOp::Sub if pointer(&a) => return self.offset(a, b, op, span),
            _ => {}
        }
        if a.ty.is_float() || b.ty.is_float() {
            return self.float_arithmetic(op, a, b, span);
        }
        let (Some(x), Some(y)) = (a.ty.scalar(), b.ty.scalar()) else {
            return wrong(span, "this is not a number");
        };
        let (mut a, mut b) = (a, b);
        if op.compares() && (pointer(&a) || pointer(&b)) {
            let (x, y) = (a.expr.clone(), b.expr.clone());
            let null = x == Expr::Const(0) || y == Expr::Const(0);
            match op {
                BinOp::Lt | BinOp::Le => self.emit(Instr::Pointer(PointerUse::Ordered(x, y))),
                _ if !null => self.emit(Instr::Pointer(PointerUse::Compared(x, y))),
                _ => {}
            }
            for v in [&mut a, &mut b].into_iter().filter(|v| pointer(v)) {
                v.ty = Ty::Int(PTR);
            }
        }
        let shift = matches!(op, BinOp::Shl | BinOp::Shr);
        let ty = match shift {
            true => promoted_type(&a.ty, x),
            false => common_type(&a.ty, &b.ty).unwrap_or(Ty::Int(common(x, y))),
        };
        let at = ty.scalar().unwrap_or(INT);
        let a = self.convert(a, &ty, span)?;
        let b = if shift { b } else { self.convert(b, &ty, span)? };
        let expr = Expr::bin(op, a.expr, b.expr, at);
        Ok(in_type(Value { expr, ty: if op.compares() { Ty::int() } else { ty } }))
    }

    pub(super) fn binary(
        &mut self,
        e: &'a Node<Expression>,
        b: &'a BinaryOperatorExpression,
        span: Span,
    ) -> Result<Value> {
        use BinaryOperator as B;
        match &b.operator.node {
            B::Index => {
                let place = self.place(e)?;
                self.read(&place, span)
            }
            B::Assign => self.assignment(b, span),
            operator => match operation(operator) {
                None => self.logical(e, b, span),
                Some((op, Form::Assigns)) => {
                    let place = self.place(&b.lhs)?;
                    let v = self.value(&b.rhs)?;
                    self.here = span;
                    Ok(self.update(&place, v, op, span)?.1)
                }
                Some((op, form)) => {
                    let x = self.value(&b.lhs)?;
                    // The right operand may assign to a variable that the left one has read.
                    let x = if has_effects(&b.rhs.node) { self.steady(x, span)? } else { x };
                    let y = self.value(&b.rhs)?;
                    let (x, y) = if form == Form::Swapped { (y, x) } else { (x, y) };
                    self.arithmetic(op, x, y, span)
                }
            },
        }
    }

    /// Lowers `place = value`.
    pub(super) fn assignment(&mut self, b: &'a BinaryOperatorExpression, span: Span) -> Result<Value> {
        let place = self.place(&b.lhs)?;
        let v = self.value(&b.rhs)?;
        let ty = place.ty();
        self.here = span;
        if let Place::Bits(base, of, bits) = &place {
            return self.write_bits(base, *of, bits, v, span);
        }
        if ty.scalar().is_none() {
            let v = if self.is_complex(&ty) { self.convert(v, &ty, span)? } else { v };
            self.assign(&place, v.clone(), span)?;
            return Ok(v);
        }
        let v = self.convert(v, &ty, span)?;
        self.assign(&place, v.clone(), span)?;
        Ok(match place {
            Place::Register(r, t) => Value { expr: Expr::Reg(r), ty: unatomic(t) },
            _ => v,
        })
    }

    /// Lowers `&&` and `||`.
    pub(super) fn logical(
        &mut self,
        e: &'a Node<Expression>,
        b: &'a BinaryOperatorExpression,
        span: Span,
    ) -> Result<Value> {
        if self.dry || self.constants.is_some() {
            // Constants in conditional compilation.
            let (x, y) = (self.value(&b.lhs)?, self.value(&b.rhs)?);
            let (x, y) = (self.truth(x, span)?, self.truth(y, span)?);
            let op = if b.operator.node == BinaryOperator::LogicalAnd { BinOp::And } else { BinOp::Or };
            return Ok(Value { expr: Expr::bin(op, x, y, INT), ty: Ty::int() });
        }
        let (yes, no, end) = (self.label(), self.label(), self.label());
        let r = self.register(INT, None);
        self.condition(e, yes, no)?;
        self.place_label(yes);
        self.emit(Instr::Let(r, Expr::Const(1)));
        self.emit(Instr::Jump(end));
        self.place_label(no);
        self.emit(Instr::Let(r, Expr::Const(0)));
        self.place_label(end);
        Ok(Value { expr: Expr::Reg(r), ty: Ty::int() })
    }

    /// Returns whether an expression is a constant 0, as a pointer or a number.
    pub(super) fn is_null_constant(&mut self, e: &'a Node<Expression>) -> bool {
        matches!(self.constant(e), Ok(0))
    }

    pub(super) fn conditional(&mut self, c: &'a ConditionalExpression, span: Span) -> Result<Value> {
        let Some(then) = &c.then_expression else {
            let v = self.value(&c.condition)?;
            let v = self.kept(v);
            let other = self.type_of(&c.else_expression)?;
            let null = matches!(v.ty, Ty::Ptr(_)) && self.is_null_constant(&c.else_expression);
            let ty = if null { v.ty.clone() } else { choice_type(&v.ty, &decay(unatomic(other))) };
            let Some(i) = ty.scalar() else { return unsupported(span, "`?:` on this type") };
            let (yes, no, end) = (self.label(), self.label(), self.label());
            let r = self.register(i, None);
            let t = self.truth(v.clone(), span)?;
            self.emit(Instr::Branch(t, yes, no));
            self.place_label(yes);
            let v = self.convert(v, &ty, span)?;
            self.emit(Instr::Let(r, v.expr));
            self.emit(Instr::Jump(end));
            self.place_label(no);
            let v = self.value(&c.else_expression)?;
            let v = self.convert(v, &ty, span)?;
            self.emit(Instr::Let(r, v.expr));
            self.place_label(end);
            return Ok(Value { expr: Expr::Reg(r), ty });
        };
        let a = decay(unatomic(self.type_of(then)?));
        let b = decay(unatomic(self.type_of(&c.else_expression)?));
        // A null pointer constant takes the type of the other one.
        let pointers = matches!((&a, &b), (Ty::Ptr(_), Ty::Ptr(_)));
        let ty = match (self.is_null_constant(then), self.is_null_constant(&c.else_expression)) {
            (true, false) if pointers => b.clone(),
            (false, true) if pointers => a.clone(),
            _ if self.is_complex(&a) || self.is_complex(&b) => self.common_complex(&a, &b, span)?,
            _ => choice_type(&a, &b),
        };
        if self.dry || self.constants.is_some() {
            let condition = self.value(&c.condition)?;
            let condition = self.truth(condition, span)?;
            let chosen = match condition {
                Expr::Const(0) => self.value(&c.else_expression)?,
                Expr::Const(_) => self.value(then)?,
                expr => return Ok(Value { expr, ty }),
            };
            return match ty.scalar() {
                Some(_) => self.convert(chosen, &ty, span),
                None if self.is_complex(&ty) => self.convert(chosen, &ty, span),
                None => Ok(Value { expr: chosen.expr, ty }),
            };
        }
        let (yes, no, end) = (self.label(), self.label(), self.label());
        let r = self.register(ty.scalar().unwrap_or(PTR), None);
        self.condition(&c.condition, yes, no)?;
        for (label, e) in [(yes, then), (no, &c.else_expression)] {
            self.place_label(label);
            let v = self.value(e)?;
            match ty.plain() {
                Ty::Void | Ty::Float(LONG_DOUBLE) => {}
                Ty::Struct(_) if !self.is_complex(&ty) => self.emit(Instr::Let(r, v.expr)),
                _ => {
                    let v = self.convert(v, &ty, span)?;
                    self.emit(Instr::Let(r, v.expr));
                }
            }
            self.emit(Instr::Jump(end));
        }
        self.place_label(end);
        Ok(match ty {
            Ty::Void => Value { expr: Expr::Const(0), ty },
            Ty::Float(LONG_DOUBLE) => opaque(),
            ty => Value { expr: Expr::Reg(r), ty },
        })
    }
}

/// Returns an address that does not depend on what is computed, where a variable of the function has
/// some address.
pub(super) fn fixed(e: &Expr) -> Option<i64> {
    match e {
        Expr::Const(a) => Some(*a),
        Expr::Local(k) => Some(address(PRIVATE + i64::from(*k), 0)),
        Expr::Bin(op @ (BinOp::Add | BinOp::Sub), a, b, at) => op.apply(fixed(a)?, b.constant()?, *at),
        _ => None,
    }
}

/// Returns the type of a number after the integer promotions.
pub(super) fn promoted_type(ty: &Ty, i: Int) -> Ty {
    match ty.plain() {
        Ty::Narrow(..) => ty.plain().clone(),
        _ => Ty::Int(promote(i)),
    }
}

pub(super) fn choice_type(a: &Ty, b: &Ty) -> Ty {
    match (a, b) {
        (Ty::Int(_) | Ty::Narrow(..), Ty::Int(_) | Ty::Narrow(..)) => {
            common_type(a, b).unwrap_or_else(|| a.clone())
        }
        (Ty::Ptr(_), Ty::Ptr(y)) if **y == Ty::Void => b.clone(),
        (Ty::Float(x), Ty::Float(y)) => Ty::Float(*x.max(y)),
        (Ty::Float(_), _) if b.integer().is_some() => a.clone(),
        (_, Ty::Float(_)) if a.integer().is_some() => b.clone(),
        (Ty::Ptr(_), _) => a.clone(),
        (_, Ty::Ptr(_)) => b.clone(),
        (Ty::Void, _) | (_, Ty::Void) => Ty::Void,
        _ => a.clone(),
    }
}

/// How an operator applies an operation to its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// The operands change places.
    Swapped,
    /// The result goes to the left operand.
    Assigns,
}

/// Returns what an arithmetic operator does; `None` for others.
pub(super) fn operation(operator: &BinaryOperator) -> Option<(BinOp, Form)> {
    use BinaryOperator as B;
    Some(match operator {
        B::Multiply => (BinOp::Mul, Form::Plain),
        B::Divide => (BinOp::Div, Form::Plain),
        B::Modulo => (BinOp::Rem, Form::Plain),
        B::Plus => (BinOp::Add, Form::Plain),
        B::Minus => (BinOp::Sub, Form::Plain),
        B::ShiftLeft => (BinOp::Shl, Form::Plain),
        B::ShiftRight => (BinOp::Shr, Form::Plain),
        B::Less => (BinOp::Lt, Form::Plain),
        B::Greater => (BinOp::Lt, Form::Swapped),
        B::LessOrEqual => (BinOp::Le, Form::Plain),
        B::GreaterOrEqual => (BinOp::Le, Form::Swapped),
        B::Equals => (BinOp::Eq, Form::Plain),
        B::NotEquals => (BinOp::Ne, Form::Plain),
        B::BitwiseAnd => (BinOp::And, Form::Plain),
        B::BitwiseXor => (BinOp::Xor, Form::Plain),
        B::BitwiseOr => (BinOp::Or, Form::Plain),
        B::AssignMultiply => (BinOp::Mul, Form::Assigns),
        B::AssignDivide => (BinOp::Div, Form::Assigns),
        B::AssignModulo => (BinOp::Rem, Form::Assigns),
        B::AssignPlus => (BinOp::Add, Form::Assigns),
        B::AssignMinus => (BinOp::Sub, Form::Assigns),
        B::AssignShiftLeft => (BinOp::Shl, Form::Assigns),
        B::AssignShiftRight => (BinOp::Shr, Form::Assigns),
        B::AssignBitwiseAnd => (BinOp::And, Form::Assigns),
        B::AssignBitwiseXor => (BinOp::Xor, Form::Assigns),
        B::AssignBitwiseOr => (BinOp::Or, Form::Assigns),
        B::Index | B::Assign | B::LogicalAnd | B::LogicalOr => return None,
    })
}
