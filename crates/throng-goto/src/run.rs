//! A run of the concrete model with its threads told apart, and random runs of the interpreter.

use std::sync::Arc;

use throng_model::verdict::Trace;

use crate::model::Concrete;
use crate::program::{Int, Point, Program, Start};
use crate::step::{
    After, Event, Memory, OPEN, Outcome, Thread, Touch, initial_memory, start, step_in_detail,
};

/// A thread that is about to make an access that conflicts with another one.
#[derive(Clone, Debug)]
pub struct Racing {
    /// The thread, by number in the order of creation.
    pub thread: usize,
    /// The access.
    pub touch: Touch,
    /// What happens in the step that makes the access.
    pub events: Vec<Event>,
}

/// A run with its threads: which moves, and what it does.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The templates of the threads that are there at the start.
    pub first: Vec<usize>,
    /// Which thread moves, by number in the order of creation, and how.
    pub moves: Vec<(usize, Outcome)>,
    /// The threads that are about to make conflicting accesses.
    pub racing: Vec<Racing>,
    /// Where the threads are at the end, if the run does not end in a violation.
    pub ends: Vec<(usize, Point)>,
    /// The values of the program's variables after each step, as (C expression, type, value).
    pub values: Vec<Vec<(String, Int, i64)>>,
}

impl Run {
    /// The threads of a trace of the concrete model, told apart.
    pub fn of(model: &Concrete, trace: &Trace) -> Option<Run> {
        let program = model.program();
        let mut threads: Vec<Option<Thread>> = Vec::new();
        for &(l, n) in trace.start.threads.entries() {
            let thread = model.thread(l)?;
            threads.extend((0..n).map(|_| Some(Thread::clone(&thread))));
        }
        let first = threads.iter().flatten().map(|t| t.template as usize).collect();
        let mut run = Run { first, ..Run::default() };
        let mut memory = Arc::new(initial_memory(program));
        for taken in &trace.steps {
            let mover = model.thread(taken.step.take.entries().first()?.0)?;
            let i = threads.iter().position(|t| t.as_ref() == Some(&*mover))?;
            let outcomes = step_in_detail(program, &memory, &mover).outcomes;
            let (first, second) = (model.about(taken.step.to), model.about(taken.step.from));
            if first.is_some() || second.is_some() {
                let is_it =
                    |t: &Touch| Some(*t) == first || second.is_some_and(|about| program.is_race(t, &about));
                run.racing.push(racing(i, &outcomes, is_it)?);
                threads[i] = None;
                continue;
            }
            let outcome = outcomes.into_iter().nth(taken.step.choice as usize)?;
            threads[i] = outcome.thread.clone();
            threads.extend(outcome.started.iter().cloned().map(Some));
            if let After::Runs(after) = &outcome.after {
                memory = after.clone();
            }
            run.moves.push((i, outcome));
        }
        Some(run)
    }

    /// A run of the interpreter by random choices, for comparison with compiled programs.
    pub fn random(program: &Program, most: usize, mut choose: impl FnMut(usize) -> usize) -> Run {
        let Start::One(first) = program.start else { return Run::default() };
        let mut threads = vec![Some(start(program, first, &[], 0))];
        let mut memory = Arc::new(initial_memory(program));
        let mut run = Run { first: vec![first], ..Run::default() };
        for _ in 0..most {
            let mut choices = Vec::new();
            for (i, t) in threads.iter().enumerate() {
                if let Some(t) = t {
                    let outcomes = step_in_detail(program, &memory, t).outcomes;
                    choices.extend(outcomes.into_iter().map(|o| (i, o)));
                }
            }
            if choices.is_empty() {
                break;
            }
            let (i, outcome) = choices.swap_remove(choose(choices.len()) % choices.len());
            let After::Runs(after) = &outcome.after else { break };
            memory = after.clone();
            threads[i] = outcome.thread.clone();
            threads.extend(outcome.started.iter().cloned().map(Some));
            run.values.push(values(program, &memory));
            run.moves.push((i, outcome));
        }
        let ends = threads.iter().enumerate();
        run.ends = ends.filter_map(|(i, t)| t.as_ref().map(|t| (i, t.point()))).collect();
        run
    }
}

/// The thread in front of the access that a race is about, which one of its next steps makes.
fn racing(thread: usize, outcomes: &[Outcome], is_it: impl Fn(&Touch) -> bool) -> Option<Racing> {
    outcomes.iter().find_map(|outcome| {
        let touch = *outcome.touches.iter().find(|t| is_it(t))?;
        Some(Racing { thread, touch, events: outcome.events.clone() })
    })
}

/// The values of variables whose bytes mean the same in the compiled program: no pointers, and
/// nothing of the C library.
fn values(program: &Program, memory: &Memory) -> Vec<(String, Int, i64)> {
    let mut found = Vec::new();
    for o in program.objects.iter().filter(|o| o.global && !o.library) {
        for (offset, at, suffix) in o.parts.iter().take(16) {
            let from = o.base + *offset as usize;
            let Some(bytes) = memory.fixed.range(from..from + at.size as usize) else { continue };
            if at.size == 8 && !at.signed && !at.float || bytes.iter().any(|&b| b >= OPEN) {
                continue;
            }
            let v = at.wrap(bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b)));
            found.push((format!("{}{suffix}", o.name), *at, v));
        }
    }
    found
}
