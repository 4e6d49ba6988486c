//! Evidence for a cutoff: a run to every thread state, and all that fewer threads can reach.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Closed, Cutoff, ThreadState};
use throng_check::rules::cutoff::CutoffProof;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Initial, Problem};
use throng_model::verdict::{Certificate, RunNode, Unknown};
use throng_model::{Config, Local, semantics};

/// All that shows a cutoff: a run to every thread state, why there are no others, and why fewer threads do not suffice.
pub fn proof(problem: &Problem, found: &Cutoff, limits: &Limits) -> Result<CutoffProof, Unknown> {
    let (runs, reachable) = runs(problem, found, limits)?;
    let (rest, except) = match &found.closed {
        Closed::Downward(set) => (Certificate::Downward(set.clone()), Vec::new()),
        Closed::Views(views, except) => {
            (Certificate::Views(views.clone()), except.clone().into_iter().collect())
        }
    };
    let needed = match found.levels.last() {
        Some(level) => Some((level.example, all(problem, found.threads.saturating_sub(1), limits)?)),
        None => None,
    };
    let reachable = reachable.into_iter().map(|((s, l), at)| (s, l, at)).collect();
    Ok(CutoffProof { threads: found.threads, runs, reachable, rest, except, needed })
}

/// Runs as a forest, with the node at which each thread state is reached.
type Runs = (Vec<RunNode>, Vec<(ThreadState, usize)>);

/// Runs with at most as many threads as the cutoff, into every reachable thread state.
fn runs(problem: &Problem, cutoff: &Cutoff, limits: &Limits) -> Result<Runs, Unknown> {
    let model = &*problem.model;
    let mut missing: FxHashSet<ThreadState> = cutoff.search_states.iter().copied().collect();
    let mut shown = Vec::new();
    let nodes = explore(problem, cutoff.threads, limits, &mut |i, config| {
        for &(l, _) in config.threads.entries() {
            if missing.remove(&(config.shared, l)) {
                shown.push(((config.shared, l), i));
            }
        }
        !missing.is_empty()
    })?;
    // A state may be within one that was reached.
    for (s, l) in missing {
        Ticker::new(limits).ticks(nodes.len() as u32)?;
        let within = |n: &RunNode| {
            model.within_shared(s, n.config.shared)
                && n.config.threads.entries().iter().any(|e| model.within_local(l, e.0))
        };
        let Some(at) = nodes.iter().position(within) else {
            return Err(Unknown::Inconclusive("no run to some thread state was found".into()));
        };
        shown.push(((s, l), at));
    }
    Ok(prune(nodes, shown))
}

/// Every configuration that is reached without ever having more than `most` threads.
fn all(problem: &Problem, most: u32, limits: &Limits) -> Result<Vec<Config>, Unknown> {
    Ok(explore(problem, most, limits, &mut |_, _| true)?.into_iter().map(|n| n.config).collect())
}

/// Breadth first, until `see` has seen enough.
fn explore(
    problem: &Problem,
    most: u32,
    limits: &Limits,
    see: &mut dyn FnMut(usize, &Config) -> bool,
) -> Result<Vec<RunNode>, Unknown> {
    let mut ticker = Ticker::new(limits);
    let mut nodes: Vec<RunNode> = Vec::new();
    let mut known: FxHashSet<Config> = FxHashSet::default();
    let sizes = |f: &Initial| {
        let sizes = std::iter::successors(f.next_size(None), |&size| f.next_size(Some(size)));
        sizes.take_while(|&size| size <= most).collect::<Vec<_>>()
    };
    for config in problem.initial.iter().flat_map(|f| sizes(f).into_iter().flat_map(|k| f.of_size(k))) {
        ticker.tick()?;
        if known.insert(config.clone()) {
            nodes.push(RunNode { parent: None, by: None, config });
        }
    }
    let (mut at, mut more) = (0, true);
    for (i, node) in nodes.iter().enumerate() {
        more &= see(i, &node.config);
    }
    let mut after = Vec::new();
    while more && at < nodes.len() {
        ticker.tick()?;
        let config = nodes[at].config.clone();
        semantics::successors(&*problem.model, &config, None, &mut after)?;
        for (step, next) in after.drain(..).filter(|(_, c)| c.threads.size() <= most) {
            ticker.tick()?;
            if known.insert(next.clone()) {
                let by: Option<Local> = step.take.entries().first().map(|e| e.0);
                nodes.push(RunNode { parent: Some(at), by, config: next });
                more &= see(nodes.len() - 1, &nodes[nodes.len() - 1].config);
            }
        }
        at += 1;
    }
    Ok(nodes)
}

/// Only the nodes that lead somewhere.
fn prune(nodes: Vec<RunNode>, shown: Vec<(ThreadState, usize)>) -> Runs {
    let mut needed = vec![false; nodes.len()];
    for &(_, i) in &shown {
        let mut at = Some(i);
        while let Some(i) = at.filter(|&i| !needed[i]) {
            needed[i] = true;
            at = nodes[i].parent;
        }
    }
    let mut places: FxHashMap<usize, usize> = FxHashMap::default();
    let mut kept = Vec::new();
    for (i, node) in nodes.into_iter().enumerate().filter(|(i, _)| needed[*i]) {
        places.insert(i, kept.len());
        kept.push(RunNode { parent: node.parent.map(|p| places[&p]), ..node });
    }
    let mut shown: Vec<(ThreadState, usize)> = shown.into_iter().map(|(t, i)| (t, places[&i])).collect();
    shown.sort_unstable();
    (kept, shown)
}
