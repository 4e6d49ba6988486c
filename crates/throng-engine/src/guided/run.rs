//! Conversion of steps over ω to a run with as few initial threads as the steps need, and without
//! detours.

use std::collections::BTreeMap;

use throng_model::problem::{Initial, Problem, Target};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Bag, Config, Local, Step, UNCOUNTABLE, semantics};

/// Returns a run of `steps` from a member of `family` into the target, unless it needs too many
/// threads to count.
pub fn concrete(problem: &Problem, target: &Target, family: &Initial, steps: Vec<Step>) -> Option<Trace> {
    let missing = missing(family, &steps);
    let most = target.configs.iter().map(|c| c.threads.size()).max().unwrap_or(0);
    let hits = |extra: &BTreeMap<Local, u32>| {
        let run = replay(problem, family, extra, &steps);
        run.is_some_and(|trace| target.is_hit(trace.end(), &*problem.model))
    };
    // The target may require threads that no step moves.
    let with = |more: u32| {
        let mut extra = missing.clone();
        for &l in &family.any {
            extra.insert(l, missing.get(&l).copied().unwrap_or(0).saturating_add(more));
        }
        extra
    };
    let mut extra = with(least(most, &mut |more| hits(&with(more)))?);
    for l in extra.keys().copied().collect::<Vec<_>>() {
        let with = |n: u32| {
            let mut extra = extra.clone();
            extra.insert(l, n);
            extra
        };
        let enough = least(extra[&l], &mut |n| hits(&with(n)))?;
        extra = with(enough);
    }
    let trace = replay(problem, family, &extra, &steps)?;
    Some(without_detours(problem, trace))
}

/// Returns the least number up to `most` that `suffices`, if there is one: larger configurations
/// can do at least as much.
fn least(most: u32, suffices: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
    if suffices(0) {
        return Some(0); // as a rule
    }
    let (mut too_few, mut enough) = (0, most);
    if !suffices(most) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        *if suffices(middle) { &mut enough } else { &mut too_few } = middle;
    }
    Some(enough)
}

/// Returns how many threads the steps take where any number may start, beyond those that are
/// present.
fn missing(family: &Initial, steps: &[Step]) -> BTreeMap<Local, u32> {
    let mut there: BTreeMap<Local, u32> = family.threads.entries().iter().copied().collect();
    let mut missing: BTreeMap<Local, u32> = BTreeMap::new();
    for step in steps {
        for &(l, n) in step.take.entries() {
            let have = there.entry(l).or_default();
            let lacks = missing.entry(l).or_default();
            *lacks = lacks.saturating_add(n.saturating_sub(*have));
            *have = have.saturating_sub(n);
        }
        for &(l, n) in step.put.entries().iter().chain(step.spawn.entries()) {
            let have = there.entry(l).or_default();
            *have = have.saturating_add(n);
        }
    }
    missing.retain(|l, n| *n > 0 && family.any.contains(l));
    missing
}

/// Returns the run of these steps with `extra` threads at the start, if there is one.
fn replay(
    problem: &Problem,
    family: &Initial,
    extra: &BTreeMap<Local, u32>,
    steps: &[Step],
) -> Option<Trace> {
    let mut threads: Bag = family.threads.clone();
    extra.iter().for_each(|(&l, &n)| threads.insert(l, n));
    if threads.size() >= UNCOUNTABLE {
        return None;
    }
    let start = Config::new(family.shared, threads);
    let mut trace = Trace { start, steps: Vec::new() };
    let mut after = Vec::new();
    for step in steps {
        semantics::fire(&*problem.model, trace.end(), step, None, &mut after).ok()?;
        let next = after.pop()?;
        trace.steps.push(Taken { step: step.clone(), after: next });
    }
    Some(trace)
}

/// Removes the part of a run from a configuration to one that it covers: larger ones can do at
/// least as much.
fn without_detours(problem: &Problem, trace: Trace) -> Trace {
    let mut now = trace.start.clone();
    let mut at = 0;
    let mut after = Vec::new();
    let mut shorter = Trace { start: trace.start.clone(), steps: Vec::new() };
    while at < trace.steps.len() {
        let later = (at..trace.steps.len()).rev().find(|&j| now.covers(&trace.steps[j].after));
        at = later.map_or(at, |j| j + 1);
        let Some(taken) = trace.steps.get(at) else { break };
        let fired = semantics::fire(&*problem.model, &now, &taken.step, None, &mut after);
        let Some(next) = after.pop().filter(|_| fired.is_ok()) else { return trace };
        shorter.steps.push(Taken { step: taken.step.clone(), after: next.clone() });
        now = next;
        at += 1;
    }
    shorter
}
