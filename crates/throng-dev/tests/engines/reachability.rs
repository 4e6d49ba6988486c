//! `reachability` against everything that a small net can reach, for random nets and formulas.
//! `THRONG_RANDOM=5000` asks about that many nets.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use throng::{Engine, Job, Limits};
use throng_dev::Rng;
use throng_dev::harness::certificates::number;
use throng_model::predicate::{Predicate, value};
use throng_model::problem::{Asks, Bound, Formula, Initial, Problem, Target};
use throng_model::table::{Names, Table};
use throng_model::verdict::{Certificate, Verdict};
use throng_model::{Bag, Bystanders, Config, Edge, Local, Place, Shared, Step, semantics};

const PLACES: u64 = 4;

/// A net in which no transition makes tokens.
fn net(rng: &mut Rng) -> Table {
    let mut table = Table::new(Names::Numbers(1), Names::Numbers(PLACES));
    for _ in 0..2 + rng.below(5) {
        let size = 1 + rng.below(3);
        let take: Bag = (0..size).map(|_| Local(rng.below(PLACES))).collect();
        let step = Step {
            from: Shared(0),
            to: Shared(0),
            put: rng.bag(PLACES, size),
            take,
            spawn: Bag::new(),
            others: Bystanders::Stay,
            edge: Edge(0),
            choice: 0,
        };
        table.add(step, Vec::new(), Place::default());
    }
    table
}

fn sum(rng: &mut Rng, least: i64) -> Vec<(Local, i64)> {
    (0..1 + rng.below(3)).map(|_| (Local(rng.below(PLACES)), least + rng.below(3) as i64)).collect()
}

fn predicate(rng: &mut Rng, depth: u64) -> Predicate {
    let parts = |rng: &mut Rng| (0..2 + rng.below(2)).map(|_| predicate(rng, depth - 1)).collect();
    match rng.below(if depth == 0 { 6 } else { 10 }) {
        0 => Predicate::Dead,
        1 => Predicate::Live,
        2..=5 => {
            let (terms, least) = (sum(rng, -1), rng.below(5) as i64 - 1);
            Predicate::at_least(terms, least).expect("small numbers")
        }
        6 | 7 => Predicate::all(parts(rng)),
        _ => Predicate::any(parts(rng)),
    }
}

fn all_reachable(table: &Table, start: &Config) -> Vec<Config> {
    let (mut seen, mut waiting) = (HashSet::from([start.clone()]), vec![start.clone()]);
    while let Some(config) = waiting.pop() {
        let mut after = Vec::new();
        semantics::successors(table, &config, None, &mut after).expect("everything is listed");
        waiting.extend(after.into_iter().map(|s| s.1).filter(|c| seen.insert(c.clone())));
    }
    seen.into_iter().collect()
}

