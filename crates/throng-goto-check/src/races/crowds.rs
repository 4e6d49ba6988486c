//! Threads that one instruction starts again and again: where their numbers are kept, so that a loop
//! can wait for all of them, and what they were given, so that each has an index of its own.
//!
//! **Rows.** `for (i = 0; i < n; i++) start(&t[i]);` keeps the numbers of all threads that may be
//! alive in a row, at `t[0]` up to `t[i - 1]`, and all these indices are less than `n`. A number is
//! only added behind the last one, so that none is overwritten, and no other thread writes the
//! array. Waiting for `t[j]` where the row begins at `j` shortens it; and where `j < n` does not
//! hold any more, nothing is left of it: each index `k` of the rest would satisfy `j <= k < n`.
//! Rows begin at a number that is known and not negative, and grow by one, so that comparisons with
//! and without sign agree on their indices.
//!
//! **Arguments.** If each thread is given a number that is greater than that of the one before by at
//! least `step`, those of two threads that are alive differ by at least that much.
//!
//! Both are about threads that are started by one instruction in one thread: it comes to know of all
//! of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use throng_goto::program::{BinOp, Expr, Instr, Int, Reg};

use super::facts::{Facts, Known, State, Sum};
use super::points::{Offsets, Pointers, Site};
use super::transfer::Flow;

/// Threads that start in one template, all that may be alive.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Crowd {
    /// Where their numbers are; `None`: that is not known of all.
    pub numbers: Option<Numbers>,
    /// What they were given; `None`: that is not known of all.
    pub given: Option<Given>,
}

/// Where numbers of threads are: each is in a row or in a register.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Numbers {
    /// The row.
    pub row: Option<Row>,
    /// The register, which has the number of the thread that was started last.
    pub newest: Option<Reg>,
}

/// A part of an array with a number of a thread in each element.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The address of the element with the index 0.
    pub base: Sum,
    /// Distance between elements.
    pub stride: i64,
    /// What is added to the numbers.
    pub plus: i64,
    /// The first index.
    pub from: Sum,
    /// The index behind the last one, if it is known.
    pub to: Option<Sum>,
    /// What all indices are less than, if that is known.
    pub bound: Option<Bound>,
}

/// What a number is less than.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bound {
    /// That.
    pub sum: Sum,
    /// Whether the numbers are compared with their signs.
    pub signed: bool,
}

/// What threads were given as their only argument.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Given {
    /// What the last one was given: no other one has more.
    pub last: Sum,
    /// What they differ by, at least; `None`: there is only one.
    pub step: Option<i64>,
}

impl Crowd {
    /// The sums in it.
    pub(super) fn sums(&self) -> impl Iterator<Item = &Sum> {
        let row = self.numbers.iter().filter_map(|n| n.row.as_ref());
        row.flat_map(|row| {
            let bound = row.bound.as_ref().map(|b| &b.sum);
            [Some(&row.base), Some(&row.from), row.to.as_ref(), bound].into_iter().flatten()
        })
        .chain(self.given.iter().map(|g| &g.last))
    }
}

impl Given {
    /// Returns whether whatever the other says is said by this, too.
    fn covers(&self, other: &Given, state: &State) -> bool {
        least(self.step) <= least(other.step) && is_same(state, &self.last, &other.last)
    }
}

fn least(step: Option<i64>) -> i64 {
    step.unwrap_or(i64::MAX)
}

/// Returns whether two sums have the same value.
fn is_same(state: &State, a: &Sum, b: &Sum) -> bool {
    a == b || state.apart(a, b) == Some(0)
}

/// Returns whether a sum is at least another one.
fn is_at_least(state: &State, a: &Sum, b: &Sum) -> bool {
    a == b || state.apart(a, b).is_some_and(|n| n >= 0)
}

/// Returns a sum that has one value in one state and another in the other.
fn either(a: &State, x: &Sum, b: &State, y: &Sum) -> Option<Sum> {
    match () {
        () if is_same(b, x, y) => Some(x.clone()),
        () if is_same(a, x, y) => Some(y.clone()),
        () => None,
    }
}

