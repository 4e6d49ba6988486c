//! The least set of views that holds the initial ones and is closed under steps, by a worklist.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::engine::{Progress, Watch};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;
use throng_model::{Bag, Bystanders, Config, Incomplete, Local, Model, Shared, Step};

/// Dense number of a shared or of a local state.
type Id = u32;

/// A step, as far as views need it.
struct Rule {
    step: Step,
    from: Id,
    to: Id,
    /// The local states it takes, each once.
    takes: Vec<Id>,
    /// What it puts or creates, with multiplicity up to two.
    arrives: Vec<Id>,
    /// Whether two bystanders together can become something new.
    disturbs: bool,
    /// Whether all it takes can be there together.
    enabled: bool,
    /// Who can stand by, in order and as a set.
    bystanders: IndexSet<Id, FxBuildHasher>,
}

/// A new view to look at.
#[derive(Clone, Copy)]
enum New {
    One(Id, Id),
    Two(Id, Id, Id),
}

/// Views found so far, and what still has to be looked at.
pub struct Closure {
    model: Arc<dyn Model>,
    shared: IndexSet<Shared, FxBuildHasher>,
    /// Shared states that occur, in order; others only have a number yet.
    reached: IndexSet<Id, FxBuildHasher>,
    locals: IndexSet<Local, FxBuildHasher>,
    /// (s, a)
    singles: FxHashSet<(Id, Id)>,
    /// (s, a, b) with a ≤ b
    pairs: FxHashSet<(Id, Id, Id)>,
    /// Who is paired with a thread: b of (s, a).
    partners: FxHashMap<(Id, Id), Vec<Id>>,
    at: FxHashMap<Id, Vec<Id>>,
    rules: Vec<Rule>,
    /// Rules that take a thread of a local state.
    by_take: FxHashMap<(Id, Id), Vec<u32>>,
    /// Rules of a shared state that take nobody, and those that disturb.
    leaderless: FxHashMap<Id, Vec<u32>>,
    disturbing: FxHashMap<Id, Vec<u32>>,
    todo: Vec<New>,
    /// Why some list of steps was incomplete, if one was.
    incomplete: Option<Incomplete>,
}

impl Closure {
    /// No views.
    pub fn new(model: Arc<dyn Model>) -> Closure {
        Closure {
            model,
            shared: IndexSet::default(),
            reached: IndexSet::default(),
            locals: IndexSet::default(),
            singles: FxHashSet::default(),
            pairs: FxHashSet::default(),
            partners: FxHashMap::default(),
            at: FxHashMap::default(),
            rules: Vec::new(),
            by_take: FxHashMap::default(),
            leaderless: FxHashMap::default(),
            disturbing: FxHashMap::default(),
            todo: Vec::new(),
            incomplete: None,
        }
    }

    /// Closes the initial views under all steps. If that was interrupted, another call goes on.
    pub fn run(&mut self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Result<(), Unknown> {
        let mut ticker = Ticker::new(limits);
        for family in &problem.initial {
            let s = self.shared.insert_full(family.shared).0 as Id;
            self.reach(s);
            let mut threads: Bag = family.threads.clone();
            for &l in &family.any {
                threads.insert(l, 2);
            }
            let ids: Vec<(Id, u32)> = threads.entries().iter().map(|&(l, n)| (self.local(l), n)).collect();
            for (i, &(a, n)) in ids.iter().enumerate() {
                self.one(s, a);
                if n > 1 {
                    self.two(s, a, a);
                }
                for &(b, _) in &ids[i + 1..] {
                    ticker.tick()?;
                    self.two(s, a, b);
                }
            }
        }
        let mut rounds = 0u64;
        while let Some(new) = self.todo.pop() {
            rounds += 1;
            if rounds.is_multiple_of(1 << 16) {
                let (configurations, frontier) = (self.len(), self.todo.len() as u64);
                watch.progress(&Progress {
                    engine: "views",
                    phase: "pairs".into(),
                    configurations,
                    frontier,
                });
            }
            let looked = match new {
                New::One(s, a) => self.look_at_one(s, a, &mut ticker),
                New::Two(s, a, b) => self.look_at_two(s, a, b, &mut ticker),
            };
            let complete = self.incomplete.clone().map_or(Ok(()), |why| Err(why.into()));
            if let Err(why) = looked.and(complete) {
                // Looking at it again does no harm, so the search can go on from here.
                self.todo.push(new);
                return Err(why);
            }
        }
        Ok(())
    }

    /// How many views there are.
    pub fn len(&self) -> u64 {
        (self.reached.len() + self.singles.len() + self.pairs.len()) as u64
    }

    /// How many shared and local states there are.
    pub fn states(&self) -> (u64, u64) {
        (self.reached.len() as u64, self.locals.len() as u64)
    }

    /// The steps that are possible.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.rules.iter().filter(|rule| rule.enabled).map(|rule| &rule.step)
    }

