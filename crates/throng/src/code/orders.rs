//! Memory orders: what holds under the memory model of C11, beyond sequential consistency.
//!
//! What was proved under sequential consistency holds there if the program is robust and has no
//! data race, which is asked about a model of its own ([`throng_goto::robust`]). If it is not, the
//! executions are searched ([`throng_goto::executions`]): one that fails is a violation, and if
//! there are only finitely many and none fails, the program is safe.

mod slices;

use std::sync::Arc;

use super::Posed;
use super::check::{hunt, searching};
use super::parts::Part;
use crate::error::Error;
use crate::job::Job;
use crate::outcome::{MemoryModel, Outcome};
pub(super) use slices::{FORMAT, Proof, certify, text};
use throng_engine::gave_up::GaveUp;
use throng_engine::hunt::HuntFirst;
use throng_engine::{Algorithm, Engine};
use throng_goto::program::{Access, Instr, Order, Start};
use throng_goto::{Executions, Robust};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::property::Property;
use throng_model::verdict::{Trace, Unknown, Verdict};
use throng_model::{Bag, Config, Describe};

/// The most events of the executions that are searched.
const EVENTS: usize = 60;

/// Returns the limits for the questions under sequential consistency, where more is asked: half of
/// the time is left for the rest.
pub(super) fn first_share(posed: &Posed, limits: &Limits) -> Limits {
    if posed.loaded.query.is_weak() { share(limits, 2) } else { limits.clone() }
}

pub(super) fn share(limits: &Limits, parts: u32) -> Limits {
    match limits.time_left() {
        Some(left) => limits.part().timeout(left / parts),
        None => limits.part(),
    }
}

/// Answers about the memory model of C11 where sequential consistency was asked about so far.
pub(super) fn settle(job: &Job<'_>, posed: &Posed, parts: &mut [Part], limits: &Limits) -> Result<(), Error> {
    let query = &posed.loaded.query;
    let said = query.program.weak_orders || query.question.memory_model.is_some();
    for part in parts.iter_mut().filter(|_| said) {
        part.outcome.memory_model = Some(query.memory_model());
        part.outcome.memory_words = Some(match query.memory_model() {
            MemoryModel::Sequential => "memory orders are executed as seq_cst, as asked",
            _ => "runs of sequential consistency are executions of it",
        });
    }
    let open = |part: &Part| !part.outcome.is_unsafe() && !part.posed.loaded.query.question.asks_who_waits();
    if query.memory_model() != MemoryModel::C11 || !parts.iter().any(open) {
        return deny_deadlock_freedom(posed, parts);
    }
    let proved = parts.iter().filter(|p| open(p)).all(|p| p.outcome.is_safe());
    let robust = match proved {
        true => robustness(job, posed, &share(limits, 2))?,
        false => Robustness::Open(String::new()),
    };
    for part in parts.iter_mut().filter(|part| open(part)) {
        match &robust {
            Robustness::Shown(proof) => {
                part.orders.clone_from(proof);
                trust(part, ROBUST);
            }
            Robustness::Open(why) => search(job, part, why, limits)?,
        }
    }
    deny_deadlock_freedom(posed, parts)
}

/// That a thread waits for ever is not an event of an execution, and robustness says nothing about it
/// where threads wait for values.
fn deny_deadlock_freedom(posed: &Posed, parts: &mut [Part]) -> Result<(), Error> {
    let weak = posed.loaded.query.memory_model() == MemoryModel::C11;
    let asks = |part: &&mut Part| weak && part.posed.loaded.query.question.asks_who_waits();
    for part in parts.iter_mut().filter(asks) {
        part.outcome.memory_model = Some(MemoryModel::Sequential);
        part.outcome.memory_words = Some("of threads that wait for ever, nothing is known beyond it");
    }
    Ok(())
}

const ROBUST: &str =
    "the program is robust and has no data race, so that all its executions are of sequential consistency";
const EXPLORED: &str = "all executions were searched";

/// What was proved under sequential consistency holds.
fn trust(part: &mut Part, why: &'static str) {
    part.outcome.memory_words = Some(why);
    trusted(&part.posed, &mut part.outcome.assumptions);
}

/// Replaces the assumption of sequential consistency by what is left of it.
pub(super) fn trusted(posed: &Posed, assumptions: &mut Vec<Assumption>) {
    let sequential =
        |a: &Assumption| matches!(a, Assumption::SequentialConsistency { .. } | Assumption::StrongOrders);
    assumptions.retain(|a| !sequential(a));
    if may_buffer_loads(posed) && !assumptions.contains(&Assumption::NoLoadBuffering) {
        assumptions.insert(0, Assumption::NoLoadBuffering);
    }
}

/// What is known about robustness and races.
enum Robustness {
    /// The program is robust and has no data race; with a proof that can be written, if it is one.
    Shown(Option<Arc<Proof>>),
    /// Why that is not known.
    Open(String),
}

