//! Floating-point numbers: conversions, operators and functions of `<math.h>`.
//!
//! `float` and `double` are exact. The value of a `long double` is not known, unless it is a
//! constant that is a `double`: then it is the bits of that. What depends on another one is open, and
//! reports say why.

use super::builtins::Args;
use super::{Lower, Result, Value, unatomic, unsupported, wrong};
use crate::library::math::{Math, Size};
use crate::syntax::ast::*;
use crate::types::Ty;
use throng_goto::program::{
    BOOL, BinOp, Conversion, Doubt, Expr, FloatOp, INT, Instr, Int, Reg, Undefined, Width,
};

/// Number of bytes of a `long double`.
pub(super) const LONG_DOUBLE: u8 = 16;

/// What runs depend on where the value of a `long double` matters.
const UNKNOWN: &str = "the value of a number of type `long double`";

/// A part of an object with its value: where, its type, the value.
type Part = (u64, Int, i64);

/// A `long double` whose value is not known. The expression stands for nothing.
pub(super) fn opaque() -> Value {
    Value { expr: Expr::SelfId, ty: Ty::Float(LONG_DOUBLE) }
}

/// Returns whether values of a type are not known.
pub(super) fn is_opaque(ty: &Ty) -> bool {
    *ty.plain() == Ty::Float(LONG_DOUBLE)
}

/// Returns the value of what is initialised with an expression, if it is constant. Constants are
/// folded, except for a NaN, whose bits no constant has.
pub(super) fn fixed_value(e: &Expr) -> Option<i64> {
    let none = &|_| Err(Undefined::Operator);
    match e {
        Expr::Const(v) => Some(*v),
        Expr::Float(..) | Expr::Convert(..) => e.value(none, &|| ()).ok(),
        _ => None,
    }
}

/// Returns the bytes of a `long double` that is a `double`, as two parts.
pub(super) fn extended(bits: i64) -> [Part; 2] {
    let number = f64::from_bits(bits as u64);
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as u64, bits as u64 & ((1 << 52) - 1));
    let (exponent, mantissa) = match exponent {
        _ if number == 0.0 => (0, 0),
        0x7ff => (0x7fff, 1 << 63 | fraction << 11),
        0 => {
            let zeros = u64::from(fraction.leading_zeros());
            (15372 - zeros, fraction << zeros)
        }
        exponent => (exponent + 16383 - 1023, 1 << 63 | fraction << 11),
    };
    let sign = (bits as u64) >> 63 << 15;
    [(0, Int::new(8, false), mantissa as i64), (8, Int::new(2, false), (sign | exponent) as i64)]
}

/// Returns the value of a constant as it is written.
pub(super) fn float_literal(f: &Float, span: Span) -> Result<Value> {
    let size = match &f.format {
        FloatFormat::Float => 4,
        FloatFormat::Double => 8,
        FloatFormat::LongDouble => LONG_DOUBLE,
        FloatFormat::Other(suffix) => match &**suffix {
            "f32" => 4,
            "f64" | "f32x" => 8,
            _ => return unsupported(span, format!("a number with the suffix `{suffix}`")),
        },
    };
    let ty = Ty::Float(size);
    let at = ty.width().unwrap_or(Width::Double);
    let (bits, exact) = match f.number.strip_prefix("0x").or(f.number.strip_prefix("0X")) {
        Some(digits) => hexadecimal(digits, at),
        None => decimal(&f.number, at),
    };
    Ok(if is_opaque(&ty) && !exact { opaque() } else { Value { expr: Expr::Const(bits), ty } })
}

/// Returns the bits of the number nearest to a decimal one, and whether the `long double` nearest to
/// it is the same number.
fn decimal(text: &str, at: Width) -> (i64, bool) {
    let double = text.parse::<f64>().unwrap_or(0.0);
    let bits = match at {
        Width::Single => i64::from(text.parse::<f32>().unwrap_or(0.0).to_bits()),
        Width::Double => double.to_bits() as i64,
    };
    (bits, is_near(text, double))
}