/// Returns what is known of threads if either state is that of a thread. What is said of threads
/// that are not alive holds.
pub(super) fn join(a: &State, b: &State) -> BTreeMap<u32, Crowd> {
    let threads: BTreeSet<u32> = a.crowds.keys().chain(b.crowds.keys()).copied().collect();
    let of = |t: &u32| match (a.alive.contains_key(t), b.alive.contains_key(t)) {
        (false, _) => b.crowds.get(t).cloned(),
        (_, false) => a.crowds.get(t).cloned(),
        _ => {
            let (x, y) = (a.crowds.get(t)?, b.crowds.get(t)?);
            let numbers = x.numbers.as_ref().zip(y.numbers.as_ref());
            let given = x.given.as_ref().zip(y.given.as_ref());
            let numbers = numbers.and_then(|(x, y)| join_numbers(a, x, b, y));
            let given = given.and_then(|(x, y)| {
                let step = x.step.into_iter().chain(y.step).min();
                Some(Given { last: either(a, &x.last, b, &y.last)?, step })
            });
            Some(Crowd { numbers, given })
        }
    };
    threads.into_iter().filter_map(|t| Some((t, of(&t)?))).collect()
}

fn join_numbers(a: &State, x: &Numbers, b: &State, y: &Numbers) -> Option<Numbers> {
    let newest = match (x.newest, y.newest) {
        (Some(r), Some(q)) if r != q => return None,
        (r, q) => r.or(q),
    };
    let row = match (&x.row, &y.row) {
        (Some(x), Some(y)) => Some(join_rows(a, x, b, y)?),
        (x, y) => x.clone().or_else(|| y.clone()),
    };
    Some(Numbers { row, newest })
}

fn join_rows(a: &State, x: &Row, b: &State, y: &Row) -> Option<Row> {
    if (&x.base, x.stride, x.plus) != (&y.base, y.stride, y.plus) {
        return None;
    }
    let to = x.to.as_ref().zip(y.to.as_ref());
    let to = to.and_then(|(x, y)| either(a, x, b, y));
    let bound = x.bound.clone().filter(|_| x.bound == y.bound);
    Some(Row { from: either(a, &x.from, b, &y.from)?, to, bound, ..x.clone() })
}

/// Returns whether what is known of threads in one state is known in the other, too.
pub(super) fn covers(claimed: &State, state: &State) -> bool {
    let holds = |(t, claim): (&u32, &Crowd)| {
        if !state.alive.contains_key(t) || *claim == Crowd::default() {
            return true;
        }
        let Some(known) = state.crowds.get(t) else { return false };
        let numbers = claim.numbers.as_ref();
        let given = claim.given.as_ref();
        numbers.is_none_or(|n| known.numbers.as_ref().is_some_and(|k| covers_numbers(n, k, state)))
            && given.is_none_or(|g| known.given.as_ref().is_some_and(|k| g.covers(k, state)))
    };
    claimed.crowds.iter().all(holds)
}

fn covers_numbers(claim: &Numbers, known: &Numbers, state: &State) -> bool {
    let newest = known.newest.is_none() || known.newest == claim.newest;
    let row = match (&claim.row, &known.row) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(c), Some(k)) => {
            let to = |c: &Sum| k.to.as_ref().is_some_and(|k| is_same(state, c, k));
            (&c.base, c.stride, c.plus) == (&k.base, k.stride, k.plus)
                && is_same(state, &c.from, &k.from)
                && c.to.as_ref().is_none_or(to)
                && (c.bound.is_none() || c.bound == k.bound)
        }
    };
    newest && row
}

/// A register changes: what is said with it is said otherwise, as `replace` says, or not at all.
pub(super) fn forget(r: Reg, replace: &dyn Fn(&Sum) -> Option<Sum>, state: &mut State) {
    let bound = |b: &Bound| Some(Bound { sum: replace(&b.sum)?, ..b.clone() });
    state.fits.remove(&r);
    state.less.remove(&r);
    state.less = std::mem::take(&mut state.less)
        .into_iter()
        .filter_map(|(q, b)| Some((q, bound(&b)?)))
        .filter(|(q, b)| b.sum.factor(*q) == 0)
        .collect();
    state.elements.remove(&r);
    state.elements = std::mem::take(&mut state.elements)
        .into_iter()
        .filter_map(|(q, (t, index))| Some((q, (t, replace(&index)?))))
        .collect();
    for crowd in state.crowds.values_mut() {
        let lost = |n: &Numbers| n.newest == Some(r);
        crowd.numbers = crowd.numbers.take().filter(|n| !lost(n)).and_then(|n| {
            let row = match n.row {
                None => None,
                Some(row) => Some(Row {
                    base: replace(&row.base)?,
                    from: replace(&row.from)?,
                    to: row.to.as_ref().and_then(replace),
                    bound: row.bound.as_ref().and_then(bound),
                    ..row
                }),
            };
            Some(Numbers { row, ..n })
        });
        crowd.given = crowd.given.take().and_then(|g| Some(Given { last: replace(&g.last)?, ..g }));
    }
}

