//! The checker: whether the evidence of a verdict holds. It calls no engine and takes nothing from one on trust.
//!
//! A run is replayed, a closed set is shown to be closed, both through [`semantics::fire`] alone. What has to be believed
//! is this file, [`crate::model`], [`crate::problem`] and the model itself.

mod products;

use std::collections::HashSet;
use std::fmt;

use crate::model::{Config, Local, Model, OMEGA, Step, semantics};
use crate::problem::{Bound, Initial, Problem, Target};
use crate::reduction::Reduction;
use crate::verdict::{Certificate, Trace, Verdict};

/// Checks that the evidence of `verdict` shows what the verdict says about `target`.
///
/// A verdict that claims nothing passes.
pub fn check(problem: &Problem, target: &Target, verdict: &Verdict) -> Result<(), Flaw> {
    match verdict {
        Verdict::Unsafe(trace) => check_trace(problem, target, trace),
        Verdict::Safe(Certificate::Closed(set)) => check_closed(problem, target, set, None),
        Verdict::Safe(Certificate::Reduced(set)) => {
            check_closed(problem, target, set, Reduction::of(problem).as_ref())
        }
        Verdict::Safe(Certificate::Products(products)) => products::check_products(problem, target, products),
        Verdict::Unknown(_) => Ok(()),
    }
}

/// What is wrong with a piece of evidence. Configurations are in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// A run starts where the system does not.
    NotInitial(String),
    /// A step of a run, counted from 1, is not a step of the model.
    NoSuchStep(usize),
    /// A step of a run, counted from 1, does not lead where the run says, or is not enabled.
    LeadsElsewhere(usize, String),
    /// A run ends in a configuration that is not bad.
    EndIsNotBad(String),
    /// A closed set is offered for a question about infinitely many initial configurations.
    TooManyInitial,
    /// An initial configuration is missing in a closed set.
    InitialMissing(String),
    /// A member of a set has a successor outside.
    NotClosed(String, String),
    /// A member of a set is bad.
    BadMember(String),
    /// It is no evidence at all.
    Malformed(String),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NotInitial(c) => write!(f, "the run starts in {c}, which is not initial within the bound"),
            Flaw::NoSuchStep(i) => write!(f, "step {i} of the run is not a step of the model"),
            Flaw::LeadsElsewhere(i, c) => write!(f, "step {i} of the run does not lead to {c}"),
            Flaw::EndIsNotBad(c) => write!(f, "the run ends in {c}, which does not cover the target"),
            Flaw::TooManyInitial => {
                write!(f, "a finite set cannot hold every initial configuration of any number of threads")
            }
            Flaw::InitialMissing(c) => write!(f, "the set lacks the initial configuration {c}"),
            Flaw::NotClosed(c, d) => write!(f, "the set holds {c} but not its successor {d}"),
            Flaw::Malformed(what) => f.write_str(what),
            Flaw::BadMember(c) => write!(f, "the set holds {c}, which covers the target"),
        }
    }
}

impl std::error::Error for Flaw {}

fn check_trace(problem: &Problem, target: &Target, trace: &Trace) -> Result<(), Flaw> {
    let model = &*problem.model;
    if !is_initial(problem, &trace.start) {
        return Err(Flaw::NotInitial(trace.start.describe(model)));
    }
    let mut now = &trace.start;
    for (i, taken) in trace.steps.iter().enumerate() {
        if !is_listed(model, &taken.step) {
            return Err(Flaw::NoSuchStep(i + 1));
        }
        let mut after = Vec::new();
        semantics::fire(model, now, &taken.step, problem.bound.threads(), &mut after);
        if !after.contains(&taken.after) {
            return Err(Flaw::LeadsElsewhere(i + 1, taken.after.describe(model)));
        }
        now = &taken.after;
    }
    if target.is_hit(now, model) { Ok(()) } else { Err(Flaw::EndIsNotBad(now.describe(model))) }
}

fn check_closed(
    problem: &Problem,
    target: &Target,
    set: &[Config],
    reduction: Option<&Reduction>,
) -> Result<(), Flaw> {
    let model = &*problem.model;
    let set: HashSet<&Config> = set.iter().collect();
    each_initial(problem, &mut |config| {
        if set.contains(&config) { Ok(()) } else { Err(Flaw::InitialMissing(config.describe(model))) }
    })?;
    let mut after = Vec::new();
    for &config in &set {
        if target.is_hit(config, model) {
            return Err(Flaw::BadMember(config.describe(model)));
        }
        if reduction.is_some_and(|r| someone_goes_first(problem, r, config, &set)) {
            continue;
        }
        semantics::successors(model, config, problem.bound.threads(), &mut after);
        if let Some((_, outside)) = after.drain(..).find(|(_, c)| !set.contains(c)) {
            return Err(Flaw::NotClosed(config.describe(model), outside.describe(model)));
        }
    }
    Ok(())
}

/// Whether some thread of `config` may go first, can move, and stays within `set` whatever it does.
fn someone_goes_first(
    problem: &Problem,
    reduction: &Reduction,
    config: &Config,
    set: &HashSet<&Config>,
) -> bool {
    let model = &*problem.model;
    let footprint = |&(l, n): &(Local, u32)| Some((model.footprint(l)?, n));
    let Some(threads) = config.threads.entries().iter().map(footprint).collect::<Option<Vec<_>>>() else {
        return false;
    };
    (0..threads.len()).filter(|&i| reduction.goes_first(&threads, i)).any(|i| {
        let (mut steps, mut after) = (Vec::new(), Vec::new());
        model.post(config.shared, config.threads.entries()[i].0, &mut steps);
        steps.iter().for_each(|s| semantics::fire(model, config, s, problem.bound.threads(), &mut after));
        !after.is_empty() && after.iter().all(|c| set.contains(c))
    })
}

/// Whether the model lists this step for one of the threads it takes, or for nobody.
fn is_listed(model: &dyn Model, step: &Step) -> bool {
    let mut listed = Vec::new();
    if step.take.is_empty() {
        model.post_shared(step.from, &mut listed);
    }
    for &(leader, _) in step.take.entries() {
        model.post(step.from, leader, &mut listed);
    }
    listed.contains(step)
}

/// Whether the system may start in `config`, within the bound.
fn is_initial(problem: &Problem, config: &Config) -> bool {
    let finite = config.threads.entries().iter().all(|e| e.1 != OMEGA);
    let fits = |family: &Initial| match problem.bound {
        Bound::Any => true,
        Bound::Threads(n) => config.threads.size() <= n,
        Bound::Tokens(n) => {
            let more = config.threads.minus(&family.threads);
            more.is_some_and(|more| more.entries().iter().all(|e| e.1 <= n))
        }
    };
    finite && problem.initial.iter().any(|family| family.contains(config) && fits(family))
}

/// Shows every initial configuration within the bound to `found`.
fn each_initial(problem: &Problem, found: &mut impl FnMut(Config) -> Result<(), Flaw>) -> Result<(), Flaw> {
    for family in &problem.initial {
        let least = family.threads.size();
        match problem.bound {
            Bound::Any if !family.any.is_empty() => return Err(Flaw::TooManyInitial),
            Bound::Any => family.each_of_size(least, found)?,
            Bound::Threads(n) if family.any.is_empty() && least > n => {}
            Bound::Threads(_) if family.any.is_empty() => family.each_of_size(least, found)?,
            Bound::Threads(n) => (least..=n).try_for_each(|size| family.each_of_size(size, found))?,
            Bound::Tokens(n) => (0..=n).try_for_each(|most| family.each_of_tokens(most, found))?,
        }
    }
    Ok(())
}
