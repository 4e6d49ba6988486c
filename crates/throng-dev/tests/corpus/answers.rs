//! Every file of a corpus is read, and what the engines answer is what is expected.

#![allow(clippy::print_stderr)] // how much was run

use std::path::Path;
use std::time::Duration;

use throng_check::rules::check;
use throng_engine::auto::Auto;
use throng_engine::explicit::Explicit;
use throng_engine::symbolic::Symbolic;
use throng_engine::{Algorithm, Silent};
use throng_model::concrete::concretise;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::Verdict;

use throng_dev::harness as common;

use common::{Row, manifest, own_corpus, pose, public_corpus, try_pose};

/// Runs a row; all evidence is checked. `None` if nothing was found out in time.
fn answer(problem: &Problem, seconds: u64, max_threads: Option<u32>, name: &str) -> Option<&'static str> {
    let engine = Explicit { max_threads, stop_at_first: true, ..Explicit::default() };
    answer_of(&engine, problem, seconds, name)
}

fn answer_of(engine: &dyn Algorithm, problem: &Problem, seconds: u64, name: &str) -> Option<&'static str> {
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

/// How many questions were read, and how many refused.
fn read_all(corpus: &Path) -> (usize, usize) {
    let rows = manifest(corpus);
    let mut refused = 0;
    for row in &rows {
        if let Err(codes) = try_pose(corpus, row, None) {
            // Reference 5.3: a net that assigns a variable twice in one rule.
            assert_eq!(codes, ["E407"], "{}", row.path);
            refused += 1;
        }
    }
    (rows.len(), refused)
}

#[test]
fn every_file_of_the_own_corpus_is_read() {
    let (read, refused) = read_all(&own_corpus());
    assert!(read >= 20 && refused == 0);
}

#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn every_file_of_the_public_corpus_is_read() {
    let (read, refused) = read_all(&public_corpus());
    eprintln!("{read} questions were read, {refused} refused for a stated reason");
    assert!(read > 500 && refused <= 1);
}

/// The portfolio decides every question of the own corpus, about any number of threads.
#[test]
fn every_question_of_the_own_corpus_is_answered_as_expected() {
    let corpus = own_corpus();
    let kinds: Vec<String> =
        manifest(&corpus).into_iter().map(|row| format!("{} {}", row.kind, row.expected)).collect();
    for kind in ["bp", "tts", "ntts", "spec", "pnml"] {
        for expected in ["safe", "unsafe"] {
            assert!(kinds.contains(&format!("{kind} {expected}")), "no {expected} {kind}");
        }
    }
    for row in manifest(&corpus) {
        let problem = pose(&corpus, &row, None);
        let got = answer_of(&Auto { jobs: 1, ..Auto::default() }, &problem, 60, &row.path);
        assert_eq!(got, Some(row.expected.as_str()), "{} {}", row.path, row.initial);
    }
}

/// Programs with at most three threads: the verdict must be the expected one.
fn three_threads(corpus: &Path, wanted: impl Fn(&Row) -> bool) -> usize {
    let rows: Vec<Row> = manifest(corpus).into_iter().filter(wanted).collect();
    for row in &rows {
        let problem = pose(corpus, row, Some(3));
        let got = answer(&problem, 60, None, &row.path);
        assert_eq!(got, Some(row.expected.as_str()), "{}", row.path);
    }
    rows.len()
}

#[test]
fn own_programs_with_three_threads_answer_as_expected() {
    assert!(three_threads(&own_corpus(), |row| row.kind == "bp") >= 8);
}

/// Boom's programs and Boppo's.
#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn public_programs_with_three_threads_answer_as_expected() {
    let ran = three_threads(&public_corpus(), |row| {
        row.path.starts_with("bp/boom") || row.path.starts_with("bp/boppo")
    });
    eprintln!("{ran} programs answered as expected with at most three threads");
    assert!(ran > 200);
}

