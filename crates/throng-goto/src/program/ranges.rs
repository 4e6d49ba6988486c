//! Which values stand for all values of an input, from the place on where it is read.
//!
//! Control is followed from there with an interval of values, which is split where the value is
//! compared with a constant. Values that take the same branches, and that nothing else reads, do
//! the same in all runs: one of them stands for all. Where something else reads the value, each
//! value that comes there counts, so that `0 <= i && i < 10` leaves ten of them.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::{BinOp, Expr, Instr, Int, Reg, Template, next, reads, writes};

/// The most values that count each.
const MOST_VALUES: i64 = 256;
/// The most places, with their intervals, that are gone through.
const MOST_STATES: usize = 2_000;

/// Values that stand for all; `None`: too many count.
type Values = Option<Arc<[i64]>>;

/// The values that were computed so far, by instruction and register.
#[derive(Debug, Default)]
pub struct Ranges(RwLock<FxHashMap<(usize, Reg), Values>>);

/// A copy may be changed, and computes anew.
impl Clone for Ranges {
    fn clone(&self) -> Ranges {
        Ranges::default()
    }
}

impl Template {
    /// Returns values that stand for all values of an open register which an instruction is about
    /// to read; `None`: too many count.
    pub(crate) fn values_at(&self, pc: usize, r: Reg) -> Option<Arc<[i64]>> {
        let known = &self.ranges.0;
        if let Some(found) = known.read().unwrap_or_else(PoisonError::into_inner).get(&(pc, r)) {
            return found.clone();
        }
        let found = Search::of(self, pc, r).map(Arc::from);
        known.write().unwrap_or_else(PoisonError::into_inner).insert((pc, r), found.clone());
        found
    }
}

/// A place, an interval of values, the registers that have the value, and those that are constant
/// in the interval because of it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    pc: usize,
    least: i64,
    most: i64,
    same: Vec<Reg>,
    known: Vec<(Reg, i64)>,
}

/// What is known of an expression for all values of an interval.
enum Value {
    /// It is this.
    Constant(i64),
    /// It does not depend on which value of the interval it is.
    Same,
    /// It is constant on the parts that begin at these values.
    Split(Vec<i64>),
    /// It depends on the value.
    Any,
}

struct Search<'t> {
    template: &'t Template,
    work: Vec<State>,
    seen: HashSet<State>,
    /// Where intervals begin.
    cuts: Vec<i64>,
    /// Intervals of values that count each.
    each: Vec<(i64, i64)>,
}

