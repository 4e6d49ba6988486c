//! Thread identities: gives the threads of a counter-abstracted run lasting names.
//!
//! Engines count threads without distinguishing them, but a reader wants to follow one. A
//! [`ThreadNames`] starts with T1 … Tn and replays the steps of a run. Any thread in the right
//! local state may take part in a step, so this module chooses: the thread that acted last if
//! possible, else the one with the lowest number. Threads that a step takes keep their names in
//! what it puts; bystanders are matched to their fates so that the counts agree with the run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Serialize, Serializer};

use crate::{Bag, Bystanders, Config, Incomplete, Local, Model, Step, semantics};

/// The name of a thread; printed as `T1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ThreadId(pub u32);

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("T{}", self.0))
    }
}

impl Serialize for ThreadId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

/// The role of a thread in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It takes the step.
    Acts,
    /// It is created by the step.
    Created,
    /// It waited and is woken by a signal or broadcast.
    Woken,
    /// It is moved as a bystander.
    Carried,
}

/// The effect of one step on one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The thread.
    pub thread: ThreadId,
    /// Its role in the step.
    pub role: Role,
    /// Where it was; `None` if it did not exist.
    pub before: Option<Local>,
    /// Where it is; `None` if it ended.
    pub after: Option<Local>,
}

/// The threads that exist, by name.
#[derive(Clone, Debug, Default)]
pub struct ThreadNames {
    by_local: BTreeMap<Local, BTreeSet<ThreadId>>,
    next: u32,
    last: Option<ThreadId>,
    /// A thread, and whether it takes the next step, if that is known.
    known: Option<(ThreadId, bool)>,
}

impl ThreadNames {
    /// Maximum number of named threads: among more, names are of no use (nets may start with
    /// millions of tokens).
    pub const LARGEST: u32 = 10_000;

    /// Names the threads of an initial configuration; `None` if there are too many.
    pub fn new(threads: &Bag) -> Option<ThreadNames> {
        if threads.size() > Self::LARGEST {
            return None;
        }
        let mut names = ThreadNames::default();
        for &(l, n) in threads.entries() {
            for _ in 0..n {
                names.create(l);
            }
        }
        Some(names)
    }

    /// Returns every thread with its local state, by name.
    pub fn threads(&self) -> Vec<(ThreadId, Local)> {
        let mut all: Vec<_> =
            self.by_local.iter().flat_map(|(&l, ids)| ids.iter().map(move |&t| (t, l))).collect();
        all.sort_unstable();
        all
    }

