//! Searches without a question, for benchmarks: an engine explores everything that its bound allows
//! and makes no evidence. So two methods can be compared also on models where one would find a
//! violation sooner.

use super::karp_miller::KarpMiller;
use super::{Algorithm, Answer, Watch};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Verdict};

/// Runs an engine that searches up to a thread bound, without targets.
pub struct Exhaust(pub Box<dyn Algorithm + Send>);

impl Algorithm for Exhaust {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let aimless = Problem { targets: Vec::new(), ..problem.clone() };
        let mut statistics = self.0.run(&aimless, limits, watch).statistics;
        let bound = problem.bound.threads();
        // No violations were searched for.
        let complete = statistics.complete_up_to.take();
        let why = match bound {
            None => Unknown::NotForThisModel("without a question, a thread bound is needed".into()),
            Some(_) if complete >= bound => Unknown::Explored,
            // A search without targets reports no reason, because it has no verdict for one.
            Some(_) => {
                limits.check().err().unwrap_or_else(|| Unknown::Inconclusive("the search gave up".into()))
            }
        };
        Answer::new(vec![Verdict::Unknown(why); problem.targets.len()], statistics)
    }
}

/// Computes the whole coverability set (STAR's AKM).
pub struct Coverability(pub KarpMiller);

impl Algorithm for Coverability {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let (why, statistics) = match self.0.coverability(problem, limits, watch) {
            Ok(found) => (Unknown::Explored, found.statistics),
            Err(why) => (why, Default::default()),
        };
        Answer::new(vec![Verdict::Unknown(why); problem.targets.len()], statistics)
    }
}

/// An engine that gives no answer, for a given reason.
pub struct GaveUp(pub Unknown);

impl Algorithm for GaveUp {
    fn name(&self) -> &'static str {
        "none"
    }

    fn run(&self, problem: &Problem, _limits: &Limits, _watch: &dyn Watch) -> Answer {
        Answer::new(vec![Verdict::Unknown(self.0.clone()); problem.targets.len()], Default::default())
    }
}
