//! Every engine alone on the same random problems: no two ever disagree, and all evidence stands.
//!
//! `THRONG_RANDOM=20000 cargo test --release -p throng-dev --test engines agreement:: -- --nocapture`
//! compares that many of each shape.

#![allow(clippy::print_stderr)] // prints how often each engine answered

use std::collections::BTreeMap;
use std::sync::Arc;

use throng::{Input, Job, Start};
use throng_check::rules::check;
use throng_dev::fuzz::oracles::{Entry, engines};
use throng_dev::programs::{self, program};
use throng_dev::{Knobs, Rng, random_configs, random_problem, random_table};
use throng_engine::auto::Auto;
use throng_engine::views::Views;
use throng_engine::{Algorithm, Silent};
use throng_lang::load::Format;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Unknown, Verdict};

/// Returns the number of random problems of each shape: `THRONG_RANDOM`, or a few.
fn rounds(few: u64) -> u64 {
    std::env::var("THRONG_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

/// Number of times each engine gave each answer.
type Tally = BTreeMap<String, [u64; 3]>;

/// A semaphore with two places; the last rule tests for zero, so that presence blocks.
fn semaphore() -> Job<'static> {
    let text = "vars sem idle cs
         rules
           sem >= 1, idle >= 1 -> sem' = sem - 1, idle' = idle - 1, cs' = cs + 1;
           cs >= 1 -> sem' = sem + 1, idle' = idle + 1, cs' = cs - 1;
           idle = 0, cs >= 1 -> idle' = idle + 1, cs' = cs - 1, sem' = sem + 1;
         init sem = 2, idle >= 1, cs = 0
         target cs >= 3";
    Job::new(&Input::from_text(text, Format::Spec).expect("a net"))
}

#[test]
fn what_pairs_leave_open_is_proved_by_others() {
    let says = |engine: &dyn Algorithm| {
        let job = semaphore();
        let problem = &job.prepare().expect("a question").problem;
        let answer = engine.run(problem, &Limits::none(), &Silent);
        check(problem, &problem.targets[0], &answer.verdicts[0]).expect("evidence");
        matches!(answer.verdicts[0], Verdict::Safe(_))
    };
    assert!(!says(&Views::default()) && says(&Auto::default()));
}

/// Asks every engine; panics when two disagree or evidence does not stand.
fn compare(what: &str, problem: &Problem, tally: &mut Tally) {
    let mut said: Vec<Option<(bool, &str)>> = vec![None; problem.targets.len()];
    for Entry { name, engine, .. } in engines() {
        let answer = engine.run(problem, &Limits::none().work(1 << 16), &Silent);
        assert_eq!(answer.flaw, None, "{what}: {name}");
        for (i, verdict) in answer.verdicts.iter().enumerate() {
            check(problem, &problem.targets[i], verdict)
                .unwrap_or_else(|flaw| panic!("{what}: {name}, target {i}: {flaw}"));
            let count = tally.entry(name.to_string()).or_default();
            let safe = match verdict {
                Verdict::Safe(_) => true,
                Verdict::Unsafe(_) => false,
                Verdict::Unknown(why) => {
                    let internal = matches!(why, Unknown::NotForThisModel(w) if w.contains("internal"));
                    assert!(!internal, "{what}: {name}: {why}");
                    count[2] += 1;
                    continue;
                }
            };
            count[usize::from(!safe)] += 1;
            match said[i] {
                Some((before, who)) => assert_eq!(before, safe, "{what}, target {i}: {who} against {name}"),
                None => said[i] = Some((safe, name)),
            }
        }
    }
}

fn show(tally: &Tally) {
    for (name, [safe, hit, open]) in tally {
        eprintln!("{name:24} {safe:8} safe {hit:8} unsafe {open:8} unknown");
    }
}

fn systems(seed: u64, rounds: u64, knobs: impl Fn(&mut Rng) -> Knobs) -> Tally {
    let mut tally = Tally::new();
    for round in 0..rounds {
        let mut rng = Rng::new(seed.wrapping_mul(1 << 32) + round);
        let knobs = knobs(&mut rng);
        let table = Arc::new(random_table(&mut rng, &knobs));
        let mut problem = random_problem(&mut rng, &knobs, table, Bound::Any);
        let configs = random_configs(&mut rng, &knobs, 3, 3);
        problem.targets.extend(configs.into_iter().map(|c| Target::covering(format!("{c:?}"), vec![c])));
        compare(&format!("shape {seed}, round {round}"), &problem, &mut tally);
    }
    show(&tally);
    tally
}

#[test]
fn systems_of_threads() {
    let tally = systems(1, rounds(300), |rng| Knobs {
        shared: 2 + rng.below(6),
        locals: 2 + rng.below(4),
        steps: 4 + rng.below(12),
        multi: 0,
        leaderless: 0,
        broadcasts: 0,
        ..Knobs::default()
    });
    let for_others =
        |name: &str| name.starts_with("symbolic") || ["localise", "reachability"].contains(&name);
    let answers = |(name, count): (&String, &[u64; 3])| for_others(name) || count[0] + count[1] > 100;
    assert!(
        tally.iter().all(answers),
        "every engine answers something, but some only about programs or nets"
    );
    assert!(tally["equations"][0] > 100 && tally["views, on the quotient"][0] > 100);
}

#[test]
fn nets() {
    systems(2, rounds(200), |rng| Knobs {
        shared: 1,
        locals: 3 + rng.below(5),
        steps: 4 + rng.below(8),
        multi: 80,
        leaderless: 10,
        broadcasts: 0,
        ..Knobs::default()
    });
}

#[test]
fn mixtures_with_states_to_pass_through() {
    systems(3, rounds(200), |rng| Knobs {
        shared: 6 + rng.below(8),
        locals: 3 + rng.below(3),
        steps: 12 + rng.below(12),
        multi: 30,
        broadcasts: 0,
        ..Knobs::default()
    });
}

#[test]
fn broadcasts_and_blocking() {
    systems(4, rounds(200), |rng| Knobs {
        shared: 1 + rng.below(4),
        broadcasts: 30,
        block: 10 * rng.below(2),
        ..Knobs::default()
    });
}

#[test]
fn programs() {
    let mut tally = Tally::new();
    for round in 0..rounds(60) {
        let mut rng = Rng::new(0xa9ee ^ round);
        let knobs = programs::Knobs::random(&mut rng);
        let text = program(&mut rng, &knobs);
        let Ok(input) = Input::from_text(&text, Format::Bp) else { continue };
        let job = Job::new(&input).start(Start::AnyNumber);
        let Ok(prepared) = job.prepare() else { continue };
        compare(&format!("round {round}\n{text}"), &prepared.problem, &mut tally);
    }
    show(&tally);
    assert!(tally["equations"][0] > 5 && tally["auto"][1] > 5);
    assert!(tally["localise"][0] > 5 && tally["localise"][1] > 5);
}
