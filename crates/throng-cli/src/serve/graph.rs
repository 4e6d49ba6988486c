//! The graph of the configurations of a small system, for the page to draw. Of a larger one it is
//! the beginning, breadth first, and says so.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::{Value, json};

use super::{Asked, Purpose, Shared};
use crate::simulate::{Walk, start};
use throng_model::Config;
use throng_model::random::Random;

/// The most configurations that are drawn: more of them show nothing.
const MOST: usize = 150;

/// The most steps out of one configuration.
const MOST_STEPS: usize = 50;

struct Node {
    config: Config,
    /// The choices that lead there, fewest first.
    path: Vec<usize>,
}

/// All configurations that the walk from the start may lead to, and the steps between them.
pub(super) fn graph(asked: &Asked, shared: &Shared) -> Result<Value, String> {
    let limits = shared.limits();
    let job = asked.job(Purpose::Walk, shared, &limits)?;
    let problem = &job.prepare().map_err(|why| why.to_string())?.problem;
    let first = start(problem, &mut Random::new(0)).ok_or("there is no initial configuration")?;
    let mut known = HashMap::from([(first.clone(), 0)]);
    let mut nodes = vec![Node { config: first, path: Vec::new() }];
    let (mut drawn, mut edges, mut complete) = (Vec::new(), Vec::new(), true);
    let mut at = 0;
    while at < nodes.len() {
        limits.check().map_err(|why| why.to_string())?;
        let (walk, path) = (Walk::new(problem, nodes[at].config.clone()), nodes[at].path.clone());
        drawn.push(json!({
            "name": walk.name(),
            "depth": path.len(),
            "path": path,
            "violated": walk.violated(),
        }));
        let steps = walk.steps()?;
        complete &= steps.len() <= MOST_STEPS;
        for (choice, (event, after)) in steps.into_iter().take(MOST_STEPS).enumerate() {
            let room = nodes.len() < MOST;
            let to = match known.entry(after) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) if room => {
                    let path = path.iter().copied().chain([choice]).collect();
                    nodes.push(Node { config: new.key().clone(), path });
                    *new.insert(nodes.len() - 1)
                }
                Entry::Vacant(_) => {
                    complete = false;
                    continue;
                }
            };
            edges.push(json!({ "from": at, "to": to, "line": event.line, "statement": event.statement }));
        }
        at += 1;
    }
    Ok(json!({ "nodes": drawn, "edges": edges, "complete": complete }))
}
