//! Random Rust functions, compiled natively and executed as goto programs: the values are the same.
//!
//! `NATIVE_PROGRAMS=200 NATIVE_FIRST=1000 cargo test -p throng-llvm --test native -- --nocapture` compares
//! more of them.

#![allow(clippy::print_stderr)]

mod native {
    pub mod compile;
    pub mod execute;
    pub mod generate;
}

use native::compile::{Level, compiled_text, native_values, rustc};
use native::execute::{Ended, execute};
use native::generate::program;

/// Functions in one program.
const FUNCTIONS: usize = 30;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Returns the text of a function.
fn function(text: &str, k: usize) -> &str {
    let rest = text.split_once(&format!("fn f{k}()")).map_or("", |(_, rest)| rest);
    rest.split("#[inline(never)]").next().unwrap_or_default()
}

#[test]
fn values_are_those_of_the_compiled_program() {
    if rustc().is_none() {
        eprintln!("ignored: there is no rustc");
        return;
    }
    let (count, first) = (setting("NATIVE_PROGRAMS", 2), setting("NATIVE_FIRST", 1));
    let (mut compared, mut refused) = (0, 0);
    for seed in first..first + count {
        let text = program(seed, FUNCTIONS);
        let expected = native_values(&text, seed);
        for level in Level::ALL {
            let module = compiled_text(&text, seed, level);
            match execute(&module, "run", "OUT") {
                Ended::Values(found) => {
                    for (k, (a, b)) in expected.iter().zip(&found).enumerate() {
                        assert_eq!(a, b, "seed {seed}, {level:?}:\n{}", function(&text, k));
                    }
                    compared += found.len();
                }
                // Optimised code has vectors, and computes what is not used with what has no value.
                Ended::Refused(why) if level == Level::Optimised => {
                    eprintln!("seed {seed}, {level:?}: {why}");
                    refused += 1;
                }
                Ended::Refused(why) => panic!("seed {seed}, {level:?}: {why}"),
            }
        }
    }
    eprintln!("{compared} values compared, {refused} programs refused");
    assert!(compared as u64 >= count * 2 * FUNCTIONS as u64);
}
