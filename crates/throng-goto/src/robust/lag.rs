//! Reads of older values that change nothing.
//!
//! A thread that meets the stale write makes an execution that is not one of sequential
//! consistency. If the thread goes on with reads only, until it is where it was before, the
//! execution without these reads is one of the program, too: it has the same writes and plain
//! accesses and fewer synchronisations, so that what fails or races in the one fails or races in
//! the other. The same holds if a later read of the same location takes the thread where the
//! first one would have taken it, with that value: `r = load(x); while (!cas(x, &r, …));` after a
//! `cas` that fails. And if an operation finds another value than the stale one and does what it
//! does, the read may as well have come directly before it.
//!
//! So a read of the stale write is harmless if each way on leads there. Each later read may meet
//! any value that the location has in some run: the writes of an execution are those of a run of
//! sequential consistency once the harmless reads are left out.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use throng_memory::Order;
use throng_model::Shared;

use super::{keeps, poked, updates};
use crate::model::Concrete;
use crate::program::{Access, Instr, Program, Start};
use crate::step::{After, Effect, Memory, Outcome, Thread, step_with_effects};

/// The most states of a thread that follow one read.
const MOST: usize = 300;

/// The values that atomic locations have in the runs under sequential consistency, by address and
/// size.
pub struct Values {
    by_location: FxHashMap<(i64, u32), Vec<Vec<u16>>>,
    /// Whether some thread waits for the end of another.
    joins: bool,
}

impl Values {
    /// Goes through all runs of a program that one thread starts. `None`: there are more than so
    /// many configurations, not all steps are known, or `stop` says so.
    pub fn of(concrete: &Concrete, most: usize, stop: &dyn Fn() -> bool) -> Option<Values> {
        let Start::One(_) = concrete.program().start else { return None };
        let (shared, threads) = concrete.initial();
        let first: (Shared, Vec<u64>) = (shared, threads.iter().map(|l| l.0).collect());
        let (mut seen, mut work) = (FxHashSet::from_iter([first.clone()]), vec![first]);
        let mut code = concrete.program().templates.iter().flat_map(|t| &t.code);
        let joins = code.any(|i| matches!(i, Instr::Join(..)));
        let mut found = Values { by_location: FxHashMap::default(), joins };
        while let Some((shared, threads)) = work.pop() {
            if seen.len() > most || stop() {
                return None;
            }
            let memory = concrete.memory(shared)?.0.clone();
            for i in 0..threads.len() {
                if i > 0 && threads[i - 1] == threads[i] {
                    continue;
                }
                let thread = concrete.thread(throng_model::Local(threads[i]))?;
                let steps = step_with_effects(concrete.program(), &memory, &thread);
                if steps.missing.is_some() {
                    return None;
                }
                for outcome in steps.outcomes {
                    found.note(&outcome.effects);
                    let After::Runs(memory) = outcome.after else { continue };
                    let mut rest = threads.clone();
                    rest.remove(i);
                    let begun = outcome.thread.into_iter().chain(outcome.started);
                    rest.extend(begun.map(|t| concrete.local(t).0));
                    rest.sort_unstable();
                    let next = (concrete.shared(memory, None), rest);
                    if seen.insert(next.clone()) {
                        work.push(next);
                    }
                }
            }
        }
        Some(found)
    }

    fn note(&mut self, effects: &[Effect]) {
        for effect in effects {
            let Effect::Access { address, size, kind, old, new, .. } = effect else { continue };
            if kind.is_atomic() {
                let values = self.by_location.entry((*address, *size)).or_default();
                for value in [old, new] {
                    if !values.contains(value) {
                        values.push(value.clone());
                    }
                }
            }
        }
    }
}

/// A read that is all that others might see of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Read {
    location: (i64, u32),
    order: Order,
}

/// Returns the read of a step that does nothing else that others might see. `joins`: they might see
/// that the thread ends.
fn read_only(outcome: &Outcome, joins: bool) -> Option<Read> {
    let mut found = None;
    for effect in &outcome.effects {
        match effect {
            Effect::Access { address, size, writes: false, kind, .. } if found.is_none() => {
                let order = match kind {
                    Access::Atomic(order) | Access::Update(_, order) => *order,
                    Access::Plain | Access::Internal => return None,
                };
                found = Some(Read { location: (*address, *size), order });
            }
            Effect::Fence(..) => {}
            Effect::Ended(_) if !joins => {}
            _ => return None,
        }
    }
    let quiet = outcome.started.is_empty() && matches!(outcome.after, After::Runs(_));
    found.filter(|_| quiet)
}

/// Returns whether a read of the first order lets a thread know no more than one of the second.
fn at_most(a: Order, b: Order) -> bool {
    (!a.acquires() || b.acquires()) && (a != Order::SeqCst || b == Order::SeqCst)
}

