//! Expressions with names resolved, and the values that they can take.
//!
//! # The value of a variable is a set
//!
//! A variable holds a non-empty subset of {0, 1} as a two-bit mask: [`ZERO`], [`ONE`], or [`FREE`]
//! if it may be either and has not been read yet. There are two questions about an expression and a
//! value v: *can* it take v, for some choice of the free variables and of its `*`s; and is it
//! *sure* to be able to take v, for every choice of the free variables. A `*` in the text is chosen
//! anew at every occurrence, so it surely can take both values; a free variable can take both but
//! surely takes neither, because its two readers must agree. Every operator is monotone in these
//! memberships, so both bounds are computed together, bottom up, in one pass ([`Expr::eval`]);
//! where they differ, the caller fixes a free variable ([`Expr::find_free`]) and asks again.

pub use throng_model::cubes::{Cube, FREE, ONE, ZERO, mask};

/// A variable as a statement sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Var {
    /// A shared variable before the step.
    Shared(u32),
    /// A slot of the active thread before the step.
    Local(u32),
    /// The value after the step of the i-th variable that the statement assigns.
    New(u32),
    /// A variable of a bystander before the step: index into its [view](super::Program::view).
    Other(u32),
    /// The value after the step of the i-th variable that the statement assigns in a bystander.
    OtherNew(u32),
}

/// A resolved expression over variables `V`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr<V = Var> {
    /// A constant.
    Const(bool),
    /// `*`
    Any,
    /// A variable.
    Var(V),
    /// Negation.
    Not(Box<Expr<V>>),
    /// Conjunction.
    And(Vec<Expr<V>>),
    /// Disjunction.
    Or(Vec<Expr<V>>),
    /// Exclusive or.
    Xor(Vec<Expr<V>>),
    /// Condition, value if it is 1, value if it is 0.
    Conditional(Box<[Expr<V>; 3]>),
}

impl<V> Expr<V> {
    /// Returns `!e`.
    pub fn negation(e: Expr<V>) -> Expr<V> {
        Expr::Not(Box::new(e))
    }

    /// Returns `a = b`.
    pub fn equal(a: Expr<V>, b: Expr<V>) -> Expr<V> {
        Expr::negation(Expr::Xor(vec![a, b]))
    }

    /// Returns the expression with each variable replaced.
    pub fn map<W>(&self, rename: &mut dyn FnMut(&V) -> Expr<W>) -> Expr<W> {
        match self {
            Expr::Const(v) => Expr::Const(*v),
            Expr::Any => Expr::Any,
            Expr::Var(v) => rename(v),
            Expr::Not(e) => Expr::negation(e.map(rename)),
            Expr::And(es) => Expr::And(es.iter().map(|e| e.map(rename)).collect()),
            Expr::Or(es) => Expr::Or(es.iter().map(|e| e.map(rename)).collect()),
            Expr::Xor(es) => Expr::Xor(es.iter().map(|e| e.map(rename)).collect()),
            Expr::Conditional(cab) => {
                Expr::Conditional(Box::new([cab[0].map(rename), cab[1].map(rename), cab[2].map(rename)]))
            }
        }
    }

    /// Calls `see` on every variable, in text order.
    pub fn each_var(&self, see: &mut dyn FnMut(&V)) {
        match self {
            Expr::Const(_) | Expr::Any => {}
            Expr::Var(v) => see(v),
            Expr::Not(e) => e.each_var(see),
            Expr::And(es) | Expr::Or(es) | Expr::Xor(es) => es.iter().for_each(|e| e.each_var(see)),
            Expr::Conditional(cab) => cab.iter().for_each(|e| e.each_var(see)),
        }
    }

    /// Returns whether some variable satisfies `test`.
    pub fn mentions(&self, mut test: impl FnMut(&V) -> bool) -> bool {
        let mut found = false;
        self.each_var(&mut |v| found |= test(v));
        found
    }

    /// Returns the conjuncts of a conjunction, however nested; `true` has none.
    pub fn conjuncts(self) -> Vec<Expr<V>> {
        match self {
            Expr::And(es) => es.into_iter().flat_map(Expr::conjuncts).collect(),
            Expr::Const(true) => Vec::new(),
            e => vec![e],
        }
    }
}