/// Returns whether a decimal number differs from a `double` by less than half of what separates
/// that from the next number of 64 bits.
fn is_near(text: &str, double: f64) -> bool {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return true;
    }
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    let first = whole.len() as i64 - (all.len() - significant.len()) as i64 - 1;
    let shown = format!("{double:.29e}");
    let Some((shown, its_exponent)) = shown.split_once('e') else { return false };
    let number = |digits: &str| {
        let digits: String = digits.chars().filter(char::is_ascii_digit).take(30).collect();
        format!("{digits:0<30}").parse::<u128>().unwrap_or(0)
    };
    let (a, b) = (number(significant), number(shown));
    Some(first.saturating_add(exponent)) == its_exponent.parse().ok() && a.abs_diff(b) < a >> 66
}

/// Returns the bits of the number nearest to a hexadecimal one, and whether it is that number.
fn hexadecimal(text: &str, at: Width) -> (i64, bool) {
    let (digits, exponent) = text.split_once(['p', 'P']).unwrap_or((text, "0"));
    let sign = if exponent.starts_with('-') { -1 } else { 1 };
    let mut exponent = exponent.parse::<i64>().unwrap_or(sign << 40).clamp(-1 << 40, 1 << 40);
    let (mut mantissa, mut rest, mut behind) = (0u64, false, false);
    for c in digits.chars() {
        let Some(digit) = c.to_digit(16) else {
            behind = true;
            continue;
        };
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
            exponent -= if behind { 4 } else { 0 };
        } else {
            rest |= digit != 0;
            exponent += if behind { 0 } else { 4 };
        }
    }
    rounded(mantissa, rest, exponent, at)
}

/// Returns the bits of the number nearest to `mantissa` · 2 ^ `exponent`, or a little more if there
/// is a rest, and whether it is that number.
fn rounded(mantissa: u64, rest: bool, exponent: i64, at: Width) -> (i64, bool) {
    let (digits, largest) = match at {
        Width::Single => (24, 127),
        Width::Double => (53, 1023),
    };
    if mantissa == 0 {
        return (0, !rest);
    }
    let zeros = i64::from(mantissa.leading_zeros());
    let (mantissa, scale) = (mantissa << zeros, exponent - zeros + 63);
    if scale > largest {
        return ((2 * largest + 1) << (digits - 1), false);
    }
    let least = 1 - largest;
    // Numbers below the least normal one have fewer digits.
    let lost = (64 - digits + (least - scale).max(0)).min(100);
    let wide = u128::from(mantissa);
    let (kept, cut) = (wide >> lost, wide & ((1 << lost) - 1));
    let half = 1u128 << (lost - 1);
    let up = cut > half || cut == half && (rest || kept & 1 == 1);
    let bits = ((scale - least).max(0) << (digits - 1)) + kept as i64 + i64::from(up);
    (bits, cut == 0 && !rest)
}

/// Returns the operator on numbers for one on integers.
fn operator(op: BinOp) -> Option<FloatOp> {
    Some(match op {
        BinOp::Add => FloatOp::Add,
        BinOp::Sub => FloatOp::Sub,
        BinOp::Mul => FloatOp::Mul,
        BinOp::Div => FloatOp::Div,
        BinOp::Eq => FloatOp::Eq,
        BinOp::Ne => FloatOp::Ne,
        BinOp::Lt => FloatOp::Lt,
        BinOp::Le => FloatOp::Le,
        _ => return None,
    })
}

impl<'a> Lower<'a> {
    /// Reads a `long double`: ten of its bytes are accessed.
    pub(super) fn read_opaque(&mut self, a: &Expr, ty: &Ty) -> Value {
        self.in_two_parts(ty, |s| {
            for (offset, i, _) in extended(0) {
                s.load_as(s.access, a, offset as i64, i);
            }
        });
        opaque()
    }

    /// Writes a `long double`.
    pub(super) fn write_opaque(&mut self, a: &Expr, v: &Expr, ty: &Ty) {
        self.in_two_parts(ty, |s| {
            for (offset, i, part) in extended(v.constant().unwrap_or(0)) {
                let part = match v {
                    Expr::Const(_) => Expr::Const(part),
                    _ => Expr::Reg(s.copied_unknown(i)),
                };
                s.store_as(s.access, a, offset as i64, part, i);
            }
        });
    }

    /// A value that is not known, and that goes to a store behind it and nowhere else.
    fn copied_unknown(&mut self, i: Int) -> Reg {
        if !self.dry {
            self.current.template.copies.push(self.current.template.code.len());
        }
        self.unknown(i)
    }

