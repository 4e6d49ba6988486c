//! Floating point as IEEE 754 has it: binary32 and binary64, rounded to nearest, ties to even.
//!
//! A number is its bits, in an unsigned value of 4 or 8 bytes. Operations are those of Rust, which
//! are exact in this sense and keep no extra precision (`FLT_EVAL_METHOD` 0).
//!
//! Only one thing is not laid down: the bits of a NaN that an operation computes. Compilers and
//! processors differ in its sign and its payload. So it has one bit pattern here that stands for
//! all of them ([`is_open_nan`]) and that numbers of programs do not have: floating point sees a
//! NaN, copies are copies, and an operator on integers that meets the pattern is
//! [`Undefined::NotANumber`] instead of being computed with bits that mean nothing.

use crate::program::{Int, Undefined};

/// A format of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// binary32, `float`.
    Single,
    /// binary64, `double`.
    Double,
}

/// A NaN that an operation computed, of 4 bytes. All bytes of it are different.
const OPEN_NAN_32: i64 = 0x7fe5_93b1;
/// The same of 8 bytes.
const OPEN_NAN_64: i64 = 0x7ffd_a3c5_91e6_2b47;

impl Width {
    /// The type of the bits of a number.
    pub const fn bits(self) -> Int {
        let size = match self {
            Width::Single => 4,
            Width::Double => 8,
        };
        Int { float: true, ..Int::new(size, false) }
    }

    /// Returns the format of the numbers whose bits have this type.
    pub fn of(bits: Int) -> Option<Width> {
        [Width::Single, Width::Double].into_iter().find(|at| at.bits() == bits)
    }

    /// A number as people read it: the shortest one that rounds to it.
    pub fn show(self, bits: i64) -> String {
        match self {
            _ if self.number(bits).is_nan() => "nan".into(),
            Width::Single => format!("{:?}", f32::from_bits(bits as u32)),
            Width::Double => format!("{:?}", f64::from_bits(bits as u64)),
        }
    }

    /// What C calls it.
    pub fn name(self) -> &'static str {
        match self {
            Width::Single => "float",
            Width::Double => "double",
        }
    }

    /// The number that bits are.
    fn number(self, bits: i64) -> f64 {
        match self {
            Width::Single => f64::from(f32::from_bits(bits as u32)),
            Width::Double => f64::from_bits(bits as u64),
        }
    }

    /// The bits of a number, rounded.
    pub fn round(self, number: f64) -> i64 {
        match self {
            _ if number.is_nan() => self.open_nan(),
            Width::Single => i64::from((number as f32).to_bits()),
            Width::Double => number.to_bits() as i64,
        }
    }

    fn open_nan(self) -> i64 {
        match self {
            Width::Single => OPEN_NAN_32,
            Width::Double => OPEN_NAN_64,
        }
    }
}

/// Operators on two numbers of one format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Eq,
    Ne,
    Lt,
    Le,
}

impl FloatOp {
    /// How it is written in C.
    pub fn symbol(self) -> &'static str {
        match self {
            FloatOp::Add => "+",
            FloatOp::Sub => "-",
            FloatOp::Mul => "*",
            FloatOp::Div => "/",
            FloatOp::Eq => "==",
            FloatOp::Ne => "!=",
            FloatOp::Lt => "<",
            FloatOp::Le => "<=",
        }
    }

    /// Returns whether the result is 0 or 1.
    pub fn compares(self) -> bool {
        matches!(self, FloatOp::Eq | FloatOp::Ne | FloatOp::Lt | FloatOp::Le)
    }

    /// The type of the result of an operation on numbers of a format.
    pub fn result(self, at: Width) -> Int {
        if self.compares() { TRUTH } else { at.bits() }
    }

    /// The value of an operation on two numbers.
    pub fn apply(self, a: i64, b: i64, at: Width) -> i64 {
        let (x, y) = (at.number(a), at.number(b));
        match self {
            FloatOp::Eq => i64::from(x == y),
            FloatOp::Ne => i64::from(x != y),
            FloatOp::Lt => i64::from(x < y),
            FloatOp::Le => i64::from(x <= y),
            _ => match at {
                Width::Single => at.round(f64::from(self.single(x as f32, y as f32))),
                Width::Double => at.round(self.double(x, y)),
            },
        }
    }

    /// In the precision of `float`: rounded once.
    fn single(self, x: f32, y: f32) -> f32 {
        match self {
            FloatOp::Add => x + y,
            FloatOp::Sub => x - y,
            FloatOp::Mul => x * y,
            _ => x / y,
        }
    }

    fn double(self, x: f64, y: f64) -> f64 {
        match self {
            FloatOp::Add => x + y,
            FloatOp::Sub => x - y,
            FloatOp::Mul => x * y,
            _ => x / y,
        }
    }
}

