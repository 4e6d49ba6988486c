//! Programs of one thread that were not written here, through the interpreter: the test suites of
//! compilers, and random programs of Csmith, compared with what the compiled programs do.
//!
//! It has no harness, so that every run says how much it has compared, or why nothing:
//!
//! ```text
//! cargo test -p throng-c --test fidelity
//! cargo test --release -p throng-c --test fidelity -- suites [PART-OF-A-NAME …]
//! cargo test --release -p throng-c --test fidelity -- csmith --count 5000 --first 1 --keep FOLDER
//! ```
#![allow(clippy::print_stdout)]

mod answer;
mod csmith;
mod suites;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|a| a == "--list") {
        println!("suites: test\ncsmith: test");
        return ExitCode::SUCCESS;
    }
    let asked = |name: &str| {
        let first = arguments.first().filter(|a| !a.starts_with('-'));
        first.is_none_or(|a| a == name)
    };
    // A filter for other tests.
    let mut failed = false;
    if asked("suites") {
        failed |= said("suites", suites::run(arguments.get(1..).unwrap_or_default()));
    }
    if asked("csmith") {
        failed |= said("csmith", csmith::run(&arguments));
    }
    ExitCode::from(u8::from(failed))
}

/// What came of a comparison.
enum Outcome {
    /// Nothing can be compared here, for a reason.
    Ignored(&'static str),
    Passed,
    Failed(String),
}

/// Prints what came of a comparison, and returns whether it failed.
fn said(name: &str, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Ignored(why) => println!("test {name} ... ignored, {why}"),
        Outcome::Passed => println!("test {name} ... ok"),
        Outcome::Failed(why) => {
            println!("test {name} ... FAILED\n{why}");
            return true;
        }
    }
    false
}
