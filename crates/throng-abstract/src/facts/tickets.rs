//! Guesses about two threads: tickets and copies of them differ; some places exclude each other.

use std::collections::BTreeMap;

use throng_goto::program::{BinOp, Expr, Int, Program};
use throng_goto_check::abstraction::facts::Differs;
use throng_goto_check::abstraction::facts::apart::{is_entry, owner};
use throng_goto_check::abstraction::graph::{Edge, Graph, To};
use throng_goto_check::abstraction::predicate::{Predicate, used};
use throng_goto_check::abstraction::regions::{Regions, reachable};
use throng_goto_check::abstraction::variables::INPUT;

use crate::guesses::without_casts;

/// Maximum number of variables that are told apart.
const MOST: usize = 6;
/// Maximum number of pairs of places and variables.
const MOST_PAIRS: usize = 20_000;

/// Maximum number of pairs of places that may exclude each other.
const MOST_EXCLUDED: usize = 4_000;

/// All pairs of places that may exclude each other.
pub(super) fn exclusions(program: &Program, graph: &Graph, regions: &Regions) -> Vec<Differs> {
    let Some(any) = graph.variables.list.iter().position(|v| v.template.is_none()) else { return Vec::new() };
    let late: Vec<usize> = (0..graph.places.len()).filter(|&p| !is_entry(graph, p)).collect();
    let pairs = late.iter().flat_map(|&p| late.iter().map(move |&q| (p, q)));
    let pairs = pairs.filter(|&(p, q)| p <= q && !is_alone(program, graph, p, q) && !regions.exclude(p, q));
    let found: Vec<Differs> = pairs.map(|(p, q)| (p, q, any as u32, any as u32)).collect();
    if found.len() > MOST_EXCLUDED { Vec::new() } else { found }
}

/// Returns whether one thread only ever comes to two places.
fn is_alone(program: &Program, graph: &Graph, p: usize, q: usize) -> bool {
    let (t, other) = (graph.places[p].template, graph.places[q].template);
    t == other && program.runs_once(t)
}

/// Everything that may hold. Tickets are remembered at places where they are not read any more.
pub(super) fn apart_guesses(program: &Program, graph: &Graph) -> Vec<Differs> {
    let read = |a: u32| {
        let one = comparison_with_zero(graph, a);
        one.is_some_and(|one| (0..graph.places.len()).any(|p| one.lives(graph, program, p)))
    };
    let mut variables = tickets(program, graph);
    variables.retain(|t| read(t.0));
    if variables.len() > MOST {
        return Vec::new();
    }
    let mut held: Vec<(usize, u32)> = Vec::new();
    for (a, taken) in variables {
        let known = reachable(graph, taken, &|_| true);
        held.extend((0..graph.places.len()).filter(|&p| known[p] && !is_entry(graph, p)).map(|p| (p, a)));
    }
    if held.len() * held.len() > MOST_PAIRS {
        return Vec::new();
    }
    let pairs = held.iter().flat_map(|&(p, a)| held.iter().map(move |&(q, b)| (p, q, a, b)));
    pairs.filter(|&(p, q, a, b)| (p, a) <= (q, b) && !is_alone(program, graph, p, q)).collect()
}

fn comparison_with_zero(graph: &Graph, a: u32) -> Option<Predicate> {
    let (a, zero) = (Box::new(Expr::Reg(a)), Box::new(Expr::Const(0)));
    Predicate::of(Expr::Bin(BinOp::Ne, a, zero, Int::new(8, true)), &graph.variables)
}

/// Variables of threads that get the value of a shared variable in a step that changes that, and
/// copies of them; each with the places that such steps lead to.
fn tickets(program: &Program, graph: &Graph) -> Vec<(u32, Vec<usize>)> {
    let shared = |id: u32| id < INPUT && graph.variables.list[id as usize].template.is_none();
    let mut found: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let owners: Vec<Option<usize>> =
        (0..graph.variables.list.len() as u32).map(|id| owner(program, graph, id)).collect();
    let own = |e: &Edge, id: u32| owners[id as usize] == Some(graph.places[e.from].template);
    let to = |e: &Edge| match e.to {
        To::Place(p) => Some(p),
        To::Fail(..) | To::End => None,
    };
    for e in &graph.edges {
        let changed = |s: u32| e.updates.iter().any(|u| u.0 == s);
        let takes = |id: u32, x: &Expr| used(x).iter().any(|&s| s != id && shared(s) && changed(s));
        for (id, _) in e.updates.iter().filter(|u| own(e, u.0) && takes(u.0, &u.1)) {
            found.entry(*id).or_default().extend(to(e));
        }
    }
    loop {
        let before = found.len();
        for e in &graph.edges {
            for (id, x) in e.updates.iter().filter(|u| own(e, u.0)) {
                if matches!(without_casts(x), Expr::Reg(from) if found.contains_key(from)) {
                    let places = found.entry(*id).or_default();
                    places.extend(to(e).filter(|p| !places.contains(p)));
                }
            }
        }
        if found.len() == before {
            return found.into_iter().collect();
        }
    }
}
