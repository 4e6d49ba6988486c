//! Views of three threads, on demand: where pairs say too little, and the system is small enough
//! for triples.
//!
//! The same fixpoint as for pairs (the module documentation of `views`), with three for two: a step
//! may fire beside bystanders B if every view of at most three threads of what it takes and B
//! together is there. For each step the sets B that may stand by are kept, and a larger one is
//! tried only if the smaller ones may: work grows with what is found.
//!
//! Triples are no evidence themselves; they tell backward search what to generalise to
//! ([`Triples::core`]).

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;
use throng_model::{Bag, Bystanders, Config, Incomplete, Local, Model, Shared, Step};

/// Dense number of a shared or of a local state.
type Id = u32;

/// How many threads a view has at most.
const K: usize = 3;

/// No thread.
const NONE: Id = Id::MAX;

/// At most three threads, sorted; `NONE` comes last.
type Group = [Id; K];

const EMPTY: Group = [NONE; K];

struct Rule {
    step: Step,
    from: Id,
    to: Id,
    /// What it takes, and what it puts or creates, with multiplicity up to three.
    takes: Vec<Id>,
    arrives: Vec<Id>,
    /// Whether bystanders alone can become something new.
    disturbs: bool,
    enabled: bool,
    /// Who can stand by together.
    bystanders: FxHashSet<Group>,
}

/// Every view of at most three threads that may occur.
pub struct Triples {
    model: Arc<dyn Model>,
    shared: IndexSet<Shared, FxBuildHasher>,
    locals: IndexSet<Local, FxBuildHasher>,
    /// In order of discovery; those from `seen` on have not been looked at.
    views: IndexSet<(Id, Group), FxBuildHasher>,
    seen: usize,
    /// Who can be added to a view of fewer than three.
    beside: FxHashMap<(Id, Group), Vec<Id>>,
    rules: Vec<Rule>,
    by_take: FxHashMap<(Id, Id), Vec<u32>>,
    /// Rules of a shared state that take no thread or disturb: a thread that is new there may stand
    /// by.
    open: FxHashMap<Id, Vec<u32>>,
}

impl Triples {
    /// Closes the initial views under all steps; `found` says how many views there are, also if a
    /// limit ends this.
    pub fn of(problem: &Problem, limits: &Limits, found: &mut u64) -> Result<Triples, Unknown> {
        let mut triples = Triples {
            model: problem.model.clone(),
            shared: IndexSet::default(),
            locals: IndexSet::default(),
            views: IndexSet::default(),
            seen: 0,
            beside: FxHashMap::default(),
            rules: Vec::new(),
            by_take: FxHashMap::default(),
            open: FxHashMap::default(),
        };
        let closed = triples.close(problem, limits);
        *found = triples.len();
        closed.map(|()| triples)
    }

    fn close(&mut self, problem: &Problem, limits: &Limits) -> Result<(), Unknown> {
        let mut ticker = Ticker::new(limits);
        for family in &problem.initial {
            let s = self.shared.insert_full(family.shared).0 as Id;
            let mut threads: Bag = family.threads.clone();
            family.any.iter().for_each(|&l| threads.insert(l, K as u32));
            let threads = self.flat(&threads);
            self.add_all(s, EMPTY, &threads, &mut ticker)?;
        }
        while self.seen < self.views.len() {
            let (s, view) = self.views[self.seen];
            self.seen += 1;
            self.look_at(s, view, &mut ticker)?;
        }
        Ok(())
    }

    /// How many views there are.
    pub fn len(&self) -> u64 {
        self.views.len() as u64
    }

    /// The smallest part of `config`, of at most three threads, that no reachable configuration
    /// covers, if there is one.
    pub fn core(&self, config: &Config) -> Option<Config> {
        let threads: Vec<Local> = each(&config.threads).collect();
        let mut parts: Vec<Vec<Local>> = vec![Vec::new()];
        for size in 0..=K {
            parts.sort_unstable();
            parts.dedup();
            let configs = parts.iter().map(|p| Config::new(config.shared, p.iter().copied().collect()));
            if let Some(found) = configs.into_iter().find(|c| self.excludes(c)) {
                return Some(found);
            }
            if size < K {
                parts = larger(&parts, &threads);
            }
        }
        None
    }

    /// Whether no reachable configuration covers `config`, which has at most three threads.
    fn excludes(&self, config: &Config) -> bool {
        let wanted: Vec<Local> = each(&config.threads).collect();
        if self.model.is_exact() {
            let s = self.shared.get_index_of(&config.shared);
            let ids: Option<Vec<Id>> =
                wanted.iter().map(|l| Some(self.locals.get_index_of(l)? as Id)).collect();
            return match (s, ids) {
                (Some(s), Some(ids)) => !self.views.contains(&(s as Id, group(&ids))),
                _ => true,
            };
        }
        let meeting = (0..self.shared.len() as Id).filter(|&s| {
            self.views.contains(&(s, EMPTY))
                && self.model.meets_shared(self.shared[s as usize], config.shared)
        });
        !meeting.into_iter().any(|s| self.fits(s, EMPTY, &wanted))
    }

