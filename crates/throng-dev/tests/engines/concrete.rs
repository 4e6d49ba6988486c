//! Runs in which every value is chosen: each step is a step of the model, from one single state to
//! the next.

#![allow(clippy::print_stderr)] // what was skipped, and how much was tested

use throng_dev::harness::{inputs, public_corpus};

use std::sync::Arc;
use std::time::Instant;

use inputs::{examples, extension, files, hunt, pose};
use throng_dev::programs::{self, Knobs};
use throng_lang::bp::{self, Options};
use throng_lang::load::{Reading, load};
use throng_lang::question::Question;
use throng_model::concrete::concretise;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::Trace;
use throng_model::{Config, Incomplete, Model, Step, semantics};

/// Returns whether each word stands for one single state.
fn is_single(model: &dyn Model, config: &Config) -> bool {
    let shared = config.shared;
    model.within_shared(shared, model.sample_shared(shared))
        && model.sample_shared(shared) == shared
        && config
            .threads
            .entries()
            .iter()
            .all(|&(l, _)| model.within_local(l, model.sample_local(l)) && model.sample_local(l) == l)
}

/// Returns whether every single state of `part`, which has as many threads, is one of `whole`.
fn is_part(model: &dyn Model, part: &Config, whole: &Config) -> bool {
    part.threads.size() == whole.threads.size() && part.surely_covers(whole, model)
}

/// The model's steps from the state in which `step` begins, by its edge, that may end where it
/// does.
fn kin(model: &dyn Model, step: &Step) -> Vec<Step> {
    let mut listed = Vec::new();
    if step.take.is_empty() {
        Incomplete::irrelevant(model.post_shared(step.from, &mut listed));
    }
    step.take.entries().iter().for_each(|e| Incomplete::irrelevant(model.post(step.from, e.0, &mut listed)));
    listed.retain(|s| s.edge == step.edge && s.choice == step.choice && model.meets_shared(s.to, step.to));
    listed
}

/// What is wrong with the chosen run, if anything is.
fn flaw(problem: &Problem, target: &Target, run: &Trace, chosen: &Trace) -> Option<String> {
    let (model, bound) = (&*problem.model, problem.bound.threads());
    if !is_part(model, &chosen.start, &run.start) {
        return Some("it begins elsewhere".into());
    }
    if !is_single(model, &chosen.start) || chosen.steps.len() != run.steps.len() {
        return Some("it begins in a set of states, or has another length".into());
    }
    let mut now = &chosen.start;
    for (i, (taken, like)) in chosen.steps.iter().zip(&run.steps).enumerate() {
        let (step, after) = (&taken.step, &taken.after);
        let wrong = if !is_single(model, after) {
            "leads to a set of states"
        } else if !is_part(model, after, &like.after) {
            "leaves the run"
        } else if step.edge != like.step.edge || step.from != now.shared || step.to != after.shared {
            "is another step"
        } else if !now.threads.covers(&step.take) {
            "takes a thread that is not there"
        } else {
            let leads = kin(model, step).iter().any(|found| {
                let mut reached = Vec::new();
                semantics::fire(model, now, found, bound, &mut reached).expect("few threads");
                reached.iter().any(|c| is_part(model, after, c))
            });
            if leads { "" } else { "is not a step of the model" }
        };
        if !wrong.is_empty() {
            let (from, to) = (now.describe(model), after.describe(model));
            return Some(format!("step {}, from {from} to {to}, {wrong}", i + 1));
        }
        now = after;
    }
    (!target.is_hit(now, model)).then(|| format!("it ends in {}", now.describe(model)))
}

/// Chooses values for every run that a short hunt finds; how many there were.
fn choose(problem: &Problem, most: u32, work: u64, name: &str) -> usize {
    let Ok(found) = hunt(problem, most, work) else { return 0 };
    let mut runs = 0;
    for (target, run) in problem.targets.iter().zip(&found) {
        let Some(run) = run else { continue };
        let chosen = concretise(&*problem.model, target, run, problem.bound.threads())
            .unwrap_or_else(|| panic!("no values can be chosen in\n{name}"));
        if let Some(flaw) = flaw(problem, target, run, &chosen) {
            panic!("the chosen run is none: {flaw}, in\n{name}");
        }
        runs += 1;
    }
    runs
}

#[test]
fn runs_of_the_examples_can_be_chosen() {
    let mut runs = 0;
    for path in examples().iter().filter(|p| extension(p) == "bp") {
        runs += choose(&pose(path, None), 5, 1 << 24, &path.display().to_string());
        runs += choose(&pose(path, Some(3)), 3, 1 << 24, &path.display().to_string());
    }
    assert!(runs >= 10, "{runs}");
}

#[test]
fn runs_of_random_programs_can_be_chosen() {
    let mut runs = 0;
    let count = std::env::var("THRONG_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(250);
    for seed in 0..count {
        let mut dice = throng_dev::Rng::new(1_000 + seed);
        let knobs = Knobs { asserts: true, statements: 14, ..Knobs::random(&mut dice) };
        let text = programs::program(&mut dice, &knobs);
        let keep_ended = seed % 4 == 0;
        let (jit, _) = bp::read(&text, &Options { keep_ended, ..Options::default() });
        let jit = Arc::new(jit.expect("a valid program"));
        // Any number of threads; and with a bound, at which no thread is created.
        for (bound, initial) in [(Bound::Any, None), (Bound::Threads(2), Some(1))] {
            let mut targets: Vec<Target> = jit.assertions().into_iter().collect();
            targets.extend(jit.invariant_text("0").ok());
            targets.extend(text.contains("L1:").then(|| jit.mutex("L1").ok()).flatten());
            let problem = Problem {
                model: jit.clone(),
                initial: vec![jit.initial(initial)],
                initial_text: String::new(),
                targets,
                bound,
            };
            runs += choose(&problem, 3, 1 << 19, &format!("seed {seed}\n{text}"));
        }
    }
    eprintln!("{runs} runs");
    assert!(runs as u64 > count, "{runs}");
}

#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn runs_of_the_corpus_can_be_chosen() {
    let corpus = public_corpus();
    let mut all = Vec::new();
    files(&corpus.join("bp"), &mut all);
    all.retain(|p| extension(p) == "bp");
    let (mut runs, start) = (0, Instant::now());
    let share: usize = std::env::var("THRONG_SHARE").ok().and_then(|s| s.parse().ok()).unwrap_or(8);
    for path in all.iter().step_by(share) {
        let Ok(loaded) = load(path, &Reading::default()) else { continue };
        let question = Question { initial: Some("any".into()), ..Question::default() };
        let Ok(posed) = question.pose(&loaded, path) else { continue };
        runs += choose(&posed.problem, 3, 1 << 19, &path.display().to_string());
    }
    eprintln!("{runs} runs of {} programs in {:?}", all.len().div_ceil(share), start.elapsed());
    assert!(runs > 0);
}