impl Search<'_> {
    fn of(template: &Template, pc: usize, r: Reg) -> Option<Vec<i64>> {
        let (least, most) = limits(template.registers[r as usize])?;
        let first = State { pc, least, most, same: vec![r], known: Vec::new() };
        let (work, seen) = (vec![first], HashSet::new());
        let mut search = Search { template, work, seen, cuts: vec![least], each: Vec::new() };
        while let Some(state) = search.work.pop() {
            if search.seen.len() > MOST_STATES {
                return None;
            }
            if search.seen.insert(state.clone()) {
                search.follow(state)?;
            }
        }
        search.values(most)
    }

    /// Follows one instruction; `None`: too many values count.
    fn follow(&mut self, state: State) -> Option<()> {
        let t = self.template;
        if !t.live[state.pc].iter().any(|r| state.same.contains(r)) {
            return Some(());
        }
        let here = state.pc;
        let value = match &t.code[here] {
            Instr::Branch(e, yes, no) => match state.truth(e) {
                Value::Constant(v) => return self.goes(state, &[if v != 0 { *yes } else { *no }]),
                Value::Same => return self.goes(state, &[*yes, *no]),
                open => open,
            },
            Instr::Assume(e) => match state.truth(e) {
                Value::Constant(0) => return Some(()),
                Value::Constant(_) | Value::Same => return self.goes(state, &next(&t.code, here)),
                open => open,
            },
            Instr::Let(r, e) => {
                let copies = state.is_value(e);
                let value = if copies { Value::Same } else { state.value(e) };
                let mut after = state.clone();
                after.forget(*r);
                match value {
                    Value::Constant(v) => after.known.push((*r, v)),
                    Value::Same if copies => after.same.push(*r),
                    Value::Same => {}
                    Value::Split(_) | Value::Any => return self.open(state, value),
                }
                after.same.sort_unstable();
                after.known.sort_unstable();
                return self.goes(after, &next(&t.code, here));
            }
            i => {
                let mut counts = false;
                reads(i, &mut |r| counts |= state.same.contains(&r));
                if !counts {
                    let mut after = state;
                    writes(i).into_iter().for_each(|r| after.forget(r));
                    return self.goes(after, &next(&t.code, here));
                }
                Value::Any
            }
        };
        self.open(state, value)
    }

    /// The interval is split, or each of its values counts.
    fn open(&mut self, state: State, value: Value) -> Option<()> {
        let Value::Split(cuts) = value else {
            self.each.push((state.least, state.most));
            let few = state.most.checked_sub(state.least).is_some_and(|n| n < MOST_VALUES);
            return few.then_some(());
        };
        let mut least = state.least;
        for &cut in &cuts {
            self.work.push(State { least, most: cut - 1, ..state.clone() });
            least = cut;
        }
        self.work.push(State { least, ..state });
        self.cuts.extend(cuts);
        Some(())
    }

    fn goes(&mut self, state: State, ways: &[usize]) -> Option<()> {
        for &pc in ways.iter().filter(|&&pc| pc < self.template.code.len()) {
            let live = &self.template.live[pc];
            let mut after = State { pc, ..state.clone() };
            after.same.retain(|r| live.contains(r));
            after.known.retain(|(r, _)| live.contains(r));
            self.work.push(after);
        }
        Some(())
    }

    /// Returns each value that counts, and one of each other interval.
    fn values(mut self, most: i64) -> Option<Vec<i64>> {
        for &(first, last) in &self.each {
            self.cuts.push(first);
            self.cuts.extend(last.checked_add(1));
        }
        self.cuts.retain(|&cut| cut <= most);
        self.cuts.sort_unstable();
        self.cuts.dedup();
        let mut found = Vec::new();
        for (n, &least) in self.cuts.iter().enumerate() {
            let last = self.cuts.get(n + 1).map_or(most, |next| next - 1);
            match self.each.iter().any(|&(a, b)| a <= least && last <= b) {
                true => found.extend(least..=last),
                // The one that is nearest to zero, for people.
                false => found.push(if least >= 0 { least } else { last }),
            }
            if found.len() as i64 > MOST_VALUES {
                return None;
            }
        }
        Some(found)
    }
}

/// The least and the largest value of a type. Addresses and floating-point numbers have another
/// order.
fn limits(at: Int) -> Option<(i64, i64)> {
    if at.float || at.size == 8 && !at.signed {
        return None;
    }
    if at.truth {
        return Some((0, 1));
    }
    let bits = u32::from(at.size) * 8;
    Some(match (at.signed, bits) {
        (true, 64) => (i64::MIN, i64::MAX),
        (true, _) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (false, _) => (0, (1 << bits) - 1),
    })
}

impl State {
    fn forget(&mut self, r: Reg) {
        self.same.retain(|&x| x != r);
        self.known.retain(|&(x, _)| x != r);
    }

    /// Returns whether an expression is the value itself, for all values of the interval.
    fn is_value(&self, e: &Expr) -> bool {
        match e {
            Expr::Reg(r) => self.same.contains(r),
            Expr::Cast(e, to) => {
                let fits = |v: i64| !to.truth && to.wrap(v) == v;
                fits(self.least) && fits(self.most) && self.is_value(e)
            }
            _ => false,
        }
    }

    /// What is known of an expression that is only asked whether it is zero.
    fn truth(&self, e: &Expr) -> Value {
        match self.is_value(e) {
            true => self.split(0).unwrap_or(Value::Constant(i64::from(self.least != 0))),
            false => self.value(e),
        }
    }

