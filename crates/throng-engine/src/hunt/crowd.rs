//! A hunt behind the creation of many threads: `for (i = 0; i < 10000; i++) pthread_create(…)`.
//!
//! A search in the order of steps does not come to the end of such a loop, where threads of another
//! kind may be created. Two or three threads of a kind suffice to show most violations, so here the
//! first thread moves as far as it can alone; of the threads that one statement creates, a few wait
//! at their beginning, and each other one runs to its end at once. The search begins behind that.
//! The run that it finds is one of the program, with every thread that was created.

use rustc_hash::FxHashMap;
use throng_model::limits::Limits;
use throng_model::problem::{Initial, Problem, Target};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Bystanders, Config, Edge, Local, Step, semantics};

use super::breadth_first::{Found, search};
use super::switches;
use crate::Statistics;

/// Number of threads of each statement that wait.
const WAITING: u32 = 2;
/// Programs with no more threads than so many need no such hunt.
const HANDFUL: u32 = 8;
/// Maximum number of steps before the search.
const MOST_STEPS: usize = 400_000;
/// Maximum number of steps of a thread that runs to its end.
const MOST_ALONE: usize = 2_000;
/// Maximum number of threads that are left where they stop.
const MOST_STUCK: u32 = 16;

/// Looks at no more than `most` configurations behind the creation of threads. `None` also where
/// the program does not begin with one thread, or creates a handful only.
pub fn hunt(
    problem: &Problem,
    target: &Target,
    most: usize,
    limits: &Limits,
    statistics: &mut Statistics,
) -> Option<Trace> {
    let [family] = &problem.initial[..] else { return None };
    let &[(creator, 1)] = family.threads.entries() else { return None };
    if !family.any.is_empty() || problem.bound.threads().is_some() {
        return None;
    }
    let start = Config::new(family.shared, family.threads.clone());
    let mut crowd = Crowd { problem, target, limits, now: start.clone(), steps: Vec::new(), stuck: 0 };
    let hit = crowd.create(creator)?;
    statistics.steps += crowd.steps.len() as u64;
    let Crowd { now, mut steps, .. } = crowd;
    if !hit {
        let behind = Initial { shared: now.shared, threads: now.threads, any: Vec::new() };
        let behind = Problem { initial: vec![behind], ..problem.clone() };
        let is_it = |config: &_| Ok(target.is_hit(config, &*problem.model));
        let found = match search(&behind, u32::MAX, most, limits, statistics, is_it) {
            Found::Run(trace) => trace,
            Found::Nothing(..) => return None,
            Found::Stopped(_) => switches::hunt(&behind, target, u32::MAX, most, limits, statistics)?,
        };
        steps.extend(found.steps);
    }
    Some(Trace { start, steps })
}

/// A run in which only one thread moves at a time until it can move no more.
struct Crowd<'a> {
    problem: &'a Problem,
    target: &'a Target,
    limits: &'a Limits,
    now: Config,
    steps: Vec<Taken>,
    /// Number of threads that stopped before their end.
    stuck: u32,
}

impl Crowd<'_> {
    /// Moves the first thread as far as it comes, and the threads that need not wait. Returns
    /// whether the target is met on the way; `None`: there are only a few threads, or no end.
    fn create(&mut self, creator: Local) -> Option<bool> {
        let mut created: FxHashMap<Edge, u32> = FxHashMap::default();
        let mut total = 0;
        let mut next = Some(creator);
        while let Some(l) = next {
            let Some(step) = self.step_of(l) else { break };
            let (edge, started) = (step.edge, step.spawn.clone());
            next = self.take(step)?;
            if self.is_hit() {
                return Some(true);
            }
            for &(child, n) in started.entries() {
                let of_edge = created.entry(edge).or_default();
                (*of_edge, total) = (*of_edge + n, total + n);
                if *of_edge > WAITING && self.finish(child)? {
                    return Some(true);
                }
            }
        }
        (total > HANDFUL).then_some(false)
    }

    /// Runs a thread to its end. Returns whether the target is met on the way; `None`: too many
    /// threads do not come to their end.
    fn finish(&mut self, child: Local) -> Option<bool> {
        let mut next = Some(child);
        for _ in 0..MOST_ALONE {
            let Some(l) = next else { return Some(false) };
            let Some(step) = self.step_of(l) else { break };
            next = self.take(step)?;
            if self.is_hit() {
                return Some(true);
            }
        }
        self.stuck += u32::from(next.is_some());
        (self.stuck <= MOST_STUCK).then_some(false)
    }

    fn is_hit(&self) -> bool {
        self.target.is_hit(&self.now, &*self.problem.model)
    }

    /// The first step of a thread that it takes alone. What is missing does not matter: this proves
    /// nothing.
    fn step_of(&self, l: Local) -> Option<Step> {
        let mut out = Vec::new();
        _ = self.problem.model.post(self.now.shared, l, &mut out);
        let alone = |s: &Step| s.others == Bystanders::Stay && s.take.size() == 1 && s.put.size() <= 1;
        out.into_iter().find(alone)
    }

    /// Takes a step; returns what becomes of the thread. `None`: there were too many.
    fn take(&mut self, step: Step) -> Option<Option<Local>> {
        self.limits.check().ok()?;
        let mut after = Vec::new();
        _ = semantics::fire(&*self.problem.model, &self.now, &step, None, &mut after);
        self.now = after.into_iter().next()?;
        let next = step.put.entries().first().map(|e| e.0);
        self.steps.push(Taken { step, after: self.now.clone() });
        (self.steps.len() <= MOST_STEPS).then_some(next)
    }
}
