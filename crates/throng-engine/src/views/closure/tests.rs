//! Compares pair views with a naive fixpoint, also when they are interrupted.

use std::collections::BTreeSet;

use super::*;
use crate::Silent;
use throng_check::rules::check;
use throng_dev::{Knobs, Rng, random_problem, random_table};
use throng_model::bits::Bits;
use throng_model::problem::Bound;
use throng_model::verdict::{Certificate, Verdict};
use throng_model::{Config, Shared};

#[test]
fn interrupted_at_any_time_it_finds_the_same() {
    let mut interrupted = 0;
    let sparse = Knobs { vanish: 2, exits: 2, block: 0, ..Knobs::default() };
    let alone = Knobs { shared: 6, locals: 30, steps: 60, broadcasts: 0, ..sparse };
    let moving = Knobs { shared: 3, locals: 40, steps: 40, broadcasts: 40, ..sparse };
    for seed in 0..400 {
        let (mut rng, knobs) = (Rng::new(seed / 2), if seed % 2 == 0 { &alone } else { &moving });
        let table = Arc::new(random_table(&mut rng, knobs));
        let problem = random_problem(&mut rng, knobs, table, Bound::Any);
        let mut whole = Closure::new(problem.model.clone());
        whole.run(&problem, &Limits::none(), &Silent).expect("no limit");
        let (mut parts, mut work) = (Closure::new(problem.model.clone()), 1);
        while parts.run(&problem, &Limits::none().part().work(work), &Silent).is_err() {
            // An item may take longer than a turn.
            (interrupted, work) = (interrupted + 1, work + 1);
        }
        assert_eq!(parts.into_views(), whole.into_views(), "{seed}");
    }
    assert!(interrupted > 1000, "{interrupted}");
}

type Naive = BTreeSet<Config>;

/// Adds a view and its parts.
fn add(set: &mut Naive, s: Shared, threads: &[Local]) {
    for (i, &a) in threads.iter().enumerate() {
        set.insert(Config::new(s, Bag::one(a)));
        for &b in &threads[i + 1..] {
            set.insert(Config::new(s, [a, b].into_iter().collect()));
        }
    }
    set.insert(Config::new(s, Bag::new()));
}

fn flat(threads: &Bag) -> Vec<Local> {
    threads.entries().iter().flat_map(|&(l, n)| std::iter::repeat_n(l, n.min(2) as usize)).collect()
}

/// Adds the consequences of one step, by the definition.
fn fire(model: &dyn Model, old: &Naive, step: &Step, new: &mut Naive) {
    let has = |threads: &[Local]| old.contains(&Config::new(step.from, threads.iter().copied().collect()));
    let together = |threads: &[Local]| {
        let mut each = threads.iter().enumerate();
        each.all(|(i, &a)| has(&[a]) && threads[i + 1..].iter().all(|&b| has(&[a, b])))
    };
    let taken = flat(&step.take);
    if !has(&[]) || !together(&taken) {
        return;
    }
    let arrived = [flat(&step.put), flat(&step.spawn)].concat();
    let fates = |l: Local| {
        let mut fates = Vec::new();
        match step.others {
            Bystanders::Stay => fates.push(Some(l)),
            Bystanders::Transfer => model.bystander(step, l, &mut fates).expect("a complete list"),
            Bystanders::WakeOne => fates.extend([Some(l), model.woken_by(step, l)]),
        }
        fates.into_iter().flatten().collect::<Vec<_>>()
    };
    let alone = old.iter().filter(|c| c.shared == step.from && c.threads.size() == 1);
    let bystanders: Vec<Local> =
        alone.map(|c| c.threads.entries()[0].0).filter(|&b| taken.iter().all(|&t| has(&[t, b]))).collect();
    add(new, step.to, &arrived);
    for &b in &bystanders {
        for after in fates(b) {
            add(new, step.to, &[&arrived[..], &[after]].concat());
            for &c in bystanders.iter().filter(|&&c| has(&[b, c])) {
                fates(c).into_iter().for_each(|other| add(new, step.to, &[after, other]));
            }
        }
    }
}

/// Adds the consequences of all steps.
fn step_on(model: &dyn Model, set: &Naive, new: &mut Naive) {
    let mut steps = Vec::new();
    for view in set {
        let listed = match view.threads.entries() {
            [] => model.post_shared(view.shared, &mut steps),
            &[(a, 1)] => model.post(view.shared, a, &mut steps),
            _ => Ok(()),
        };
        listed.expect("a complete list");
    }
    steps.iter().for_each(|step| fire(model, set, step, new));
}

/// Adds the initial views.
fn start(problem: &Problem, set: &mut Naive) {
    for family in &problem.initial {
        let mut threads = family.threads.clone();
        family.any.iter().for_each(|&l| threads.insert(l, 2));
        add(set, family.shared, &flat(&threads));
    }
}

