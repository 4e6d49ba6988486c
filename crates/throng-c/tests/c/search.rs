//! A plain breadth-first search, so that tests of the reader need no engine.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use throng_model::problem::Problem;
use throng_model::verdict::{Taken, Trace};
use throng_model::{Config, Step, semantics};

/// What a search found.
#[derive(Debug)]
#[allow(dead_code, reason = "some tests only print what is inside")]
pub enum Found {
    /// A violation, after so many configurations, and the run into it.
    Unsafe(usize, Box<Trace>),
    /// None, in so many configurations.
    Safe(usize),
    /// None, but not everything was tried.
    Incomplete(String),
    /// Time or room was up.
    Unfinished(usize),
}

/// Breadth-first search with at most `threads` threads.
pub fn search(problem: &Problem, threads: u32, most: usize, time: Duration) -> Found {
    let begun = Instant::now();
    let mut seen: HashMap<Config, Option<(Config, Step)>> = HashMap::new();
    let mut queue: VecDeque<Config> = VecDeque::new();
    let model = &*problem.model;
    for initial in &problem.initial {
        for size in 1..=threads {
            queue.extend(initial.of_size(size));
        }
    }
    seen.extend(queue.iter().map(|c| (c.clone(), None)));
    let mut complete = Ok(());
    let mut out = Vec::new();
    while let Some(config) = queue.pop_front() {
        if problem.targets.iter().any(|t| t.is_hit(&config, model)) {
            return Found::Unsafe(seen.len(), Box::new(trace(&seen, config)));
        }
        if seen.len() > most || begun.elapsed() > time {
            return Found::Unfinished(seen.len());
        }
        out.clear();
        complete = semantics::successors(model, &config, Some(threads), &mut out);
        for (step, next) in out.drain(..) {
            if !seen.contains_key(&next) {
                seen.insert(next.clone(), Some((config.clone(), step)));
                queue.push_back(next);
            }
        }
    }
    match complete {
        Ok(()) => Found::Safe(seen.len()),
        Err(why) => Found::Incomplete(format!("{why} ({} configurations)", seen.len())),
    }
}

fn trace(seen: &HashMap<Config, Option<(Config, Step)>>, mut config: Config) -> Trace {
    let mut steps = Vec::new();
    while let Some((before, step)) = &seen[&config] {
        steps.push(Taken { step: step.clone(), after: config.clone() });
        config = before.clone();
    }
    steps.reverse();
    Trace { start: config, steps }
}