    /// The shared states that may occur.
    pub fn shared(&self) -> impl Iterator<Item = Shared> {
        self.reached.iter().map(|&s| self.s(s))
    }

    /// Who may be there with a shared state.
    pub fn at(&self, s: Shared) -> impl Iterator<Item = Local> {
        let id = self.shared.get_index_of(&s).map(|i| i as Id);
        id.and_then(|id| self.at.get(&id)).into_iter().flatten().map(|&a| self.l(a))
    }

    /// All views, smaller ones included, sorted.
    pub fn views(&self) -> Vec<Config> {
        let shared = self.reached.iter().map(|&s| Config::new(self.s(s), Bag::new()));
        let singles = self.singles.iter().map(|&(s, a)| Config::new(self.s(s), Bag::one(self.l(a))));
        let pairs = self
            .pairs
            .iter()
            .map(|&(s, a, b)| Config::new(self.s(s), [self.l(a), self.l(b)].into_iter().collect()));
        let mut views: Vec<Config> = shared.chain(singles).chain(pairs).collect();
        views.sort_unstable();
        views
    }

    /// Whether the views rule out every configuration that covers `bad`.
    pub fn excludes(&self, bad: &Config) -> bool {
        let wanted: Vec<Local> =
            bad.threads.entries().iter().flat_map(|&(l, n)| (0..n.min(2)).map(move |_| l)).collect();
        let mut meeting = self.reached.iter().filter(|&&s| self.model.meets_shared(self.s(s), bad.shared));
        !meeting.any(|&s| self.fits(s, &wanted, &mut Vec::new()))
    }

    /// Whether threads for the rest of `wanted` can be found that are pairwise in the set with all of `chosen`.
    fn fits(&self, s: Id, wanted: &[Local], chosen: &mut Vec<Id>) -> bool {
        let Some((&first, rest)) = wanted.split_first() else { return true };
        let exact = self.locals.get_index_of(&first).map(|i| i as Id);
        let candidates: Vec<Id> = match (self.model.is_exact(), exact) {
            (true, found) => found.into_iter().collect(),
            (false, _) => self.at.get(&s).cloned().unwrap_or_default(),
        };
        candidates.into_iter().any(|a| {
            let possible = self.singles.contains(&(s, a))
                && self.model.meets_local(self.l(a), first)
                && chosen.iter().all(|&c| self.has_two(s, c, a));
            if !possible {
                return false;
            }
            chosen.push(a);
            let found = self.fits(s, rest, chosen);
            chosen.pop();
            found
        })
    }

    fn s(&self, id: Id) -> Shared {
        self.shared[id as usize]
    }

    fn l(&self, id: Id) -> Local {
        self.locals[id as usize]
    }

    fn local(&mut self, l: Local) -> Id {
        self.locals.insert_full(l).0 as Id
    }

    fn has_two(&self, s: Id, a: Id, b: Id) -> bool {
        self.pairs.contains(&(s, a.min(b), a.max(b)))
    }

    fn note(&mut self, listed: Result<(), Incomplete>) {
        if let Err(why) = listed {
            self.incomplete.get_or_insert(why);
        }
    }

    /// The shared state occurs.
    fn reach(&mut self, s: Id) {
        if self.reached.insert(s) {
            let mut steps = Vec::new();
            let listed = self.model.post_shared(self.s(s), &mut steps);
            self.note(listed);
            for step in steps {
                let rule = self.register(s, step);
                self.arrive(rule);
                self.rules[rule as usize].enabled = true;
            }
        }
    }

