//! Short hunts before an engine is asked: in the order of steps where threads are created in a loop, then with few interruptions.
//!
//! With a thread bound, threads that end make room for others, and there may be no end to what two threads at a time can do, though three show the violation
//! in a few steps: so the first hunt has no bound.

use super::search::{Found, search};
use super::switches;
use throng::engine::{Algorithm, Answer, Statistics, Watch};
use throng_c::Program;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Trace, Verdict};

/// So many configurations are looked at in the order of steps, and with few interruptions.
const MOST: (usize, usize) = (60_000, 150_000);

/// Short hunts first, then another engine.
pub(super) struct HuntFirst {
    then: Box<dyn Algorithm + Send>,
    loops: bool,
    /// The numbers of threads at a time to try with few interruptions.
    threads: Vec<u32>,
}

impl HuntFirst {
    pub(super) fn new(program: &Program, bound: Bound, then: Box<dyn Algorithm + Send>) -> HuntFirst {
        let loops = program.creates_without_bound();
        let threads = match (bound.threads(), program.most_threads()) {
            (Some(n), _) => vec![n],
            (None, Some(n)) => vec![n],
            (None, None) if loops => vec![3, 5, 60],
            (None, None) => vec![2, 3, 4],
        };
        HuntFirst { then, loops: loops && bound == Bound::Any, threads }
    }

    fn hunt(&self, problem: &Problem, limits: &Limits, statistics: &mut Statistics) -> Option<Trace> {
        let [target] = &problem.targets[..] else { return None };
        // The engine is left most of the time.
        let share = |parts: u32| match limits.time_left() {
            Some(left) => limits.part().timeout(left / parts),
            None => limits.part(),
        };
        if self.loops {
            let hit = |config: &_| Ok(target.is_hit(config, &*problem.model));
            if let Found::Run(trace) = search(problem, u32::MAX, MOST.0, &share(3), statistics, hit) {
                return Some(trace);
            }
        }
        let (most, parts) = (MOST.1 / self.threads.len(), 3 * self.threads.len() as u32);
        let mut tries = self.threads.iter();
        tries.find_map(|&n| switches::hunt(problem, target, n, most, &share(parts), statistics))
    }
}

impl Algorithm for HuntFirst {
    fn name(&self) -> &'static str {
        self.then.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut statistics = Statistics::default();
        match self.hunt(problem, limits, &mut statistics) {
            Some(trace) => {
                let mut answer = Answer::new(vec![Verdict::Unsafe(trace)], statistics);
                answer.by = vec![Some("explicit")];
                answer
            }
            None => self.then.run(problem, limits, watch),
        }
    }
}