    fn unknown(&mut self, i: Int) -> Reg {
        let r = self.register(i, None);
        self.emit_doubtful(r, Doubt::Value(UNKNOWN.into()));
        r
    }

    /// Accesses a `long double`, in one step if it is atomic. A replay cannot wait for both parts.
    fn in_two_parts(&mut self, ty: &Ty, emit: impl FnOnce(&mut Self)) {
        self.program.copies.insert((self.here.start, self.here.end), Vec::new());
        if !ty.is_atomic() {
            return emit(self);
        }
        self.emit(Instr::AtomicBegin);
        self.access_as(ty, emit);
        self.emit(Instr::AtomicEnd);
    }

    /// Converts a number where one of the types is that of floating-point numbers.
    pub(super) fn convert_float(&mut self, v: Value, ty: &Ty, span: Span) -> Result<Value> {
        let to = unatomic(ty.clone());
        let expr = match (v.ty.plain(), &to) {
            (a, b) if a == b => v.expr,
            (_, Ty::Float(LONG_DOUBLE)) => return self.extend(v, span),
            (Ty::Float(LONG_DOUBLE), Ty::Int(_) | Ty::Float(_)) => return self.shorten(v, to, span),
            (from, to) => {
                let conversion = match (from.integer(), from.width(), to.integer(), to.width()) {
                    (Some(from), _, _, Some(to)) => Conversion::FromInt(from, to),
                    (_, Some(from), _, Some(to)) => Conversion::Resize(from, to),
                    (_, Some(from), Some(to), _) => Conversion::ToInt(from, to),
                    _ => return wrong(span, "this value cannot be converted"),
                };
                Expr::convert(v.expr, conversion)
            }
        };
        Ok(Value { expr, ty: to })
    }

    /// A number becomes a `long double`: it is known if it is a constant that is a `double`.
    fn extend(&mut self, v: Value, span: Span) -> Result<Value> {
        let is_small = |v: i64| v.unsigned_abs() <= 1 << 53;
        let known = match (v.ty.plain(), &v.expr) {
            (Ty::Float(_), Expr::Const(_)) => true,
            (Ty::Float(_), _) => false,
            (t, Expr::Const(c)) if t.integer().is_some() => is_small(*c),
            (t, _) if t.integer().is_some() => false,
            _ => return wrong(span, "this value cannot be converted"),
        };
        if !known {
            return Ok(opaque());
        }
        let double = self.convert_float(v, &Ty::Float(8), span)?;
        Ok(Value { ty: Ty::Float(LONG_DOUBLE), ..double })
    }

    /// A `long double` becomes another number.
    fn shorten(&mut self, v: Value, to: Ty, span: Span) -> Result<Value> {
        if let Expr::Const(_) = v.expr {
            return self.convert_float(Value { ty: Ty::Float(8), ..v }, &to, span);
        }
        if self.constants.is_some() {
            return unsupported(span, UNKNOWN);
        }
        let r = self.unknown(to.scalar().unwrap_or(INT));
        Ok(Value { expr: Expr::Reg(r), ty: to })
    }

    /// Lowers an operator of which an operand is a floating-point number.
    pub(super) fn float_arithmetic(&mut self, op: BinOp, a: Value, b: Value, span: Span) -> Result<Value> {
        let Some(op) = operator(op) else { return wrong(span, "this is not an integer") };
        let size = |v: &Value| match v.ty.plain() {
            Ty::Float(n) => Some(*n),
            t => t.integer().map(|_| 0),
        };
        let (Some(x), Some(y)) = (size(&a), size(&b)) else { return wrong(span, "this is not a number") };
        let ty = Ty::Float(x.max(y));
        let (a, b) = (self.convert(a, &ty, span)?, self.convert(b, &ty, span)?);
        let expr = match (ty.width(), &a.expr, &b.expr) {
            (Some(at), ..) => Expr::float(op, a.expr, b.expr, at),
            (None, Expr::Const(x), Expr::Const(y)) if op.compares() => {
                Expr::Const(op.apply(*x, *y, Width::Double))
            }
            (None, ..) if !op.compares() => return Ok(opaque()),
            (None, ..) => {
                let truth = self.shorten(opaque(), Ty::Int(BOOL), span)?;
                return self.convert(truth, &Ty::int(), span);
            }
        };
        Ok(Value { expr, ty: if op.compares() { Ty::int() } else { ty } })
    }

