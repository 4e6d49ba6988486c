//! The way to an answer about one question: a short hunt, predicate abstraction beside the engines
//! of the library, locksets and the order of locks before all of them; and what the program itself
//! may not bear out.

use std::sync::Arc;
use std::time::Instant;

use super::abstraction::{Attempt, WithAbstraction};
use super::deadlock::Known;
use super::{Answered, Posed, deadlock, locksets, memory, orders, parts, races, undecided, waiting};
use crate::error::Error;
use crate::job::Job;
use crate::outcome::{Outcome, Remark};
use crate::report::plural;
use throng_engine::gave_up::GaveUp;
use throng_engine::hunt::{Hunt, HuntFirst};
use throng_engine::{Algorithm, Answer, Engine, Watch};
use throng_goto::model::Remarks;
use throng_goto::program::{Program, Start};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Trace, Unknown, Verdict};

/// What searches.
#[derive(Clone, Copy)]
pub(crate) enum Search<'a> {
    /// An engine of the library; [`Engine::Auto`] comes with the provers of the language.
    Engine(Engine),
    /// An engine of the caller's.
    Own(&'a dyn Algorithm),
}

impl<'a> Search<'a> {
    fn build(self, job: &Job<'_>) -> Box<dyn Algorithm + 'a> {
        match self {
            Search::Engine(engine) => engine.build(&job.settings),
            Search::Own(engine) => Box::new(Borrowed(engine)),
        }
    }

    fn is_auto(self) -> bool {
        matches!(self, Search::Engine(Engine::Auto))
    }
}

struct Borrowed<'a>(&'a dyn Algorithm);

impl Algorithm for Borrowed<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        self.0.run(problem, limits, watch)
    }
}

/// Answers each thing that is asked about a program, and puts the answers side by side.
pub(crate) fn check(
    job: &Job<'_>,
    posed: &Posed,
    search: Search<'_>,
    limits: &Limits,
) -> Result<Outcome, Error> {
    let began = Instant::now();
    let mut parts = parts::answer(job, search, posed.clone(), &orders::first_share(posed, limits))?;
    orders::settle(job, posed, &mut parts, limits)?;
    let mut outcome = parts::merge(&parts);
    outcome.time = began.elapsed();
    let misused = parts.iter().filter(|p| !p.posed.loaded.query.question.locks);
    outcome.remarks.extend(misused.filter_map(|p| p.remarks().misuse).next().map(Remark::Misuse));
    outcome.answered = Some(Arc::new(Answered { parts }));
    Ok(outcome)
}

