//! Engines: each answers a [`Problem`], with evidence. They do no input or output; they know neither where a
//! model came from nor who will read the answer.

pub mod backward;
pub mod explicit;

use serde::Serialize;

use crate::limits::Limits;
use crate::problem::Problem;
use crate::verdict::Verdict;

/// One way to answer.
pub trait Engine: Sync {
    /// What `--engine` calls it.
    fn name(&self) -> &'static str;

    /// Answers about every target of the problem, in their order.
    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer;
}

/// What an engine found.
#[derive(Clone, Debug)]
pub struct Answer {
    /// One verdict per target.
    pub verdicts: Vec<Verdict>,
    /// What the search did.
    pub statistics: Statistics,
}

/// Numbers about a search, for people and for tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
}

/// Who is told how far a search has come.
pub trait Watch: Sync {
    /// Called now and then.
    fn progress(&self, _now: &Progress) {}
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

/// Watches nothing.
#[derive(Debug)]
pub struct Silent;

impl Watch for Silent {}
