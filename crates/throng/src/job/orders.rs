//! Memory orders of a Boolean program: what was proved under sequential consistency holds under the
//! memory model of C11 if the program is robust and free of races, which each slice of the monitor
//! ([`throng_memory::rules`]) asks about a model of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::execution::Run;
use super::{Job, Prepared};
use crate::error::Error;
use crate::outcome::{MemoryModel, Outcome, Remark};
use throng_check::certify::Certified;
use throng_engine::Algorithm;
use throng_lang::bp::Jit;
use throng_lang::bp::orders::{Executed, Orders, Slice, monitored, orders};
use throng_lang::load::{Input as Loaded, with_tree};
use throng_memory::rules::{Class, Location};
use throng_memory::search::{Hunt, Search};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
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
    Proved(Box<Outcome>),
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
                    failing.memory_words = Some("the execution is consistent by the axioms of RC11");
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
                failing.litmus = executed.litmus(&found.graph);
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
        let slices = orders.slices();
        for &(target, class) in &slices {
            let name = &orders.locations[target as usize];
            match self.slice((jit, orders), (target, class), engine, limits)? {
                Sliced::Proved(found) => {
                    outcome.answer.statistics.configurations += found.answer.statistics.configurations;
                    outcome.answer.statistics.steps += found.answer.statistics.steps;
                    outcome.phases.searching += found.phases.searching;
                    outcome.phases.checking += found.phases.checking;
                    outcome.time += found.time;
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
            "robust and free of races: {} of the monitor proved",
            plural(slices.len() as u64, "slice")
        );
        outcome.remarks.push(Remark::Abstraction(what));
        outcome.memory_words = Some(ROBUST);
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
            let Some((model, problem)) = self.problem(jit, orders, &slice)? else { continue };
            let job = Job::of(problem).settings(self.settings).watch(self.watch);
            let job = if self.checks { job } else { job.unchecked() };
            let found = job.search(engine, limits)?;
            match &found.answer.verdicts[..] {
                [Verdict::Safe(_)] => return Ok(Sliced::Proved(Box::new(found))),
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

    /// The question of a slice: no assertion of the monitor fails.
    fn problem(
        &self,
        jit: &Jit,
        orders: &Orders,
        slice: &Slice,
    ) -> Result<Option<(Arc<Jit>, Problem)>, Error> {
        let prepared = self.prepare()?;
        let Some(input) = &prepared.input else { return Ok(None) };
        let tree = monitored(jit.tree(), orders, slice);
        let model = with_tree(input.source(), tree, input.reading()).map_err(|found| {
            let why = found.first().map(|d| d.message.clone()).unwrap_or_default();
            Error::Flawed(format!("the monitor of a slice is not a program: {why}"))
        })?;
        let model = Arc::new(model);
        let asked = &prepared.problem;
        let initial = asked.initial.iter().map(|family| {
            let count = family.threads.size();
            model.initial(if family.any.is_empty() { Some(count) } else { None })
        });
        // A program of which no access can violate the slice asserts nothing.
        let targets = vec![model.assertions().unwrap_or_else(|| Target::covering("assertions", Vec::new()))];
        let problem = Problem { targets, initial: initial.collect(), model: model.clone(), ..asked.clone() };
        Ok(Some((model, problem)))
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
