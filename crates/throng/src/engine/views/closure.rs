//! The least set of views of at most two threads that holds the initial ones and is closed under steps.
//!
//! Views are rows of bits: for a shared state and a local state, the local states of the threads that may be there as well. A step's bystanders are the
//! intersection of the rows of all that it takes, and what it leads to is added to rows, 64 threads at a time. Each row remembers
//! what was added since it was last looked at; work is driven by that.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::{SmallVec, smallvec};

use crate::engine::listing::Listing;
use crate::engine::{Progress, Watch};
use throng_model::bits::Bits;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Views};
use throng_model::{Bag, Bystanders, Config, Local, Model, Shared, Step};

/// Dense number of a shared or of a local state.
type Id = u32;

/// In place of the number of a row: there is none.
const NONE: u32 = u32::MAX;

/// A step, as far as views need it.
struct Rule {
    step: Step,
    from: Id,
    to: Id,
    /// The local states it takes, each once.
    takes: Vec<Id>,
    /// What it puts or creates, with multiplicity up to two.
    arrives: Vec<Id>,
    /// The same as a set.
    arrived: Bits,
    /// Whether two bystanders together can become something new.
    disturbs: bool,
    /// Whether all it takes can be there together.
    enabled: bool,
    /// The local states that can stand by.
    bystanders: Bits,
    /// Those of them that do not stay what they are, and what they may become.
    moved: Bits,
    fates: FxHashMap<Id, Box<[Id]>>,
}

/// The threads that may be there with one thread and a shared state.
struct Row {
    shared: Id,
    thread: Id,
    all: Bits,
    /// Those that have not been looked at.
    fresh: Bits,
    /// Whether the row is in the queue.
    waiting: bool,
}

/// A row that is being looked at. If that was interrupted, another call resumes it.
struct Current {
    row: usize,
    fresh: Bits,
    /// How many rules that take the thread, and how many that disturb others, were looked at.
    taking: usize,
    disturbing: usize,
}

/// Views found so far, and what still has to be looked at.
pub struct Closure {
    listing: Listing,
    /// Shared states that occur, in order; others only have a number yet.
    reached: IndexSet<Id, FxBuildHasher>,
    /// For every thread state that occurs, who may be there as well.
    rows: Vec<Row>,
    /// Where the rows of a shared state and of 64 local states are, by the number of the first of these, divided by 64: rows are looked up as sets are gone through.
    blocks: FxHashMap<(Id, Id), Box<[u32; 64]>>,
    /// The threads that may be there with a shared state.
    at: FxHashMap<Id, Bits>,
    /// How many views of two threads there are, and how many of them were counted as work.
    pairs: u64,
    counted: u64,
    rules: Vec<Rule>,
    /// Rules that take a thread of a local state.
    by_take: FxHashMap<(Id, Id), Vec<u32>>,
    /// Rules of a shared state that take no thread, and those that disturb.
    leaderless: FxHashMap<Id, Vec<u32>>,
    disturbing: FxHashMap<Id, Vec<u32>>,
    /// Rows with something fresh, or that are new.
    queue: VecDeque<usize>,
    current: Option<Current>,
}

impl Closure {
    /// No views.
    pub fn new(model: Arc<dyn Model>) -> Closure {
        Closure {
            listing: Listing::new(model),
            reached: IndexSet::default(),
            rows: Vec::new(),
            blocks: FxHashMap::default(),
            at: FxHashMap::default(),
            pairs: 0,
            counted: 0,
            rules: Vec::new(),
            by_take: FxHashMap::default(),
            leaderless: FxHashMap::default(),
            disturbing: FxHashMap::default(),
            queue: VecDeque::new(),
            current: None,
        }
    }