    fn value(&self, e: &Expr) -> Value {
        if self.is_value(e) {
            return if self.least == self.most { Value::Constant(self.least) } else { Value::Any };
        }
        match e {
            Expr::Const(v) => Value::Constant(*v),
            Expr::Reg(r) => match self.known.iter().find(|known| known.0 == *r) {
                Some(&(_, v)) => Value::Constant(v),
                None => Value::Same,
            },
            Expr::SelfId | Expr::Local(_) => Value::Same,
            Expr::Cast(a, to) if to.truth => match self.truth(a) {
                Value::Constant(v) => Value::Constant(i64::from(v != 0)),
                other => other,
            },
            Expr::Cast(a, to) => match self.value(a) {
                Value::Constant(v) => Value::Constant(to.wrap(v)),
                other => other,
            },
            Expr::Bin(op, a, b, at) => {
                let compared = match (&**a, &**b) {
                    (a, Expr::Const(c)) if op.compares() && self.is_value(a) => Some((*c, self.least, *c)),
                    (Expr::Const(c), b) if op.compares() && self.is_value(b) => Some((*c, *c, self.least)),
                    _ => None,
                };
                if let Some((c, x, y)) = compared {
                    // Without a cut, all of the interval is on one side of the constant, or is it.
                    return self.split(c).unwrap_or_else(|| applied(*op, x, y, *at));
                }
                match (self.value(a), self.value(b)) {
                    (Value::Any, _) | (_, Value::Any) => Value::Any,
                    (Value::Split(cuts), _) | (_, Value::Split(cuts)) => Value::Split(cuts),
                    (Value::Constant(x), Value::Constant(y)) => applied(*op, x, y, *at),
                    _ => Value::Same,
                }
            }
            Expr::Float(..) | Expr::Convert(..) => {
                let mut counts = false;
                e.registers(&mut |r| counts |= self.same.contains(&r));
                if counts { Value::Any } else { Value::Same }
            }
        }
    }

    /// Splits the interval around a constant, if that is in it or next to it.
    fn split(&self, c: i64) -> Option<Value> {
        let inside = |cut: &i64| self.least < *cut && *cut <= self.most;
        // Both orders of numbers agree between numbers of one sign.
        let mut cuts: Vec<i64> = [Some(0), Some(c), c.checked_add(1)].into_iter().flatten().collect();
        cuts.retain(inside);
        cuts.sort_unstable();
        cuts.dedup();
        (!cuts.is_empty()).then_some(Value::Split(cuts))
    }
}

