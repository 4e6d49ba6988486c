//! 1-views: which thread states may occur, if one forgets how many threads there are and who is there together.
//!
//! A step is possible if each local state it takes may occur with its shared state; whatever it leaves may occur with the shared state it leads to,
//! and so may every bystander. This holds every reachable thread state, for any number of threads.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::ThreadState;
use crate::limits::{Limits, Ticker};
use crate::model::{Local, Model, Others, Shared, Step};
use crate::problem::Problem;
use crate::verdict::Unknown;

/// What may occur with one shared state.
#[derive(Default)]
struct View {
    locals: IndexSet<Local>,
    /// How many of them had been there when the view was last looked at.
    seen: usize,
    /// Steps that its threads lead.
    steps: Vec<Step>,
    listed: bool,
}

/// Every thread state that may occur, sorted.
pub fn closure(problem: &Problem, limits: &Limits) -> Result<Vec<ThreadState>, Unknown> {
    let model = &*problem.model;
    let mut views: BTreeMap<Shared, View> = BTreeMap::new();
    for family in &problem.initial {
        let threads = family.threads.entries().iter().map(|e| e.0).chain(family.any.iter().copied());
        views.entry(family.shared).or_default().locals.extend(threads);
    }
    let mut ticker = Ticker::new(limits);
    loop {
        let outdated = |v: &View| !v.listed || v.seen < v.locals.len();
        let Some((&s, view)) = views.iter_mut().find(|(_, v)| outdated(v)) else { break };
        for (to, locals) in look(model, s, view, &mut ticker)? {
            views.entry(to).or_default().locals.extend(locals);
        }
    }
    let states = views.iter().flat_map(|(&s, v)| v.locals.iter().map(move |&l| (s, l)));
    let mut states: Vec<ThreadState> = states.collect();
    states.sort_unstable();
    Ok(states)
}

/// What the threads of a view lead to.
fn look(
    model: &dyn Model,
    s: Shared,
    view: &mut View,
    ticker: &mut Ticker<'_>,
) -> Result<Vec<(Shared, Vec<Local>)>, Unknown> {
    if !view.listed {
        model.post_shared(s, &mut view.steps);
    }
    for &l in &view.locals[view.seen..] {
        model.post(s, l, &mut view.steps);
    }
    (view.listed, view.seen) = (true, view.locals.len());
    let mut arrivals = Vec::new();
    for step in &view.steps {
        ticker.tick()?;
        if !step.take.entries().iter().all(|e| view.locals.contains(&e.0)) {
            continue;
        }
        let mut there: Vec<Local> =
            step.put.entries().iter().chain(step.spawn.entries()).map(|e| e.0).collect();
        for &l in &view.locals {
            bystander(model, step, l, &mut there);
        }
        arrivals.push((step.to, there));
    }
    Ok(arrivals)
}

/// Where a bystander may be after a step.
fn bystander(model: &dyn Model, step: &Step, l: Local, there: &mut Vec<Local>) {
    match step.others {
        Others::Stay => there.push(l),
        Others::Wake => there.extend([Some(l), model.woken(l)].into_iter().flatten()),
        Others::Move => {
            let mut fates = Vec::new();
            model.bystander(step, l, &mut fates);
            there.extend(fates.into_iter().flatten());
        }
    }
}