/// The values an expression can take, and surely can take, as masks; `sure` is a subset of `can`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Values {
    /// The values possible for some choice of the free variables.
    pub can: u8,
    /// The values possible for every choice of the free variables.
    pub sure: u8,
}

impl Values {
    const ANY: Values = Values { can: FREE, sure: FREE };

    fn of_variable(mask: u8) -> Values {
        Values { can: mask, sure: if mask == FREE { 0 } else { mask } }
    }

    /// Makes the value sure if only one is possible: an expression always has some value.
    fn settled(self) -> Values {
        if self.can == FREE { self } else { Values { can: self.can, sure: self.can } }
    }

    fn not(self) -> Values {
        let swap = |m: u8| (m & ZERO) << 1 | (m & ONE) >> 1;
        Values { can: swap(self.can), sure: swap(self.sure) }
    }

    fn both(a: Values, b: Values, op: fn(u8, u8) -> u8) -> Values {
        Values { can: op(a.can, b.can), sure: op(a.sure, b.sure) }.settled()
    }

    /// Returns whether the free variables still matter.
    pub fn is_open(self) -> bool {
        self.can != self.sure
    }
}

/// Returns {x & y}: 1 needs both, 0 needs one (the other always has some value).
fn and(a: u8, b: u8) -> u8 {
    (a & b & ONE) | ((a | b) & ZERO)
}

fn or(a: u8, b: u8) -> u8 {
    ((a | b) & ONE) | (a & b & ZERO)
}

fn xor(a: u8, b: u8) -> u8 {
    let equal = if a & b != 0 { ZERO } else { 0 };
    let unequal = (a & ZERO != 0 && b & ONE != 0) || (a & ONE != 0 && b & ZERO != 0);
    equal | if unequal { ONE } else { 0 }
}

impl<V: Copy> Expr<V> {
    /// Returns the values it can take when each variable has the mask that `look` returns.
    pub fn eval(&self, look: &impl Fn(V) -> u8) -> Values {
        match self {
            Expr::Const(v) => Values::of_variable(mask(*v)),
            Expr::Any => Values::ANY,
            Expr::Var(v) => Values::of_variable(look(*v)),
            Expr::Not(e) => e.eval(look).not(),
            Expr::And(es) => fold(es, look, and, ONE, Some(ZERO)),
            Expr::Or(es) => fold(es, look, or, ZERO, Some(ONE)),
            Expr::Xor(es) => fold(es, look, xor, ZERO, None),
            Expr::Conditional(cab) => {
                let (c, a, b) = (cab[0].eval(look), cab[1].eval(look), cab[2].eval(look));
                let pick = |c: u8, a: u8, b: u8| {
                    (if c & ONE != 0 { a } else { 0 }) | (if c & ZERO != 0 { b } else { 0 })
                };
                Values { can: pick(c.can, a.can, b.can), sure: pick(c.sure, a.sure, b.sure) }.settled()
            }
        }
    }

    /// Returns a free variable on which an open expression depends; `None` if it is not open.
    pub fn find_free(&self, look: &impl Fn(V) -> u8) -> Option<V> {
        let open = |e: &Expr<V>| e.eval(look).is_open().then(|| e.find_free(look)).flatten();
        match self {
            Expr::Const(_) | Expr::Any => None,
            Expr::Var(v) => (look(*v) == FREE).then_some(*v),
            Expr::Not(e) => e.find_free(look),
            Expr::And(es) | Expr::Or(es) | Expr::Xor(es) => es.iter().find_map(open),
            Expr::Conditional(cab) => cab.iter().find_map(open),
        }
    }
}

