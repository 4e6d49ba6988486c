//! Compares algorithms written by hand for Boolean programs with the engines, just in time and on a
//! table (IJIT, section 5), and exploring with counters with exploring without (Boom, section 7).
//!
//! `by_hand FILE.bp …` writes a line for each program: configurations and milliseconds of processor
//! time of this thread. `--constants SEED` replaces every `*` of an expression by a constant first.

#![allow(clippy::print_stdout)] // a table is what it is for

use std::fs;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use throng_dev::Rng;
use throng_dev::by_hand::{ByHand, Counts, explicit, karp_miller};
use throng_engine::explicit::Explicit;
use throng_engine::karp_miller::KarpMiller;
use throng_engine::{Algorithm, Silent};
use throng_lang::bp::lexer::Lexer;
use throng_lang::bp::{self, Jit};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::unfold::unfold;

/// Number of configurations, or of nodes, at which an algorithm written by hand gives up.
const MOST: usize = 400_000;

/// Processor time of this thread so far; where that cannot be asked for, time.
fn now() -> Duration {
    #[cfg(unix)]
    {
        use nix::time::{ClockId, clock_gettime};
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
    }
    #[cfg(not(unix))]
    {
        std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
    }
}

/// How long a call takes.
fn timed<T>(call: impl FnOnce() -> T) -> (T, Duration) {
    let began = now();
    let found = call();
    (found, now().saturating_sub(began))
}

fn main() {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let mut seed = None;
    if files.first().is_some_and(|first| first == "--constants") {
        seed = files.get(1).and_then(|n| n.parse().ok());
        files.drain(..files.len().min(2));
    }
    println!("file\twhat\tby hand\tms by hand\tms just in time\tms table\tstored\tuncounted\tms uncounted");
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        let text = seed.map_or(text.clone(), |seed| determined(&text, seed));
        let Some(jit) = bp::read(&text, &bp::Options::default()).0.map(Arc::new) else { continue };
        if let Some(by_hand) = ByHand::new(&jit) {
            compare(&file, &jit, &by_hand);
        }
    }
}

/// What an engine may take.
fn patience() -> Limits {
    Limits::none().timeout(Duration::from_secs(60))
}

/// Replaces every `*` in an expression by 0 or 1.
fn determined(text: &str, seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut out = text.to_string();
    let mut lexer = Lexer::new(text);
    let mut spans: Vec<Range<usize>> = Vec::new();
    loop {
        let span = lexer.token().span.range();
        if span.start >= text.len() || span.is_empty() {
            break;
        }
        spans.push(span);
    }
    for span in spans.into_iter().rev().filter(|span| &text[span.clone()] == "*") {
        out.replace_range(span, ["0", "1"][rng.index(2)]);
    }
    out
}

fn problem(jit: &Arc<Jit>, bound: Bound) -> Problem {
    let initial = vec![jit.initial(None)];
    // Nothing covers it, so that everything is explored.
    let targets = vec![Target::covering("nothing", Vec::new())];
    Problem { model: jit.clone(), initial, initial_text: String::new(), targets, bound }
}

fn compare(file: &str, jit: &Arc<Jit>, by_hand: &ByHand<'_>) {
    for threads in 1..=4 {
        let (counted, hand) = timed(|| explicit(by_hand, threads, true, MOST));
        let Some(Counts { configurations, .. }) = counted else { break };
        let (plain, plain_time) = timed(|| explicit(by_hand, threads, false, MOST));
        let engine = Explicit { por: false, ..Explicit::default() };
        let problem = problem(jit, Bound::Threads(threads as u32));
        let limits = patience();
        let (answer, jit_time) = timed(|| engine.run(&problem, &limits, &Silent));
        let ((), table) = timed(|| {
            if let Ok(table) = unfold(&problem, &limits) {
                let model = Arc::new(table.table);
                let unfolded = Problem { model, initial: table.initial, ..problem.clone() };
                drop(engine.run(&unfolded, &limits, &Silent));
            }
        });
        let plain = plain.map_or("-".to_string(), |c| c.configurations.to_string());
        line(file, &format!("explicit {threads}"), configurations, [hand, jit_time, table]);
        let stored = answer.statistics.configurations;
        println!("\t{stored}\t{plain}\t{:.1}", plain_time.as_secs_f64() * 1e3);
    }
    let (found, hand) = timed(|| karp_miller(by_hand, MOST));
    let Some(Counts { configurations, .. }) = found else { return };
    let (problem, limits) = (problem(jit, Bound::Any), patience());
    let engine = KarpMiller::default();
    let ((), jit_time) = timed(|| drop(engine.coverability(&problem, &limits, &Silent)));
    let ((), table) = timed(|| {
        if let Ok(table) = unfold(&problem, &limits) {
            let model = Arc::new(table.table);
            let unfolded = Problem { model, initial: table.initial, ..problem.clone() };
            drop(engine.coverability(&unfolded, &limits, &Silent));
        }
    });
    line(file, "karp-miller", configurations, [hand, jit_time, table]);
    println!("\t-\t-\t-");
}

fn line(file: &str, what: &str, configurations: usize, times: [Duration; 3]) {
    let [hand, jit, table] = times.map(|t| t.as_secs_f64() * 1e3);
    print!("{file}\t{what}\t{configurations}\t{hand:.1}\t{jit:.1}\t{table:.1}");
}