fn naive(problem: &Problem) -> Naive {
    let mut set = Naive::new();
    start(problem, &mut set);
    loop {
        let mut new = set.clone();
        step_on(&*problem.model, &set, &mut new);
        if new.len() == set.len() {
            return set;
        }
        set = new;
    }
}

#[test]
fn it_is_the_least_fixpoint() {
    let (mut pairs, mut moved) = (0, 0);
    for seed in 0..300 {
        let knobs = Knobs { shared: 3, locals: 6, steps: 10, ..Knobs::default() };
        let mut rng = Rng::new(seed);
        let table = Arc::new(random_table(&mut rng, &knobs));
        let problem = random_problem(&mut rng, &knobs, table, Bound::Any);
        let mut closure = Closure::new(problem.model.clone());
        closure.run(&problem, &Limits::none(), &Silent).expect("no limit");
        let mut found = Naive::new();
        moved += closure.rules.iter().filter(|rule| !rule.moved.is_empty()).count();
        closure.into_views().each().for_each(|view| add(&mut found, view.shared, &flat(&view.threads)));
        assert_eq!(found, naive(&problem), "{seed}");
        pairs += found.iter().filter(|view| view.threads.size() == 2).count();
    }
    assert!(pairs > 1000 && moved > 100, "{pairs} {moved}");
}

/// Returns views in the form in which they are checked. `lost`: a pair that is recorded for one
/// side only.
fn packed(set: &Naive, lost: Option<(Shared, Local, Local)>) -> Views {
    let locals: BTreeSet<Local> = set.iter().flat_map(|view| flat(&view.threads)).collect();
    let locals: Vec<Local> = locals.into_iter().collect();
    let mut builder = Builder::new(locals.iter().copied());
    let shared: BTreeSet<Shared> = set.iter().map(|view| view.shared).collect();
    for s in shared {
        let has = |threads: &[Local]| set.contains(&Config::new(s, threads.iter().copied().collect()));
        for (&a, number) in locals.iter().zip(0..).filter(|e| has(&[*e.0])) {
            let with = locals.iter().zip(0..).filter(|e| has(&[a, *e.0]) && lost != Some((s, a, *e.0)));
            let with: Bits = with.map(|e| e.1).collect();
            let row = builder.row(with.row().by_word());
            builder.member(number, row);
        }
        builder.finish(s);
    }
    builder.build()
}

/// Returns whether the set contains the initial views, is closed under steps, and excludes the
/// targets, by the definition.
fn proves(problem: &Problem, set: &Naive) -> bool {
    let mut all = set.clone();
    start(problem, &mut all);
    step_on(&*problem.model, set, &mut all);
    let built = |bad: &Config| {
        let mut views = Naive::new();
        add(&mut views, bad.shared, &flat(&bad.threads));
        views.is_subset(set)
    };
    all == *set && !problem.targets[0].configs.iter().any(built)
}

#[test]
fn the_checker_accepts_exactly_the_sets_that_prove_it() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..400 {
        let knobs = Knobs { shared: 3, locals: 6, steps: 10, ..Knobs::default() };
        let mut rng = Rng::new(seed);
        let table = Arc::new(random_table(&mut rng, &knobs));
        let problem = random_problem(&mut rng, &knobs, table, Bound::Any);
        let least = naive(&problem);
        let judge = |views: Views| {
            check(&problem, &problem.targets[0], &Verdict::Safe(Certificate::Views(Arc::new(views))))
        };
        for mutant in 0..12 {
            let mut set = least.clone();
            let view = least.iter().nth(rng.index(least.len())).expect("some view").clone();
            match mutant {
                0 => {}
                // A view is dropped with all views that it is part of, or some pairs are.
                1..=4 => {
                    set.retain(|other| other.shared != view.shared || !other.threads.covers(&view.threads))
                }
                5..=7 => set.retain(|other| other.threads.size() < 2 || rng.below(8) > 0),
                // Another thread is added, or a shared state gets the views of another.
                8 | 9 => {
                    add(&mut set, view.shared, &[flat(&view.threads), vec![Local(rng.below(6))]].concat())
                }
                _ => {
                    let s = Shared(rng.below(3));
                    let theirs: Vec<Config> =
                        least.iter().filter(|other| other.shared == view.shared).cloned().collect();
                    theirs.iter().for_each(|other| add(&mut set, s, &flat(&other.threads)));
                }
            }
            let (found, expected) = (judge(packed(&set, None)), proves(&problem, &set));
            assert_eq!(found.is_ok(), expected, "{seed}, {mutant}: {found:?}");
            *(if expected { &mut accepted } else { &mut refused }) += 1;
            let mut pairs = set.iter().filter(|view| view.threads.entries().len() == 2);
            if let Some(pair) = pairs.next() {
                let threads = flat(&pair.threads);
                judge(packed(&set, Some((pair.shared, threads[0], threads[1]))))
                    .expect_err("there from one side");
            }
        }
    }
    assert!(accepted > 200 && refused > 1000, "{accepted} {refused}");
}
