//! Floating-point numbers.

use super::arithmetic::{LONG, with_sign, without_sign};
use super::function::Writer;
use super::{Problem, Result};
use crate::layout::container;
use crate::syntax::tree::{Binary, Cast, Type, Typed, Value};
use throng_goto::program::{BOOL, BinOp, Conversion, Expr, FloatOp, Int, PTR, Width};

fn width(ty: &Type<'_>) -> Result<Width> {
    match ty {
        Type::Float => Ok(Width::Single),
        Type::Double => Ok(Width::Double),
        other => Err(Problem::unsupported(format!("the type {}", crate::syntax::name_of(other)))),
    }
}

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    pub(super) fn float_binary(
        &mut self,
        result: Option<&'t str>,
        how: Binary,
        ty: &Type<'t>,
        a: &Value<'t>,
        b: &Value<'t>,
    ) -> Result<()> {
        let op = match how {
            Binary::FAdd => FloatOp::Add,
            Binary::FSub => FloatOp::Sub,
            Binary::FMul => FloatOp::Mul,
            Binary::FDiv => FloatOp::Div,
            _ => return Err(Problem::unsupported("this operation on floating-point numbers")),
        };
        let at = width(ty)?;
        let (a, b) = (self.scalar(ty, a)?, self.scalar(ty, b)?);
        self.define(result, at.bits(), Expr::float(op, a, b, at));
        Ok(())
    }

    pub(super) fn negate(&mut self, result: Option<&'t str>, v: &Typed<'t>) -> Result<()> {
        let at = width(&v.0)?;
        let bits = at.bits().plain();
        let sign = if bits.size == 4 { 1 << 31 } else { i64::MIN };
        let e = self.typed(v)?;
        self.define(result, at.bits(), Expr::bin(BinOp::Xor, e, Expr::Const(sign), bits));
        Ok(())
    }

    pub(super) fn float_compare(
        &mut self,
        result: Option<&'t str>,
        how: &str,
        ty: &Type<'t>,
        a: &Value<'t>,
        b: &Value<'t>,
    ) -> Result<()> {
        let at = width(ty)?;
        let (a, b) = (self.scalar(ty, a)?, self.scalar(ty, b)?);
        let (a, b) = (self.keep(at.bits(), a), self.keep(at.bits(), b));
        let float = |op, x: &Expr, y: &Expr| Expr::float(op, x.clone(), y.clone(), at);
        let both = |op, x, y| Expr::bin(op, x, y, Int::new(1, false));
        let ordered = || both(BinOp::And, float(FloatOp::Eq, &a, &a), float(FloatOp::Eq, &b, &b));
        let e = match how {
            "false" => Expr::Const(0),
            "true" => Expr::Const(1),
            "oeq" => float(FloatOp::Eq, &a, &b),
            "une" => float(FloatOp::Ne, &a, &b),
            "olt" => float(FloatOp::Lt, &a, &b),
            "ole" => float(FloatOp::Le, &a, &b),
            "ogt" => float(FloatOp::Lt, &b, &a),
            "oge" => float(FloatOp::Le, &b, &a),
            "ord" => ordered(),
            "uno" => Expr::is_zero(ordered()),
            "one" => both(BinOp::And, float(FloatOp::Ne, &a, &b), ordered()),
            "ueq" => both(BinOp::Or, float(FloatOp::Eq, &a, &b), Expr::is_zero(ordered())),
            // Unordered or less: not greater or equal.
            "ult" => Expr::is_zero(float(FloatOp::Le, &b, &a)),
            "ule" => Expr::is_zero(float(FloatOp::Lt, &b, &a)),
            "ugt" => Expr::is_zero(float(FloatOp::Le, &a, &b)),
            "uge" => Expr::is_zero(float(FloatOp::Lt, &a, &b)),
            _ => return Err(Problem::unsupported(format!("the comparison `{how}`"))),
        };
        self.define(result, BOOL, e);
        Ok(())
    }

    pub(super) fn float_cast(
        &mut self,
        result: Option<&'t str>,
        how: Cast,
        from: &Typed<'t>,
        to: &Type<'t>,
    ) -> Result<()> {
        let bits = |ty: &Type<'t>| match ty {
            Type::Int(bits @ ..=64) => Ok(*bits),
            other => Err(Problem::unsupported(format!("a conversion of {}", crate::syntax::name_of(other)))),
        };
        let e = self.typed(from)?;
        let (at, e) = match how {
            Cast::FpTrunc | Cast::FpExt => {
                let (a, b) = (width(&from.0)?, width(to)?);
                (b.bits(), Expr::convert(e, Conversion::Resize(a, b)))
            }
            Cast::UiToFp => {
                bits(&from.0)?;
                let to = width(to)?;
                (to.bits(), Expr::convert(Expr::cast(e, PTR), Conversion::FromInt(PTR, to)))
            }
            Cast::SiToFp => {
                let to = width(to)?;
                let e = with_sign(e, bits(&from.0)?);
                (to.bits(), Expr::convert(e, Conversion::FromInt(LONG, to)))
            }
            // A number that does not fit is poison; the conversion has no value then.
            _ => {
                let n = bits(to)?;
                let whole = match (how, n) {
                    (Cast::FpToUi, 8 | 16 | 32 | 64) => container(n),
                    (_, 8 | 16 | 32 | 64) => Int { signed: true, ..container(n) },
                    _ => return Err(Problem::unsupported("a conversion to an integer of this size")),
                };
                let e = Expr::convert(e, Conversion::ToInt(width(&from.0)?, whole));
                (container(n), without_sign(e, n))
            }
        };
        self.define(result, at, e);
        Ok(())
    }
}
