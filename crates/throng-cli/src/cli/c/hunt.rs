//! Short hunts before an engine is asked about a program with a `main`: in the order of steps, then
//! with few interruptions.
//!
//! The first one has no thread bound of its own. With one, threads that end make room for others,
//! and there may be no end to what two threads at a time can do, though three show the violation in
//! a few steps.

use super::search::{Found, search};
use super::switches;
use throng_engine::{Algorithm, Answer, Statistics, Watch};
use throng_goto::Program;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Trace, Verdict};

/// So many configurations are looked at in the order of steps, if threads are created in a loop or
/// not; and with few interruptions.
const MOST: (usize, usize, usize) = (60_000, 10_000, 150_000);

/// So many bytes of shared memory may be kept.
const ROOM: usize = 100 << 20;

/// Short hunts, bounded by the number of configurations: unless time is short, they see the same in
/// every call.
pub(super) struct Hunt {
    bound: u32,
    /// How many configurations to look at in the order of steps, and with few interruptions.
    most: (usize, usize),
    /// The numbers of threads at a time to try with few interruptions.
    threads: Vec<u32>,
}

impl Hunt {
    pub(super) fn new(program: &Program, bound: Bound) -> Hunt {
        let loops = program.creates_without_bound();
        let threads = match bound.threads().or(program.most_threads().filter(|_| !loops)) {
            Some(n) => vec![n],
            None => vec![3, 5, 60],
        };
        let bound = bound.threads().unwrap_or(u32::MAX);
        let room = ROOM / (2 * program.shared_size()).max(1);
        let most = if loops { MOST.0 } else { MOST.1 };
        Hunt { bound, most: (most.min(room), MOST.2.min(room)), threads }
    }

    /// The answer, if a run into the violation is met.
    pub(super) fn run(&self, problem: &Problem, limits: &Limits) -> Option<Answer> {
        let mut statistics = Statistics::default();
        let trace = self.hunt(problem, limits, &mut statistics)?;
        let mut answer = Answer::new(vec![Verdict::Unsafe(trace)], statistics);
        answer.by = vec![Some("explicit")];
        Some(answer)
    }

    fn hunt(&self, problem: &Problem, limits: &Limits, statistics: &mut Statistics) -> Option<Trace> {
        let [target] = &problem.targets[..] else { return None };
        // The engine is left most of the time.
        let share = |parts: u32| match limits.time_left() {
            Some(left) => limits.part().timeout(left / parts),
            None => limits.part(),
        };
        let hit = |config: &_| Ok(target.is_hit(config, &*problem.model));
        match search(problem, self.bound, self.most.0, &share(4), statistics, hit) {
            Found::Run(trace) => return Some(trace),
            // There is nothing more to see.
            Found::Nothing(..) => return None,
            Found::Stopped(_) => {}
        }
        let (most, parts) = (self.most.1 / self.threads.len(), 3 * self.threads.len() as u32);
        let mut tries = self.threads.iter();
        tries.find_map(|&n| switches::hunt(problem, target, n, most, &share(parts), statistics))
    }
}

/// Short hunts first, then another engine.
pub(super) struct HuntFirst {
    pub(super) hunt: Hunt,
    pub(super) then: Box<dyn Algorithm + Send>,
}

impl Algorithm for HuntFirst {
    fn name(&self) -> &'static str {
        self.then.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        self.hunt.run(problem, limits).unwrap_or_else(|| self.then.run(problem, limits, watch))
    }
}
