//! The abstract Boolean program as a problem: decided by the engines, checked by the rules.

use std::sync::Arc;

use throng_check::certificate::write::Origin;
use throng_check::rules;
use throng_engine::{Answer, Engine, Settings, Silent};
use throng_lang::load::{Format, Loaded, Reading, read};
use throng_lang::question::{PosedProblem, Question};
use throng_lang::source::{Diagnostic, Source};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Verdict};

/// An abstract program that was read, and the question whether its assertions hold.
pub struct Boolean {
    loaded: Loaded,
    reading: Reading,
    /// The question.
    pub problem: Problem,
}

impl Boolean {
    /// Reads a program that one thread starts.
    pub fn read(text: &str) -> Result<Boolean, String> {
        let reading = Reading { from: Some(Format::Bp), ..Reading::default() };
        let loaded = read(Source::new("<bp>", text), Format::Bp, &reading)
            .map_err(|why| first_message(why.diagnostics.into_iter()))?;
        let question = Question { initial: Some("1".into()), ..Question::default() };
        let posed = question.pose(&loaded, std::path::Path::new(""));
        let PosedProblem { problem, .. } =
            posed.map_err(|list| first_message(list.into_iter().map(|d| d.diagnostic)))?;
        Ok(Boolean { loaded, reading, problem })
    }

    /// Returns what a certificate about it is about.
    pub fn origin(&self) -> Origin<'_> {
        Origin { loaded: &self.loaded, reading: &self.reading, problem: &self.problem }
    }

    /// Decides the program with the portfolio; what it answers was checked.
    pub fn decide(&self, limits: &Limits) -> Result<Answer, Unknown> {
        // Evidence that was found with partial orders cannot be written down.
        let mut settings = Settings::default();
        settings.partial_order = false;
        let limits = &limits.clone().jobs(settings.jobs);
        let watched = limits.clone();
        self.problem.model.set_stop_check(Some(Arc::new(move || watched.check().is_err())));
        let mut answer = Engine::Auto.build(&settings).run(&self.problem, limits, &Silent);
        self.problem.model.set_stop_check(None);
        if let Some(flaw) = answer.flaw.take() {
            return Err(Unknown::Inconclusive(format!("abstraction failed: {flaw}")));
        }
        if answer.checked.is_none() {
            let verdicts: Vec<(usize, &Verdict)> = answer.verdicts.iter().enumerate().collect();
            if let Err((_, flaw)) = rules::check_all(&self.problem, &verdicts, limits) {
                limits.check()?;
                return Err(Unknown::Inconclusive(format!("abstraction failed: {flaw}")));
            }
        }
        Ok(answer)
    }
}

fn first_message(mut list: impl Iterator<Item = Diagnostic>) -> String {
    list.next().map_or("the abstract program cannot be read".into(), |d| d.message)
}
