//! Threads that count themselves in and out, and a thread that waits for the count.
//!
//! **Counters.** A variable is a counter of the threads that one thread starts, the parent, if
//! besides that one only they write it, and each in steps: it adds 1 (or takes 1 away), and later at
//! most once undoes that. Steps are indivisible: all hold one lock, or are atomic. So the variable is
//! what the parent has put there, and 1 (or -1) for each thread that is between its two steps; or for
//! each that is behind its only one.
//!
//! **What the parent sees.** If it sees as many as it has started, all of them are behind the first
//! step, and stay so. If all are behind the first step and it sees none, all are behind the second
//! one. How many it has started it knows as a sum, or as a bound: a loop that starts threads while
//! `i < n` has started at most `n`, or none.
//!
//! A variable has at least four bytes, and is taken to count the threads that there are at one time
//! without wrapping around.
//!
//! What a thread does before a step is over once the parent knows that it is behind it.
//!
//! **Flags.** The parent may also see none while some have not begun. Then none is between its steps,
//! and whichever is so later makes its first step later. If a variable that only the parent writes was
//! 0 then, and is since, such a thread finds 0 there. So what a thread does between its steps after
//! it has found something else there is over.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use throng_goto::program::{BinOp, Expr, Instr, Int, Reg, Start, object_of, offset_of};

use super::cells::each_written;
use super::crowds::ordered;
use super::facts::{Kind, Known, Lock, State, Sum};
use super::inclusion::Values;
use super::locks::Words;
use super::patterns::Code;
use super::points::{Offsets, Site};
use super::threads::Threads;
use super::transfer::Flow;

/// What the parent knows about a counter.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Count {
    /// What it has put there.
    pub own: Option<i64>,
    /// The same, less the number of threads that it has started.
    pub ahead: Option<i64>,
    /// How many threads it has started.
    pub started: Option<Sum>,
    /// What that is not greater than, unless it is 0.
    pub most: Option<Sum>,
    /// Whether all that were started are behind the first step, and behind the second one.
    pub behind: [bool; 2],
    /// Registers with a value that was read since the last start of a thread.
    pub seen: BTreeSet<Reg>,
    /// Flags that have been 0 since no thread was between its steps.
    pub over: BTreeSet<u32>,
}

/// A variable that only the parent writes, and others load.
#[derive(Clone, Debug)]
pub struct Flag {
    address: i64,
    kind: Int,
}

/// What is known of counters at an access.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Arrived {
    /// Steps of counters that all threads are behind that the running one has started.
    behind: BTreeSet<(u32, u8)>,
    /// Counters with flags that have been 0 since no thread was between its steps.
    over: BTreeSet<(u32, u32)>,
    /// By counter, how many steps the thread has made itself, at most.
    steps: BTreeMap<u32, u8>,
    /// Counters with flags that it has found not to be 0 between its steps.
    found: BTreeSet<(u32, u32)>,
}

impl Arrived {
    /// Returns what a state says.
    pub(super) fn of(state: &State) -> Arrived {
        let behind = |(n, count): (&u32, &Count)| {
            let (n, behind) = (*n, count.behind);
            (0..2u8).filter(move |step| behind[*step as usize]).map(move |step| (n, step + 1))
        };
        let over = |(n, count): (&u32, &Count)| {
            let n = *n;
            count.over.iter().map(move |flag| (n, *flag)).collect::<Vec<_>>()
        };
        Arrived {
            behind: state.counts.iter().flat_map(behind).collect(),
            over: state.counts.iter().flat_map(over).collect(),
            steps: state.passed.iter().map(|(n, made)| (*n, made.1)).collect(),
            found: state.found.clone(),
        }
    }

    /// Returns whether what another thread does is over, as the one that has started it knows by one
    /// of these counters.
    pub(super) fn excludes(&self, other: &Arrived, counters: &dyn Fn(u32) -> bool) -> bool {
        let behind = |(n, step): &(u32, u8)| other.steps.get(n).is_some_and(|made| made < step);
        self.behind.iter().filter(|b| counters(b.0)).any(behind)
            || self.over.iter().filter(|o| counters(o.0)).any(|o| other.found.contains(o))
    }
}

