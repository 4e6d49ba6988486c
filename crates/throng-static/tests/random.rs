//! Random programs with threads, locks, pointers, allocated memory and joins: what the analysis
//! calls free of races is so for up to four threads, as exhaustive search finds.
//!
//! `CASES=5000 SEED=1 cargo test --release -p throng-static --test random -- --nocapture` looks at
//! more of them.

#![allow(clippy::print_stderr)]

mod common;

use common::programs::{counts, loops, program};
use common::{DECLARATIONS, Word, exhaustive, word};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn what_is_called_free_of_races_has_none() {
    compare(150, &program);
}

#[test]
fn loops_that_are_called_free_of_races_have_none() {
    compare(150, &loops);
}

#[test]
fn counts_that_are_called_free_of_races_have_none() {
    compare(150, &counts);
}

fn compare(cases: u64, program: &dyn Fn(u64) -> String) {
    let (cases, seed) = (number("CASES").unwrap_or(cases), number("SEED").unwrap_or(0));
    let (mut safe, mut racy, mut missed) = (0, 0, 0);
    for n in seed..seed + cases {
        let text = program(n);
        let said = word(&text);
        if said == Word::Open {
            continue;
        }
        let Some(found) = exhaustive(&text, 150_000) else { continue };
        racy += u64::from(found);
        safe += u64::from(said == Word::Safe);
        missed += u64::from(said == Word::Possible && !found);
        assert!(!(found && said == Word::Safe), "seed {n}: called safe\n{DECLARATIONS}\n{text}");
    }
    eprintln!("{cases} programs: {safe} called free of races, {racy} with a race, {missed} with none found");
    assert!(safe * 10 > cases && racy * 10 > cases, "{safe} and {racy} of {cases}");
}
