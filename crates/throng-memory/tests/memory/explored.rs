//! The exploration without duplicates against the search through all graphs.

use rustc_hash::FxHashSet;
use throng_memory::axioms::judge;
use throng_memory::explore::{Graphs, Met, explore, goes_on};
use throng_memory::graph::Graph;
use throng_memory::litmus::{Litmus, Thread};
use throng_memory::search::{self, Ended, Search};
use throng_model::random::Random;

use crate::generate::Flavour;
use crate::{GRAPHS, program};

/// What the executions of a program come to.
#[derive(Default, PartialEq, Eq, Debug)]
struct All {
    complete: FxHashSet<Graph>,
    race: bool,
    fails: bool,
}

fn searched(program: &Litmus) -> Option<All> {
    let mut all = All::default();
    let ended = Search { graphs: GRAPHS, ..Search::default() }.run(program, &mut |met| {
        match met {
            search::Met::Graph(_, judgement) => all.race |= judgement.race.is_some(),
            search::Met::Failure(..) => all.fails = true,
            search::Met::Complete(execution, true) => _ = all.complete.insert(execution.graph.clone()),
            search::Met::Complete(..) => {}
        }
        true
    });
    (ended == Ended::Exhausted).then_some(all)
}

/// What the exploration finds, and how many executions it was at the end of without a thread that
/// could go on.
fn explored(program: &Litmus) -> All {
    let (graphs, mut all) = (Graphs(program), All::default());
    let mut blocked = FxHashSet::default();
    explore(&graphs, graphs.starts(), &mut |met| {
        match met {
            Met::New(reached) => {
                all.fails |= reached.failure.is_some();
                all.race |= judge(&reached.execution.graph).is_some_and(|j| j.race.is_some());
            }
            Met::Last(reached) if reached.failure.is_some() || goes_on(&graphs, reached) => {}
            Met::Last(reached) => {
                let ended = |state: &Thread| program.next(*state).is_none();
                let kept =
                    if reached.execution.states.iter().all(ended) { &mut all.complete } else { &mut blocked };
                assert!(kept.insert(reached.execution.graph.clone()), "met twice: {program:?}");
            }
        }
        true
    });
    all
}

#[test]
fn every_execution_is_met_once() {
    for (flavour, seed) in Flavour::ALL.into_iter().zip(61..) {
        let (mut random, mut compared, mut executions) = (Random::new(seed), 0, 0);
        for number in 0..300 {
            let program = program(&mut random, flavour, number);
            let Some(expected) = searched(&program) else { continue };
            assert_eq!(explored(&program), expected, "{program:?}");
            (compared, executions) = (compared + 1, executions + expected.complete.len());
        }
        assert!(compared > 200 && executions > 1000, "{flavour:?}: {compared} {executions}");
    }
}
