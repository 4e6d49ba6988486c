//! From a run over sets of states to one concrete run, for people and for the independent checker.
//!
//! Where a model's states stand for sets ([`crate`]), an engine's trace leaves variables open that
//! no step has read. This module chooses a value for each of them: back to front, each state is
//! narrowed to the part from which the rest of the run is possible; then front to back, values are
//! picked inside those parts. The result has the same edges and the same threads.

use std::collections::BTreeMap;

use crate::problem::Target;
use crate::thread_names::{Change, Role, ThreadId, ThreadNames, assign};
use crate::verdict::{Taken, Trace};
use crate::{Bag, Config, Incomplete, Local, Model, Shared, Step};

/// A moment of a run: the shared state, and where each thread is.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The shared state.
    pub shared: Shared,
    /// The local state of each thread.
    pub threads: BTreeMap<ThreadId, Local>,
}

/// Returns the trace with all values chosen such that its end is in `target`; `None` only if
/// `trace` is not a run into the target.
///
/// Its states are concrete; its steps are members of the model's steps, which may themselves be
/// sets.
pub fn concretise(model: &dyn Model, target: &Target, trace: &Trace, bound: Option<u32>) -> Option<Trace> {
    if model.is_exact() {
        return Some(trace.clone());
    }
    let (moments, changes) = name_threads(model, trace, bound)?;
    let needed = narrow(model, target, trace, moments, &changes)?;
    choose(model, trace, &needed, &changes)
}

/// Returns the start and the moment after each step, narrowed to what the rest of the run needs,
/// and the effect of each step on each thread. Values that stay open in these states do not matter
/// to the run. `None` only if `trace` is not a run into the target.
pub fn needed(
    model: &dyn Model,
    target: &Target,
    trace: &Trace,
    bound: Option<u32>,
) -> Option<(Vec<Moment>, Vec<Vec<Change>>)> {
    let (moments, changes) = name_threads(model, trace, bound)?;
    if model.is_exact() {
        return Some((moments, changes));
    }
    let needed = narrow(model, target, trace, moments, &changes)?;
    Some((needed, changes))
}

/// Follows every thread through the run.
fn name_threads(
    model: &dyn Model,
    trace: &Trace,
    bound: Option<u32>,
) -> Option<(Vec<Moment>, Vec<Vec<Change>>)> {
    let mut names = ThreadNames::new(&trace.start.threads)?;
    let mut moments =
        vec![Moment { shared: trace.start.shared, threads: names.threads().into_iter().collect() }];
    let mut changes = Vec::new();
    for taken in &trace.steps {
        changes.push(names.step(model, &taken.step, &taken.after, bound)?);
        moments.push(Moment { shared: taken.after.shared, threads: names.threads().into_iter().collect() });
    }
    Some((moments, changes))
}

fn find(changes: &[Change], role: Role) -> Option<&Change> {
    changes.iter().find(|c| c.role == role)
}

/// Narrows each moment, back to front, to the part from which the rest of the run and the target
/// can be reached.
fn narrow(
    model: &dyn Model,
    target: &Target,
    trace: &Trace,
    mut moments: Vec<Moment>,
    changes: &[Vec<Change>],
) -> Option<Vec<Moment>> {
    let last = moments.len() - 1;
    moments[last] = hit(model, target, &moments[last])?;
    for i in (0..last).rev() {
        let step = &trace.steps[i].step;
        let (before, after) = moments.split_at_mut(i + 1);
        let (now, later) = (&mut before[i], &after[0]);
        let actor = find(&changes[i], Role::Acts)?.thread;
        let child = find(&changes[i], Role::Created).and_then(|c| later.threads.get(&c.thread)).copied();
        let (shared, local) = model.narrow(step, later.shared, later.threads.get(&actor).copied(), child)?;
        now.shared = shared;
        for (thread, l) in &mut now.threads {
            if *thread == actor {
                *l = local;
            } else if let Some(&next) = later.threads.get(thread) {
                *l = model.narrow_bystander(step, *l, next)?;
            }
        }
    }
    Some(moments)
}

