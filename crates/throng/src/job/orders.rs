//! Memory orders of a Boolean program: what was proved under sequential consistency holds under the
//! memory model of C11 if the program is robust and free of races, which each slice of the monitor
//! ([`throng_memory::rules`]) asks about a model of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::execution::Run;
use super::slices::{self, Proved, question};
use super::{Job, Prepared};
use crate::error::Error;
use crate::outcome::{MemoryModel, Outcome, Remark};
use throng_check::certificate::Document;
use throng_check::certify::{Asked, Certified, Fault, certify};
use throng_engine::Algorithm;
use throng_lang::bp::Jit;
use throng_lang::bp::orders::{Executed, Orders, Slice, orders};
use throng_lang::load::Input as Loaded;
use throng_memory::rules::{Class, Location};
use throng_memory::search::{Hunt, Search};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::Target;
use throng_model::property::Property;
use throng_model::verdict::{Trace, Unknown, Verdict};
use throng_model::{Describe, SetStates, plural};

/// The most threads, events and graphs of the search for an execution that fails.
const MOST_THREADS: usize = 3;
const MOST_EVENTS: usize = 24;
const MOST_GRAPHS: usize = 20_000;

/// Why a proof holds.
const ROBUST: &str =
    "the program is robust and has no data race, so that all its executions are of sequential consistency";

/// What came of the search for an execution that fails.
enum Hunted {
    Failing(Box<Outcome>),
    /// How far it went.
    Nothing(String),
}

/// What came of a slice.
enum Sliced {
    /// With so many more bits for each thread.
    Proved(Box<Outcome>, Slice, Arc<Jit>, usize),
    /// Why not.
    Open(String),
}

