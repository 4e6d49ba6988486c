//! An engine that searches nothing.

use super::{Algorithm, Answer, Watch};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Verdict};

/// An engine that gives no answer, for a given reason.
pub struct GaveUp(pub Unknown);

impl Algorithm for GaveUp {
    fn name(&self) -> &'static str {
        "none"
    }

    fn run(&self, problem: &Problem, _limits: &Limits, _watch: &dyn Watch) -> Answer {
        Answer::new(vec![Verdict::Unknown(self.0.clone()); problem.targets.len()], Default::default())
    }
}
