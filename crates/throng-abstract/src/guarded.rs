//! Guesses about what the comparisons that threads wait for, or look at twice, guard:
//! `serving != mine || inside == 0`, `version != before || x == a`; and where a number lies between
//! two counters, `mine - serving < next - serving`, which also holds when they wrap around.
//!
//! Nothing of that has to be right: what cannot be proved is dropped.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use throng_goto::program::{BinOp, Expr, Int};
use throng_goto_check::abstraction::graph::Graph;
use throng_goto_check::abstraction::predicate::{Predicate, rename, used};
use throng_goto_check::abstraction::simplify::negate;
use throng_goto_check::abstraction::variables::INPUT;

use crate::guesses::{compare, guard_atoms, without_casts};

/// Maximum number of comparisons that may guard others.
const MOST_GUARDS: usize = 24;
/// Maximum number of shared variables that they may guard.
const MOST_PROTECTED: usize = 6;
/// Maximum number of guesses.
const MOST: usize = 600;
/// Maximum number of counters.
const MOST_COUNTERS: usize = 4;

/// Returns what may hold because of the comparisons in guards; nothing if no comparison is about a
/// shared variable and one of a thread, or about a part of a word.
pub(crate) fn guarded(graph: &Graph) -> Vec<Predicate> {
    let copies = Copies::of(graph);
    let guards = guards(graph, &copies);
    if !guards.iter().any(|g| is_telling(graph, g)) {
        return Vec::new();
    }
    let conclusions = conclusions(graph, &copies);
    let mut found = windows(graph, &copies);
    found.extend(masks(graph, &copies));
    found.extend(sums(graph, &copies));
    found.extend(own_sums(graph));
    found.extend(given(graph));
    for guard in &guards {
        let about = used(guard);
        let others = conclusions.iter().filter(|c| !shares(graph, &about, c));
        found.extend(others.map(|c| either(negate(guard.clone()), c.clone())));
    }
    let mut seen = FxHashSet::default();
    found.retain(|e| seen.insert(e.clone()));
    let all = found.into_iter().filter_map(|e| Predicate::of(e, &graph.variables));
    all.take(MOST).collect()
}

/// Variables of threads that were copied from shared ones, and these.
struct Copies(BTreeMap<u32, BTreeSet<u32>>);

impl Copies {
    fn of(graph: &Graph) -> Copies {
        let mut found: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        loop {
            let before: usize = found.values().map(BTreeSet::len).sum();
            for (id, x) in graph.edges.iter().flat_map(|e| &e.updates).filter(|u| !is_shared(graph, u.0)) {
                let Expr::Reg(from) = *without_casts(x) else { continue };
                if from < INPUT && is_plain(graph, from) {
                    found.entry(*id).or_default().insert(from);
                } else if let Some(more) = found.get(&from).cloned() {
                    found.entry(*id).or_default().extend(more);
                }
            }
            if found.values().map(BTreeSet::len).sum::<usize>() == before {
                return Copies(found);
            }
        }
    }

    /// The shared variables that one was copied from.
    fn sources(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        self.0.get(&id).into_iter().flatten().copied()
    }

    /// The variables that were copied from a shared one.
    fn copies(&self, shared: u32) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().filter(move |c| c.1.contains(&shared)).map(|c| *c.0)
    }
}

fn is_shared(graph: &Graph, id: u32) -> bool {
    id < INPUT && graph.variables.list[id as usize].template.is_none()
}

/// Returns whether a variable is a shared one of the program.
fn is_plain(graph: &Graph, id: u32) -> bool {
    is_shared(graph, id) && !graph.variables.is_any_element(id) && !graph.is_tally(id)
}

fn either(a: Expr, b: Expr) -> Expr {
    Expr::Bin(BinOp::Or, Box::new(a), Box::new(b), Int::new(8, true))
}

/// Returns whether a conclusion is about a shared variable of its guard.
fn shares(graph: &Graph, guard: &[u32], conclusion: &Expr) -> bool {
    used(conclusion).iter().any(|&id| is_shared(graph, id) && guard.contains(&id))
}

/// Returns whether two threads can tell each other apart by a comparison.
fn is_telling(graph: &Graph, guard: &Expr) -> bool {
    let ids = used(guard);
    ids.len() > 1 && ids.iter().any(|&id| !is_shared(graph, id)) || is_mask(guard)
}

/// Returns whether a comparison is with a number that no counter reaches.
fn is_far(e: &Expr) -> bool {
    let mut far = false;
    e.constants(&mut |c| far |= c.unsigned_abs() >= 1 << 30);
    far && !is_mask(e)
}

/// Returns whether a comparison is about some bits of a word.
fn is_mask(e: &Expr) -> bool {
    let masked = |e: &Expr| matches!(without_casts(e), Expr::Bin(BinOp::And | BinOp::Rem, ..));
    matches!(e, Expr::Bin(_, a, b, _) if masked(a) || masked(b))
}