impl Job<'_> {
    /// Answers about the memory model that was asked about, or that the program's orders mean, given
    /// the answer under sequential consistency.
    pub(super) fn with_orders(
        &self,
        mut outcome: Outcome,
        engine: &dyn Algorithm,
        limits: &Limits,
    ) -> Result<Outcome, Error> {
        let prepared = self.prepare()?;
        let Some((jit, orders)) = program(prepared) else { return Ok(outcome) };
        let model = self.question.code.memory_model.unwrap_or(match orders.is_sequential() {
            true if !orders.has_plain() => MemoryModel::Sequential,
            _ => MemoryModel::C11,
        });
        let weak = !orders.is_sequential() || orders.has_plain();
        if weak || self.question.code.memory_model.is_some() {
            outcome.memory_model = Some(model);
        }
        if model == MemoryModel::Sequential || !weak || outcome.is_unsafe() {
            return Ok(outcome);
        }
        let proved = outcome.answer.verdicts.iter().any(|v| matches!(v, Verdict::Safe(_)));
        let open = if proved { self.ask_slices(&mut outcome, (jit, &orders), engine, limits)? } else { None };
        if !outcome.is_safe() || open.is_some() {
            match self.hunt(&outcome, jit, &orders, limits)? {
                Hunted::Failing(mut failing) => {
                    failing.memory_model = outcome.memory_model;
                    failing.memory_words = Some("the execution is consistent by the axioms of RC11".into());
                    failing.subject = outcome.subject;
                    failing.warnings = outcome.warnings;
                    failing.time += outcome.time;
                    failing.phases.reading = outcome.phases.reading;
                    return Ok(*failing);
                }
                Hunted::Nothing(how) => {
                    open.iter().for_each(|why| withdraw(&mut outcome, &format!("{why}; {how}")));
                }
            }
        }
        Ok(outcome)
    }

    /// Says of a certificate about a program with weak memory orders what it is about.
    pub(super) fn as_proved(&self, mut certified: Certified) -> Certified {
        if self.prepare().is_ok_and(is_weak) {
            certified.assumptions.push(Assumption::SequentialConsistency { guaranteed: false });
        }
        certified
    }

    /// Checks a file with a proof about memory orders, if it calls itself one.
    pub(super) fn certify_orders(&self, bytes: &[u8], limits: &Limits) -> Result<Option<Certified>, Error> {
        if !slices::is_about_orders(bytes) {
            return Ok(None);
        }
        let prepared = self.prepare()?;
        let Some((jit, orders)) = program(prepared) else {
            let why = "the input is not a program with memory orders".into();
            return Err(Error::NotCertified(Fault::Invalid(why)));
        };
        let origin = || prepared.origin().ok_or_else(|| Fault::Unreadable("there is no input".into()));
        let sequential = |document: &Document| certify(&Asked::Check(origin()?), document, limits);
        Ok(Some(slices::check(prepared, (jit, &orders), bytes, &sequential, limits)?))
    }

    /// Looks for an execution that fails, with more and more threads.
    fn hunt(&self, outcome: &Outcome, jit: &Jit, orders: &Orders, limits: &Limits) -> Result<Hunted, Error> {
        let prepared = self.prepare()?;
        let problem = &prepared.problem;
        let source = prepared.input.as_ref().map(|input| input.source().clone());
        let Some(source) = source else { return Ok(Hunted::Nothing("no input".into())) };
        let fixed = problem.initial.iter().find(|f| f.any.is_empty()).map(|f| f.threads.size() as usize);
        let most = problem.bound.threads().map_or(MOST_THREADS, |n| MOST_THREADS.min(n as usize));
        let asserts = problem.targets.iter().any(|t| t.property.as_deref() == Some(&Property::Assertions));
        let stop = || limits.check().is_err();
        for threads in fixed.map_or(1..=most, |n| n..=n) {
            let Some(executed) = Executed::new(jit, orders, &source, threads) else {
                return Ok(Hunted::Nothing(
                    "executions of programs with atomic sections, or many locations, are not searched".into(),
                ));
            };
            let search = Search {
                events: MOST_EVENTS,
                graphs: MOST_GRAPHS,
                threads: most.max(threads),
                alike: threads,
                stop: &stop,
            };
            if let Hunt::Failing(found, failure) = search.hunt(&executed, asserts) {
                let run = Run::new(&executed, &found, &failure);
                let (problem, known) = run.problem(&failure, &outcome.problem);
                let job = Job::of(problem).read_from(source.clone());
                let mut failing = Box::new(job.search(&known, limits)?);
                failing.litmus =
                    Some(executed.litmus(&found.graph).ok_or_else(|| "threads are created".into()));
                return Ok(Hunted::Failing(failing));
            }
        }
        let threads = fixed.unwrap_or(most);
        let how = format!(
            "no failing execution was found with up to {MOST_EVENTS} events of {}, in {MOST_GRAPHS} graphs",
            plural(threads as u64, "thread")
        );
        Ok(Hunted::Nothing(how))
    }

    fn ask_slices(
        &self,
        outcome: &mut Outcome,
        (jit, orders): (&Jit, &Orders),
        engine: &dyn Algorithm,
        limits: &Limits,
    ) -> Result<Option<String>, Error> {
        let list = orders.slices();
        let (mut most, mut proved) = (0, Vec::new());
        for &(target, class) in &list {
            let name = &orders.locations[target as usize];
            match self.slice((jit, orders), (target, class), engine, limits)? {
                Sliced::Proved(found, slice, model, bits) => {
                    most = most.max(bits);
                    outcome.answer.statistics.configurations += found.answer.statistics.configurations;
                    outcome.answer.statistics.steps += found.answer.statistics.steps;
                    outcome.phases.searching += found.phases.searching;
                    outcome.phases.checking += found.phases.checking;
                    outcome.time += found.time;
                    let Outcome { problem, answer, .. } = *found;
                    proved.push(Proved { slice, model, problem, verdicts: answer.verdicts });
                }
                Sliced::Open(why) => {
                    return Ok(Some(format!("{why} `{name}`")));
                }
            }
        }
        if orders.may_buffer_loads() {
            outcome.assumptions.insert(0, Assumption::NoLoadBuffering);
        }
        let what = format!(
            "robust and free of races: {} of the monitor proved, with at most {} for each thread",
            plural(list.len() as u64, "slice"),
            plural(most as u64, "bit")
        );
        outcome.remarks.push(Remark::Abstraction(what));
        outcome.memory_words = Some(ROBUST.into());
        outcome.slices = Some(Arc::new(proved));
        Ok(None)
    }

    /// Asks a slice: first with the target as the only source, then with all.
    fn slice(
        &self,
        (jit, orders): (&Jit, &Orders),
        (target, class): (Location, Class),
        engine: &dyn Algorithm,
        limits: &Limits,
    ) -> Result<Sliced, Error> {
        let mut tries = vec![BTreeSet::from([target]), orders.atomics()];
        tries.dedup();
        let mut open = Sliced::Open(String::new());
        for sources in tries {
            let slice = Slice { target, class, sources };
            let (model, problem) = question(self.prepare()?, (jit, orders), &slice).map_err(Error::Flawed)?;
            let bits = model.program().thread_locals.len() - jit.program().thread_locals.len();
            let job = Job::of(problem).settings(self.settings).watch(self.watch);
            let job = if self.checks { job } else { job.unchecked() };
            let found = job.search(engine, limits)?;
            match &found.answer.verdicts[..] {
                [Verdict::Safe(_)] => return Ok(Sliced::Proved(Box::new(found), slice, model, bits)),
                [Verdict::Unsafe(trace)] => {
                    open = Sliced::Open(violated(&model, &found.problem.targets[0], trace, class));
                }
                [Verdict::Unknown(why), ..] => {
                    open = Sliced::Open(format!("whether other executions are possible is open ({why}), at"));
                }
                _ => {}
            }
        }
        Ok(open)
    }
}

