//! Searches without a question, for benchmarks: an engine explores everything that its bound
//! allows, whatever it meets on the way, and makes no evidence. So two ways to explore can be
//! compared also on models where one would stumble over a violation sooner.

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
        // Taken away: no violations were looked for.
        let complete = statistics.complete_up_to.take();
        let why = match bound {
            None => Unknown::NotForThisModel("without a question, a thread bound is needed".into()),
            Some(_) if complete >= bound => Unknown::Explored,
            // Searches without targets give no reason: there is no target to give it for.
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

/// Answers nothing, for a reason that was known before.
pub struct GaveUp(pub Unknown);

impl Algorithm for GaveUp {
    fn name(&self) -> &'static str {
        "none"
    }

    fn run(&self, problem: &Problem, _limits: &Limits, _watch: &dyn Watch) -> Answer {
        Answer::new(vec![Verdict::Unknown(self.0.clone()); problem.targets.len()], Default::default())
    }
}
