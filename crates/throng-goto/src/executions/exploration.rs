//! The exploration of executions that meets each complete one once, for programs that start with one
//! thread and create boundedly many: [`throng_memory::explore`] says why it meets all of them.
//!
//! Locks and their like are no memory of C11. A step that uses one depends on how often it was used,
//! so that all orders of uses are met. The end of the process is no step: executions go on without.
//! A pass of a loop that only reads, and leaves its thread as it was, is left out, because an
//! execution without it is one of the program, too, and fails if the longer one does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use throng_memory::explore::{Executing, Met, Next, Source, explore, goes_on};
use throng_memory::graph::{Graph, Id};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Taken, Trace};
use throng_model::{Config, Local, Model, Shared, Step};

use super::{Executions, Running, Way, World, atomic_access, number, thing};
use crate::program::{Access, object_of};
use crate::robust::updates;
use crate::step::{After, Effect, Outcome, Steps, Thread};

/// What an exploration came to.
#[derive(Clone, Debug)]
pub struct Explored {
    /// An execution that reaches one of the targets.
    pub failing: Option<Trace>,
    /// Whether all executions were explored, and none reaches a target.
    pub exhausted: bool,
    /// Number of executions in which all threads have ended, but for those that end the process.
    pub complete: usize,
    /// Number of executions in which some thread waits for ever.
    pub blocked: usize,
}

/// An execution, or the beginning of one.
#[derive(Clone)]
struct Reached {
    world: Arc<World>,
    /// The threads by number; `None`: it has ended.
    threads: Vec<Option<Arc<Running>>>,
    /// How often objects were used that are locks or their like, or whose lifetime has ended.
    used: BTreeMap<i64, u32>,
    /// How it came about.
    path: Option<Arc<Link>>,
    /// The shared state after a violation.
    bad: Option<Shared>,
}

/// The last step of an execution, and those before.
struct Link {
    before: Option<Arc<Link>>,
    index: u16,
    thread: Option<Arc<Running>>,
    world: Arc<World>,
    bad: Option<Shared>,
}

impl Executions {
    /// Explores the executions of a problem of this model, until one reaches a target.
    pub fn explore(&self, problem: &Problem, limits: &Limits) -> Explored {
        let mut explored = Explored { failing: None, exhausted: false, complete: 0, blocked: 0 };
        let Some(start) = self.start_of(problem) else { return explored };
        let bad: Vec<Shared> = problem.targets[0].configs.iter().map(|c| c.shared).collect();
        let mut last = None;
        let exhausted = explore(&Exploring(self), vec![start], &mut |met| match met {
            Met::New(reached) if reached.bad.is_some_and(|end| bad.contains(&end)) => {
                last.clone_from(&reached.path);
                false
            }
            Met::New(_) => limits.check().is_ok(),
            Met::Last(reached) if reached.bad.is_some() || goes_on(&Exploring(self), reached) => true,
            Met::Last(reached) => {
                let ended = |t: &Option<Arc<Running>>| t.as_ref().is_none_or(|t| self.halts(reached, t));
                let count = match reached.threads.iter().all(ended) {
                    true => &mut explored.complete,
                    false => &mut explored.blocked,
                };
                *count += 1;
                true
            }
        });
        explored.exhausted = exhausted && self.incomplete().is_none();
        explored.failing = last.and_then(|path| self.trace_of(problem, &path));
        explored
    }

    /// The threads of the start.
    fn start_of(&self, problem: &Problem) -> Option<Reached> {
        let initial = problem.initial.first()?;
        let world = self.world(initial.shared)?;
        let mut threads = vec![None; world.graph.threads.len()];
        for &(local, _) in initial.threads.entries() {
            let state = thing(&self.threads, local.0)?;
            threads[usize::from(state.index)] = Some(state.clone());
        }
        Some(Reached { world, threads, used: BTreeMap::new(), path: None, bad: None })
    }

    /// Returns whether the next step of a thread ends the process.
    fn halts(&self, reached: &Reached, running: &Running) -> bool {
        let outcomes = self.steps(&reached.world.memory, &running.thread).outcomes;
        outcomes.iter().any(|outcome| matches!(outcome.after, After::Halted))
    }

