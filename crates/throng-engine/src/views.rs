//! Which pairs of threads can occur together with which shared state: a small fixpoint that proves
//! much.
//!
//! # Idea
//!
//! A *view* of a configuration is its shared state and at most two of its threads. Let V hold every
//! view of every reachable configuration. When a step fires in a reachable configuration, a view of
//! the result consists of threads that the step put there or created, and of bystanders; and before
//! the step, every bystander was, pairwise, in V with every thread that the step took, and the
//! bystanders with each other. So start with the initial views and add, for each step whose threads
//! are pairwise in V, exactly the views whose bystanders pass that test, moved along as the step
//! moves bystanders. The least such set contains V.
//!
//! # Why that is sound
//!
//! By induction over the length of a run, every view of every reachable configuration is in the
//! set: for any number of threads, and for a bound as well (at the bound a step creates no thread,
//! and views without the created threads are in the set, too). Nothing is assumed about larger
//! configurations doing more, so models in which presence blocks are fine: a bystander without a
//! fate is simply not there when the step fires. Weights above two and "exactly one is woken" are
//! read generously: the set may be too large, never too small. If no target is built of views of
//! the set, the answer is SAFE, with the set as certificate; else nothing is known.
//!
//! Work is driven by new views and grows with what is found, not with what is declared.

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
    /// Where to leave what was found, for others.
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
                Verdict::Unknown(Unknown::Inconclusive("pairs of threads do not rule it out".into()))
            }
        });
        Answer::new(verdicts.collect(), statistics)
    }
}
