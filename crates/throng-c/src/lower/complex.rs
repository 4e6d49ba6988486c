//! Complex numbers: structures of two members of one type, the real and the imaginary part.
//!
//! They are kept, copied and passed as other structures are; the value is an address. Where values
//! have to be constant there is no memory for that, and it is a number of [`Lower::pairs`].

use super::builtins::Args;
use super::{Lower, Place, Result, Value, unatomic, unsupported, wrong};
use crate::library::math::{Complex, Size};
use crate::syntax::ast::*;
use crate::types::{Field, Struct, Ty, common, promote};
use throng_goto::program::{BinOp, Doubt, Expr, FloatOp, INT, Instr, Int, PTR, Reg, Width};

use super::floating::is_opaque;

/// What runs depend on where a complex number is divided.
const QUOTIENT: &str = "a quotient of complex numbers";
/// What they depend on where both parts of a product are no numbers.
const PRODUCT: &str = "a product of complex numbers that are infinite or no numbers";

/// The two parts of a complex number.
type Pair = (Value, Value);

/// The parts of a complex number, by their position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Real,
    Imaginary,
}

impl Part {
    /// Returns the part that an operator stands for.
    pub(super) fn of(operator: &UnaryOperator) -> Option<Part> {
        match operator {
            UnaryOperator::Real => Some(Part::Real),
            UnaryOperator::Imaginary => Some(Part::Imaginary),
            _ => None,
        }
    }
}

impl<'a> Lower<'a> {
    /// Returns the type of the parts of a complex type.
    pub(super) fn element(&self, ty: &Ty) -> Option<Ty> {
        match ty.plain() {
            Ty::Struct(s) if self.complex_types.contains(s) => {
                self.structs[*s].fields.first().map(|f| f.ty.clone())
            }
            _ => None,
        }
    }

    pub(super) fn is_complex(&self, ty: &Ty) -> bool {
        self.element(ty).is_some()
    }

    /// Returns the complex type with parts of this type.
    pub(super) fn complex_type(&mut self, element: &Ty, span: Span) -> Result<Ty> {
        if is_opaque(element) {
            return unsupported(span, "`_Complex long double`");
        }
        let known = self.complex_types.iter().find(|&&s| self.structs[s].fields[0].ty == *element);
        if let Some(&s) = known {
            return Ok(Ty::Struct(s));
        }
        let Some(i) = element.scalar() else { return wrong(span, "this is not a number") };
        let size = u64::from(i.size);
        let part =
            |name: &str, offset| Field { name: Some(name.into()), ty: element.clone(), offset, bits: None };
        let fields = vec![part("__real__", 0), part("__imag__", size)];
        let unit = self.linkage.unit;
        let ty = Struct { fields, size: 2 * size, align: size, complete: true, unit, ..Struct::default() };
        self.structs.push(ty);
        self.complex_types.push(self.structs.len() - 1);
        Ok(Ty::Struct(self.structs.len() - 1))
    }

    /// Returns the complex number of two parts of one type.
    fn pair(&mut self, re: Expr, im: Expr, element: &Ty, span: Span) -> Result<Value> {
        let ty = self.complex_type(element, span)?;
        if self.constants.is_some() {
            self.pairs.push((re, im));
            return Ok(Value { expr: Expr::Const(-(self.pairs.len() as i64)), ty });
        }
        let i = element.scalar().unwrap_or(INT);
        let place = self.space("(complex)", &ty, span)?;
        if let (Expr::Local(k), Expr::Const(_), Expr::Const(_), false) = (&place, &re, &im, self.dry) {
            self.current.complex_constants.insert(*k, (re.clone(), im.clone()));
        }
        self.store_as(self.access, &place, 0, re, i);
        self.store_as(self.access, &place, i.size.into(), im, i);
        Ok(Value { expr: place, ty })
    }

    /// Returns the parts of a number. The imaginary part of a real number is 0.
    pub(super) fn parts_of(&mut self, v: &Value) -> Pair {
        let Some(ty) = self.element(&v.ty) else {
            let zero = Value { expr: Expr::Const(0), ty: v.ty.clone() };
            return (v.clone(), zero);
        };
        let part = |expr| Value { expr, ty: ty.clone() };
        let known = match &v.expr {
            Expr::Const(n @ ..0) if self.constants.is_some() => self.pairs.get(!*n as usize),
            Expr::Local(k) if !self.dry => self.current.complex_constants.get(k),
            _ => None,
        };
        if let Some((re, im)) = known.cloned() {
            return (part(re), part(im));
        }
        let i = ty.scalar().unwrap_or(INT);
        self.in_parts();
        let re = self.load_as(self.access, &v.expr, 0, i);
        let im = self.load_as(self.access, &v.expr, i.size.into(), i);
        (part(re), part(im))
    }