#[test]
fn random_nets_and_formulas() {
    let (mut reached, mut refuted, mut closed) = (0, 0, 0);
    for seed in 0..number("THRONG_RANDOM", 150) {
        let mut rng = Rng::new(seed);
        let table = net(&mut rng);
        let start = Config::new(Shared(0), rng.bag(PLACES, 5));
        let everything = vec![Config::new(Shared(0), Bag::new())];
        let mut targets: Vec<Target> = (0..4)
            .map(|i| {
                let formula = Formula { when: predicate(&mut rng, 2), asks: Asks::Exists };
                Target::satisfying(i.to_string(), everything.clone(), formula)
            })
            .collect();
        let Some(Predicate::AtLeast(measured, _)) = Predicate::at_least(sum(&mut rng, 1), 1) else {
            panic!("a sum")
        };
        let asks = Formula { when: Predicate::TRUE, asks: Asks::Largest(measured.clone()) };
        targets.push(Target::satisfying("most", everything, asks));
        let all = all_reachable(&table, &start);
        let expected: Vec<bool> =
            targets[..4].iter().map(|t| all.iter().any(|c| t.is_hit(c, &table))).collect();
        let most = all.iter().map(|c| value(&measured, &c.threads)).max().expect("the start") as i64;
        let problem = Problem {
            model: Arc::new(table),
            initial: vec![Initial { shared: Shared(0), threads: start.threads.clone(), any: Vec::new() }],
            initial_text: "random".into(),
            targets,
            bound: Bound::Any,
        };
        for engine in [Engine::Reachability, Engine::Auto] {
            let limits = Limits::none().timeout(Duration::from_secs(60));
            let outcome = Job::of(problem.clone()).check(engine, &limits).expect("evidence stands");
            for (i, (target, verdict)) in
                outcome.problem.targets.iter().zip(&outcome.answer.verdicts).enumerate()
            {
                match verdict {
                    Verdict::Unsafe(_) => reached += 1,
                    Verdict::Safe(Certificate::Refutation(_)) => refuted += 1,
                    Verdict::Safe(_) => closed += 1,
                    Verdict::Unknown(why) => panic!("seed {seed}, {}: {why}", target.name),
                }
                if let Some(expected) = expected.get(i) {
                    assert_eq!(target.holds(verdict), Some(*expected), "seed {seed}, target {i}");
                } else if target.name == "most" {
                    assert_eq!(target.bound(verdict), Some(most), "seed {seed}");
                }
            }
        }
    }
    assert!(reached > 0 && refuted > 0 && closed > 0, "{reached} {refuted} {closed}");
}

#[test]
fn evidence_that_does_not_fit_is_rejected() {
    let mut rng = Rng::new(1);
    let table = net(&mut rng);
    let start: Bag = [(Local(0), 2)].into_iter().collect();
    let when = Predicate::at_least((0..PLACES).map(|l| (Local(l), 1)).collect(), 3).expect("small");
    let everything = vec![Config::new(Shared(0), Bag::new())];
    let asks = Formula { when, asks: Asks::Target };
    let target = Target::satisfying("three tokens", everything.clone(), asks);
    let problem = Problem {
        model: Arc::new(table),
        initial: vec![Initial { shared: Shared(0), threads: start, any: Vec::new() }],
        initial_text: "two tokens".into(),
        targets: vec![target.clone()],
        bound: Bound::Any,
    };
    let outcome = Job::of(problem.clone()).check(Engine::Reachability, &Limits::none()).expect("stands");
    let Verdict::Safe(Certificate::Refutation(found)) = &outcome.answer.verdicts[0] else {
        panic!("{outcome}")
    };
    let stands = |found: throng_model::verdict::Refutation| {
        let verdict = Verdict::Safe(Certificate::Refutation(Arc::new(found)));
        throng_check::rules::check(&problem, &target, &verdict).is_ok()
    };
    assert!(stands((**found).clone()));
    let mut without = (**found).clone();
    without.cases.clear();
    assert!(!stands(without), "a case is left open");
    let mut more = (**found).clone();
    more.cases.extend(found.cases.clone());
    assert!(!stands(more), "there are cases of nothing");
    let mut trap = (**found).clone();
    trap.traps.push(vec![Local(1)]);
    assert!(!stands(trap), "that is empty at the start");
    let mut changed = (**found).clone();
    for case in &mut changed.cases {
        if let throng_model::verdict::Case::Linear(linear) = case {
            linear.weights.iter_mut().for_each(|w| w.1 = 0);
        }
    }
    assert!(!stands(changed), "comparisons ask for more than the sum has");
    let easier = Predicate::at_least((0..PLACES).map(|l| (Local(l), 1)).collect(), 2).expect("small");
    let asks = Formula { when: easier, asks: Asks::Target };
    let other = Target::satisfying("two tokens", everything, asks);
    let verdict = outcome.answer.verdicts[0].clone();
    assert!(throng_check::rules::check(&problem, &other, &verdict).is_err(), "two tokens are there");
}
