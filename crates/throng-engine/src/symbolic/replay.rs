//! Turns the rounds of a search into a run over the model's own steps (Boom, section 6.3).
//!
//! The nodes that led to a hit give, round by round, the edges to follow and the sets of
//! configurations to stay in. The model executes the edges from the start, depth first; since the
//! sets of the search are exact, some run along them hits the target.

use std::collections::HashSet;

use super::registry::{Threads, matches};
use super::search::{Search, Stop};
use crate::bdd::Full;
use throng_model::limits::Ticker;
use throng_model::verdict::{Taken, Trace, Unknown};
use throng_model::{Config, Step, semantics};

/// One round: the relevant nodes, and the edges that lead from them to those of the next.
#[derive(Default)]
struct Round {
    nodes: Vec<usize>,
    edges: Vec<u32>,
}

/// A configuration of a run, the step that led to it, and the possible next steps.
struct Stage {
    config: Config,
    step: Option<Step>,
    options: Vec<(Step, Config)>,
}

/// Returns a run into the target that `node` hits.
pub fn replay(search: &Search<'_>, node: usize, target: usize) -> Result<Trace, Stop> {
    let rounds = rounds(search, node);
    let last = rounds.len() - 1;
    let target = &search.problem.targets[target];
    let mut ticker = Ticker::new(search.limits);
    let mut failed: HashSet<(usize, Config)> = HashSet::new();
    for start in search.starts(None, search.reached)? {
        if !is_in(search, &rounds[0], &start)? {
            continue;
        }
        let options = options_of(search, &rounds, 0, &start, &mut ticker)?;
        let mut run = vec![Stage { config: start, step: None, options }];
        while let Some(stage) = run.last_mut() {
            ticker.tick()?;
            let option = stage.options.pop();
            let depth = run.len() - 1;
            if depth == last && target.is_hit(&run[depth].config, &*search.problem.model) {
                return Ok(trace(run));
            }
            let Some((step, config)) = option else {
                failed.extend(run.pop().map(|stage| (depth, stage.config)));
                continue;
            };
            if !failed.contains(&(depth + 1, config.clone())) {
                let options = options_of(search, &rounds, depth + 1, &config, &mut ticker)?;
                run.push(Stage { config, step: Some(step), options });
            }
        }
    }
    let why = "internal error: a symbolic run has no concrete counterpart; please report this";
    Err(Stop::Limit(Unknown::NotForThisModel(why.into())))
}

/// Returns the nodes that led to `node`, from the first round on.
fn rounds(search: &Search<'_>, node: usize) -> Vec<Round> {
    let depth = search.nodes[node].depth as usize;
    let mut rounds: Vec<Round> = (0..=depth).map(|_| Round::default()).collect();
    rounds[depth].nodes.push(node);
    for d in (1..=depth).rev() {
        let origins = rounds[d].nodes.iter().flat_map(|&n| search.nodes[n].origins.iter().copied());
        let (mut nodes, mut edges): (Vec<usize>, Vec<u32>) =
            origins.map(|(node, edge)| (node as usize, edge)).unzip();
        nodes.sort_unstable();
        nodes.dedup();
        edges.sort_unstable();
        edges.dedup();
        rounds[d - 1] = Round { nodes, edges };
    }
    rounds
}

/// Returns the possible steps from a configuration of round `depth`.
fn options_of(
    search: &Search<'_>,
    rounds: &[Round],
    depth: usize,
    config: &Config,
    ticker: &mut Ticker<'_>,
) -> Result<Vec<(Step, Config)>, Stop> {
    let Some(next) = rounds.get(depth + 1) else { return Ok(Vec::new()) };
    let mut after = Vec::new();
    let bound = search.problem.bound.threads();
    semantics::successors(&*search.problem.model, config, bound, &mut after).map_err(Unknown::from)?;
    let mut found = Vec::new();
    for (step, config) in after {
        ticker.ticks(16)?;
        if rounds[depth].edges.binary_search(&step.edge.0).is_ok() && is_in(search, next, &config)? {
            found.push((step, config));
        }
    }
    Ok(found)
}

/// Returns whether a configuration intersects a node of the round.
fn is_in(search: &Search<'_>, round: &Round, config: &Config) -> Result<bool, Full> {
    let encoder = &search.machine.encoder;
    let (_, masks) = search.coded.shared_cube(config.shared);
    let shared = encoder.shared_set(&masks)?;
    let mut locals = Vec::new();
    for &(l, _) in config.threads.entries() {
        let (point, masks) = search.coded.local_cube(l);
        locals.push((point, encoder.local_set(point, &masks)?));
    }
    let wanted: Threads = (0u32..).zip(config.threads.entries()).map(|(i, e)| (i, e.1)).collect();
    for &node in &round.nodes {
        let state = &search.nodes[node].state;
        if !search.registry().shared(state.shared).meets(&shared)? {
            continue;
        }
        let mut fits = Vec::new();
        for (point, set) in &locals {
            let mut row = Vec::new();
            for &(l, _) in &state.threads {
                let (at, have) = search.registry().local(l);
                row.push(at == *point && have.meets(set)?);
            }
            fits.push(row);
        }
        let as_many = wanted.iter().map(|e| e.1).sum::<u32>() == super::registry::size(&state.threads);
        if as_many && matches(&wanted, &state.threads, &fits) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn trace(run: Vec<Stage>) -> Trace {
    let mut stages = run.into_iter();
    let start = stages.next().map(|s| s.config).expect("a run starts somewhere");
    let steps = stages.filter_map(|s| Some(Taken { step: s.step?, after: s.config })).collect();
    Trace { start, steps }
}
