//! Expressions made smaller. The graph is built with these rules, so they are trusted.

use throng_goto::program::{BinOp, Expr, INT, Int, PTR};

/// The type whose values an expression can have; `None` for constants, which have whatever type
/// fits.
pub fn type_of(e: &Expr, types: &dyn Fn(u32) -> Int) -> Option<Int> {
    match e {
        Expr::Const(_) => None,
        Expr::Reg(r) => Some(types(*r)),
        Expr::Cast(_, to) => Some(*to),
        Expr::Bin(op, ..) if op.compares() => Some(Int { truth: true, ..Int::new(1, false) }),
        Expr::Bin(BinOp::And | BinOp::Or | BinOp::Xor, a, b, at) => {
            (fits(a, *at, types) && fits(b, *at, types)).then_some(*at).or(Some(Int::new(8, true)))
        }
        Expr::Bin(BinOp::Shr, a, _, at) => fits(a, *at, types).then_some(*at).or(Some(Int::new(8, true))),
        Expr::Bin(.., at) => Some(*at),
        Expr::SelfId => Some(INT),
        Expr::Local(_) => Some(PTR),
        Expr::Float(op, .., at) => Some(op.result(*at)),
        Expr::Convert(_, conversion) => Some(conversion.result()),
    }
}

/// Returns whether every value of an expression is one of the type.
pub fn fits(e: &Expr, to: Int, types: &dyn Fn(u32) -> Int) -> bool {
    if let Expr::Const(v) = e {
        return to.wrap(*v) == *v;
    }
    let Some(from) = type_of(e, types) else { return false };
    let (size, wide) = (from.size, to.size);
    match () {
        () if from.truth => true,
        () if to.truth => false,
        // 64 bits hold every number, read with or without a sign.
        () if wide == 8 => true,
        () if from.signed == to.signed => size <= wide,
        () => !from.signed && size < wide,
    }
}

/// The expression with variables replaced.
pub fn substitute(e: &Expr, with: &dyn Fn(u32) -> Option<Expr>, types: &dyn Fn(u32) -> Int) -> Expr {
    match e {
        Expr::Reg(r) => with(*r).unwrap_or(Expr::Reg(*r)),
        Expr::Cast(e, to) => cast(substitute(e, with, types), *to, types),
        Expr::Bin(op, a, b, at) => {
            binary(*op, substitute(a, with, types), substitute(b, with, types), *at, types)
        }
        Expr::Float(op, a, b, at) => {
            Expr::float(*op, substitute(a, with, types), substitute(b, with, types), *at)
        }
        Expr::Convert(e, conversion) => Expr::convert(substitute(e, with, types), *conversion),
        Expr::Const(_) | Expr::SelfId | Expr::Local(_) => e.clone(),
    }
}

/// A conversion, left out where it changes nothing.
pub fn cast(e: Expr, to: Int, types: &dyn Fn(u32) -> Int) -> Expr {
    match e {
        Expr::Const(v) => Expr::Const(to.wrap(v)),
        e if fits(&e, to, types) && !(to.size == 8 && to.truth) => e,
        e => Expr::Cast(Box::new(e), to),
    }
}

/// An operator, computed or rewritten where that makes it smaller.
pub fn binary(op: BinOp, a: Expr, b: Expr, at: Int, types: &dyn Fn(u32) -> Int) -> Expr {
    if let (Expr::Const(x), Expr::Const(y)) = (&a, &b)
        && let Some(v) = op.apply(*x, *y, at)
    {
        return Expr::Const(v);
    }
    match (op, a, b) {
        (BinOp::Add, a, Expr::Const(0))
        | (BinOp::Add, Expr::Const(0), a)
        | (BinOp::Sub, a, Expr::Const(0))
            if fits(&a, at, types) =>
        {
            a
        }
        // Sums have their constant last, and there is one.
        (BinOp::Add, a @ Expr::Const(_), b) => binary(op, b, a, at, types),
        (BinOp::Sub, a, Expr::Const(c)) => {
            binary(BinOp::Add, a, Expr::Const(at.wrap(c.wrapping_neg())), at, types)
        }
        (BinOp::Add, Expr::Bin(BinOp::Add, x, c, inner), Expr::Const(d)) if inner == at => match *c {
            Expr::Const(c) => binary(BinOp::Add, *x, Expr::Const(at.wrap(c.wrapping_add(d))), at, types),
            c => Expr::Bin(
                op,
                Box::new(Expr::Bin(BinOp::Add, x, Box::new(c), inner)),
                Box::new(Expr::Const(d)),
                at,
            ),
        },
        (BinOp::Sub, a, b) if a == b => Expr::Const(0),
        (BinOp::Eq, a, b) if a == b => Expr::Const(1),
        (BinOp::Ne | BinOp::Lt, a, b) if a == b => Expr::Const(0),
        (BinOp::Le, a, b) if a == b => Expr::Const(1),
        (BinOp::Eq | BinOp::Ne, a, b) => equality(op, a, b, at, types),
        (BinOp::Lt | BinOp::Le, a, b) => order(op, a, b, at, types),
        (op, a, b) => Expr::Bin(op, Box::new(a), Box::new(b), at),
    }
}

