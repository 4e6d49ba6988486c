//! `explicit`: breadth-first search over counter-abstracted configurations, for one thread, then
//! two, then more.
//!
//! # Levels, and why the answer has the fewest threads
//!
//! Consider the graph of all configurations of the problem *as asked*, its bound included. Level k
//! is the part of this graph in which no configuration has more than k threads: a step that would
//! exceed this is not taken at this level, and the search records that something was left out. A
//! run belongs to level k if and only if at most k threads exist at once in it. Levels are searched
//! in ascending order, so the first that hits a target has the fewest threads possible; and
//! breadth-first search of that level finds a shortest run among those.
//!
//! A level is *not* the problem with a smaller bound. With bound k, `start_thread` at k threads
//! acts like `skip` (reference 1.5); such a run need not exist in the problem with a larger bound.
//! Steps are skipped only at the bound of the question.
//!
//! # Why it may stop
//!
//! If level k left nothing out, the stored set is closed under all steps. Then a later level
//! differs only by the larger initial configurations it starts from, and these alone are added;
//! without any, all later levels are the same and targets not hit are SAFE, even for any number of
//! threads. If something was left out, the next level that can differ is the size of the smallest
//! configuration left out, or of the next initial one. It restarts, because more threads may allow
//! shorter runs. At the level of the bound nothing is left out, so the set stored there is the
//! certificate: it holds every initial configuration within the bound and is closed.
//!
//! Nothing here assumes that larger configurations can do more, so it also holds for models whose
//! steps may be blocked ([`throng_model::Traits::blocking`]).
//!
//! # Partial-order reduction
//!
//! Where the model has footprints, [`throng_model::partial_order`] lets one thread go first where
//! that is sufficient. The least number of threads stays the same; runs may get longer. So a
//! violation found with reduction is searched again without it when its level is done, for a
//! shortest run, and reported only then; if time or memory run out meanwhile, the longer run is the
//! answer.
//!
//! # Parts
//!
//! [`pack`] (configurations as bytes), [`store`] (each once) and [`throng_model::packed::shards`]
//! (a store in parts) are in `throng-model`, because the stored set is the evidence; `batch`
//! (successors to be stored), `steps` (the model, compiled when needed), `targets` (the bad
//! configurations), `search` (one level), `queue` (the order of expansion) and `parallel` (the same
//! by several threads), `climb` (level after level), `saved` (for a later process); levels are in
//! `engine::levels`.

pub(super) mod batch;
mod climb;
mod parallel;
mod queue;
mod saved;
pub(super) mod search;
pub(super) mod steps;
pub(super) mod targets;
mod tracked;

use std::sync::Arc;

use self::climb::Climb;
use self::search::{Search, Stop};
use super::{Algorithm, Answer, Quiet, Watch};
use throng_model::limits::Limits;
use throng_model::packed::Packed;
use throng_model::partial_order::Reduction;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Certificate, Trace, Unknown, Verdict};
use throng_model::{Config, Local, Shared};

pub use self::store::{Footprint, Id};
pub(super) use throng_model::packed::{pack, store};

const NAME: &str = "explicit";

/// Number of configurations from which several threads pay off, as measured.
const SHARE_FROM: usize = 1 << 14;

/// The engine and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explicit {
    /// Number of threads that search. The answer depends on it only in which of several shortest
    /// runs is found: by one thread, or by more.
    pub jobs: usize,
    /// First level: fewer threads are known not to suffice.
    pub first: Option<u32>,
    /// Maximum number of threads (or tokens).
    pub max_threads: Option<u32>,
    /// True to stop when one target is hit and leave the others open.
    pub stop_at_first: bool,
    /// Enables partial-order reduction, where the model allows it.
    pub por: bool,
    /// True to search for a shortest run even if reduction has found one.
    pub shortest: bool,
    /// With several threads: they share the work from this number of configurations on, in layers
    /// of at least this many units of the store. Sharing less does not pay off.
    pub share_from: usize,
}

impl Default for Explicit {
    fn default() -> Explicit {
        Explicit {
            jobs: 1,
            first: None,
            max_threads: None,
            stop_at_first: false,
            por: true,
            shortest: true,
            share_from: SHARE_FROM,
        }
    }
}

impl Algorithm for Explicit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let reduction = if self.por { Reduction::of(problem) } else { None };
        let reduced = reduction.is_some();
        let quiet = Quiet(watch);
        let mut climb = Climb::new(problem, self, limits, &quiet, reduction);
        let outcome = climb.run();
        let mut statistics = climb.statistics();
        let complete = climb.search.steps.complete().is_ok();
        if !complete {
            statistics.complete_up_to = None;
        }
        let verdicts = verdicts(climb.search, outcome, reduced);
        match self.first {
            None if complete => Answer::ascending(verdicts, statistics),
            _ => Answer::new(verdicts, statistics),
        }
    }
}