/// The comparisons in guards that are about shared variables, and the same about what a thread's
/// variable was copied from.
fn guards(graph: &Graph, copies: &Copies) -> Vec<Expr> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    for atom in graph.edges.iter().flat_map(|e| guard_atoms(graph, e)) {
        let ids = used(&atom);
        let own: Vec<u32> = ids.iter().copied().filter(|&id| !is_plain(graph, id)).collect();
        let plain = own.iter().all(|&id| id < INPUT && !is_shared(graph, id)) && !is_far(&atom);
        // What a thread alone knows says something only about bits that it has copied.
        if !plain || own.len() > 1 || own.len() == ids.len() && !is_mask(&atom) {
            continue;
        }
        let other = own.first().into_iter().flat_map(|&r| copies.sources(r).map(move |s| (r, s)));
        let renamed = other.map(|(r, s)| rename(&atom, &|id| if id == r { s } else { id }));
        let renamed: Vec<Expr> = renamed.filter(|e| used(e).len() == ids.len()).collect();
        let about_shared = |e: &Expr| used(e).iter().any(|&id| is_shared(graph, id));
        for e in std::iter::once(atom.clone()).chain(renamed).filter(about_shared) {
            // What differs from one number says little.
            let opposite = is_mask(&e) || matches!(e, Expr::Bin(BinOp::Lt, ..));
            let both = opposite.then(|| negate(e.clone()));
            found.extend(std::iter::once(e).chain(both).filter(|e| seen.insert(e.clone())));
        }
    }
    found.sort_by_key(|g| !is_telling(graph, g));
    found.truncate(MOST_GUARDS);
    found
}

/// What may be guarded: that shared variables are what they were at the start, or equal; that a
/// variable of a thread is still what it was copied from; bits of words.
fn conclusions(graph: &Graph, copies: &Copies) -> Vec<Expr> {
    let v = &graph.variables;
    let mut written: Vec<u32> = graph.edges.iter().flat_map(|e| &e.updates).map(|u| u.0).collect();
    written.sort_unstable();
    written.dedup();
    written.retain(|&id| is_plain(graph, id));
    // Data rather than what threads wait for.
    let compared: FxHashSet<u32> = graph
        .edges
        .iter()
        .filter(|e| !e.starts.is_empty() || e.updates.is_empty())
        .flat_map(|e| e.guard.iter().flat_map(used))
        .collect();
    written.sort_by_key(|id| compared.contains(id));
    written.truncate(MOST_PROTECTED);
    let initial = |id: u32| v.list[id as usize].initial;
    let equal = |a: u32, b: Expr| compare(BinOp::Eq, Expr::Reg(a), b);
    let mut found: Vec<Expr> = Vec::new();
    for (k, &a) in written.iter().enumerate() {
        let others = written[..k].iter().filter(|&&b| v.ty(a) == v.ty(b));
        found.extend(others.map(|&b| equal(a, Expr::Reg(b))));
        found.extend(initial(a).map(|value| equal(a, Expr::Const(value))));
        found.extend(copies.copies(a).map(|r| equal(r, Expr::Reg(a))));
    }
    found.extend(masks(graph, copies).into_iter().filter(|e| used(e).iter().all(|&id| is_shared(graph, id))));
    found
}

/// What guards say about bits of a shared word or of a copy of one, of the word and of all of its
/// copies.
fn masks(graph: &Graph, copies: &Copies) -> Vec<Expr> {
    let mut found = Vec::new();
    for atom in graph.edges.iter().flat_map(|e| guard_atoms(graph, e)).filter(is_mask) {
        let [id] = used(&atom)[..] else { continue };
        let words: Vec<u32> = match is_plain(graph, id) {
            true => vec![id],
            false => copies.sources(id).collect(),
        };
        for word in words {
            let all = std::iter::once(word).chain(copies.copies(word));
            for e in all.map(|to| rename(&atom, &|_| to)) {
                found.extend([negate(e.clone()), e]);
            }
        }
    }
    found
}

