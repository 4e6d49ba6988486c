//! Facts about two threads: at these places, this variable of the one and that of the other differ.
//!
//! Tickets are the case in point: a thread takes the value of a shared variable and changes it in
//! the same step, so that no two threads have the same ticket. Such a fact stands for both orders
//! of the two threads. A variable of a thread may also be a shared one, which others may read, if
//! only steps of this thread write it and no other thread runs the same code ([`owner`]). Where a
//! thread begins there is none, so that only steps between places matter: whichever of the two
//! moves, it has to come to a place where the fact still holds.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use throng_goto::program::{BinOp, Expr, Int, Program};

use crate::edges::{Edge, Graph, To};
use crate::exclusion::reachable;
use crate::predicates::{Predicate, used};
use crate::variables::{INPUT, OTHER};

/// Whenever a thread is at the first place and another at the second, the variable of the one is
/// not equal to that of the other.
pub type Differs = (usize, usize, u32, u32);

/// Variables that are told apart; more are too many.
const MOST: usize = 6;
/// Pairs of places and variables; more are too many.
const MOST_PAIRS: usize = 20_000;

/// The comparison of two variables of two threads, the one that moves first. It is part of lists of
/// predicates, and is only asked about the thread that moves.
pub(super) fn comparison(graph: &Graph, a: u32, b: u32) -> Predicate {
    let template = |id: u32| graph.variables.list[id as usize].template;
    // A shared variable is the same whichever thread moves.
    let b = if template(b).is_some() { b + OTHER } else { b };
    let (mine, other) = (Box::new(Expr::Reg(a)), Box::new(Expr::Reg(b)));
    Predicate {
        expr: Expr::Bin(BinOp::Ne, mine, other, Int::new(8, true)),
        template: template(a),
        variables: vec![a, b],
    }
}

/// What holds of two threads, by their places: the one that moves, and a bystander. What is held of
/// one order is held of the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Apart {
    /// The variables.
    variables: Vec<u32>,
    /// The number of the first comparison; there is one for each two variables.
    first: u32,
    /// The comparisons that hold, by number.
    pub(super) at: FxHashMap<(usize, usize), Vec<u32>>,
}

impl Apart {
    /// Puts facts into a list of predicates.
    pub(super) fn of(graph: &Graph, facts: &[Differs], list: &mut Vec<Predicate>) -> Apart {
        let mut variables: Vec<u32> = facts.iter().flat_map(|f| [f.2, f.3]).collect();
        variables.sort_unstable();
        variables.dedup();
        let mut apart = Apart { variables, first: list.len() as u32, at: FxHashMap::default() };
        for &a in &apart.variables {
            list.extend(apart.variables.iter().map(|&b| comparison(graph, a, b)));
        }
        for &(p, q, a, b) in facts {
            let i = apart.number(a, b);
            apart.add(p, q, i);
        }
        apart
    }

    /// Everything that may hold. Tickets are remembered at places where they are not read any more.
    pub(super) fn guesses(program: &Program, graph: &Graph) -> Vec<Differs> {
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
        let alone = |p: usize, q: usize| {
            let (t, other) = (graph.places[p].template, graph.places[q].template);
            t == other && program.runs_once(t)
        };
        let pairs = held.iter().flat_map(|&(p, a)| held.iter().map(move |&(q, b)| (p, q, a, b)));
        pairs.filter(|&(p, q, a, b)| (p, a) <= (q, b) && !alone(p, q)).collect()
    }

    /// Whether facts are about variables of threads that are at these places, none of which is
    /// where threads begin.
    pub(super) fn fits(program: &Program, graph: &Graph, facts: &[Differs]) -> bool {
        let owned = |p: usize, a: u32| {
            let place = graph.places.get(p).filter(|_| !is_entry(graph, p));
            place.is_some_and(|place| owner(program, graph, a) == Some(place.template))
        };
        facts.iter().all(|&(p, q, a, b)| owned(p, a) && owned(q, b))
    }

    fn number(&self, a: u32, b: u32) -> u32 {
        let index = |v: u32| self.variables.iter().position(|&w| w == v).unwrap_or_default();
        self.first + (index(a) * self.variables.len() + index(b)) as u32
    }

    /// The variables of a comparison: of the thread that moves, and of a bystander.
    fn pair(&self, i: u32) -> (u32, u32) {
        let (n, k) = (self.variables.len(), (i - self.first) as usize);
        (self.variables[k / n], self.variables[k % n])
    }

    /// The same comparison with the other thread as the one that moves.
    pub(super) fn mirror(&self, i: u32) -> u32 {
        let (a, b) = self.pair(i);
        self.number(b, a)
    }

    /// What holds of a thread and a bystander at places.
    pub(super) fn between(&self, p: usize, q: usize) -> &[u32] {
        self.at.get(&(p, q)).map_or(&[], Vec::as_slice)
    }

    /// Adds a fact; whether it is new.
    pub(super) fn add(&mut self, p: usize, q: usize, i: u32) -> bool {
        if self.between(p, q).contains(&i) {
            return false;
        }
        self.at.entry((p, q)).or_default().push(i);
        let other = self.mirror(i);
        if !self.between(q, p).contains(&other) {
            self.at.entry((q, p)).or_default().push(other);
        }
        true
    }

    /// Drops facts.
    pub(super) fn drop(&mut self, p: usize, q: usize, wrong: &[u32]) {
        let others: Vec<u32> = wrong.iter().map(|&i| self.mirror(i)).collect();
        for (key, wrong) in [((p, q), wrong), ((q, p), &others)] {
            if let Some(held) = self.at.get_mut(&key) {
                held.retain(|i| !wrong.contains(i));
            }
        }
    }

    /// The same without anything that holds.
    pub(super) fn emptied(&self) -> Apart {
        Apart { at: FxHashMap::default(), ..self.clone() }
    }

    /// The facts, each once.
    pub(super) fn facts(&self) -> Vec<Differs> {
        let mut found = Vec::new();
        for (&(p, q), held) in &self.at {
            let pairs = held.iter().map(|&i| self.pair(i));
            found.extend(pairs.filter(|&(a, b)| (p, a) <= (q, b)).map(|(a, b)| (p, q, a, b)));
        }
        found.sort_unstable();
        found
    }
}

/// The template whose threads a variable is of. A shared variable is of one thread if this is the
/// only one of its template, and no other template has a step that writes it: then it stays what it
/// is while two other threads, or this one and a bystander of which the bystander moves, are looked
/// at.
fn owner(program: &Program, graph: &Graph, id: u32) -> Option<usize> {
    let variable = graph.variables.list.get(id as usize)?;
    if variable.template.is_some() || graph.variables.is_any_element(id) {
        return variable.template;
    }
    let writing = graph.edges.iter().filter(|e| e.updates.iter().any(|u| u.0 == id));
    let mut templates = writing.map(|e| graph.places[e.from].template);
    let first = templates.next()?;
    (program.runs_once(first) && templates.all(|t| t == first)).then_some(first)
}

fn is_entry(graph: &Graph, p: usize) -> bool {
    graph.entries.iter().any(|e| e.0 == p)
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
                let mut x = x;
                while let Expr::Cast(inner, _) = x {
                    x = inner;
                }
                if matches!(x, Expr::Reg(from) if found.contains_key(from)) {
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
