//! Proofs about threads that wait, for any number of threads: views and vectors of the model of
//! real values, without data that decides nothing.

use std::sync::Arc;

use super::check::searching;
use super::{Posed, deadlock};
use crate::error::Error;
use crate::job::Job;
use crate::outcome::Outcome;
use throng_engine::Engine;
use throng_goto::program::{Program, Start};
use throng_goto::{Concrete, Query};
use throng_model::limits::Limits;
use throng_model::problem::Bound;

/// Budget of a proof, in ticks.
const WORK: u64 = 1 << 24;

/// The part of the time that is left that a proof may take.
const SHARE: u32 = 3;

/// Returns the model of the slice of a program.
pub(super) fn model(query: &Query) -> Arc<Concrete> {
    Arc::new(Concrete::new(Arc::new(query.program.without_idle_data())))
}

/// Returns the proof of what is asked about threads that wait, for any number of threads, if one is
/// found. It has a model of its own, so that what it tries leaves no trace in that of searches.
pub(super) fn prove(
    job: &Job<'_>,
    posed: &Posed,
    limits: &Limits,
) -> Result<Option<(Posed, Outcome)>, Error> {
    let query = &posed.loaded.query;
    let asked = query.question.asks_who_waits() && query.program.asked.is_empty();
    if !asked || posed.problem.bound != Bound::Any || !is_unbounded(&query.program) {
        return Ok(None);
    }
    let model = model(query);
    let mut alone = Posed { problem: query.problem_of(model.clone()), model, ..posed.clone() };
    deadlock::ask_all(&mut alone);
    let mut part = limits.part().work(WORK);
    if let Some(left) = limits.time_left() {
        part = part.timeout(left / SHARE);
    }
    let engine = Engine::Equations.build(&job.settings);
    let outcome = searching(job, &alone, alone.problem.clone()).check_by(&*engine, &part)?;
    Ok(outcome.is_safe().then_some((alone, outcome)))
}

/// Returns whether more and more threads may run at a time.
fn is_unbounded(program: &Program) -> bool {
    matches!(program.start, Start::Any(_)) || program.starter().is_some() || program.creates_without_bound()
}
