//! Construction of a run from a chain of elements: forward along the same edges, keeping only
//! configurations that cover the next element.
//!
//! A concrete run exists along the edges of the chain, and each of its configurations covers its
//! element. So no layer below is empty, and each configuration of the last one ends a run into the
//! target.

use std::convert::Infallible;

use rustc_hash::FxHashSet;

use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Taken, Trace, Unknown};
use throng_model::{Config, Edge, Model, Step, semantics};

/// A configuration of one layer, with the step to it and its index in the previous layer.
struct Visit {
    config: Config,
    origin: Option<(usize, Step)>,
}

/// Returns a run that follows `edges` through `chain`.
pub fn along(
    problem: &Problem,
    target: &Target,
    chain: &[&Config],
    edges: &[Edge],
    limits: &Limits,
) -> Result<Trace, Unknown> {
    let model = &*problem.model;
    let mut ticker = Ticker::new(limits);
    let start = start(problem, chain[0]);
    let mut layers = vec![start.into_iter().map(|config| Visit { config, origin: None }).collect::<Vec<_>>()];
    for (edge, element) in edges.iter().zip(&chain[1..]) {
        let mut seen = FxHashSet::default();
        let mut layer = Vec::new();
        let mut after = Vec::new();
        for (i, visit) in layers[layers.len() - 1].iter().enumerate() {
            ticker.tick()?;
            semantics::successors(model, &visit.config, None, &mut after)?;
            for (step, config) in after.drain(..) {
                if step.edge == *edge && config.may_cover(element, model) && seen.insert(config.clone()) {
                    layer.push(Visit { config, origin: Some((i, step)) });
                }
            }
        }
        layers.push(layer);
    }
    let last = layers[layers.len() - 1].iter().position(|v| target.is_hit(&v.config, model));
    let visited = layers.iter().flatten().map(|visit| &visit.config);
    let countable = visited.chain(chain.iter().copied()).all(|c| c.threads.is_countable());
    last.map(|end| retrace(&layers, end)).ok_or_else(|| match countable {
        true => Unknown::NotForThisModel(
            "internal: no run follows the chain of predecessors; please report this".into(),
        ),
        false => Unknown::uncountable(),
    })
}

/// Returns the smallest initial configurations that cover the first element.
fn start(problem: &Problem, element: &Config) -> Vec<Config> {
    let model: &dyn Model = &*problem.model;
    let mut found = Vec::new();
    if model.is_exact() {
        found.extend(problem.initial.iter().filter_map(|family| family.least_above(element)));
        let fewest = found.iter().map(|config| config.threads.size()).min();
        found.retain(|config| Some(config.threads.size()) == fewest);
        return found;
    }
    for extra in 0..=element.threads.size() {
        for family in &problem.initial {
            let Ok(()) = family.each_of_size(family.threads.size() + extra, &mut |config| {
                if config.may_cover(element, model) {
                    found.push(config);
                }
                Ok::<(), Infallible>(())
            });
        }
        if !found.is_empty() {
            break;
        }
    }
    found
}

fn retrace(layers: &[Vec<Visit>], end: usize) -> Trace {
    let mut steps = Vec::new();
    let mut at = end;
    for layer in layers[1..].iter().rev() {
        let visit = &layer[at];
        if let Some((before, step)) = &visit.origin {
            steps.push(Taken { step: step.clone(), after: visit.config.clone() });
            at = *before;
        }
    }
    steps.reverse();
    Trace { start: layers[0][at].config.clone(), steps }
}