impl Prepared {
    /// The memory orders of a Boolean program.
    pub(crate) fn orders(&self) -> Orders {
        program(self).map(|(_, orders)| orders).unwrap_or_default()
    }
}

/// Returns whether the input is a Boolean program with orders weaker than sequential consistency.
pub(super) fn is_weak(prepared: &Prepared) -> bool {
    program(prepared).is_some_and(|(_, orders)| !orders.is_sequential() || orders.has_plain())
}

fn program(prepared: &Prepared) -> Option<(&Jit, Orders)> {
    let Loaded::Program(jit) = &prepared.loaded()?.input else { return None };
    let orders = orders(jit.tree()).ok().filter(|orders| !orders.is_empty())?;
    Some((jit, orders))
}

/// Takes proofs back that hold under sequential consistency alone.
fn withdraw(outcome: &mut Outcome, why: &str) {
    let why = format!("safe under sequential consistency; not shown for the memory orders used: {why}");
    let safe = outcome.answer.verdicts.iter_mut().filter(|v| matches!(v, Verdict::Safe(_)));
    safe.for_each(|v| *v = Verdict::Unknown(Unknown::Unsure(why.clone())));
    outcome.answer.statistics.complete_up_to = None;
}

/// Says where a run leaves what sequential consistency allows.
fn violated(model: &Jit, target: &Target, trace: &Trace, class: Class) -> String {
    let end = trace.steps.last().map_or(&trace.start, |taken| &taken.after);
    let bad = target.configs.iter().filter(|c| model.meets_shared(c.shared, end.shared));
    let mut threads = bad.flat_map(|c| c.threads.entries().iter().map(|e| e.0));
    let here = threads.find_map(|bad| {
        let found = end.threads.entries().iter().find(|e| model.meets_local(e.0, bad));
        found.and_then(|e| model.place(e.0))
    });
    let line = here.map_or_else(String::new, |place| format!("line {} ", place.line));
    let what = match class {
        Class::LastWrite | Class::Watched => "may race with another access of",
        Class::Any | Class::Valued => "may read a value that is not the last one of",
        Class::AnyUnread | Class::ValuedUnread => "may write before the last write of",
    };
    format!("{line}{what}")
}