const TRUTH: Int = Int { truth: true, ..Int::new(1, false) };

/// A change of format, or another operation on one number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Conversion {
    /// An integer becomes a number, rounded.
    FromInt(Int, Width),
    /// A number becomes an integer: towards zero, or whether it is not 0 for `_Bool`.
    ToInt(Width, Int),
    /// A number becomes one of another format, rounded.
    Resize(Width, Width),
    /// The square root of a number, rounded.
    Root(Width),
}

impl Conversion {
    /// The type of the result.
    pub fn result(self) -> Int {
        match self {
            Conversion::FromInt(_, to) | Conversion::Resize(_, to) | Conversion::Root(to) => to.bits(),
            Conversion::ToInt(_, to) => to,
        }
    }

    /// How it is written in goto programs.
    pub fn name(self) -> String {
        match self {
            Conversion::FromInt(from, to) => format!("{} from {}", to.name(), from.name()),
            Conversion::ToInt(from, to) => format!("{} from {}", to.name(), from.name()),
            Conversion::Resize(from, to) => format!("{} from {}", to.name(), from.name()),
            Conversion::Root(at) => format!("root of {}", at.name()),
        }
    }

    /// The value; `Err`: C leaves it open, because the integer does not fit.
    pub fn apply(self, v: i64) -> Result<i64, Undefined> {
        Ok(match self {
            Conversion::FromInt(..) if is_open_nan(v) => return Err(Undefined::NotANumber),
            Conversion::FromInt(from, to) => from_int(v, from, to),
            Conversion::ToInt(from, to) => to_int(from.number(v), to).ok_or(Undefined::Conversion)?,
            Conversion::Resize(from, to) => to.round(from.number(v)),
            Conversion::Root(Width::Single) => {
                Width::Single.round(f64::from(f32::from_bits(v as u32).sqrt()))
            }
            Conversion::Root(Width::Double) => Width::Double.round(f64::from_bits(v as u64).sqrt()),
        })
    }
}

/// Rounded once, also where 64 bits become a `float`.
fn from_int(v: i64, from: Int, to: Width) -> i64 {
    let unsigned = from.size == 8 && !from.signed;
    match to {
        Width::Single => {
            let number = if unsigned { v as u64 as f32 } else { v as f32 };
            i64::from(number.to_bits())
        }
        Width::Double => {
            let number = if unsigned { v as u64 as f64 } else { v as f64 };
            number.to_bits() as i64
        }
    }
}

/// Returns the whole part of a number, if it is one of the type.
fn to_int(number: f64, to: Int) -> Option<i64> {
    if to.truth {
        return Some(i64::from(number != 0.0));
    }
    let bits = i32::from(to.size) * 8;
    let (least, beyond) = match to.signed {
        true => (-2f64.powi(bits - 1), 2f64.powi(bits - 1)),
        false => (0.0, 2f64.powi(bits)),
    };
    let whole = number.trunc();
    let fits = whole >= least && whole < beyond;
    fits.then_some(if to.signed { whole as i64 } else { whole as u64 as i64 })
}

/// Returns whether the bits of a NaN that an operation computed are a value, or a half of it: as a
/// NaN it is exact, and as an integer it means nothing.
pub fn is_open_nan(v: i64) -> bool {
    let (low, high) = (v & 0xffff_ffff, v >> 32);
    v == OPEN_NAN_64 || low == OPEN_NAN_32 || high == OPEN_NAN_32
}

