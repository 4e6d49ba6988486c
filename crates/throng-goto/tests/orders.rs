//! The monitor beside the goto program, and its executions, against the axioms: random programs and
//! shapes, as goto programs and as small programs whose graphs are all enumerated.

mod common;
#[path = "../../throng-memory/tests/memory/generate.rs"]
mod generate;
#[path = "common/litmus.rs"]
mod litmus;

use std::sync::Arc;

use generate::Flavour;
use litmus::{meets, program, translated};
use throng_goto::{Concrete, Executions, Program, Robust};
use throng_memory::search::Search;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::random::Random;
use throng_model::{Bag, Config};

const GRAPHS: usize = 4000;
const STATES: usize = 60_000;

fn robust(program: &Program) -> Option<bool> {
    let concrete = Arc::new(Concrete::new(Arc::new(program.clone())));
    let original = problem(concrete.clone());
    let found = meets(&Arc::new(Robust::new(concrete)).problem(&original), STATES)?;
    Some(!found)
}

fn problem(model: Arc<Concrete>) -> Problem {
    Problem {
        model,
        initial: Vec::new(),
        initial_text: String::new(),
        targets: Vec::new(),
        bound: Bound::Any,
    }
}

/// Returns whether an execution has a race.
fn races(program: &Program) -> Option<bool> {
    let concrete = Arc::new(Concrete::new(Arc::new(program.clone())));
    let original = problem(concrete.clone());
    let bad = Config::new(Executions::RACE, Bag::new());
    let target = Target::covering("race".to_string(), vec![bad]);
    meets(&Arc::new(Executions::new(concrete, 60)).problem(&original, target), STATES)
}

#[derive(Default, Debug)]
struct Tally {
    robust: usize,
    not: usize,
    alarms: usize,
    left_out: usize,
}

#[test]
fn the_monitor_of_goto_programs_agrees_with_the_axioms() {
    for (flavour, seed) in Flavour::ALL.into_iter().zip(11..) {
        let (mut random, mut tally) = (Random::new(seed), Tally::default());
        for number in 0..400 {
            let litmus = program(&mut random, flavour, number);
            let graphs = Search { graphs: GRAPHS, ..Search::default() }.is_robust(&litmus);
            match (graphs, robust(&translated(&litmus))) {
                (None, _) | (_, None) => tally.left_out += 1,
                (Some(true), Some(true)) => tally.robust += 1,
                (Some(false), Some(false)) => tally.not += 1,
                (Some(false), Some(true)) => panic!("missed: {litmus:?}"),
                (Some(true), Some(false)) => {
                    tally.alarms += 1;
                    let sequential = format!("{litmus:?}").contains("SeqCst");
                    assert!(sequential, "false alarm: {litmus:?}");
                }
            }
        }
        assert!(tally.robust > 60 && tally.not > 60 && tally.left_out < 80, "{flavour:?}: {tally:?}");
        assert!(tally.alarms < 16, "{flavour:?}: {tally:?}");
    }
}

#[test]
fn executions_have_the_races_that_graphs_have() {
    let (mut random, mut found, mut none) = (Random::new(5), 0, 0);
    for number in 0..300 {
        let litmus = program(&mut random, Flavour::Plain, number);
        let mut race = false;
        let ended = Search { graphs: GRAPHS, ..Search::default() }.run(&litmus, &mut |met| {
            if let throng_memory::search::Met::Graph(_, judgement) = met {
                race |= judgement.race.is_some();
            }
            !race
        });
        if !race && ended != throng_memory::search::Ended::Exhausted {
            continue;
        }
        let Some(said) = races(&translated(&litmus)) else { continue };
        assert_eq!(said, race, "{litmus:?}");
        if race { found += 1 } else { none += 1 }
    }
    assert!(found > 60 && none > 60, "{found} {none}");
}
