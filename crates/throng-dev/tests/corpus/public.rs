//! The public corpus, where it is at hand: every file is read, and what the explicit engine answers is what is expected.

#![allow(clippy::print_stderr)] // what was skipped, and how much was run

use std::time::Duration;

use throng::engine::explicit::Explicit;
use throng::engine::symbolic::Symbolic;
use throng::engine::{Engine, Silent};
use throng_check::rules::check;
use throng_model::concrete::concretise;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::Verdict;

use throng_dev::harness as common;

use common::{corpus, manifest, pose, try_pose};

/// Runs a row; all evidence is checked. `None` if nothing was found out in time.
fn answer(problem: &Problem, seconds: u64, max_threads: Option<u32>, name: &str) -> Option<&'static str> {
    let engine = Explicit { max_threads, stop_at_first: true, ..Explicit::default() };
    answer_of(&engine, problem, seconds, name)
}

fn answer_of(engine: &dyn Engine, problem: &Problem, seconds: u64, name: &str) -> Option<&'static str> {
    let limits = Limits::none().timeout(Duration::from_secs(seconds));
    let answer = engine.run(problem, &limits, &Silent);
    for (target, verdict) in problem.targets.iter().zip(&answer.verdicts) {
        check(problem, target, verdict).unwrap_or_else(|flaw| panic!("{name}: {flaw}"));
        if let Verdict::Unsafe(trace) = verdict {
            let concrete = concretise(&*problem.model, target, trace, problem.bound.threads());
            assert!(concrete.is_some(), "{name}: values can be chosen");
        }
    }
    let any = |test: fn(&Verdict) -> bool| answer.verdicts.iter().any(test);
    if any(|v| matches!(v, Verdict::Unsafe(_))) {
        Some("unsafe")
    } else if any(|v| matches!(v, Verdict::Unknown(_))) {
        None
    } else {
        Some("safe")
    }
}

#[test]
fn every_file_of_the_corpus_is_read() {
    let Some(corpus) = corpus() else { return };
    let rows = manifest(&corpus);
    let mut refused = 0;
    for row in &rows {
        if let Err(codes) = try_pose(&corpus, row, None) {
            // Reference 5.3: a net that assigns a variable twice in one rule.
            assert_eq!(codes, ["E407"], "{}", row.path);
            refused += 1;
        }
    }
    eprintln!("{} questions were read, {refused} refused for a stated reason", rows.len());
    assert!(rows.len() > 500 && refused <= 1);
}

/// Boom's programs and Boppo's, at most three threads: the verdict must be the expected one.
#[test]
fn programs_with_three_threads_answer_as_expected() {
    let Some(corpus) = corpus() else { return };
    let mut ran = 0;
    for row in manifest(&corpus) {
        if !(row.path.starts_with("bp/boom") || row.path.starts_with("bp/boppo")) {
            continue;
        }
        let problem = pose(&corpus, &row, Some(3));
        let got = answer(&problem, 60, None, &row.path);
        assert_eq!(got, Some(row.expected.as_str()), "{}", row.path);
        ran += 1;
    }
    eprintln!("{ran} programs answered as expected with at most three threads");
    assert!(ran > 200);
}

/// Hunting with one, two, three threads never contradicts the expected verdict; it says how many bugs it found.
#[test]
fn hunting_finds_the_bugs_that_need_three_threads() {
    let Some(corpus) = corpus() else { return };
    let (mut ran, mut found, mut beyond) = (0, 0, Vec::new());
    for row in manifest(&corpus) {
        if !(row.path.starts_with("tts/wahl-kroening") || row.path.starts_with("bp/satabs")) {
            continue;
        }
        let problem = pose(&corpus, &row, None);
        ran += 1;
        match answer(&problem, 60, Some(3), &row.path) {
            Some("unsafe") => {
                assert_ne!(row.expected, "safe", "{}", row.path);
                found += 1;
            }
            Some(_) => assert_ne!(row.expected, "unsafe", "{}", row.path),
            None if row.expected == "unsafe" => beyond.push(format!("{} {}", row.path, row.initial)),
            None => {}
        }
    }
    eprintln!("{ran} questions, {found} bugs found with at most three threads; not found: {beyond:#?}");
    assert!(ran > 100 && found > 80);
}

/// The symbolic engine on the same programs and on those of SATABS, at most three threads; both engines with and without reduction.
#[test]
fn symbolic_and_reduced_searches_answer_the_same() {
    let Some(corpus) = corpus() else { return };
    let every = std::env::var("THRONG_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let rows = manifest(&corpus)
        .into_iter()
        .filter(|row| ["bp/boom", "bp/boppo", "bp/satabs"].iter().any(|family| row.path.starts_with(family)));
    let (mut ran, mut open) = (0, Vec::new());
    for row in rows.step_by(every) {
        let problem = pose(&corpus, &row, Some(3));
        let engines: [(&str, Box<dyn Engine>); 4] = [
            ("explicit", Box::new(Explicit { por: false, stop_at_first: true, ..Explicit::default() })),
            ("explicit, reduced", Box::new(Explicit { stop_at_first: true, ..Explicit::default() })),
            ("symbolic", Box::new(Symbolic { por: false, stop_at_first: true, ..Symbolic::default() })),
            ("symbolic, reduced", Box::new(Symbolic { stop_at_first: true, ..Symbolic::default() })),
        ];
        let answers: Vec<_> =
            engines.iter().map(|(name, e)| (*name, answer_of(&**e, &problem, 10, &row.path))).collect();
        let mut known: Vec<&str> = answers.iter().filter_map(|a| a.1).collect();
        known.sort_unstable();
        known.dedup();
        assert!(known.len() <= 1, "{}: {answers:?}", row.path);
        open.extend(answers.iter().filter(|a| a.1.is_none()).map(|a| format!("{}: {}", row.path, a.0)));
        if row.path.starts_with("bp/boom") || row.path.starts_with("bp/boppo") {
            assert!(known.is_empty() || known == [row.expected.as_str()], "{}: {answers:?}", row.path);
        }
        ran += 1;
    }
    eprintln!("{ran} programs; out of time: {open:#?}");
}
