//! The least set of views of at most two threads that contains the initial ones and is closed under
//! steps.
//!
//! For every shared state, a [`Relation`] says which local states may occur together. A step's
//! bystanders are the intersection of the rows of all local states that it takes. Shared states
//! with changed rows are visited in turn. First, the steps that keep the shared state are followed
//! until nothing is new: they only add arriving threads to rows. Then the others are followed,
//! which also pass on the pairs of their bystanders: once for all steps to the same shared state
//! with the same bystanders, and only for changed rows.
//!
//! Most steps take one thread, put one and leave the others alone. Only three numbers are stored
//! for these, because their bystanders are an existing row.

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::relation::{NONE, Relation, Set, and, contains, each, is_within, merged, minus, set_of};
use crate::listing::Listing;
use crate::{Progress, Watch};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;
use throng_model::views::{Builder, Views};
use throng_model::{Bag, Bystanders, Local, Model, Step};

/// Dense number of a shared or of a local state.
type Id = u32;

/// Number of words processed per tick.
const WORDS: u64 = 8;

/// Maximum number of sets of bystanders that are remembered while the steps from one shared state
/// to another are followed.
const MOST_HANDED_ON: usize = 16;

/// A step that takes one thread and puts at most one; all others stay.
#[derive(Clone, Copy)]
struct Simple {
    take: Id,
    /// [`NONE`] if the thread ends.
    put: Id,
    to: Id,
}

/// Any other step.
struct Rule {
    from: Id,
    to: Id,
    /// The local states it takes, each once, and whether it takes more than one thread there.
    takes: Vec<(Id, bool)>,
    /// The local states it puts or creates, at most two of each.
    arrives: Vec<Id>,
    /// The step, if it moves bystanders.
    moving: Option<Box<Step>>,
    /// True if all threads it takes can occur together; those it puts then occur.
    enabled: bool,
    /// The bystanders whose fates are known.
    bystanders: Set,
    /// Those of them that do not stay, and their fates.
    moved: Set,
    fates: FxHashMap<Id, Box<[Id]>>,
}

/// The views and steps of one shared state.
#[derive(Default)]
struct Group {
    together: Relation,
    /// Simple steps that keep the shared state, and those that change it. The steps of a local
    /// state are adjacent; the tags of its row say where they begin.
    inner: Vec<Simple>,
    outer: Vec<Simple>,
    /// Rules that disturb: they can lead bystanders alone to new views.
    disturbing: Vec<u32>,
    /// Rules that take no thread and do not disturb.
    leaderless: Vec<u32>,
    /// True if steps without a leader have been listed, and the number of local states they have
    /// met.
    listed: bool,
    met: u64,
    /// True if some other rule takes a thread.
    has_rules: bool,
    /// True if it is in the queue.
    queued: bool,
}

/// Steps that change a shared state and have not been followed since some rows changed. If this is
/// interrupted, another call resumes it.
struct Current {
    shared: Id,
    changed: Set,
    /// Simple steps, sorted by target, and how many have been followed; and the number of
    /// disturbing rules that have been followed.
    steps: Vec<Simple>,
    followed: usize,
    disturbed: usize,
}

/// The views found so far, and those whose consequences are not yet known.
pub struct Closure {
    listing: Listing,
    /// Shared states that occur, in order; others only have a number.
    reached: IndexSet<Id, FxBuildHasher>,
    /// The group of each shared state, by number.
    groups: Vec<Group>,
    rules: Vec<Rule>,
    /// Rules that do not disturb, by the threads they take.
    by_take: FxHashMap<(Id, Id), Vec<u32>>,
    /// The numbers of views of one and of two threads.
    singles: u64,
    pairs: u64,
    /// Shared states to be visited.
    queue: VecDeque<Id>,
    current: Option<Current>,
}

