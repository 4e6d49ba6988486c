//! Evidence for a cutoff: a run to every thread state, and everything that fewer threads can reach.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Closed, Cutoff, ThreadState};
use crate::Silent;
use crate::explicit::{Id, Listed, configurations_up_to};
use throng_check::rules::cutoff::CutoffProof;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, RunNode, Unknown};
use throng_model::{Config, Incomplete, Local, Model, semantics};

/// Returns the evidence for a cutoff: a run to every thread state, why there are no others, and why
/// fewer threads do not suffice.
pub fn proof(problem: &Problem, found: &Cutoff, limits: &Limits) -> Result<CutoffProof, Unknown> {
    let (rest, except) = match &found.closed {
        Closed::Downward(set) => (Certificate::Downward(set.clone()), Vec::new()),
        Closed::Views(views, except) => {
            (Certificate::Views(views.clone()), except.clone().into_iter().collect())
        }
    };
    let needed = match found.levels.last() {
        Some(level) => {
            let fewer = found.threads.saturating_sub(1);
            Some((level.example, configurations_up_to(fewer, problem, 1, limits, &Silent)?))
        }
        None => None,
    };
    let (nodes, shown) = found.runs.clone();
    let reachable = shown.into_iter().map(|((s, l), at)| (s, l, at)).collect();
    Ok(CutoffProof { threads: found.threads, runs: nodes, reachable, rest, except, needed })
}

/// Runs as a forest, with the node at which each thread state is reached.
pub type Runs = (Vec<RunNode>, Vec<(ThreadState, usize)>);

/// Returns a run into each of these thread states, all of which were reached.
pub(super) fn runs(model: &dyn Model, listed: &Listed<'_>, states: &[ThreadState]) -> Result<Runs, Unknown> {
    let mut missing: FxHashSet<ThreadState> = states.iter().copied().collect();
    let mut shown = Vec::new();
    listed.each(|id, config| {
        for &(l, _) in config.threads.entries() {
            if missing.remove(&(config.shared, l)) {
                shown.push(((config.shared, l), id));
            }
        }
        !missing.is_empty()
    })?;
    // A state may be contained in one that was reached.
    listed.each(|id, config| {
        missing.retain(|&(s, l)| {
            let there = model.within_shared(s, config.shared)
                && config.threads.entries().iter().any(|e| model.within_local(l, e.0));
            shown.extend(there.then_some(((s, l), id)));
            !there
        });
        !missing.is_empty()
    })?;
    if !missing.is_empty() {
        return Err(Unknown::Inconclusive("no run to some thread state was found".into()));
    }
    Ok(forest(model, listed, shown))
}

/// Returns the runs to some configurations as one forest.
fn forest(model: &dyn Model, listed: &Listed<'_>, shown: Vec<(ThreadState, Id)>) -> Runs {
    let mut needed: BTreeSet<Id> = BTreeSet::new();
    for &(_, id) in &shown {
        let mut at = Some(id);
        while let Some(id) = at.filter(|&id| needed.insert(id)) {
            at = listed.parent(id);
        }
    }
    let number_of: FxHashMap<Id, usize> = needed.iter().copied().zip(0..).collect();
    let mut nodes: Vec<RunNode> = Vec::with_capacity(needed.len());
    for id in needed {
        let config = listed.config(id);
        let parent = listed.parent(id).map(|id| number_of[&id]);
        let by = parent.and_then(|p| leader(model, &nodes[p].config, &config));
        nodes.push(RunNode { parent, by, config });
    }
    let mut shown: Vec<(ThreadState, usize)> = shown.into_iter().map(|(t, id)| (t, number_of[&id])).collect();
    shown.sort_unstable();
    (nodes, shown)
}

/// Returns the thread that leads a step between two configurations.
fn leader(model: &dyn Model, before: &Config, after: &Config) -> Option<Local> {
    let (mut steps, mut results) = (Vec::new(), Vec::new());
    before.threads.entries().iter().map(|e| e.0).find(|&l| {
        steps.clear();
        results.clear();
        Incomplete::irrelevant(model.post(before.shared, l, &mut steps));
        for step in steps.iter().filter(|step| step.to == after.shared) {
            Incomplete::irrelevant(semantics::fire(model, before, step, None, &mut results));
        }
        results.contains(after)
    })
}