/// Returns whether only a part of the bits of such a NaN is kept where a value becomes one of this
/// type.
pub fn truncates_open_nan(v: i64, to: Int) -> bool {
    !to.truth && (v == OPEN_NAN_64 && to.size < 8 || v == OPEN_NAN_32 && to.size < 4)
}

/// Returns whether an access of `size` bytes at `at` is to a part of such a NaN.
pub fn cuts_open_nan(bytes: &[u16], at: usize, size: usize) -> bool {
    let last = at + size - 1;
    [(OPEN_NAN_32, 4), (OPEN_NAN_64, 8)].into_iter().any(|(nan, width)| {
        let pattern = nan.to_le_bytes();
        let pattern = &pattern[..width];
        // The bytes are all different, so that each says where the number would begin.
        let within = |at: usize| pattern.iter().position(|&b| bytes.get(at) == Some(&u16::from(b)));
        let is_there = |from: Option<usize>| {
            let all = from.and_then(|from| bytes.get(from..from + width));
            all.is_some_and(|all| all.iter().zip(pattern).all(|(&b, &p)| b == u16::from(p)))
        };
        let before = within(at).filter(|&n| n > 0);
        let behind = within(last).filter(|&n| n + 1 < width);
        before.is_some_and(|n| is_there(at.checked_sub(n)))
            || behind.is_some_and(|n| is_there(last.checked_sub(n)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{BinOp, Expr, INT, Leaf};

    fn double(v: f64) -> i64 {
        v.to_bits() as i64
    }

    fn single(v: f32) -> i64 {
        i64::from(v.to_bits())
    }

    fn eval(e: &Expr, registers: &[i64]) -> Result<i64, Undefined> {
        let leaf = |of: Leaf| match of {
            Leaf::Register(r) => Ok(registers[r as usize]),
            Leaf::SelfId | Leaf::Local(_) => Ok(0),
        };
        e.value(&leaf, &|| ())
    }

    #[test]
    fn operations_round_to_the_nearest_even_number() {
        let sum = |a, b| FloatOp::Add.apply(double(a), double(b), Width::Double);
        assert_eq!(sum(0.1, 0.2), 0x3fd3_3333_3333_3334);
        assert_eq!(sum(9_007_199_254_740_992.0, 1.0), double(9_007_199_254_740_992.0));
        assert_eq!(sum(9_007_199_254_740_994.0, 1.0), double(9_007_199_254_740_996.0));
        let third = FloatOp::Div.apply(single(1.0), single(3.0), Width::Single);
        assert_eq!(third, 0x3eaa_aaab);
        let tiny = FloatOp::Mul.apply(1, double(0.5), Width::Double);
        assert_eq!(tiny, 0, "half of the least number is as far from 0");
        let huge = FloatOp::Mul.apply(single(f32::MAX), single(2.0), Width::Single);
        assert_eq!(huge, single(f32::INFINITY));
        assert_eq!(FloatOp::Sub.apply(double(-0.0), double(0.0), Width::Double), double(-0.0));
    }

    /// How a front end writes `-x`.
    #[test]
    fn a_number_is_negated_by_subtracting_it_from_minus_zero() {
        let numbers = [0.0, 1.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY];
        for x in numbers.into_iter().flat_map(|x| [x, -x]) {
            assert_eq!(FloatOp::Sub.apply(double(-0.0), double(x), Width::Double), double(-x));
        }
    }

    #[test]
    fn a_nan_is_unordered_and_zeros_are_equal() {
        let nan = double(f64::NAN);
        for (op, expected) in [(FloatOp::Eq, 0), (FloatOp::Ne, 1), (FloatOp::Lt, 0), (FloatOp::Le, 0)] {
            for (a, b) in [(nan, nan), (nan, double(1.0)), (double(1.0), nan)] {
                assert_eq!(op.apply(a, b, Width::Double), expected);
            }
        }
        assert_eq!(FloatOp::Eq.apply(double(-0.0), double(0.0), Width::Double), 1);
        assert_eq!(FloatOp::Lt.apply(double(-0.0), double(0.0), Width::Double), 0);
        assert_eq!(FloatOp::Lt.apply(double(-1.0), double(0.0), Width::Double), 1);
    }

    #[test]
    fn integers_become_numbers_rounded_once() {
        let (signed, unsigned) = (Int::new(8, true), Int::new(8, false));
        let convert = |v, from, to| Conversion::FromInt(from, to).apply(v);
        assert_eq!(convert(-1, signed, Width::Double), Ok(double(-1.0)));
        assert_eq!(convert(-1, unsigned, Width::Double), Ok(double(18_446_744_073_709_551_616.0)));
        // By way of `double` it would be a tie.
        let above = (1 << 60) + (1 << 36) + 1;
        assert_eq!(convert(above, signed, Width::Single), Ok(0x5d80_0001));
        assert_eq!(convert(1 << 60 | 1 << 36, signed, Width::Single), Ok(0x5d80_0000));
        let narrow = |v| Conversion::Resize(Width::Double, Width::Single).apply(double(v));
        assert_eq!(narrow(0.1), Ok(0x3dcc_cccd));
        assert_eq!(narrow(1e300), Ok(single(f32::INFINITY)));
        let wide = Conversion::Resize(Width::Single, Width::Double).apply(0x3dcc_cccd);
        assert_eq!(wide, Ok(0x3fb9_9999_a000_0000));
    }

    #[test]
    fn a_number_becomes_an_integer_only_if_it_fits() {
        let to = |v, to| Conversion::ToInt(Width::Double, to).apply(double(v)).ok();
        let byte = Int::new(1, false);
        assert_eq!(
            [to(255.9, byte), to(256.0, byte), to(-0.9, byte), to(-1.0, byte)],
            [Some(255), None, Some(0), None]
        );
        assert_eq!([to(2147483647.9, INT), to(2147483648.0, INT)], [Some(2147483647), None]);
        assert_eq!([to(-2147483648.9, INT), to(-2147483649.0, INT)], [Some(-2147483648), None]);
        let (long, unsigned) = (Int::new(8, true), Int::new(8, false));
        assert_eq!([to(-2f64.powi(63), long), to(2f64.powi(63), long)], [Some(i64::MIN), None]);
        assert_eq!([to(2f64.powi(63), unsigned), to(2f64.powi(64), unsigned)], [Some(i64::MIN), None]);
        assert_eq!([to(f64::NAN, long), to(f64::INFINITY, long)], [None, None]);
        let truth = Int { truth: true, ..byte };
        assert_eq!([to(f64::NAN, truth), to(0.5, truth), to(-0.0, truth)], [Some(1), Some(1), Some(0)]);
    }

    #[test]
    fn roots_are_rounded_once() {
        let root = |v: f64| Conversion::Root(Width::Double).apply(double(v));
        assert_eq!(root(2.0), Ok(0x3ff6_a09e_667f_3bcd));
        assert_eq!(root(-0.0), Ok(double(-0.0)));
        assert_eq!(Conversion::Root(Width::Single).apply(single(2.0)), Ok(0x3fb5_04f3));
        assert!(root(-1.0).is_ok_and(is_open_nan));
    }

    #[test]
    fn numbers_are_shown_and_not_their_bits() {
        let (f, d) = (Width::Single.bits(), Width::Double.bits());
        assert_eq!([f.show(single(0.1)), d.show(double(0.1)), d.show(double(-0.0))], ["0.1", "0.1", "-0.0"]);
        assert_eq!([d.show(OPEN_NAN_64), d.show(double(f64::INFINITY))], ["nan", "inf"]);
        assert_eq!(d.plain().show(double(1.0)), double(1.0).to_string());
        assert_eq!(
            [Width::of(f), Width::of(d), Width::of(d.plain())],
            [Some(Width::Single), Some(Width::Double), None]
        );
    }

    /// As where a function stands in place of a call, whose arguments are constants.
    #[test]
    fn operands_are_replaced() {
        let one = |e: &Expr| matches!(e, Expr::Reg(_)).then_some(Expr::Const(double(1.0)));
        let add = |a, b| Expr::Float(FloatOp::Add, Box::new(a), Box::new(b), Width::Double);
        assert_eq!(add(Expr::Reg(0), Expr::Reg(1)).replaced(&one), Expr::Const(double(2.0)));
        let int = Expr::Convert(Box::new(Expr::Reg(0)), Conversion::ToInt(Width::Double, INT));
        assert_eq!(int.replaced(&one), Expr::Const(1));
        let other = |e: &Expr| matches!(e, Expr::Reg(0)).then_some(Expr::Reg(7));
        assert_eq!(add(Expr::Reg(0), Expr::Reg(1)).replaced(&other), add(Expr::Reg(7), Expr::Reg(1)));
    }

    #[test]
    fn constants_are_folded_unless_bits_would_be_made_up() {
        let (zero, one) = (Expr::Const(0), Expr::Const(double(1.0)));
        let divide = |a: &Expr, b: &Expr| Expr::float(FloatOp::Div, a.clone(), b.clone(), Width::Double);
        assert_eq!(divide(&one, &zero), Expr::Const(double(f64::INFINITY)));
        let nan = divide(&zero, &zero);
        assert!(matches!(nan, Expr::Float(..)));
        let int = Conversion::ToInt(Width::Double, INT);
        assert_eq!(Expr::convert(Expr::Const(double(-7.9)), int), Expr::Const(-7));
        assert!(matches!(Expr::convert(Expr::Const(double(1e10)), int), Expr::Convert(..)));
    }

    #[test]
    fn the_bits_of_a_computed_nan_are_not_a_number() {
        for at in [Width::Single, Width::Double] {
            let nan = Expr::float(FloatOp::Div, Expr::Const(0), Expr::Const(0), at);
            let v = eval(&nan, &[]).unwrap();
            let unequal = Expr::float(FloatOp::Ne, nan.clone(), nan.clone(), at);
            assert_eq!(eval(&unequal, &[]), Ok(1));
            // What a program writes as the bits of a NaN is exact.
            let written = if at == Width::Single { 0x7fc0_0000 } else { double(f64::NAN) };
            let sign = |e| Expr::Bin(BinOp::Shr, Box::new(e), Box::new(Expr::Const(31)), at.bits());
            assert_eq!(eval(&sign(Expr::Reg(0)), &[written]).map(|v| v & 1), Ok(written >> 31 & 1));
            assert_eq!(eval(&sign(Expr::Reg(0)), &[v]), Err(Undefined::NotANumber));
            let low = Expr::Cast(Box::new(nan), Int::new(2, false));
            assert_eq!(eval(&low, &[]), Err(Undefined::NotANumber));
            assert_eq!(Expr::bin(BinOp::And, Expr::Const(v), Expr::Const(1), at.bits()), {
                Expr::Bin(BinOp::And, Box::new(Expr::Const(v)), Box::new(Expr::Const(1)), at.bits())
            });
        }
    }

    #[test]
    fn accesses_to_a_part_of_a_computed_nan_are_found() {
        for (nan, width) in [(OPEN_NAN_32, 4), (OPEN_NAN_64, 8)] {
            let mut bytes = vec![7u16; 24];
            for (k, b) in nan.to_le_bytes()[..width].iter().enumerate() {
                bytes[8 + k] = u16::from(*b);
            }
            for size in [1, 2, 4, 8] {
                for at in 0..=24 - size {
                    let (meets, whole) = (at < 8 + width && at + size > 8, at <= 8 && at + size >= 8 + width);
                    assert_eq!(cuts_open_nan(&bytes, at, size), meets && !whole, "{size} bytes at {at}");
                }
            }
            bytes[8] = 7;
            assert!(!cuts_open_nan(&bytes, 10, 1), "an ordinary byte");
        }
    }
}
