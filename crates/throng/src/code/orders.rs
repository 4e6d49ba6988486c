//! Memory orders: what holds under the memory model of C11, beyond sequential consistency.
//!
//! What was proved under sequential consistency holds there if the program is robust and has no
//! data race, which is asked about a model of its own ([`throng_goto::robust`]). If it is not, the
//! executions are searched ([`throng_goto::executions`]): one that fails is a violation, and if
//! there are only finitely many and none fails, the program is safe.

mod buffering;
mod slices;

use std::borrow::Cow;
use std::sync::Arc;

use super::Posed;
use super::check::Search::Engine as Auto;
use super::check::{decide, hunt, searching};
use super::parts::Part;
use crate::error::Error;
use crate::job::Job;
use crate::outcome::{MemoryModel, Outcome};
pub(super) use slices::{FORMAT, Proof, certify, text};
use throng_engine::gave_up::GaveUp;
use throng_engine::hunt::HuntFirst;
use throng_engine::{Algorithm, Answer, Engine, Statistics, Watch};
use throng_goto::program::{Access, Instr, Point, Program, Start, Violation};
use throng_goto::robust::lag::Values;
use throng_goto::{Concrete, Executions, Robust};
use throng_goto_check::monitored::shares_only_atomics;
use throng_memory::axioms::Sequences;
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::property::Property;
use throng_model::verdict::{Trace, Unknown, Verdict};
use throng_model::{Bag, Config};

