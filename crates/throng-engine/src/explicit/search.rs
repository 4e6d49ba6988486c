//! Breadth-first search, one level after another, until every target is decided.

use std::time::{Duration, Instant};

use super::batch::{Batch, Filling, check_growth};
use super::pack::{Packer, Unpacked};
use super::parallel::{self, Task};
use super::queue::Queue;
use super::steps::{Scratch, Steps};
use super::store::{self, Footprint, Id, ROOT, Store};
use super::targets::Targets;
use super::tracked::Tracked;
use super::{Explicit, SHARE_FROM};
use crate::levels::{Levels, SizeLimit};
use crate::listing::Listing;
use crate::{Occupied, Progress, Watch};
use throng_model::limits::{Limits, Ticker};
use throng_model::packed::Packed;
use throng_model::packed::shards::Shards;
use throng_model::partial_order::Reduction;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Taken, Trace, Unknown, Verdict};
use throng_model::{Config, Incomplete, Local, Shared, semantics};

/// A search and its results.
pub struct Search<'p> {
    pub(super) problem: &'p Problem,
    pub(super) levels: Levels<'p>,
    pub(super) steps: Steps,
    pub(super) store: Shards,
    /// Decides which configurations are kept when only thread states are listed.
    tracked: Option<Tracked>,
    /// The position of the expansion: all configurations before it are expanded, and their
    /// successors stored.
    pub(super) queue: Queue,
    /// True if configurations must stay in the order in which they are found.
    ordered: bool,
    /// The level that is searched, once all its initial configurations are stored.
    pub(super) level: Option<u32>,
    limits: &'p Limits,
    ticker: Ticker<'p>,
    watch: &'p dyn Watch,
    reported: Instant,
    /// The number of expanded configurations at which the clock is read next.
    report_at: u64,
    jobs: usize,
    /// The number of configurations from which on threads share the work.
    share_from: usize,
    stop_at_first: bool,
    /// For each target, a run that hits it.
    pub(super) traces: Vec<Option<Trace>>,
    /// Steps fired, over all levels.
    pub(super) fired: u64,
    /// Configurations of this level that have been expanded.
    pub(super) expanded: u64,
    /// Number of local states that configurations occupy, over all levels.
    pub(super) occupied: Occupied,
    /// The smallest configuration that this level left out.
    pub(super) pruned: Option<u32>,
    /// New configurations that may hit a target and have not been checked.
    pub(super) suspects: Vec<Id>,
    pub(super) scratch: Scratch,
    batch: Batch,
    /// Unused batches of several threads.
    spare: Vec<Batch>,
}

/// Why a search ends before its level does.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// All targets are decided.
    Decided,
    /// A limit was reached.
    Limit(Unknown),
}

impl From<Unknown> for Stop {
    fn from(why: Unknown) -> Stop {
        Stop::Limit(why)
    }
}

/// Number of successors that are collected before they are stored.
const BATCH: usize = 256;

/// Minimum time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(250);

