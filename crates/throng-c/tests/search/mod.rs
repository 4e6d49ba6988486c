//! A plain breadth-first search, so that tests of the reader need no engine.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use throng_model::problem::Problem;
use throng_model::{Config, semantics};

/// What a search found.
#[derive(Debug)]
#[allow(dead_code, reason = "some tests only print what is inside")]
pub enum Found {
    /// A violation, after so many configurations.
    Unsafe(usize),
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
    let mut seen: HashSet<Config> = HashSet::new();
    let mut queue: VecDeque<Config> = VecDeque::new();
    let model = &*problem.model;
    for initial in &problem.initial {
        queue.push_back(Config::new(initial.shared, initial.threads.clone()));
    }
    seen.extend(queue.iter().cloned());
    let mut complete = Ok(());
    let mut out = Vec::new();
    while let Some(config) = queue.pop_front() {
        if problem.targets.iter().any(|t| t.is_hit(&config, model)) {
            return Found::Unsafe(seen.len());
        }
        if seen.len() > most || begun.elapsed() > time {
            return Found::Unfinished(seen.len());
        }
        out.clear();
        complete = semantics::successors(model, &config, Some(threads), &mut out);
        for (_, next) in out.drain(..) {
            if seen.insert(next.clone()) {
                queue.push_back(next);
            }
        }
    }
    match complete {
        Ok(()) => Found::Safe(seen.len()),
        Err(why) => Found::Incomplete(format!("{why} ({} configurations)", seen.len())),
    }
}
