//! The examples, and what tests do with inputs: read, pose, hunt.

#![allow(dead_code)] // no test uses all of it

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Rng;
use throng_check::rules::check;
use throng_engine::explicit::Explicit;
use throng_engine::{Algorithm, Silent};
use throng_lang::load::{Loaded, Reading, load};
use throng_lang::question::Question;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Trace, Verdict};
use throng_model::{Config, Model, semantics};

/// Every example that is an input, sorted.
pub fn examples() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let folder = Path::new(crate::ROOT).join("examples");
    files(&folder, &mut found);
    // Those of the chapter on modelling have a test of their own.
    found.retain(|path| path.parent() == Some(&folder));
    found.retain(|path| extension(path) != "rs"); // those are run by crates/throng-dev/tests/engines/rust_examples.rs
    assert!(found.len() >= 17, "the examples are there");
    found
}

/// Every file below a folder, sorted.
pub fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            files(&entry, found);
        } else {
            found.push(entry);
        }
    }
    found.sort();
}

/// Returns the extension of a file name.
pub fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default()
}

/// Reads a file that must be accepted.
pub fn loaded(path: &Path) -> Loaded {
    load(path, &Reading::default()).unwrap_or_else(|r| panic!("{}: {:?}", path.display(), r.diagnostics))
}

/// The question that a file asks.
pub fn pose(path: &Path, threads: Option<u32>) -> Problem {
    let question = Question { threads, may_lack_target: true, ..Question::default() };
    let posed = question.pose(&loaded(path), path);
    posed.unwrap_or_else(|c| panic!("{}: {c:?}", path.display())).problem
}

/// Searches explicitly for each target with up to `most` threads: a run, or `None`.
/// Evidence is checked. `Err` if time is up.
pub fn hunt(problem: &Problem, most: u32, work: u64) -> Result<Vec<Option<Trace>>, String> {
    let engine = Explicit { max_threads: Some(most), ..Explicit::default() };
    let answer = engine.run(problem, &Limits::none().work(work), &Silent);
    let mut found = Vec::new();
    for (target, verdict) in problem.targets.iter().zip(answer.verdicts) {
        check(problem, target, &verdict).unwrap_or_else(|flaw| panic!("{}: {flaw}", target.name));
        match verdict {
            Verdict::Unsafe(trace) => found.push(Some(trace)),
            Verdict::Safe(_) | Verdict::Unknown(throng_model::verdict::Unknown::Bound(_)) => found.push(None),
            Verdict::Unknown(why) => return Err(why.to_string()),
        }
    }
    Ok(found)
}

/// Some configurations that can be reached: the smallest initial ones and what a few random walks
/// of a few threads meet.
pub fn walk(problem: &Problem, rng: &mut Rng, walks: usize, steps: usize) -> Vec<Config> {
    let model: &dyn Model = &*problem.model;
    let bound = Some(problem.bound.threads().unwrap_or(4));
    let mut found: Vec<Config> = Vec::new();
    let mut starts: Vec<Config> = Vec::new();
    for family in &problem.initial {
        let least = family.threads.size();
        starts.extend((least..least + 3).flat_map(|n| family.of_size(n)).take(20));
    }
    let bound = if problem.bound == Bound::Any { None } else { bound };
    for i in 0..walks {
        let Some(mut now) = starts.get(i % starts.len().max(1)).cloned() else { break };
        for _ in 0..steps {
            let mut after = Vec::new();
            semantics::successors(model, &now, bound, &mut after).expect("few threads");
            after.retain(|(_, c)| c.threads.size() <= least_of(problem) + 6);
            found.push(now.clone());
            if after.is_empty() {
                break;
            }
            now = after.swap_remove(rng.below(after.len() as u64) as usize).1;
        }
        found.push(now);
    }
    found.sort();
    found.dedup();
    found
}

fn least_of(problem: &Problem) -> u32 {
    problem.initial.iter().map(|f| f.threads.size()).max().unwrap_or(0)
}
