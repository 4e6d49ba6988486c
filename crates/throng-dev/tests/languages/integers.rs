//! Random programs with numbers, enumerations and arrays: engines, which see bits, against a search
//! with integers; and the bits that are written as a program.

use std::time::Duration;

use throng::{Bound, Engine, Format, Input, Job, Limits, Start, Status};
use throng_dev::Rng;
use throng_dev::integers::{Program, generate};
use throng_lang::bp::lower::{lower, plain::plain};
use throng_lang::bp::{parser, printer};

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// Asks an engine about a program with exactly this many threads, or any number of them.
fn answer(text: &str, threads: Option<u32>, engine: Engine) -> (Status, Option<u32>) {
    let input = Input::from_text(text, Format::Bp).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let mut job = Job::new(&input);
    job = match threads {
        Some(n) => job.start(Start::Threads(n)).threads(Bound::Threads(n)),
        None => job.start(Start::AnyNumber),
    };
    let limits = Limits::none().timeout(Duration::from_secs(600));
    let outcome = job.check(engine, &limits).unwrap_or_else(|why| panic!("{why}\n{text}"));
    (outcome.status(), outcome.trace().map(|trace| trace.threads()))
}

/// Returns whether the reader takes the program: some mix truth values and numbers in ways that it
/// refuses.
fn is_read(text: &str) -> bool {
    Input::from_text(text, Format::Bp).is_ok()
}

fn compare(program: &Program, threads: usize) -> Option<bool> {
    let violated = program.is_violated(threads, 100_000)?;
    let text = &program.text;
    let expected = if violated { Status::Unsafe } else { Status::Safe };
    for engine in [Engine::Explicit, Engine::Auto] {
        let (status, _) = answer(text, Some(threads as u32), engine);
        assert_eq!(status, expected, "{threads} threads, {engine:?}\n{text}");
    }
    let bits = printer::print(&plain(lower(&parser::parse(text).0).0.tree));
    let (status, _) = answer(&bits, Some(threads as u32), Engine::Explicit);
    assert_eq!(status, expected, "{threads} threads, as bits\n{text}\n{bits}");
    Some(violated)
}

#[test]
#[allow(clippy::print_stdout)]
fn engines_agree_with_integers() {
    let (count, seed) = (number("THRONG_RANDOM", 150), number("THRONG_SEED", 1));
    let (mut compared, mut violated, mut any) = (0, 0, 0);
    for seed in seed..seed + count {
        let program = generate(&mut Rng::new(seed));
        if !is_read(&program.text) {
            continue;
        }
        let found: Vec<Option<bool>> = (1..=2).map(|threads| compare(&program, threads)).collect();
        compared += found.iter().flatten().count();
        violated += usize::from(found.contains(&Some(true)));
        match answer(&program.text, None, Engine::Auto) {
            (Status::Safe, _) => assert!(!found.contains(&Some(true)), "seed {seed}\n{}", program.text),
            (Status::Unsafe, Some(threads @ 1..=2)) => {
                assert_ne!(found[threads as usize - 1], Some(false), "seed {seed}\n{}", program.text)
            }
            (Status::Unsafe, _) => {}
            (Status::Unknown, _) => continue,
        }
        any += 1;
    }
    println!(
        "{compared} questions about {count} programs, {violated} of them unsafe, {any} decided for any number of threads"
    );
    assert!(
        compared as u64 > count && violated > 10 && any as u64 > count / 2,
        "{compared} {violated} {any}"
    );
}
