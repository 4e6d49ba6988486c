//! Programs that create threads in a loop: a short search without a thread bound comes first. With a bound, threads that end make room
//! for others, and there may be no end to what two threads at a time can do, though three show the violation in a few steps.

use super::search::{Found, search};
use throng::engine::{Algorithm, Answer, Statistics, Watch};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Verdict;

/// So many configurations are looked at before the engine is asked.
const MOST: usize = 60_000;

/// A short search first, then another engine.
pub(super) struct HuntFirst(pub(super) Box<dyn Algorithm + Send>);

impl Algorithm for HuntFirst {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        if let ([target], Bound::Any) = (&problem.targets[..], problem.bound) {
            let mut statistics = Statistics::default();
            let found = search(problem, u32::MAX, MOST, limits, &mut statistics, |config| {
                Ok(target.is_hit(config, &*problem.model))
            });
            if let Found::Run(trace) = found {
                let mut answer = Answer::new(vec![Verdict::Unsafe(trace)], statistics);
                answer.by = vec![Some("explicit")];
                return answer;
            }
        }
        self.0.run(problem, limits, watch)
    }
}