impl<'p> Search<'p> {
    /// Creates a search for all targets of a problem.
    pub fn new(
        problem: &'p Problem,
        options: &Explicit,
        reduction: Option<Reduction>,
        limits: &'p Limits,
        watch: &'p dyn Watch,
    ) -> Search<'p> {
        let Explicit { jobs, stop_at_first, share_from, .. } = *options;
        let mut search = Search::for_targets(problem, &problem.targets, jobs, reduction, limits, watch);
        (search.stop_at_first, search.share_from) = (stop_at_first, share_from);
        search
    }

    /// Creates a search without targets.
    pub fn exhaustive(
        problem: &'p Problem,
        jobs: usize,
        limits: &'p Limits,
        watch: &'p dyn Watch,
    ) -> Search<'p> {
        Search::for_targets(problem, &[], jobs, None, limits, watch)
    }

    /// Creates a search that finds all thread states, with a shortest run to each, but not all
    /// configurations.
    pub fn listing(
        problem: &'p Problem,
        jobs: usize,
        limits: &'p Limits,
        watch: &'p dyn Watch,
    ) -> Search<'p> {
        let tracked = Tracked::new(&*problem.model);
        Search { tracked, ordered: true, ..Search::exhaustive(problem, jobs, limits, watch) }
    }

    /// Creates a search for these targets.
    pub fn for_targets(
        problem: &'p Problem,
        targets: &[Target],
        jobs: usize,
        reduction: Option<Reduction>,
        limits: &'p Limits,
        watch: &'p dyn Watch,
    ) -> Search<'p> {
        let model = &problem.model;
        Search {
            problem,
            levels: Levels::new(problem),
            steps: Steps::new(model.clone(), Targets::new(model.clone(), targets), reduction),
            store: Shards::new(limits.storage()),
            tracked: None,
            queue: Queue::default(),
            ordered: false,
            level: None,
            limits,
            ticker: Ticker::new(limits),
            watch,
            reported: Instant::now(),
            report_at: 0,
            jobs,
            share_from: SHARE_FROM,
            stop_at_first: false,
            traces: vec![None; targets.len()],
            fired: 0,
            expanded: 0,
            occupied: Occupied::default(),
            pruned: None,
            suspects: Vec::new(),
            scratch: Scratch::default(),
            batch: Batch::new(1),
            spare: Vec::new(),
        }
    }

    /// Searches `level`, given that all levels up to `below` have been searched, and returns the
    /// size of the smallest configuration that was left out because it is too large for this level.
    ///
    /// If the level below left nothing out, the stored set is closed under steps, and only new
    /// initial configurations have to be added. Otherwise distances may become shorter, and the
    /// search restarts.
    ///
    /// Calls `pause` now and then, between two expansions.
    pub fn level(
        &mut self,
        below: Option<u32>,
        level: u32,
        pause: &mut dyn FnMut(&Search<'p>),
    ) -> Result<Option<u32>, Stop> {
        self.limits.check()?;
        let below = below.filter(|_| self.pruned.is_none());
        if below.is_none() {
            self.store.clear();
            self.tracked.iter_mut().for_each(Tracked::clear);
            self.suspects.clear();
            self.queue = Queue::default();
            self.expanded = 0;
            self.report_at = 0;
        }
        self.start(below, level)?;
        // It is reset only now: a search that is stopped earlier restarts this level, and must know
        // what the one below left out.
        self.pruned = None;
        self.level = Some(level);
        self.continue_level(level, pause)
    }

    /// Continues a level that was begun.
    pub fn continue_level(
        &mut self,
        level: u32,
        pause: &mut dyn FnMut(&Search<'p>),
    ) -> Result<Option<u32>, Stop> {
        self.judge_suspects()?;
        if self.is_decided() {
            return Err(Stop::Decided);
        }
        let size_limit = self.levels.size_limit(level);
        while self.queue.front().is_some() || self.next_layer()? {
            if self.is_shared() {
                self.expand_many(size_limit)?;
            } else {
                self.expand_some(size_limit)?;
            }
            self.report(level);
            pause(self);
        }
        if self.pruned.is_some() && self.levels.is_cut_off(level) {
            return Err(Unknown::uncountable().into());
        }
        Ok(self.pruned)
    }

    /// Returns whether all targets are decided.
    pub fn is_decided(&self) -> bool {
        let mut open = self.traces.iter().filter(|t| t.is_none());
        !self.traces.is_empty()
            && if self.stop_at_first {
                self.traces.iter().any(|t| t.is_some())
            } else {
                open.next().is_none()
            }
    }

    /// Returns all configurations as they are stored.
    pub fn into_packed(self, reduced: bool) -> Packed {
        let Listing { shared, locals, .. } = self.steps.listing;
        Packed::new(self.store, shared.into_values(), locals.into_values(), reduced)
    }

    /// Returns every stored configuration.
    pub fn configurations(&self) -> Result<Vec<Config>, Unknown> {
        let mut found = Vec::with_capacity(self.store.len());
        let mut ticker = Ticker::new(self.limits);
        let mut config = Unpacked::default();
        for id in self.store.ids() {
            ticker.tick()?;
            config.read(self.store.packed(id));
            found.push(self.steps.config(&config));
        }
        Ok(found)
    }

    /// Calls `see` with configurations and their ids, in the order in which they were found if that
    /// is kept, until it returns `false`.
    pub fn each(&self, mut see: impl FnMut(Id, &Config) -> bool) -> Result<(), Unknown> {
        let mut ticker = Ticker::new(self.limits);
        let mut config = Unpacked::default();
        for id in self.store.ids() {
            ticker.tick()?;
            config.read(self.store.packed(id));
            if !see(id, &self.steps.config(&config)) {
                break;
            }
        }
        Ok(())
    }

    /// Returns the configuration with this id.
    pub fn config(&self, id: Id) -> Config {
        let mut config = Unpacked::default();
        config.read(self.store.packed(id));
        self.steps.config(&config)
    }

    /// Returns every thread state of the expanded configurations, sorted.
    pub fn thread_states(&self) -> Vec<(Shared, Local)> {
        let mut states: Vec<_> = self.steps.thread_states().collect();
        states.sort_unstable();
        states
    }

    /// Returns the memory use of the configurations.
    pub fn footprint(&self) -> Footprint {
        self.store.footprint()
    }

    /// Stores the initial configurations after level `below` and up to `level`.
    fn start(&mut self, below: Option<u32>, level: u32) -> Result<(), Unknown> {
        let Search { levels, steps, store, tracked, suspects, ticker, .. } = self;
        let mut packer = Packer::default();
        levels.starts(below, level, &mut |config| {
            ticker.tick()?;
            let config = steps.unpacked(&config);
            let packed = packer.pack(config.shared, &config.entries);
            if let Some(tracked) = tracked
                && !tracked.is_new(packed, steps)?
            {
                return Ok(());
            }
            suspects.extend(store.insert(packed, store::hash(packed), ROOT)?);
            Ok(())
        })?;
        Ok(())
    }

    /// Returns whether several threads expand the next configurations.
    fn is_shared(&self) -> bool {
        self.jobs > 1 && self.store.parts() > 1 && self.queue.units_left() >= self.share_from
    }

    /// Begins the next layer. Returns whether there is one. Large stores are spread over parts
    /// first, so that several threads can fill them.
    fn next_layer(&mut self) -> Result<bool, Stop> {
        let mut from = self.queue.ends(self.store.parts());
        if self.jobs > 1 && !self.ordered && self.store.parts() == 1 && self.store.len() >= self.share_from {
            [from] = self.store.spread([from[0]])?;
        }
        Ok(self.queue.begin(&from, &self.store))
    }

    /// Adds the successors of a configuration to a batch, and returns the length of its packed
    /// form.
    fn expand(&mut self, id: Id, size_limit: SizeLimit, batch: &mut Batch) -> Result<usize, Unknown> {
        self.ticker.tick()?;
        let length = self.scratch.config.read(self.store.packed(id));
        let work = self.steps.prepare(&mut self.scratch);
        self.ticker.ticks(work)?;
        let mut sink = Filling { batch, parent: id, ticker: &mut self.ticker, bytes: 0 };
        let fired = self.steps.expand(&mut self.scratch, size_limit, &mut sink)?;
        batch.fired += fired;
        batch.expanded += 1;
        batch.occupied.count(self.scratch.config.entries.len());
        Ok(length)
    }

    /// Expands configurations of the layer until a batch is full, and stores the successors.
    ///
    /// A search that is stopped during this can be resumed: stored configurations that were not
    /// checked are among the suspects, and those that were not stored are found again because the
    /// queue has not moved.
    fn expand_some(&mut self, size_limit: SizeLimit) -> Result<(), Stop> {
        let mut batch = std::mem::replace(&mut self.batch, Batch::new(1));
        batch.clear();
        let mut queue = self.queue.clone();
        while let Some(id) = queue.front().filter(|_| batch.len() < BATCH) {
            queue.pop(self.expand(id, size_limit, &mut batch)?);
        }
        check_growth(self.store.growth(batch.len()), self.limits)?;
        let Search { steps, store, tracked, suspects, .. } = self;
        batch.store(store, suspects, |packed| {
            tracked.as_mut().map_or(Ok(true), |tracked| tracked.is_new(packed, steps))
        })?;
        self.queue = queue;
        self.count(&batch);
        self.batch = batch;
        self.judge_suspects()
    }

    /// Expands several configurations of the layer and stores the successors, by several threads.
    ///
    /// The effect equals that of repeated [`Search::expand_some`].
    fn expand_many(&mut self, size_limit: SizeLimit) -> Result<(), Stop> {
        let mut queue = self.queue.clone();
        let tasks = parallel::tasks(&self.store, &mut queue, self.jobs);
        let spare = &mut self.spare;
        let expanded =
            parallel::expand(&tasks, &self.steps, &self.store, size_limit, self.jobs, self.limits, spare);
        let mut batches = Vec::with_capacity(tasks.len());
        for (task, batch) in tasks.iter().zip(expanded) {
            batches.push(match batch {
                Some(batch) => batch,
                None => self.expand_task(task, size_limit)?,
            });
        }
        self.limits.check()?;
        check_growth(self.store.growth(batches.iter().map(Batch::len).sum()), self.limits)?;
        parallel::store(&batches, &mut self.store, self.jobs, &mut self.suspects)?;
        self.queue = queue;
        batches.iter().for_each(|batch| self.count(batch));
        self.spare = batches;
        self.judge_suspects()
    }

    /// Expands a task for which steps have to be compiled.
    fn expand_task(&mut self, task: &Task, size_limit: SizeLimit) -> Result<Batch, Unknown> {
        let mut batch = Batch::new(self.store.parts());
        for turn in task {
            let mut at = turn.places.start;
            while at < turn.places.end {
                let length = self.expand(Shards::id(turn.part, at), size_limit, &mut batch)?;
                at = Store::after(at as Id, length);
            }
        }
        Ok(batch)
    }

    /// Adds the statistics of a batch.
    fn count(&mut self, batch: &Batch) {
        self.fired += batch.fired;
        self.expanded += batch.expanded;
        self.occupied.add(batch.occupied);
        self.pruned = [self.pruned, batch.pruned].into_iter().flatten().min();
    }

    /// Checks which targets the suspects hit, in the order in which they were found.
    fn judge_suspects(&mut self) -> Result<(), Stop> {
        let mut hits = Vec::new();
        self.suspects.reverse();
        while let Some(&id) = self.suspects.last() {
            if let Err(why) = self.ticker.tick() {
                self.suspects.reverse();
                return Err(why.into());
            }
            self.suspects.pop();
            self.scratch.config.read(self.store.packed(id));
            let open = |target: usize| self.traces[target].is_none();
            self.steps.targets_hit(&self.scratch.config, open, |target| hits.push(target));
            for target in hits.drain(..) {
                if self.traces[target].is_none() {
                    let trace = self.trace(id);
                    self.watch.found(target, &Verdict::Unsafe(trace.clone()));
                    self.traces[target] = Some(trace);
                }
            }
            if self.is_decided() {
                self.suspects.clear();
                return Err(Stop::Decided);
            }
        }
        Ok(())
    }

    /// Returns the run that led to `id`: its predecessors, connected by any steps that fit.
    pub(super) fn trace(&self, id: Id) -> Trace {
        let mut configs = Vec::new();
        let mut unpacked = Unpacked::default();
        let mut at = Some(id);
        // A damaged state from elsewhere might contain a cycle.
        while let Some(id) = at.filter(|_| configs.len() < self.store.len()) {
            unpacked.read(self.store.packed(id));
            configs.push(self.steps.config(&unpacked));
            at = self.store.parent(id);
        }
        configs.reverse();
        run_through(self.problem, configs)
    }

    /// Reports progress now and then.
    fn report(&mut self, level: u32) {
        // Reading the clock for each configuration would cost more than finding it.
        if self.expanded < self.report_at {
            return;
        }
        self.report_at = self.expanded + 1024;
        if self.reported.elapsed() < REPORT_EVERY {
            return;
        }
        self.reported = Instant::now();
        let configurations = self.store.len() as u64;
        self.watch.progress(&Progress {
            engine: super::NAME,
            phase: self.levels.describe(level),
            configurations,
            frontier: configurations.saturating_sub(self.expanded),
        });
    }
}

/// Returns the run through these configurations (at least one), connected by any steps that fit.
pub(crate) fn run_through(problem: &Problem, mut configs: Vec<Config>) -> Trace {
    let steps = configs.windows(2).filter_map(|pair| taken(problem, &pair[0], &pair[1])).collect();
    Trace { start: configs.swap_remove(0), steps }
}

/// Returns a step from one configuration to another, if there is one. This may be a step with too
/// many outcomes to list; the checker then reports that it cannot decide.
pub(crate) fn taken(problem: &Problem, before: &Config, after: &Config) -> Option<Taken> {
    let (model, bound) = (&*problem.model, problem.bound.threads());
    let mut steps = Vec::new();
    Incomplete::irrelevant(model.post_shared(before.shared, &mut steps));
    for e in before.threads.entries() {
        Incomplete::irrelevant(model.post(before.shared, e.0, &mut steps));
    }
    let mut perhaps = None;
    for step in steps.into_iter().filter(|step| step.to == after.shared) {
        let mut all = Vec::new();
        let listed = semantics::fire(model, before, &step, bound, &mut all);
        if all.contains(after) {
            return Some(Taken { step, after: after.clone() });
        }
        if listed.is_err() {
            perhaps = perhaps.or(Some(step));
        }
    }
    perhaps.map(|step| Taken { step, after: after.clone() })
}

/// Keeps the smallest size.
pub fn note_pruned(smallest: &mut Option<u32>, size: u64) {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    *smallest = Some(smallest.map_or(size, |least| least.min(size)));
}
