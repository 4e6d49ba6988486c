//! Counters that do not reach the end of their type: tickets, versions, indices of rings.
//!
//! Some shared variables of at least four bytes begin with a small number, and whatever is written
//! to one of them is a small number, one of these variables or a copy of one, or a small number
//! more than that. Then after n steps each of them is at most a small multiple of n, so that it
//! takes at least 2²⁷ steps before a sum does not fit. That every such sum fits is an assumption:
//! the paths get it as a guard, and it is said beside the proof (`Assumption::CountersFit`).

use throng_goto::program::{BinOp, Expr, Int, Program};

use super::graph::{Edge, Graph};
use super::variables::{INPUT, Variable};

/// The largest number that is small.
const SMALL: i64 = 16;

/// Adds the assumption to a graph, and returns the variables that it is about, shared ones where
/// they have a name; none if there is nothing to assume.
pub(crate) fn bound(program: &Program, graph: &mut Graph) -> Vec<u32> {
    let counts = counters(program, graph);
    let mut found = Vec::new();
    for n in 0..graph.edges.len() {
        let e = &graph.edges[n];
        let sums: Vec<(u32, Expr)> = (e.updates.iter().filter(|u| counts[u.0 as usize]))
            .filter_map(|(id, x)| Some((*id, fits(graph.variables.ty(*id), sum(x)?))))
            .collect();
        for (id, guard) in sums {
            found.extend(shared_counters(graph, &counts, id));
            graph.edges[n].guard.push(guard);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the shared counters that a counter is a copy of, by which people know it: `tail` for the
/// register in which `tail++` keeps the old value. A counter that is no such copy stands for itself.
fn shared_counters(graph: &Graph, counts: &[bool], id: u32) -> Vec<u32> {
    let is_shared = |id: u32| graph.variables.list[id as usize].template.is_none();
    if is_shared(id) {
        return vec![id];
    }
    let copies = graph.edges.iter().flat_map(|e| &e.updates).filter(|u| u.0 == id);
    let mut from = Vec::new();
    copies.for_each(|(_, x)| x.registers(&mut |r| from.push(r)));
    from.retain(|&r| r < INPUT && counts[r as usize] && is_shared(r));
    if from.is_empty() { vec![id] } else { from }
}

/// Returns the condition that a sum is a value of a type.
fn fits(ty: Int, (id, step): (u32, i64)) -> Expr {
    let bits = u32::from(ty.size) * 8 - u32::from(ty.signed);
    let largest = (u64::MAX >> (64 - bits)) as i64;
    let most = Expr::Const(largest.wrapping_sub(step));
    Expr::Bin(BinOp::Le, Box::new(Expr::Reg(id)), Box::new(most), ty)
}

/// Returns which variables are such counters or copies of them: the largest set in which each is
/// only written as the set allows.
fn counters(program: &Program, graph: &Graph) -> Vec<bool> {
    let mut counts: Vec<bool> =
        (0..graph.variables.list.len() as u32).map(|id| may_count(program, graph, id)).collect();
    loop {
        let writes = graph.edges.iter().flat_map(|e: &Edge| &e.updates);
        let bad = writes.filter(|(id, x)| counts[*id as usize] && !is_count(&counts, x));
        let bad: Vec<u32> = bad.map(|u| u.0).collect();
        if bad.is_empty() {
            return counts;
        }
        bad.into_iter().for_each(|id| counts[id as usize] = false);
    }
}

/// Returns whether a variable begins with a small number, or is not read before it is written.
fn may_count(program: &Program, graph: &Graph, id: u32) -> bool {
    let v: &Variable = &graph.variables.list[id as usize];
    let begins = match (v.template, graph.variables.register_of(id)) {
        (Some(t), Some(r)) => {
            let template = &program.templates[t];
            let read = template.live.first().is_none_or(|live| live.contains(&r));
            r as usize >= template.arguments && !read
        }
        _ => v.initial.is_some_and(is_small),
    };
    let counted = graph.counts || graph.is_tally(id) || graph.variables.is_any_element(id);
    begins && !counted && v.ty.size >= 4 && !v.ty.truth
}

fn is_small(value: i64) -> bool {
    (0..=SMALL).contains(&value)
}

/// Returns whether what is written keeps a variable among the counters.
fn is_count(counts: &[bool], written: &Expr) -> bool {
    match written {
        Expr::Const(value) => is_small(*value),
        Expr::Reg(id) => *id < INPUT && counts[*id as usize],
        Expr::Cast(e, to) => to.size >= 4 && !to.truth && is_count(counts, e),
        e => sum(e).is_some_and(|(id, _)| id < INPUT && counts[id as usize]),
    }
}

/// A variable and the small number that is added to it.
fn sum(e: &Expr) -> Option<(u32, i64)> {
    match e {
        Expr::Cast(e, to) if to.size >= 4 && !to.truth => sum(e),
        Expr::Bin(BinOp::Add, x, step, at) if at.size >= 4 => match (&**x, &**step) {
            (Expr::Reg(id), Expr::Const(step)) if (1..=SMALL).contains(step) => Some((*id, *step)),
            _ => None,
        },
        _ => None,
    }
}
