//! Facts about edges: cubes that no step satisfies, literals over the predicates of the thread that
//! moves, before and after the step, and of a bystander. Any set of facts gives an abstraction that
//! includes the program.

use serde::{Deserialize, Serialize};
use throng_goto::program::Program;

use super::graph::{Edge, Graph, To};
use super::predicate::Predicate;

/// Whose predicate, and when.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Of the thread that moves, before the step.
    Before,
    /// The same after the step; of the thread that is started, if it is about that.
    After,
    /// Of a bystander, before the step.
    OtherBefore,
    /// Of a bystander, after the step.
    OtherAfter,
}

/// A predicate by number, and whether it holds.
pub type Literal = (u32, Side, bool);
/// Literals that never hold together.
pub type Cube = Vec<Literal>;

/// The edges by number: those of the graph, the start, the entries of templates.
pub fn edge(graph: &Graph, n: usize) -> &Edge {
    match n.checked_sub(graph.edges.len()) {
        None => &graph.edges[n],
        Some(0) => &graph.initial,
        Some(t) => &graph.entries[t - 1].1,
    }
}

/// The number of edges in the sense of [`edge`].
pub fn edge_count(graph: &Graph) -> usize {
    graph.edges.len() + 1 + graph.entries.len()
}

/// The predicates that live before and after an edge.
pub fn living(program: &Program, graph: &Graph, list: &[Predicate], n: usize) -> (Vec<bool>, Vec<bool>) {
    let at = |place: usize| list.iter().map(move |p| p.lives(graph, program, place)).collect::<Vec<bool>>();
    let none = || vec![false; list.len()];
    let shared = || list.iter().map(|p| p.template.is_none()).collect::<Vec<bool>>();
    match n.checked_sub(graph.edges.len()) {
        None => {
            let e = &graph.edges[n];
            let mut after = match e.to {
                To::Place(to) => at(to),
                To::Fail(..) => none(),
                To::End => shared(),
            };
            if let [child] = e.starts[..] {
                let entry = at(graph.entries[child].0);
                let differs = child != graph.places[e.from].template;
                for (i, lives) in entry.into_iter().enumerate() {
                    after[i] |= differs && lives && list[i].template == Some(child);
                }
            }
            (at(e.from), after)
        }
        Some(0) => (none(), shared()),
        Some(t) => {
            let after = at(graph.entries[t - 1].0);
            (shared(), after)
        }
    }
}

/// Which predicates an edge may change: of the thread that moves or is started, and of bystanders.
pub fn changed(graph: &Graph, list: &[Predicate], e: &Edge) -> (Vec<u32>, Vec<u32>) {
    let touched = |p: &Predicate| p.variables.iter().any(|id| e.updates.iter().any(|u| u.0 == *id));
    let shared = |p: &Predicate| {
        p.template.is_some()
            && p.variables.iter().any(|id| {
                graph.variables.list[*id as usize].template.is_none() && e.updates.iter().any(|u| u.0 == *id)
            })
    };
    let which =
        |f: &dyn Fn(&Predicate) -> bool| (0..list.len() as u32).filter(|&i| f(&list[i as usize])).collect();
    (which(&touched), which(&shared))
}
