//! Engines: each answers a [`Problem`], with evidence. They do no input or output, and know neither
//! the origin of a model nor the use of the answer.

pub mod auto;
pub mod backward;
#[cfg(feature = "symbolic")]
mod bdd;
pub mod checkpoint;
pub mod cutoff;
pub mod deadlock;
#[cfg(feature = "cluster")]
pub mod distributed;
pub mod equations;
pub mod explicit;
pub mod facts;
pub mod gave_up;
pub mod guided;
pub mod hunt;
pub mod karp_miller;
mod levels;
mod listing;
pub mod localise;
pub mod on_covering;
pub mod on_quotient;
mod quotient;
pub mod reachability;
pub mod refinement;
mod registry;
pub mod reuse;
#[cfg(feature = "symbolic")]
pub mod symbolic;
pub mod thread_states;
pub mod views;

pub use registry::{Engine, Settings};

use std::time::Duration;

use serde::Serialize;

use crate::checkpoint::{Damaged, Keeper, Reader, Writer};
use throng_check::Checked;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Unknown, Verdict};
use throng_model::{Local, Step};

/// An algorithm that answers a [`Problem`]: a decision procedure or a search. Users choose one by
/// [`crate::Engine`], or implement their own.
pub trait Algorithm: Sync {
    /// Returns its name; those of Throng's engines are in [`crate::Engine`].
    fn name(&self) -> &'static str;

    /// Returns a verdict about every target of the problem, in order.
    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer;
}

/// The result of an engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// One verdict per target.
    pub verdicts: Vec<Verdict>,
    /// The statistics of the search; if several engines searched, those of the one that answered.
    pub statistics: Statistics,
    /// The engine that answered, per target, if several engines searched.
    pub by: Vec<Option<&'static str>>,
    /// For each target, whether its run, if there is one, was found after searches with fewer
    /// threads; see [`Answer::has_fewest`].
    pub fewest: Vec<bool>,
    /// The record of each engine, in order, if there are several.
    pub attempts: Vec<Attempt>,
    /// Says that all verdicts have been checked already.
    pub checked: Option<Checked>,
    /// The time spent on checking.
    pub checking: Duration,
    /// The flaw of evidence that failed its check, if there was any: a bug in Throng, so no verdict
    /// of this answer counts.
    pub flaw: Option<String>,
}

impl Answer {
    /// Returns the answer of one engine.
    pub fn new(verdicts: Vec<Verdict>, statistics: Statistics) -> Answer {
        Answer {
            by: vec![None; verdicts.len()],
            fewest: vec![false; verdicts.len()],
            verdicts,
            statistics,
            attempts: Vec::new(),
            checked: None,
            checking: Duration::ZERO,
            flaw: None,
        }
    }

    /// Returns the answer of an engine that searches in ascending order of thread numbers.
    pub fn ascending(verdicts: Vec<Verdict>, statistics: Statistics) -> Answer {
        Answer { fewest: vec![true; verdicts.len()], ..Answer::new(verdicts, statistics) }
    }

    /// Returns whether it is known that no run to this target has fewer threads at once than that
    /// of this answer.
    pub fn has_fewest(&self, problem: &Problem, target: usize) -> bool {
        let Some(Verdict::Unsafe(trace)) = self.verdicts.get(target) else { return false };
        let starts = problem.initial.iter().map(|family| family.threads.size()).min();
        let ends = problem.targets[target].configs.iter().map(|config| config.threads.size()).min();
        let mut wanted = problem.targets[target].configs.iter().flat_map(|c| c.threads.entries());
        // Levels of tokens refer to initial markings; and a token that only marks the hit of a
        // target is not a thread.
        let counts = !matches!(problem.bound, Bound::Tokens(_)) && !wanted.any(|e| is_mark(problem, e.0));
        let searched = self.fewest.get(target).is_some_and(|&searched| searched);
        searched && counts || Some(trace.threads()) <= starts.max(ends)
    }
}

/// Returns whether a local state only marks the hit of a target: every step into it is blocked by a
/// thread that is there already.
fn is_mark(problem: &Problem, l: Local) -> bool {
    let mut out = Vec::new();
    let mut is_blocked = |step: &Step| {
        out.clear();
        problem.model.bystander(step, l, &mut out).is_ok() && out.is_empty()
    };
    let puts = |step: &&Step| step.put.entries().iter().any(|e| e.0 == l);
    let mut steps = problem.model.listed().unwrap_or_default().iter().filter(puts).peekable();
    steps.peek().is_some() && steps.all(&mut is_blocked)
}

/// One engine's part in a common search, all its shares of work together.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Attempt {
    /// The engine.
    pub engine: &'static str,
    /// The result of its last share, as text.
    pub outcome: String,
    /// Why it has no answer, in one word as for targets; null if it has one.
    pub cause: Option<&'static str>,
    /// The number of targets that it decided, or found a run with fewer threads for. If 0, its work
    /// was wasted, apart from facts that others used.
    pub decided: u64,
    /// The seconds of all its shares.
    pub seconds: f64,
    /// The statistics of the share that got furthest.
    pub statistics: Statistics,
}