    /// What is accessed here is accessed in two steps, of which a replay cannot wait for each.
    fn in_parts(&mut self) {
        if !self.dry {
            self.program.copies.insert((self.here.start, self.here.end), Vec::new());
        }
    }

    /// Returns a value that what is evaluated later does not change.
    pub(super) fn steady(&mut self, v: Value, span: Span) -> Result<Value> {
        if !self.is_complex(&v.ty) {
            return self.kept_operand(v, span);
        }
        let (re, im) = self.parts_of(&v);
        self.pair(re.expr, im.expr, &re.ty, span)
    }

    /// Assigns to a complex number.
    pub(super) fn assign_complex(&mut self, to: &Expr, v: Value, ty: &Ty, span: Span) -> Result<()> {
        let v = self.convert(v, ty, span)?;
        self.in_parts();
        self.copy_parts(to, &v.expr, ty, false, span)
    }

    /// Converts a number where one of the types is complex.
    pub(super) fn convert_complex(&mut self, v: Value, ty: &Ty, span: Span) -> Result<Value> {
        let to = unatomic(ty.clone());
        if unatomic(v.ty.clone()) == to {
            return Ok(v);
        }
        if self.element(&v.ty).is_none()
            && !matches!(v.ty.plain(), Ty::Int(_) | Ty::Narrow(..) | Ty::Float(_))
        {
            return wrong(span, "this value cannot be converted");
        }
        if let Some(element) = self.element(&to) {
            let (re, im) = self.parts_of(&v);
            let (re, im) = (self.convert(re, &element, span)?, self.convert(im, &element, span)?);
            return self.pair(re.expr, im.expr, &element, span);
        }
        match &to {
            Ty::Int(i) if i.truth => {
                let expr = self.complex_truth(&v, span)?;
                Ok(Value { expr: Expr::cast(expr, *i), ty: to })
            }
            Ty::Int(_) | Ty::Narrow(..) | Ty::Float(_) => {
                let (re, _) = self.parts_of(&v);
                self.convert(re, &to, span)
            }
            _ => wrong(span, "this value cannot be converted"),
        }
    }

    /// Returns whether a complex number is not 0.
    pub(super) fn complex_truth(&mut self, v: &Value, span: Span) -> Result<Expr> {
        let (re, im) = self.parts_of(v);
        let (re, im) = (self.truth(re, span)?, self.truth(im, span)?);
        Ok(Expr::bin(BinOp::Or, re, im, INT))
    }

    /// Returns the complex type that two numbers have in common, of which one is complex. Integers in
    /// complex numbers are not promoted.
    pub(super) fn common_complex(&mut self, a: &Ty, b: &Ty, span: Span) -> Result<Ty> {
        let element = self.common_element(a, b, span)?;
        self.complex_type(&element, span)
    }

    fn common_element(&self, a: &Ty, b: &Ty, span: Span) -> Result<Ty> {
        let part = |ty: &Ty| match (self.element(ty), ty.plain()) {
            (Some(element), _) => element,
            (None, Ty::Int(i)) => Ty::Int(promote(*i)),
            (None, ty) => ty.clone(),
        };
        match (part(a), part(b)) {
            (Ty::Float(x), Ty::Float(y)) => Ok(Ty::Float(x.max(y))),
            (Ty::Float(x), Ty::Int(_)) | (Ty::Int(_), Ty::Float(x)) => Ok(Ty::Float(x)),
            (Ty::Int(x), Ty::Int(y)) if x == y => Ok(Ty::Int(x)),
            (Ty::Int(x), Ty::Int(y)) if x.size.max(y.size) >= 4 => Ok(Ty::Int(common(x, y))),
            (Ty::Int(_), Ty::Int(_)) => {
                unsupported(span, "this operator on complex numbers of small integers")
            }
            (Ty::Narrow(..), _) | (_, Ty::Narrow(..)) => {
                unsupported(span, "a complex number with this bit-field")
            }
            _ => wrong(span, "this is not a number"),
        }
    }

