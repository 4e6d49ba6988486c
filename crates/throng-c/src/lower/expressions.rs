//! Expressions: values, places, conversions, calls. Operands are evaluated from left to right.

use std::rc::Rc;

use crate::syntax::ast::*;

use super::bits::{common_type, in_type};
use super::complex::Part;
use super::floating::{LONG_DOUBLE, float_literal, opaque};
use super::literals::{character, kind_of, string_bytes, string_units};
use super::vectors::Unary;
use super::{Lower, Place, Result, Symbol, Value, decay, unatomic, unsupported, written_name, wrong};
use crate::types::{Bits, Ty, common, promote};
use throng_goto::program::{
    Access, BOOL, BinOp, Expr, INT, Instr, Int, Order, PRIVATE, PTR, PointerUse, address, object_of,
};

const LONG: Int = Int::new(8, true);

impl<'a> Lower<'a> {
    /// Returns the type of an expression that is not evaluated.
    pub(super) fn type_of(&mut self, e: &'a Node<Expression>) -> Result<Ty> {
        let key = (e.span.start, e.span.end);
        // The same passage has the same type wherever it is inlined.
        if let Some(t) = self.types.get(&key) {
            return Ok(t.clone());
        }
        let dry = std::mem::replace(&mut self.dry, true);
        let ty = self.place_or_value(e).map(|r| match r {
            Ok(place) => place.ty(),
            Err(v) => v.ty,
        });
        self.dry = dry;
        let ty = ty?;
        // Sizes that are not constant belong to the function.
        if !ty.is_variable() {
            self.types.insert(key, ty.clone());
        }
        Ok(ty)
    }

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

