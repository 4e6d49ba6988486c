//! Short hunts for a violation: in the order of steps, behind the creation of many threads, then
//! with few interruptions.
//!
//! The first one has no thread bound of its own. With one, threads that end make room for others,
//! and there may be no end to what two threads at a time can do, though three show the violation in
//! a few steps.

pub mod breadth_first;
pub mod crowd;
pub mod switches;

use self::breadth_first::{Found, search};
use crate::{Algorithm, Answer, Statistics, Watch};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Trace, Verdict};

/// Short hunts, bounded by the number of configurations: unless time is short, they see the same in
/// every call.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// Maximum number of threads at a time in the order of steps.
    pub bound: u32,
    /// Maximum numbers of configurations: in the order of steps, and with few interruptions.
    pub budget: (usize, usize),
    /// Whether to look behind loops that create threads.
    pub crowds: bool,
    /// Numbers of threads at a time to try with few interruptions.
    pub threads: Vec<u32>,
}

impl Hunt {
    /// Returns an answer if a run into the only target is met.
    pub fn run(&self, problem: &Problem, limits: &Limits) -> Option<Answer> {
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
        match search(problem, self.bound, self.budget.0, &share(4), statistics, hit) {
            Found::Run(trace) => return Some(trace),
            // There is nothing more to see.
            Found::Nothing(..) => return None,
            Found::Stopped(_) => {}
        }
        if self.crowds {
            let behind = crowd::hunt(problem, target, self.budget.0, &share(3), statistics);
            if behind.is_some() {
                return behind;
            }
        }
        let (most, parts) = (self.budget.1 / self.threads.len().max(1), 3 * self.threads.len() as u32);
        let mut tries = self.threads.iter();
        tries.find_map(|&n| switches::hunt(problem, target, n, most, &share(parts), statistics))
    }
}

/// Short hunts first, then another engine.
pub struct HuntFirst<'a> {
    /// The hunts.
    pub hunt: Hunt,
    /// The engine that answers if they meet nothing.
    pub then: Box<dyn Algorithm + 'a>,
}

impl Algorithm for HuntFirst<'_> {
    fn name(&self) -> &'static str {
        self.then.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        self.hunt.run(problem, limits).unwrap_or_else(|| self.then.run(problem, limits, watch))
    }
}