    /// `-v`
    pub(super) fn negated(&mut self, v: Value, span: Span) -> Result<Value> {
        let ty = unatomic(v.ty);
        let at = ty.width().unwrap_or(Width::Double);
        let expr = match v.expr {
            Expr::Const(v) => Expr::Const(v ^ sign(at)),
            _ if is_opaque(&ty) => return Ok(opaque()),
            e => Expr::float(FloatOp::Sub, Expr::Const(sign(at)), e, at),
        };
        self.convert(Value { expr, ty: ty.clone() }, &ty, span)
    }

    /// Lowers a call of a function of `<math.h>`.
    pub(super) fn number_function(
        &mut self,
        (math, size): (Math, Size),
        args: Args<'a>,
        span: Span,
    ) -> Result<Value> {
        let own = size.map(Ty::Float);
        match math {
            Math::Infinity => return self.infinity(own.unwrap_or(Ty::Float(8)), span),
            Math::Nan => return self.quiet_nan(own.unwrap_or(Ty::Float(8)), args, span),
            Math::Classify => return self.class(args, span),
            _ => {}
        }
        let mut values = Vec::new();
        for i in 0..math.operands() {
            let Some(e) = args.get(i) else { return wrong(span, "an argument is missing") };
            let v = self.value(e)?;
            let v = match &own {
                Some(ty) => self.convert(v, ty, e.span)?,
                None => v,
            };
            values.push(self.kept(v));
        }
        // Those that take all types take the larger one of two.
        let size = |v: &Value| if let Ty::Float(n) = v.ty.plain() { *n } else { 4 };
        let ty = Ty::Float(values.iter().map(size).max().unwrap_or(8));
        let mut operands = values.into_iter().map(|v| self.convert(v, &ty, span));
        let (x, y) = (operands.next().transpose()?, operands.next().transpose()?);
        let Some(x) = x else { return wrong(span, "an argument is missing") };
        let y = y.unwrap_or_else(|| x.clone());
        let tells = math.tells();
        let Some(at) = ty.width() else {
            return match tells {
                true => self.shorten(opaque(), Ty::Int(BOOL), span),
                false => Ok(opaque()),
            }
            .and_then(|v| if tells { self.convert(v, &Ty::int(), span) } else { Ok(v) });
        };
        match tells {
            true => Ok(Value { expr: classified(math, x.expr, y.expr, at), ty: Ty::int() }),
            false => Ok(Value { expr: self.computed(math, x.expr, y.expr, at), ty }),
        }
    }

    fn infinity(&mut self, ty: Ty, span: Span) -> Result<Value> {
        let double = Value { expr: Expr::Const(f64::INFINITY.to_bits() as i64), ty: Ty::Float(8) };
        self.convert(double, &ty, span)
    }

    fn quiet_nan(&mut self, ty: Ty, args: Args<'a>, span: Span) -> Result<Value> {
        let is_empty = |s: &Vec<String>| s.iter().all(|part| part == "\"\"");
        if !matches!(args, [Node { node: Expression::StringLiteral(s), .. }] if is_empty(&s.node)) {
            return unsupported(span, "a NaN with a payload");
        }
        let bits = match ty.width() {
            Some(Width::Single) => 0x7fc0_0000,
            Some(Width::Double) => 0x7ff8_0000_0000_0000,
            None => return Ok(opaque()),
        };
        Ok(Value { expr: Expr::Const(bits), ty })
    }

