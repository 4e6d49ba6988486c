//! Pair views against a naive fixpoint, and interrupted at any time.

use std::collections::BTreeSet;

use super::*;
use crate::engine::Silent;
use throng_dev::{Knobs, Rng, random_problem, random_table};
use throng_model::problem::Bound;

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
        assert_eq!(parts.views(), whole.views(), "{seed}");
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

/// What one step adds, by the definition.
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

fn naive(problem: &Problem) -> Naive {
    let (model, mut set) = (&*problem.model, Naive::new());
    for family in &problem.initial {
        let mut threads = family.threads.clone();
        family.any.iter().for_each(|&l| threads.insert(l, 2));
        add(&mut set, family.shared, &flat(&threads));
    }
    loop {
        let (mut new, mut steps) = (set.clone(), Vec::new());
        for view in &set {
            let listed = match view.threads.entries() {
                [] => model.post_shared(view.shared, &mut steps),
                &[(a, 1)] => model.post(view.shared, a, &mut steps),
                _ => Ok(()),
            };
            listed.expect("a complete list");
        }
        steps.iter().for_each(|step| fire(model, &set, step, &mut new));
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
        closure.views().each().for_each(|view| add(&mut found, view.shared, &flat(&view.threads)));
        assert_eq!(found, naive(&problem), "{seed}");
        pairs += found.iter().filter(|view| view.threads.size() == 2).count();
        moved += closure.rules.iter().filter(|rule| !rule.moved.is_empty()).count();
    }
    assert!(pairs > 1000 && moved > 100, "{pairs} {moved}");
}
