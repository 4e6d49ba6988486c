//! Runs an engine on the contracted problem and makes its answers answers about the original ([`crate::contract`]).

use super::{Answer, Engine, Progress, Watch};
use crate::checkpoint::Keeper;
use crate::contract::Contracted;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::verdict::Verdict;

/// An engine that contracts first.
pub struct Smaller<E>(pub E);

impl<E: Engine> Engine for Smaller<E> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        run_on(Contracted::of(problem).as_ref(), &self.0, problem, limits, watch)
    }
}

/// Runs `engine` on what `problem` was contracted to; its targets may be some of those that were there then.
pub fn run_on(
    contracted: Option<&Contracted>,
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
    contracted: &'a Contracted,
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