/// Asks whether a program is robust and has no data race: a proof by abstraction, slice by slice,
/// beside a search of real values.
fn robustness(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<Robustness, Error> {
    if posed.program().unclear_orders {
        return Ok(Robustness::Open("a memory order is not a constant, or is memory_order_consume".into()));
    }
    // Where threads are few, a search of real values ends soon, and its answer is exact.
    let closed = matches!(posed.program().start, Start::One(_)) && !posed.program().creates_without_bound();
    if job.settings.jobs == 1 || job.certifiable {
        let limits_of_search = if closed { share(limits, 2) } else { limits.part() };
        let searched = || Ok::<_, Error>(by_search(job, posed, &limits_of_search)?.0);
        let proved = || slices::prove(posed, &share(limits, 2));
        return match closed && !job.certifiable {
            true => match searched()? {
                Robustness::Open(why) if limits.check().is_ok() => {
                    Ok(proved().map_or(Robustness::Open(why), |p| Robustness::Shown(Some(Arc::new(p)))))
                }
                known => Ok(known),
            },
            false => match proved() {
                Some(proof) => Ok(Robustness::Shown(Some(Arc::new(proof)))),
                None => searched(),
            },
        };
    }
    let (mine, theirs) = (limits.part(), limits.part());
    let (stop_mine, stop_theirs) = (mine.stopper(), theirs.stopper());
    std::thread::scope(|scope| {
        let prover = scope.spawn(|| {
            let proved = slices::prove(posed, &mine);
            if proved.is_some() {
                stop_theirs.stop();
            }
            proved
        });
        let searched = by_search(job, posed, &theirs);
        if !matches!(searched, Ok((Robustness::Open(_), false))) {
            stop_mine.stop();
        }
        let proved = prover.join().unwrap_or(None);
        let (searched, violated) = searched?;
        // The search shows what the proof would have to exclude.
        Ok(match proved.filter(|_| !violated) {
            Some(proof) => Robustness::Shown(Some(Arc::new(proof))),
            None => searched,
        })
    })
}

/// Asks by a search of real values. Returns whether it found that the program is not robust, too.
fn by_search(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<(Robustness, bool), Error> {
    let program = posed.program();
    let model = Arc::new(Robust::new(posed.model.clone()));
    let problem = model.clone().problem(&posed.problem);
    let mut engine: Box<dyn Algorithm> = Engine::Auto.build(&job.settings);
    if matches!(program.start, Start::One(_)) {
        engine = Box::new(HuntFirst { hunt: hunt(program, problem.bound), then: engine });
    }
    let found = searching(job, posed, problem).check_by(&*engine, limits)?;
    Ok(match &found.answer.verdicts[0] {
        Verdict::Safe(_) => (Robustness::Shown(None), false),
        Verdict::Unsafe(trace) => (Robustness::Open(described(&model, trace)), true),
        Verdict::Unknown(why) => {
            let why = model.incomplete().unwrap_or_else(|| why.to_string());
            (Robustness::Open(format!("whether there are other executions is open: {why}")), false)
        }
    })
}

/// Says where a run leaves sequential consistency, or races: the last step, and what was watched.
fn described(model: &Robust, trace: &Trace) -> String {
    let Some(step) = trace.steps.last().map(|taken| &taken.step) else { return String::new() };
    let line = model.edge_place(step.edge).line;
    let Some(watch) = model.watched(step.from) else { return format!("line {line}") };
    let program = model.concrete().program();
    let name = program.name_of(watch.address).unwrap_or_else(|| "allocated memory".into());
    let other = program.origin_at(watch.at).line;
    match watch.is_race() {
        true => format!("line {line} may race with line {other}, at `{name}`"),
        false => format!("line {line} may meet the value that `{name}` had before line {other}"),
    }
}

/// Searches the executions, and changes the answer by what is found.
fn search(job: &Job<'_>, part: &mut Part, why: &str, limits: &Limits) -> Result<(), Error> {
    let model = Arc::new(Executions::new(part.posed.model.clone(), EVENTS));
    let program = part.posed.program();
    let bounds = match (&program.start, part.posed.problem.bound) {
        (Start::One(_), bound) => vec![bound],
        (Start::Any(_), Bound::Threads(n)) => vec![Bound::Threads(n.min(3))],
        (Start::Any(_), _) => vec![Bound::Threads(2), Bound::Threads(3)],
    };
    let closed = matches!(program.start, Start::One(_)) && !program.creates_without_bound();
    if program.unclear_orders {
        unknown(part, why, None);
        return Ok(());
    }
    let mut left = bounds.len() as u32;
    let mut open = None;
    for bound in bounds {
        let original = Problem { bound, ..part.posed.problem.clone() };
        let problem = model.clone().problem(&original, violated(&model, &part.posed));
        let then: Box<dyn Algorithm> = match closed {
            true => Engine::Explicit.build(&job.settings),
            false => Box::new(GaveUp(Unknown::Inconclusive("no failing execution was met".into()))),
        };
        let engine = HuntFirst { hunt: hunt(part.posed.program(), bound), then };
        let found = searching(job, &part.posed, problem).check_by(&engine, &share(limits, left))?;
        left -= 1;
        match &found.answer.verdicts[0] {
            Verdict::Unsafe(trace) => {
                let doubts: Vec<String> = model.doubts(trace).iter().map(|d| d.to_string()).collect();
                match doubts.is_empty() {
                    true => fails(&model, part, found),
                    false => unknown(part, why, Some(doubtful(&doubts))),
                }
                return Ok(());
            }
            Verdict::Safe(_) if closed && part.outcome.is_safe() => {
                trust(part, EXPLORED);
                return Ok(());
            }
            Verdict::Unknown(why) if closed => open = Some(why.to_string()),
            _ => {}
        }
    }
    let incomplete = model.incomplete().or(open);
    unknown(part, why, incomplete);
    Ok(())
}

fn doubtful(doubts: &[String]) -> String {
    format!("one fails, but perhaps none of the program: {}", doubts.join("; "))
}

/// Returns whether what is safe under sequential consistency is shown to be safe under C11.
#[cfg(feature = "c")]
pub(super) fn holds(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<bool, Error> {
    if matches!(robustness(job, posed, &share(limits, 2))?, Robustness::Shown(_)) {
        return Ok(true);
    }
    let program = posed.program();
    if !matches!(program.start, Start::One(_)) || program.creates_without_bound() {
        return Ok(false);
    }
    let model = Arc::new(Executions::new(posed.model.clone(), EVENTS));
    let problem = model.clone().problem(&posed.problem, violated(&model, posed));
    let engine = Engine::Explicit.build(&job.settings);
    Ok(searching(job, posed, problem).check_by(&*engine, limits)?.is_safe())
}

/// All that an execution may come to.
fn violated(model: &Executions, posed: &Posed) -> Target {
    let asked = posed.program().asked.len();
    let bad = (0..=asked).map(|n| model.failed(n)).chain([Executions::RACE]);
    Target::covering("executions".to_string(), bad.map(|s| Config::new(s, Bag::new())).collect())
}

/// An execution fails: it is the answer, and the others are open.
fn fails(model: &Executions, part: &mut Part, mut found: Outcome) {
    let Some(end) = found.trace().map(|trace| trace.end().shared) else { return };
    let (program, question) = (part.posed.program(), &part.posed.loaded.query.question);
    let bad = vec![Config::new(end, Bag::new())];
    let asked = program.asked.iter().enumerate().find(|(n, _)| model.failed(*n) == end);
    let target = match asked {
        Some((_, &what)) => Target {
            property: question.property(what).map(Arc::new),
            ..Target::covering(question.name(what), bad)
        },
        None if end == Executions::RACE => Target::of(Property::Race(None), bad),
        None => Target::of(Property::MemorySafety, bad),
    };
    let name = target.name.clone();
    found.problem.targets = vec![target];
    for other in part.outcome.problem.targets.iter().filter(|t| t.name != name) {
        found.problem.targets.push(other.with_configs(Vec::new()));
        let why = "an execution fails before, and what C says about what comes then is not asked";
        found.answer.verdicts.push(Verdict::Unknown(Unknown::Unsure(why.into())));
        found.answer.by.push(None);
        found.answer.fewest.push(false);
    }
    found.memory_model = Some(MemoryModel::C11);
    found.memory_words = Some("the execution is consistent by the axioms of RC11");
    found.assumptions.clone_from(&part.outcome.assumptions);
    let sequential =
        |a: &Assumption| matches!(a, Assumption::SequentialConsistency { .. } | Assumption::StrongOrders);
    found.assumptions.retain(|a| !sequential(a));
    found.remarks.clone_from(&part.outcome.remarks);
    found.most_threads = part.outcome.most_threads;
    part.outcome = found;
    part.executions = true;
}

/// What was proved under sequential consistency is open under C11.
fn unknown(part: &mut Part, why: &str, incomplete: Option<String>) {
    let found = match incomplete {
        Some(incomplete) => format!("no failing execution was found ({incomplete})"),
        None => format!("no failing execution was found with up to {EVENTS} events, in the time given"),
    };
    let why =
        format!("safe under sequential consistency; not shown for the memory orders used: {why}; {found}");
    let safe = part.outcome.answer.verdicts.iter_mut().filter(|v| matches!(v, Verdict::Safe(_)));
    safe.for_each(|v| *v = Verdict::Unknown(Unknown::Unsure(why.clone())));
    part.outcome.memory_words = None;
    part.outcome.answer.statistics.complete_up_to = None;
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