    fn one(&mut self, s: Id, a: Id) {
        if self.singles.insert((s, a)) {
            self.at.entry(s).or_default().push(a);
            self.todo.push(New::One(s, a));
            let mut steps = Vec::new();
            let listed = self.model.post(self.s(s), self.l(a), &mut steps);
            self.note(listed);
            steps.into_iter().for_each(|step| _ = self.register(s, step));
        }
    }

    fn two(&mut self, s: Id, a: Id, b: Id) {
        let (a, b) = (a.min(b), a.max(b));
        if self.pairs.insert((s, a, b)) {
            self.one(s, a);
            self.one(s, b);
            self.partners.entry((s, a)).or_default().push(b);
            if a != b {
                self.partners.entry((s, b)).or_default().push(a);
            }
            self.todo.push(New::Two(s, a, b));
        }
    }

    /// Remembers a step; it does nothing until it is enabled.
    fn register(&mut self, from: Id, step: Step) -> u32 {
        let rule = self.rules.len() as u32;
        let takes: Vec<Id> = step.take.entries().iter().map(|&(l, _)| self.local(l)).collect();
        let mut arrives = Vec::new();
        for &(l, n) in step.put.entries().iter().chain(step.spawn.entries()) {
            let l = self.local(l);
            arrives.extend(std::iter::repeat_n(l, n.min(2) as usize));
        }
        let (to, _) = self.shared.insert_full(step.to);
        let disturbs = step.from != step.to || step.others != Bystanders::Stay;
        takes.iter().for_each(|&t| self.by_take.entry((from, t)).or_default().push(rule));
        if takes.is_empty() {
            self.leaderless.entry(from).or_default().push(rule);
        }
        if disturbs {
            self.disturbing.entry(from).or_default().push(rule);
        }
        let to = to as Id;
        self.rules.push(Rule {
            step,
            from,
            to,
            takes,
            arrives,
            disturbs,
            enabled: false,
            bystanders: IndexSet::default(),
        });
        rule
    }

    fn look_at_one(&mut self, s: Id, a: Id, ticker: &mut Ticker) -> Result<(), Unknown> {
        for rule in self.by_take.get(&(s, a)).cloned().unwrap_or_default() {
            self.try_enable(rule, ticker)?;
        }
        for rule in self.leaderless.get(&s).cloned().unwrap_or_default() {
            self.stand_by(rule, a, ticker)?;
        }
        Ok(())
    }

    fn look_at_two(&mut self, s: Id, a: Id, b: Id, ticker: &mut Ticker) -> Result<(), Unknown> {
        for (taken, other) in [(a, b), (b, a)] {
            for rule in self.by_take.get(&(s, taken)).cloned().unwrap_or_default() {
                self.try_enable(rule, ticker)?;
                if self.rules[rule as usize].enabled {
                    self.stand_by(rule, other, ticker)?;
                }
            }
        }
        for rule in self.disturbing.get(&s).cloned().unwrap_or_default() {
            ticker.tick()?;
            let known = &self.rules[rule as usize].bystanders;
            if known.contains(&a) && known.contains(&b) {
                self.both(rule, a, b);
            }
        }
        Ok(())
    }

    /// Enables a rule once all it takes can be there together. It counts as enabled only when that is done: if interrupted, it is done again.
    fn try_enable(&mut self, rule: u32, ticker: &mut Ticker) -> Result<(), Unknown> {
        let r = &self.rules[rule as usize];
        if r.enabled || !self.can_meet(r) {
            return Ok(());
        }
        let first = (r.from, r.takes[0]);
        self.arrive(rule);
        for b in self.partners.get(&first).cloned().unwrap_or_default() {
            self.stand_by(rule, b, ticker)?;
        }
        self.rules[rule as usize].enabled = true;
        Ok(())
    }

    fn can_meet(&self, r: &Rule) -> bool {
        let taken = r.step.take.entries();
        (0..taken.len()).all(|i| {
            let alone = self.singles.contains(&(r.from, r.takes[i]));
            let twice = taken[i].1 < 2 || self.has_two(r.from, r.takes[i], r.takes[i]);
            alone && twice && (0..i).all(|j| self.has_two(r.from, r.takes[j], r.takes[i]))
        })
    }