/// Hunting with one, two, three threads never contradicts the expected verdict: how many questions
/// were asked, how many bugs were found, and which were not.
fn hunt(corpus: &Path, wanted: impl Fn(&Row) -> bool) -> (usize, usize, Vec<String>) {
    let (mut ran, mut found, mut beyond) = (0, 0, Vec::new());
    for row in manifest(corpus).into_iter().filter(wanted) {
        let problem = pose(corpus, &row, None);
        ran += 1;
        match answer(&problem, 600, Some(3), &row.path) {
            Some("unsafe") => {
                assert_ne!(row.expected, "safe", "{}", row.path);
                found += 1;
            }
            Some(_) => assert_ne!(row.expected, "unsafe", "{}", row.path),
            None if row.expected == "unsafe" => beyond.push(format!("{} {}", row.path, row.initial)),
            None => {}
        }
    }
    (ran, found, beyond)
}

#[test]
fn hunting_in_the_own_corpus_misses_one_bug_that_needs_five_threads() {
    let (ran, found, beyond) = hunt(&own_corpus(), |row| row.kind == "bp" || row.kind == "tts");
    assert!(ran >= 13 && found == 5, "{found} of {ran}");
    assert_eq!(beyond, ["tts/spawn.tts 0|0"]);
}

#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn hunting_finds_the_bugs_that_need_three_threads() {
    let wanted = |row: &Row| row.path.starts_with("tts/wahl-kroening") || row.path.starts_with("bp/satabs");
    let (ran, found, beyond) = hunt(&public_corpus(), wanted);
    eprintln!("{ran} questions, {found} bugs found with at most three threads; not found: {beyond:#?}");
    assert!(ran > 100 && found > 80);
}

/// The symbolic and the explicit engine on programs, at most three threads, with and without
/// reduction: how many were asked, and what ran out of time.
fn same_answers(corpus: &Path, every: usize, seconds: u64) -> (usize, Vec<String>) {
    let (mut ran, mut open) = (0, Vec::new());
    for row in manifest(corpus).into_iter().filter(|row| row.kind == "bp").step_by(every) {
        let problem = pose(corpus, &row, Some(3));
        let engines: [(&str, Box<dyn Algorithm>); 4] = [
            ("explicit", Box::new(Explicit { por: false, stop_at_first: true, ..Explicit::default() })),
            ("explicit, reduced", Box::new(Explicit { stop_at_first: true, ..Explicit::default() })),
            ("symbolic", Box::new(Symbolic { por: false, stop_at_first: true, ..Symbolic::default() })),
            ("symbolic, reduced", Box::new(Symbolic { stop_at_first: true, ..Symbolic::default() })),
        ];
        let answers: Vec<_> =
            engines.iter().map(|(name, e)| (*name, answer_of(&**e, &problem, seconds, &row.path))).collect();
        let mut known: Vec<&str> = answers.iter().filter_map(|a| a.1).collect();
        known.sort_unstable();
        known.dedup();
        assert!(known.len() <= 1, "{}: {answers:?}", row.path);
        open.extend(answers.iter().filter(|a| a.1.is_none()).map(|a| format!("{}: {}", row.path, a.0)));
        // The others are about any number of threads.
        if row.initial.contains("at most 3") {
            assert!(known.is_empty() || known == [row.expected.as_str()], "{}: {answers:?}", row.path);
        }
        ran += 1;
    }
    (ran, open)
}

#[test]
fn symbolic_and_reduced_searches_of_own_programs_answer_the_same() {
    let (ran, open) = same_answers(&own_corpus(), 1, 600);
    assert!(ran >= 8 && open.is_empty(), "{open:?}");
}

/// One program in eight, or as `THRONG_EVERY` says.
#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn symbolic_and_reduced_searches_of_public_programs_answer_the_same() {
    let every = std::env::var("THRONG_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let (ran, open) = same_answers(&public_corpus(), every, 10);
    eprintln!("{ran} programs; out of time: {open:#?}");
    assert!(ran * every > 250);
}
