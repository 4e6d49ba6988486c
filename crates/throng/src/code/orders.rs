//! Memory orders: what was proved under sequential consistency holds under the memory model of C11
//! if the program is robust and has no data race, which is asked about a model of its own
//! ([`throng_goto::robust`]).

use std::sync::Arc;

use super::Posed;
use super::check::{hunt, searching};
use super::parts::Part;
use crate::error::Error;
use crate::job::Job;
use crate::outcome::{MemoryModel, Outcome};
use throng_engine::hunt::HuntFirst;
use throng_engine::{Algorithm, Engine};
use throng_goto::Robust;
use throng_goto::program::{Access, Instr, Order, Start};
use throng_model::Describe;
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::verdict::{Trace, Unknown, Verdict};

/// What is known about the executions of C11.
enum Shown {
    /// They are those of sequential consistency, and there is no data race.
    Robust,
    /// There is a data race, here.
    Race(String),
    /// They are not, or that is not known.
    No(String),
}

/// Answers about the memory model of C11 where sequential consistency was asked about so far.
pub(super) fn settle(job: &Job<'_>, posed: &Posed, parts: &mut [Part], limits: &Limits) -> Result<(), Error> {
    let query = &posed.loaded.query;
    let asked = query.program.weak_orders || query.question.memory_model.is_some();
    for part in parts.iter_mut().filter(|_| asked) {
        part.outcome.memory_model = Some(query.memory_model());
    }
    let proved = |part: &Part| part.outcome.answer.verdicts.iter().any(|v| matches!(v, Verdict::Safe(_)));
    if query.memory_model() != MemoryModel::C11 || !parts.iter().any(proved) {
        return Ok(());
    }
    let shown = examine(job, posed, limits)?;
    for part in parts.iter_mut().filter(|part| proved(part)) {
        apply(&shown, part);
    }
    Ok(())
}

fn apply(shown: &Shown, part: &mut Part) {
    let why = match shown {
        Shown::Robust => {
            let sequential = |a: &Assumption| {
                matches!(a, Assumption::SequentialConsistency { .. } | Assumption::StrongOrders)
            };
            part.outcome.assumptions.retain(|a| !sequential(a));
            if may_buffer_loads(&part.posed) {
                part.outcome.assumptions.insert(0, Assumption::NoLoadBuffering);
            }
            return;
        }
        Shown::Race(why) | Shown::No(why) => why,
    };
    let why = format!("safe under sequential consistency; not shown for the memory orders used: {why}");
    let safe = part.outcome.answer.verdicts.iter_mut().filter(|v| matches!(v, Verdict::Safe(_)));
    safe.for_each(|v| *v = Verdict::Unknown(Unknown::Unsure(why.clone())));
    part.outcome.answer.statistics.complete_up_to = None;
}

/// Asks whether the program is robust and has no data race.
fn examine(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<Shown, Error> {
    let program = posed.program();
    if program.unclear_orders {
        return Ok(Shown::No("a memory order is not a constant, or is memory_order_consume".into()));
    }
    let model = Arc::new(Robust::new(posed.model.clone()));
    let problem = model.clone().problem(&posed.problem);
    let mut engine: Box<dyn Algorithm> = Engine::Auto.build(&job.settings);
    if matches!(program.start, Start::One(_)) {
        engine = Box::new(HuntFirst { hunt: hunt(program, problem.bound), then: engine });
    }
    let found = searching(job, posed, problem).check_by(&*engine, limits)?;
    Ok(shown(&model, &found))
}

fn shown(model: &Robust, found: &Outcome) -> Shown {
    let run = |n: usize| match &found.answer.verdicts[n] {
        Verdict::Unsafe(trace) => Some(trace),
        _ => None,
    };
    if let Some(trace) = run(1) {
        return Shown::Race(described(model, trace, "may race with"));
    }
    if let Some(trace) = run(0) {
        return Shown::No(described(model, trace, "may act on the value from before"));
    }
    match found.answer.verdicts.iter().find(|v| !matches!(v, Verdict::Safe(_))) {
        None => Shown::Robust,
        Some(Verdict::Unknown(why)) => Shown::No(format!(
            "whether other executions are possible is open: {}",
            model.incomplete().unwrap_or_else(|| why.to_string())
        )),
        Some(_) => Shown::No(String::new()),
    }
}

/// Says where a run leaves sequential consistency: the last step, and what was watched.
fn described(model: &Robust, trace: &Trace, does: &str) -> String {
    let Some(step) = trace.steps.last().map(|taken| &taken.step) else { return String::new() };
    let place = model.edge_place(step.edge);
    let Some(watch) = model.watched(step.from) else { return format!("line {}", place.line) };
    let program = model.concrete().program();
    let name = program.name_of(watch.address).unwrap_or_else(|| "allocated memory".into());
    format!("line {} {does} line {}, at `{name}`", place.line, program.origin_at(watch.at).line)
}

/// Returns whether the hardware and ISO C may let a relaxed read take a value from a write that is
/// executed later: there are relaxed reads and relaxed writes.
fn may_buffer_loads(posed: &Posed) -> bool {
    let (mut reads, mut writes) = (false, false);
    for t in &posed.program().templates {
        for (i, access) in t.code.iter().zip(&t.access) {
            let orders: &[Order] = match access {
                Access::Atomic(order) => &[*order],
                Access::Update(done, failed) => &[*done, *failed],
                Access::Plain | Access::Internal => &[],
            };
            reads |= matches!(i, Instr::Load(..)) && orders.iter().any(|o| !o.acquires());
            writes |= matches!(i, Instr::Store(..)) && orders.first().is_some_and(|o| !o.releases());
        }
    }
    reads && writes
}
