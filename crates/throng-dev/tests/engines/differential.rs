//! The differential fuzzer: all oracles agree on random cases; deliberate mistakes are found and
//! reduced; counts continue where they stopped.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use throng_dev::fuzz::campaign::{Campaign, Found, News, State};
use throng_dev::fuzz::case::{Body, Case};
use throng_dev::fuzz::claim::Claim;
use throng_dev::fuzz::compare::{Effort, Kind, Trouble, compare};
use throng_dev::fuzz::generate;
use throng_dev::fuzz::known::Known;
use throng_dev::fuzz::oracles::{Oracle, oracles};
use throng_dev::fuzz::shrink::smaller;
use throng_dev::fuzz::summary::summary;
use throng_dev::fuzz::threads::Arrow;
use throng_dev::fuzz::{integers, questions, states};
use throng_dev::harness::{Scratch, said};

fn campaign(seed: u64, count: u64, oracles: Vec<Oracle>) -> Arc<Campaign> {
    Arc::new(Campaign {
        seed,
        size: 3,
        jobs: 2,
        count: Some(count),
        time: None,
        effort: Effort::default(),
        patience: Duration::from_secs(300),
        oracles: Arc::new(oracles),
    })
}

/// Runs a campaign; what it counted and found.
fn run(campaign: &Arc<Campaign>, state: State) -> (State, Vec<Found>) {
    let never: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(|| false);
    let mut all = Vec::new();
    let state = campaign.run(state, &never, &mut |news| {
        if let News::Found(found) = news {
            all.push(found.clone());
        }
    });
    (state, all)
}

#[test]
fn all_oracles_agree_and_every_construct_occurs() {
    let (state, found) = run(&campaign(20, 240, oracles()), State::default());
    let failures: Vec<String> = found.iter().map(|f| format!("{}\n{}", f.failure, f.case.text())).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(state.total(), 240);
    assert_eq!(state.cases.len(), 9, "three kinds of inputs, made in three ways: {:?}", state.cases);
    for construct in ["bp wait", "bp x$ :=", "bp call", "tts ~>", "tts -> with p ~> q", "x' = x + y", "pnml"]
    {
        assert!(state.constructs.contains_key(construct), "{construct}");
    }
    // Every oracle that answers about targets has decided something, and every known answer was
    // confirmed.
    for who in
        oracles().iter().filter(|who| ![states::NAME, questions::NAME, integers::NAME].contains(&who.name))
    {
        let counts =
            [&state.any, &state.bounded].map(|t| t.claims.get(who.name).copied().unwrap_or_default());
        assert!(counts.iter().any(|c| c[0] + c[1] > 10), "{}: {counts:?}", who.name);
    }
    let confirmed = |who: &str| state.any.agreed.get(&format!("{who} / hidden answer")).copied().unwrap_or(0);
    assert!(confirmed("auto") > 30 && confirmed("backward") > 30, "{:?}", state.any.agreed);
    let text = summary(&state);
    assert!(text.starts_with("AGREED  240 cases, 0 failures"), "{text}");
}

#[test]
fn the_same_seed_gives_the_same_cases_and_known_answers_are_true() {
    let mut kinds = [0; 4];
    for seed in 0..400 {
        let case = generate(seed, 3);
        assert_eq!(case, generate(seed, 3));
        let json = serde_json::to_string(&case).expect("JSON");
        assert_eq!(serde_json::from_str::<Case>(&json).expect("the same"), case);
        let Some(known) = &case.known else { continue };
        kinds[match known {
            Known::Weights { .. } => 0,
            Known::Run(_) => 1,
            Known::Invariant(_) => 2,
            Known::Walk(_) => 3,
        }] += 1;
        // The hidden answer stands; that it is true is for the engines to say.
        let names: Vec<String> = match &case.body {
            Body::Program(p) => {
                let label = p.label.iter().flat_map(|l| [format!("error label {l}"), format!("mutex {l}")]);
                let invariant = p.invariant.iter().map(|i| format!("invariant {i}"));
                ["assertions".to_string()].into_iter().chain(label).chain(invariant).collect()
            }
            _ => vec!["the first".into()],
        };
        let bounded_away = case.threads.is_some() && matches!(known, Known::Run(_) | Known::Walk(_));
        let claims = known.claims(&case, &names);
        assert!(claims.is_some() || bounded_away, "seed {seed}: {known:?}\n{}", case.text());
        for claim in claims.into_iter().flatten().filter(|s| *s != Claim::UNKNOWN) {
            let safe = matches!(known, Known::Weights { .. } | Known::Invariant(_));
            assert_eq!(claim.safe(), Some(safe), "seed {seed}");
        }
    }
    assert!(kinds.iter().all(|&n| n > 20), "{kinds:?}");
}

