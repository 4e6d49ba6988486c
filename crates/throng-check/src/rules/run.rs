//! The rule for runs: the initial configuration, the steps, and the last configuration.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Flaw;
use throng_model::problem::{Bound, Initial, Problem, Target};
use throng_model::verdict::{Trace, Unknown};
use throng_model::{Config, Incomplete, Local, Model, OMEGA, Shared, Step, semantics};

/// Refuses configurations with so many threads that their sum may have saturated.
pub(super) fn countable(config: &Config) -> Result<(), Flaw> {
    if config.threads.is_countable() {
        return Ok(());
    }
    Err(Flaw::Limit(Unknown::uncountable()))
}

pub(super) fn check_trace(problem: &Problem, target: &Target, trace: &Trace) -> Result<(), Flaw> {
    let model = &*problem.model;
    if !is_initial(problem, &trace.start) {
        return Err(Flaw::NotInitial(trace.start.describe(model)));
    }
    countable(&trace.start)?;
    let mut now = &trace.start;
    for (i, taken) in trace.steps.iter().enumerate() {
        let mut listed = Vec::new();
        match taken.step.take.entries() {
            [] => Incomplete::irrelevant(led_by(model, now, None, &mut listed)),
            some => {
                some.iter().for_each(|e| Incomplete::irrelevant(led_by(model, now, Some(e.0), &mut listed)))
            }
        }
        if !listed.contains(&taken.step) {
            return Err(Flaw::NoSuchStep(i + 1));
        }
        if !leads(model, now, &taken.step, problem.bound.threads(), &taken.after)? {
            return Err(Flaw::LeadsElsewhere(i + 1, taken.after.describe(model)));
        }
        now = &taken.after;
        countable(now)?;
    }
    if target.hits(now, model)? { Ok(()) } else { Err(Flaw::EndIsNotBad(now.describe(model))) }
}

/// Appends the steps from a configuration that are led by a thread at `by`; a step that takes no
/// thread has no leader.
pub(crate) fn led_by(
    model: &dyn Model,
    from: &Config,
    by: Option<Local>,
    out: &mut Vec<Step>,
) -> Result<(), Incomplete> {
    match by {
        None => model.post_shared(from.shared, out),
        Some(by) => model.post(from.shared, by, out),
    }
}

/// A cache of a model's steps by thread state, of which sets of configurations have the same ones
/// again and again.
pub(super) struct Led<'a> {
    model: &'a dyn Model,
    known: FxHashMap<(Shared, Option<Local>), Rc<[Step]>>,
}

impl<'a> Led<'a> {
    pub(super) fn new(model: &'a dyn Model) -> Led<'a> {
        Led { model, known: FxHashMap::default() }
    }

    /// Appends the successors of a configuration by the steps that are led by a thread at `by`; a
    /// step that takes no thread has no leader.
    pub(super) fn fire(
        &mut self,
        from: &Config,
        by: Option<Local>,
        bound: Option<u32>,
        out: &mut Vec<Config>,
    ) -> Result<(), Incomplete> {
        let steps = match self.known.entry((from.shared, by)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let mut steps = Vec::new();
                led_by(self.model, from, by, &mut steps)?;
                new.insert(steps.into())
            }
        };
        steps.iter().try_for_each(|step| semantics::fire(self.model, from, step, bound, out))
    }
}

/// Returns whether `step` leads from one configuration to another.
pub(crate) fn leads(
    model: &dyn Model,
    from: &Config,
    step: &Step,
    bound: Option<u32>,
    to: &Config,
) -> Result<bool, Incomplete> {
    let mut after = Vec::new();
    let listed = semantics::fire(model, from, step, bound, &mut after);
    if after.iter().any(|c| to.is_within(c, model)) { Ok(true) } else { listed.map(|()| false) }
}

/// Returns whether `config` is initial within the bound.
pub(super) fn is_initial(problem: &Problem, config: &Config) -> bool {
    let fits = |family: &Initial| match problem.bound {
        Bound::Any => true,
        Bound::Threads(n) => config.threads.size() <= n,
        Bound::Tokens(n) => {
            let more = config.threads.minus(&family.threads);
            more.is_some_and(|more| more.entries().iter().all(|e| config.threads.count(e.0) <= n))
        }
    };
    config.threads.entries().iter().all(|e| e.1 != OMEGA)
        && problem
            .initial
            .iter()
            .any(|family| family.contains(&rounded(&*problem.model, family, config)) && fits(family))
}

/// Returns `config` with every state replaced by one of the family that contains it, if there is
/// one; where states are not sets, `config` itself.
fn rounded(model: &dyn Model, family: &Initial, config: &Config) -> Config {
    if model.is_exact() {
        return config.clone();
    }
    let up = |&(l, n): &(Local, u32)| {
        let mut starts = family.any.iter().chain(family.threads.entries().iter().map(|e| &e.0));
        (starts.find(|&&start| model.within_local(l, start)).copied().unwrap_or(l), n)
    };
    let shared =
        if model.within_shared(config.shared, family.shared) { family.shared } else { config.shared };
    Config::new(shared, config.threads.entries().iter().map(up).collect())
}

/// Calls `found` for every initial configuration within the bound.
pub(super) fn each_initial(
    problem: &Problem,
    found: &mut impl FnMut(Config) -> Result<(), Flaw>,
) -> Result<(), Flaw> {
    for family in &problem.initial {
        let (least, fixed) = (family.threads.size(), family.any.is_empty());
        match problem.bound {
            Bound::Threads(n) if least > n => {}
            _ if fixed => family.each_of_size(least, found)?,
            Bound::Any => return Err(Flaw::TooManyInitial),
            Bound::Threads(n) => (least..=n).try_for_each(|size| family.each_of_size(size, found))?,
            Bound::Tokens(n) => {
                let numbers = std::iter::successors(Some(0), |&most| family.next_of_tokens(Some(most)));
                numbers
                    .take_while(|&most| most <= n)
                    .try_for_each(|most| family.each_of_tokens(most, found))?;
            }
        }
    }
    Ok(())
}
