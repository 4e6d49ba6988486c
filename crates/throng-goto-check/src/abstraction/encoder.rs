//! Facts about edges proved again, by a second encoder: every value is 64 bits, every gate is three
//! clauses, nothing is simplified.
//!
//! It shares the solver with the first encoder and no code. A predicate after a step is encoded
//! over the values that the step assigns, not as a substituted expression.

use batsat::{BasicSolver, Lit, SolverInterface, lbool};
use rustc_hash::FxHashMap;
use throng_goto::program::{BinOp, Expr, Int};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use super::cube::{Cube, Side};
use super::graph::{Edge, Graph};
use super::predicate::Predicate;
use super::variables::{INPUT, OTHER};

const WIDTH: usize = 64;

/// Whose variable: of the step before it, or of a bystander.
type Key = (bool, u32);
type Word = Vec<Lit>;

struct Plain<'g> {
    graph: &'g Graph,
    edge: &'g Edge,
    solver: BasicSolver,
    one: Lit,
    words: FxHashMap<Key, Word>,
    later: FxHashMap<u32, Word>,
}

/// Returns whether every cube contradicts the edge; the first that does not. `Err`: a limit was
/// hit, or a cube is about what does not exist.
pub fn check_edge(
    graph: &Graph,
    list: &[Predicate],
    edge: &Edge,
    cubes: &[Cube],
    limits: &Limits,
) -> Result<Option<usize>, Unknown> {
    let mut solver = BasicSolver::default();
    let one = Lit::new(solver.new_var_default(), true);
    solver.add_clause_reuse(&mut vec![one]);
    let mut plain =
        Plain { graph, edge, solver, one, words: FxHashMap::default(), later: FxHashMap::default() };
    for g in &edge.guard {
        let word = plain.word(g, false);
        // Some bit is set.
        plain.solver.add_clause_reuse(&mut word.clone());
    }
    let mut known: FxHashMap<(u32, Side), Lit> = FxHashMap::default();
    for (n, cube) in cubes.iter().enumerate() {
        limits.check()?;
        let mut assumptions = Vec::new();
        for &(number, side, value) in cube {
            let Some(p) = list.get(number as usize) else { return Ok(Some(n)) };
            let some = *known.entry((number, side)).or_insert_with(|| {
                let word = match side {
                    Side::Before => plain.word(&p.expr, false),
                    Side::After => plain.word_after(&p.expr, false),
                    Side::OtherBefore => plain.word(&p.expr, true),
                    Side::OtherAfter => plain.word_after(&p.expr, true),
                };
                plain.some(&word)
            });
            assumptions.push(if value { some } else { !some });
        }
        let found = plain.solver.solve_limited(&assumptions);
        if found != lbool::FALSE {
            return Ok(Some(n));
        }
    }
    Ok(None)
}