    /// `__builtin_fpclassify`
    fn class(&mut self, args: Args<'a>, span: Span) -> Result<Value> {
        let [names @ .., number] = args else { return wrong(span, "an argument is missing") };
        if names.len() != 5 {
            return wrong(span, "an argument is missing");
        }
        let mut classes = Vec::new();
        for e in names {
            let v = self.value(e)?;
            classes.push(self.convert(v, &Ty::int(), e.span)?.expr);
        }
        let x = self.value(number)?;
        let x = self.kept(x);
        let Some(at) = x.ty.width() else { return unsupported(span, "the class of this number") };
        let (x, mut rest, mut sum) = (x.expr, Expr::Const(1), Expr::Const(0));
        let zero = Expr::float(FloatOp::Eq, x.clone(), Expr::Const(0), at);
        let is = |math| classified(math, x.clone(), x.clone(), at);
        let cases = [is(Math::IsNan), is(Math::IsInfinite), is(Math::IsNormal), zero];
        let subnormal = classes.remove(3);
        for (case, class) in cases.into_iter().zip(classes) {
            rest = Expr::bin(BinOp::Sub, rest, case.clone(), INT);
            sum = Expr::bin(BinOp::Add, sum, Expr::bin(BinOp::Mul, case, class, INT), INT);
        }
        let last = Expr::bin(BinOp::Mul, rest, subnormal, INT);
        Ok(Value { expr: Expr::bin(BinOp::Add, sum, last, INT), ty: Ty::int() })
    }

    /// One of two values, of which the other one is not computed.
    fn chosen(&mut self, condition: Expr, then: Expr, otherwise: Expr, at: Width) -> Expr {
        match condition {
            Expr::Const(0) => return otherwise,
            Expr::Const(_) => return then,
            _ => {}
        }
        let r = self.register(at.bits(), None);
        let (yes, no, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::Branch(condition, yes, no));
        self.place_label(yes);
        self.emit(Instr::Let(r, then));
        self.emit(Instr::Jump(end));
        self.place_label(no);
        self.emit(Instr::Let(r, otherwise));
        self.place_label(end);
        Expr::Reg(r)
    }

    /// Returns the result of a function that is a number.
    fn computed(&mut self, math: Math, x: Expr, y: Expr, at: Width) -> Expr {
        let less = |a: &Expr, b: &Expr| Expr::float(FloatOp::Lt, a.clone(), b.clone(), at);
        let plus = |a: &Expr, v: f64| Expr::float(FloatOp::Add, a.clone(), Expr::Const(at.round(v)), at);
        match math {
            Math::Absolute | Math::CopySign => {
                let zero = Expr::Const(0);
                // The sign of a NaN that was computed is open.
                let nan = Expr::float(FloatOp::Div, zero.clone(), zero, at);
                let y = if math == Math::Absolute { Expr::Const(0) } else { y };
                self.chosen(is_nan(&x, at), nan, with_sign(x, y, at), at)
            }
            Math::Root => {
                let (negative, end) = (less(&x, &Expr::Const(0)), self.label());
                if negative != Expr::Const(0) {
                    self.leave_unless(negative, end);
                    self.set_errno("the square root");
                }
                self.place_label(end);
                Expr::convert(x, Conversion::Root(at))
            }
            Math::Truncate => self.truncated(&x, at),
            Math::Floor => {
                let whole = self.truncated(&x, at);
                self.chosen(less(&x, &whole), plus(&whole, -1.0), whole, at)
            }
            Math::Ceiling => {
                let whole = self.truncated(&x, at);
                self.chosen(less(&whole, &x), plus(&whole, 1.0), whole, at)
            }
            Math::Round => {
                let whole = self.truncated(&x, at);
                let rest = Expr::float(FloatOp::Sub, x, whole.clone(), at);
                let half = Expr::Const(at.round(0.5));
                let up = Expr::float(FloatOp::Le, half, rest.clone(), at);
                let down = Expr::float(FloatOp::Le, rest, Expr::Const(at.round(-0.5)), at);
                let below = self.chosen(down, plus(&whole, -1.0), whole.clone(), at);
                self.chosen(up, plus(&whole, 1.0), below, at)
            }
            Math::ToEven => {
                let shift = with_sign(Expr::Const(at.round(whole_from(at))), x.clone(), at);
                let sum = Expr::float(FloatOp::Add, x.clone(), shift.clone(), at);
                let even = with_sign(Expr::float(FloatOp::Sub, sum, shift, at), x.clone(), at);
                self.chosen(has_fraction(&x, at), even, x, at)
            }
            Math::Least | Math::Greatest => {
                let other = if math == Math::Least { less(&y, &x) } else { less(&x, &y) };
                let other = Expr::bin(BinOp::Or, other, is_nan(&x, at), INT);
                let zeros = self.one_of_zeros(&x, &y, at);
                let result = self.chosen(other, y, x, at);
                zeros.map_or(result.clone(), |(are, zero)| self.chosen(are, zero, result, at))
            }
            _ => x,
        }
    }