    /// The objects whose lifetime ends in an outcome.
    fn ended_by(&self, reached: &Reached, outcome: &Outcome) -> Vec<i64> {
        let before = &reached.world.memory;
        let After::Runs(after) = &outcome.after else { return Vec::new() };
        let fixed = self.program().objects.len();
        let objects = (0..before.heap.len()).map(|slot| (fixed + slot + 1) as i64);
        objects.filter(|&object| self.has_ended_between(object, before, after)).collect()
    }

    /// A number for what outcomes use that is no memory of C11, and how often it was used; 0 if there
    /// is no such object.
    fn version(&self, reached: &Reached, outcomes: &[Outcome]) -> u64 {
        let mut objects: BTreeSet<i64> =
            outcomes.iter().flat_map(|outcome| &outcome.effects).filter_map(used_by).collect();
        let ended = outcomes.iter().flat_map(|outcome| self.ended_by(reached, outcome));
        objects.extend(ended.filter(|object| reached.used.contains_key(object)));
        if objects.is_empty() {
            return 0;
        }
        let times = |object| (object, reached.used.get(&object).copied().unwrap_or(0));
        number(&self.uses, objects.into_iter().map(times).collect()) + 1
    }

    /// The writes that a step may read from; perhaps it waits for one of them.
    fn writes(&self, graph: &Graph, steps: &Steps) -> BTreeSet<Id> {
        let all = steps.outcomes.iter().map(|outcome| &outcome.effects).chain(&steps.blocked);
        let places = all.filter(|effects| reads(effects)).filter_map(|effects| atomic_access(effects));
        let of = |place: (i64, u32)| {
            let location = self.location(place.0, place.1);
            graph.writes.get(&location).cloned().unwrap_or_else(|| vec![Id::Initial(location)])
        };
        places.flat_map(of).collect()
    }

    /// The ways of a thread's next step in which it reads from a write.
    fn ways_from(&self, world: &World, running: &Running, write: Id) -> Vec<Way> {
        let location = match (write, world.graph.event(write)) {
            (Id::Initial(location), _) => location,
            (_, Some(event)) => event.location,
            (_, None) => return Vec::new(),
        };
        let Some(place) = thing(&self.locations, location.into()) else { return Vec::new() };
        let last = world.graph.writes.get(&location).and_then(|writes| writes.last());
        let mut ways = Vec::new();
        if last.is_some_and(|&last| last != write) {
            self.older_ways(world, running, (*place, write), &mut ways);
            return ways;
        }
        for outcome in self.steps(&world.memory, &running.thread).outcomes {
            if atomic_access(&outcome.effects) == Some(*place) {
                self.extend(world, running, outcome, None, &mut ways);
            }
        }
        ways
    }

    /// The execution after a step; `None` if the step ends the process.
    fn after(&self, reached: &Reached, index: usize, way: Way) -> Option<Reached> {
        let outcome = &way.outcome;
        let bad = match &outcome.after {
            _ if way.race.is_some() => Some(Executions::RACE),
            After::Failed(what, _) => Some(self.violation(*what)),
            After::Halted => return None,
            After::Runs(_) => None,
        };
        let mut next = Reached { bad, ..reached.clone() };
        let running = |thread: &Thread, number: usize, since: &[u64]| {
            Arc::new(Running { thread: thread.clone(), index: number as u16, since: since.to_vec() })
        };
        let thread = outcome.thread.as_ref().map(|thread| running(thread, index, &way.since));
        let used = outcome.effects.iter().filter_map(used_by).chain(self.ended_by(reached, outcome));
        for object in used.collect::<BTreeSet<i64>>() {
            *next.used.entry(object).or_default() += 1;
        }
        next.threads[index].clone_from(&thread);
        for thread in &outcome.started {
            let number = next.threads.len();
            next.threads.push(Some(running(thread, number, &[])));
        }
        next.world = Arc::new(way.world);
        let (before, world) = (reached.path.clone(), next.world.clone());
        next.path = Some(Arc::new(Link { before, index: index as u16, thread, world, bad }));
        Some(next)
    }