impl Plain<'_> {
    fn bit(&self, value: bool) -> Lit {
        if value { self.one } else { !self.one }
    }

    fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let c = self.fresh();
        for clause in [vec![!c, a], vec![!c, b], vec![c, !a, !b]] {
            self.solver.add_clause_reuse(&mut clause.clone());
        }
        c
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let c = self.fresh();
        for clause in [vec![!c, a, b], vec![!c, !a, !b], vec![c, !a, b], vec![c, a, !b]] {
            self.solver.add_clause_reuse(&mut clause.clone());
        }
        c
    }

    fn some(&mut self, word: &[Lit]) -> Lit {
        let c = self.fresh();
        for &b in word {
            self.solver.add_clause_reuse(&mut vec![c, !b]);
        }
        let mut clause = word.to_vec();
        clause.push(!c);
        self.solver.add_clause_reuse(&mut clause);
        c
    }

    fn choose(&mut self, condition: Lit, no: Lit, yes: Lit) -> Lit {
        let c = self.fresh();
        for clause in [
            vec![!condition, !yes, c],
            vec![!condition, yes, !c],
            vec![condition, !no, c],
            vec![condition, no, !c],
        ] {
            self.solver.add_clause_reuse(&mut clause.clone());
        }
        c
    }

    /// A value of this type: the other bits repeat the sign, or are 0.
    fn variable(&mut self, ty: Int) -> Word {
        let bits = if ty.truth { 1 } else { usize::from(ty.size) * 8 };
        let low: Word = (0..bits).map(|_| self.fresh()).collect();
        let above = if ty.signed && !ty.truth { low[bits - 1] } else { self.bit(false) };
        (0..WIDTH).map(|i| low.get(i).copied().unwrap_or(above)).collect()
    }

    fn is_private(&self, id: u32) -> bool {
        self.graph.variables.list.get(id as usize).is_some_and(|v| v.template.is_some())
    }

    fn before(&mut self, id: u32, other: bool) -> Word {
        // In what is about both threads, the numbers of the bystander's variables are larger.
        let (id, other) = if (OTHER..INPUT).contains(&id) { (id - OTHER, true) } else { (id, other) };
        let key = (other && self.is_private(id), id);
        if let Some(word) = self.words.get(&key) {
            return word.clone();
        }
        let ty = self.edge.ty(&self.graph.variables, id);
        let word = self.variable(ty);
        self.words.insert(key, word.clone());
        word
    }

    /// A variable of the thread that moves, after the step.
    fn after(&mut self, id: u32) -> Word {
        if let Some(word) = self.later.get(&id) {
            return word.clone();
        }
        let edge = self.edge;
        let word = match edge.updates.iter().find(|u| u.0 == id) {
            Some((_, e)) => self.word(e, false),
            None => self.before(id, false),
        };
        self.later.insert(id, word.clone());
        word
    }

    fn word(&mut self, e: &Expr, other: bool) -> Word {
        self.encode(e, &mut |this, id| this.before(id, other))
    }

    /// After the step: variables of a bystander are those before it.
    fn word_after(&mut self, e: &Expr, other: bool) -> Word {
        self.encode(e, &mut |this, id| match other && this.is_private(id) {
            true => this.before(id, other),
            false => this.after(id),
        })
    }

    fn encode(&mut self, e: &Expr, variable: &mut dyn FnMut(&mut Self, u32) -> Word) -> Word {
        match e {
            Expr::Const(v) => (0..WIDTH).map(|i| self.bit(v >> i & 1 == 1)).collect(),
            Expr::Reg(id) => variable(self, *id),
            Expr::SelfId | Expr::Local(_) => (0..WIDTH).map(|_| self.fresh()).collect(),
            Expr::Float(op, .., at) => self.variable(op.result(*at)),
            Expr::Convert(_, conversion) => self.variable(conversion.result()),
            Expr::Cast(e, to) => {
                let word = self.encode(e, variable);
                self.wrap(word, *to)
            }
            Expr::Bin(op, a, b, at) => {
                let (a, b) = (self.encode(a, variable), self.encode(b, variable));
                self.binary(*op, &a, &b, *at)
            }
        }
    }

    fn wrap(&mut self, word: Word, to: Int) -> Word {
        if to.truth {
            let some = self.some(&word);
            return self.truth(some);
        }
        let bits = usize::from(to.size) * 8;
        let above = if to.signed { word[bits - 1] } else { self.bit(false) };
        (0..WIDTH).map(|i| if i < bits { word[i] } else { above }).collect()
    }

    fn truth(&self, l: Lit) -> Word {
        (0..WIDTH).map(|i| if i == 0 { l } else { self.bit(false) }).collect()
    }

    fn binary(&mut self, op: BinOp, a: &[Lit], b: &[Lit], at: Int) -> Word {
        match op {
            BinOp::Add => {
                let sum = self.sum(a, b, false);
                self.wrap(sum, at)
            }
            BinOp::Sub => {
                let difference = self.minus(a, b).0;
                self.wrap(difference, at)
            }
            BinOp::Mul => {
                let product = self.product(a, b);
                self.wrap(product, at)
            }
            BinOp::Div | BinOp::Rem => {
                let (quotient, rest) = self.divided(a, b, at.signed);
                self.wrap(if op == BinOp::Div { quotient } else { rest }, at)
            }
            BinOp::Shl => {
                let shifted = self.shifted(a, b, None);
                self.wrap(shifted, at)
            }
            BinOp::Shr => {
                let fill = if at.signed { a[WIDTH - 1] } else { self.bit(false) };
                self.shifted(a, b, Some(fill))
            }
            BinOp::And => a.iter().zip(b).map(|(&x, &y)| self.and(x, y)).collect(),
            BinOp::Or => a.iter().zip(b).map(|(&x, &y)| !self.and(!x, !y)).collect(),
            BinOp::Xor => a.iter().zip(b).map(|(&x, &y)| self.xor(x, y)).collect(),
            BinOp::Eq | BinOp::Ne => {
                let difference: Word = a.iter().zip(b).map(|(&x, &y)| self.xor(x, y)).collect();
                let differ = self.some(&difference);
                self.truth(if op == BinOp::Ne { differ } else { !differ })
            }
            BinOp::Lt => {
                let less = self.less(a, b, at.signed);
                self.truth(less)
            }
            BinOp::Le => {
                let more = self.less(b, a, at.signed);
                self.truth(!more)
            }
        }
    }

    fn sum(&mut self, a: &[Lit], b: &[Lit], carry: bool) -> Word {
        let mut carry = self.bit(carry);
        let mut found = Vec::new();
        for (&x, &y) in a.iter().zip(b) {
            let half = self.xor(x, y);
            found.push(self.xor(half, carry));
            let (both, passed) = (self.and(x, y), self.and(half, carry));
            carry = !self.and(!both, !passed);
        }
        found
    }

    /// `a - b` as `a + !b + 1`, and whether `a < b` without signs: then there is no carry.
    fn minus(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Lit) {
        let zero = self.bit(false);
        let longer = |w: &[Lit], top: Lit| w.iter().copied().chain([top]).collect::<Word>();
        let flipped: Word = b.iter().map(|&l| !l).collect();
        let (x, y) = (longer(a, zero), longer(&flipped, zero));
        let mut sum = self.sum(&x, &y, true);
        let carry = sum.pop().unwrap_or(zero);
        (sum, !carry)
    }

    fn less(&mut self, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
        let (mut a, mut b) = (a.to_vec(), b.to_vec());
        if signed {
            // The signs the other way round order numbers as if they had none.
            (a[WIDTH - 1], b[WIDTH - 1]) = (!a[WIDTH - 1], !b[WIDTH - 1]);
        }
        self.minus(&a, &b).1
    }

    fn product(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        let zero = self.bit(false);
        let mut total: Word = vec![zero; WIDTH];
        for (i, &bit) in b.iter().enumerate() {
            if bit == zero {
                continue;
            }
            let row: Word = (0..WIDTH).map(|k| if k < i { zero } else { self.and(a[k - i], bit) }).collect();
            total = self.sum(&total, &row, false);
        }
        total
    }

    /// Quotient and rest are numbers `q` and `r` with `a = q * b + r` and `r` smaller than `b`, by
    /// long division of what they are without signs.
    fn divided(&mut self, a: &[Lit], b: &[Lit], signed: bool) -> (Word, Word) {
        let zero = self.bit(false);
        let sign = |w: &[Lit]| if signed { w[WIDTH - 1] } else { zero };
        let (negative_a, negative_b) = (sign(a), sign(b));
        let constant = self.constant(b).map(|d| if signed { d.unsigned_abs() } else { d as u64 });
        let (a, b) = (self.absolute(a, negative_a), self.absolute(b, negative_b));
        let (quotient, rest) = match constant.filter(|&d| d != 0) {
            Some(d) => self.divided_by(&a, d),
            None => self.divided_slowly(&a, &b),
        };
        let differ = self.xor(negative_a, negative_b);
        (self.absolute(&quotient, differ), self.absolute(&rest, negative_a))
    }

    /// The number that a word is, if it is always the same.
    fn constant(&self, word: &[Lit]) -> Option<i64> {
        let known = word.iter().all(|&l| l == self.one || l == !self.one);
        known.then(|| word.iter().enumerate().fold(0, |n, (i, &l)| n | i64::from(l == self.one) << i))
    }

    /// Quotient and rest by a constant, without signs: the two numbers that multiplication and
    /// addition bring back without an overflow. There are such numbers for every dividend, and no
    /// others.
    fn divided_by(&mut self, a: &[Lit], d: u64) -> (Word, Word) {
        let quotient: Word = (0..WIDTH).map(|_| self.fresh()).collect();
        let rest: Word = (0..WIDTH).map(|_| self.fresh()).collect();
        let number = |this: &Self, n: u64| (0..WIDTH).map(|i| this.bit(n >> i & 1 == 1)).collect::<Word>();
        let mut product = number(self, 0);
        for far in (0..WIDTH).filter(|i| d >> i & 1 == 1) {
            let zeros = std::iter::repeat_n(self.bit(false), far);
            let shifted: Word = zeros.chain(quotient.iter().copied()).take(WIDTH).collect();
            product = self.sum(&product, &shifted, false);
        }
        let sum = self.sum(&product, &rest, false);
        let largest = number(self, u64::MAX / d);
        let divisor = number(self, d);
        let mut facts = vec![
            self.less(&rest, &divisor, false),
            !self.less(&largest, &quotient, false),
            !self.less(&sum, &product, false),
        ];
        for (&x, &y) in a.iter().zip(&sum) {
            facts.push(!self.xor(x, y));
        }
        for fact in facts {
            self.solver.add_clause_reuse(&mut vec![fact]);
        }
        (quotient, rest)
    }

    /// Quotient and rest, without signs, bit by bit.
    fn divided_slowly(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let zero = self.bit(false);
        let mut rest: Word = vec![zero; WIDTH];
        let mut quotient: Word = vec![zero; WIDTH];
        for i in (0..WIDTH).rev() {
            let top = rest[WIDTH - 1];
            rest = std::iter::once(a[i]).chain(rest[..WIDTH - 1].iter().copied()).collect();
            let (difference, less) = self.minus(&rest, b);
            // A bit that was pushed out makes it large enough.
            let subtracts = !self.and(!top, less);
            quotient[i] = subtracts;
            rest = rest.iter().zip(&difference).map(|(&r, &d)| self.choose(subtracts, r, d)).collect();
        }
        (quotient, rest)
    }

    /// The opposite where `negative` holds.
    fn absolute(&mut self, a: &[Lit], negative: Lit) -> Word {
        let zero: Word = vec![self.bit(false); WIDTH];
        let opposite = self.minus(&zero, a).0;
        a.iter().zip(&opposite).map(|(&x, &y)| self.choose(negative, x, y)).collect()
    }

    fn shifted(&mut self, a: &[Lit], by: &[Lit], right: Option<Lit>) -> Word {
        let zero = self.bit(false);
        let mut word = a.to_vec();
        for (i, &bit) in by.iter().enumerate().take(6) {
            let far = 1usize << i;
            let moved: Word = (0..WIDTH)
                .map(|k| match right {
                    None => k.checked_sub(far).map_or(zero, |k| word[k]),
                    Some(fill) => word.get(k + far).copied().unwrap_or(fill),
                })
                .collect();
            word = word.iter().zip(&moved).map(|(&s, &m)| self.choose(bit, s, m)).collect();
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::To;
    use super::super::variables::{INPUT, Variables};
    use super::*;
    use throng_goto::program::{Conversion, FloatOp, Leaf, Undefined, Width};

    /// Every operator at every type: the second encoder says that a value is the only one, and that
    /// is the evaluator's.
    #[test]
    fn the_second_encoder_agrees_with_the_evaluator() {
        use BinOp::{Add, And, Div, Eq, Le, Lt, Mul, Ne, Or, Rem, Shl, Shr, Sub, Xor};
        let mut seed = 99u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as i64
        };
        let types = [(1, true), (1, false), (2, true), (4, true), (4, false), (8, true), (8, false)];
        let types = types.map(|(size, signed)| Int::new(size, signed));
        for round in 0..140 {
            let op = [Add, Sub, Mul, Div, Rem, Shl, Shr, And, Or, Xor, Eq, Ne, Lt, Le][round % 14];
            let at = types[random() as usize % 7];
            let (ta, tb) = (types[random() as usize % 7], types[random() as usize % 7]);
            let mut pick = |t: Int| {
                t.wrap(
                    [random(), random() << 32 | random(), random() % 5 - 2, -1, i64::MIN]
                        [random() as usize % 5],
                )
            };
            let (a, mut b) = (pick(ta), pick(tb));
            if matches!(op, Shl | Shr) {
                b = tb.wrap(b.rem_euclid(i64::from(at.size) * 8));
            }
            let (x, y) = (Expr::Reg(INPUT), Expr::Reg(INPUT + 1));
            let e = Expr::Bin(op, Box::new(x.clone()), Box::new(y.clone()), at);
            let values = FxHashMap::from_iter([(INPUT, a), (INPUT + 1, b)]);
            let leaf = |of: Leaf| match of {
                Leaf::Register(id) => values.get(&id).copied().ok_or(Undefined::Operator),
                Leaf::SelfId | Leaf::Local(_) => Err(Undefined::Operator),
            };
            let Ok(expected) = e.value(&leaf, &|| ()) else { continue };
            let same = |op, e: &Expr, v| {
                Expr::Bin(op, Box::new(e.clone()), Box::new(Expr::Const(v)), Int::new(8, true))
            };
            let graph = graph();
            for (last, contradicts) in [(Ne, true), (Eq, false)] {
                let guard = vec![same(Eq, &x, a), same(Eq, &y, b), same(last, &e, expected)];
                let edge = Edge { guard, inputs: vec![ta, tb], ..graph.initial.clone() };
                let wrong = check_edge(&graph, &[], &edge, &[Vec::new()], &Limits::none());
                assert_eq!(
                    wrong,
                    Ok((!contradicts).then_some(0)),
                    "{e:?} of {a}:{ta:?} and {b}:{tb:?} is {expected}"
                );
            }
        }
    }

    /// Floating-point numbers may have any value of their type, each time another one.
    #[test]
    fn nothing_contradicts_a_computation_with_numbers() {
        let (x, at) = (Expr::Reg(INPUT), Width::Double);
        let sum = Expr::Float(FloatOp::Add, Box::new(x.clone()), Box::new(x.clone()), at);
        let byte = Expr::Convert(Box::new(x.clone()), Conversion::ToInt(at, Int::new(1, false)));
        let is =
            |op, e: &Expr, v| Expr::Bin(op, Box::new(e.clone()), Box::new(Expr::Const(v)), Int::new(8, true));
        let contradicts = |guard: Vec<Expr>| {
            let graph = graph();
            let edge = Edge { guard, inputs: vec![at.bits()], ..graph.initial.clone() };
            check_edge(&graph, &[], &edge, &[Vec::new()], &Limits::none()).expect("no limit").is_none()
        };
        assert!(!contradicts(vec![is(BinOp::Eq, &sum, 1), is(BinOp::Eq, &sum, 2)]));
        assert!(!contradicts(vec![is(BinOp::Eq, &byte, 255)]));
        assert!(contradicts(vec![is(BinOp::Eq, &byte, 256)]));
    }

    fn graph() -> Graph {
        Graph {
            variables: Variables::default(),
            places: Vec::new(),
            edges: Vec::new(),
            initial: Edge {
                from: 0,
                to: To::End,
                guard: vec![],
                updates: vec![],
                starts: vec![],
                inputs: vec![],
                reads: vec![],
                path: vec![],
            },
            trusts: false,
            summarises: false,
            counts: false,
            tallies: Vec::new(),
            bounded: Vec::new(),
            constants: Default::default(),
            copies: Vec::new(),
            entries: Vec::new(),
        }
    }
}