/// Numbers of steps that a thread has made, at least and at most.
pub type Steps = (u8, u8);

/// A counter of a program.
#[derive(Clone, Debug)]
pub struct Counter {
    address: i64,
    kind: Int,
    /// Where the parent starts.
    parent: usize,
    /// Where the threads start that count themselves.
    pub(super) children: BTreeSet<usize>,
    /// What the first step adds.
    first: i64,
    /// Whether there is a second one, which undoes it.
    returns: bool,
    initial: i64,
}

/// Returns the counters of a program, as far as that does not depend on what is known where threads
/// are.
pub(super) fn counters(values: &Values<'_>, threads: &Threads, code: &[Code<'_>]) -> Vec<Counter> {
    let program = values.program;
    let Start::One(parent) = program.start else { return Vec::new() };
    let alone = |t: usize| !threads.is_called(t) && threads.of[t].iter().eq([&t]);
    if !threads.once[parent] || !alone(parent) {
        return Vec::new();
    }
    let child = |t: &usize| {
        threads.parent[*t].is_some_and(|(p, at)| p == parent && at.0 as usize == parent) && alone(*t)
    };
    let children: Vec<usize> = (0..program.templates.len()).filter(child).collect();
    let mut candidates = BTreeSet::new();
    for &t in &children {
        candidates.extend((0..program.templates[t].code.len()).filter_map(|pc| Some(step(&code[t], pc)?.0)));
    }
    let all = candidates.into_iter().take(MOST_COUNTERS);
    all.filter_map(|address| counter(values, threads, code, (parent, &children), address)).collect()
}

/// Returns the variables that threads with counters load, and only their parent writes.
pub(super) fn flags(values: &Values<'_>, counters: &[Counter]) -> Vec<Flag> {
    let program = values.program;
    let Some(parent) = counters.first().map(|c| c.parent) else { return Vec::new() };
    let children: BTreeSet<usize> = counters.iter().flat_map(|c| c.children.iter().copied()).collect();
    let mut found: BTreeMap<i64, Int> = BTreeMap::new();
    for i in children.into_iter().flat_map(|t| &program.templates[t].code) {
        if let Instr::Load(_, Expr::Const(a), at) = i
            && (1..=program.objects.len() as i64).contains(&object_of(*a))
        {
            found.insert(*a, *at);
        }
    }
    let by_others = |address: i64, size: i64| {
        let others = program.templates.iter().enumerate().filter(|(t, _)| *t != parent);
        { others }
            .any(|(t, template)| template.code.iter().any(|i| may_write(values, (t, i), (address, size))))
    };
    let own = |(a, at): &(i64, Int)| {
        let object = program.objects.get(object_of(*a) as usize - 1);
        object.is_some_and(|o| !o.external) && !by_others(*a, at.size.into())
    };
    found.into_iter().filter(own).take(MOST_COUNTERS).map(|(address, kind)| Flag { address, kind }).collect()
}

/// Maximum number of counters, and of flags.
const MOST_COUNTERS: usize = 16;