    /// The run that leads to an execution.
    fn trace_of(&self, problem: &Problem, path: &Arc<Link>) -> Option<Trace> {
        let mut links = vec![path.clone()];
        while let Some(before) = links.last().and_then(|link| link.before.clone()) {
            links.push(before);
        }
        let initial = &problem.initial[0];
        let start = Config::new(initial.shared, initial.threads.clone());
        let mut trace = Trace { start, steps: Vec::new() };
        for link in links.iter().rev() {
            let from = trace.end().clone();
            let step = self.step_of(&from, link)?;
            let mut threads = from.threads.minus(&step.take)?;
            threads.add_all(&step.put);
            threads.add_all(&step.spawn);
            let after = Config::new(step.to, threads);
            trace.steps.push(Taken { step, after });
        }
        Some(trace)
    }

    /// The step of the model that a link stands for.
    fn step_of(&self, from: &Config, link: &Link) -> Option<Step> {
        let to = match link.bad {
            Some(bad) => bad,
            None => self.shared(World::clone(&link.world)),
        };
        let moves = |l: Local| thing(&self.threads, l.0).is_some_and(|t| t.index == link.index);
        let local = from.threads.entries().iter().map(|e| e.0).find(|&l| moves(l))?;
        let mut steps = Vec::new();
        _ = self.post(from.shared, local, &mut steps);
        let put = |running: &Arc<Running>| Local(number(&self.threads, Running::clone(running)));
        let expected = link.thread.as_ref().map(put);
        let fits = |step: &Step| {
            let put = step.put.entries().first().map(|e| e.0);
            step.to == to && (link.bad.is_some() || put == expected)
        };
        steps.into_iter().find(fits)
    }
}

/// The object that an effect uses which is no memory of C11.
fn used_by(effect: &Effect) -> Option<i64> {
    match effect {
        Effect::Access { address, kind: Access::Internal, .. }
        | Effect::Acquired(address)
        | Effect::Released(address) => Some(object_of(*address)),
        _ => None,
    }
}

/// Returns whether the atomic access of a step reads.
fn reads(effects: &[Effect]) -> bool {
    let atomic = |n: &usize| matches!(&effects[*n], Effect::Access { kind, .. } if kind.is_atomic());
    (0..effects.len())
        .find(atomic)
        .is_some_and(|n| updates(effects, n) || matches!(&effects[n], Effect::Access { writes: false, .. }))
}

/// The executions, as what is explored.
struct Exploring<'e>(&'e Executions);

impl Executing for Exploring<'_> {
    type State = Reached;

    fn threads(&self, reached: &Reached) -> usize {
        reached.threads.len()
    }

    fn next(&self, reached: &Reached, index: usize) -> Next {
        let Some(running) = reached.threads[index].as_ref().filter(|_| reached.bad.is_none()) else {
            return Next::Nothing;
        };
        let mut steps = self.0.steps(&reached.world.memory, &running.thread);
        steps.outcomes.retain(|outcome| !matches!(outcome.after, After::Halted));
        let version = self.0.version(reached, &steps.outcomes);
        let writes = self.0.writes(&reached.world.graph, &steps);
        if writes.is_empty() && steps.outcomes.is_empty() {
            return Next::Nothing;
        }
        if writes.is_empty() && version == 0 {
            return Next::Free;
        }
        let other = steps.outcomes.iter().any(|outcome| !reads(&outcome.effects)).then_some(None);
        let sources = writes.into_iter().map(Some).chain(other);
        Next::Depends(sources.map(|write| Source { write, version }).collect())
    }

    fn take(&self, reached: &Reached, index: usize, source: Option<Source>) -> Vec<Reached> {
        let Some(running) = &reached.threads[index] else { return Vec::new() };
        let world = &reached.world;
        let ways = match source.and_then(|source| source.write) {
            Some(write) => self.0.ways_from(world, running, write),
            None => {
                let mut ways = self.0.ways(world, running);
                ways.retain(|way| !reads(&way.outcome.effects));
                ways
            }
        };
        ways.into_iter().filter_map(|way| self.0.after(reached, index, way)).collect()
    }
}