impl Flow<'_> {
    /// A thread is started, with these arguments; its number is in a register now. `before` has what
    /// was known before that.
    pub(super) fn joins_crowd(
        &self,
        t: usize,
        (child, arguments, r): (usize, &[Expr], Reg),
        before: &State,
        then: &mut State,
    ) {
        let old = then.crowds.remove(&(child as u32)).unwrap_or_default();
        let parent = self.threads.parent[child].map(|p| p.0);
        if parent.is_none() || parent != self.runner(t) {
            return;
        }
        let is_first = !before.alive.contains_key(&(child as u32));
        let numbers = match old.numbers {
            _ if is_first => Some(Numbers { row: None, newest: Some(r) }),
            Some(Numbers { row, newest: None }) => Some(Numbers { row, newest: Some(r) }),
            _ => None,
        };
        let argument = match arguments {
            [e] => self.sum(t, e, before).filter(|sum| sum.factor(r) == 0),
            _ => None,
        };
        let given = argument.and_then(|last| match old.given {
            _ if is_first => Some(Given { last, step: None }),
            Some(known) => {
                let more = before.apart(&last, &known.last).filter(|n| *n > 0)?;
                Some(Given { last, step: Some(more.min(least(known.step))) })
            }
            None => None,
        });
        then.crowds.insert(child as u32, Crowd { numbers, given });
    }

    /// Something is stored: a number may be added to a row, or a row changed.
    pub(super) fn stored(
        &self,
        t: usize,
        (to, value, at): (&Expr, &Expr, Int),
        before: &State,
        then: &mut State,
    ) {
        if then.crowds.is_empty() {
            return;
        }
        let places = self.values.of(t, to);
        for (child, crowd) in &before.crowds {
            let Some(numbers) = &crowd.numbers else { continue };
            let Some(row) = self.longer(t, (to, value, at), numbers, before) else { continue };
            // What was read there before is another number.
            then.elements.retain(|_, (of, _)| of != child);
            if let Some(crowd) = then.crowds.get_mut(child) {
                crowd.numbers = Some(Numbers { row: Some(row), newest: None });
            }
            self.overwritten(t, &places, at.size.into(), Some(*child), then);
            return;
        }
        self.overwritten(t, &places, at.size.into(), None, then);
    }

    /// Something is written at some places, which makes rows there unknown, but that of `except`.
    pub(super) fn overwritten(
        &self,
        t: usize,
        places: &Pointers,
        size: i64,
        except: Option<u32>,
        then: &mut State,
    ) {
        let mut lost = Vec::new();
        for (child, crowd) in then.crowds.iter_mut().filter(|(child, _)| Some(**child) != except) {
            let row = crowd.numbers.as_ref().and_then(|n| n.row.as_ref());
            if row.is_some_and(|row| self.may_change(t, row, places, size)) {
                crowd.numbers = None;
                lost.push(*child);
            }
        }
        then.elements.retain(|_, (child, _)| !lost.contains(child));
    }

    fn may_change(&self, t: usize, row: &Row, places: &Pointers, size: i64) -> bool {
        let own = self.places(t, &row.base).moved(0, row.stride);
        let hits = |(site, at): (Site, Offsets)| {
            places.all().any(|(other, to)| site == other && at.overlaps(8, to, size))
        };
        places.0.contains_key(&Site::Unknown) || own.is_empty() || own.all().any(hits)
    }

    /// Returns the row with the number of the newest thread behind its end, if that is what is
    /// stored.
    fn longer(
        &self,
        t: usize,
        (to, value, at): (&Expr, &Expr, Int),
        numbers: &Numbers,
        state: &State,
    ) -> Option<Row> {
        let newest = numbers.newest.filter(|_| at.size == 8)?;
        let plus = self.sum(t, value, state)?.plus(&Sum::register(newest), -1)?;
        if plus.base.is_some() || !plus.terms.is_empty() {
            return None;
        }
        let address = self.sum(t, to, state)?;
        let bound = |index: &Sum| state.less.get(&index.as_register()?).cloned();
        let Some(row) = &numbers.row else {
            let (r, stride) = address.terms.iter().copied().find(|(r, n)| {
                *n >= 8 && matches!(state.known.get(r), Some(Known::Is(v)) if (0..1 << 31).contains(v))
            })?;
            let index = Sum::register(r);
            let from = Sum::number(state.value(&index)?);
            let base = address.plus(&index, -stride)?;
            let own = self.values.of(t, to);
            let alone = |site: Site| self.is_only_writer(self.runner(t), site);
            return (!own.is_empty() && own.sites().all(alone)).then(|| Row {
                base,
                stride,
                plus: plus.offset,
                from,
                to: index.plus(&Sum::number(1), 1),
                bound: bound(&index),
            });
        };
        let index = index(&address, row)?;
        let right =
            plus.offset == row.plus && row.to.as_ref().is_some_and(|to| is_at_least(state, &index, to));
        right.then(|| {
            let bound = row.bound.clone().filter(|known| bound(&index).as_ref() == Some(known));
            Row { to: index.plus(&Sum::number(1), 1), bound, ..row.clone() }
        })
    }

    /// A register is loaded: it may be an element of a row.
    pub(super) fn loaded(
        &self,
        t: usize,
        (r, from, at): (Reg, &Expr, Int),
        before: &State,
        then: &mut State,
    ) {
        if before.crowds.is_empty() || at.size != 8 {
            return;
        }
        let Some(address) = self.sum(t, from, before) else { return };
        for (child, crowd) in &before.crowds {
            let row = crowd.numbers.as_ref().and_then(|n| n.row.as_ref());
            if let Some(index) = row.and_then(|row| index(&address, row)).filter(|i| i.factor(r) == 0) {
                then.elements.insert(r, (*child, index));
                return;
            }
        }
    }

    /// Returns the threads of whom none is alive after a thread has been waited for, by its number,
    /// as far as rows say; shortens the rows.
    pub(super) fn shortened(
        &self,
        t: usize,
        number: &Expr,
        before: &State,
        then: &mut State,
    ) -> Option<usize> {
        let number = self.sum(t, number, before)?;
        let (r, minus) = match (number.base, &number.terms[..]) {
            (None, [(r, 1)]) => (*r, number.offset),
            _ => return None,
        };
        let (child, index) = before.elements.get(&r)?;
        let numbers = then.crowds.get_mut(child)?.numbers.as_mut()?;
        let row = numbers.row.as_mut()?;
        if row.plus.checked_neg() != Some(minus) || !is_same(before, index, &row.from) {
            return None;
        }
        row.from = index.plus(&Sum::number(1), 1)?;
        let ends = row.to.as_ref().is_some_and(|to| is_at_least(before, &row.from, to));
        (ends && numbers.newest.is_none()).then_some(*child as usize)
    }

    /// Notes what a condition says that compares: what is less than what, and which threads cannot
    /// be alive where it holds or does not. Returns those.
    pub(super) fn compared(&self, t: usize, e: &Expr, holds: bool, state: &mut State) -> Vec<usize> {
        let Some((low, high, strict, signed)) = ordered(e, holds) else { return Vec::new() };
        let (Some(low), Some(high)) = (self.sum(t, low, state), self.sum(t, high, state)) else {
            return Vec::new();
        };
        if low.base.is_some() || high.base.is_some() {
            return Vec::new();
        }
        if strict {
            if let Some(r) = low.as_register().filter(|r| high.factor(*r) == 0) {
                state.less.insert(r, Bound { sum: high, signed });
            }
            return Vec::new();
        }
        // The row begins at `high`, and ends at `low` or before it.
        let is_over = |crowd: &Crowd| {
            let Some(Numbers { row: Some(row), newest: None }) = &crowd.numbers else { return false };
            let bound =
                row.bound.as_ref().is_some_and(|b| b.signed == signed && is_same(state, &low, &b.sum));
            let to = row.to.as_ref().is_some_and(|to| is_same(state, &low, to));
            is_same(state, &row.from, &high) && (bound || to)
        };
        state.crowds.iter().filter(|(_, crowd)| is_over(crowd)).map(|(t, _)| *t as usize).collect()
    }

    /// A call of a function that may start or wait for threads, or write.
    pub(super) fn written_by_call(&self, t: usize, callee: usize, then: &mut State) {
        if self.threads.starts_or_joins(self.program, callee) {
            then.crowds.clear();
            then.elements.clear();
        }
        let written = self.written_inside(callee);
        self.overwritten(t, &written, 8, None, then);
        self.forget_cells(&written, 8, then);
    }

    /// Returns whether all values of an expression are those of an integer type.
    pub(super) fn fits(&self, t: usize, e: &Expr, state: &State, at: Int) -> bool {
        let within = |(size, signed): (u8, bool)| {
            size == at.size && signed == at.signed || size < at.size && (at.signed || !signed)
        };
        if at.truth || at.float {
            return false;
        }
        match e {
            Expr::Const(v) => at.wrap(*v) == *v && throng_goto::program::object_of(*v) == 0,
            Expr::Reg(r) => {
                let own = self.program.templates[t].registers.get(*r as usize);
                own.is_some_and(|own| within((own.size, own.signed)))
                    || state.fits.get(r).is_some_and(|known| within(*known))
            }
            // Values of eight bytes are the same with and without a sign.
            Expr::Cast(e, to) if to.size == 8 => self.fits(t, e, state, at),
            Expr::Cast(_, to) if to.truth => true,
            Expr::Cast(e, to) => {
                within((to.size, to.signed)) || self.fits(t, e, state, *to) && self.fits(t, e, state, at)
            }
            Expr::Bin(op, ..) => op.compares(),
            _ => false,
        }
    }

    /// Returns the smallest type that an expression fits into, if that is not one of eight bytes.
    pub(super) fn width(&self, t: usize, e: &Expr, state: &State) -> Option<(u8, bool)> {
        let types = [(1, false), (1, true), (2, false), (2, true), (4, true), (4, false)];
        types.into_iter().find(|(size, signed)| self.fits(t, e, state, Int::new(*size, *signed)))
    }

    /// Returns what the arguments of two threads that are started here differ by, at least, if both
    /// may be alive; `None`: that is not known.
    pub(super) fn step_of_arguments(&self, at: (usize, usize), state: &State, facts: &Facts) -> Option<i64> {
        let Instr::Spawn(child, ..) = self.program.templates[at.0].code[at.1] else { return None };
        let after = self.after(at, state, facts);
        let given = |then: &State| Some(least(then.crowds.get(&(child as u32))?.given.as_ref()?.step));
        after.iter().map(|(_, then)| given(then)).min()?
    }
}