/// Folds the operands, starting with `unit`; stops when only `decides` is possible.
fn fold<V: Copy>(
    es: &[Expr<V>],
    look: &impl Fn(V) -> u8,
    op: fn(u8, u8) -> u8,
    unit: u8,
    decides: Option<u8>,
) -> Values {
    let mut sum = Values::of_variable(unit);
    for e in es {
        sum = Values::both(sum, e.eval(look), op);
        if Some(sum.can) == decides {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(e: &Expr<usize>, masks: &[u8]) -> Values {
        e.eval(&|v: usize| masks[v])
    }

    fn var(i: usize) -> Expr<usize> {
        Expr::Var(i)
    }

    /// Evaluates by brute force over every value of every `*`, variables fixed.
    fn brute(e: &Expr<usize>, values: &[bool]) -> u8 {
        fn all(e: &Expr<usize>, values: &[bool]) -> Vec<bool> {
            let combine = |es: &[Expr<usize>], unit: bool, op: fn(bool, bool) -> bool| {
                es.iter().fold(vec![unit], |sums, e| {
                    let each = all(e, values);
                    sums.iter().flat_map(|&a| each.iter().map(move |&b| op(a, b))).collect()
                })
            };
            match e {
                Expr::Const(v) => vec![*v],
                Expr::Any => vec![false, true],
                Expr::Var(v) => vec![values[*v]],
                Expr::Not(e) => all(e, values).into_iter().map(|v| !v).collect(),
                Expr::And(es) => combine(es, true, |a, b| a & b),
                Expr::Or(es) => combine(es, false, |a, b| a | b),
                Expr::Xor(es) => combine(es, false, |a, b| a ^ b),
                Expr::Conditional(cab) => all(&cab[0], values)
                    .into_iter()
                    .flat_map(|c| all(if c { &cab[1] } else { &cab[2] }, values))
                    .collect(),
            }
        }
        all(e, values).into_iter().fold(0, |m, v| m | mask(v))
    }

    fn random(rng: &mut impl FnMut(u32) -> u32, depth: u32) -> Expr<usize> {
        let sub = |rng: &mut _| random(rng, depth - 1);
        match if depth == 0 { rng(3) } else { rng(8) } {
            0 => Expr::Const(rng(2) == 1),
            1 => Expr::Any,
            2 => var(rng(3) as usize),
            3 => Expr::negation(sub(rng)),
            4 => Expr::And(vec![sub(rng), sub(rng), sub(rng)]),
            5 => Expr::Or(vec![sub(rng), sub(rng)]),
            6 => Expr::Xor(vec![sub(rng), sub(rng)]),
            _ => Expr::Conditional(Box::new([sub(rng), sub(rng), sub(rng)])),
        }
    }

    #[test]
    fn bounds_are_right_and_exact_without_free_variables() {
        let mut numbers = throng_model::random::Random::new(1);
        let mut rng = |n: u32| numbers.below(n as usize) as u32;
        for _ in 0..20_000 {
            let e = random(&mut rng, 3);
            let masks: Vec<u8> = (0..3).map(|_| rng(3) as u8 + 1).collect();
            let got = values(&e, &masks);
            let (mut union, mut meet) = (0, FREE);
            for bits in 0..8u8 {
                let fixed: Vec<bool> = (0..3).map(|i| bits >> i & 1 == 1).collect();
                if (0..3).all(|i| masks[i] & mask(fixed[i]) != 0) {
                    let v = brute(&e, &fixed);
                    union |= v;
                    meet &= v;
                }
            }
            assert_eq!(got.can & union, union, "{e:?} {masks:?}");
            assert_eq!(got.sure & meet, got.sure, "{e:?} {masks:?}");
            assert_eq!(got.is_open(), e.find_free(&|v: usize| masks[v]).is_some() && got.is_open());
            if masks.iter().all(|&m| m != FREE) {
                assert_eq!((got.can, got.sure), (union, union), "{e:?} {masks:?}");
            }
            if got.is_open() {
                assert!(e.find_free(&|v: usize| masks[v]).is_some(), "{e:?} {masks:?}");
            }
        }
    }

    #[test]
    fn a_star_is_chosen_anew_but_a_free_variable_is_not() {
        let contradiction = |e: fn() -> Expr<usize>| Expr::And(vec![e(), Expr::negation(e())]);
        assert_eq!(values(&contradiction(|| Expr::Any), &[]), Values { can: FREE, sure: FREE });
        assert!(values(&contradiction(|| var(0)), &[FREE]).is_open());
        assert_eq!(values(&contradiction(|| var(0)), &[ONE]), Values { can: ZERO, sure: ZERO });
    }
}