fn counter(
    values: &Values<'_>,
    threads: &Threads,
    code: &[Code<'_>],
    (parent, possible): (usize, &[usize]),
    address: i64,
) -> Option<Counter> {
    let program = values.program;
    let object = program.objects.get(usize::try_from(object_of(address) - 1).ok()?)?;
    let (mut children, mut steps, mut kinds) = (BTreeSet::new(), Vec::new(), Vec::new());
    for (t, template) in program.templates.iter().enumerate().filter(|(t, _)| !threads.of[*t].is_empty()) {
        for (pc, i) in template.code.iter().enumerate() {
            match step(&code[t], pc).filter(|s| s.0 == address) {
                Some((_, at, by)) => {
                    kinds.push(at);
                    if t != parent {
                        children.insert(t);
                        steps.push(by);
                    }
                }
                None if t == parent => {}
                None if may_write(values, (t, i), (address, 8)) => return None,
                None => {}
            }
        }
    }
    let kind = *kinds.first()?;
    let right = kinds.iter().all(|k| *k == kind) && kind.size >= 4 && !kind.truth && !kind.float;
    let right = right && children.iter().all(|t| possible.contains(t));
    let first = *steps.first()?;
    let right = right && first.abs() == 1 && steps.iter().all(|s| s.abs() == 1);
    let start = usize::try_from(offset_of(address)).ok()?;
    let bytes = object.init.get(start..start + kind.size as usize).filter(|_| right && !object.external)?;
    let known = bytes.iter().all(|b| *b < 256);
    let value = bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b & 255));
    let returns = steps.iter().any(|s| *s != first);
    known.then(|| Counter { address, kind, parent, children, first, returns, initial: kind.wrap(value) })
}

/// Returns whether an instruction may write a variable other than as a step of it.
fn may_write(values: &Values<'_>, (t, i): (usize, &Instr), (address, size): (i64, i64)) -> bool {
    let site = Site::Object(object_of(address));
    let mut found = false;
    each_written(values, t, i, &mut |places| {
        let hits = |at: &Offsets| at.overlaps(8, Offsets::one(offset_of(address)), size);
        found |= places.0.contains_key(&Site::Unknown);
        found |= places.0.get(&site).is_some_and(|list| list.iter().any(hits));
    });
    found
}

/// Returns the variable that a store adds a number to, which was loaded right before, and the number.
fn step(code: &Code<'_>, store: usize) -> Option<(i64, Int, i64)> {
    let Instr::Store(Expr::Const(a), value, at) = &code.t.code[store] else { return None };
    let (mut value, mut added, mut pc) = (value, 0i64, store);
    loop {
        // The value is `value` and `added`, as far as the bytes of the variable go.
        match value {
            Expr::Cast(e, to) if to.size >= at.size && !to.truth => value = e,
            Expr::Bin(op @ (BinOp::Add | BinOp::Sub), e, by, to) if to.size >= at.size => {
                let Expr::Const(by) = **by else { return None };
                added = added.checked_add(if *op == BinOp::Sub { by.checked_neg()? } else { by })?;
                value = e;
            }
            Expr::Reg(r) => loop {
                let before = pc.checked_sub(1).filter(|before| code.before[pc] == [*before])?;
                pc = before;
                match &code.t.code[pc] {
                    Instr::Let(q, e) if q == r => {
                        value = e;
                        break;
                    }
                    Instr::Let(..) => {}
                    Instr::Load(q, Expr::Const(b), from) if q == r && a == b && from == at => {
                        return Some((*a, *at, added));
                    }
                    _ => return None,
                }
            },
            _ => return None,
        }
    }
}

/// What was seen of the steps of counters.
#[derive(Clone, Default, Debug)]
pub(super) struct Stepped {
    /// Counters with a step that does not come in turn.
    wrong: BTreeSet<u32>,
    /// By counter, the locks that are held at all steps; `None`: each is in an atomic section.
    locks: BTreeMap<u32, Option<BTreeSet<Lock>>>,
}