/// `x + 1 == 5` is `x == 4`, also where sums wrap around; `(x == y) != 0` is `x == y`.
fn equality(op: BinOp, a: Expr, b: Expr, at: Int, types: &dyn Fn(u32) -> Int) -> Expr {
    let (a, b) = match (a, b) {
        (a @ Expr::Const(_), b) => (b, a),
        other => other,
    };
    match (&a, &b) {
        (Expr::Bin(inner, ..), Expr::Const(v)) if inner.compares() => match v {
            0 | 1 => return if (*v == 1) == (op == BinOp::Eq) { a } else { negate(a) },
            _ => return Expr::Const(i64::from(op == BinOp::Ne)),
        },
        (_, Expr::Const(v)) if type_of(&a, types).is_some_and(|t| t.wrap(*v) != *v) => {
            return Expr::Const(i64::from(op == BinOp::Ne));
        }
        (Expr::Bin(BinOp::Add, x, c, sum), Expr::Const(d)) if fits(x, *sum, types) => {
            if let Expr::Const(c) = **c {
                let rest = Expr::Const(sum.wrap(d.wrapping_sub(c)));
                return binary(op, (**x).clone(), rest, at, types);
            }
        }
        (Expr::Bin(BinOp::Add, x, c, s), Expr::Bin(BinOp::Add, y, d, t))
            if s == t && fits(x, *s, types) && fits(y, *t, types) =>
        {
            if let (Expr::Const(c), Expr::Const(d)) = (&**c, &**d) {
                let more = Expr::Const(s.wrap(d.wrapping_sub(*c)));
                let right = binary(BinOp::Add, (**y).clone(), more, *s, types);
                return Expr::Bin(op, x.clone(), Box::new(right), at);
            }
        }
        (Expr::Bin(BinOp::Mul, ..), Expr::Const(v)) => {
            if let Some((x, factor)) = multiple(&a, types) {
                return match v % factor {
                    0 => binary(op, x, Expr::Const(v / factor), at, types),
                    _ => Expr::Const(i64::from(op == BinOp::Ne)),
                };
            }
        }
        (Expr::Bin(BinOp::Sub, x, y, s), Expr::Const(0)) if fits(x, *s, types) && fits(y, *s, types) => {
            return binary(op, (**x).clone(), (**y).clone(), at, types);
        }
        _ => {}
    }
    Expr::Bin(op, Box::new(a), Box::new(b), at)
}

/// `8 < x * 4` is `2 < x` where the product cannot wrap around.
fn order(op: BinOp, a: Expr, b: Expr, at: Int, types: &dyn Fn(u32) -> Int) -> Expr {
    let rounded =
        |v: i64, factor: i64, up: bool| v.div_euclid(factor) + i64::from(up && v.rem_euclid(factor) != 0);
    match (&a, &b) {
        // With or without sign: a negative number is large without one, and so is its multiple.
        (Expr::Const(v), b) if at.size == 8 && (at.signed || *v >= 0) => {
            if let Some((x, factor)) = multiple(b, types) {
                return binary(op, Expr::Const(rounded(*v, factor, op == BinOp::Le)), x, at, types);
            }
        }
        (a, Expr::Const(v)) if at.size == 8 && (at.signed || *v >= 0) => {
            if let Some((x, factor)) = multiple(a, types) {
                return binary(op, x, Expr::Const(rounded(*v, factor, op == BinOp::Lt)), at, types);
            }
        }
        _ => {}
    }
    Expr::Bin(op, Box::new(a), Box::new(b), at)
}