#[test]
fn a_hidden_answer_that_no_longer_stands_is_not_used() {
    let is_run =
        |c: &Case| matches!((&c.known, &c.body), (Some(Known::Run(run)), Body::Threads(_)) if run.len() > 2);
    let case = (0..).map(|seed| generate(seed, 3)).find(|c| is_run(c) && c.threads.is_none()).expect("one");
    let names = ["the first".to_string()];
    let known = case.known.clone().expect("a run");
    assert!(known.claims(&case, &names).is_some());
    let mut without = case.clone();
    if let Body::Threads(threads) = &mut without.body {
        threads.edges.clear();
    }
    assert_eq!(known.claims(&without, &names), None);
}

/// Says what `explicit` says, unless `wrong` says something else.
fn broken(wrong: impl Fn(&Case) -> Option<Result<Claim, Trouble>> + Send + Sync + 'static) -> Vec<Oracle> {
    let mut all: Vec<Oracle> =
        oracles().into_iter().filter(|c| ["explicit", "naive"].contains(&c.name)).collect();
    all.push(Oracle::new("broken", move |asked, _| match wrong(asked.case) {
        None => Ok(None),
        Some(answer) => answer.map(|claim| Some(vec![claim; asked.problem.targets.len() + 1])),
    }));
    all
}

/// The first failure that a campaign with a broken engine finds.
fn caught(oracles: Vec<Oracle>, count: u64) -> Found {
    let (state, found) = run(&campaign(5, count, oracles), State::default());
    assert!(!found.is_empty() && state.failures.values().sum::<u64>() >= found.len() as u64);
    assert!(found.iter().all(|f| f.failure.oracles.contains(&"broken".to_string())));
    found.into_iter().min_by_key(|f| f.case.text().len()).expect("not empty")
}

#[test]
fn an_engine_that_overlooks_spawns_is_found_and_the_system_is_made_small() {
    let spawns =
        |c: &Case| matches!(&c.body, Body::Threads(t) if t.edges.iter().any(|e| e.arrow == Arrow::Spawn));
    let found = caught(broken(move |c| spawns(c).then_some(Ok(Claim::SAFE))), 300);
    assert_eq!(found.failure.kind, Kind::Disagreement, "{}", found.failure);
    let Body::Threads(threads) = &found.case.body else { panic!("{}", found.case.text()) };
    // A spawn must stay, and the target needs nothing more than to be met at once.
    assert_eq!((threads.edges.len(), threads.targets.len()), (1, 1), "{}", found.case.text());
    assert!(threads.edges[0].arrow == Arrow::Spawn && threads.edges[0].passive.is_empty());
    assert!(found.case.threads.is_none() && threads.targets[0].1.is_empty(), "{}", found.case.text());
}

#[test]
fn an_engine_that_counts_threads_wrongly_is_found() {
    let nets = |c: &Case| matches!(&c.body, Body::Net(n) if n.counts() && n.start.iter().all(|t| t.most().is_some()));
    let found = caught(broken(move |c| (c.threads.is_none() && nets(c)).then_some(Ok(Claim::hit(0)))), 300);
    assert_eq!(found.failure.kind, Kind::Disagreement, "{}", found.failure);
    assert!(found.case.text().lines().count() <= 9, "{}", found.case.text());
}