    /// Lowers an operator of which an operand is a complex number. A real operand stays one: the
    /// signs of zeros depend on it.
    pub(super) fn complex_arithmetic(&mut self, op: BinOp, a: Value, b: Value, span: Span) -> Result<Value> {
        if !matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Eq | BinOp::Ne) {
            return wrong(span, "this operator takes no complex numbers");
        }
        let element = self.common_element(&a.ty, &b.ty, span)?;
        self.complex_type(&element, span)?;
        let real = [&a, &b].map(|v| !self.is_complex(&v.ty));
        let (a, b) = (self.operand(&a, &element, span)?, self.operand(&b, &element, span)?);
        if op.compares() {
            let both = if op == BinOp::Eq { BinOp::And } else { BinOp::Or };
            let (re, im) = (self.arithmetic(op, a.0, b.0, span)?, self.arithmetic(op, a.1, b.1, span)?);
            return Ok(Value { expr: Expr::bin(both, re.expr, im.expr, INT), ty: Ty::int() });
        }
        self.of_size(&element, span)?;
        let is_float = element.is_float();
        let (re, im) = match (op, real) {
            (BinOp::Add, [true, _]) => (self.arithmetic(op, a.0, b.0, span)?, b.1),
            (BinOp::Sub, [true, _]) => (self.arithmetic(op, a.0, b.0, span)?, self.minus(b.1, span)?),
            (BinOp::Add | BinOp::Sub, [_, true]) => (self.arithmetic(op, a.0, b.0, span)?, a.1),
            (BinOp::Add | BinOp::Sub, _) => {
                (self.arithmetic(op, a.0, b.0, span)?, self.arithmetic(op, a.1, b.1, span)?)
            }
            (BinOp::Mul, [true, _]) => {
                (self.arithmetic(op, a.0.clone(), b.0, span)?, self.arithmetic(op, a.0, b.1, span)?)
            }
            (BinOp::Mul, [_, true]) => {
                (self.arithmetic(op, a.0, b.0.clone(), span)?, self.arithmetic(op, a.1, b.0, span)?)
            }
            (BinOp::Mul, _) => self.product(a, b, span)?,
            (_, [_, true]) if is_float => {
                (self.arithmetic(op, a.0, b.0.clone(), span)?, self.arithmetic(op, a.1, b.0, span)?)
            }
            _ if is_float && self.constants.is_none() => self.quotient(&element),
            _ if is_float => return unsupported(span, QUOTIENT),
            _ => return unsupported(span, "a quotient of complex integers"),
        };
        self.pair(re.expr, im.expr, &element, span)
    }

    /// Returns the parts of an operand, of the type that the operator works on.
    fn operand(&mut self, v: &Value, element: &Ty, span: Span) -> Result<Pair> {
        let (re, im) = self.parts_of(v);
        let (re, im) = (self.convert(re, element, span)?, self.convert(im, element, span)?);
        Ok(match self.constants {
            Some(_) => (re, im),
            None => (self.kept(re), self.kept(im)),
        })
    }

    /// Compilers compute with integers of fewer bits than `int` in their own type.
    fn of_size(&self, element: &Ty, span: Span) -> Result<()> {
        match element {
            Ty::Int(i) if i.size < 4 => {
                unsupported(span, "this operator on complex numbers of small integers")
            }
            _ => Ok(()),
        }
    }

    fn minus(&mut self, v: Value, span: Span) -> Result<Value> {
        if v.ty.is_float() {
            return self.negated(v, span);
        }
        let zero = Value { expr: Expr::Const(0), ty: v.ty.clone() };
        self.arithmetic(BinOp::Sub, zero, v, span)
    }

    /// Returns the product of two complex numbers. Where both parts are no numbers, compilers look
    /// for infinities: that is left open. A product of constants they round in another way.
    fn product(&mut self, (a, b): Pair, (c, d): Pair, span: Span) -> Result<Pair> {
        let is_float = a.ty.is_float();
        if is_float && [&a, &b, &c, &d].iter().all(|v| matches!(v.expr, Expr::Const(_))) {
            return unsupported(span, "a product of complex constants");
        }
        let mut both = |op, (a, b): (&Value, &Value), (c, d): (&Value, &Value)| {
            let x = self.arithmetic(BinOp::Mul, a.clone(), b.clone(), span)?;
            let y = self.arithmetic(BinOp::Mul, c.clone(), d.clone(), span)?;
            self.arithmetic(op, x, y, span)
        };
        let (re, im) = (both(BinOp::Sub, (&a, &c), (&b, &d))?, both(BinOp::Add, (&a, &d), (&b, &c))?);
        let Some(at) = re.ty.width() else { return Ok((re, im)) };
        if self.constants.is_some() {
            return unsupported(span, "a product of complex constants");
        }
        Ok(self.numbers(re, im, at))
    }

    /// Leaves a product open of which both parts are no numbers.
    fn numbers(&mut self, re: Value, im: Value, at: Width) -> Pair {
        let [x, y] = [&re, &im].map(|v| {
            let r = self.register(at.bits(), None);
            self.emit(Instr::Let(r, v.expr.clone()));
            r
        });
        let is_none = |r: Reg| Expr::float(FloatOp::Ne, Expr::Reg(r), Expr::Reg(r), at);
        let none = Expr::bin(BinOp::And, is_none(x), is_none(y), INT);
        let (open, end) = (self.label(), self.label());
        self.emit(Instr::Branch(none, open, end));
        self.place_label(open);
        for r in [x, y] {
            self.emit_doubtful(r, Doubt::Value(PRODUCT.into()));
        }
        self.place_label(end);
        (Value { expr: Expr::Reg(x), ty: re.ty }, Value { expr: Expr::Reg(y), ty: im.ty })
    }

    /// A quotient is computed in ways that differ in its last digit: it is not known.
    fn quotient(&mut self, element: &Ty) -> Pair {
        let mut part = || {
            let r = self.register(element.scalar().unwrap_or(INT), None);
            self.emit_doubtful(r, Doubt::Value(QUOTIENT.into()));
            Value { expr: Expr::Reg(r), ty: element.clone() }
        };
        (part(), part())
    }

    /// `-v`, and `~v`, which is the conjugate.
    pub(super) fn complex_sign(&mut self, v: &Value, conjugate: bool, span: Span) -> Result<Value> {
        let (re, im) = self.parts_of(v);
        let element = re.ty.clone();
        self.of_size(&element, span)?;
        let im = self.minus(im, span)?;
        let re = if conjugate { re } else { self.minus(re, span)? };
        self.pair(re.expr, im.expr, &element, span)
    }

    /// Returns an imaginary number.
    pub(super) fn imaginary(&mut self, v: Value, span: Span) -> Result<Value> {
        self.pair(Expr::Const(0), v.expr, &v.ty, span)
    }

    /// `__real__ z` as a place, if it is one.
    pub(super) fn part_place(&mut self, place: Place, part: Part, span: Span) -> Result<Place> {
        let Some(element) = self.element(&place.ty()) else {
            return match part {
                Part::Real => Ok(place),
                Part::Imaginary => wrong(span, "this cannot be assigned to"),
            };
        };
        let Place::Memory(a, _) = place else { return wrong(span, "this cannot be assigned to") };
        let offset = match part {
            Part::Real => 0,
            Part::Imaginary => i64::from(element.scalar().unwrap_or(INT).size),
        };
        Ok(Place::Memory(Expr::bin(BinOp::Add, a, Expr::Const(offset), PTR), element))
    }

    /// `__real__ z` and `__imag__ z`
    pub(super) fn complex_part(&mut self, e: &'a Node<Expression>, part: Part, span: Span) -> Result<Value> {
        let v = match self.place_or_value(e)? {
            Ok(place) if self.is_complex(&place.ty()) => {
                let place = self.part_place(place, part, span)?;
                return self.read(&place, span);
            }
            Ok(place) => self.read(&place, span)?,
            Err(v) => v,
        };
        self.part_of_value(&v, part, span)
    }

    fn part_of_value(&mut self, v: &Value, part: Part, span: Span) -> Result<Value> {
        if !self.is_complex(&v.ty) && !matches!(v.ty.plain(), Ty::Int(_) | Ty::Float(_)) {
            return wrong(span, "this is not a number");
        }
        let (re, im) = self.parts_of(v);
        Ok(if part == Part::Real { re } else { im })
    }

    /// Lowers a call of a function of `<complex.h>`.
    pub(super) fn complex_function(
        &mut self,
        (function, size): (Complex, Size),
        args: Args<'a>,
        span: Span,
    ) -> Result<Value> {
        let number = |args: Args<'a>, n: usize| match args.get(n) {
            Some(e) => Ok(e),
            None => wrong(span, "an argument is missing"),
        };
        let first = number(args, 0)?;
        let v = self.value(first)?;
        let Some(size) = size else {
            let v = self.steady(v, first.span)?;
            let w = self.value(number(args, 1)?)?;
            return match (v.ty.plain(), w.ty.plain()) {
                (a @ Ty::Float(_), b) if a == b => self.pair(v.expr, w.expr, a, span),
                _ => wrong(span, "this is not a pair of numbers of one type"),
            };
        };
        let ty = self.complex_type(&Ty::Float(size), span)?;
        let v = self.convert(v, &ty, span)?;
        match function {
            Complex::Real => self.part_of_value(&v, Part::Real, span),
            Complex::Imaginary => self.part_of_value(&v, Part::Imaginary, span),
            Complex::Conjugate | Complex::Make => self.complex_sign(&v, true, span),
        }
    }

    /// Returns the values of the parts of an initial value: where, and as which type.
    pub(super) fn initial_parts(&mut self, v: Value, ty: &Ty, span: Span) -> Result<Vec<(u64, Int, Expr)>> {
        let v = self.convert(v, ty, span)?;
        let (re, im) = self.parts_of(&v);
        let i = re.ty.scalar().unwrap_or(INT);
        Ok([(0, re), (u64::from(i.size), im)]
            .map(|(at, v)| (at, i, if self.constants.is_some() { v } else { self.kept(v) }.expr))
            .into())
    }
}