    /// Returns the threads at `l`, by name.
    pub fn at(&self, l: Local) -> impl Iterator<Item = ThreadId> + '_ {
        self.by_local.get(&l).into_iter().flatten().copied()
    }

    /// Returns the threads that would act if `step` fired now.
    pub fn actors(&self, step: &Step) -> Vec<ThreadId> {
        self.clone().take(&step.take).map_or_else(Vec::new, |taken| taken.into_iter().map(|t| t.0).collect())
    }

    /// Says of a thread whether it takes the next step that is fired, where others could as well.
    pub fn says(&mut self, thread: ThreadId, takes: bool) {
        self.known = Some((thread, takes));
    }

    /// Fires `step`, which leads to `after`, and returns its effect on each thread, acting threads
    /// first.
    ///
    /// `None` if the step is not enabled or does not lead there, or if there are too many threads;
    /// `self` must not be used any more then.
    pub fn step(
        &mut self,
        model: &dyn Model,
        step: &Step,
        after: &Config,
        bound: Option<u32>,
    ) -> Option<Vec<Change>> {
        if after.threads.size() > Self::LARGEST {
            return None;
        }
        let taken = self.take(&step.take)?;
        let rest = self.bag();
        let spawn = if semantics::exceeds(&rest, step, bound) { Bag::new() } else { step.spawn.clone() };
        let remaining = after.threads.minus(&step.put)?.minus(&spawn)?;
        let moved = self.bystanders(model, step, &rest, &remaining)?;
        let mut changes = self.put(taken, &step.put);
        for l in flatten(&spawn) {
            changes.push(self.created(l));
        }
        for change in &moved {
            self.relocate(change);
        }
        changes.extend(moved);
        (self.next <= 100 * Self::LARGEST).then_some(changes)
    }

    fn create(&mut self, l: Local) -> ThreadId {
        self.next += 1;
        let thread = ThreadId(self.next);
        self.by_local.entry(l).or_default().insert(thread);
        thread
    }

    fn created(&mut self, l: Local) -> Change {
        Change { thread: self.create(l), role: Role::Created, before: None, after: Some(l) }
    }

    fn remove(&mut self, thread: ThreadId, l: Local) {
        if let Some(ids) = self.by_local.get_mut(&l) {
            ids.remove(&thread);
            if ids.is_empty() {
                self.by_local.remove(&l);
            }
        }
    }

    fn relocate(&mut self, change: &Change) {
        if let Some(l) = change.before {
            self.remove(change.thread, l);
        }
        if let Some(l) = change.after {
            self.by_local.entry(l).or_default().insert(change.thread);
        }
    }

    fn bag(&self) -> Bag {
        self.by_local.iter().map(|(&l, ids)| (l, ids.len() as u32)).collect()
    }

    /// Removes and returns the threads that take part, preferring the one that acted last.
    fn take(&mut self, take: &Bag) -> Option<Vec<(ThreadId, Local)>> {
        let mut taken = Vec::new();
        for l in flatten(take) {
            let ids = self.by_local.get(&l)?;
            let last = self.last.filter(|t| ids.contains(t));
            let any = last.or_else(|| ids.first().copied())?;
            let thread = match self.known {
                Some((known, true)) if ids.contains(&known) => known,
                Some((known, false)) if any == known => {
                    ids.iter().copied().find(|&t| t != known).unwrap_or(any)
                }
                _ => any,
            };
            self.remove(thread, l);
            taken.push((thread, l));
        }
        Some(taken)
    }

    /// Puts the taken threads back: first those that stay where they were, then the others in
    /// order; surplus threads end, missing ones are created.
    fn put(&mut self, taken: Vec<(ThreadId, Local)>, put: &Bag) -> Vec<Change> {
        let mut places: Vec<Local> = flatten(put).collect();
        let mut fates: Vec<Option<Local>> = vec![None; taken.len()];
        for (fate, &(_, l)) in fates.iter_mut().zip(&taken) {
            if let Some(i) = places.iter().position(|&p| p == l) {
                *fate = Some(places.remove(i));
            }
        }
        let mut places = places.into_iter();
        for fate in fates.iter_mut().filter(|f| f.is_none()) {
            *fate = places.next();
        }
        let mut changes = Vec::new();
        for (&(thread, l), fate) in taken.iter().zip(fates) {
            let change = Change { thread, role: Role::Acts, before: Some(l), after: fate };
            if let Some(l) = fate {
                self.by_local.entry(l).or_default().insert(thread);
            }
            changes.push(change);
        }
        self.last = taken.first().map(|t| t.0);
        changes.extend(places.map(|l| self.created(l)));
        changes
    }

    /// Matches the threads that the step did not take to `remaining`, and returns how each of them
    /// changes.
    fn bystanders(&self, model: &dyn Model, step: &Step, rest: &Bag, remaining: &Bag) -> Option<Vec<Change>> {
        match step.others {
            Bystanders::Stay => (rest == remaining).then(Vec::new),
            Bystanders::WakeOne => self.woken(model, step, rest, remaining),
            Bystanders::Transfer => self.carried(model, step, remaining),
        }
    }

    fn woken(&self, model: &dyn Model, step: &Step, rest: &Bag, remaining: &Bag) -> Option<Vec<Change>> {
        if rest == remaining {
            return Some(Vec::new());
        }
        rest.entries().iter().find_map(|&(l, _)| {
            let to = model.woken_by(step, l)?;
            let mut after = rest.clone();
            after.remove(l, 1);
            after.insert(to, 1);
            let thread = self.at(l).next()?;
            let change = Change { thread, role: Role::Woken, before: Some(l), after: Some(to) };
            (after == *remaining).then(|| vec![change])
        })
    }

    fn carried(&self, model: &dyn Model, step: &Step, remaining: &Bag) -> Option<Vec<Change>> {
        let mut wanted = remaining.clone();
        let (mut changes, mut open) = (Vec::new(), Vec::new());
        for (&l, ids) in &self.by_local {
            let mut fates = Vec::new();
            Incomplete::irrelevant(model.bystander(step, l, &mut fates));
            match fates[..] {
                [] => return None,
                [fate] if model.is_exact() => {
                    let missing = fate.map_or(0, |m| wanted.remove(m, ids.len() as u32));
                    if missing > 0 {
                        return None;
                    }
                    changes.extend(ids.iter().map(|&t| carried(model, t, l, fate)));
                }
                _ => open.extend(ids.iter().map(|&t| (t, l, fates.clone()))),
            }
        }
        let wanted: Vec<Local> = flatten(&wanted).collect();
        let must: Vec<bool> = open.iter().map(|o| !o.2.contains(&None)).collect();
        // Where a fate stands for a set of states, the run may have chosen a part of it. That is
        // tried last: a thread that is known to be in a part must not be identified with one that
        // may be anywhere in the whole.
        let fit: [&dyn Fn(Local, Local) -> bool; 3] =
            [&|f, l| f == l, &|f, l| model.within_local(l, f), &|f, l| model.meets_local(f, l)];
        let given = fit.iter().find_map(|fit| {
            let fits = |i: usize, j: usize| open[i].2.iter().flatten().any(|&f| fit(f, wanted[j]));
            assign(&must, wanted.len(), &fits)
        })?;
        for ((thread, l, _), j) in open.iter().zip(given) {
            changes.push(carried(model, *thread, *l, j.map(|j| wanted[j])));
        }
        changes.retain(|c| c.before != c.after);
        changes.sort_unstable_by_key(|c| c.thread);
        Some(changes)
    }
}