/// The most events of the executions that are searched.
const EVENTS: usize = 60;
/// The most configurations of the runs in which values are collected.
const MOST_CONFIGURATIONS: usize = 400_000;

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
        let words = match query.memory_model() {
            MemoryModel::Sequential => "memory orders are executed as seq_cst, as asked",
            _ => "runs of sequential consistency are executions of it",
        };
        part.outcome.memory_words = Some(words.into());
    }
    let open = |part: &Part| !part.outcome.is_unsafe() && !part.posed.loaded.query.question.asks_who_waits();
    if query.memory_model() != MemoryModel::C11 || !parts.iter().any(open) {
        return deny_deadlock_freedom(posed, parts);
    }
    let proved = parts.iter().filter(|p| open(p)).all(|p| p.outcome.is_safe());
    if proved && cannot_fail(posed.program()) {
        parts.iter_mut().filter(|part| open(part)).for_each(|part| trust(part, NOTHING.into(), &[]));
        return deny_deadlock_freedom(posed, parts);
    }
    let robust = match proved {
        true => robustness(job, posed, &share(limits, 2))?,
        false => Robustness::Open(String::new()),
    };
    for part in parts.iter_mut().filter(|part| open(part)) {
        match &robust {
            Robustness::Shown(proof, assumed) => {
                part.orders.clone_from(proof);
                trust(part, ROBUST.into(), assumed);
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
        part.outcome.memory_words = Some("of threads that wait for ever, nothing is known beyond it".into());
    }
    Ok(())
}

const ROBUST: &str =
    "the program is robust and has no data race, so that all its executions are of sequential consistency";
const EXPLORED: &str = "all executions were searched";
const NOTHING: &str = "threads share atomic objects only, and nothing is asserted, so that nothing can fail";

/// What was proved under sequential consistency holds.
fn trust(part: &mut Part, why: Cow<'static, str>, assumed: &[Assumption]) {
    part.outcome.memory_words = Some(why);
    trusted(&part.posed, &mut part.outcome.assumptions);
    for assumption in assumed {
        if !part.outcome.assumptions.contains(assumption) {
            part.outcome.assumptions.push(assumption.clone());
        }
    }
}

/// What a proof about release sequences of one kind takes for granted.
fn assumed(kind: Sequences) -> Vec<Assumption> {
    match kind {
        Sequences::Updates => Vec::new(),
        Sequences::Thread => vec![Assumption::ReleaseSequences],
    }
}

/// Returns whether no execution at all can violate anything: threads share atomic variables only,
/// and the code asserts nothing.
fn cannot_fail(program: &Program) -> bool {
    let asked = |v: &Violation| matches!(v, Violation::Assertion | Violation::Race);
    let mut code = program.templates.iter().flat_map(|t| &t.code);
    let fails = |i: &Instr| matches!(i, Instr::Fail(..) | Instr::Unmodelled(_) | Instr::Pointer(_));
    program.asked.iter().all(asked) && !code.any(fails) && shares_only_atomics(program)
}

/// Replaces the assumption of sequential consistency by what is left of it.
pub(super) fn trusted(posed: &Posed, assumptions: &mut Vec<Assumption>) {
    let sequential =
        |a: &Assumption| matches!(a, Assumption::SequentialConsistency { .. } | Assumption::StrongOrders);
    assumptions.retain(|a| !sequential(a));
    if buffering::may_buffer_loads(posed.program()) && !assumptions.contains(&Assumption::NoLoadBuffering) {
        assumptions.insert(0, Assumption::NoLoadBuffering);
    }
}

/// What is known about robustness and races.
enum Robustness {
    /// The program is robust and has no data race; with a proof that can be written, if it is one,
    /// and what that takes for granted.
    Shown(Option<Arc<Proof>>, Vec<Assumption>),
    /// Why that is not known.
    Open(String),
}

/// Asks whether a program is robust and has no data race: a proof by abstraction, slice by slice,
/// beside a search of real values; and then, whether it is but for reads that change nothing.
fn robustness(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<Robustness, Error> {
    if posed.program().unclear_orders {
        return Ok(Robustness::Open("a memory order is not a constant, or is memory_order_consume".into()));
    }
    if !posed.program().weak_orders
        && let Some(assumptions) = race_free(job, posed, &share(limits, 2))?
    {
        return Ok(Robustness::Shown(None, assumptions));
    }
    // Where threads are few, a search of real values ends soon, and its answer is exact.
    let closed = is_closed(posed);
    let alone = job.settings.jobs == 1 || job.certifiable;
    let (found, violated) = match alone {
        true => one_by_one(job, posed, closed && !job.certifiable, limits)?,
        false => side_by_side(job, posed, limits)?,
    };
    match found {
        Robustness::Open(why) if violated && closed => but_for_little(job, posed, why, limits),
        known => Ok(known),
    }
}

/// Asks whether a program of which all atomic operations are sequentially consistent has a data race
/// under sequential consistency: without one, it has no other executions. Returns what a proof
/// takes for granted.
fn race_free(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<Option<Vec<Assumption>>, Error> {
    let question = &posed.loaded.query.question;
    let mut races = question.clone();
    races.race = true;
    races.about.clear();
    let Some(asked) = races.singles().into_iter().find(|q| q.violations() == [Violation::Race]) else {
        return Ok(None);
    };
    if question.volatile_atomic {
        return Ok(None);
    }
    let mut asked = posed.asking(&asked)?;
    let (mut outcome, _) = decide(job, Auto(Engine::Auto), &mut asked, limits)?;
    trusted(&asked, &mut outcome.assumptions);
    Ok(outcome.is_safe().then_some(outcome.assumptions))
}

/// Returns whether one thread starts all others, and a program says how many.
fn is_closed(posed: &Posed) -> bool {
    matches!(posed.program().start, Start::One(_)) && !posed.program().creates_without_bound()
}

/// What is known, and whether a search has found that the program is not robust.
type Found = (Robustness, bool);

fn proved(posed: &Posed, limits: &Limits) -> Option<Robustness> {
    let proof = slices::prove(posed, limits)?;
    Some(Robustness::Shown(Some(Arc::new(proof)), Vec::new()))
}

/// Searches and proves one after the other. `search_first`: the proof only if the search does not
/// come to an end.
fn one_by_one(job: &Job<'_>, posed: &Posed, search_first: bool, limits: &Limits) -> Result<Found, Error> {
    let model = Robust::new(posed.model.clone());
    if !search_first {
        return match proved(posed, &share(limits, 2)) {
            Some(robust) => Ok((robust, false)),
            None => by_search(job, posed, model, &limits.part()),
        };
    }
    let (found, violated) = by_search(job, posed, model, &share(limits, 2))?;
    Ok(match found {
        Robustness::Open(why) if !violated && limits.check().is_ok() => {
            (proved(posed, &limits.part()).unwrap_or(Robustness::Open(why)), false)
        }
        known => (known, violated),
    })
}

fn side_by_side(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<Found, Error> {
    let (mine, theirs) = (limits.part(), limits.part());
    let (stop_mine, stop_theirs) = (mine.stopper(), theirs.stopper());
    std::thread::scope(|scope| {
        let prover = scope.spawn(|| {
            let proved = proved(posed, &mine);
            if proved.is_some() {
                stop_theirs.stop();
            }
            proved
        });
        let searched = by_search(job, posed, Robust::new(posed.model.clone()), &theirs);
        if !matches!(searched, Ok((Robustness::Open(_), false))) {
            stop_mine.stop();
        }
        let proved = prover.join().unwrap_or(None);
        let (searched, violated) = searched?;
        // The search shows what the proof would have to exclude.
        Ok(match proved.filter(|_| !violated) {
            Some(robust) => (robust, false),
            None => (searched, violated),
        })
    })
}

/// Asks about a program that is not robust, and of which the runs are finitely many, whether it is
/// but for reads that change nothing; first with the release sequences of C++20, which are weaker,
/// then with those of C11.
fn but_for_little(job: &Job<'_>, posed: &Posed, why: String, limits: &Limits) -> Result<Robustness, Error> {
    let numbered = Program { numbered: true, ..posed.program().clone() };
    let kinds = if continues_sequences(posed.program()) {
        &[Sequences::Updates, Sequences::Thread][..]
    } else {
        &[Sequences::Updates]
    };
    for (n, &kind) in kinds.iter().enumerate() {
        let part = share(limits, (kinds.len() - n) as u32);
        let concrete = match kind {
            Sequences::Thread if !posed.program().numbered => {
                Arc::new(Concrete::new(Arc::new(numbered.clone())))
            }
            _ => posed.model.clone(),
        };
        let stop = || part.check().is_err();
        let Some(values) = Values::of(&concrete, MOST_CONFIGURATIONS, &stop) else { continue };
        let model = Robust::new(concrete).but_for_harmless_reads(values).with(kind);
        if let (Robustness::Shown(proof, _), _) = by_search(job, posed, model, &part)? {
            return Ok(Robustness::Shown(proof, assumed(kind)));
        }
    }
    Ok(Robustness::Open(why))
}

/// Returns whether a write of a thread may continue a release sequence of it: there are writes that
/// release, and others.
fn continues_sequences(program: &Program) -> bool {
    let orders = program.templates.iter().flat_map(|t| t.code.iter().zip(&t.access)).filter_map(|(i, a)| {
        let Instr::Store(..) = i else { return None };
        match a {
            Access::Atomic(order) | Access::Update(order, _) => Some(order.releases()),
            Access::Plain | Access::Internal => None,
        }
    });
    let (mut some, mut others) = (false, false);
    orders.for_each(|releases| {
        some |= releases;
        others |= !releases;
    });
    some && others
}

/// Asks by a search of real values. Returns whether it found that the program is not robust, too.
fn by_search(job: &Job<'_>, posed: &Posed, model: Robust, limits: &Limits) -> Result<Found, Error> {
    let program = posed.program();
    let model = Arc::new(model);
    let problem = model.clone().problem(&posed.problem);
    let mut engine: Box<dyn Algorithm> = Engine::Auto.build(&job.settings);
    if matches!(program.start, Start::One(_)) {
        engine = Box::new(HuntFirst { hunt: hunt(program, problem.bound), then: engine });
    }
    let found = searching(job, posed, problem).check_by(&*engine, limits)?;
    Ok(match &found.answer.verdicts[0] {
        Verdict::Safe(_) => (Robustness::Shown(None, Vec::new()), false),
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
    let program = model.concrete().program();
    let place = |at: Point| {
        let access = program.templates[at.template as usize].access[at.pc as usize];
        let line = program.origin_at(at).line;
        match access {
            Access::Atomic(order) => format!("line {line} ({order})"),
            Access::Update(done, failed) if done == failed => format!("line {line} ({done})"),
            Access::Update(done, failed) => format!("line {line} ({done}, or {failed})"),
            Access::Plain | Access::Internal => format!("line {line}"),
        }
    };
    let here = place(model.concrete().at(step.edge));
    let Some(watch) = model.watched(step.from) else { return here };
    let name = program.name_of(watch.address).unwrap_or_else(|| "allocated memory".into());
    let other = place(watch.at);
    match watch.is_race() {
        true => format!("{here} may race with {other}, at `{name}`"),
        false => format!("{here} may meet the value that `{name}` had before {other}"),
    }
}

/// Searches the executions, and changes the answer by what is found.
fn search(job: &Job<'_>, part: &mut Part, why: &str, limits: &Limits) -> Result<(), Error> {
    if part.posed.program().unclear_orders {
        unknown(part, why, None);
        return Ok(());
    }
    let model = Arc::new(Executions::new(part.posed.model.clone(), EVENTS));
    let parts = 1 + u32::from(continues_sequences(part.posed.program()));
    let met = meets_an_end(job, part, &model, Sequences::Updates, why, &share(limits, parts))?;
    let Met::Nothing(open) = met else { return Ok(()) };
    if model.differs() && part.outcome.is_safe() && is_closed(&part.posed) {
        let other = Executions::new(part.posed.model.clone(), EVENTS).with(Sequences::Thread);
        let met = meets_an_end(job, part, &Arc::new(other), Sequences::Thread, why, limits)?;
        if matches!(met, Met::Answer) {
            return Ok(());
        }
    }
    let incomplete = model.incomplete().or(open);
    unknown(part, why, incomplete);
    Ok(())
}

/// What a search of executions has met.
enum Met {
    /// The answer.
    Answer,
    /// None; why there may be more executions, if that is known.
    Nothing(Option<String>),
}

/// Searches executions with release sequences of one kind.
fn meets_an_end(
    job: &Job<'_>,
    part: &mut Part,
    model: &Arc<Executions>,
    kind: Sequences,
    why: &str,
    limits: &Limits,
) -> Result<Met, Error> {
    let closed = is_closed(&part.posed);
    let bounds = match (&part.posed.program().start, part.posed.problem.bound) {
        (Start::One(_), bound) => vec![bound],
        (Start::Any(_), Bound::Threads(n)) => vec![Bound::Threads(n.min(3))],
        (Start::Any(_), _) => vec![Bound::Threads(2), Bound::Threads(3)],
    };
    if closed && part.posed.problem.bound == Bound::Any && explored(job, part, model, kind, limits)? {
        return Ok(Met::Answer);
    }
    let (mut left, mut open) = (bounds.len() as u32, None);
    for bound in bounds {
        let original = Problem { bound, ..part.posed.problem.clone() };
        let problem = model.clone().problem(&original, violated(model, &part.posed));
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
                    true => fails(model, part, found),
                    false => unknown(part, why, Some(doubtful(&doubts))),
                }
                return Ok(Met::Answer);
            }
            Verdict::Safe(_) if closed && part.outcome.is_safe() => {
                trust(part, EXPLORED.into(), &assumed(kind));
                return Ok(Met::Answer);
            }
            Verdict::Unknown(why) if closed => open = Some(why.to_string()),
            _ => {}
        }
    }
    Ok(Met::Nothing(open))
}

/// Explores the executions of a program without meeting one twice; returns whether that gave the
/// answer. An execution that fails is looked for again, to find a shorter one.
fn explored(
    job: &Job<'_>,
    part: &mut Part,
    model: &Arc<Executions>,
    kind: Sequences,
    limits: &Limits,
) -> Result<bool, Error> {
    let problem = model.clone().problem(&part.posed.problem, violated(model, &part.posed));
    let found = model.explore(&problem, &share(limits, 2));
    if found.exhausted && part.outcome.is_safe() {
        trust(part, searched_all(found.complete, found.blocked).into(), &assumed(kind));
        return Ok(true);
    }
    let Some(trace) = found.failing.filter(|trace| model.doubts(trace).is_empty()) else { return Ok(false) };
    let hunt = hunt(part.posed.program(), part.posed.problem.bound);
    let engine = HuntFirst { hunt, then: Box::new(Known(trace)) };
    let found = searching(job, &part.posed, problem).check_by(&engine, limits)?;
    let is_known = |trace: &Trace| model.doubts(trace).is_empty();
    let fails_so = found.trace().is_some_and(is_known);
    if fails_so {
        fails(model, part, found);
    }
    Ok(fails_so)
}

fn searched_all(complete: usize, blocked: usize) -> String {
    let waiting = match blocked {
        0 => String::new(),
        n => format!(", and {n} in which a thread waits for ever"),
    };
    match complete {
        1 => format!("its one execution was searched{waiting}"),
        n => format!("all {n} executions were searched{waiting}"),
    }
}

/// An engine that knows the run.
struct Known(Trace);

impl Algorithm for Known {
    fn name(&self) -> &'static str {
        "executions"
    }

    fn run(&self, _: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
        Answer::new(vec![Verdict::Unsafe(self.0.clone())], Statistics::default())
    }
}

fn doubtful(doubts: &[String]) -> String {
    format!("one fails, but perhaps none of the program: {}", doubts.join("; "))
}

/// Returns whether what is safe under sequential consistency is shown to be safe under C11.
#[cfg(feature = "c")]
pub(super) fn holds(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<bool, Error> {
    if matches!(robustness(job, posed, &share(limits, 2))?, Robustness::Shown(..)) {
        return Ok(true);
    }
    if !is_closed(posed) {
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
    found.memory_words = Some("the execution is consistent by the axioms of RC11".into());
    found.litmus = found.trace().map(|trace| model.litmus(trace));
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