    fn member_place(&mut self, m: &'a MemberExpression, span: Span) -> Result<Place> {
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

    fn pointee(&mut self, v: Value, span: Span) -> Result<Place> {
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

    /// `base + index` or `base - index`, in elements.
    fn offset(&mut self, base: Value, index: Value, op: BinOp, span: Span) -> Result<Value> {
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
    fn constant_variable(&self, a: &Expr, i: Int) -> Option<Expr> {
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

    pub(super) fn convert(&mut self, v: Value, ty: &Ty, span: Span) -> Result<Value> {
        if *ty.plain() == Ty::Void {
            return Ok(Value { expr: Expr::Const(0), ty: Ty::Void });
        }
        if (self.vector(&v.ty).is_some() || self.vector(ty).is_some())
            && !self.same_type(ty.plain(), v.ty.plain())
        {
            return unsupported(span, "this conversion of a vector");
        }
        if self.is_complex(&v.ty) || self.is_complex(ty) {
            return self.convert_complex(v, ty, span);
        }
        if v.ty.is_float() || ty.is_float() {
            return self.convert_float(v, ty, span);
        }
        let (Some(from), Some(to)) = (v.ty.scalar(), ty.scalar()) else {
            if self.same_type(ty.plain(), v.ty.plain()) {
                return Ok(v);
            }
            if let Some(what) = self.refusal(ty).or(self.refusal(&v.ty)) {
                return unsupported(span, what);
            }
            return wrong(span, "this value cannot be converted");
        };
        let mut v = v;
        let pointer = matches!(v.ty.plain(), Ty::Ptr(_) | Ty::Func(_)) && !matches!(v.expr, Expr::Const(0));
        if self.question.ilp32 && pointer && to.size < 8 && !to.truth {
            // Addresses here are longer than the 32 bits of a pointer.
            v = self.kept(v);
            let (address, number) = (self.label(), self.label());
            let upper = Expr::bin(BinOp::Shr, v.expr.clone(), Expr::Const(32), PTR);
            self.emit(Instr::Branch(upper, address, number));
            self.place_label(address);
            self.emit(Instr::Unmodelled("an address becomes an integer of 32 bits".into()));
            self.place_label(number);
        }
        if let (Ty::Ptr(old), Ty::Ptr(new)) = (v.ty.plain(), ty.plain())
            && matches!(new.plain(), Ty::Int(_))
            && old.has_pointers(&self.structs)
        {
            self.emit(Instr::Pointer(PointerUse::Bytes));
        }
        if pointer && matches!(ty.plain(), Ty::Int(_)) && !to.truth {
            self.emit(Instr::Pointer(PointerUse::Number(v.expr.clone())));
        }
        let expr = if from == to { v.expr } else { Expr::cast(v.expr, to) };
        let narrower = matches!(ty, Ty::Narrow(..)) && v.ty != *ty;
        let v = Value { expr, ty: unatomic(ty.clone()) };
        Ok(if narrower { in_type(v) } else { v })
    }

    /// Returns whether a value is not 0, as 0 or 1.
    pub(super) fn truth(&mut self, v: Value, span: Span) -> Result<Expr> {
        if self.is_complex(&v.ty) {
            return self.complex_truth(&v, span);
        }
        if v.ty.is_float() {
            return Ok(self.convert_float(v, &Ty::Int(BOOL), span)?.expr);
        }
        if self.vector(&v.ty).is_some() {
            return unsupported(span, "a vector as a condition");
        }
        if v.ty.scalar().is_none() {
            return wrong(span, "this is not a condition");
        }
        Ok(match v.expr {
            Expr::Bin(op, ..) if op.compares() => v.expr,
            Expr::Float(op, ..) if op.compares() => v.expr,
            e => Expr::bin(BinOp::Ne, e, Expr::Const(0), LONG),
        })
    }

    /// Goes to `yes` or `no`.
    pub(super) fn condition(&mut self, e: &'a Node<Expression>, yes: usize, no: usize) -> Result<()> {
        if !self.question.whole_statements || calls(&e.node) {
            return self.decide(e, yes, no);
        }
        let (then, otherwise) = (self.label(), self.label());
        let from = self.current.template.code.len();
        self.emit(Instr::AtomicBegin);
        self.decide(e, then, otherwise)?;
        let accesses = self.accesses_memory(from);
        for (from, to) in [(then, yes), (otherwise, no)] {
            self.place_label(from);
            if accesses {
                self.emit(Instr::AtomicEnd);
            }
            self.emit(Instr::Jump(to));
        }
        Ok(())
    }

    fn decide(&mut self, e: &'a Node<Expression>, yes: usize, no: usize) -> Result<()> {
        match &e.node {
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Negate => {
                return self.decide(&u.node.operand, no, yes);
            }
            Expression::BinaryOperator(b)
                if matches!(b.node.operator.node, BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr) =>
            {
                let middle = self.label();
                if b.node.operator.node == BinaryOperator::LogicalAnd {
                    self.decide(&b.node.lhs, middle, no)?;
                } else {
                    self.decide(&b.node.lhs, yes, middle)?;
                }
                self.place_label(middle);
                return self.decide(&b.node.rhs, yes, no);
            }
            _ => {}
        }
        let v = self.value(e)?;
        let at = self.here;
        self.here = e.span;
        match self.truth(v, e.span)? {
            Expr::Const(v) => self.emit(Instr::Jump(if v != 0 { yes } else { no })),
            c => self.emit(Instr::Branch(c, yes, no)),
        }
        self.here = at;
        Ok(())
    }

    /// Returns the value of an expression.
    pub(super) fn value(&mut self, e: &'a Node<Expression>) -> Result<Value> {
        let at = std::mem::replace(&mut self.here, e.span);
        let v = self.value_here(e);
        self.here = at;
        v
    }

    fn value_here(&mut self, e: &'a Node<Expression>) -> Result<Value> {
        let span = e.span;
        match &e.node {
            Expression::Identifier(n) => self.named(e, &n.node.name),
            Expression::Constant(c) => self.literal_constant(&c.node, span),
            Expression::StringLiteral(_) | Expression::Member(_) | Expression::CompoundLiteral(_) => {
                let place = self.place(e)?;
                self.read(&place, span)
            }
            Expression::GenericSelection(g) => self.generic(&g.node, span),
            Expression::Call(c) => match self.call(&c.node, span)? {
                Some(v) => Ok(v),
                None => Ok(Value { expr: Expr::Const(0), ty: Ty::Void }),
            },
            Expression::SizeOfTy(t) => {
                let ty = self.type_name(t)?;
                let size = self.bytes_of(&ty, span)?;
                Ok(self.size_value(size))
            }
            Expression::SizeOfVal(v) => {
                let ty = self.type_of(v)?;
                if matches!(ty.plain(), Ty::Variable(..)) && has_effects(&v.node) {
                    return unsupported(span, "`sizeof` of this, whose size is not constant,");
                }
                let size = self.bytes_of(&ty, span)?;
                Ok(self.size_value(size))
            }
            Expression::AlignOfTy(t) => {
                let (ty, said) = self.aligned_type_name(t)?;
                self.size_of(&ty, span)?;
                let own = ty.layout(&self.structs).map_or(1, |l| l.1);
                Ok(self.size_value(Expr::Const(said.unwrap_or(own) as i64)))
            }
            Expression::AlignOfVal(e) => self.alignment_of(e, span),
            Expression::UnaryOperator(u) => self.unary(&u.node, span),
            Expression::Cast(c) => {
                let ty = self.type_name(&c.node.type_name)?;
                let v = self.value(&c.node.expression)?;
                match self.vector(&v.ty).or_else(|| self.vector(&ty)) {
                    Some(_) => self.cast_vector(v, &ty, span),
                    None => self.convert(v, &ty, span),
                }
            }
            Expression::BinaryOperator(b) => self.binary(e, &b.node, span),
            Expression::Conditional(c) => self.conditional(&c.node, span),
            Expression::Comma(list) => {
                let mut last = Value { expr: Expr::Const(0), ty: Ty::Void };
                for e in list.iter() {
                    last = self.value(e)?;
                }
                Ok(last)
            }
            Expression::OffsetOf(o) => self.offset_of(&o.node, span),
            Expression::VaArg(v) => self.variable_argument(&v.node, span),
            Expression::Statement(s) => self.statement_expression(s),
            Expression::LabelAddress(label) => Ok(self.label_address(&label.node)),
            Expression::TypesCompatible(types) => self.types_compatible(types, span),
            Expression::Unsupported(name) => unsupported(span, format!("`{name}`")),
        }
    }

    /// `__builtin_types_compatible_p`, where the types here say all that matters.
    fn types_compatible(&mut self, types: &'a (Node<TypeName>, Node<TypeName>), span: Span) -> Result<Value> {
        let (a, b) = (self.type_name(&types.0)?, self.type_name(&types.1)?);
        let same = self.same_type(&a, &b);
        // Enumerations are integers here, and several types of C may be one.
        let number = matches!(a.plain(), Ty::Int(_)) && ![&types.0, &types.1].into_iter().any(is_keywords);
        if same && (self.is_several_types(&a) || number) {
            return unsupported(span, "`__builtin_types_compatible_p` on these types");
        }
        Ok(Value { expr: Expr::Const(i64::from(same)), ty: Ty::int() })
    }

    /// Returns the value of what a name stands for.
    fn named(&mut self, e: &'a Node<Expression>, name: &str) -> Result<Value> {
        match self.usable_name(name, e.span)?.cloned() {
            Some(Symbol::Argument(v)) => Ok(v.clone()),
            Some(Symbol::Constant(v, i)) => Ok(Value { expr: Expr::Const(v), ty: Ty::Int(i) }),
            Some(Symbol::Function(f)) => {
                let link = self.linked(name);
                if self.linkage.weak.contains(&link) && !self.definitions.contains_key(&link) {
                    return unsupported(e.span, format!("the weak function `{name}`, which is not defined,"));
                }
                let a = self.function_address(&link);
                Ok(Value { expr: Expr::Const(a), ty: Ty::ptr(Ty::Func(f)) })
            }
            Some(Symbol::Nested(ty, key)) => self.nested_value(ty, &key, e.span),
            None if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") => {
                let name = written_name(&self.current.template.name).to_string();
                let (a, _) = self.text(name.into_bytes());
                Ok(Value { expr: Expr::Const(a), ty: Ty::ptr(Ty::Int(Int::new(1, true))) })
            }
            _ => {
                let place = self.place(e)?;
                self.read(&place, e.span)
            }
        }
    }

    fn literal_constant(&mut self, c: &Constant, span: Span) -> Result<Value> {
        let imaginary = match c {
            Constant::Integer(i) => i.imaginary,
            Constant::Float(f) => f.imaginary,
            Constant::Character(_) => false,
        };
        let v = self.real_constant(c, span)?;
        if imaginary { self.imaginary(v, span) } else { Ok(v) }
    }

    fn real_constant(&self, c: &Constant, span: Span) -> Result<Value> {
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

    fn offset_of(&mut self, o: &'a OffsetOfExpression, span: Span) -> Result<Value> {
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
    fn step_into(&self, ty: &mut Ty, name: &Node<Identifier>, span: Span) -> Result<u64> {
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

    /// Returns whether C has several types that are this one here, or complex numbers or
    /// vectors of them.
    fn is_several_types(&self, ty: &Ty) -> bool {
        let element = self.element(ty).or_else(|| self.vector(ty).map(|v| v.0));
        is_several_types(&element.unwrap_or_else(|| ty.clone()))
    }

    fn generic(&mut self, g: &'a GenericSelection, span: Span) -> Result<Value> {
        let ty = decay(unatomic(self.type_of(&g.expression)?));
        if self.is_several_types(&ty) {
            return unsupported(span, "`_Generic` on this type");
        }
        let mut default = None;
        for a in &g.associations {
            match &a.node {
                // A value has no qualifiers.
                GenericAssociation::Type(t, _) if is_qualified(&t.node) => {}
                GenericAssociation::Type(t, e) => {
                    if unatomic(self.type_name(t)?) == ty {
                        return self.value(e);
                    }
                }
                GenericAssociation::Default(e) => default = Some(e),
            }
        }
        match default {
            Some(e) => self.value(e),
            None => wrong(span, "no type of this `_Generic` fits"),
        }
    }

    fn unary(&mut self, u: &'a UnaryOperatorExpression, span: Span) -> Result<Value> {
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
    fn update(&mut self, place: &Place, v: Value, op: BinOp, span: Span) -> Result<(Value, Value)> {
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
    fn one_event(&mut self, from: usize) {
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

    fn promoted(&mut self, v: Value, span: Span) -> Result<Value> {
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

    fn binary(
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
    fn assignment(&mut self, b: &'a BinaryOperatorExpression, span: Span) -> Result<Value> {
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
    fn logical(
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
    fn is_null_constant(&mut self, e: &'a Node<Expression>) -> bool {
        matches!(self.constant(e), Ok(0))
    }

    fn conditional(&mut self, c: &'a ConditionalExpression, span: Span) -> Result<Value> {
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

    // ---- literals ----

    /// Returns the address and type of a string.
    fn string(&mut self, parts: &[String], span: Span) -> Result<(i64, Ty)> {
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

/// Returns an address that does not depend on what is computed, where a variable of the function has
/// some address.
fn fixed(e: &Expr) -> Option<i64> {
    match e {
        Expr::Const(a) => Some(*a),
        Expr::Local(k) => Some(address(PRIVATE + i64::from(*k), 0)),
        Expr::Bin(op @ (BinOp::Add | BinOp::Sub), a, b, at) => op.apply(fixed(a)?, b.constant()?, *at),
        _ => None,
    }
}

/// Returns whether a function is called in it, or it has statements inside.
pub(super) fn calls(e: &Expression) -> bool {
    let any = |list: &[&Node<Expression>]| list.iter().any(|e| calls(&e.node));
    match e {
        Expression::Call(_) | Expression::Statement(_) | Expression::VaArg(_) => true,
        Expression::Member(m) => calls(&m.node.expression.node),
        Expression::UnaryOperator(u) => calls(&u.node.operand.node),
        Expression::Cast(c) => calls(&c.node.expression.node),
        Expression::BinaryOperator(b) => any(&[&b.node.lhs, &b.node.rhs]),
        Expression::Conditional(c) => {
            let then = c.node.then_expression.as_ref();
            any(&[&c.node.condition, then.unwrap_or(&c.node.condition), &c.node.else_expression])
        }
        Expression::Comma(list) => list.iter().any(|e| calls(&e.node)),
        Expression::GenericSelection(_) | Expression::CompoundLiteral(_) => true,
        _ => false,
    }
}

/// Returns whether evaluating it may change a variable.
pub(super) fn has_effects(e: &Expression) -> bool {
    match e {
        Expression::Identifier(_)
        | Expression::Constant(_)
        | Expression::StringLiteral(_)
        | Expression::SizeOfTy(_)
        | Expression::SizeOfVal(_)
        | Expression::AlignOfTy(_)
        | Expression::AlignOfVal(_)
        | Expression::TypesCompatible(_)
        | Expression::OffsetOf(_) => false,
        Expression::Member(m) => has_effects(&m.node.expression.node),
        Expression::Cast(c) => has_effects(&c.node.expression.node),
        Expression::UnaryOperator(u) => {
            use UnaryOperator as U;
            matches!(
                u.node.operator.node,
                U::PostIncrement | U::PostDecrement | U::PreIncrement | U::PreDecrement
            ) || has_effects(&u.node.operand.node)
        }
        Expression::BinaryOperator(b) => {
            use BinaryOperator as B;
            !matches!(
                b.node.operator.node,
                B::Index
                    | B::Multiply
                    | B::Divide
                    | B::Modulo
                    | B::Plus
                    | B::Minus
                    | B::ShiftLeft
                    | B::ShiftRight
                    | B::Less
                    | B::Greater
                    | B::LessOrEqual
                    | B::GreaterOrEqual
                    | B::Equals
                    | B::NotEquals
                    | B::BitwiseAnd
                    | B::BitwiseXor
                    | B::BitwiseOr
            ) || has_effects(&b.node.lhs.node)
                || has_effects(&b.node.rhs.node)
        }
        _ => true,
    }
}

/// Returns whether C has several types that are this one here: `char` and `signed char`, `long` and
/// `long long`, pointers to what is `const` and what is not.
fn is_several_types(ty: &Ty) -> bool {
    match ty.plain() {
        Ty::Int(i) => i.size == 8 || i.size == 1 && i.signed,
        Ty::Ptr(_) => true,
        _ => false,
    }
}

/// Returns whether a type name that is not that of a pointer has qualifiers.
fn is_qualified(t: &TypeName) -> bool {
    let qualifier = |s: &Node<DeclarationSpecifier>| matches!(s.node, DeclarationSpecifier::TypeQualifier(_));
    t.declarator.is_none() && t.specifiers.iter().any(qualifier)
}

/// Returns whether a type name has keywords only, so that the type is not an enumeration.
fn is_keywords(t: &Node<TypeName>) -> bool {
    t.node.specifiers.iter().all(|s| match &s.node {
        DeclarationSpecifier::TypeSpecifier(t) => !matches!(
            t.node,
            TypeSpecifier::Enum(_)
                | TypeSpecifier::TypedefName(_)
                | TypeSpecifier::TypeOf(_)
                | TypeSpecifier::Atomic(_)
        ),
        _ => true,
    })
}

/// Returns the type of a number after the integer promotions.
fn promoted_type(ty: &Ty, i: Int) -> Ty {
    match ty.plain() {
        Ty::Narrow(..) => ty.plain().clone(),
        _ => Ty::Int(promote(i)),
    }
}

fn choice_type(a: &Ty, b: &Ty) -> Ty {
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

fn integer(i: &Integer, long: Int, span: Span) -> Result<Value> {
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

/// How an operator applies an operation to its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// The operands change places.
    Swapped,
    /// The result goes to the left operand.
    Assigns,
}

/// Returns what an arithmetic operator does; `None` for others.
fn operation(operator: &BinaryOperator) -> Option<(BinOp, Form)> {
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
