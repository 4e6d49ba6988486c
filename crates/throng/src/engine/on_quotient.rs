//! Runs an engine on the contracted problem and makes its answers answers about the original ([`crate::quotient`]).

use super::{Answer, Engine, Progress, Watch};
use crate::checkpoint::Keeper;
use crate::quotient::Quotient;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::Verdict;

/// An engine that contracts first.
pub struct OnQuotient<E>(pub E);

impl<E: Engine> Engine for OnQuotient<E> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        run_on(Quotient::of(problem).as_ref(), &self.0, problem, limits, watch)
    }
}

/// Runs `engine` on what `problem` was contracted to; its targets may be some of those that were there then.
pub fn run_on(
    contracted: Option<&Quotient>,
    engine: &dyn Engine,
    problem: &Problem,
    limits: &Limits,
    watch: &dyn Watch,
) -> Answer {
    let Some(contracted) = contracted else { return engine.run(problem, limits, watch) };
    let smaller = Problem { targets: problem.targets.clone(), ..contracted.problem.clone() };
    let mut answer = engine.run(&smaller, limits, &Lifting { contracted, watch });
    answer.verdicts = answer.verdicts.iter().map(|v| contracted.lift(v)).collect();
    // Threads that are nobody in the smaller problem are somebody again.
    answer.fewest.fill(false);
    answer
}

/// Passes on what is found, lifted.
struct Lifting<'a> {
    contracted: &'a Quotient,
    watch: &'a dyn Watch,
}

impl Watch for Lifting<'_> {
    fn progress(&self, now: &Progress) {
        self.watch.progress(now);
    }

    fn found(&self, target: usize, verdict: &Verdict) {
        self.watch.found(target, &self.contracted.lift(verdict));
    }

    fn keeper(&self) -> Option<&dyn Keeper> {
        self.watch.keeper()
    }
}
