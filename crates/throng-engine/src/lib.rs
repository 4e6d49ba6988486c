//! Engines: each answers a [`Problem`], with evidence. They do no input or output; they know
//! neither where a model came from nor what the answer is used for.

pub mod auto;
pub mod backward;
#[cfg(feature = "symbolic")]
pub mod bdd;
pub mod checkpoint;
pub mod cutoff;
pub mod deadlock;
#[cfg(feature = "cluster")]
pub mod distributed;
pub mod equations;
pub mod exhaust;
pub mod explicit;
pub mod facts;
pub mod guided;
pub mod karp_miller;
mod levels;
mod listing;
pub mod localise;
pub mod on_covering;
pub mod on_quotient;
pub mod pdr;
mod quotient;
pub mod reachability;
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

/// What an engine runs: a decision procedure or a search that answers a [`Problem`]. Users choose
/// one by [`crate::Engine`], or implement their own.
pub trait Algorithm: Sync {
    /// Its name; those of the engines of Throng are in [`crate::Engine`].
    fn name(&self) -> &'static str;

    /// Answers about every target of the problem, in their order.
    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer;
}

/// What an engine found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// One verdict per target.
    pub verdicts: Vec<Verdict>,
    /// What the search did; if several engines searched, what the one did that answered.
    pub statistics: Statistics,
    /// The engine that answered, per target, if several engines searched.
    pub by: Vec<Option<&'static str>>,
    /// Per target, whether its run, if there is one, was looked for with fewer threads first,
    /// without finding any; see [`Answer::has_fewest`].
    pub fewest: Vec<bool>,
    /// What each of several engines did, in order.
    pub attempts: Vec<Attempt>,
    /// That all verdicts have been checked already.
    pub checked: Option<Checked>,
    /// How long that took.
    pub checking: Duration,
    /// Evidence that did not stand, if there was any: a bug of ours, and no verdict of this answer
    /// counts.
    pub flaw: Option<String>,
}

impl Answer {
    /// The answer of one engine.
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

    /// The answer of an engine that looks with fewer threads first.
    pub fn ascending(verdicts: Vec<Verdict>, statistics: Statistics) -> Answer {
        Answer { fewest: vec![true; verdicts.len()], ..Answer::new(verdicts, statistics) }
    }

    /// Whether it is known that no run to this target has fewer threads at once than the one of
    /// this answer.
    pub fn has_fewest(&self, problem: &Problem, target: usize) -> bool {
        let Some(Verdict::Unsafe(trace)) = self.verdicts.get(target) else { return false };
        let starts = problem.initial.iter().map(|family| family.threads.size()).min();
        let ends = problem.targets[target].configs.iter().map(|config| config.threads.size()).min();
        let mut wanted = problem.targets[target].configs.iter().flat_map(|c| c.threads.entries());
        // Levels of tokens are about initial markings; and a token that only marks that a target
        // was hit is not a thread.
        let counts = !matches!(problem.bound, Bound::Tokens(_)) && !wanted.any(|e| is_mark(problem, e.0));
        let searched = self.fewest.get(target).is_some_and(|&searched| searched);
        searched && counts || Some(trace.threads()) <= starts.max(ends)
    }
}

/// Whether a local state only says that something was hit: every step into it is blocked by a
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
    /// How its last share ended, as text.
    pub outcome: String,
    /// How many targets it decided, or found a run with fewer threads for. If none, its work was
    /// thrown away, apart from facts that others used.
    pub decided: u64,
    /// Seconds that all its shares took.
    pub seconds: f64,
    /// What it did in the share that got furthest.
    pub statistics: Statistics,
}

impl Attempt {
    /// Returns the record of a search that ended before an engine was chosen.
    pub fn none(why: &Unknown) -> Attempt {
        let statistics = Statistics::default();
        Attempt { engine: "none", outcome: why.to_string(), decided: 0, seconds: 0.0, statistics }
    }
}

/// Numbers about a search, for people and for tables.
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
    /// The largest number of threads for which the search finished without finding anything open.
    pub complete_up_to: Option<u32>,
    /// How many local states are occupied in a configuration, if the engine counts threads by local
    /// state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupied: Option<Occupied>,
    /// About the coverability tree, if the engine builds one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeStatistics>,
    /// About thread-state equations that have a solution, if the engine solves them in integers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowStatistics>,
}

impl Statistics {
    /// A verdict that was found does not count any more. If it was a run, what was finished after
    /// it says nothing about its target.
    pub fn withdraw(&mut self, verdict: &Verdict) {
        if let Verdict::Unsafe(trace) = verdict {
            let below = trace.threads().saturating_sub(1);
            self.complete_up_to = self.complete_up_to.map(|k| k.min(below));
        }
    }
}

/// What thread-state equations yielded where they rule nothing out (TSE, section 5), over all
/// targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FlowStatistics {
    /// Integer programs solved.
    pub programs: u64,
    /// Those of them that were too hard.
    pub too_hard: u64,
    /// Cuts: solutions whose steps are not connected (C_C).
    pub cuts: u64,
    /// By how many threads cuts raised the least number with which there is a solution.
    pub raised: u64,
    /// Ways to end that cuts ruled out.
    pub ruled_out: u64,
}

/// Numbers about a coverability tree (STAR, figure 3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TreeStatistics {
    /// Nodes added.
    pub nodes: u64,
    /// Maximal labels at the end.
    pub antichain: u64,
    /// Maximal labels at most.
    pub antichain_peak: u64,
    /// Labels compared in full with a maximal one.
    pub comparisons: u64,
    /// Accelerations.
    pub accelerations: u64,
    /// Nodes that were waiting to be explored when another one covered them.
    pub dropped: u64,
}

/// How many local states are occupied in configurations: what counting costs, however many local
/// states there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupied {
    /// Occupied local states, summed over all configurations.
    pub sum: u64,
    /// How many configurations.
    pub configurations: u64,
    /// In one configuration at most.
    pub most: u64,
}

impl Occupied {
    /// On average.
    pub fn average(&self) -> f64 {
        self.sum as f64 / self.configurations.max(1) as f64
    }

    /// Counts a configuration.
    pub(crate) fn count(&mut self, occupied: usize) {
        let occupied = occupied as u64;
        self.add(Occupied { sum: occupied, configurations: 1, most: occupied });
    }

    /// For a later process.
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        [self.sum, self.configurations, self.most].into_iter().for_each(|n| out.number(n));
    }

    /// From an earlier process.
    pub(crate) fn read(input: &mut Reader<'_>) -> Result<Occupied, Damaged> {
        Ok(Occupied { sum: input.number()?, configurations: input.number()?, most: input.number()? })
    }

    /// Counts all of another count.
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
    /// Called now and then.
    fn progress(&self, _now: &Progress) {}

    /// Called when a target is decided while the search for others goes on.
    fn found(&self, _target: usize, _verdict: &Verdict) {}

    /// Saves the state of the search, so that it can be resumed; for engines that support it.
    fn keeper(&self) -> Option<&dyn Keeper> {
        None
    }
}

/// Any closure can watch: `&|now: &Progress| …`.
impl<F: Fn(&Progress) + Sync> Watch for F {
    fn progress(&self, now: &Progress) {
        self(now);
    }
}

/// How far a search has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The engine.
    pub engine: &'static str,
    /// What it is doing, e.g. `3 threads`.
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

/// Watches nothing.
#[derive(Debug)]
pub struct Silent;

impl Watch for Silent {}
