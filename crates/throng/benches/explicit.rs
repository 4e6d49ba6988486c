//! How fast the explicit engine stores configurations, and how much memory they take.
//!
//! `cargo bench --bench explicit [-- JOBS]`. Two generated families: threads that pass a token
//! around a ring of local states (many configurations per thread state), and threads with many
//! shared states (few).

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use throng_engine::Silent;
use throng_engine::explicit::explore;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Initial, Problem};
use throng_model::table::{Names, Table, thread_step};
use throng_model::{Bag, Local, Place, Shared};

/// Threads walk around `locals` states; each step also moves a shared counter of `shared` values
/// on.
fn ring(shared: u64, locals: u64, threads: u32) -> Problem {
    let mut table = Table::new(Names::Numbers(shared), Names::Numbers(locals));
    for s in 0..shared {
        for l in 0..locals {
            table.add(thread_step(s, l, (s + l % 2) % shared, (l + 1) % locals), vec![], Place::default());
            if l % 3 == 0 {
                table.add(thread_step(s, l, s, (l + 2) % locals), vec![], Place::default());
            }
        }
    }
    let at_start = Bag::from_iter([(Local(0), threads)]);
    Problem {
        model: Arc::new(table),
        initial: vec![Initial { shared: Shared(0), threads: at_start, any: vec![] }],
        initial_text: format!("{threads} threads at 0"),
        targets: vec![],
        bound: Bound::Threads(threads),
    }
}

/// Nanoseconds this thread has spent on a processor, where the system says so: with other work on
/// the machine, that is more telling than the time that has passed.
fn on_cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Prints the best of three.
fn measure(name: &str, problem: &Problem, jobs: usize) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    let limits = Limits::none();
    let mut last = None;
    for _ in 0..3 {
        drop(last.take());
        let (start, cpu) = (Instant::now(), on_cpu());
        let Ok(explored) = explore(problem, jobs, &limits, &Silent) else {
            return println!("{name}: no answer");
        };
        let seconds = start.elapsed().as_secs_f64();
        let cpu = cpu.zip(on_cpu()).map_or(seconds, |(from, to)| (to - from) / 1e9);
        best = (best.0.min(seconds), best.1.min(cpu));
        last = Some(explored);
    }
    let Some(explored) = last else { return };
    let memory = explored.footprint();
    let n = memory.configurations as f64;
    println!(
        "{name:<33} jobs {jobs}: {n:>8} configurations, {:>5.2} M/s ({:>5.2} M per CPU second of one thread), \
         {:>5.1} M steps/s, {:>4.1} bytes packed + {:>4.1} bookkeeping each",
        n / best.0 / 1e6,
        n / best.1 / 1e6,
        explored.steps() as f64 / best.0 / 1e6,
        memory.packed as f64 / n,
        memory.bookkeeping as f64 / n,
    );
}

fn main() {
    let jobs: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let jobs = if jobs.is_empty() { vec![1, 2] } else { jobs };
    for &jobs in &jobs {
        measure("2 shared, 8 locals, 12 threads", &ring(2, 8, 12), jobs);
        measure("2 shared, 8 locals, 20 threads", &ring(2, 8, 20), jobs);
        measure("4 shared, 16 locals, 8 threads", &ring(4, 16, 8), jobs);
        measure("200 shared, 40 locals, 3 threads", &ring(200, 40, 3), jobs);
    }
}