/// Answers one question.
pub(super) fn decide(
    job: &Job<'_>,
    search: Search<'_>,
    posed: &mut Posed,
    limits: &Limits,
) -> Result<(Outcome, Arc<Attempt>), Error> {
    let auto = search.is_auto();
    let known = if auto { deadlock::known(posed, limits) } else { None };
    if auto
        && !matches!(known, Some(Known::Proof(..)))
        && let Some((proved, outcome)) = waiting::prove(job, posed, limits)?
    {
        return conclude(job, posed, proved, outcome, limits);
    }
    let mut engine = search.build(job);
    let hunt = (auto && matches!(posed.program().start, Start::One(_)))
        .then(|| hunt(posed.program(), posed.problem.bound));
    let abstraction = Arc::new(Attempt::new(job, posed)?);
    if auto && abstraction.applies() {
        let (model, attempt) = (posed.model.clone(), abstraction.clone());
        engine = Box::new(WithAbstraction { hunt, then: engine, attempt, model });
    } else if let Some(hunt) = hunt {
        engine = Box::new(HuntFirst { hunt, then: engine });
    }
    let mut possible_deadlock = None;
    match known {
        Some(Known::Proof(proof, checked)) => {
            deadlock::ask(&mut posed.problem);
            engine = Box::new(deadlock::Proved(proof, checked));
        }
        known if posed.loaded.query.question.deadlock => {
            engine = deadlock::also(engine, &posed.model, &mut posed.problem, limits);
            possible_deadlock = known.and_then(Known::possible);
        }
        _ => {}
    }
    let stuck = deadlock::ask_stuck(posed);
    if stuck && auto {
        // Of whole configurations the provers of source code know nothing.
        engine = Engine::Explicit.build(&job.settings);
    }
    let locksets = auto.then(|| locksets::prove(posed)).flatten();
    if let Some(compared) = locksets {
        engine = Box::new(locksets::Proved(compared));
    }
    let analysed = if auto { races::analyse(posed, limits)?.map(Arc::new) } else { None };
    if let Some(analysed) = analysed.clone().filter(|_| locksets.is_none()) {
        engine = match analysed.proof() {
            Some(proof) => Box::new(proof),
            None => Box::new(races::Confirming { job, posed: posed.clone(), analysed, then: engine }),
        };
    }
    if let Some(analysed) = analysed.as_ref().filter(|a| job.keeps_so_far() && a.proof().is_none()) {
        job.pass_so_far(so_far(job, posed, analysed, limits)?)?;
    }
    let mut outcome = searching(job, posed, posed.problem.clone()).check_by(&*engine, limits)?;
    settle(posed, &mut outcome);
    let remarks = abstraction.remarks(&outcome).unwrap_or_else(|| posed.model.remarks());
    outcome.assumptions = assumptions(posed, &remarks, &outcome);
    let ordered = deadlock::is_ordered(&outcome);
    let by_analysis = outcome.answer.by.contains(&Some(races::NAME));
    if locksets.is_some() || by_analysis || ordered || stuck && outcome.is_safe() {
        outcome.assumptions.push(Assumption::MemorySafe);
    }
    memory::name(posed, &mut outcome);
    if outcome.is_safe() && (locksets.is_some() || by_analysis || ordered || abstraction.trusts_bounds()) {
        memory::refute(job, posed, &mut outcome, limits)?;
    }
    undecided::look(posed, &mut outcome);
    match &analysed {
        Some(analysed) => races::conclude(job, posed, &mut outcome, analysed),
        None if auto && locksets.is_none() => races::mention_limit(posed, &mut outcome),
        None => {}
    }
    if let Some(places) = possible_deadlock {
        deadlock::mention(&mut outcome, &places);
    }
    Ok((outcome, abstraction))
}

/// Returns the outcome if no search ends: what the analysis has found.
fn so_far(
    job: &Job<'_>,
    posed: &Posed,
    analysed: &races::Analysed,
    limits: &Limits,
) -> Result<Outcome, Error> {
    let stopped = GaveUp(Unknown::Unsure("the search for runs was stopped".into()));
    let mut outcome = searching(job, posed, posed.problem.clone()).check_by(&stopped, limits)?;
    outcome.assumptions = assumptions(posed, &posed.model.remarks(), &outcome);
    outcome.most_threads = posed.program().most_threads();
    races::conclude(job, posed, &mut outcome, analysed);
    Ok(outcome)
}

/// Completes the proof about threads that wait: the model is that of the proof from here on.
fn conclude(
    job: &Job<'_>,
    posed: &mut Posed,
    proved: Posed,
    mut outcome: Outcome,
    limits: &Limits,
) -> Result<(Outcome, Arc<Attempt>), Error> {
    let abstraction = Arc::new(Attempt::new(job, posed)?);
    settle(&proved, &mut outcome);
    outcome.assumptions = assumptions(&proved, &proved.model.remarks(), &outcome);
    outcome.assumptions.push(Assumption::MemorySafe);
    memory::refute(job, posed, &mut outcome, limits)?;
    if outcome.is_safe() {
        *posed = proved;
    }
    Ok((outcome, abstraction))
}

/// Returns a job about a problem of the program, which searches as `job` does.
pub(super) fn searching<'a>(job: &Job<'a>, posed: &Posed, problem: Problem) -> Job<'a> {
    let inner = Job::of(problem)
        .vocabulary(job.names())
        .read_from(posed.loaded.query.source.clone())
        .settings(job.settings)
        .watch(job.watch);
    if job.checks { inner } else { inner.unchecked() }
}