impl Closure {
    /// Creates an empty closure.
    pub fn new(model: Arc<dyn Model>) -> Closure {
        Closure {
            listing: Listing::new(model),
            reached: IndexSet::default(),
            groups: Vec::new(),
            rules: Vec::new(),
            by_take: FxHashMap::default(),
            singles: 0,
            pairs: 0,
            queue: VecDeque::new(),
            current: None,
        }
    }

    /// Closes the initial views under all steps. If that is interrupted, another call resumes it.
    pub fn run(&mut self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Result<(), Unknown> {
        let mut ticker = Ticker::new(limits);
        for family in &problem.initial {
            let s = self.listing.shared.intern(family.shared).0;
            self.reach(s);
            let mut threads: Bag = family.threads.clone();
            for &l in &family.any {
                threads.insert(l, 2);
            }
            let ids: Vec<(Id, u32)> = threads.entries().iter().map(|&(l, n)| (self.local(l), n)).collect();
            let all = set_of(ids.iter().map(|e| e.0));
            for &(a, n) in &ids {
                ticker.ticks(1 + all.len() as u32)?;
                let others = if n == 1 { minus(&all, &set_of([a])) } else { all.clone() };
                self.meet(s, a, &others);
            }
        }
        let mut rounds = 0u64;
        loop {
            if self.current.is_none() && self.queue.is_empty() {
                return Ok(());
            }
            rounds += 1;
            if rounds.is_multiple_of(1 << 8) {
                let (configurations, frontier) = (self.len(), self.queue.len() as u64);
                watch.progress(&Progress {
                    engine: "views",
                    phase: "pairs".into(),
                    configurations,
                    frontier,
                });
            }
            match self.current.take() {
                Some(current) => self.follow_outer(current, &mut ticker)?,
                None => self.visit(&mut ticker)?,
            }
        }
    }

    /// Returns the number of views.
    pub fn len(&self) -> u64 {
        self.reached.len() as u64 + self.singles + self.pairs
    }

    /// Returns the numbers of shared and local states.
    pub fn states(&self) -> (u64, u64) {
        (self.reached.len() as u64, self.listing.locals.values().len() as u64)
    }

    /// Returns all views. Frees the closure meanwhile, so that memory is not needed twice.
    pub fn into_views(mut self) -> Views {
        let mut builder = Builder::new(self.listing.locals.values().iter().copied());
        for &s in &self.reached {
            let together = std::mem::take(&mut self.groups[s as usize]).together;
            for (a, row) in together.rows() {
                let row = builder.row(row);
                builder.member(a, row);
            }
            builder.finish(self.listing.shared.value(s));
        }
        builder.build()
    }

    fn l(&self, id: Id) -> Local {
        self.listing.locals.value(id)
    }

    fn local(&mut self, l: Local) -> Id {
        self.listing.locals.intern(l).0
    }

    /// Adds a shared state.
    fn reach(&mut self, s: Id) {
        if self.groups.len() <= s as usize {
            self.groups.resize_with(s as usize + 1, Group::default);
        }
        if self.reached.insert(s) {
            self.queue_up(s);
        }
    }

    fn queue_up(&mut self, s: Id) {
        if !std::mem::replace(&mut self.groups[s as usize].queued, true) {
            self.queue.push_back(s);
        }
    }

    /// Changes the relation of a shared state that occurs, and queues it if rows have changed.
    fn change<T>(&mut self, s: Id, change: impl FnOnce(&mut Relation) -> T) -> T {
        let together = &mut self.groups[s as usize].together;
        let (singles, pairs) = (together.len(), together.pairs());
        let result = change(together);
        let (singles, pairs) = (together.len() - singles, together.pairs() - pairs);
        if together.is_waiting() {
            self.queue_up(s);
        }
        self.singles += singles;
        self.pairs += pairs;
        result
    }

    /// Adds the views of a thread together with each of these.
    fn meet(&mut self, s: Id, a: Id, others: &Set) {
        let found = self.change(s, |together| together.meet(a, others));
        self.listing.add_work(1 + found.div_ceil(4) as u32);
    }

    /// Visits the next shared state: follows its new views by the steps that keep it, and leaves
    /// the others in `current`.
    fn visit(&mut self, ticker: &mut Ticker) -> Result<(), Unknown> {
        let Some(&s) = self.queue.front() else { return Ok(()) };
        if !std::mem::replace(&mut self.groups[s as usize].listed, true) {
            let steps = self.listing.without_leader(s);
            steps.into_iter().for_each(|step| self.register(s, None, step));
        }
        loop {
            self.meet_without_leader(s);
            let waiting = self.groups[s as usize].together.pop_waiting();
            if let Some(a) = waiting {
                self.follow_inner(s, a);
            }
            self.charge(ticker)?;
            if waiting.is_none() {
                break;
            }
        }
        self.queue.pop_front();
        let group = &mut self.groups[s as usize];
        group.queued = false;
        let changed = group.together.take_changed();
        let mut steps: Vec<Simple> = Vec::new();
        if !group.outer.is_empty() {
            for t in each(&group.together.around(&changed)) {
                let begin = group.together.tags(t)[1];
                if begin != NONE {
                    steps.extend(group.outer[begin as usize..].iter().take_while(|step| step.take == t));
                }
            }
            steps.sort_by_key(|step| step.to);
        }
        self.current = Some(Current { shared: s, changed, steps, followed: 0, disturbed: 0 });
        Ok(())
    }

    /// Charges the work since the last call. Returns an error unless all lists were complete.
    fn charge(&mut self, ticker: &mut Ticker) -> Result<(), Unknown> {
        ticker.ticks(self.listing.take_work())?;
        self.listing.complete()
    }

    /// Stores a step. The steps that one thread leads are stored one after another.
    fn register(&mut self, from: Id, leader: Option<Id>, step: Step) {
        let to = self.listing.shared.intern(step.to).0;
        let takes: Vec<(Id, bool)> =
            step.take.entries().iter().map(|&(l, n)| (self.local(l), n > 1)).collect();
        let mut arrives = Vec::new();
        for &(l, n) in step.put.entries().iter().chain(step.spawn.entries()) {
            let l = self.local(l);
            arrives.extend(std::iter::repeat_n(l, n.min(2) as usize));
        }
        let stay = step.others == Bystanders::Stay;
        let group = &mut self.groups[from as usize];
        if let ([(take, false)], [] | [_], true) = (&takes[..], &arrives[..], stay)
            && leader == Some(*take)
        {
            let simple = Simple { take: *take, put: arrives.first().copied().unwrap_or(NONE), to };
            let steps = if to == from { &mut group.inner } else { &mut group.outer };
            return steps.push(simple);
        }
        let rule = self.rules.len() as u32;
        if to != from || !stay {
            group.disturbing.push(rule);
        } else if takes.is_empty() {
            group.leaderless.push(rule);
            group.met = 0;
        } else {
            group.has_rules = true;
            takes.iter().for_each(|&(t, _)| self.by_take.entry((from, t)).or_default().push(rule));
        }
        self.rules.push(Rule {
            from,
            to,
            takes,
            arrives,
            moving: (!stay).then(|| Box::new(step)),
            enabled: false,
            bystanders: Set::new(),
            moved: Set::new(),
            fates: FxHashMap::default(),
        });
    }

    /// Adds threads that arrive without a thread being taken: they may occur with every thread that
    /// may occur.
    fn meet_without_leader(&mut self, s: Id) {
        let group = &mut self.groups[s as usize];
        let there = group.together.len();
        if group.leaderless.is_empty() || group.met == there + 1 {
            return;
        }
        group.met = there + 1;
        for i in 0..group.leaderless.len() {
            self.fire(self.groups[s as usize].leaderless[i], &Set::new());
        }
    }

    /// Follows the steps that keep the shared state for a thread that is new or has new partners.
    fn follow_inner(&mut self, s: Id, a: Id) {
        let group = &self.groups[s as usize];
        let mut tags = group.together.tags(a);
        if tags == [NONE; 2] {
            tags = [group.inner.len() as u32, group.outer.len() as u32];
            for step in self.listing.led_by(s, a) {
                self.register(s, Some(a), step);
            }
            self.groups[s as usize].together.tag(a, tags);
        }
        let group = &self.groups[s as usize];
        let is_its = |step: &&Simple| step.take == a;
        let count = group.inner[tags[0] as usize..].iter().take_while(is_its).count();
        if count > 0 {
            let row = group.together.row(a);
            for i in 0..count {
                let Simple { put, .. } = self.groups[s as usize].inner[tags[0] as usize + i];
                if put != NONE {
                    self.meet(s, put, &row);
                }
            }
        }
        if self.groups[s as usize].has_rules {
            for i in 0..self.by_take.get(&(s, a)).map_or(0, Vec::len) {
                self.fire(self.by_take[&(s, a)][i], &Set::new());
            }
        }
    }

    /// Follows the steps that change the shared state or move bystanders.
    fn follow_outer(&mut self, mut current: Current, ticker: &mut Ticker) -> Result<(), Unknown> {
        let s = current.shared as usize;
        while let Some(first) = current.steps.get(current.followed) {
            let alike = current.steps[current.followed..].iter().take_while(|step| step.to == first.to);
            let alike: Vec<Simple> = alike.copied().collect();
            self.follow(s, &alike, &current.changed);
            current.followed += alike.len();
            if let Err(why) = self.charge(ticker) {
                self.current = Some(current);
                return Err(why);
            }
        }
        while let Some(&rule) = self.groups[s].disturbing.get(current.disturbed) {
            self.fire(rule, &current.changed);
            current.disturbed += 1;
            if let Err(why) = self.charge(ticker) {
                self.current = Some(current);
                return Err(why);
            }
        }
        Ok(())
    }

    /// Follows steps from one shared state to another. If the row of the taken thread has not
    /// changed, only changed rows matter.
    fn follow(&mut self, s: usize, steps: &[Simple], changed: &Set) {
        let to = steps[0].to;
        self.reach(to);
        let source = std::mem::take(&mut self.groups[s].together);
        let mut beside: Vec<(bool, u32, Set)> = Vec::with_capacity(steps.len());
        for step in steps {
            let (row, whole) = (source.row(step.take), contains(changed, step.take));
            if whole && step.put != NONE {
                self.meet(to, step.put, &row);
            }
            beside.push((whole, row.iter().map(|e| e.1.count_ones()).sum(), row));
        }
        // Large sets come first: their parts then need not be passed on again.
        beside.sort_unstable_by(|a, b| b.cmp(a));
        let mut handed: Vec<(bool, Set)> = Vec::new();
        for (whole, _, row) in beside {
            self.listing.add_work(1 + handed.len() as u32 / 4);
            if handed.iter().any(|(all, done)| (*all || !whole) && is_within(&row, done)) {
                continue;
            }
            let work = match whole {
                true => self.change(to, |together| together.copy(&source, &row, &row)),
                false => self.change(to, |together| together.copy(&source, &and(&row, changed), &row)),
            };
            self.listing.add_work(work.div_ceil(WORDS) as u32);
            if handed.len() < MOST_HANDED_ON {
                handed.push((whole, row));
            }
        }
        self.groups[s].together = source;
    }

    fn can_meet(&self, s: Id, taken: &[(Id, bool)]) -> bool {
        let together = &self.groups[s as usize].together;
        taken.iter().enumerate().all(|(i, &(t, twice))| {
            together.has(t)
                && (!twice || together.pair(t, t))
                && taken[..i].iter().all(|&(other, _)| together.pair(other, t))
        })
    }

    /// Adds the views that a rule leads to, if all threads it takes can occur together: those of
    /// new bystanders, and of those whose rows have changed.
    fn fire(&mut self, rule: u32, changed: &Set) {
        self.listing.add_work(1);
        let r = &self.rules[rule as usize];
        if !r.enabled && !self.can_meet(r.from, &r.takes) {
            return;
        }
        let (from, to, arrives) = (r.from, r.to, r.arrives.clone());
        let together = &self.groups[from as usize].together;
        let beside = match r.takes.split_first() {
            None => together.all(),
            Some((&(first, _), rest)) => {
                rest.iter().fold(together.row(first), |left, &(t, _)| and(&left, &together.row(t)))
            }
        };
        let new = minus(&beside, &r.bystanders);
        if !r.enabled {
            self.rules[rule as usize].enabled = true;
            self.reach(to);
            for (i, &p) in arrives.iter().enumerate() {
                self.meet(to, p, &set_of(arrives[i + 1..].iter().copied()));
            }
        }
        self.listing.add_work(beside.len() as u32);
        if !new.is_empty() {
            self.learn_fates(rule, &new);
            let after = self.rules[rule as usize].after(&new);
            self.listing.add_work(after.len() as u32);
            self.change(to, |together| together.insert_all(&after));
            for &p in &arrives {
                self.meet(to, p, &after);
            }
        }
        let (moved, staying) = {
            let r = &self.rules[rule as usize];
            (and(&beside, &r.moved), minus(&beside, &r.moved))
        };
        if from != to {
            let source = std::mem::take(&mut self.groups[from as usize].together);
            let rows = if new.is_empty() { and(&staying, changed) } else { staying.clone() };
            let work = self.change(to, |together| together.copy(&source, &rows, &staying));
            self.listing.add_work(work.div_ceil(WORDS) as u32);
            self.groups[from as usize].together = source;
        }
        // Bystanders that stay occurred together before.
        for b in each(&moved) {
            let again = contains(&new, b) || contains(changed, b);
            let others = and(&self.groups[from as usize].together.row(b), if again { &beside } else { &new });
            if others.is_empty() {
                continue;
            }
            let r = &self.rules[rule as usize];
            let (others, fates) = (r.after(&others), r.fates[&b].clone());
            self.listing.add_work(2 * others.len() as u32);
            fates.iter().for_each(|&after| self.meet(to, after, &others));
        }
        self.rules[rule as usize].bystanders = beside;
    }

    /// Computes the fates of bystanders.
    fn learn_fates(&mut self, rule: u32, bystanders: &Set) {
        let Some(step) = self.rules[rule as usize].moving.take() else { return };
        let mut moved = Vec::new();
        for b in each(bystanders) {
            let l = self.l(b);
            let fates = match step.others {
                Bystanders::Stay => continue,
                Bystanders::Transfer => self.listing.fates(&step, b),
                Bystanders::WakeOne => vec![Some(l), self.listing.model.woken_by(&step, l).or(Some(l))],
            };
            let mut fates: Vec<Id> = fates.into_iter().flatten().map(|l| self.local(l)).collect();
            fates.sort_unstable();
            fates.dedup();
            if fates != [b] {
                moved.push(b);
                self.rules[rule as usize].fates.insert(b, fates.into());
            }
        }
        let r = &mut self.rules[rule as usize];
        r.moving = Some(step);
        r.moved = merged(r.moved.iter().copied().chain(set_of(moved)).collect());
    }
}

impl Rule {
    /// Returns the fates of these bystanders.
    fn after(&self, bystanders: &Set) -> Set {
        let moved = and(bystanders, &self.moved);
        if moved.is_empty() {
            return bystanders.clone();
        }
        let fates = set_of(each(&moved).flat_map(|b| self.fates[&b].iter().copied()));
        merged(minus(bystanders, &moved).into_iter().chain(fates).collect())
    }
}

#[cfg(test)]
mod tests;