/// Returns one verdict per target.
fn verdicts(mut search: Search<'_>, outcome: Result<(), Stop>, reduced: bool) -> Vec<Verdict> {
    let traces = std::mem::take(&mut search.traces);
    let rest = if traces.iter().all(|t| t.is_some()) {
        Verdict::Unknown(Unknown::Cancelled)
    } else {
        match outcome {
            Ok(()) => match search.steps.complete() {
                Ok(()) => Verdict::Safe(Certificate::Packed(Arc::new(search.into_packed(reduced)))),
                Err(why) => Verdict::Unknown(why),
            },
            // Where not all steps were listed, the search has no answer for that reason, not
            // because of its bound.
            Err(Stop::Limit(
                why @ (Unknown::Bound(_) | Unknown::Inconclusive(_) | Unknown::NotForThisModel(_)),
            )) => Verdict::Unknown(search.steps.complete().err().unwrap_or(why)),
            Err(Stop::Limit(why)) => Verdict::Unknown(why),
            Err(Stop::Decided) => Verdict::Unknown(Unknown::Cancelled),
        }
    };
    traces.into_iter().map(|t| t.map_or_else(|| rest.clone(), Verdict::Unsafe)).collect()
}

/// The reachable configurations within the problem's bound.
pub struct Explored<'p> {
    search: Search<'p>,
}

/// Explores everything within the problem's bound, whatever its targets; without a bound, all
/// reachable configurations, if they are finitely many.
pub fn explore<'p>(
    problem: &'p Problem,
    jobs: usize,
    limits: &'p Limits,
    watch: &'p dyn Watch,
) -> Result<Explored<'p>, Unknown> {
    Ok(Explored { search: explored(Search::exhaustive(problem, jobs, limits, watch))? })
}

fn explored(mut search: Search<'_>) -> Result<Search<'_>, Unknown> {
    let problem = search.problem;
    if problem.bound == Bound::Any && problem.initial.iter().any(|family| !family.any.is_empty()) {
        let why = "explicit search cannot list what any number of threads reach; give a number of threads";
        return Err(Unknown::NotForThisModel(why.into()));
    }
    // The least number of threads is not needed here, so the last level suffices.
    let last = search.levels.last().unwrap_or(u32::MAX);
    match search.level(None, last, &mut |_| {}) {
        Ok(_) | Err(Stop::Decided) => {
            search.steps.complete()?;
            Ok(search)
        }
        Err(Stop::Limit(why)) => Err(why),
    }
}

impl Explored<'_> {
    /// Returns every configuration.
    pub fn configurations(&self) -> Result<Vec<Config>, Unknown> {
        self.search.configurations()
    }

    /// Returns the configurations as they are stored.
    pub fn into_packed(self) -> Packed {
        self.search.into_packed(false)
    }

    /// Returns every thread state, sorted.
    pub fn thread_states(&self) -> Vec<(Shared, Local)> {
        self.search.thread_states()
    }

    /// Returns the number of configurations and their memory use.
    pub fn footprint(&self) -> Footprint {
        self.search.footprint()
    }

    /// Returns the number of steps fired.
    pub fn steps(&self) -> u64 {
        self.search.fired
    }
}

/// Lists every thread state that can be reached within the problem's bound, sorted.
pub fn reachable(
    problem: &Problem,
    jobs: usize,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Vec<(Shared, Local)>, Unknown> {
    Ok(explored(Search::listing(problem, jobs, limits, watch))?.thread_states())
}

/// Calls `found`, for ascending numbers of threads, with everything that runs with at most that
/// many threads at any time reach, until it returns `false` or larger numbers cannot differ.
///
/// Skips numbers at which nothing can change.
pub fn each_level(
    problem: &Problem,
    jobs: usize,
    limits: &Limits,
    watch: &dyn Watch,
    mut found: impl FnMut(u32, &Listed<'_>) -> Result<bool, Unknown>,
) -> Result<(), Unknown> {
    let mut listed = Listed { search: Search::listing(problem, jobs, limits, watch) };
    let (mut below, mut pruned) = (None, None);
    while let Some(level) = listed.search.levels.next(below, pruned) {
        pruned = listed.level(below, level)?;
        below = Some(level);
        if !found(level, &listed)? {
            break;
        }
    }
    Ok(())
}

/// The thread states that can be reached with a number of threads, and a shortest run to each.
pub struct Listed<'p> {
    search: Search<'p>,
}

impl Listed<'_> {
    fn level(&mut self, below: Option<u32>, level: u32) -> Result<Option<u32>, Unknown> {
        let pruned = match self.search.level(below, level, &mut |_| {}) {
            Ok(pruned) => pruned,
            Err(Stop::Limit(why)) => return Err(why),
            Err(Stop::Decided) => None,
        };
        self.search.steps.complete()?;
        Ok(pruned)
    }

    /// Returns every thread state, sorted.
    pub fn thread_states(&self) -> Vec<(Shared, Local)> {
        self.search.thread_states()
    }

    /// Calls `see` with configurations in the order in which they were found, until it returns
    /// `false`. They contain every thread state, but not all configurations are among them.
    pub fn each(&self, see: impl FnMut(Id, &Config) -> bool) -> Result<(), Unknown> {
        self.search.each(see)
    }

    /// Returns the configuration with this id.
    pub fn config(&self, id: Id) -> Config {
        self.search.config(id)
    }

    /// Returns the predecessor in the run to a configuration, with a smaller id; `None` at the
    /// start.
    pub fn parent(&self, id: Id) -> Option<Id> {
        self.search.store.parent(id)
    }

    /// Returns the run to a configuration.
    pub fn run_to(&self, id: Id) -> Trace {
        self.search.trace(id)
    }
}

/// Returns every configuration that runs with at most `level` threads at any time reach.
pub fn configurations_up_to(
    level: u32,
    problem: &Problem,
    jobs: usize,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Vec<Config>, Unknown> {
    let mut all = Listed { search: Search::exhaustive(problem, jobs, limits, watch) };
    all.level(None, level)?;
    all.search.configurations()
}
