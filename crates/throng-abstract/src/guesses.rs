//! Comparisons that may hold: those of the program, variables against its constants, and variables
//! against each other.

use rustc_hash::FxHashSet;
use throng_goto::program::{BinOp, Expr, Int, Program};

use crate::edges::Graph;
use crate::predicates::{Predicate, used};
use crate::simplify::{atoms, negate};
use crate::variables::INPUT;

/// Variables of each template, and shared ones, that are compared with each other.
const MOST_NUMBERS: usize = 12;
/// Constants that a variable is compared with.
const MOST_CONSTANTS: usize = 10;
const WIDE: Int = Int::new(8, true);

/// The comparisons to try.
pub(crate) fn guesses(program: &Program, graph: &Graph) -> Vec<Predicate> {
    let v = &graph.variables;
    let mut found: Vec<Expr> = Vec::new();
    let mut ordered: FxHashSet<u32> = FxHashSet::default();
    for e in &graph.edges {
        let types = |id: u32| e.ty(v, id);
        let mut here = Vec::new();
        e.guard.iter().for_each(|g| atoms(g, &types, &mut here));
        for atom in here {
            if let Expr::Bin(BinOp::Lt, ..) = atom {
                ordered.extend(used(&atom).into_iter().filter(|&id| id < INPUT));
            }
            if used(&atom).iter().all(|&id| id < INPUT) {
                found.push(negate(atom.clone()));
                found.push(atom);
            }
        }
        for (id, x) in &e.updates {
            let sum = |x: &Expr| matches!(x, Expr::Bin(BinOp::Add | BinOp::Sub, ..));
            let inside = |x: &Expr| match x {
                Expr::Cast(x, _) => sum(x),
                x => sum(x),
            };
            if inside(x) {
                ordered.insert(*id);
                ordered.extend(used(x).into_iter().filter(|&id| id < INPUT));
            }
        }
    }
    ordered.extend((0..v.list.len() as u32).filter(|&id| v.is_any_element(id)));
    // What is copied from numbers, or to them, is one.
    loop {
        let before = ordered.len();
        for (id, x) in graph.edges.iter().flat_map(|e| &e.updates) {
            let mut x = x;
            while let Expr::Cast(inner, _) = x {
                x = inner;
            }
            if let Expr::Reg(from) = x
                && *from < INPUT
                && (ordered.contains(id) || ordered.contains(from))
            {
                ordered.extend([*id, *from]);
            }
        }
        if ordered.len() == before {
            break;
        }
    }
    // What no thread keeps from one step to the next says nothing.
    let lives = |id: u32| {
        let one = Predicate::of(compare(BinOp::Le, Expr::Reg(id), Expr::Const(0)), v);
        one.is_some_and(|p| (0..graph.places.len()).any(|place| p.lives(graph, program, place)))
    };
    let number = |id: &u32| {
        let ty = v.ty(*id);
        !ty.truth && (ty.size < 8 || ty.signed) && lives(*id)
    };
    let mut numbers: Vec<u32> = ordered.into_iter().filter(number).collect();
    numbers.sort_unstable();
    for (id, value) in assigned(graph) {
        found.push(compare(BinOp::Eq, Expr::Reg(id), Expr::Const(value)));
    }
    let mut constants: Vec<i64> =
        graph.constants.iter().copied().filter(|c| c.unsigned_abs() < 1 << 32).collect();
    constants.sort_unstable_by_key(|c| (c.unsigned_abs(), *c));
    constants.truncate(MOST_CONSTANTS);
    for &id in &numbers {
        for &c in &constants {
            found.push(compare(BinOp::Le, Expr::Reg(id), Expr::Const(c)));
            found.push(compare(BinOp::Le, Expr::Const(c), Expr::Reg(id)));
        }
    }
    for template in 0..program.templates.len() {
        let owned = |id: &&u32| v.list[**id as usize].template.is_none_or(|t| t == template);
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
        for (&a, &b) in few.iter().flat_map(|a| few.iter().map(move |b| (a, b))).filter(|(a, b)| a != b) {
            for more in [-1, 0, 1] {
                let b = match more {
                    0 => Expr::Reg(b),
                    more => Expr::Bin(BinOp::Add, Box::new(Expr::Reg(b)), Box::new(Expr::Const(more)), WIDE),
                };
                found.push(compare(BinOp::Le, Expr::Reg(a), b));
            }
        }
    }
    let mut seen = FxHashSet::default();
    found.retain(|e| seen.insert(e.clone()));
    found.into_iter().filter_map(|e| Predicate::of(e, v)).collect()
}

fn compare(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Bin(op, Box::new(a), Box::new(b), WIDE)
}

/// Variables that only ever get constants, and these constants.
fn assigned(graph: &Graph) -> Vec<(u32, i64)> {
    let mut found: Vec<(u32, i64)> = Vec::new();
    let mut open = FxHashSet::default();
    let edges = graph.edges.iter().chain([&graph.initial]);
    for (id, x) in edges.flat_map(|e| &e.updates) {
        match x {
            Expr::Const(c) => found.push((*id, *c)),
            _ => _ = open.insert(*id),
        }
    }
    found.retain(|f| !open.contains(&f.0));
    found.sort_unstable();
    found.dedup();
    found
}
