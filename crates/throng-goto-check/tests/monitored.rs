//! Programs with the monitor written into them, against the axioms: random programs and shapes,
//! whose graphs are all enumerated.

#[path = "../../throng-goto/tests/common/mod.rs"]
mod common;
#[path = "../../throng-memory/tests/memory/generate.rs"]
mod generate;
#[path = "../../throng-goto/tests/common/litmus.rs"]
mod litmus;

use std::sync::Arc;

use generate::Flavour;
use litmus::{meets, program, translated};
use throng_goto::{Concrete, Program};
use throng_goto_check::monitored::{Asks, monitored, slices};
use throng_memory::search::Search;
use throng_model::problem::{Bound, Initial, Problem, Target};
use throng_model::random::Random;
use throng_model::{Bag, Config};

const GRAPHS: usize = 4000;
const STATES: usize = 60_000;

/// Returns whether no slice is violated; `None` if a search of one does not come to an end.
fn robust(program: &Program) -> Option<bool> {
    let mut all = true;
    for slice in slices(program).expect("the program is understood") {
        let new = monitored(program, slice).expect("the program is understood");
        let violated = meets(&problem(new), STATES)?;
        all &= !violated;
    }
    Some(all)
}

/// The question whether an assertion of a program fails.
fn problem(program: Program) -> Problem {
    let model = Arc::new(Concrete::new(Arc::new(program)));
    let (shared, threads) = model.initial();
    let bad = Config::new(model.failed(0), Bag::new());
    Problem {
        initial: vec![Initial { shared, threads: threads.iter().copied().collect(), any: Vec::new() }],
        initial_text: String::new(),
        targets: vec![Target::covering("monitor".to_string(), vec![bad])],
        bound: Bound::Any,
        model,
    }
}

#[test]
fn the_monitor_in_programs_agrees_with_the_axioms() {
    for (flavour, seed) in Flavour::ALL.into_iter().zip(31..) {
        let (mut random, mut robust_ones, mut not, mut alarms) = (Random::new(seed), 0, 0, 0);
        for number in 0..120 {
            let litmus = program(&mut random, flavour, number);
            let graphs = Search { graphs: GRAPHS, ..Search::default() }.is_robust(&litmus);
            match (graphs, robust(&translated(&litmus))) {
                (None, _) | (_, None) => {}
                (Some(true), Some(true)) => robust_ones += 1,
                (Some(false), Some(false)) => not += 1,
                (Some(false), Some(true)) => panic!("missed: {litmus:?}"),
                (Some(true), Some(false)) => {
                    alarms += 1;
                    let sequential = format!("{litmus:?}").contains("SeqCst");
                    assert!(sequential, "false alarm: {litmus:?}");
                }
            }
        }
        assert!(robust_ones > 15 && not > 15 && alarms < 8, "{flavour:?}: {robust_ones} {not} {alarms}");
    }
}

#[test]
fn a_program_without_weak_orders_has_slices_about_races_only() {
    let mut random = Random::new(3);
    for number in 0..20 {
        let mut one = translated(&program(&mut random, Flavour::ALL[number % 2], number));
        one.weak_orders = false;
        let found = slices(&one).expect("the program is understood");
        assert!(found.iter().all(|slice| slice.asks == Asks::Race));
    }
}