fn carried(model: &dyn Model, thread: ThreadId, l: Local, after: Option<Local>) -> Change {
    let woken = after.is_some() && model.woken(l) == after;
    let role = if woken { Role::Woken } else { Role::Carried };
    Change { thread, role, before: Some(l), after }
}

fn flatten(bag: &Bag) -> impl Iterator<Item = Local> + '_ {
    bag.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l))
}

/// Matches threads and places: gives each of the `wanted` places a thread of its own that `fits`,
/// and each thread that `must` have a place one.
///
/// Augmenting paths, first from the threads, then from the places: an augmenting path never leaves
/// a matched thread or place unmatched, so both demands can be met one after the other if each can
/// be met alone.
pub fn assign(
    must: &[bool],
    wanted: usize,
    fits: &dyn Fn(usize, usize) -> bool,
) -> Option<Vec<Option<usize>>> {
    let mut matching = Matching { place_of: vec![None; must.len()], owner_of: vec![None; wanted] };
    for thread in (0..must.len()).filter(|&p| must[p]) {
        if matching.place_of[thread].is_none() && !matching.place(thread, fits, &mut vec![false; wanted]) {
            return None;
        }
    }
    for place in 0..wanted {
        if matching.owner_of[place].is_none() && !matching.fill(place, fits, &mut vec![false; must.len()]) {
            return None;
        }
    }
    Some(matching.place_of)
}

struct Matching {
    place_of: Vec<Option<usize>>,
    owner_of: Vec<Option<usize>>,
}

impl Matching {
    fn place(&mut self, thread: usize, fits: &dyn Fn(usize, usize) -> bool, seen: &mut [bool]) -> bool {
        for place in 0..self.owner_of.len() {
            if seen[place] || !fits(thread, place) {
                continue;
            }
            seen[place] = true;
            if self.owner_of[place].is_none_or(|owner| self.place(owner, fits, seen)) {
                self.give(thread, place);
                return true;
            }
        }
        false
    }

    fn fill(&mut self, place: usize, fits: &dyn Fn(usize, usize) -> bool, seen: &mut [bool]) -> bool {
        for thread in 0..self.place_of.len() {
            if seen[thread] || !fits(thread, place) {
                continue;
            }
            seen[thread] = true;
            if self.place_of[thread].is_none_or(|other| self.fill(other, fits, seen)) {
                self.give(thread, place);
                return true;
            }
        }
        false
    }