impl Stepped {
    /// Looks at an instruction, given what is known there.
    pub(super) fn look(&mut self, flow: &Flow<'_>, (t, pc): (usize, usize), state: &State) {
        for (n, counter) in (0..).zip(&flow.counters) {
            let Some((_, by)) = flow.steps(t, pc, counter) else { continue };
            if flow.is_alone(t, state) {
                continue;
            }
            if t != counter.parent && counter.next(by, state.passed.get(&n).copied()).is_none() {
                self.wrong.insert(n);
            }
            let fixed = |l: &&Lock| {
                l.kind == Kind::Alone
                    && l.address.terms.is_empty()
                    && l.address.base.is_some_and(|s| flow.is_one(s))
            };
            let held: BTreeSet<Lock> = state.locks.iter().filter(fixed).cloned().collect();
            let held = (state.sections == 0).then_some(held);
            match self.locks.entry(n) {
                std::collections::btree_map::Entry::Vacant(new) => _ = new.insert(held),
                std::collections::btree_map::Entry::Occupied(mut known) => match (known.get_mut(), held) {
                    (None, None) => {}
                    (Some(known), Some(held)) => known.retain(|l| held.contains(l)),
                    (known, _) => *known = Some(BTreeSet::new()),
                },
            }
        }
    }

    /// Returns the counters whose steps come in turn and are indivisible.
    pub(super) fn right(&self, flow: &Flow<'_>, words: &Words) -> BTreeSet<u32> {
        let whole = |n: &u32| match self.locks.get(n) {
            None => false,
            Some(None) => true,
            Some(Some(locks)) => {
                locks.iter().any(|l| words.is_lock(flow, flow.counters[*n as usize].parent, l))
            }
        };
        (0..flow.counters.len() as u32).filter(|n| !self.wrong.contains(n) && whole(n)).collect()
    }
}

impl Counter {
    /// Returns how many steps a thread has made after one more, if that comes in turn.
    fn next(&self, by: i64, made: Option<Steps>) -> Option<Steps> {
        match made? {
            (0, 0) if by == self.first => Some((1, 1)),
            (1, 1) if self.returns && by == -self.first => Some((2, 2)),
            _ => None,
        }
    }

    /// What the parent knows when it starts.
    fn at_start(&self) -> Count {
        Count {
            own: Some(self.initial),
            ahead: Some(self.initial),
            started: Some(Sum::number(0)),
            most: None,
            behind: [true; 2],
            seen: BTreeSet::new(),
            over: BTreeSet::new(),
        }
    }

    /// Notes that a value in a register is at least (`low`) or at most a sum.
    fn bounded(&self, low: bool, sum: &Sum, count: &mut Count, state: &State) {
        // What the parent has put there is as many as it has started, and `ahead`.
        let few = state.value(sum).zip(count.ahead).is_some_and(|(v, ahead)| v <= ahead);
        count.behind[0] |= few && !low && self.first == -1 && !self.returns;
        // A sum that the number of threads between the steps, or behind the only one, is bounded by.
        let Some(own) = count.own else { return };
        let less = match self.first {
            1 => sum.plus(&Sum::number(own), -1),
            _ => Sum::number(own).plus(sum, -1),
        };
        let Some(number) = less else { return };
        if low == (self.first == 1) {
            // They are at least so many.
            let reaches = |most: &Sum| state.apart(&number, most).is_some_and(|n| n >= 0);
            let reached =
                count.started.as_ref().is_some_and(reaches) || count.most.as_ref().is_some_and(reaches);
            count.behind[0] |= reached;
        } else {
            let none = self.returns && state.value(&number).is_some_and(|n| n <= 0);
            count.behind[1] |= none && count.behind[0];
            if none {
                count.over.extend(&state.cleared);
            }
        }
    }
}

/// Returns what is known if either state is that of a thread.
pub(super) fn join(a: &State, b: &State) -> BTreeMap<u32, Count> {
    let either = |x: &Sum, y: &Sum| match () {
        () if b.apart(x, y) == Some(0) => Some(x.clone()),
        () if a.apart(x, y) == Some(0) => Some(y.clone()),
        () => None,
    };
    let of = |(n, x): (&u32, &Count)| {
        let y = b.counts.get(n)?;
        let most = match (&x.most, &y.most) {
            (x, y) if x == y => x.clone(),
            (None, most) if x.none_started() => most.clone(),
            (most, None) if y.none_started() => most.clone(),
            _ => None,
        };
        let count = Count {
            own: x.own.filter(|_| x.own == y.own),
            ahead: x.ahead.filter(|_| x.ahead == y.ahead),
            started: x.started.as_ref().zip(y.started.as_ref()).and_then(|(x, y)| either(x, y)),
            most,
            behind: [x.behind[0] && y.behind[0], x.behind[1] && y.behind[1]],
            seen: x.seen.intersection(&y.seen).copied().collect(),
            over: x.over.intersection(&y.over).copied().collect(),
        };
        Some((*n, count))
    };
    a.counts.iter().filter_map(of).collect()
}

