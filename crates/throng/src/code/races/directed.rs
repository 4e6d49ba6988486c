//! A search for a run that shows a possible race: best first by the distances of two threads to the
//! two accesses. It proves nothing; a run that it finds is checked like any other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use throng_engine::Statistics;
use throng_goto::Concrete;
use throng_goto::program::{Instr, Point, Program};
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Config, Local, Step, semantics};

use super::distance::{Distances, FAR, Graph};

/// Cost of a step that interrupts a thread which could go on, in instructions.
const SWITCH: u32 = 100;

/// Cost of a thread more, in instructions: a violation needs few.
const THREAD: u32 = 3;

/// Two accesses, each by its instructions: one for each copy of the code.
pub(super) struct Goal {
    pub(super) first: Vec<Point>,
    pub(super) second: Vec<Point>,
}

impl Goal {
    /// Returns the same two accesses in a program with functions in place of their calls.
    pub(super) fn within(program: &Program, whole: &Program, pair: [Point; 2]) -> Goal {
        let [first, second] = pair.map(|at| copies(program, whole, at));
        Goal { first, second }
    }

    /// Returns the instructions of both accesses, whichever is the first.
    pub(super) fn points(&self) -> [Vec<Point>; 2] {
        let mut points = [self.first.clone(), self.second.clone()];
        points.sort();
        points
    }

    fn has(&self, at: Point) -> bool {
        self.first.contains(&at) || self.second.contains(&at)
    }
}

/// Returns the instructions of one program that stand for an instruction of the other: those of the
/// same passage and kind.
fn copies(program: &Program, whole: &Program, at: Point) -> Vec<Point> {
    let (origin, kind) = (whole.origin_at(at), std::mem::discriminant(whole.instruction_at(at)));
    let mut found = Vec::new();
    for (t, template) in program.templates.iter().enumerate() {
        for (pc, instruction) in template.code.iter().enumerate() {
            if std::mem::discriminant(instruction) == kind && program.origin(t, pc).span == origin.span {
                found.push(Point { template: t as u32, pc: pc as u32 });
            }
        }
    }
    found
}

/// A search for one pair.
pub(super) struct Directed<'a> {
    model: &'a Concrete,
    problem: &'a Problem,
    target: &'a Target,
    goal: &'a Goal,
    to: [Distances; 2],
    /// Distances by local state: own and started, to the first and to the second access.
    known: FxHashMap<Local, [(u32, u32); 2]>,
    reached: IndexMap<Config, Option<(usize, Step)>>,
    /// By estimate; the last one first among equals, so that runs come to their end.
    waiting: BinaryHeap<(Reverse<u32>, usize)>,
    /// By configuration: the cost of interruptions so far, and the thread that moved last.
    moved: Vec<(u32, Option<Local>)>,
}

