//! An algorithm that Throng does not ship: context-bounded search (Qadeer and Rehof 2005), against
//! the model trait.
//!
//! Most bugs need few context switches. So search only runs in which the processor goes from one
//! thread to another at most c times, for c = 0, 1, 2, …; within a context the active thread runs
//! as long as it likes. This is no proof, but it finds bugs early, and it says how many switches a
//! bug needs. It runs on programs, thread-transition systems and your own types; on nets, a token
//! that a transition puts somewhere goes on.
//!
//! `cargo run --example context_bound [FILE [THREADS [SWITCHES]]]`

#![allow(clippy::print_stdout)]

use std::collections::{HashSet, VecDeque};

use throng::model::problem::Problem;
use throng::model::{Config, Local, Model, Step, semantics};
use throng::{Error, Input, Job};

/// A configuration and whose turn it is; `None` before the first step and after the active thread
/// has ended.
type Moment = (Config, Option<Local>);

/// The fewest context switches with which at most `threads` threads reach a bad configuration, if
/// `most` are enough.
pub fn context_bound(problem: &Problem, threads: u32, most: u32) -> Option<u32> {
    let model = &*problem.model;
    let initial = problem.initial.iter().flat_map(|family| (0..=threads).flat_map(|n| family.of_size(n)));
    let mut layer: Vec<Moment> = initial.map(|config| (config, None)).collect();
    let mut seen: HashSet<Moment> = layer.iter().cloned().collect();
    for switches in 0..=most {
        let mut queue: VecDeque<Moment> = layer.drain(..).collect();
        while let Some((config, active)) = queue.pop_front() {
            if problem.targets.iter().any(|t| t.is_hit(&config, model)) {
                return Some(switches);
            }
            for next in run_on(model, &config, active, threads) {
                if seen.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
            layer.extend(active.map(|_| (config, None)));
        }
        // The next context: any thread may go on. What was there with no active thread was explored
        // in full.
        layer.retain(|moment| seen.insert(moment.clone()));
    }
    None
}

/// What one step of the active thread leads to; if there is none, any thread becomes active.
fn run_on(model: &dyn Model, config: &Config, active: Option<Local>, threads: u32) -> Vec<Moment> {
    let here = config.threads.entries().iter().map(|e| e.0);
    let mut steps: Vec<Step> = Vec::new();
    for l in here.filter(|&l| active.is_none_or(|a| a == l)) {
        model.post(config.shared, l, &mut steps).expect("a small program");
    }
    if active.is_none() {
        model.post_shared(config.shared, &mut steps).expect("a small program");
    }
    let mut found = Vec::new();
    for step in steps {
        let mut after = Vec::new();
        semantics::fire(model, config, &step, Some(threads), &mut after).expect("few threads");
        for next in after {
            match step.put.entries() {
                [] => found.push((next, None)),
                put => found.extend(put.iter().map(|e| (next.clone(), Some(e.0)))),
            }
        }
    }
    found
}

/// What [`context_bound`] says about a file.
pub fn run(file: &str, threads: u32, most: u32) -> Result<Option<u32>, Error> {
    let job = Job::new(&Input::open(file)?);
    Ok(context_bound(&job.prepare()?.problem, threads, most))
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, otherwise| arguments.get(i).and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let (threads, most) = (number(1, 3), number(2, 4));
    let shipped = ["spinlock.bp", "spinlock-broken.bp", "rwlock-broken.bp", "buffer-broken.bp"];
    let files = match arguments.first() {
        Some(file) => vec![file.clone()],
        None => shipped.iter().map(|name| format!("examples/{name}")).collect(),
    };
    for file in files {
        match run(&file, threads, most)? {
            Some(switches) => println!("{file}: {threads} threads break it with {switches} context switches"),
            None => println!("{file}: {threads} threads do not break it with {most} context switches"),
        }
    }
    Ok(())
}
