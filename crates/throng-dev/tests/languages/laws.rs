//! The laws of `throng_model`, through every front door: examples, random tables and programs, and
//! both corpora.

#![allow(clippy::print_stderr)] // how much was tested

use throng_dev::harness::{inputs, own_corpus, public_corpus};

use std::path::Path;
use std::sync::Arc;

use inputs::{examples, extension, files, pose, walk};
use throng_dev::{Knobs, Rng, Signals, laws, programs, random_configs, random_table};
use throng_lang::bp::{self, Options};
use throng_lang::load::{Reading, load};
use throng_lang::question::Question;
use throng_model::problem::{Bound, Problem};
use throng_model::{Config, Model};

/// At most `most` of the configurations, spread evenly.
fn thin(configs: Vec<Config>, most: usize) -> Vec<Config> {
    let every = configs.len().div_ceil(most).max(1);
    configs.into_iter().step_by(every).collect()
}

/// Configurations to test on: some that are reached, and the targets, which backward search starts
/// from. Those with very many threads are left out.
fn samples(problem: &Problem, rng: &mut Rng, most: usize) -> Vec<Config> {
    let mut configs = thin(walk(problem, rng, 6, 25), most);
    let targets: Vec<Config> = problem.targets.iter().flat_map(|t| t.configs.iter().cloned()).collect();
    configs.extend(thin(targets, most.div_ceil(3)));
    configs.retain(|c| c.threads.size() <= 200);
    configs
}

fn lawful(problem: &Problem, rng: &mut Rng, most: usize, name: &str) -> usize {
    let configs = samples(problem, rng, most);
    laws(&*problem.model, &configs).unwrap_or_else(|broken| panic!("{name}: {broken}"))
}

#[test]
fn every_example_keeps_the_laws() {
    let mut rng = Rng::new(1);
    let mut tested = 0;
    for path in examples().iter().filter(|p| extension(p) != "prop") {
        for threads in [None, Some(3)] {
            tested += lawful(&pose(path, threads), &mut rng, 12, &path.display().to_string());
        }
    }
    eprintln!("{tested} facts");
    assert!(tested > 5_000);
}

#[test]
fn random_tables_keep_the_laws() {
    let mut rng = Rng::new(2);
    let mut tested = 0;
    for round in 0..150 {
        let knobs = Knobs { block: if round % 3 == 0 { 20 } else { 0 }, ..Knobs::default() };
        let table = random_table(&mut rng, &knobs);
        let configs = random_configs(&mut rng, &knobs, 6, 4);
        let model: Arc<dyn Model> =
            if round % 4 == 0 { Arc::new(Signals::random(&mut rng, table)) } else { Arc::new(table) };
        tested += laws(&*model, &configs).unwrap_or_else(|broken| panic!("round {round}: {broken}"));
    }
    eprintln!("{tested} facts");
    assert!(tested > 10_000);
}

#[test]
fn random_programs_keep_the_laws() {
    let mut tested = 0;
    for seed in 0..120 {
        let mut dice = Rng::new(seed);
        let knobs = programs::Knobs::random(&mut dice);
        let text = programs::program(&mut dice, &knobs);
        let (jit, _) = bp::read(&text, &Options::default());
        let jit = jit.expect("a valid program");
        let problem = Problem {
            initial: vec![jit.initial(None)],
            initial_text: String::new(),
            targets: jit.assertions().into_iter().collect(),
            bound: Bound::Any,
            model: Arc::new(jit),
        };
        tested += lawful(&problem, &mut Rng::new(seed), 10, &format!("seed {seed}\n{text}"));
    }
    eprintln!("{tested} facts");
    assert!(tested > 10_000);
}

/// The question that a corpus file asks if it asks one by itself; refused files are counted
/// elsewhere.
fn posed(path: &Path) -> Option<Problem> {
    let loaded = load(path, &Reading::default()).ok()?;
    let question = Question { may_lack_target: true, ..Question::default() };
    let beside_is_wrong = path.ends_with("bfc/ticket_red_overappr3.tts");
    let path = if beside_is_wrong { Path::new("elsewhere") } else { path };
    question.pose(&loaded, path).ok().map(|p| p.problem)
}

/// How many facts were tested about how many of the files, of which each `share`th is taken.
fn corpus_keeps_the_laws(corpus: &Path, share: usize) -> (usize, usize, usize) {
    let mut all = Vec::new();
    files(corpus, &mut all);
    all.retain(|p| ["bp", "tts", "ntts", "spec", "pnml"].contains(&extension(p)));
    let mut rng = Rng::new(3);
    let (mut tested, mut read) = (0, 0);
    for path in all.iter().step_by(share) {
        let Some(problem) = posed(path) else { continue };
        tested += lawful(&problem, &mut rng, 3, &path.display().to_string());
        read += 1;
    }
    (tested, read, all.len())
}

#[test]
fn the_own_corpus_keeps_the_laws() {
    let (tested, read, all) = corpus_keeps_the_laws(&own_corpus(), 1);
    assert!(read == all && tested > 500, "{tested} facts about {read} of {all}");
}

/// Every file in turn when asked for (`THRONG_SHARE=1`); else one in eight.
#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn the_public_corpus_keeps_the_laws() {
    let share: usize = std::env::var("THRONG_SHARE").ok().and_then(|s| s.parse().ok()).unwrap_or(8);
    let (tested, read, all) = corpus_keeps_the_laws(&public_corpus(), share);
    eprintln!("{tested} facts about {read} of {all} files");
    assert!(read * share * 10 > all * 9);
}