impl<'a> Directed<'a> {
    pub(super) fn new(
        model: &'a Concrete,
        problem: &'a Problem,
        graph: &Graph,
        goal: &'a Goal,
    ) -> Directed<'a> {
        Directed {
            model,
            problem,
            target: &problem.targets[0],
            goal,
            to: [graph.to(&goal.first), graph.to(&goal.second)],
            known: FxHashMap::default(),
            reached: IndexMap::default(),
            waiting: BinaryHeap::new(),
            moved: Vec::new(),
        }
    }

    /// Returns a run into the race, if one is met among at most `most` configurations.
    pub(super) fn run(&mut self, most: usize, limits: &Limits, statistics: &mut Statistics) -> Option<Trace> {
        for family in &self.problem.initial {
            let least = family.threads.size();
            let sizes = if family.any.is_empty() { least..=least } else { 2.max(least)..=3.max(least) };
            for config in sizes.flat_map(|n| family.of_size(n)) {
                self.meet(config, None, 0, None);
            }
        }
        let mut after = Vec::new();
        while let Some((_, here)) = self.waiting.pop() {
            if limits.check().is_err() || self.reached.len() > most {
                return None;
            }
            let config = self.reached.get_index(here)?.0.clone();
            statistics.configurations += 1;
            if self.target.is_hit(&config, &*self.problem.model) {
                return Some(self.trace(here));
            }
            // What is missing does not matter: this proves nothing.
            _ = semantics::successors(
                &*self.problem.model,
                &config,
                self.problem.bound.threads(),
                &mut after,
            );
            let (cost, last) = self.moved[here];
            let by = |step: &Step| step.take.entries().first().map(|e| e.0);
            let could = last.is_some() && after.iter().any(|(step, _)| by(step) == last);
            for (step, next) in after.drain(..) {
                statistics.steps += 1;
                let interrupts = could && by(&step) != last;
                let cost = cost + if interrupts { SWITCH } else { 0 };
                let thread = step.put.entries().first().map(|e| e.0);
                self.meet(next, Some((here, step)), cost, thread);
            }
        }
        None
    }

    fn meet(&mut self, config: Config, from: Option<(usize, Step)>, cost: u32, thread: Option<Local>) {
        let Some(estimate) = self.estimate(&config) else { return };
        let number = self.reached.len();
        if let indexmap::map::Entry::Vacant(new) = self.reached.entry(config) {
            new.insert(from);
            self.moved.push((cost, thread));
            self.waiting.push((Reverse(estimate.saturating_add(cost)), number));
        }
    }

    /// Returns how far two threads are from the accesses; `None`: no two come to them.
    fn estimate(&mut self, config: &Config) -> Option<u32> {
        if self.target.is_hit(config, &*self.problem.model) {
            return Some(0);
        }
        if let Some(about) = self.model.about(config.shared) {
            return self.goal.has(about.at).then_some(0);
        }
        self.model.memory(config.shared)?;
        let threads: Vec<([(u32, u32); 2], u32)> =
            config.threads.entries().iter().map(|&(l, n)| (self.distances(l), n)).collect();
        let mut best = FAR;
        for (i, ([first, _], count)) in threads.iter().enumerate() {
            for (j, ([_, second], _)) in threads.iter().enumerate() {
                // One thread may be both only by starting another one.
                let both = match i != j || *count > 1 {
                    true => first.0.min(first.1).saturating_add(second.0.min(second.1)),
                    false => {
                        let apart = first.0.saturating_add(second.1).min(first.1.saturating_add(second.0));
                        apart.min(first.1.saturating_add(second.1))
                    }
                };
                best = best.min(both);
            }
        }
        (best < FAR).then(|| best + THREAD * config.threads.size())
    }

    fn distances(&mut self, l: Local) -> [(u32, u32); 2] {
        let (model, to) = (self.model, &self.to);
        let compute = || match model.thread(l) {
            Some(thread) => [to[0].of(&thread), to[1].of(&thread)],
            None => [(FAR, FAR); 2],
        };
        *self.known.entry(l).or_insert_with(compute)
    }

    fn trace(&self, mut at: usize) -> Trace {
        let mut steps = Vec::new();
        while let Some((config, Some((before, step)))) = self.reached.get_index(at) {
            steps.push(Taken { step: step.clone(), after: config.clone() });
            at = *before;
        }
        steps.reverse();
        let start = self.reached.get_index(at).map(|(config, _)| config.clone());
        Trace { start: start.unwrap_or_else(|| unreachable!("runs begin where the search does")), steps }
    }
}

/// Returns the two accesses that a run shows to race.
pub(super) fn racing(model: &Concrete, trace: &Trace) -> Option<[Point; 2]> {
    let program = model.program();
    let first = trace.steps.iter().find_map(|taken| model.about(taken.step.to))?;
    let last = trace.steps.last()?;
    let state = model.memory(last.step.from)?;
    let thread = model.thread(last.step.take.entries().first()?.0)?;
    let outcomes = throng_goto::step::step(program, &state.0, &thread).outcomes;
    let second = outcomes.iter().flat_map(|o| &o.touches).find(|t| program.is_race(t, &first))?;
    Some([first.at, second.at])
}

/// Returns whether an instruction stores the number of a thread that was started right before.
pub(super) fn stores_number(program: &Program, at: Point) -> bool {
    let code = &program.templates[at.template as usize].code;
    let before = (at.pc as usize).checked_sub(1).and_then(|pc| code.get(pc));
    match (before, program.instruction_at(at)) {
        (Some(Instr::Spawn(_, _, r)), Instr::Store(_, e, _)) => {
            let mut found = false;
            e.registers(&mut |q| found |= q == *r);
            found
        }
        _ => false,
    }
}
