//! Races ruled out by locksets, before any search.

use std::sync::Arc;

use super::Posed;
use throng_check::Checked;
use throng_engine::{Algorithm, Answer, Statistics, Watch};
use throng_goto::program::Violation;
use throng_goto_check::locksets::{Compared, check, locksets};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, SourceProof, Verdict};

/// What answers of this kind are signed with.
pub(super) const NAME: &str = "locksets";

/// Returns what the sets show, if only races are asked for and they rule them out.
pub(super) fn prove(posed: &Posed) -> Option<Compared> {
    let program = posed.program();
    let asked = program.asked == [Violation::Race] && !posed.loaded.query.question.deadlock;
    if !asked || !program.is_flat() {
        return None;
    }
    check(program, &locksets(program)).ok()
}

/// The answer of such a proof.
pub(super) struct Proved(pub(super) Compared);

impl Algorithm for Proved {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, problem: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
        let proof = SourceProof {
            kind: NAME,
            size: self.0.instructions,
            member: "instruction",
            words: "Whenever a thread is about to execute one of these instructions, it holds a set of locks. Of two instructions that access the same memory, one \
                    of them writing, some lock is in both sets, or one of them comes before other threads are started. Two threads never hold the same lock, so \
                    they are never about to make such accesses at the same time."
                .into(),
            obligations: [
                "a thread holds its set of locks at every instruction, however it came there",
                "only those who take or hold a lock write its word",
                "two accesses that conflict have a lock in common",
            ],
        };
        answer(problem, NAME, proof, self.0.checked)
    }
}

/// The answer of a proof about the source that its own checker has accepted.
pub(super) fn answer(problem: &Problem, name: &'static str, proof: SourceProof, checked: Checked) -> Answer {
    let safe = Verdict::Safe(Certificate::OfSource(Arc::new(proof)));
    let mut answer = Answer::new(vec![safe; problem.targets.len()], Statistics::default());
    answer.by = vec![Some(name); problem.targets.len()];
    answer.checked = Some(checked);
    answer
}