/// Returns whether what one state says of counters is so in the other.
pub(super) fn covers(claimed: &State, state: &State) -> bool {
    let holds = |(n, claim): (&u32, &Count)| {
        let Some(known) = state.counts.get(n) else { return false };
        let same = |claim: &Sum| {
            known.started.as_ref().is_some_and(|k| k == claim || state.apart(k, claim) == Some(0))
        };
        claim.own.is_none_or(|n| known.own == Some(n))
            && claim.ahead.is_none_or(|n| known.ahead == Some(n))
            && claim.started.as_ref().is_none_or(same)
            && (claim.most.is_none() || claim.most == known.most || known.none_started())
            && (0..2).all(|step| known.behind[step] || !claim.behind[step])
            && claim.seen.is_subset(&known.seen)
            && claim.over.is_subset(&known.over)
    };
    let passed = |(n, claim): (&u32, &Steps)| {
        state.passed.get(n).is_some_and(|known| claim.0 <= known.0 && claim.1 >= known.1)
    };
    claimed.counts.iter().all(holds)
        && claimed.passed.iter().all(passed)
        && claimed.cleared.is_subset(&state.cleared)
        && claimed.found.is_subset(&state.found)
        && claimed.flags.iter().all(|(r, flag)| state.flags.get(r) == Some(flag))
}

/// Returns how many steps were made if either state is that of a thread.
pub(super) fn join_steps(a: &State, b: &State) -> BTreeMap<u32, Steps> {
    let of = |(n, x): (&u32, &Steps)| Some((*n, (x.0.min(b.passed.get(n)?.0), x.1.max(b.passed.get(n)?.1))));
    a.passed.iter().filter_map(of).collect()
}

/// A register changes: what is said with it is said otherwise, as `replace` says, or not at all.
pub(super) fn forget(r: Reg, replace: &dyn Fn(&Sum) -> Option<Sum>, state: &mut State) {
    state.flags.remove(&r);
    for count in state.counts.values_mut() {
        count.seen.remove(&r);
        count.started = count.started.as_ref().and_then(replace);
        count.most = count.most.as_ref().and_then(replace);
    }
}

impl Count {
    fn none_started(&self) -> bool {
        self.started == Some(Sum::number(0))
    }

    /// The sums in it.
    pub(super) fn sums(&self) -> impl Iterator<Item = &Sum> {
        self.started.iter().chain(&self.most)
    }
}

