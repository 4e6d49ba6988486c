//! Pair views: which pairs of threads can occur together with which shared state, as a small
//! fixpoint that proves much.
//!
//! # Idea
//!
//! A *view* of a configuration is its shared state and at most two of its threads. Let V contain
//! every view of every reachable configuration. When a step fires in a reachable configuration, a
//! view of the result consists of threads that the step put or created, and of bystanders; and
//! before the step, every bystander was, pairwise, in V with every thread that the step took, and
//! the bystanders with each other. So start with the initial views and add, for each step whose
//! threads are pairwise in V, exactly the views whose bystanders pass that test, moved along as the
//! step moves bystanders. The least such set contains V.
//!
//! # Why that is sound
//!
//! By induction over the length of a run, every view of every reachable configuration is in the
//! set: for any number of threads, and for a bound as well (at the bound a step creates no thread,
//! and views without the created threads are in the set, too). Nothing is assumed about larger
//! configurations doing more, so models in which presence blocks are covered: a bystander without a
//! fate is not present when the step fires. Weights above two and "exactly one is woken" are
//! over-approximated: the set may be too large, never too small. If no target has all its views in
//! the set, the answer is SAFE, with the set as certificate; otherwise UNKNOWN.
//!
//! Work is driven by new views, so it grows with the result, not with the declared states.

pub(super) mod closure;
mod relation;

use std::sync::Arc;

use super::facts::{FactStore, Facts};
use super::{Algorithm, Answer, Statistics, Watch};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, Unknown, Verdict};

/// The engine `views`.
#[derive(Clone, Debug, Default)]
pub struct Views {
    /// The exchange of facts with other engines.
    pub store: Arc<FactStore>,
}

impl Algorithm for Views {
    fn name(&self) -> &'static str {
        "views"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut closure = self.store.unfinished(problem);
        let done = closure.run(problem, limits, watch);
        let mut statistics = Statistics::default();
        (statistics.shared_states, statistics.local_states) = closure.states();
        statistics.configurations = closure.len();
        if let Err(why) = done {
            self.store.leave_unfinished(problem, closure);
            return Answer::new(vec![Verdict::Unknown(why); problem.targets.len()], statistics);
        }
        let facts = self.store.put(problem, Facts::of_pairs(problem, closure));
        let verdicts = problem.targets.iter().map(|target| {
            if target.configs.iter().all(|bad| facts.rules_out(bad)) {
                Verdict::Safe(Certificate::Views(facts.views().clone()))
            } else {
                Verdict::Unknown(Unknown::Inconclusive("views of two threads do not exclude it".into()))
            }
        });
        Answer::new(verdicts.collect(), statistics)
    }
}