    /// Whether `chosen` can be extended by threads for all of `wanted`.
    fn fits(&self, s: Id, chosen: Group, wanted: &[Local]) -> bool {
        let Some((&first, rest)) = wanted.split_first() else { return true };
        let beside = self.beside.get(&(s, chosen)).map_or(&[][..], Vec::as_slice);
        beside.iter().any(|&a| {
            self.model.meets_local(self.locals[a as usize], first) && self.fits(s, with(chosen, a), rest)
        })
    }

    /// The threads one by one; three stand for more.
    fn flat(&mut self, threads: &Bag) -> Vec<Id> {
        let mut ids = Vec::new();
        for &(l, n) in threads.entries() {
            let id = self.locals.insert_full(l).0 as Id;
            ids.extend(std::iter::repeat_n(id, (n as usize).min(K)));
        }
        ids
    }

    /// Adds every view that holds `all` and threads of `some`.
    fn add_all(&mut self, s: Id, all: Group, some: &[Id], ticker: &mut Ticker) -> Result<(), Unknown> {
        self.add(s, all, ticker)?;
        if size(all) < K {
            for i in 0..some.len() {
                // The same state again brings nothing new the second time.
                if i == 0 || some[i] != some[i - 1] {
                    self.add_all(s, with(all, some[i]), &some[i + 1..], ticker)?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, s: Id, view: Group, ticker: &mut Ticker) -> Result<(), Unknown> {
        ticker.tick()?;
        if !self.views.insert((s, view)) {
            return Ok(());
        }
        for i in 0..size(view) {
            let rest = without(view, i);
            // Parts come first, so that no view has a thread beside one that is not there.
            self.add(s, rest, ticker)?;
            if i == 0 || view[i] != view[i - 1] {
                self.beside.entry((s, rest)).or_default().push(view[i]);
            }
        }
        let mut steps = Vec::new();
        match view {
            [NONE, ..] => self.model.post_shared(self.shared[s as usize], &mut steps)?,
            [a, NONE, _] => {
                self.model.post(self.shared[s as usize], self.locals[a as usize], &mut steps)?;
            }
            _ => {}
        }
        steps.into_iter().for_each(|step| self.register(s, step));
        Ok(())
    }

    /// Remembers a step; it does nothing until it is enabled.
    fn register(&mut self, from: Id, step: Step) {
        let rule = self.rules.len() as u32;
        let takes = self.flat(&step.take);
        let mut arrives = self.flat(&step.put);
        arrives.extend(self.flat(&step.spawn));
        arrives.sort_unstable();
        let to = self.shared.insert_full(step.to).0 as Id;
        let disturbs = step.from != step.to || step.others != Bystanders::Stay;
        let mut taken = takes.clone();
        taken.dedup();
        taken.iter().for_each(|&t| self.by_take.entry((from, t)).or_default().push(rule));
        if disturbs || takes.is_empty() {
            self.open.entry(from).or_default().push(rule);
        }
        let bystanders = FxHashSet::default();
        self.rules.push(Rule { step, from, to, takes, arrives, disturbs, enabled: false, bystanders });
    }

    /// What a new view makes possible.
    fn look_at(&mut self, s: Id, view: Group, ticker: &mut Ticker) -> Result<(), Unknown> {
        let threads = &view[..size(view)];
        let mut rules: Vec<u32> = self.open.get(&s).cloned().unwrap_or_default();
        for t in threads {
            rules.extend(self.by_take.get(&(s, *t)).into_iter().flatten());
        }
        rules.sort_unstable();
        rules.dedup();
        for rule in rules {
            ticker.tick()?;
            if !self.rules[rule as usize].enabled {
                self.try_enable(rule, ticker)?;
            } else {
                for part in parts(view) {
                    self.stand_by(rule, part, ticker)?;
                }
            }
        }
        Ok(())
    }

    /// Enables a rule once all it takes can be there together.
    fn try_enable(&mut self, rule: u32, ticker: &mut Ticker) -> Result<(), Unknown> {
        let r = &self.rules[rule as usize];
        if !self.beside_takes(r, EMPTY) {
            return Ok(());
        }
        let (to, from, first) = (r.to, r.from, r.takes.first().copied());
        let arrives = r.arrives.clone();
        self.rules[rule as usize].enabled = true;
        self.add_all(to, EMPTY, &arrives, ticker)?;
        let beside = first.map_or(EMPTY, |t| with(EMPTY, t));
        for b in self.beside.get(&(from, beside)).cloned().unwrap_or_default() {
            self.stand_by(rule, with(EMPTY, b), ticker)?;
        }
        Ok(())
    }

    /// Whether every view of the bystanders and threads that the rule takes is there.
    fn beside_takes(&self, r: &Rule, bystanders: Group) -> bool {
        self.all_there(r.from, bystanders, &r.takes)
    }

    /// Whether every view that holds `all` and as many threads of `some` as fit is there.
    fn all_there(&self, s: Id, all: Group, some: &[Id]) -> bool {
        if some.is_empty() || size(all) == K {
            return self.views.contains(&(s, all));
        }
        // With and without the first one; without it only if others can take its place.
        self.all_there(s, with(all, some[0]), &some[1..]) && self.all_there(s, all, &some[1..])
    }

    /// Threads may stand by together if each part of them may, and all views with what is taken are
    /// there.
    fn stand_by(&mut self, rule: u32, who: Group, ticker: &mut Ticker) -> Result<(), Unknown> {
        ticker.tick()?;
        let r = &self.rules[rule as usize];
        let n = size(who);
        if n == 0 || n == K && !r.disturbs || r.bystanders.contains(&who) {
            return Ok(());
        }
        let parts_may = n == 1 || (0..n).all(|i| r.bystanders.contains(&without(who, i)));
        if !parts_may || !self.beside_takes(r, who) {
            return Ok(());
        }
        let (from, to, arrives) = (r.from, r.to, r.arrives.clone());
        self.rules[rule as usize].bystanders.insert(who);
        for after in self.fates_of(rule, who)? {
            self.add_all(to, after, &arrives, ticker)?;
        }
        if n < K {
            for b in self.beside.get(&(from, who)).cloned().unwrap_or_default() {
                self.stand_by(rule, with(who, b), ticker)?;
            }
        }
        Ok(())
    }

    /// What bystanders may become together.
    fn fates_of(&mut self, rule: u32, who: Group) -> Result<Vec<Group>, Incomplete> {
        let mut after = vec![EMPTY];
        for &b in &who[..size(who)] {
            let fates = self.fates(rule, b)?;
            let add = |&g: &Group| fates.iter().map(move |f| f.map_or(g, |f| with(g, f))).collect::<Vec<_>>();
            after = after.iter().flat_map(add).collect();
        }
        after.sort_unstable();
        after.dedup();
        Ok(after)
    }

    fn fates(&mut self, rule: u32, b: Id) -> Result<Vec<Option<Id>>, Incomplete> {
        let l = self.locals[b as usize];
        let step = &self.rules[rule as usize].step;
        let mut fates = Vec::new();
        match step.others {
            Bystanders::Stay => return Ok(vec![Some(b)]),
            Bystanders::Transfer => self.model.bystander(step, l, &mut fates)?,
            Bystanders::WakeOne => fates.extend([Some(l), self.model.woken_by(step, l).or(Some(l))]),
        }
        Ok(fates.into_iter().map(|fate| fate.map(|l| self.locals.insert_full(l).0 as Id)).collect())
    }
}

fn size(group: Group) -> usize {
    group.iter().take_while(|&&a| a != NONE).count()
}

/// One thread more; the group has room.
fn with(mut group: Group, a: Id) -> Group {
    group[K - 1] = a;
    group.sort_unstable();
    group
}

fn without(mut group: Group, i: usize) -> Group {
    group[i] = NONE;
    group.sort_unstable();
    group
}

/// At most three threads.
fn group(threads: &[Id]) -> Group {
    threads.iter().fold(EMPTY, |g, &a| with(g, a))
}

/// All parts of a view, itself included, smaller ones first.
fn parts(view: Group) -> Vec<Group> {
    let threads = &view[..size(view)];
    let chosen = |mask: usize| threads.iter().enumerate().filter(move |(i, _)| mask >> i & 1 == 1);
    let mut parts: Vec<Group> =
        (0..1usize << threads.len()).map(|mask| chosen(mask).fold(EMPTY, |g, (_, &a)| with(g, a))).collect();
    parts.sort_unstable_by_key(|&p| (size(p), p));
    parts.dedup();
    parts
}

fn each(threads: &Bag) -> impl Iterator<Item = Local> {
    threads.entries().iter().flat_map(|&(l, n)| std::iter::repeat_n(l, (n as usize).min(K)))
}

/// Every part with one thread more of those that there are.
fn larger(parts: &[Vec<Local>], threads: &[Local]) -> Vec<Vec<Local>> {
    let count = |ls: &[Local], l: Local| ls.iter().filter(|&&m| m == l).count();
    let grow = |part: &Vec<Local>| {
        let free = threads.iter().filter(|&&l| count(part, l) < count(threads, l));
        let grown = |&l: &Local| {
            let mut part = part.clone();
            part.push(l);
            part.sort_unstable();
            part
        };
        free.map(grown).collect::<Vec<_>>()
    };
    parts.iter().flat_map(grow).collect()
}