    /// Returns whether two numbers are zeros, and one of them: C does not say which of two zeros is
    /// less.
    fn one_of_zeros(&mut self, x: &Expr, y: &Expr, at: Width) -> Option<(Expr, Expr)> {
        let is_zero = |e: &Expr| Expr::float(FloatOp::Eq, e.clone(), Expr::Const(0), at);
        let are = Expr::bin(BinOp::And, is_zero(x), is_zero(y), INT);
        if are == Expr::Const(0) || x == y {
            return None;
        }
        let first = self.register(BOOL, None);
        self.emit_doubtful(first, Doubt::Value("the sign of the least or greatest of two zeros".into()));
        Some((are, self.chosen(Expr::Reg(first), x.clone(), y.clone(), at)))
    }

    /// Returns the whole part of a number.
    fn truncated(&mut self, x: &Expr, at: Width) -> Expr {
        let long = Int::new(8, true);
        let whole = Expr::convert(x.clone(), Conversion::ToInt(at, long));
        let whole = with_sign(Expr::convert(whole, Conversion::FromInt(long, at)), x.clone(), at);
        let whole = self.chosen(has_fraction(x, at), whole, x.clone(), at);
        self.kept(Value { expr: whole, ty: Ty::Float(at.bits().size) }).expr
    }
}

/// The bit of the sign.
fn sign(at: Width) -> i64 {
    at.round(-0.0)
}

/// `x` with the sign of `y`; both are numbers.
fn with_sign(x: Expr, y: Expr, at: Width) -> Expr {
    let bits = at.bits().plain();
    let number = Expr::bin(BinOp::And, x, Expr::Const(bits.wrap(!sign(at))), bits);
    match Expr::bin(BinOp::And, y, Expr::Const(sign(at)), bits) {
        Expr::Const(0) => number,
        sign => Expr::bin(BinOp::Or, number, sign, bits),
    }
}

/// The least number from which on all numbers are whole.
fn whole_from(at: Width) -> f64 {
    match at {
        Width::Single => 8_388_608.0,
        Width::Double => 4_503_599_627_370_496.0,
    }
}

/// Whether a number may have a fraction: not if it is large, or a NaN.
fn has_fraction(x: &Expr, at: Width) -> Expr {
    let bound = whole_from(at);
    let below = Expr::float(FloatOp::Lt, x.clone(), Expr::Const(at.round(bound)), at);
    let above = Expr::float(FloatOp::Lt, Expr::Const(at.round(-bound)), x.clone(), at);
    Expr::bin(BinOp::And, below, above, INT)
}

fn is_nan(x: &Expr, at: Width) -> Expr {
    Expr::float(FloatOp::Ne, x.clone(), x.clone(), at)
}