#[test]
fn a_panic_is_found_and_the_program_is_made_small() {
    let found = caught(
        broken(|c| {
            assert!(!c.text().contains("broadcast"), "cannot do that");
            None
        }),
        300,
    );
    assert_eq!((found.failure.kind, found.failure.what.as_str()), (Kind::Panic, "cannot do that"));
    let text = found.case.text();
    assert!(text.contains("broadcast") && text.lines().count() <= 5, "{text}");
    assert!(compare(&found.case, &oracles(), &Effort::default()).is_ok());
}

#[test]
fn an_engine_that_does_not_stop_is_found() {
    let effort = Effort { overrun: Duration::from_millis(50), ..Effort::default() };
    let mut all = broken(|_| {
        let mut sum = 0_u64;
        for i in 0..400_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_add(i));
        }
        None
    });
    let failure = compare(&generate(1, 1), &all.split_off(2), &effort).expect_err("it takes too long");
    assert_eq!(failure.kind, Kind::Overrun, "{failure}");
}

#[test]
fn shrinking_comes_to_an_end() {
    for seed in 0..60 {
        let mut case = generate(seed, 2);
        let ended = (0..10_000).any(|_| match smaller(&case).into_iter().next() {
            Some(next) => {
                case = next;
                false
            }
            None => true,
        });
        assert!(ended, "{}", case.text());
    }
}

#[test]
fn counts_go_on_where_they_were() {
    let few =
        || oracles().into_iter().filter(|c| ["backward", "naive", "explicit"].contains(&c.name)).collect();
    let (whole, _) = run(&campaign(9, 60, few()), State::default());
    let (first, _) = run(&campaign(9, 25, few()), State::default());
    assert_eq!(first.total(), 25);
    let kept: State = serde_json::from_str(&serde_json::to_string(&first).expect("JSON")).expect("the same");
    let (mut both, _) = run(&campaign(9, 35, few()), kept);
    assert!(both.processor_seconds > first.processor_seconds);
    both.processor_seconds = whole.processor_seconds;
    assert_eq!(both, whole);
    // Another seed is counted apart.
    let (more, _) = run(&campaign(10, 5, few()), both);
    assert_eq!((more.total(), more.seeds.len()), (65, 2));
    assert_eq!(more.seeds["9 size 3"].next, 60);
}

// ── the command ──

fn fuzz(args: &[&str]) -> (Option<i32>, String, String) {
    said(&Command::new(env!("CARGO_BIN_EXE_throng-fuzz")).args(args).output().expect("it runs"))
}

#[test]
fn the_command_counts_keeps_and_repeats() {
    let folder = Scratch::new("fuzz");
    let out = folder.0.to_str().expect("UTF-8");
    let (status, told, err) = fuzz(&["--count", "20", "--seed", "3", "--out", out]);
    assert_eq!(status, Some(0), "{told}{err}");
    assert!(told.starts_with("AGREED  20 cases") && err.contains("seed 3"), "{told}{err}");
    let (status, told, err) = fuzz(&["--time", "0.5", "--quiet", "--out", out]);
    assert_eq!(status, Some(0), "{told}{err}");
    let cases: u64 = told.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    assert!(cases > 20 && told.lines().count() == 1, "{told}");
    let state = std::fs::read_to_string(folder.0.join("state.json")).expect("kept");
    assert!(state.contains("\"3 size 3\""), "the seed is continued: {state}");
    assert!(Path::new(out).join("summary.txt").is_file());
    // A kept case can be run again.
    let case = generate(1, 2);
    let failure = throng_dev::fuzz::compare::Failure {
        kind: Kind::Disagreement,
        oracles: vec!["an engine".into()],
        what: "fixed since".into(),
        sort: String::new(),
    };
    let found = Found { seed: 1, number: 1, size: 2, failure, original: case.clone(), case };
    let path = folder.0.join("kept.json");
    std::fs::write(&path, serde_json::to_string(&found).expect("JSON")).expect("written");
    let (status, told, _) = fuzz(&["--repeat", path.to_str().expect("UTF-8")]);
    assert!(status == Some(0) && told.starts_with("AGREED"), "{told}");
    std::fs::write(folder.0.join("state.json"), "nonsense").expect("written");
    let (status, _, err) = fuzz(&["--count", "1", "--out", out]);
    assert!(status == Some(2) && err.contains("state.json"), "{err}");
}
