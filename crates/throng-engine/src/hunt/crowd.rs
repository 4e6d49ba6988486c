//! A hunt behind the creation of many threads: `for (i = 0; i < 10000; i++) pthread_create(…)`.
//!
//! A search in the order of steps does not come to the end of such a loop, where threads of another
//! kind may be created, and has more threads to interleave with each round. Two or three threads of
//! a kind suffice to show most violations. So the first threads are searched alone as soon as they
//! are there. Then the first thread moves as far as it can; of the threads that one statement
//! creates, a few wait at their beginning, and each other one runs to its end at once. The second
//! search begins behind that. A run that is found is one of the program, with every thread that was
//! created.

use rustc_hash::FxHashMap;
use throng_model::limits::Limits;
use throng_model::problem::{Initial, Problem, Target};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Bag, Bystanders, Config, Edge, Local, Step, semantics};

use super::breadth_first::{Found, search};
use super::switches;
use crate::Statistics;

/// Number of threads that are searched alone, as soon as they are created.
const FIRST: u32 = 3;
/// Number of threads of each statement that wait.
const WAITING: u32 = 2;
/// Programs with no more threads than so many need no second search.
const HANDFUL: u32 = 8;
/// Maximum number of steps before the search.
const MOST_STEPS: usize = 250_000;
/// Maximum number of steps of a thread that runs to its end.
const MOST_ALONE: usize = 2_000;
/// Maximum number of threads that are left where they stop.
const MOST_STUCK: u32 = 16;

/// Looks at no more than `most` configurations in each search. `None` also where the program does
/// not begin with one thread, or creates a few only.
pub fn hunt(
    problem: &Problem,
    target: &Target,
    most: usize,
    limits: &Limits,
    statistics: &mut Statistics,
) -> Option<Trace> {
    let [family] = &problem.initial[..] else { return None };
    let &[(creator, 1)] = family.threads.entries() else { return None };
    // What is asked of whole configurations is not seen where some threads are left out.
    if !family.any.is_empty() || problem.bound.threads().is_some() || !target.is_upward_closed() {
        return None;
    }
    let start = Config::new(family.shared, family.threads.clone());
    let mut crowd = Crowd {
        problem,
        target,
        limits,
        now: start.clone(),
        steps: Vec::new(),
        creator: Some(creator),
        waiting: Bag::new(),
        created: FxHashMap::default(),
        total: 0,
        stuck: 0,
    };
    let mut hit = crowd.create(FIRST)?;
    if !hit && crowd.total >= FIRST {
        hit = crowd.search(crowd.waiting.clone(), most, statistics);
    }
    if !hit {
        hit = crowd.create(u32::MAX)?;
    }
    if !hit && crowd.total > HANDFUL {
        hit = crowd.search(crowd.now.threads.clone(), most, statistics);
    }
    hit.then_some(Trace { start, steps: crowd.steps })
}

/// A run in which only one thread moves at a time until it can move no more.
struct Crowd<'a> {
    problem: &'a Problem,
    target: &'a Target,
    limits: &'a Limits,
    now: Config,
    steps: Vec<Taken>,
    /// The first thread, while it can move.
    creator: Option<Local>,
    /// Threads that wait at their beginning.
    waiting: Bag,
    /// Number of threads that each statement has created, and all of them.
    created: FxHashMap<Edge, u32>,
    total: u32,
    /// Number of threads that stopped before their end.
    stuck: u32,
}

impl Crowd<'_> {
    /// Moves the first thread until it has created so many in all or comes no further, and the
    /// threads that need not wait. Returns whether the target is met on the way; `None`: there is no
    /// end.
    fn create(&mut self, most: u32) -> Option<bool> {
        while self.total < most
            && let Some(l) = self.creator
        {
            let Some(step) = self.step_of(l) else { break };
            let (edge, started) = (step.edge, step.spawn.clone());
            self.creator = self.take(step)?;
            if self.is_hit() {
                return Some(true);
            }
            for &(child, n) in started.entries() {
                let of_edge = self.created.entry(edge).or_default();
                (*of_edge, self.total) = (*of_edge + n, self.total + n);
                if *of_edge <= WAITING || self.total <= FIRST {
                    self.waiting.insert(child, n);
                } else if self.finish(child)? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Searches what some of the threads can do from here; whether a run into the target was found,
    /// which is then part of the steps.
    fn search(&mut self, cast: Bag, most: usize, statistics: &mut Statistics) -> bool {
        let Some(others) = self.now.threads.minus(&cast) else { return false };
        let first = Initial { shared: self.now.shared, threads: cast, any: Vec::new() };
        let behind = Problem { initial: vec![first], ..self.problem.clone() };
        let (target, limits) = (self.target, self.limits);
        let is_it = |config: &_| Ok(target.is_hit(config, &*behind.model));
        let found = match search(&behind, u32::MAX, most, limits, statistics, is_it) {
            Found::Run(trace) => Some(trace),
            Found::Nothing(..) => None,
            Found::Stopped(_) => switches::hunt(&behind, target, u32::MAX, most, limits, statistics),
        };
        let Some(mut trace) = found else { return false };
        trace.steps.iter_mut().for_each(|taken| taken.after.threads.add_all(&others));
        self.steps.append(&mut trace.steps);
        true
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