impl Attempt {
    /// Returns the record of a prover that is not an engine, and gave up.
    pub fn gave_up(engine: &'static str, why: &Unknown, time: Duration) -> Attempt {
        Attempt { engine, seconds: time.as_secs_f64(), ..Attempt::none(why) }
    }

    /// Returns the record of a search that ended before an engine was chosen.
    pub fn none(why: &Unknown) -> Attempt {
        let statistics = Statistics::default();
        let (outcome, cause) = (why.to_string(), Some(why.cause()));
        Attempt { engine: "none", outcome, cause, decided: 0, seconds: 0.0, statistics }
    }
}

/// Statistics of a search, for people and for tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Statistics {
    /// Configurations stored.
    pub configurations: u64,
    /// Steps fired.
    pub steps: u64,
    /// Shared states met.
    pub shared_states: u64,
    /// Local states met.
    pub local_states: u64,
    /// The largest number of threads for which the search finished without a violation of an open
    /// target.
    pub complete_up_to: Option<u32>,
    /// The number of occupied local states per configuration, if the engine counts threads by local
    /// state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupied: Option<Occupied>,
    /// Statistics of the coverability tree, if the engine builds one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeStatistics>,
    /// Statistics of the thread-state equations that have a solution, if the engine solves them in
    /// integers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowStatistics>,
}

impl Statistics {
    /// Withdraws a verdict. If it was a run, a level completed after it does not count for its
    /// target.
    pub fn withdraw(&mut self, verdict: &Verdict) {
        if let Verdict::Unsafe(trace) = verdict {
            let below = trace.threads().saturating_sub(1);
            self.complete_up_to = self.complete_up_to.map(|k| k.min(below));
        }
    }
}

/// Statistics of thread-state equations that have a solution (TSE, section 5), over all targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FlowStatistics {
    /// Integer programs solved.
    pub programs: u64,
    /// Programs of these that were too hard.
    pub too_hard: u64,
    /// Cuts: solutions whose steps are not connected (C_C).
    pub cuts: u64,
    /// Increase of the least number of threads by cuts.
    pub raised: u64,
    /// Bad configurations that cuts excluded.
    pub ruled_out: u64,
}

/// Statistics of a coverability tree (STAR, figure 3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TreeStatistics {
    /// Nodes added.
    pub nodes: u64,
    /// Maximal labels at the end.
    pub antichain: u64,
    /// Maximum number of maximal labels.
    pub antichain_peak: u64,
    /// Number of labels compared in full with a maximal one.
    pub comparisons: u64,
    /// Accelerations.
    pub accelerations: u64,
    /// Open nodes that were dropped because another one covered them.
    pub dropped: u64,
}

/// The number of occupied local states in configurations: the cost of counting, however many local
/// states there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupied {
    /// Occupied local states, summed over all configurations.
    pub sum: u64,
    /// Number of configurations.
    pub configurations: u64,
    /// Maximum of one configuration.
    pub most: u64,
}

impl Occupied {
    /// Returns the average of a configuration.
    pub fn average(&self) -> f64 {
        self.sum as f64 / self.configurations.max(1) as f64
    }

    /// Adds a configuration.
    pub(crate) fn count(&mut self, occupied: usize) {
        let occupied = occupied as u64;
        self.add(Occupied { sum: occupied, configurations: 1, most: occupied });
    }

    /// Writes it for a later process.
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        [self.sum, self.configurations, self.most].into_iter().for_each(|n| out.number(n));
    }

    /// Reads it from an earlier process.
    pub(crate) fn read(input: &mut Reader<'_>) -> Result<Occupied, Damaged> {
        Ok(Occupied { sum: input.number()?, configurations: input.number()?, most: input.number()? })
    }

    /// Adds another count.
    pub(crate) fn add(&mut self, other: Occupied) {
        self.sum += other.sum;
        self.configurations += other.configurations;
        self.most = self.most.max(other.most);
    }
}

impl Serialize for Occupied {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document {
            average: f64,
            most: u64,
        }
        Document { average: self.average(), most: self.most }.serialize(serializer)
    }
}

/// An observer of a search.
pub trait Watch: Sync {
    /// Called at intervals with the present progress.
    fn progress(&self, _now: &Progress) {}

    /// Called when a target is decided while the search for others continues.
    fn found(&self, _target: usize, _verdict: &Verdict) {}

    /// Returns the storage for the state of the search, if it is to be saved; for engines that
    /// support it.
    fn keeper(&self) -> Option<&dyn Keeper> {
        None
    }
}

/// Any closure is an observer: `&|now: &Progress| …`.
impl<F: Fn(&Progress) + Sync> Watch for F {
    fn progress(&self, now: &Progress) {
        self(now);
    }
}

/// The progress of a search.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The engine.
    pub engine: &'static str,
    /// The present phase, e.g. `3 threads`.
    pub phase: String,
    /// Configurations stored so far.
    pub configurations: u64,
    /// Configurations found but not yet explored.
    pub frontier: u64,
}

/// Passes on progress but no verdicts.
struct Quiet<'w>(&'w dyn Watch);

impl Watch for Quiet<'_> {
    fn progress(&self, now: &Progress) {
        self.0.progress(now);
    }
}

/// An observer that ignores everything.
#[derive(Debug)]
pub struct Silent;

impl Watch for Silent {}