/// The result of an operator; one that is undefined is left to the step.
fn applied(op: BinOp, x: i64, y: i64, at: Int) -> Value {
    op.apply(x, y, at).map_or(Value::Any, Value::Constant)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::program::analysis::live;
    use crate::program::{BOOL, INT, Leaf};

    /// The input, its copies, another input, and two more numbers.
    const INPUT: Reg = 0;
    const OTHER: Reg = 3;

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }

        fn constant(&mut self) -> Expr {
            let edges = [-128, 127, 128, 255, 0];
            Expr::Const(match self.below(6) {
                0 => edges[self.below(5) as usize],
                _ => self.below(14) as i64 - 3,
            })
        }

        fn register(&mut self) -> Expr {
            Expr::Reg(self.below(5) as Reg)
        }

        fn compared(&mut self) -> Expr {
            let op = [BinOp::Lt, BinOp::Le, BinOp::Eq, BinOp::Ne][self.below(4) as usize];
            let at = if self.below(3) == 0 { Int::new(4, false) } else { INT };
            let value = match self.below(3) {
                0 => Expr::Cast(Box::new(self.register()), INT),
                _ => self.register(),
            };
            let (a, b) = if self.below(2) == 0 { (value, self.constant()) } else { (self.constant(), value) };
            Expr::Bin(op, Box::new(a), Box::new(b), at)
        }

        fn expression(&mut self) -> Expr {
            match self.below(8) {
                0 => self.register(),
                1 => Expr::Cast(
                    Box::new(self.register()),
                    [BOOL, INT, Int::new(1, true)][self.below(3) as usize],
                ),
                2 => Expr::Bin(BinOp::Add, Box::new(self.register()), Box::new(self.constant()), INT),
                3 => Expr::Bin(BinOp::And, Box::new(self.compared()), Box::new(self.compared()), INT),
                4 => Expr::Reg(OTHER),
                _ => self.compared(),
            }
        }

        /// A program that ends: control only goes forward.
        fn program(&mut self, at: Int) -> Template {
            let size = 6 + self.below(8) as usize;
            let mut code: Vec<Instr> = (0..size)
                .map(|pc| {
                    let ahead = |random: &mut Random| pc + 1 + random.below((size - pc) as u64) as usize;
                    match self.below(7) {
                        0 | 1 => Instr::Let([1, 2, 4][self.below(3) as usize], self.expression()),
                        2 if self.below(3) == 0 => Instr::Let(INPUT, self.expression()),
                        2 => Instr::Store(Expr::Const(0), self.compared(), INT),
                        3 if self.below(3) == 0 => Instr::Store(Expr::Const(0), self.expression(), INT),
                        4 => Instr::Assume(self.compared()),
                        _ => Instr::Branch(self.compared(), ahead(self), ahead(self)),
                    }
                })
                .collect();
            code.push(Instr::Store(Expr::Const(1), Expr::Const(1), INT));
            code.push(Instr::Halt);
            let registers = vec![at, INT, INT, INT, INT];
            let mut template = Template { code, registers, ..Template::default() };
            template.live = live(&template);
            template
        }
    }

    /// What is written, and where it ends.
    fn outcome(t: &Template, input: i64, other: i64) -> (Vec<i64>, usize) {
        let mut registers = [input, 7, 7, other, 7];
        let (mut written, mut pc) = (Vec::new(), 0);
        loop {
            let value = |e: &Expr| {
                let leaf = |of: Leaf| match of {
                    Leaf::Register(r) => Ok(registers[r as usize]),
                    Leaf::SelfId | Leaf::Local(_) => Err(crate::program::Undefined::Operator),
                };
                e.value(&leaf, &|| ()).unwrap()
            };
            match &t.code[pc] {
                Instr::Let(r, e) => registers[*r as usize] = value(e),
                Instr::Store(_, e, _) => written.push(value(e)),
                Instr::Assume(e) if value(e) == 0 => return (written, pc),
                Instr::Assume(_) => {}
                Instr::Branch(e, yes, no) => {
                    pc = if value(e) != 0 { *yes } else { *no };
                    continue;
                }
                _ => return (written, pc),
            }
            pc += 1;
        }
    }

    #[test]
    fn the_values_stand_for_all() {
        let mut random = Random(41);
        let (mut fewer, mut split) = (0, 0);
        for n in 0..2_000 {
            let at = Int::new(1, n % 2 == 0);
            let template = random.program(at);
            let (least, most) = limits(at).unwrap();
            let values = template.values_at(0, INPUT).unwrap();
            assert!(values.iter().all(|v| (least..=most).contains(v)), "{values:?}");
            let all = |values: &mut dyn Iterator<Item = i64>| -> BTreeSet<_> {
                values.flat_map(|v| [0, 1].map(|other| outcome(&template, v, other))).collect()
            };
            let expected = all(&mut (least..=most));
            assert_eq!(all(&mut values.iter().copied()), expected, "{values:?} {:#?}", template.code);
            fewer += usize::from(values.len() < 256);
            split += usize::from((3..256).contains(&values.len()));
        }
        assert!(fewer > 1_000 && split > 500, "{fewer} {split}");
    }

    #[test]
    fn a_small_range_is_listed_and_a_large_one_is_not() {
        let range = |most: i64| {
            let below = |a: Expr, b: Expr| Expr::Bin(BinOp::Le, Box::new(a), Box::new(b), INT);
            let code = vec![
                Instr::Branch(below(Expr::Const(0), Expr::Reg(0)), 1, 3),
                Instr::Branch(below(Expr::Reg(0), Expr::Const(most)), 2, 3),
                Instr::Store(Expr::Const(0), Expr::Reg(0), INT),
                Instr::Halt,
            ];
            let mut template = Template { code, registers: vec![INT], ..Template::default() };
            template.live = live(&template);
            template.values_at(0, 0).map(|values| values.to_vec())
        };
        assert_eq!(range(3), Some(vec![-1, 0, 1, 2, 3, 4]));
        assert_eq!(range(200).map(|values| values.len()), Some(203));
        assert_eq!(range(5_000), None);
    }
}
