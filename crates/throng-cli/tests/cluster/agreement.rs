//! `distributed` says what `explicit` says: verdict, fewest threads, shortest run, number of
//! configurations.

use std::time::Duration;

use throng_dev::harness::inputs::{examples, extension, pose};
use throng_dev::harness::{self};
use throng_dev::programs::{Knobs, program};
use throng_dev::{Rng, random_problem, random_table};
use throng_engine::distributed::Distributed;
use throng_engine::explicit::Explicit;
use throng_engine::{Algorithm, Answer, Silent};
use throng_lang::bp::{Options, read};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Certificate, Unknown, Verdict};

fn explicit(problem: &Problem, limits: &Limits) -> Answer {
    Explicit { por: false, ..Explicit::default() }.run(problem, limits, &Silent)
}

fn distributed(problem: &Problem, workers: usize, limits: &Limits) -> Answer {
    let answer = Distributed::new(workers).run(problem, limits, &Silent);
    assert_eq!(answer.flaw, None);
    assert!(answer.checked.is_some());
    answer
}

/// What both must agree on, for each target: the threads and the length of a run; none if it is
/// safe.
fn summary(answer: &Answer) -> Vec<Option<(u32, usize)>> {
    let about = |verdict: &Verdict| match verdict {
        Verdict::Unsafe(run) => Some((run.threads(), run.steps.len())),
        Verdict::Safe(_) => None,
        Verdict::Unknown(why) => panic!("{why}"),
    };
    answer.verdicts.iter().map(about).collect()
}

/// Compares with `explicit`; says whether all targets are safe, or nothing if `explicit` runs into
/// a limit.
fn compare(name: &str, problem: &Problem, workers: &[usize]) -> Option<bool> {
    let limits = || Limits::none().timeout(Duration::from_secs(60));
    let expected = explicit(problem, &Limits::none().work(2_000_000));
    if expected.verdicts.iter().any(|v| matches!(v, Verdict::Unknown(_))) {
        return None;
    }
    let safe = expected.verdicts.iter().any(|v| matches!(v, Verdict::Safe(_)));
    for &workers in workers {
        let found = distributed(problem, workers, &limits());
        assert_eq!(summary(&found), summary(&expected), "{name} with {workers} workers");
        assert_eq!(found.fewest, expected.fewest, "{name}");
        if safe {
            // Otherwise `explicit` stops in the middle of a layer.
            let (a, b) = (&found.statistics, &expected.statistics);
            let numbers = |s: &throng_engine::Statistics| {
                (s.configurations, s.steps, s.shared_states, s.local_states, s.complete_up_to, s.occupied)
            };
            assert_eq!(numbers(a), numbers(b), "{name} with {workers} workers");
        }
        for verdict in &found.verdicts {
            if let Verdict::Safe(certificate) = verdict {
                let Certificate::Spread(spread) = certificate else { panic!("{certificate:?}") };
                // With no start within the bound, the set is empty.
                let (starts, found) = (expected.statistics.configurations > 0, spread.members > 0);
                assert_eq!((found, spread.workers), (starts, workers as u32), "{name}");
            }
        }
    }
    Some(safe)
}

#[test]
fn examples_with_a_bound() {
    let mut decided = 0;
    for path in examples().into_iter().filter(|path| ["bp", "tts", "ntts"].contains(&extension(path))) {
        for threads in [1, 3] {
            let problem = pose(&path, Some(threads));
            let starts = problem.initial.iter().map(|family| family.threads.size()).min().unwrap_or(0);
            if starts <= threads && problem.targets.iter().all(|t| t.is_upward_closed() && !t.is_deadlock()) {
                let name = format!("{} with {threads} threads", path.display());
                decided += usize::from(compare(&name, &problem, &[1, 2, 3]).is_some());
            }
        }
    }
    assert!(decided >= 20, "only {decided} were decided");
}

#[test]
fn bugs_for_any_number_of_threads() {
    for (name, threads, steps) in [("spinlock-broken.bp", 2, 8), ("ticketlock-broken.bp", 5, 14)] {
        let problem = pose(&harness::example(name), None);
        let found = distributed(&problem, 3, &Limits::none());
        assert_eq!(summary(&found), [Some((threads, steps))], "{name}");
    }
}

#[test]
#[ignore = "needs the public corpus, and minutes"]
fn the_bounded_corpus() {
    let corpus = harness::public_corpus();
    let rows = harness::manifest(&corpus);
    let bounded =
        rows.iter().filter(|row| row.path.starts_with("bp/boom") || row.path.starts_with("bp/boppo"));
    let (mut decided, mut open) = (0, 0);
    for row in bounded {
        let problem = harness::pose(&corpus, row, Some(3));
        match compare(&row.path, &problem, &[1, 2, 4]) {
            Some(_) => decided += 1,
            None => open += 1,
        }
    }
    assert!(decided > 10 * open, "{decided} compared, {open} too large");
}

#[test]
fn random_programs() {
    let count: u64 = std::env::var("THRONG_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let (mut safe, mut broken) = (0, 0);
    for seed in 0..count {
        let rng = &mut Rng::new(seed);
        let knobs = Knobs::random(rng);
        let text = program(rng, &knobs);
        let (Some(jit), _) = read(&text, &Options::default()) else { panic!("{text}") };
        let mut targets: Vec<_> = jit.assertions().into_iter().collect();
        targets.extend(["L", "L0", "ERROR"].iter().filter_map(|label| jit.error_label(label).ok()));
        if targets.is_empty() {
            continue;
        }
        let jit = std::sync::Arc::new(jit);
        let problem = Problem {
            initial: vec![jit.initial(None)],
            initial_text: String::new(),
            targets,
            bound: Bound::Threads(3),
            model: jit.clone(),
        };
        match compare(&format!("seed {seed}:\n{text}"), &problem, &[1, 2, 4]) {
            Some(true) => safe += 1,
            Some(false) => broken += 1,
            None => {}
        }
    }
    assert!(safe >= count / 10 && broken >= count / 20, "{safe} with something safe, {broken} without");
}

#[test]
fn random_systems() {
    let mut counts = [0; 2];
    for seed in 0..200 {
        let rng = &mut Rng::new(seed);
        let knobs =
            throng_dev::Knobs { shared: 1 + rng.below(4), locals: 1 + rng.below(5), ..Default::default() };
        let model = std::sync::Arc::new(random_table(rng, &knobs));
        let bound = Bound::Threads(rng.below(5) as u32);
        let problem = random_problem(rng, &knobs, model, bound);
        if let Some(safe) = compare(&format!("seed {seed}"), &problem, &[1, 3]) {
            counts[usize::from(safe)] += 1;
        }
    }
    assert!(counts.iter().all(|&n| n > 10), "both answers are common: {counts:?}");
}

#[test]
fn a_limit_is_no_answer_and_no_hang() {
    let problem = pose(&harness::example("rockall.bp"), Some(6));
    for workers in [1, 3] {
        let limits = Limits::none().timeout(Duration::from_millis(300));
        let answer = Distributed::new(workers).run(&problem, &limits, &Silent);
        assert!(
            matches!(answer.verdicts[0], Verdict::Unknown(Unknown::Time(_))),
            "{:?}",
            answer.verdicts[0].evidence()
        );
    }
    let engine = Distributed { max_threads: Some(1), ..Distributed::new(2) };
    let problem = pose(&harness::example("spinlock-broken.bp"), None);
    let answer = engine.run(&problem, &Limits::none(), &Silent);
    assert_eq!(answer.verdicts, [Verdict::Unknown(Unknown::Bound(1))]);
}
