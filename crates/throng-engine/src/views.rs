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
pub(super) mod triples;

use std::sync::Arc;

use self::triples::Triples;
use super::backward::Pruned;
use super::facts::{FactStore, Facts};
use super::{Algorithm, Answer, Quiet, Statistics, Watch};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, Unknown, Verdict};

/// The engine `views`: pairs, and then triples for the targets that pairs leave open.
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
        let mut answer = Pairs { store: self.store.clone() }.run(problem, limits, watch);
        let is_open = |v: &Verdict| matches!(v, Verdict::Unknown(Unknown::Inconclusive(_)));
        let open: Vec<usize> = (0..answer.verdicts.len()).filter(|&i| is_open(&answer.verdicts[i])).collect();
        if !open.is_empty() {
            let targets = open.iter().map(|&i| problem.targets[i].clone()).collect();
            let rest = Problem { targets, ..problem.clone() };
            let more = ByTriples { store: self.store.clone() }.run(&rest, limits, &Quiet(watch));
            answer.statistics.configurations += more.statistics.configurations;
            open.into_iter().zip(more.verdicts).for_each(|(i, verdict)| answer.verdicts[i] = verdict);
        }
        answer
    }
}

/// The engine for pairs only.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// The exchange of facts with other engines.
    pub store: Arc<FactStore>,
}

impl Algorithm for Pairs {
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

/// The engine for triples only: see `triples`. Configurations that triples exclude are proved
/// unreachable by backward search, which explores only these; the evidence is thus the same as that
/// of `backward`.
#[derive(Clone, Debug, Default)]
pub struct ByTriples {
    /// The exchange of facts: pairs are taken from it, and triples stored in it.
    pub store: Arc<FactStore>,
}

impl Algorithm for ByTriples {
    fn name(&self) -> &'static str {
        "views (triples)"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut statistics = Statistics::default();
        let found = match self.store.triples(problem) {
            Some(triples) => Ok(triples),
            None => Triples::of(problem, limits, &mut statistics.configurations)
                .map(|triples| self.store.put_triples(problem, triples)),
        };
        let triples = match found {
            Ok(triples) => triples,
            Err(why) => return Answer::new(vec![Verdict::Unknown(why); problem.targets.len()], statistics),
        };
        statistics.configurations = triples.len();
        let verdicts = problem.targets.iter().map(|target| {
            if !target.configs.iter().all(|bad| triples.core(bad).is_some()) {
                let why = "views of three threads do not exclude it";
                return Verdict::Unknown(Unknown::Inconclusive(why.into()));
            }
            let one = Problem { targets: vec![target.clone()], ..problem.clone() };
            let backward = Pruned { store: self.store.clone() }.run(&one, limits, &Quiet(watch));
            backward.verdicts.into_iter().next().expect("one target, one verdict")
        });
        let verdicts = verdicts.collect();
        Answer::new(verdicts, statistics)
    }
}
