//! The abstract Boolean program, decided by the engines and checked by the rules.

use std::sync::Arc;

use throng_check::rules;
use throng_engine::{Answer, Engine, Settings, Silent};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Verdict};

/// Decides a problem with the portfolio. What it answers was checked.
pub(crate) fn decide(problem: &Problem, limits: &Limits) -> Result<Answer, Unknown> {
    // Evidence that was found with partial orders cannot be written down.
    let mut settings = Settings::default();
    settings.partial_order = false;
    let limits = &limits.clone().jobs(settings.jobs);
    let watched = limits.clone();
    problem.model.set_stop_check(Some(Arc::new(move || watched.check().is_err())));
    let mut answer = Engine::Auto.build(&settings).run(problem, limits, &Silent);
    problem.model.set_stop_check(None);
    if let Some(flaw) = answer.flaw.take() {
        return Err(Unknown::Inconclusive(format!("abstraction failed: {flaw}")));
    }
    if answer.checked.is_none() {
        let verdicts: Vec<(usize, &Verdict)> = answer.verdicts.iter().enumerate().collect();
        if let Err((_, flaw)) = rules::check_all(problem, &verdicts, limits) {
            limits.check()?;
            return Err(Unknown::Inconclusive(format!("abstraction failed: {flaw}")));
        }
    }
    Ok(answer)
}
