//! Races ruled out by locksets, before any search.

use std::sync::Arc;

use super::{Loaded, Outcome};
use throng::engine::{Algorithm, Answer, Statistics, Watch};
use throng_c::goto::Violation;
use throng_c::locksets::{check, locksets};
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Certificate, Verdict};

/// What answers of this kind are signed with.
const NAME: &str = "locksets";

/// How many accesses were compared, if only races are asked for and the sets rule them out; that was checked.
pub(super) fn prove(loaded: &Loaded) -> Option<usize> {
    let only_races = loaded.program.asked == [Violation::Race] && !loaded.question.deadlock;
    if !only_races {
        return None;
    }
    check(&loaded.program, &locksets(&loaded.program)).ok()
}

/// The answer of such a proof.
pub(super) struct Proved;

impl Algorithm for Proved {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, problem: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
        let safe = Verdict::Safe(Certificate::Upward(Arc::new(Vec::new())));
        let mut answer = Answer::new(vec![safe; problem.targets.len()], Statistics::default());
        answer.by = vec![Some(NAME); problem.targets.len()];
        // By the checker of locksets.
        answer.checked = true;
        answer
    }
}

/// Makes the evidence in the outcome that which was checked.
pub(super) fn report(accesses: Option<usize>, outcome: &mut Outcome) {
    outcome.locksets = accesses;
    // Nothing is left to reach.
    for target in &mut outcome.problem.targets {
        *target = Target::covering(target.name.clone(), Vec::new());
    }
    outcome.assumptions.push("accesses to arrays stay inside them".into());
}
