//! Places at which no two threads are at the same time, because of a lock.
//!
//! A lock is a shared variable `m` with a set of places, its region, such that a thread enters the
//! region only along paths that need `m == 0` and make it something else, `m` becomes 0 only where
//! a thread leaves the region, and nothing else writes it. Then whenever some thread is in the
//! region, `m` is not 0, and no second one enters. Mutexes of the C library and variables that a
//! program uses as a lock are the same here.

use throng_goto::program::{BinOp, Expr, Int, Program};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use super::cube::Side;
use super::encoder::check_edge;
use super::graph::{Edge, Graph, To};
use super::predicate::Predicate;

/// For each lock, whether a place is in its region.
#[derive(Clone, Debug, Default)]
pub struct Regions(Vec<Vec<bool>>);

impl Regions {
    /// The regions of a graph, proved by the second encoder.
    pub fn of(program: &Program, graph: &Graph, limits: &Limits) -> Result<Regions, Unknown> {
        let shared = |id: &u32| {
            let v = &graph.variables;
            v.list[*id as usize].template.is_none() && !v.is_any_element(*id) && !graph.is_tally(*id)
        };
        let mut written: Vec<u32> = graph.edges.iter().flat_map(|e| &e.updates).map(|u| u.0).collect();
        written.sort_unstable();
        written.dedup();
        let early = before_others(program, graph);
        let mut found = Vec::new();
        for m in written.into_iter().filter(shared) {
            found.extend(region(graph, m, &early, limits)?);
        }
        Ok(Regions(found))
    }

    /// Returns whether no two threads are at these places at the same time.
    pub fn exclude(&self, p: usize, q: usize) -> bool {
        self.0.iter().any(|region| region[p] && region[q])
    }
}

/// Places of the first thread at which it is the only one.
pub fn before_others(program: &Program, graph: &Graph) -> Vec<bool> {
    let throng_goto::program::Start::One(first) = program.start else {
        return vec![false; graph.places.len()];
    };
    if !program.runs_once(first) {
        return vec![false; graph.places.len()];
    }
    let early = reachable(graph, vec![graph.entries[first].0], &|e| e.starts.is_empty());
    // Where it may be after it has started others.
    let started = graph.edges.iter().filter(|e| !e.starts.is_empty()).filter_map(place).collect();
    let late = reachable(graph, started, &|_| true);
    early.into_iter().zip(late).map(|(early, late)| early && !late).collect()
}

/// The places that some edges lead to from some places, themselves included.
pub fn reachable(graph: &Graph, mut work: Vec<usize>, along: &dyn Fn(&Edge) -> bool) -> Vec<bool> {
    let mut found = vec![false; graph.places.len()];
    while let Some(p) = work.pop() {
        if !std::mem::replace(&mut found[p], true) {
            work.extend(graph.edges.iter().filter(|e| e.from == p && along(e)).filter_map(place));
        }
    }
    found
}

fn place(e: &Edge) -> Option<usize> {
    match e.to {
        To::Place(p) => Some(p),
        To::Fail(..) | To::End => None,
    }
}

/// What an edge does to a variable that may be a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    Nothing,
    /// It needs 0 and leaves something else.
    Takes,
    /// It leaves 0.
    Frees,
    /// It leaves something else than 0, whatever was before.
    Sets,
    Unknown,
}

/// The region of a variable, if it is a lock.
fn region(graph: &Graph, m: u32, early: &[bool], limits: &Limits) -> Result<Option<Vec<bool>>, Unknown> {
    let is_zero = Expr::Bin(BinOp::Eq, Box::new(Expr::Reg(m)), Box::new(Expr::Const(0)), Int::new(8, true));
    let Some(free) = Predicate::of(is_zero, &graph.variables) else { return Ok(None) };
    let list = [free];
    let mut does = Vec::new();
    for e in &graph.edges {
        does.push(match e.updates.iter().find(|u| u.0 == m) {
            None => Does::Nothing,
            Some((_, Expr::Const(0))) => Does::Frees,
            Some(_) => {
                let never = |side, value| check_edge(graph, &list, e, &[vec![(0, side, value)]], limits);
                match (never(Side::After, true)?, never(Side::Before, false)?) {
                    (None, None) => Does::Takes,
                    (None, Some(_)) => Does::Sets,
                    (Some(_), _) => Does::Unknown,
                }
            }
        });
    }
    let mut inside = vec![false; graph.places.len()];
    let takes = graph.edges.iter().zip(&does).filter(|(_, d)| **d == Does::Takes);
    let mut work: Vec<usize> = takes.filter_map(|(e, _)| place(e)).collect();
    if work.is_empty() {
        return Ok(None);
    }
    while let Some(p) = work.pop() {
        if !std::mem::replace(&mut inside[p], true) {
            let on = graph.edges.iter().zip(&does).filter(|(e, d)| e.from == p && **d != Does::Frees);
            work.extend(on.filter_map(|(e, _)| place(e)));
        }
    }
    let right = graph.edges.iter().zip(&does).all(|(e, does)| {
        let leaves = place(e).is_none_or(|p| !inside[p]);
        match does {
            Does::Nothing => inside[e.from] || leaves,
            Does::Takes => true,
            Does::Frees => leaves && (inside[e.from] || early[e.from]),
            Does::Sets => inside[e.from] || leaves && early[e.from],
            Does::Unknown => leaves && !inside[e.from] && early[e.from],
        }
    });
    let outside = graph.entries.iter().all(|(p, _)| !inside[*p]);
    Ok((right && outside).then_some(inside))
}