/// Returns the index of an element of a row, by its address.
fn index(address: &Sum, row: &Row) -> Option<Sum> {
    let mut index = address.plus(&row.base, -1).filter(|d| d.base.is_none())?;
    let divides = |n: i64| n % row.stride == 0;
    if row.stride <= 0 || !divides(index.offset) || !index.terms.iter().all(|t| divides(t.1)) {
        return None;
    }
    index.offset /= row.stride;
    index.terms.iter_mut().for_each(|t| t.1 /= row.stride);
    Some(index)
}

/// Returns what is less than what, or not greater, where a condition holds or does not; whether
/// they differ, and whether signs count.
pub(super) fn ordered(e: &Expr, holds: bool) -> Option<(&Expr, &Expr, bool, bool)> {
    match e {
        Expr::Bin(op @ (BinOp::Lt | BinOp::Le), a, b, at) => Some(match holds {
            true => (&**a, &**b, *op == BinOp::Lt, at.signed),
            false => (&**b, &**a, *op == BinOp::Le, at.signed),
        }),
        Expr::Bin(op @ (BinOp::Eq | BinOp::Ne), inner, zero, _) if **zero == Expr::Const(0) => match &**inner
        {
            inner @ Expr::Bin(..) => ordered(inner, (*op == BinOp::Ne) == holds),
            _ => None,
        },
        _ => None,
    }
}
