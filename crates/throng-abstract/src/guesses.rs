//! Comparisons that may hold: those of the program, variables against its constants, and variables
//! against each other.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use throng_goto::program::{BinOp, Expr, Int, Program};

use crate::atoms::atoms;
use throng_goto_check::abstraction::graph::{Edge, Graph};
use throng_goto_check::abstraction::predicate::{Predicate, rename, used};
use throng_goto_check::abstraction::simplify::negate;
use throng_goto_check::abstraction::variables::INPUT;

/// Maximum number of variables of each template, and of shared ones, that are compared with each
/// other.
const MOST_NUMBERS: usize = 12;
/// Maximum number of constants that a variable is compared with.
const MOST_CONSTANTS: usize = 10;
/// Maximum number of constants that a variable is said to have been given.
const MOST_ASSIGNED: usize = 4;
const WIDE: Int = Int::new(8, true);

/// Returns the comparisons to try.
pub(crate) fn guesses(program: &Program, graph: &Graph) -> Vec<Predicate> {
    let mut found = of_guards(graph);
    let numbers = numbers(program, graph);
    for (id, value) in assigned(graph) {
        found.push(compare(BinOp::Eq, Expr::Reg(id), Expr::Const(value)));
    }
    found.extend(after_updates(graph));
    let mut constants: Vec<i64> =
        graph.constants.iter().copied().filter(|c| c.unsigned_abs() < 1 << 32).collect();
    constants.sort_unstable_by_key(|c| (c.unsigned_abs(), *c));
    constants.truncate(MOST_CONSTANTS);
    for &id in &numbers {
        for &c in constants.iter().filter(|c| !graph.is_tally(id) || matches!(c, 0 | 1)) {
            found.push(compare(BinOp::Le, Expr::Reg(id), Expr::Const(c)));
            found.push(compare(BinOp::Le, Expr::Const(c), Expr::Reg(id)));
        }
    }
    for template in 0..program.templates.len() {
        found.extend(between_variables(graph, template, &numbers));
    }
    let mut seen = FxHashSet::default();
    found.retain(|e| seen.insert(e.clone()));
    found.into_iter().filter_map(|e| Predicate::of(e, &graph.variables)).collect()
}

/// The comparisons in an edge's guard.
pub(crate) fn guard_atoms(graph: &Graph, e: &Edge) -> Vec<Expr> {
    let types = |id: u32| e.ty(&graph.variables, id);
    let mut found = Vec::new();
    e.guard.iter().for_each(|g| atoms(g, &types, &mut found));
    found
}

/// The comparisons of guards, and their opposites.
fn of_guards(graph: &Graph) -> Vec<Expr> {
    let all = graph.edges.iter().flat_map(|e| guard_atoms(graph, e));
    // What a path says of tallies is known on it.
    let plain = all.filter(|atom| used(atom).iter().all(|&id| id < INPUT && !graph.is_tally(id)));
    plain.flat_map(|atom| [negate(atom.clone()), atom]).collect()
}

/// Variables that the program orders or computes with, and copies of them.
fn ordered(graph: &Graph) -> FxHashSet<u32> {
    let v = &graph.variables;
    let known = |e: &Expr| used(e).into_iter().filter(|&id| id < INPUT).collect::<Vec<u32>>();
    let mut ordered: FxHashSet<u32> = FxHashSet::default();
    for e in &graph.edges {
        let comparisons = guard_atoms(graph, e).into_iter().filter(|a| matches!(a, Expr::Bin(BinOp::Lt, ..)));
        ordered.extend(comparisons.flat_map(|atom| known(&atom)));
        for (id, x) in &e.updates {
            let sum = |x: &Expr| matches!(x, Expr::Bin(BinOp::Add | BinOp::Sub, ..));
            if sum(x) || matches!(x, Expr::Cast(x, _) if sum(x)) {
                ordered.insert(*id);
                ordered.extend(known(x));
            }
        }
    }
    ordered.extend((0..v.list.len() as u32).filter(|&id| v.is_any_element(id)));
    // What is copied from numbers, or to them, is one.
    loop {
        let before = ordered.len();
        for (id, x) in graph.edges.iter().flat_map(|e| &e.updates) {
            if let Expr::Reg(from) = without_casts(x)
                && *from < INPUT
                && (ordered.contains(id) || ordered.contains(from))
            {
                ordered.extend([*id, *from]);
            }
        }
        if ordered.len() == before {
            return ordered;
        }
    }
}

