//! Expressions of C as circuits. A value is as many bits as its type needs, and how it continues
//! above them.

use batsat::Lit;
use rustc_hash::FxHashMap;
use throng_goto::program::{BinOp, Expr, Int, Leaf, Undefined};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::sat::Sat;

/// A number: its lower bits; the upper ones repeat the last bit if it is signed, and are 0
/// otherwise.
#[derive(Clone)]
struct Value {
    bits: Vec<Lit>,
    signed: bool,
}

/// Types of variables, by number.
pub type Types<'a> = dyn Fn(u32) -> Int + 'a;

/// Encodes expressions into a solver.
pub struct Encoder<'a> {
    /// The solver.
    pub sat: Sat,
    types: &'a Types<'a>,
    variables: FxHashMap<u32, Value>,
    known: FxHashMap<Expr, Value>,
}

impl<'a> Encoder<'a> {
    /// Knows nothing yet.
    pub fn new(limits: &Limits, types: &'a Types<'a>) -> Encoder<'a> {
        Encoder { sat: Sat::new(limits), types, variables: FxHashMap::default(), known: FxHashMap::default() }
    }

    /// A literal that says whether an expression is not 0.
    pub fn truth(&mut self, e: &Expr) -> Lit {
        let value = self.value(e);
        let no = self.sat.constant(false);
        value.bits.iter().fold(no, |some, &bit| self.sat.or(some, bit))
    }

    /// Says that a variable, which did not occur yet, has the value of an expression.
    pub fn define(&mut self, variable: u32, e: &Expr) {
        let value = self.value(e);
        self.variables.insert(variable, value);
    }

    /// Returns whether the assumptions can hold together.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Result<bool, Unknown> {
        self.sat.solve(assumptions)
    }

    /// Of labelled assumptions that [`Encoder::solve`] has just found to contradict each other,
    /// labels of some that still do, none of which can be left out.
    pub fn minimal_core<T: Copy>(&mut self, assumed: &[(Lit, T)]) -> Result<Vec<T>, Unknown> {
        let core = self.sat.core();
        let mut kept: Vec<(Lit, T)> = assumed.iter().copied().filter(|l| core.contains(&l.0)).collect();
        let mut k = 0;
        while k < kept.len() {
            let mut rest = kept.clone();
            rest.remove(k);
            if self.solve(&rest.iter().map(|l| l.0).collect::<Vec<Lit>>())? {
                k += 1;
            } else {
                // What was found to be needed is in every such core.
                let core = self.sat.core();
                kept = rest;
                kept.retain(|l| core.contains(&l.0));
            }
        }
        Ok(kept.into_iter().map(|l| l.1).collect())
    }

    /// The values of the variables that occurred, in the model that was found last.
    pub fn model(&self) -> FxHashMap<u32, i64> {
        let number = |v: &Value| {
            let bit = |i: usize| {
                let at = v.bits.get(i).or(v.bits.last().filter(|_| v.signed));
                i64::from(at.is_some_and(|&l| self.sat.holds(l)))
            };
            (0..64).fold(0i64, |n, i| n | bit(i) << i)
        };
        self.variables.iter().map(|(&id, v)| (id, number(v))).collect()
    }

    fn constant(&self, v: i64) -> Value {
        let length = 64 - if v < 0 { v.leading_ones() } else { v.leading_zeros() } + u32::from(v < 0);
        let bits = (0..length.max(1)).map(|i| self.sat.constant(v >> i & 1 == 1)).collect();
        Value { bits, signed: v < 0 }
    }

    fn value(&mut self, e: &Expr) -> Value {
        match e {
            Expr::Const(v) => return self.constant(*v),
            Expr::Reg(id) => return self.variable(*id),
            _ => {}
        }
        if let Some(v) = self.known.get(e) {
            return v.clone();
        }
        let v = match e {
            Expr::Cast(e, to) => {
                let v = self.value(e);
                self.cast(v, *to)
            }
            Expr::Bin(op, a, b, at) => {
                let (a, b) = (self.value(a), self.value(b));
                self.binary(*op, &a, &b, *at)
            }
            // Any value, and another one each time.
            Expr::Float(op, .., at) => return self.any(op.result(*at)),
            Expr::Convert(_, conversion) => return self.any(conversion.result()),
            Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => self.variable(u32::MAX),
        };
        self.known.insert(e.clone(), v.clone());
        v
    }

    fn variable(&mut self, id: u32) -> Value {
        if let Some(v) = self.variables.get(&id) {
            return v.clone();
        }
        let v = self.any((self.types)(id));
        self.variables.insert(id, v.clone());
        v
    }

    fn any(&mut self, ty: Int) -> Value {
        let bits = if ty.truth { 1 } else { usize::from(ty.size) * 8 };
        Value { bits: (0..bits).map(|_| self.sat.fresh()).collect(), signed: ty.signed && !ty.truth }
    }

    fn cast(&mut self, v: Value, to: Int) -> Value {
        if to.truth {
            let no = self.sat.constant(false);
            let some = v.bits.iter().fold(no, |some, &bit| self.sat.or(some, bit));
            return Value { bits: vec![some], signed: false };
        }
        let width = usize::from(to.size) * 8;
        if v.bits.len() < width && !v.signed || v.bits.len() <= width && v.signed && to.signed || width == 64
        {
            return v;
        }
        Value { bits: self.extend(&v, width), signed: to.signed }
    }

    fn extend(&self, v: &Value, width: usize) -> Vec<Lit> {
        let above = match v.bits.last() {
            Some(&sign) if v.signed => sign,
            _ => self.sat.constant(false),
        };
        (0..width).map(|i| v.bits.get(i).copied().unwrap_or(above)).collect()
    }

    /// How many bits hold all these numbers with a sign.
    fn signed_width(values: [&Value; 2]) -> usize {
        values.iter().map(|v| v.bits.len() + usize::from(!v.signed)).max().unwrap_or(64).min(64)
    }

    /// Bits of both and whether they have signs; the numbers as 64 bits without signs if `unsigned`
    /// is asked for.
    fn align(&self, a: &Value, b: &Value, unsigned: bool) -> (Vec<Lit>, Vec<Lit>, bool) {
        let plain = !a.signed && !b.signed;
        let width = match () {
            () if plain => a.bits.len().max(b.bits.len()),
            () if unsigned => 64,
            () => Self::signed_width([a, b]),
        };
        (self.extend(a, width), self.extend(b, width), !plain && !unsigned)
    }

    fn binary(&mut self, op: BinOp, a: &Value, b: &Value, at: Int) -> Value {
        let width = if at.truth { 64 } else { usize::from(at.size) * 8 };
        let truth = |l: Lit| Value { bits: vec![l], signed: false };
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let (x, y) = (self.extend(a, width), self.extend(b, width));
                let bits = match op {
                    BinOp::Add => self.add(&x, &y, false),
                    BinOp::Sub => self.subtract(&x, &y).0,
                    _ => self.multiply(&x, &y),
                };
                self.typed(bits, at)
            }
            BinOp::And | BinOp::Or | BinOp::Xor => {
                let (x, y, signed) = self.align(a, b, false);
                let pairs = x.into_iter().zip(y);
                let bits = match op {
                    BinOp::And => pairs.map(|(x, y)| self.sat.and(x, y)).collect(),
                    BinOp::Or => pairs.map(|(x, y)| self.sat.or(x, y)).collect(),
                    _ => pairs.map(|(x, y)| self.sat.xor(x, y)).collect(),
                };
                Value { bits, signed }
            }
            BinOp::Eq | BinOp::Ne => {
                let (x, y, _) = self.align(a, b, false);
                let yes = self.sat.constant(true);
                let same = x.into_iter().zip(y).fold(yes, |same, (x, y)| {
                    let bit = self.sat.xor(x, y);
                    self.sat.and(same, !bit)
                });
                truth(if op == BinOp::Eq { same } else { !same })
            }
            BinOp::Lt => truth(self.less(a, b, at)),
            BinOp::Le => truth(!self.less(b, a, at)),
            BinOp::Rem if let Some(k) = self.power_of_two(b) => {
                // The lowest bits, and the sign of the dividend unless they are all 0.
                let x = self.extend(a, 64);
                let no = self.sat.constant(false);
                let rest = x[..k].iter().fold(no, |some, &bit| self.sat.or(some, bit));
                let above = if at.signed { self.sat.and(x[63], rest) } else { no };
                let mut bits = x[..k].to_vec();
                bits.push(above);
                let exact = Value { bits, signed: true };
                self.cast(exact, at)
            }
            BinOp::Div | BinOp::Rem => {
                let (x, y, signed) = self.align(a, b, !at.signed);
                let (quotient, rest) = if at.signed {
                    // One bit more, because the least number has no opposite.
                    let wider =
                        |v: &[Lit]| self.extend(&Value { bits: v.to_vec(), signed }, (v.len() + 1).min(64));
                    let (x, y) = (wider(&x), wider(&y));
                    self.divide_signed(&x, &y)
                } else {
                    self.divide(&x, &y)
                };
                let bits = if op == BinOp::Div { quotient } else { rest };
                let exact = Value { bits, signed: at.signed };
                self.cast(exact, at)
            }
            BinOp::Shl => {
                let x = self.extend(a, width);
                let bits = self.shift(x, b, None);
                self.typed(bits, at)
            }
            BinOp::Shr => {
                let x = if at.signed || !a.signed { a.bits.clone() } else { self.extend(a, 64) };
                let signed = at.signed && (a.signed || x.len() == 64);
                let above = match x.last() {
                    Some(&sign) if signed => sign,
                    _ => self.sat.constant(false),
                };
                let bits = self.shift(x, b, Some(above));
                Value { bits, signed }
            }
        }
    }

    /// The exponent of a constant that is a power of two.
    fn power_of_two(&self, v: &Value) -> Option<usize> {
        let (no, yes) = (self.sat.constant(false), self.sat.constant(true));
        let constant = v.bits.iter().all(|&b| b == no || b == yes);
        let mut ones = v.bits.iter().enumerate().filter(|(_, b)| **b == yes);
        let first = ones.next()?.0;
        (constant && !v.signed && ones.next().is_none() && first < 32).then_some(first)
    }

    fn typed(&mut self, bits: Vec<Lit>, at: Int) -> Value {
        let v = Value { bits, signed: at.signed };
        if at.truth { self.cast(v, at) } else { v }
    }

    fn add(&mut self, x: &[Lit], y: &[Lit], carry: bool) -> Vec<Lit> {
        let mut carry = self.sat.constant(carry);
        let mut sum = Vec::new();
        for (&a, &b) in x.iter().zip(y) {
            let half = self.sat.xor(a, b);
            sum.push(self.sat.xor(half, carry));
            carry = self.sat.majority(a, b, carry);
        }
        sum
    }

    /// The difference, and whether the second, without sign, is larger.
    fn subtract(&mut self, x: &[Lit], y: &[Lit]) -> (Vec<Lit>, Lit) {
        let mut borrow = self.sat.constant(false);
        let mut difference = Vec::new();
        for (&a, &b) in x.iter().zip(y) {
            let half = self.sat.xor(a, b);
            difference.push(self.sat.xor(half, borrow));
            borrow = self.sat.majority(!a, b, borrow);
        }
        (difference, borrow)
    }

    /// Returns whether the second, without sign, is larger.
    fn below(&mut self, x: &[Lit], y: &[Lit]) -> Lit {
        let no = self.sat.constant(false);
        x.iter().zip(y).fold(no, |borrow, (&a, &b)| self.sat.majority(!a, b, borrow))
    }

    fn multiply(&mut self, x: &[Lit], y: &[Lit]) -> Vec<Lit> {
        let no = self.sat.constant(false);
        let mut sum = vec![no; x.len()];
        for (i, &bit) in y.iter().enumerate() {
            if bit == no {
                continue;
            }
            let row: Vec<Lit> =
                (0..x.len()).map(|k| if k < i { no } else { self.sat.and(x[k - i], bit) }).collect();
            sum = self.add(&sum, &row, false);
        }
        sum
    }

    fn less(&mut self, a: &Value, b: &Value, at: Int) -> Lit {
        let (mut x, mut y, signed) = self.align(a, b, !at.signed);
        if at.signed && !signed {
            // Without signs, and compared with one: only 64 bits can make that a difference.
            if x.len() < 64 {
                return self.below(&x, &y);
            }
        } else if !at.signed {
            return self.below(&x, &y);
        }
        for v in [&mut x, &mut y] {
            if let Some(sign) = v.last_mut() {
                *sign = !*sign;
            }
        }
        self.below(&x, &y)
    }

    /// Quotient and rest, without signs, by subtracting.
    fn divide(&mut self, x: &[Lit], y: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let no = self.sat.constant(false);
        let width = x.len();
        if y.iter().all(|&l| l == no || l == !no) && y.iter().any(|&l| l != no) {
            return self.divide_by(x, y);
        }
        let mut divisor = y.to_vec();
        divisor.push(no);
        let mut rest = vec![no; width + 1];
        let mut quotient = vec![no; width];
        for i in (0..width).rev() {
            rest.insert(0, x[i]);
            rest.pop();
            let (less, borrow) = self.subtract(&rest, &divisor);
            quotient[i] = !borrow;
            rest = rest.iter().zip(&less).map(|(&r, &l)| self.sat.mux(borrow, l, r)).collect();
        }
        rest.pop();
        (quotient, rest)
    }

    /// The same by a constant: what multiplication and addition bring back.
    fn divide_by(&mut self, x: &[Lit], y: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let no = self.sat.constant(false);
        let long =
            |bits: &[Lit]| bits.iter().copied().chain(std::iter::repeat_n(no, x.len())).collect::<Vec<Lit>>();
        let quotient: Vec<Lit> = x.iter().map(|_| self.sat.fresh()).collect();
        let rest: Vec<Lit> = x.iter().map(|_| self.sat.fresh()).collect();
        let product = self.multiply(&long(&quotient), &long(y));
        let sum = self.add(&product, &long(&rest), false);
        for (&a, b) in sum.iter().zip(long(x)) {
            let differ = self.sat.xor(a, b);
            self.sat.clause(&[!differ]);
        }
        let less = self.below(&rest, y);
        self.sat.clause(&[less]);
        (quotient, rest)
    }

    fn divide_signed(&mut self, x: &[Lit], y: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let no = self.sat.constant(false);
        let sign = |v: &[Lit]| v.last().copied().unwrap_or(no);
        let (sx, sy) = (sign(x), sign(y));
        let (x, y) = (self.negate_if(x, sx), self.negate_if(y, sy));
        let (quotient, rest) = self.divide(&x, &y);
        let differ = self.sat.xor(sx, sy);
        (self.negate_if(&quotient, differ), self.negate_if(&rest, sx))
    }

    fn negate_if(&mut self, x: &[Lit], condition: Lit) -> Vec<Lit> {
        let flipped: Vec<Lit> = x.iter().map(|&b| self.sat.xor(b, condition)).collect();
        let mut one = vec![self.sat.constant(false); x.len()];
        if let Some(first) = one.first_mut() {
            *first = condition;
        }
        self.add(&flipped, &one, false)
    }

    /// To the left, or to the right with a bit to fill with.
    fn shift(&mut self, mut x: Vec<Lit>, by: &Value, right: Option<Lit>) -> Vec<Lit> {
        let no = self.sat.constant(false);
        for (i, &bit) in by.bits.iter().enumerate().take(6) {
            let far = 1usize << i;
            x = (0..x.len())
                .map(|k| {
                    let moved = match right {
                        None => k.checked_sub(far).map_or(no, |k| x[k]),
                        Some(fill) => x.get(k + far).copied().unwrap_or(fill),
                    };
                    self.sat.mux(bit, x[k], moved)
                })
                .collect();
        }
        x
    }
}