/// What holds after a shared variable got a value that is computed from a copy of one: the same of
/// that one, or of another.
fn sums(graph: &Graph, copies: &Copies) -> Vec<Expr> {
    let updates = || graph.edges.iter().flat_map(|e| &e.updates);
    let mut found = Vec::new();
    for (id, x) in updates().filter(|u| is_plain(graph, u.0)) {
        let given = |r: u32| updates().filter(move |u| u.0 == r && r < INPUT && !is_shared(graph, r));
        let computed: Vec<&Expr> = match *without_casts(x) {
            Expr::Reg(r) => given(r).map(|u| &u.1).collect(),
            _ => vec![x],
        };
        for x in computed.into_iter().filter(|x| matches!(without_casts(x), Expr::Bin(..))) {
            let [source] = used(x)[..] else { continue };
            if source >= INPUT {
                continue;
            }
            let others = updates().map(|u| u.0).filter(|&o| is_plain(graph, o));
            let others = others.filter(|&o| graph.variables.ty(o) == graph.variables.ty(*id));
            for other in others.chain(copies.sources(source)).chain([source]).filter(|o| o != id) {
                found.push(compare(BinOp::Eq, Expr::Reg(*id), rename(x, &|_| other)));
            }
        }
    }
    found
}

/// What a thread computes for itself from another variable, and the same of a shared
/// variable that it has compared this with.
fn own_sums(graph: &Graph) -> Vec<Expr> {
    let own = |id: u32| id < INPUT && !is_shared(graph, id);
    let atoms: Vec<Expr> = graph.edges.iter().flat_map(|e| guard_atoms(graph, e)).collect();
    let equal = |r: u32| {
        atoms.iter().filter_map(move |atom| match (atom, &used(atom)[..]) {
            (Expr::Bin(BinOp::Eq, ..), &[a, b]) if a == r && is_plain(graph, b) => Some(b),
            (Expr::Bin(BinOp::Eq, ..), &[a, b]) if b == r && is_plain(graph, a) => Some(a),
            _ => None,
        })
    };
    let mut found = Vec::new();
    for (id, x) in graph.edges.iter().flat_map(|e| &e.updates).filter(|u| own(u.0)) {
        let [source] = used(x)[..] else { continue };
        if matches!(without_casts(x), Expr::Bin(..)) && source < INPUT && source != *id {
            let sources = equal(source).chain([source]);
            found.extend(sources.map(|s| compare(BinOp::Eq, Expr::Reg(*id), rename(x, &|_| s))));
        }
    }
    found
}

/// What holds after a thread has given a shared variable the value of one of its own.
fn given(graph: &Graph) -> Vec<Expr> {
    let updates = graph.edges.iter().flat_map(|e| &e.updates).filter(|u| is_plain(graph, u.0));
    let own = |x: &Expr| match *without_casts(x) {
        Expr::Reg(r) if r < INPUT && !is_shared(graph, r) => Some(r),
        _ => None,
    };
    updates.filter_map(|(id, x)| Some(compare(BinOp::Eq, Expr::Reg(*id), Expr::Reg(own(x)?)))).collect()
}

/// Numbers between two counters: of three that were copied from one another, one lies behind the
/// first and before the last, counted from the first.
fn windows(graph: &Graph, copies: &Copies) -> Vec<Expr> {
    let counters = counters(graph);
    let mut found = Vec::new();
    for (&a, &b) in counters.iter().flat_map(|a| counters.iter().map(move |b| (a, b))) {
        let at = graph.variables.ty(a);
        if a == b || graph.variables.ty(b) != at {
            continue;
        }
        let from = |x: u32| Expr::Bin(BinOp::Sub, Box::new(Expr::Reg(x)), Box::new(Expr::Reg(a)), at);
        let between = |op, x, y| Expr::Bin(op, Box::new(from(x)), Box::new(from(y)), at);
        let own: BTreeSet<u32> = copies.copies(a).chain(copies.copies(b)).collect();
        for r in own.into_iter().filter(|&r| graph.variables.ty(r) == at) {
            found.extend([between(BinOp::Lt, r, b), between(BinOp::Le, r, b)]);
        }
    }
    found
}

/// Shared variables without sign that are counted up.
fn counters(graph: &Graph) -> Vec<u32> {
    let counts = |id: u32| {
        let mut updates = graph.edges.iter().flat_map(|e| &e.updates).filter(|u| u.0 == id).peekable();
        updates.peek().is_some() && updates.all(|u| is_sum(graph, &u.1))
    };
    let ty = |id: u32| graph.variables.ty(id);
    let all = (0..graph.variables.list.len() as u32).filter(|&id| is_plain(graph, id));
    all.filter(|&id| !ty(id).signed && ty(id).size >= 4 && counts(id)).take(MOST_COUNTERS).collect()
}

/// Returns whether a value is a sum, or a variable of a thread that is given one.
pub(crate) fn is_sum(graph: &Graph, x: &Expr) -> bool {
    let sum = |x: &Expr| matches!(without_casts(x), Expr::Bin(BinOp::Add | BinOp::Sub, ..));
    let given = |r: u32| {
        let own = r < INPUT && !is_shared(graph, r);
        own && graph.edges.iter().flat_map(|e| &e.updates).any(|u| u.0 == r && sum(&u.1))
    };
    sum(x) || matches!(without_casts(x), Expr::Reg(r) if given(*r))
}
