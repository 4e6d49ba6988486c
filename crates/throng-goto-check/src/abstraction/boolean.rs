//! The abstract Boolean program as a problem: whether its assertions hold.

use std::path::Path;

use throng_check::certificate::write::Origin;
use throng_lang::load::{Format, Loaded, Reading, of_tree};
use throng_lang::question::{PosedProblem, Question};
use throng_lang::source::Diagnostic;
use throng_model::problem::Problem;

use super::program::AbstractProgram;

/// An abstract program, and the question whether its assertions hold.
pub struct Boolean {
    loaded: Loaded,
    reading: Reading,
    /// The question.
    pub problem: Problem,
}

impl Boolean {
    /// Poses the question for a program that one thread starts.
    pub fn of(program: AbstractProgram) -> Result<Boolean, String> {
        let reading = Reading { from: Some(Format::Bp), ..Reading::default() };
        let loaded = of_tree("<bp>", program.tree, program.statements, &reading)
            .map_err(|why| first_message(why.diagnostics.into_iter()))?;
        let question = Question { initial: Some("1".into()), ..Question::default() };
        let posed = question.pose(&loaded, Path::new(""));
        let PosedProblem { problem, .. } =
            posed.map_err(|list| first_message(list.into_iter().map(|d| d.diagnostic)))?;
        Ok(Boolean { loaded, reading, problem })
    }

    /// Returns what a certificate about it is about.
    pub fn origin(&self) -> Origin<'_> {
        Origin { loaded: &self.loaded, reading: &self.reading, problem: &self.problem }
    }
}

fn first_message(mut list: impl Iterator<Item = Diagnostic>) -> String {
    list.next().map_or("the abstract program is not well formed".into(), |d| d.message)
}
