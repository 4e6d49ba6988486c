//! The monitor against the axioms: two definitions of robustness that share nothing.

mod explored;
mod generate;
mod known;
mod watch;

use generate::Flavour;
use throng_memory::litmus::Litmus;
use throng_memory::search::Search;
use throng_model::random::Random;
use watch::Mutant;

/// More than any of these programs needs; what exceeds it is left out, and counted.
const GRAPHS: usize = 6000;
const STATES: usize = 100_000;

#[derive(Default, Debug, PartialEq, Eq)]
struct Tally {
    robust: usize,
    not: usize,
    missed: usize,
    alarms: usize,
    left_out: usize,
}

fn program(random: &mut Random, flavour: Flavour, number: usize) -> Litmus {
    match number % 3 {
        0 => generate::random(random, flavour),
        _ => generate::shape(random, flavour),
    }
}

fn compare(flavour: Flavour, seed: u64, programs: usize, mutant: Option<Mutant>) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for number in 0..programs {
        let program = program(&mut random, flavour, number);
        let graphs = Search { graphs: GRAPHS, ..Search::default() }.is_robust(&program);
        let monitor = watch::is_robust(&program, mutant, STATES);
        match (graphs, monitor) {
            (None, _) | (_, None) => tally.left_out += 1,
            (Some(true), Some(true)) => tally.robust += 1,
            (Some(false), Some(false)) => tally.not += 1,
            (Some(false), Some(true)) => {
                tally.missed += 1;
                assert!(mutant.is_some(), "missed: {program:?}");
            }
            (Some(true), Some(false)) => {
                tally.alarms += 1;
                let exact = matches!(flavour, Flavour::ReleaseAcquire | Flavour::Relaxed | Flavour::Plain);
                // Without sequentially consistent fences and accesses the rules are exact.
                let sequential = format!("{program:?}").contains("SeqCst");
                assert!(mutant.is_some() || !exact || sequential, "false alarm: {program:?}");
            }
        }
    }
    tally
}

#[test]
fn the_monitor_finds_exactly_what_the_axioms_allow() {
    for (flavour, seed) in Flavour::ALL.into_iter().zip(1..) {
        let tally = compare(flavour, seed, 500, None);
        assert!(tally.robust > 80 && tally.not > 80 && tally.left_out < 50, "{flavour:?}: {tally:?}");
        assert!(tally.alarms < 12, "{flavour:?}: {tally:?}");
    }
}

/// Returns whether a known program shows that a rule is wrong.
fn shown_by_known(mutant: Mutant) -> bool {
    let wrong = |(_, program, robust): &(_, Litmus, bool)| {
        watch::is_robust(program, Some(mutant), STATES) != Some(*robust)
    };
    known::programs().iter().any(wrong)
}

#[test]
fn known_programs_have_known_answers() {
    for (name, program, robust) in known::programs() {
        assert_eq!(Search::default().is_robust(&program), Some(robust), "the axioms about {name}");
        assert_eq!(watch::is_robust(&program, None, STATES), Some(robust), "the monitor of {name}");
    }
}

#[test]
fn wrong_rules_are_found() {
    for mutant in Mutant::ALL {
        if shown_by_known(mutant) {
            continue;
        }
        let flavour = match mutant {
            Mutant::FencesTotal | Mutant::FencesWeak => Flavour::Fences,
            Mutant::NothingWatched => Flavour::Plain,
            Mutant::RelaxedAcquires | Mutant::UpdateSplit => Flavour::Relaxed,
            _ => Flavour::ReleaseAcquire,
        };
        let tally = compare(flavour, 5, 300, Some(mutant));
        assert!(tally.missed + tally.alarms > 0, "{mutant:?} is not noticed: {tally:?}");
    }
}