    /// The views of what the step itself leaves behind.
    fn arrive(&mut self, rule: u32) {
        let r = &self.rules[rule as usize];
        let (to, arrives) = (r.to, r.arrives.clone());
        self.reach(to);
        for (i, &p) in arrives.iter().enumerate() {
            self.one(to, p);
            for &q in &arrives[i + 1..] {
                self.two(to, p, q);
            }
        }
    }

    /// A thread at `b` may stand by if it is in the set with everybody who is taken. It is noted last: if interrupted, all is done again.
    fn stand_by(&mut self, rule: u32, b: Id, ticker: &mut Ticker) -> Result<(), Unknown> {
        ticker.tick()?;
        let r = &self.rules[rule as usize];
        if r.bystanders.contains(&b) || !r.takes.iter().all(|&t| self.has_two(r.from, t, b)) {
            return Ok(());
        }
        let (from, to, disturbs) = (r.from, r.to, r.disturbs);
        let arrives = r.arrives.clone();
        for after in self.fates(rule, b).into_iter().flatten() {
            self.one(to, after);
            for &p in &arrives {
                self.two(to, p, after);
            }
        }
        if disturbs {
            for i in 0..=self.rules[rule as usize].bystanders.len() {
                ticker.tick()?;
                let c = self.rules[rule as usize].bystanders.get_index(i).copied().unwrap_or(b);
                if self.has_two(from, b, c) {
                    self.both(rule, b, c);
                }
            }
        }
        self.rules[rule as usize].bystanders.insert(b);
        Ok(())
    }

    /// Two bystanders after the step.
    fn both(&mut self, rule: u32, a: Id, b: Id) {
        let to = self.rules[rule as usize].to;
        let others = self.fates(rule, b);
        for after in self.fates(rule, a).into_iter().flatten() {
            for &other in others.iter().flatten() {
                self.two(to, after, other);
            }
        }
    }

    /// What may become of a bystander.
    fn fates(&mut self, rule: u32, b: Id) -> Vec<Option<Id>> {
        let l = self.l(b);
        let step = &self.rules[rule as usize].step;
        let mut fates = Vec::new();
        let mut listed = Ok(());
        match step.others {
            Bystanders::Stay => return vec![Some(b)],
            Bystanders::Transfer => listed = self.model.bystander(step, l, &mut fates),
            Bystanders::WakeOne => fates.extend([Some(l), self.model.woken(l).or(Some(l))]),
        }
        self.note(listed);
        fates.into_iter().map(|fate| fate.map(|l| self.local(l))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Silent;
    use throng_dev::{Knobs, Rng, random_problem, random_table};
    use throng_model::problem::Bound;

    #[test]
    fn interrupted_at_any_time_it_finds_the_same() {
        let mut interrupted = 0;
        let sparse = Knobs { vanish: 2, exits: 2, block: 0, ..Knobs::default() };
        let alone = Knobs { shared: 6, locals: 30, steps: 60, broadcasts: 0, ..sparse };
        let moving = Knobs { shared: 3, locals: 40, steps: 40, broadcasts: 40, ..sparse };
        for seed in 0..200 {
            let (mut rng, knobs) = (Rng::new(seed / 2), if seed % 2 == 0 { &alone } else { &moving });
            let table = Arc::new(random_table(&mut rng, knobs));
            let problem = random_problem(&mut rng, knobs, table, Bound::Any);
            let mut whole = Closure::new(problem.model.clone());
            whole.run(&problem, &Limits::none(), &Silent).expect("no limit");
            let (mut parts, mut work) = (Closure::new(problem.model.clone()), 1);
            while parts.run(&problem, &Limits::none().part().work(work), &Silent).is_err() {
                // An item may take longer than a turn.
                (interrupted, work) = (interrupted + 1, work + 1);
            }
            assert_eq!(parts.views(), whole.views(), "{seed}");
        }
        assert!(interrupted > 2000, "{interrupted}");
    }
}
