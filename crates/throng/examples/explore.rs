//! Your own exploration algorithm, on every input: the `explore` of IJIT's figure 4.
//!
//! The paper shows an algorithm for transition systems and what has to change so that it runs on
//! Boolean programs. Here nothing has to: [`explore`] is written against the model, and a `.tts`, a
//! `.bp` or a net is a model. No program is translated first; `image` executes the statements of a
//! program when it is called.
//!
//! `cargo run --example explore [FILE [THREADS]]`

#![allow(clippy::print_stdout)]

use std::collections::{HashSet, VecDeque};

use throng::model::problem::Problem;
use throng::model::{Config, semantics};
use throng::{Error, Input, Job};

/// A reachable configuration that is bad, and how many configurations were seen. `threads` is how
/// many there are at most.
pub fn explore(problem: &Problem, threads: u32) -> (Option<Config>, usize) {
    let image = |tau: &Config| {
        let mut found = Vec::new();
        semantics::successors(&*problem.model, tau, Some(threads), &mut found).expect("few threads");
        found.into_iter().map(|(_, next)| next)
    };
    let is_final = |tau: &Config| problem.targets.iter().any(|t| t.is_hit(tau, &*problem.model));

    let initial = problem.initial.iter().flat_map(|family| (0..=threads).flat_map(|n| family.of_size(n)));
    let mut unexplored: VecDeque<Config> = initial.collect();
    let mut explored: HashSet<Config> = unexplored.iter().cloned().collect();
    while let Some(tau) = unexplored.pop_front() {
        if is_final(&tau) {
            return (Some(tau), explored.len());
        }
        for next in image(&tau) {
            if explored.insert(next.clone()) {
                unexplored.push_back(next);
            }
        }
    }
    (None, explored.len())
}

/// What [`explore`] says about a file.
pub fn run(file: &str, threads: u32) -> Result<String, Error> {
    let job = Job::new(&Input::open(file)?);
    let problem = &job.prepare()?.problem;
    Ok(match explore(problem, threads) {
        (Some(bad), seen) => {
            format!("{file}: found {} after {seen} configurations", bad.describe(&*problem.model))
        }
        (None, seen) => format!("{file}: not found among {seen} configurations of {threads} threads"),
    })
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next();
    let threads = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(3);
    match file {
        Some(file) => println!("{}", run(&file, threads)?),
        None => {
            for file in ["examples/winner.tts", "examples/spinlock.bp", "examples/spinlock-broken.bp"] {
                println!("{}", run(file, threads)?);
            }
        }
    }
    Ok(())
}
