//! Memory errors that a search meets: they are violations of a property of their own, whatever was
//! asked.

use super::Posed;
use super::check::{hunt, searching, unsure_run};
use crate::error::Error;
use crate::job::Job;
use crate::outcome::Outcome;
use throng_engine::gave_up::GaveUp;
use throng_engine::hunt::HuntFirst;
use throng_goto::program::Start;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Target};
use throng_model::property::Property;
use throng_model::verdict::{Trace, Unknown, Verdict};
use throng_model::{Bag, Config};

/// Returns the target of memory errors where memory safety is not asked for.
fn target(posed: &Posed) -> Target {
    Target::of(Property::MemorySafety, vec![Config::new(posed.model.memory_error(), Bag::new())])
}

/// A run that ends in a memory error is one of memory safety; what was asked is then not known.
pub(super) fn name(posed: &Posed, outcome: &mut Outcome) {
    let error = posed.model.memory_error();
    let ends = |v: &Verdict| matches!(v, Verdict::Unsafe(trace) if trace.end().shared == error);
    if let Some(n) = outcome.answer.verdicts.iter().position(ends) {
        let fewest = outcome.answer.fewest.get(n).copied().unwrap_or(false);
        let by = outcome.answer.by.get(n).copied().flatten();
        if let Verdict::Unsafe(trace) = outcome.answer.verdicts[n].clone() {
            outcome.answer.verdicts.iter_mut().filter(|v| ends(v)).for_each(|v| *v = behind());
            put_first(posed, outcome, trace, by, fewest);
        }
    }
}

/// Nothing is known about what comes after a memory error.
fn behind() -> Verdict {
    let why = "the program makes a memory error, and C does not say what it does then";
    Verdict::Unknown(Unknown::Unsure(why.into()))
}

fn put_first(posed: &Posed, outcome: &mut Outcome, run: Trace, by: Option<&'static str>, fewest: bool) {
    outcome.problem.targets.insert(0, target(posed));
    outcome.answer.verdicts.insert(0, Verdict::Unsafe(run));
    outcome.answer.by.insert(0, by);
    outcome.answer.fewest.insert(0, fewest);
}

/// Looks for a memory error in short, where a proof takes for granted that there is none.
pub(super) fn refute(
    job: &Job<'_>,
    posed: &Posed,
    outcome: &mut Outcome,
    limits: &Limits,
) -> Result<(), Error> {
    if !posed.program().memory_errors {
        return Ok(());
    }
    let mut problem = posed.problem.clone();
    problem.targets = vec![target(posed)];
    let nothing = GaveUp(Unknown::Inconclusive("no memory error was met".into()));
    // Where any number of threads start, a few of them are tried.
    if problem.bound == Bound::Any && matches!(posed.program().start, Start::Any(_)) {
        problem.bound = Bound::Threads(3);
    }
    let hunt = hunt(posed.program(), problem.bound);
    let engine = HuntFirst { hunt, then: Box::new(nothing) };
    let found = searching(job, posed, problem).check_by(&engine, limits)?;
    let Some(run) = found.trace() else { return Ok(()) };
    match unsure_run(posed, 0, run) {
        Some(why) => {
            let why = format!("memory safety is taken for granted, though {why}");
            outcome.answer.verdicts.fill(Verdict::Unknown(Unknown::Unsure(why)));
        }
        None => {
            outcome.answer.verdicts.fill_with(behind);
            put_first(posed, outcome, run.clone(), Some("explicit"), false);
        }
    }
    Ok(())
}
