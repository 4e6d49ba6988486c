//! Runs an engine on the quotient problem and lifts its answers to the original
//! (`crate::quotient`).

use super::{Algorithm, Answer, Progress, Watch};
use crate::checkpoint::Keeper;
use crate::quotient::Quotient;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::Verdict;

/// Runs an engine on the quotient.
pub struct OnQuotient(pub Box<dyn Algorithm + Send>);

impl Algorithm for OnQuotient {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        run_on(Quotient::of(problem, limits).as_ref(), &*self.0, problem, limits, watch)
    }
}

/// Runs `engine` on the quotient of `problem`, if there is one; the targets may be fewer than when
/// the quotient was computed.
pub fn run_on(
    quotient: Option<&Quotient>,
    engine: &dyn Algorithm,
    problem: &Problem,
    limits: &Limits,
    watch: &dyn Watch,
) -> Answer {
    let Some(quotient) = quotient else { return engine.run(problem, limits, watch) };
    let reduced = Problem { targets: problem.targets.clone(), ..quotient.problem.clone() };
    let mut answer = engine.run(&reduced, limits, &Lifting { quotient, watch });
    answer.verdicts = answer.verdicts.iter().map(|v| quotient.lift(v)).collect();
    // Threads that the quotient removes count in the original, so the least number of threads may
    // differ.
    answer.fewest.fill(false);
    answer
}

/// Passes on verdicts, lifted.
struct Lifting<'a> {
    quotient: &'a Quotient,
    watch: &'a dyn Watch,
}

impl Watch for Lifting<'_> {
    fn progress(&self, now: &Progress) {
        self.watch.progress(now);
    }

    fn found(&self, target: usize, verdict: &Verdict) {
        self.watch.found(target, &self.quotient.lift(verdict));
    }

    fn keeper(&self) -> Option<&dyn Keeper> {
        self.watch.keeper()
    }
}