/// An expression that is a multiple of another of at most 32 bits by a positive constant, computed
/// with 64 bits: it does not wrap around.
fn multiple(e: &Expr, types: &dyn Fn(u32) -> Int) -> Option<(Expr, i64)> {
    let Expr::Bin(BinOp::Mul, x, c, at) = e else { return None };
    let Expr::Const(factor) = **c else { return None };
    let small = type_of(x, types).is_some_and(|t| t.truth || t.size <= 4);
    (small && at.size == 8 && !at.truth && (1..1 << 31).contains(&factor)).then(|| ((**x).clone(), factor))
}

/// What holds where a comparison does not.
pub fn negate(e: Expr) -> Expr {
    match e {
        Expr::Const(v) => Expr::Const(i64::from(v == 0)),
        Expr::Bin(BinOp::Eq, a, b, at) => Expr::Bin(BinOp::Ne, a, b, at),
        Expr::Bin(BinOp::Ne, a, b, at) => Expr::Bin(BinOp::Eq, a, b, at),
        Expr::Bin(BinOp::Lt, a, b, at) => Expr::Bin(BinOp::Le, b, a, at),
        Expr::Bin(BinOp::Le, a, b, at) => Expr::Bin(BinOp::Lt, b, a, at),
        e => Expr::Bin(BinOp::Eq, Box::new(e), Box::new(Expr::Const(0)), Int::new(8, true)),
    }
}

/// The number of operators and operands.
pub fn size(e: &Expr) -> usize {
    match e {
        Expr::Cast(e, _) | Expr::Convert(e, _) => 1 + size(e),
        Expr::Bin(_, a, b, _) | Expr::Float(_, a, b, _) => 1 + size(a) + size(b),
        Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => 1,
    }
}

/// Calls `f` on what must not be 0, and on shifts with what must be less: operands for which C
/// leaves the result open.
pub fn partial(e: &Expr, f: &mut dyn FnMut(&Expr, Option<u8>)) {
    match e {
        Expr::Cast(e, _) | Expr::Convert(e, _) => partial(e, f),
        Expr::Float(_, a, b, _) => {
            partial(a, f);
            partial(b, f);
        }
        Expr::Bin(op, a, b, at) => {
            partial(a, f);
            partial(b, f);
            match (op, &**b) {
                (BinOp::Div | BinOp::Rem, Expr::Const(v)) if *v != 0 => {}
                (BinOp::Div | BinOp::Rem, b) => f(b, None),
                (BinOp::Shl | BinOp::Shr, Expr::Const(v)) if (0..i64::from(at.size) * 8).contains(v) => {}
                (BinOp::Shl | BinOp::Shr, b) => f(b, Some(at.size * 8)),
                _ => {}
            }
        }
        Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => {}
    }
}

/// The expression with any values, from `fresh` by their type, in place of floating-point numbers
/// that are computed. Encoders know integers only, and a value that may be any includes the right
/// one: also that of a conversion to an integer that it does not fit into, which C says is some
/// value (annex F.4), and that of each use of the bits of a NaN. Operands are handed to `operand`,
/// because they have to be defined all the same.
pub fn opaque(e: Expr, fresh: &mut dyn FnMut(Int) -> Expr, operand: &mut dyn FnMut(Expr)) -> Expr {
    match e {
        Expr::Float(op, a, b, at) => {
            for e in [a, b] {
                let e = opaque(*e, fresh, operand);
                operand(e);
            }
            fresh(op.result(at))
        }
        Expr::Convert(e, conversion) => {
            let e = opaque(*e, fresh, operand);
            operand(e);
            fresh(conversion.result())
        }
        Expr::Cast(e, to) => Expr::Cast(Box::new(opaque(*e, fresh, operand)), to),
        Expr::Bin(op, a, b, at) => {
            let (a, b) = (opaque(*a, fresh, operand), opaque(*b, fresh, operand));
            Expr::Bin(op, Box::new(a), Box::new(b), at)
        }
        Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => e,
    }
}

/// Returns whether a floating-point number is computed in it.
pub fn is_opaque(e: &Expr) -> bool {
    match e {
        Expr::Float(..) | Expr::Convert(..) => true,
        Expr::Cast(e, _) => is_opaque(e),
        Expr::Bin(_, a, b, _) => is_opaque(a) || is_opaque(b),
        Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => false,
    }
}

/// Returns whether it has a value for all values of its variables.
pub fn is_total(e: &Expr) -> bool {
    let mut total = true;
    partial(e, &mut |_, _| total = false);
    total
}
