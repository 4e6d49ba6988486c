//! `karp-miller` on the public corpus: expected verdicts, all evidence checked.
//!
//! The ignored tests print tables:
//! `cargo test --release -p throng-dev --test corpus karp_miller -- --ignored --nocapture`;
//! `THRONG_SECONDS` is the time for each instance, `THRONG_FAMILY` restricts them to paths that
//! contain it.

#![allow(clippy::print_stderr)] // tables, what was skipped, and how much was run

use throng_dev::harness as common;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Row, manifest, own_corpus, pose, public_corpus};
use throng_check::rules::check;
use throng_engine::karp_miller::{KarpMiller, Order};
use throng_engine::{Algorithm, Answer, Silent};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Verdict};

/// One net assigns a variable twice in a rule, which is refused.
const UNREADABLE: &str = "queuedbusyflag.spec";

/// What came of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Safe,
    Unsafe,
    /// No time, or no memory.
    Open,
    /// Not for this engine.
    Refused,
}

fn seconds(default: u64) -> u64 {
    std::env::var("THRONG_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

fn limits(seconds: u64) -> Limits {
    Limits::none().timeout(Duration::from_secs(seconds)).memory(6 << 30)
}

fn outcome(answer: &Answer) -> Outcome {
    let any = |test: fn(&Verdict) -> bool| answer.verdicts.iter().any(test);
    if any(|v| matches!(v, Verdict::Unsafe(_))) {
        Outcome::Unsafe
    } else if any(|v| matches!(v, Verdict::Unknown(Unknown::NotForThisModel(_)))) {
        Outcome::Refused
    } else if any(|v| matches!(v, Verdict::Unknown(_))) {
        Outcome::Open
    } else {
        Outcome::Safe
    }
}

/// Runs a question and checks all evidence.
fn run(engine: &KarpMiller, problem: &Problem, seconds: u64, name: &str) -> (Outcome, Answer, Duration) {
    let begin = Instant::now();
    let answer = engine.run(problem, &limits(seconds), &Silent);
    let time = begin.elapsed();
    for (target, verdict) in problem.targets.iter().zip(&answer.verdicts) {
        check(problem, target, verdict).unwrap_or_else(|flaw| panic!("{name}: {flaw}"));
    }
    (outcome(&answer), answer, time)
}

/// Returns whether a verdict contradicts the expected one. Rows for at most three threads say
/// something about any number only if unsafe.
fn contradicts(row: &Row, got: Outcome) -> bool {
    let bounded = row.initial.contains("at most");
    match got {
        Outcome::Safe => row.expected == "unsafe",
        Outcome::Unsafe => row.expected == "safe" && !bounded,
        Outcome::Open | Outcome::Refused => false,
    }
}

fn family(row: &Row) -> String {
    row.path.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// Questions to ask; rows that differ only in the bound are asked once.
fn questions(corpus: &Path) -> Vec<Row> {
    let part = std::env::var("THRONG_FAMILY").unwrap_or_default();
    manifest(corpus).into_iter().filter(|r| r.path.contains(&part) && !r.path.ends_with(UNREADABLE)).collect()
}

/// What is answered with little work is as expected: how many were answered, how many are open, for
/// how many it is not made.
fn quick(corpus: &Path, every: usize) -> (usize, usize, usize) {
    let (mut answered, mut refused, mut open) = (0, 0, 0);
    for row in questions(corpus).into_iter().step_by(every) {
        let problem = pose(corpus, &row, None);
        // What takes longer is left to the tables below.
        let answer = KarpMiller::default().run(&problem, &Limits::none().work(1 << 20), &Silent);
        let got = outcome(&answer);
        match got {
            Outcome::Refused => refused += 1,
            Outcome::Open => open += 1,
            Outcome::Safe | Outcome::Unsafe => answered += 1,
        }
        assert!(!contradicts(&row, got), "{}: {got:?}", row.path);
        for (target, verdict) in problem.targets.iter().zip(&answer.verdicts) {
            if matches!(verdict, Verdict::Unsafe(_)) || answer.statistics.configurations < 300 {
                check(&problem, target, verdict).unwrap_or_else(|flaw| panic!("{}: {flaw}", row.path));
            }
        }
    }
    (answered, open, refused)
}

#[test]
fn whatever_is_answered_quickly_in_the_own_corpus_is_as_expected() {
    let (answered, open, refused) = quick(&own_corpus(), 1);
    assert!(answered >= 12, "{answered} answered, {open} open, {refused} not for this engine");
}

/// One question in three, so that it ends within a minute or two.
#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn whatever_is_answered_quickly_in_the_public_corpus_is_as_expected() {
    let (answered, open, refused) = quick(&public_corpus(), 3);
    eprintln!("{answered} answered, {open} open, {refused} not for this engine");
    assert!(answered > 50);
}

#[test]
#[ignore = "prints a table; takes long"]
fn table_per_family() {
    let corpus = public_corpus();
    let mut table: BTreeMap<String, [u64; 6]> = BTreeMap::new();
    for row in questions(&corpus) {
        let problem = pose(&corpus, &row, None);
        let (got, answer, time) = run(&KarpMiller::default(), &problem, seconds(20), &row.path);
        let tree = answer.statistics.tree.clone().unwrap_or_default();
        let occupied = answer.statistics.occupied.unwrap_or_default();
        let (threads, length) = answer
            .verdicts
            .iter()
            .find_map(|v| match v {
                Verdict::Unsafe(trace) => Some((trace.threads(), trace.steps.len())),
                Verdict::Safe(_) | Verdict::Unknown(_) => None,
            })
            .unwrap_or_default();
        eprintln!(
            "row,{},{},{},{got:?},{:.3},{},{},{},{:.1},{},{threads},{length}",
            row.path,
            row.initial.replace(',', " "),
            row.expected,
            time.as_secs_f64(),
            tree.nodes,
            tree.antichain,
            tree.accelerations,
            occupied.average(),
            occupied.most,
        );
        let counts = table.entry(family(&row)).or_default();
        counts[0] += 1;
        match got {
            Outcome::Safe => counts[1] += 1,
            Outcome::Unsafe => counts[2] += 1,
            Outcome::Open => counts[3] += 1,
            Outcome::Refused => counts[4] += 1,
        }
        if contradicts(&row, got) {
            counts[5] += 1;
            eprintln!("WRONG {} {got:?}, expected {}", row.path, row.expected);
        }
    }
    eprintln!("family                rows  safe unsafe  open refused wrong");
    for (family, c) in &table {
        eprintln!("{family:20} {:5} {:5} {:6} {:5} {:7} {:5}", c[0], c[1], c[2], c[3], c[4], c[5]);
    }
    assert!(table.values().all(|c| c[5] == 0), "wrong verdicts");
}

#[test]
#[ignore = "prints a table; takes long"]
fn table_of_optimisations() {
    let corpus = public_corpus();
    let default = KarpMiller::default;
    let star = KarpMiller { order: Order::DepthFirst, ..default() };
    let engines = [
        ("all, one by one", default()),
        ("STAR's order", star.clone()),
        ("breadth first", KarpMiller { order: Order::BreadthFirst, ..default() }),
        ("covered nodes go on", KarpMiller { drop_covered: false, ..default() }),
        ("STAR, covered go on", KarpMiller { drop_covered: false, ..star.clone() }),
        ("any shared first", KarpMiller { same_shared_first: false, ..default() }),
        ("all ancestors", KarpMiller { minimal_ancestors: false, ..default() }),
        ("STAR, no pruning", KarpMiller { prune: false, drop_covered: false, ..star }),
    ];
    let mut totals: Vec<(u64, f64, u64, f64)> = vec![Default::default(); engines.len()];
    for row in questions(&corpus) {
        let problem = pose(&corpus, &row, None);
        let runs: Vec<_> = engines
            .iter()
            .map(|(_, engine)| {
                let begin = Instant::now();
                let done = engine.coverability(&problem, &limits(seconds(5)), &Silent);
                done.ok().map(|c| (c.statistics.configurations, begin.elapsed().as_secs_f64()))
            })
            .collect();
        // Ratios over the instances that both finish.
        let Some(base) = runs[0] else { continue };
        for (run, total) in runs.iter().zip(&mut totals) {
            if let Some((nodes, time)) = run {
                total.0 += 1;
                total.1 += (*nodes as f64 / base.0.max(1) as f64).ln();
                total.2 += nodes;
                total.3 += time;
            }
        }
        let nodes: Vec<String> = runs.iter().map(|r| r.map_or("-".into(), |r| r.0.to_string())).collect();
        eprintln!("row,{},{}", row.path, nodes.join(","));
    }
    eprintln!("variant               finished  nodes (geometric mean ratio)  nodes  seconds");
    for ((name, _), t) in engines.iter().zip(&totals) {
        eprintln!("{name:20} {:9} {:10.2} {:10} {:8.1}", t.0, (t.1 / t.0.max(1) as f64).exp(), t.2, t.3);
    }
}