    /// Closes the initial views under all steps. If that was interrupted, another call resumes it.
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
            let all: Bits = ids.iter().map(|e| e.0).collect();
            for &(a, n) in &ids {
                ticker.ticks(all.words())?;
                let mut others = all.clone();
                if n == 1 {
                    others = others.minus(&Bits::new(vec![a]));
                }
                self.one(s, a);
                self.meet(s, a, &others);
            }
        }
        let mut rounds = 0u64;
        loop {
            if self.current.is_none() {
                let Some(row) = self.queue.pop_front() else { return Ok(()) };
                self.rows[row].waiting = false;
                let fresh = std::mem::take(&mut self.rows[row].fresh);
                self.current = Some(Current { row, fresh, taking: 0, disturbing: 0 });
            }
            rounds += 1;
            if rounds.is_multiple_of(1 << 10) {
                let (configurations, frontier) = (self.len(), self.queue.len() as u64);
                watch.progress(&Progress {
                    engine: "views",
                    phase: "pairs".into(),
                    configurations,
                    frontier,
                });
            }
            let mut current = self.current.take().expect("a row to look at");
            let looked = self.look_at(&mut current, &mut ticker);
            let charged = ticker.ticks(self.listing.take_work());
            if let Err(why) = looked.and(charged).and(self.listing.complete()) {
                self.current = Some(current);
                return Err(why);
            }
        }
    }

    /// How many views there are.
    pub fn len(&self) -> u64 {
        (self.reached.len() + self.rows.len()) as u64 + self.pairs
    }

    /// How many shared and local states there are.
    pub fn states(&self) -> (u64, u64) {
        (self.reached.len() as u64, self.listing.locals.values().len() as u64)
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
        let id = self.listing.shared.id(s);
        id.and_then(|id| self.at.get(&id)).into_iter().flat_map(Bits::iter).map(|a| self.l(a))
    }

    /// All views.
    pub fn views(&self) -> Views {
        let mut reached: Vec<Id> = self.reached.iter().copied().collect();
        reached.sort_unstable_by_key(|&s| self.s(s));
        let sorted = |set: &Bits| {
            let mut locals: Vec<Local> = set.iter().map(|a| self.l(a)).collect();
            locals.sort_unstable();
            locals
        };
        Views::of_rows(reached.into_iter().map(|s| {
            let mut alike: FxHashMap<&Bits, Bits> = FxHashMap::default();
            for a in self.at.get(&s).into_iter().flat_map(Bits::iter) {
                alike.entry(&self.rows[self.row(s, a)].all).or_default().insert(a);
            }
            (self.s(s), alike.into_iter().map(|(row, of)| (sorted(&of), sorted(row))).collect())
        }))
    }

    /// Whether the views rule out every configuration that covers `bad`.
    pub fn excludes(&self, bad: &Config) -> bool {
        let wanted: Vec<Local> =
            bad.threads.entries().iter().flat_map(|&(l, n)| (0..n.min(2)).map(move |_| l)).collect();
        let mut meeting =
            self.reached.iter().filter(|&&s| self.listing.model.meets_shared(self.s(s), bad.shared));
        !meeting.any(|&s| self.at.get(&s).map_or(wanted.is_empty(), |at| self.fits(s, &wanted, at)))
    }

    /// Whether threads for all of `wanted` can be found among `candidates` that may be there together.
    fn fits(&self, s: Id, wanted: &[Local], candidates: &Bits) -> bool {
        let Some((&first, rest)) = wanted.split_first() else { return true };
        let fits = |a: Id| {
            self.listing.model.meets_local(self.l(a), first)
                && self.fits(s, rest, &candidates.and(&self.rows[self.row(s, a)].all))
        };
        if self.listing.model.is_exact() {
            return self.listing.locals.id(first).is_some_and(|a| candidates.contains(a) && fits(a));
        }
        candidates.iter().any(fits)
    }

    fn s(&self, id: Id) -> Shared {
        self.listing.shared.value(id)
    }

    fn l(&self, id: Id) -> Local {
        self.listing.locals.value(id)
    }

    fn local(&mut self, l: Local) -> Id {
        self.listing.locals.intern(l).0
    }

    fn has_two(&self, s: Id, a: Id, b: Id) -> bool {
        self.find_row(s, a).is_some_and(|row| self.rows[row].all.contains(b))
    }

    fn find_row(&self, s: Id, a: Id) -> Option<usize> {
        let row = self.blocks.get(&(s, a / 64))?[(a % 64) as usize];
        (row != NONE).then_some(row as usize)
    }

    /// The row of a thread that may be there.
    fn row(&self, s: Id, a: Id) -> usize {
        self.find_row(s, a).expect("a thread that may be there")
    }

    /// The shared state occurs.
    fn reach(&mut self, s: Id) {
        if self.reached.insert(s) {
            for step in self.listing.without_leader(s) {
                let rule = self.register(s, step);
                self.arrive(rule);
                self.rules[rule as usize].enabled = true;
            }
        }
    }

    /// A thread may be there: its row.
    fn one(&mut self, s: Id, a: Id) -> usize {
        if let Some(row) = self.find_row(s, a) {
            return row;
        }
        let row = self.rows.len();
        let block = self.blocks.entry((s, a / 64)).or_insert_with(|| Box::new([NONE; 64]));
        block[(a % 64) as usize] = row as u32;
        let (all, fresh) = (Bits::default(), Bits::default());
        self.rows.push(Row { shared: s, thread: a, all, fresh, waiting: false });
        self.at.entry(s).or_default().insert(a);
        self.wait(row);
        self.listing.led_by(s, a).into_iter().for_each(|step| _ = self.register(s, step));
        row
    }

    /// Each of these may be there.
    fn all(&mut self, s: Id, threads: &Bits) {
        let new = self.at.get(&s).map_or_else(|| threads.clone(), |at| threads.minus(at));
        new.iter().for_each(|a| _ = self.one(s, a));
    }

    /// A thread may be there together with each of these.
    fn meet(&mut self, s: Id, a: Id, others: &Bits) {
        if others.is_empty() {
            return;
        }
        let row = self.one(s, a);
        let new = others.minus(&self.rows[row].all);
        if new.is_empty() {
            return;
        }
        self.all(s, &new);
        self.rows[row].all.absorb(&new);
        self.pairs += new.len();
        self.rows[row].fresh.absorb(&new);
        self.wait(row);
        for (place, within) in new.by_word() {
            let block = &self.blocks[&(s, place)];
            for other in within.map(|n| block[n as usize] as usize).filter(|&other| other != row) {
                let Row { all, fresh, waiting, .. } = &mut self.rows[other];
                all.insert(a);
                fresh.insert(a);
                if !std::mem::replace(waiting, true) {
                    self.queue.push_back(other);
                }
            }
        }
    }

    fn wait(&mut self, row: usize) {
        if !std::mem::replace(&mut self.rows[row].waiting, true) {
            self.queue.push_back(row);
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
        let to = self.listing.shared.intern(step.to).0;
        let disturbs = step.from != step.to || step.others != Bystanders::Stay;
        takes.iter().for_each(|&t| self.by_take.entry((from, t)).or_default().push(rule));
        if takes.is_empty() {
            self.leaderless.entry(from).or_default().push(rule);
        }
        if disturbs {
            self.disturbing.entry(from).or_default().push(rule);
        }
        self.rules.push(Rule {
            step,
            from,
            to,
            takes,
            arrived: arrives.iter().copied().collect(),
            arrives,
            disturbs,
            enabled: false,
            bystanders: Bits::default(),
            moved: Bits::default(),
            fates: FxHashMap::default(),
        });
        rule
    }

    /// What a thread that is new, or may be there with others that are new, makes possible.
    fn look_at(&mut self, current: &mut Current, ticker: &mut Ticker) -> Result<(), Unknown> {
        let Row { shared: s, thread: a, .. } = self.rows[current.row];
        while let Some(&rule) = self.by_take.get(&(s, a)).and_then(|rules| rules.get(current.taking)) {
            ticker.tick()?;
            self.try_enable(rule, ticker)?;
            if self.rules[rule as usize].enabled {
                self.stand_by(rule, &current.fresh, ticker)?;
            }
            current.taking += 1;
        }
        let this = Bits::new(vec![a]);
        for i in 0..self.leaderless.get(&s).map_or(0, Vec::len) {
            self.stand_by(self.leaderless[&s][i], &this, ticker)?;
        }
        // Each pair once is enough.
        let fresh = current.fresh.at_least(a);
        while let Some(&rule) = self.disturbing.get(&s).and_then(|rules| rules.get(current.disturbing)) {
            let known = &self.rules[rule as usize].bystanders;
            ticker.tick()?;
            if known.contains(a) {
                let others = fresh.and(known);
                self.both(rule, a, &others, ticker)?;
            }
            current.disturbing += 1;
        }
        Ok(())
    }

    /// Enables a rule once all it takes can be there together. It counts as enabled only when that is done: if interrupted, it is done again.
    fn try_enable(&mut self, rule: u32, ticker: &mut Ticker) -> Result<(), Unknown> {
        let r = &self.rules[rule as usize];
        if r.enabled || !self.can_meet(r) {
            return Ok(());
        }
        let beside = self.rows[self.row(r.from, r.takes[0])].all.clone();
        self.arrive(rule);
        self.stand_by(rule, &beside, ticker)?;
        self.rules[rule as usize].enabled = true;
        Ok(())
    }

    fn can_meet(&self, r: &Rule) -> bool {
        let taken = r.step.take.entries();
        (0..taken.len()).all(|i| {
            let alone = self.find_row(r.from, r.takes[i]).is_some();
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
            self.meet(to, p, &arrives[i + 1..].iter().copied().collect());
        }
    }

    /// Those of `threads` that may be there with everything that is taken may stand by. Each is noted last: if interrupted, the others are done again.
    fn stand_by(&mut self, rule: u32, threads: &Bits, ticker: &mut Ticker) -> Result<(), Unknown> {
        let r = &self.rules[rule as usize];
        ticker.ticks(1 + threads.words())?;
        let mut new = threads.minus(&r.bystanders);
        for &t in &r.takes {
            if new.is_empty() {
                return Ok(());
            }
            new = new.and(&self.rows[self.row(r.from, t)].all);
        }
        let (from, to, arrived) = (r.from, r.to, r.arrived.clone());
        if !r.disturbs {
            arrived.iter().for_each(|p| self.meet(to, p, &new));
            self.rules[rule as usize].bystanders.absorb(&new);
            return self.count(ticker);
        }
        for b in new.iter() {
            ticker.ticks(1 + new.words())?;
            self.learn_fates(rule, b);
            let r = &self.rules[rule as usize];
            let row = &self.rows[self.row(from, b)].all;
            let mut others = row.and(&r.bystanders);
            if row.contains(b) {
                others.insert(b);
            }
            let mut beside = r.after(&others, ticker)?.into_owned();
            beside.absorb(&arrived);
            for after in r.fates_of(b) {
                self.one(to, after);
                self.meet(to, after, &beside);
            }
            self.rules[rule as usize].bystanders.insert(b);
            self.count(ticker)?;
        }
        Ok(())
    }

    /// A bystander together with others that may be there, too, after the step.
    fn both(&mut self, rule: u32, a: Id, others: &Bits, ticker: &mut Ticker) -> Result<(), Unknown> {
        let r = &self.rules[rule as usize];
        let (to, fates, beside) = (r.to, r.fates_of(a), r.after(others, ticker)?);
        match beside {
            Cow::Borrowed(beside) => fates.into_iter().for_each(|after| self.meet(to, after, beside)),
            Cow::Owned(beside) => fates.into_iter().for_each(|after| self.meet(to, after, &beside)),
        }
        self.count(ticker)
    }

    /// Counts the views that were added as work.
    fn count(&mut self, ticker: &mut Ticker) -> Result<(), Unknown> {
        let added = self.pairs - std::mem::replace(&mut self.counted, self.pairs);
        ticker.ticks(u32::try_from(added).unwrap_or(u32::MAX))
    }

    /// Asks what may become of a bystander.
    fn learn_fates(&mut self, rule: u32, b: Id) {
        let l = self.l(b);
        let step = &self.rules[rule as usize].step;
        let fates = match step.others {
            Bystanders::Stay => return,
            Bystanders::Transfer => self.listing.fates(step, b),
            Bystanders::WakeOne => vec![Some(l), self.listing.model.woken_by(step, l).or(Some(l))],
        };
        let mut fates: Vec<Id> = fates.into_iter().flatten().map(|l| self.local(l)).collect();
        fates.sort_unstable();
        fates.dedup();
        if fates != [b] {
            let r = &mut self.rules[rule as usize];
            r.moved.insert(b);
            r.fates.insert(b, fates.into());
        }
    }
}

impl Rule {
    /// What may become of a bystander.
    fn fates_of(&self, b: Id) -> SmallVec<[Id; 4]> {
        match self.fates.get(&b) {
            Some(fates) => fates.iter().copied().collect(),
            None => smallvec![b],
        }
    }

    /// What may become of these bystanders.
    fn after<'b>(&self, bystanders: &'b Bits, ticker: &mut Ticker) -> Result<Cow<'b, Bits>, Unknown> {
        let moved = bystanders.and(&self.moved);
        ticker.ticks(bystanders.words() + moved.len() as u32)?;
        if moved.is_empty() {
            return Ok(Cow::Borrowed(bystanders));
        }
        let mut after: Bits = moved.iter().flat_map(|b| self.fates[&b].iter().copied()).collect();
        after.absorb(&bystanders.minus(&moved));
        Ok(Cow::Owned(after))
    }
}
#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
        assert!(interrupted > 1000, "{interrupted}");
    }

    type Naive = BTreeSet<Config>;

    /// Adds a view and its parts.
    fn add(set: &mut Naive, s: Shared, threads: &[Local]) {
        for (i, &a) in threads.iter().enumerate() {
            set.insert(Config::new(s, Bag::one(a)));
            for &b in &threads[i + 1..] {
                set.insert(Config::new(s, [a, b].into_iter().collect()));
            }
        }
        set.insert(Config::new(s, Bag::new()));
    }

    fn flat(threads: &Bag) -> Vec<Local> {
        threads.entries().iter().flat_map(|&(l, n)| std::iter::repeat_n(l, n.min(2) as usize)).collect()
    }

    /// What one step adds, by the definition.
    fn fire(model: &dyn Model, old: &Naive, step: &Step, new: &mut Naive) {
        let has =
            |threads: &[Local]| old.contains(&Config::new(step.from, threads.iter().copied().collect()));
        let together = |threads: &[Local]| {
            let mut each = threads.iter().enumerate();
            each.all(|(i, &a)| has(&[a]) && threads[i + 1..].iter().all(|&b| has(&[a, b])))
        };
        let taken = flat(&step.take);
        if !has(&[]) || !together(&taken) {
            return;
        }
        let arrived = [flat(&step.put), flat(&step.spawn)].concat();
        let fates = |l: Local| {
            let mut fates = Vec::new();
            match step.others {
                Bystanders::Stay => fates.push(Some(l)),
                Bystanders::Transfer => model.bystander(step, l, &mut fates).expect("a complete list"),
                Bystanders::WakeOne => fates.extend([Some(l), model.woken_by(step, l)]),
            }
            fates.into_iter().flatten().collect::<Vec<_>>()
        };
        let alone = old.iter().filter(|c| c.shared == step.from && c.threads.size() == 1);
        let bystanders: Vec<Local> = alone
            .map(|c| c.threads.entries()[0].0)
            .filter(|&b| taken.iter().all(|&t| has(&[t, b])))
            .collect();
        add(new, step.to, &arrived);
        for &b in &bystanders {
            for after in fates(b) {
                add(new, step.to, &[&arrived[..], &[after]].concat());
                for &c in bystanders.iter().filter(|&&c| has(&[b, c])) {
                    fates(c).into_iter().for_each(|other| add(new, step.to, &[after, other]));
                }
            }
        }
    }

    fn naive(problem: &Problem) -> Naive {
        let (model, mut set) = (&*problem.model, Naive::new());
        for family in &problem.initial {
            let mut threads = family.threads.clone();
            family.any.iter().for_each(|&l| threads.insert(l, 2));
            add(&mut set, family.shared, &flat(&threads));
        }
        loop {
            let (mut new, mut steps) = (set.clone(), Vec::new());
            for view in &set {
                let listed = match view.threads.entries() {
                    [] => model.post_shared(view.shared, &mut steps),
                    &[(a, 1)] => model.post(view.shared, a, &mut steps),
                    _ => Ok(()),
                };
                listed.expect("a complete list");
            }
            steps.iter().for_each(|step| fire(model, &set, step, &mut new));
            if new.len() == set.len() {
                return set;
            }
            set = new;
        }
    }

    #[test]
    fn it_is_the_least_fixpoint() {
        let (mut pairs, mut moved) = (0, 0);
        for seed in 0..300 {
            let knobs = Knobs { shared: 3, locals: 6, steps: 10, ..Knobs::default() };
            let mut rng = Rng::new(seed);
            let table = Arc::new(random_table(&mut rng, &knobs));
            let problem = random_problem(&mut rng, &knobs, table, Bound::Any);
            let mut closure = Closure::new(problem.model.clone());
            closure.run(&problem, &Limits::none(), &Silent).expect("no limit");
            let mut found = Naive::new();
            closure.views().each().for_each(|view| add(&mut found, view.shared, &flat(&view.threads)));
            assert_eq!(found, naive(&problem), "{seed}");
            pairs += found.iter().filter(|view| view.threads.size() == 2).count();
            moved += closure.rules.iter().filter(|rule| !rule.moved.is_empty()).count();
        }
        assert!(pairs > 1000 && moved > 100, "{pairs} {moved}");
    }
}