/// Variables that are worth comparing with numbers.
fn numbers(program: &Program, graph: &Graph) -> Vec<u32> {
    let v = &graph.variables;
    // What no thread keeps from one step to the next says nothing.
    let lives = |id: u32| {
        let one = Predicate::of(compare(BinOp::Le, Expr::Reg(id), Expr::Const(0)), v);
        one.is_some_and(|p| (0..graph.places.len()).any(|place| p.lives(graph, program, place)))
    };
    let number = |id: &u32| {
        let ty = v.ty(*id);
        !ty.truth && (ty.size < 8 || ty.signed) && lives(*id)
    };
    let mut numbers: Vec<u32> = ordered(graph).into_iter().filter(number).collect();
    numbers.sort_unstable();
    numbers
}

/// Comparisons of two variables, shared or of threads of a template.
fn between_variables(graph: &Graph, template: usize, numbers: &[u32]) -> Vec<Expr> {
    let v = &graph.variables;
    let owned =
        |id: &&u32| v.list[**id as usize].template.is_none_or(|t| t == template) && !graph.is_tally(**id);
    let own: Vec<u32> = numbers.iter().filter(owned).copied().collect();
    // Variables before what has no name in C, and those that no thread sees before both.
    let rank = |id: &u32| {
        let name = &v.list[*id as usize].name;
        let unnamed = name.starts_with('t') && name[1..].parse::<u32>().is_ok();
        (unnamed, !name.contains('('))
    };
    let few = |private: bool| {
        let mut few: Vec<u32> = own.clone();
        few.retain(|&id| v.list[id as usize].template.is_some() == private);
        few.sort_by_key(rank);
        few.truncate(MOST_NUMBERS);
        few
    };
    let few = [few(true), few(false)].concat();
    let mut found = Vec::new();
    for (&a, &b) in few.iter().flat_map(|a| few.iter().map(move |b| (a, b))).filter(|(a, b)| a != b) {
        for more in [-1, 0, 1] {
            let b = match more {
                0 => Expr::Reg(b),
                more => Expr::Bin(BinOp::Add, Box::new(Expr::Reg(b)), Box::new(Expr::Const(more)), WIDE),
            };
            found.push(compare(BinOp::Le, Expr::Reg(a), b));
        }
    }
    found
}

/// Returns what is converted, if an expression is a conversion, or the expression itself.
pub(crate) fn without_casts(mut e: &Expr) -> &Expr {
    while let Expr::Cast(inner, _) = e {
        e = inner;
    }
    e
}

pub(crate) fn compare(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Bin(op, Box::new(a), Box::new(b), WIDE)
}

/// What holds right after a shared variable got a value that others determine, and the same with
/// another shared variable in place of one of these: what is computed alike for both.
fn after_updates(graph: &Graph) -> Vec<Expr> {
    let v = &graph.variables;
    let shared =
        |id: u32| v.list[id as usize].template.is_none() && !v.is_any_element(id) && !graph.is_tally(id);
    let updates = || graph.edges.iter().flat_map(|e| &e.updates).filter(|u| shared(u.0));
    let mut written: Vec<u32> = updates().map(|u| u.0).collect();
    written.sort_unstable();
    written.dedup();
    written.truncate(MOST_NUMBERS / 2);
    let mut found = Vec::new();
    for (id, x) in updates().filter(|(_, x)| matches!(without_casts(x), Expr::Bin(..))) {
        let sources = used(x);
        if sources.iter().any(|s| *s >= INPUT) {
            continue;
        }
        let [source] = sources[..] else { continue };
        for &other in written.iter().chain([&source]).filter(|o| *o != id) {
            let x = rename(x, &|s| if s == source { other } else { s });
            found.push(compare(BinOp::Eq, Expr::Reg(*id), x));
        }
    }
    found
}

/// Variables that get constants, and copies of them, with these constants.
fn assigned(graph: &Graph) -> Vec<(u32, i64)> {
    let all = || graph.edges.iter().chain([&graph.initial]).flat_map(|e| &e.updates);
    let updates = || all().filter(|u| !graph.is_tally(u.0));
    let mut found: BTreeMap<u32, BTreeSet<i64>> = BTreeMap::new();
    loop {
        let before: usize = found.values().map(BTreeSet::len).sum();
        for (id, x) in updates() {
            let new: Vec<i64> = match without_casts(x) {
                Expr::Const(c) => vec![*c],
                Expr::Reg(from) => found.get(from).into_iter().flatten().copied().collect(),
                _ => Vec::new(),
            };
            let known = found.entry(*id).or_default();
            known.extend(new.into_iter().take(MOST_ASSIGNED.saturating_sub(known.len())));
        }
        if found.values().map(BTreeSet::len).sum::<usize>() == before {
            return found.into_iter().flat_map(|(id, all)| all.into_iter().map(move |c| (id, c))).collect();
        }
    }
}