impl Flow<'_> {
    /// Returns what is known where a program begins in a template.
    pub fn at_start(&self, t: usize) -> State {
        let counts = (0..).zip(&self.counters).filter(|(_, c)| c.parent == t);
        State { counts: counts.map(|(n, c)| (n, c.at_start())).collect(), ..State::default() }
    }

    /// Returns how many steps a thread has made where it begins.
    pub(super) fn steps_at_start(&self, child: usize) -> BTreeMap<u32, Steps> {
        let counters = (0..).zip(&self.counters).filter(|(_, c)| c.children.contains(&child));
        counters.map(|(n, _)| (n, (0, 0))).collect()
    }

    /// Returns what a step adds to a counter, if the instruction is one.
    fn steps(&self, t: usize, pc: usize, counter: &Counter) -> Option<(Int, i64)> {
        let (address, at, by) = step(&self.code[t], pc)?;
        (address == counter.address).then_some((at, by))
    }

    /// An instruction may write counters, or load them.
    pub(super) fn counted(&self, (t, pc): (usize, usize), before: &State, then: &mut State) {
        let i = &self.program.templates[t].code[pc];
        for (n, counter) in (0..).zip(&self.counters) {
            let step = self.steps(t, pc, counter);
            if t != counter.parent {
                if let Some((_, by)) = step {
                    then.flags.clear();
                    then.found.retain(|(of, _)| *of != n);
                    match counter.next(by, before.passed.get(&n).copied()) {
                        Some(made) => _ = then.passed.insert(n, made),
                        None => _ = then.passed.remove(&n),
                    }
                }
                continue;
            }
            let Some(count) = then.counts.get_mut(&n) else { continue };
            match (i, step) {
                (_, Some((_, by))) => {
                    count.own = count.own.and_then(|own| own.checked_add(by));
                    count.ahead = count.ahead.and_then(|ahead| ahead.checked_add(by));
                    count.seen.clear();
                }
                (Instr::Load(r, Expr::Const(a), at), None)
                    if *a == counter.address && *at == counter.kind =>
                {
                    count.seen.insert(*r);
                }
                (Instr::Store(Expr::Const(a), e, at), None)
                    if *a == counter.address && *at == counter.kind && count.none_started() =>
                {
                    // No thread has counted itself yet.
                    let value = self.sum(t, e, before).and_then(|sum| before.value(&sum)).map(|v| at.wrap(v));
                    (count.own, count.ahead) = (value, value);
                    count.seen.clear();
                }
                _ if may_write(&self.values, (t, i), (counter.address, counter.kind.size.into())) => {
                    then.counts.remove(&n);
                }
                _ => {}
            }
        }
    }

    /// An instruction may write flags, or load them.
    pub(super) fn flagged(&self, (t, pc): (usize, usize), before: &State, then: &mut State) {
        let i = &self.program.templates[t].code[pc];
        for (n, flag) in (0..).zip(&self.flags) {
            let is_parent = self.counters.first().is_some_and(|c| c.parent == t);
            match i {
                Instr::Load(r, Expr::Const(a), at)
                    if !is_parent && *a == flag.address && *at == flag.kind =>
                {
                    then.flags.insert(*r, n);
                }
                _ if is_parent && may_write(&self.values, (t, i), (flag.address, flag.kind.size.into())) => {
                    then.cleared.remove(&n);
                    for count in then.counts.values_mut() {
                        count.over.remove(&n);
                        // What was read before may be older than what is 0 from now on.
                        count.seen.clear();
                    }
                    if let Instr::Store(Expr::Const(a), e, at) = i
                        && *a == flag.address
                        && *at == flag.kind
                        && self.sum(t, e, before).and_then(|sum| before.value(&sum)) == Some(0)
                    {
                        then.cleared.insert(n);
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes flags that a condition says not to be 0.
    pub(super) fn learn_flag(&self, e: &Expr, holds: bool, then: &mut State) {
        let loaded = |r: Reg| then.equal.get(&r).and_then(Sum::as_register).unwrap_or(r);
        let Some(flag) = not_zero(e, holds).and_then(|r| then.flags.get(&loaded(r)).copied()) else { return };
        let between = then.passed.iter().filter(|(_, steps)| **steps == (1, 1));
        let new: Vec<(u32, u32)> = between.map(|(n, _)| (*n, flag)).collect();
        then.found.extend(new);
    }

    /// The parent starts a thread.
    pub(super) fn starts_counted(&self, child: usize, before: &State, then: &mut State) {
        for (n, _) in (0..).zip(&self.counters).filter(|(_, c)| c.children.contains(&child)) {
            let Some(count) = then.counts.get_mut(&n) else { continue };
            let started = count.started.as_ref().map(|s| in_registers(s, before));
            let less = started.as_ref().and_then(Sum::as_register).and_then(|r| before.less.get(&r));
            count.most = less.filter(|bound| bound.signed).map(|bound| bound.sum.clone());
            count.started = started.and_then(|s| s.plus(&Sum::number(1), 1));
            count.ahead = count.ahead.and_then(|ahead| ahead.checked_sub(1));
            count.behind = [false; 2];
            count.seen.clear();
        }
    }

    /// Notes what a condition says about values of counters that were read.
    pub(super) fn learn_count(&self, t: usize, e: &Expr, holds: bool, then: &mut State) {
        if then.counts.values().all(|count| count.seen.is_empty()) {
            return;
        }
        for (low, high, strict) in compared(e, holds) {
            let (Some(low), Some(high)) = (self.sum(t, &low, then), self.sum(t, &high, then)) else {
                continue;
            };
            let Some(low) = low.plus(&Sum::number(strict.into()), 1) else { continue };
            if low.base.is_some() || high.base.is_some() {
                continue;
            }
            let mut counts = std::mem::take(&mut then.counts);
            for (n, count) in &mut counts {
                let Some(counter) = self.counters.get(*n as usize) else { continue };
                for r in count.seen.clone() {
                    let before = count.behind[0];
                    if !count.seen.contains(&r) {
                        continue;
                    }
                    let rest =
                        |sum: &Sum| (sum.factor(r) == 1).then(|| sum.plus(&Sum::register(r), -1)).flatten();
                    // low <= r + rest, and r + rest <= high
                    let least = rest(&high).and_then(|rest| low.plus(&rest, -1));
                    let most = rest(&low).and_then(|rest| high.plus(&rest, -1));
                    least.iter().for_each(|sum| counter.bounded(true, sum, count, then));
                    most.iter().for_each(|sum| counter.bounded(false, sum, count, then));
                    if count.behind[0] && !before {
                        // What was read before says nothing about second steps.
                        count.seen = BTreeSet::from([r]);
                    }
                }
            }
            then.counts = counts;
        }
    }
}

/// Returns the register that is not 0 where a condition holds or does not.
fn not_zero(e: &Expr, holds: bool) -> Option<Reg> {
    match e {
        Expr::Reg(r) if holds => Some(*r),
        Expr::Cast(e, to) if to.truth => not_zero(e, holds),
        Expr::Bin(op @ (BinOp::Eq | BinOp::Ne), a, b, _) if **b == Expr::Const(0) => {
            not_zero(a, (*op == BinOp::Ne) == holds)
        }
        _ => None,
    }
}

/// Returns a number as a register with that value, which is compared with something.
fn in_registers(sum: &Sum, state: &State) -> Sum {
    let Some(value) = state.value(sum).filter(|_| sum.terms.is_empty()) else { return sum.clone() };
    let same = |r: &&Reg| matches!(state.known.get(r), Some(Known::Is(v)) if *v == value);
    state.less.keys().find(same).map_or(sum.clone(), |r| Sum::register(*r))
}

/// Returns what is not greater than what, and whether it is less, where a condition holds or does
/// not.
fn compared(e: &Expr, holds: bool) -> Vec<(Expr, Expr, bool)> {
    if let Some((low, high, strict, signed)) = ordered(e, holds) {
        return if signed { vec![(low.clone(), high.clone(), strict)] } else { Vec::new() };
    }
    match e {
        Expr::Bin(op @ (BinOp::Eq | BinOp::Ne), a, b, _) => match (&**a, &**b) {
            // `!(…)`
            (inner @ Expr::Bin(inner_op, ..), Expr::Const(0)) if inner_op.compares() => {
                compared(inner, (*op == BinOp::Ne) == holds)
            }
            (a, b) if (*op == BinOp::Eq) == holds => {
                vec![(a.clone(), b.clone(), false), (b.clone(), a.clone(), false)]
            }
            _ => Vec::new(),
        },
        Expr::Reg(_) if !holds => {
            let zero = Expr::Const(0);
            vec![(e.clone(), zero.clone(), false), (zero, e.clone(), false)]
        }
        _ => Vec::new(),
    }
}