/// Returns the part of a moment that is in the target.
fn hit(model: &dyn Model, target: &Target, moment: &Moment) -> Option<Moment> {
    let names: Vec<ThreadId> = moment.threads.keys().copied().collect();
    target.configs.iter().find_map(|bad| {
        let shared = model.meet_shared(moment.shared, bad.shared)?;
        let wanted: Vec<Local> =
            bad.threads.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l)).collect();
        let fits =
            |person: usize, place: usize| model.meets_local(moment.threads[&names[person]], wanted[place]);
        let places = assign(&vec![false; names.len()], wanted.len(), &fits)?;
        let mut threads = moment.threads.clone();
        for (name, place) in names.iter().zip(places) {
            if let Some(place) = place {
                threads.insert(*name, model.meet_local(threads[name], wanted[place])?);
            }
        }
        Some(Moment { shared, threads })
    })
}

/// Picks values inside the narrowed moments, front to back.
fn choose(model: &dyn Model, trace: &Trace, needed: &[Moment], changes: &[Vec<Change>]) -> Option<Trace> {
    let mut now = Moment {
        shared: model.sample_shared(needed[0].shared),
        threads: needed[0].threads.iter().map(|(&t, &l)| (t, model.sample_local(l))).collect(),
    };
    let mut chosen = Trace { start: config(&now), steps: Vec::new() };
    for ((taken, needed), changes) in trace.steps.iter().zip(&needed[1..]).zip(changes) {
        let (step, next) = advance(model, &taken.step, &now, needed, changes)?;
        now = next;
        chosen.steps.push(Taken { step, after: config(&now) });
    }
    Some(chosen)
}

/// Returns a concrete step along the edge of `step` into the narrowed moment.
fn advance(
    model: &dyn Model,
    step: &Step,
    now: &Moment,
    needed: &Moment,
    changes: &[Change],
) -> Option<(Step, Moment)> {
    let actor = find(changes, Role::Acts)?.thread;
    let child = find(changes, Role::Created).map(|c| c.thread);
    let mut steps = Vec::new();
    Incomplete::irrelevant(model.post_in_full(now.shared, now.threads[&actor], &mut steps));
    steps.into_iter().filter(|s| s.edge == step.edge).find_map(|found| {
        let shared = model.sample_shared(model.meet_shared(found.to, needed.shared)?);
        let pick = |bag: &Bag, thread: ThreadId| {
            let l = bag.entries().first()?.0;
            Some(model.sample_local(model.meet_local(l, *needed.threads.get(&thread)?)?))
        };
        let mut threads = BTreeMap::new();
        let (mut put, mut spawn) = (Bag::new(), Bag::new());
        if needed.threads.contains_key(&actor) {
            let l = pick(&found.put, actor)?;
            threads.insert(actor, l);
            put = Bag::one(l);
        }
        if let Some(child) = child {
            let l = pick(&found.spawn, child)?;
            threads.insert(child, l);
            spawn = Bag::one(l);
        }
        for (&thread, &l) in now.threads.iter().filter(|t| *t.0 != actor) {
            threads.insert(thread, fate(model, &found, l, *needed.threads.get(&thread)?)?);
        }
        let step =
            Step { to: shared, put, spawn, take: Bag::one(now.threads[&actor]), from: now.shared, ..found };
        Some((step, Moment { shared, threads }))
    })
}

/// Returns a state that the bystander may go to, inside `needed`.
fn fate(model: &dyn Model, step: &Step, l: Local, needed: Local) -> Option<Local> {
    use crate::Bystanders;
    let mut fates = match step.others {
        Bystanders::Stay => vec![Some(l)],
        Bystanders::WakeOne => vec![Some(l), model.woken_by(step, l)],
        Bystanders::Transfer => Vec::new(),
    };
    if step.others == Bystanders::Transfer {
        Incomplete::irrelevant(model.bystander(step, l, &mut fates));
    }
    let within = |fate: Option<Local>| model.meet_local(fate?, needed);
    fates.into_iter().find_map(within).map(|l| model.sample_local(l))
}

fn config(moment: &Moment) -> Config {
    Config::new(moment.shared, moment.threads.values().copied().collect())
}