/// Returns the value of an expression over these variables; `None` where C leaves it open or a
/// variable is not known.
pub fn eval(e: &Expr, values: &FxHashMap<u32, i64>) -> Option<i64> {
    let leaf = |of: Leaf| match of {
        Leaf::Register(id) => values.get(&id).copied().ok_or(Undefined::Operator),
        Leaf::SelfId | Leaf::Local(_) => Err(Undefined::Operator),
    };
    e.value(&leaf, &|| ()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_goto::program::{Conversion, FloatOp, INT, Width};

    /// Every operator at every type, on random operands: the circuit and the evaluator agree.
    #[test]
    fn circuits_compute_what_the_evaluator_does() {
        use BinOp::{Add, And, Div, Eq, Le, Lt, Mul, Ne, Or, Rem, Shl, Shr, Sub, Xor};
        let mut seed = 12345u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as i64
        };
        let types = [(1, true), (1, false), (2, true), (4, true), (4, false), (8, true), (8, false)];
        let types = types.map(|(size, signed)| Int::new(size, signed));
        for round in 0..420 {
            let op = [Add, Sub, Mul, Div, Rem, Shl, Shr, And, Or, Xor, Eq, Ne, Lt, Le][round % 14];
            let at = types[random() as usize % 7];
            let (ta, tb) = (types[random() as usize % 7], types[random() as usize % 7]);
            let mut pick = |t: Int| {
                let v = [random(), random() << 32 | random(), random() % 5 - 2, -1, i64::MIN, 0]
                    [random() as usize % 6];
                t.wrap(v)
            };
            let (a, mut b) = (pick(ta), pick(tb));
            if matches!(op, Shl | Shr) {
                b = b.rem_euclid(i64::from(at.size) * 8).min(100);
                b = tb.wrap(b);
            }
            let e = Expr::Bin(op, Box::new(Expr::Reg(0)), Box::new(Expr::Reg(1)), at);
            let values = FxHashMap::from_iter([(0, a), (1, b)]);
            let Some(expected) = eval(&e, &values) else { continue };
            let list = move |id: u32| [ta, tb][id as usize];
            let mut encoder = Encoder::new(&Limits::none(), &list);
            let wide = Int::new(8, true);
            let is = |e: Expr, v: i64| Expr::Bin(Eq, Box::new(e), Box::new(Expr::Const(v)), wide);
            let given = [encoder.truth(&is(Expr::Reg(0), a)), encoder.truth(&is(Expr::Reg(1), b))];
            let result = encoder.truth(&is(e.clone(), expected));
            let mut with = given.to_vec();
            with.push(result);
            assert_eq!(encoder.solve(&with), Ok(true), "{e:?} of {a}:{ta:?} and {b}:{tb:?} is {expected}");
            assert_eq!(encoder.model().get(&0), Some(&a));
            with.pop();
            with.push(!result);
            assert_eq!(
                encoder.solve(&with),
                Ok(false),
                "{e:?} of {a}:{ta:?} and {b}:{tb:?} is only {expected}"
            );
        }
    }

    /// Floating-point numbers may have any value of their type, each time another one.
    #[test]
    fn a_computation_with_numbers_may_have_any_value() {
        let (x, at) = (Expr::Reg(0), Width::Double);
        let sum = Expr::Float(FloatOp::Add, Box::new(x.clone()), Box::new(x.clone()), at);
        let byte = Expr::Convert(Box::new(x), Conversion::ToInt(at, Int::new(1, false)));
        let types = |_| Width::Double.bits();
        let mut encoder = Encoder::new(&Limits::none(), &types);
        let mut is = |e: &Expr, v| {
            encoder.truth(&Expr::Bin(BinOp::Eq, Box::new(e.clone()), Box::new(Expr::Const(v)), INT))
        };
        let (one, two) = (is(&sum, 1), is(&sum, 2));
        let (inside, outside) = (is(&byte, 255), is(&byte, 256));
        assert_eq!(encoder.solve(&[one, two]), Ok(true));
        assert_eq!(encoder.solve(&[inside]), Ok(true));
        assert_eq!(encoder.solve(&[outside]), Ok(false));
    }
}