/// A thread that is about to meet the stale write.
pub struct Lag<'a> {
    /// The program.
    pub program: &'a Program,
    /// The values of its locations.
    pub values: &'a Values,
    /// The memory of the run.
    pub memory: &'a Arc<Memory>,
    /// The thread before it reads.
    pub before: &'a Thread,
}

impl Lag<'_> {
    /// Returns whether a thread that has read the stale value, like this, does nothing that it
    /// would not have done without that; the read leaves memory as it is (`keeps`).
    pub fn is_harmless(&self, read: &Outcome) -> bool {
        if self.read_only(read).is_none() {
            return false;
        }
        let mut seen: FxHashSet<Thread> = FxHashSet::default();
        let mut open: Vec<Thread> = read.thread.iter().cloned().collect();
        while let Some(thread) = open.pop() {
            if thread == *self.before || seen.contains(&thread) {
                continue;
            }
            match self.ways(&thread) {
                Some(next) if seen.len() < MOST => open.extend(next),
                _ => return false,
            }
            seen.insert(thread);
        }
        true
    }

    fn read_only(&self, outcome: &Outcome) -> Option<Read> {
        read_only(outcome, self.values.joins)
    }

    /// Where a thread may get with one more read that is left out; `None`: it may do something else.
    fn ways(&self, thread: &Thread) -> Option<Vec<Thread>> {
        let location = self.accessed(thread)?;
        let mut found = Vec::new();
        for value in self.values.by_location.get(&location)? {
            let memory = Arc::new(poked(self.program, self.memory, location.0, value)?);
            for outcome in self.outcomes(&memory, thread)? {
                let keeps = keeps(&memory, &outcome);
                if self.may_read_before(&memory, location, &outcome) {
                    continue;
                }
                let read = self.read_only(&outcome).filter(|read| keeps && read.location == location)?;
                found.extend(outcome.thread.filter(|next| !self.is_reached(&memory, read, next)));
            }
        }
        Some(found)
    }

    /// The location of the next access of a thread.
    fn accessed(&self, thread: &Thread) -> Option<(i64, u32)> {
        let mut found = None;
        for outcome in self.outcomes(self.memory, thread)? {
            let first = outcome.effects.iter().find_map(|e| match e {
                Effect::Access { address, size, kind, .. } => Some(((*address, *size), kind.is_atomic())),
                _ => None,
            });
            let (location, atomic) = first?;
            if !atomic || found.is_some_and(|other| other != location) {
                return None;
            }
            found = Some(location);
        }
        found
    }

    fn outcomes(&self, memory: &Arc<Memory>, thread: &Thread) -> Option<Vec<Outcome>> {
        let steps = step_with_effects(self.program, memory, thread);
        steps.missing.is_none().then_some(steps.outcomes)
    }

    /// Returns whether the read that was to come gets the thread there, too, with the value that a
    /// later read has found.
    fn is_reached(&self, memory: &Arc<Memory>, read: Read, next: &Thread) -> bool {
        self.first_reads(memory, read.location)
            .any(|(order, thread)| at_most(order, read.order) && thread.as_ref() == Some(next))
    }

    /// Returns whether an operation does the same if the read that was to come is made directly
    /// before it.
    fn may_read_before(&self, memory: &Arc<Memory>, location: (i64, u32), done: &Outcome) -> bool {
        let acquires = done.effects.iter().enumerate().any(|(n, e)| match e {
            Effect::Access { writes: false, kind: Access::Atomic(order), .. } => order.acquires(),
            Effect::Access { writes: false, kind: Access::Update(done_as, failed), .. } => {
                if updates(&done.effects, n) { done_as.acquires() } else { failed.acquires() }
            }
            _ => false,
        });
        self.first_reads(memory, location).any(|(order, thread)| {
            let next = thread.and_then(|thread| self.outcomes(memory, &thread)).unwrap_or_default();
            let same = |o: &Outcome| {
                (&o.effects, &o.after, &o.thread, &o.started)
                    == (&done.effects, &done.after, &done.thread, &done.started)
            };
            order != Order::SeqCst && (acquires || !order.acquires()) && next.iter().any(same)
        })
    }

    /// The orders and ends of the read that was to come, if it is of this location.
    fn first_reads(
        &self,
        memory: &Arc<Memory>,
        location: (i64, u32),
    ) -> impl Iterator<Item = (Order, Option<Thread>)> {
        let outcomes = self.outcomes(memory, self.before).unwrap_or_default();
        outcomes.into_iter().filter_map(move |outcome| {
            let keeps = keeps(memory, &outcome);
            let read = self.read_only(&outcome).filter(|read| keeps && read.location == location)?;
            Some((read.order, outcome.thread))
        })
    }
}