/// Returns the result of a function that tells something about numbers.
fn classified(math: Math, x: Expr, y: Expr, at: Width) -> Expr {
    let float = |op: FloatOp, a: &Expr, b: &Expr| Expr::float(op, a.clone(), b.clone(), at);
    let either = |a, b| Expr::bin(BinOp::Or, a, b, INT);
    let both = |a, b| Expr::bin(BinOp::And, a, b, INT);
    let constant = |v: f64| Expr::Const(at.round(v));
    let is = |v: f64| float(FloatOp::Eq, &x, &constant(v));
    let least = match at {
        Width::Single => f64::from(f32::MIN_POSITIVE),
        Width::Double => f64::MIN_POSITIVE,
    };
    match math {
        Math::IsInfinite => either(is(f64::INFINITY), is(f64::NEG_INFINITY)),
        Math::InfiniteSign => Expr::bin(BinOp::Sub, is(f64::INFINITY), is(f64::NEG_INFINITY), INT),
        Math::IsFinite => {
            let above = float(FloatOp::Lt, &constant(f64::NEG_INFINITY), &x);
            both(above, float(FloatOp::Lt, &x, &constant(f64::INFINITY)))
        }
        Math::IsNormal => {
            let above = float(FloatOp::Le, &constant(least), &x);
            let positive = both(above, float(FloatOp::Lt, &x, &constant(f64::INFINITY)));
            let below = float(FloatOp::Le, &x, &constant(-least));
            either(positive, both(below, float(FloatOp::Lt, &constant(f64::NEG_INFINITY), &x)))
        }
        Math::SignBit => {
            let bits = at.bits().plain();
            let last = i64::from(bits.size) * 8 - 1;
            Expr::cast(Expr::bin(BinOp::Shr, x, Expr::Const(last), bits), INT)
        }
        Math::Greater => float(FloatOp::Lt, &y, &x),
        Math::GreaterOrEqual => float(FloatOp::Le, &y, &x),
        Math::Less => float(FloatOp::Lt, &x, &y),
        Math::LessOrEqual => float(FloatOp::Le, &x, &y),
        Math::LessOrGreater => either(float(FloatOp::Lt, &x, &y), float(FloatOp::Lt, &y, &x)),
        Math::Unordered => either(is_nan(&x, at), is_nan(&y, at)),
        _ => is_nan(&x, at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(text: &str) -> f64 {
        f64::from_bits(hexadecimal(text, Width::Double).0 as u64)
    }

    #[test]
    fn hexadecimal_numbers_are_rounded() {
        assert_eq!(double("1p0"), 1.0);
        assert_eq!(double("1.8p1"), 3.0);
        assert_eq!(double(".1p4"), 1.0);
        assert_eq!(double("1p-1074"), f64::from_bits(1));
        assert_eq!(double("1p-1075"), 0.0);
        assert_eq!(double("1.8p-1075"), f64::from_bits(1));
        assert_eq!(double("1.fffffffffffffp1023"), f64::MAX);
        assert_eq!(double("1p1024"), f64::INFINITY);
        assert_eq!(double("1.fffffffffffff8p1023"), f64::INFINITY);
        assert_eq!(double("1.00000000000008p0"), 1.0, "a tie goes to the even number");
        assert_eq!(double("1.000000000000080000000000000001p0"), 1.0 + f64::EPSILON);
        assert_eq!(double("0.000000000000000000000000000000018p0"), 1.5 * 2f64.powi(-128));
        assert_eq!(double("10000000000000000000000000p-96"), 16.0);
        let single = |text| f32::from_bits(hexadecimal(text, Width::Single).0 as u32);
        assert_eq!(single("1.000001p0"), 1.0);
        assert_eq!(single("1.000003p0"), 1.0 + 2.0 * f32::EPSILON);
        assert_eq!(single("1p-149"), f32::from_bits(1));
    }

    #[test]
    fn decimal_numbers_are_rounded_once() {
        assert_eq!(decimal("0.1", Width::Single).0, i64::from(0.1f32.to_bits()));
        assert_eq!(decimal("1.", Width::Double).0, 1f64.to_bits() as i64);
        assert_eq!(decimal(".5e1", Width::Double).0, 5f64.to_bits() as i64);
        // Half way between two numbers, and a little more.
        assert_eq!(decimal("1.000000059604644775390625000000001", Width::Single).0, 0x3f80_0001);
    }

    #[test]
    fn constants_of_long_double_are_known_if_they_are_doubles() {
        let known = |text| decimal(text, Width::Double).1;
        assert!(known("1.0") && known("0.0") && known("3e10") && known("0.5"));
        assert!(known("1.79769313486231570814527423731704357e+308"));
        assert!(known("2.22507385850720138309023271733240406e-308"));
        assert!(known("4.94065645841246544176568792868221372e-324"));
        assert!(!known("0.1") && !known("3.3") && !known("1e400") && !known("1e-400"));
        assert!(!known("1.0000000000000000001"), "a number of 64 bits");
    }

    #[test]
    fn the_bytes_of_a_long_double_are_those_of_the_processor() {
        let bytes = |v: f64| extended(v.to_bits() as i64).map(|part| part.2 as u64);
        assert_eq!(bytes(1.0), [1 << 63, 0x3fff]);
        assert_eq!(bytes(-2.5), [0xa000_0000_0000_0000, 0xc000]);
        assert_eq!(bytes(0.0), [0, 0]);
        assert_eq!(bytes(f64::INFINITY), [1 << 63, 0x7fff]);
        assert_eq!(bytes(5e-324), [1 << 63, 0x3bcd]);
        assert_eq!(bytes(f64::MIN_POSITIVE), [1 << 63, 0x3c01]);
    }
}