    fn give(&mut self, thread: usize, place: usize) {
        self.place_of[thread] = Some(place);
        self.owner_of[place] = Some(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Fate, Names, Table, thread_step};
    use crate::{Place, Shared};

    fn bag(ls: &[u64]) -> Bag {
        ls.iter().map(|&l| Local(l)).collect()
    }

    fn config(s: u64, ls: &[u64]) -> Config {
        Config::new(Shared(s), bag(ls))
    }

    fn change(thread: u32, role: Role, before: Option<u64>, after: Option<u64>) -> Change {
        Change { thread: ThreadId(thread), role, before: before.map(Local), after: after.map(Local) }
    }

    #[test]
    fn a_thread_keeps_its_name_and_goes_on_acting() {
        let model = Table::new(Names::Numbers(1), Names::Numbers(9));
        let mut names = ThreadNames::new(&bag(&[0, 0])).unwrap();
        let there = names.step(&model, &thread_step(0, 0, 0, 1), &config(0, &[0, 1]), None);
        assert_eq!(there, Some(vec![change(1, Role::Acts, Some(0), Some(1))]));
        let back = names.step(&model, &thread_step(0, 1, 0, 0), &config(0, &[0, 0]), None);
        assert_eq!(back, Some(vec![change(1, Role::Acts, Some(1), Some(0))]));
        let step = Step { put: Bag::new(), ..thread_step(0, 0, 0, 0) };
        let gone = names.step(&model, &step, &config(0, &[0]), None);
        assert_eq!(gone, Some(vec![change(1, Role::Acts, Some(0), None)]));
        let step = Step { spawn: bag(&[5]), ..thread_step(0, 0, 0, 2) };
        let born = names.step(&model, &step, &config(0, &[2, 5]), None);
        let expected = vec![change(2, Role::Acts, Some(0), Some(2)), change(3, Role::Created, None, Some(5))];
        assert_eq!(born, Some(expected), "names are never used again");
        assert_eq!(names.threads(), [(ThreadId(2), Local(2)), (ThreadId(3), Local(5))]);
    }

    #[test]
    fn at_the_bound_no_thread_is_created() {
        let model = Table::new(Names::Numbers(1), Names::Numbers(9));
        let step = Step { spawn: bag(&[5]), ..thread_step(0, 0, 0, 2) };
        let mut names = ThreadNames::new(&bag(&[0])).unwrap();
        let changes = names.step(&model, &step, &config(0, &[2]), Some(1));
        assert_eq!(changes, Some(vec![change(1, Role::Acts, Some(0), Some(2))]));
    }

    #[test]
    fn bystanders_are_matched_to_what_became_of_them() {
        let mut model = Table::new(Names::Numbers(1), Names::Numbers(9));
        let to = |l| Fate::To(Local(l));
        let fates = vec![
            (Local(1), to(2)),
            (Local(1), to(3)),
            (Local(4), to(2)),
            (Local(5), Fate::Vanish),
            (Local(5), to(3)),
        ];
        model.add(thread_step(0, 0, 0, 0), fates, Place::default());
        let step = model.steps()[0].clone();
        let names = ThreadNames::new(&bag(&[0, 1, 1, 4, 5, 5])).unwrap();
        for after in [[0, 2, 2, 3].as_slice(), &[0, 2, 2, 3, 3, 3], &[0, 2, 3, 3, 3]] {
            let mut names = names.clone();
            let changes = names.step(&model, &step, &config(0, after), None).unwrap();
            assert_eq!(names.bag(), bag(after));
            assert_eq!(changes.iter().filter(|c| c.role == Role::Carried).count(), 5);
        }
        assert!(names.clone().step(&model, &step, &config(0, &[0, 2, 2, 2, 2]), None).is_none());
    }

    #[test]
    fn every_thread_that_must_is_placed_and_every_place_filled() {
        let fits = |i: usize, j: usize| [[true, true], [true, false], [true, true]][i][j];
        assert_eq!(assign(&[true, true, false], 2, &fits), Some(vec![Some(1), Some(0), None]));
        assert_eq!(assign(&[true, true, true], 2, &fits), None);
        assert_eq!(assign(&[false], 2, &|_, _| true), None);
    }
}