/// Budgets of configurations of the hunt in the order of steps, where threads are created in a loop
/// and where they are not; and of the hunt with few interruptions.
const BUDGETS: (usize, usize, usize) = (60_000, 10_000, 150_000);

/// Bytes of shared memory that the configurations of a hunt may keep, and how many one of them
/// takes at most: it shares the rest with others.
const ROOM: (usize, usize) = (100 << 20, 2048);

/// Returns the short hunt before other engines.
pub(super) fn hunt(program: &Program, bound: Bound) -> Hunt {
    let loops = program.creates_without_bound();
    let threads = match bound.threads().or(program.most_threads().filter(|_| !loops)) {
        Some(n) => vec![n],
        None => vec![3, 5, 60],
    };
    let room = ROOM.0 / (2 * program.shared_size()).clamp(1, ROOM.1);
    let in_order = if loops { BUDGETS.0 } else { BUDGETS.1 };
    let budget = (in_order.min(room), BUDGETS.2.min(room));
    let crowds = loops && program.leaves_creation();
    Hunt { bound: bound.threads().unwrap_or(u32::MAX), budget, threads, crowds }
}

/// Withdraws verdicts that the program itself may not bear out, which engines do not know.
fn settle(posed: &Posed, outcome: &mut Outcome) {
    let mut possible = Vec::new();
    for (n, verdict) in outcome.answer.verdicts.iter_mut().enumerate() {
        let why = match verdict {
            Verdict::Unsafe(trace) => unsure_run(posed, n, trace),
            Verdict::Safe(_) => unsure_proof(posed),
            // What the program does is not known, whoever searches.
            Verdict::Unknown(Unknown::Inconclusive(_)) => posed.model.incomplete(),
            Verdict::Unknown(_) => None,
        };
        if let Some(why) = why {
            let open = Verdict::Unknown(Unknown::Unsure(why));
            if let Verdict::Unsafe(trace) = std::mem::replace(verdict, open) {
                possible.push((n, trace));
            }
        }
    }
    let shown = possible.iter().map(|(n, trace)| undecided::possible(posed, &outcome.problem, *n, trace));
    outcome.possible = shown.collect();
    if posed.undefined().is_some() {
        // Nor is anything known about small numbers of threads.
        outcome.answer.statistics.complete_up_to = None;
    }
    outcome.most_threads = posed.program().most_threads();
}

/// Returns why a run into target `n` need not be one of the program.
pub(super) fn unsure_run(posed: &Posed, n: usize, trace: &Trace) -> Option<String> {
    let doubts = undecided::doubts(posed, n, trace);
    let first = doubts.first()?;
    let more = match doubts.len() - 1 {
        0 => String::new(),
        more => format!(", and {} more", plural(more as u64, "doubt")),
    };
    Some(format!("a run was found, but perhaps not one of the program: {first}{more}"))
}

/// Returns why a proof need not be one about the program.
fn unsure_proof(posed: &Posed) -> Option<String> {
    let names = posed.undefined()?;
    Some(format!("nothing is proved about a program that calls what is not defined: {names}"))
}

/// Returns what the verdicts take for granted.
fn assumptions(posed: &Posed, remarks: &Remarks, outcome: &Outcome) -> Vec<Assumption> {
    let query = &posed.loaded.query;
    let mut found = query.assumptions(remarks);
    // Of programs that were proved to have none, whatever the number of their threads.
    let race_free = query.question.race
        // C does not say that `volatile` is atomic.
        && !query.question.volatile_atomic
        && outcome.is_safe()
        && posed.problem.bound == Bound::Any
        && !query.program.weak_orders;
    let plain = Assumption::SequentialConsistency { guaranteed: false };
    if race_free {
        let is_plain = found.iter_mut().filter(|a| **a == plain);
        is_plain.for_each(|a| *a = Assumption::SequentialConsistency { guaranteed: true });
    }
    found
}
