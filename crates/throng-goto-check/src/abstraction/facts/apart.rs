//! Facts about two threads: at these places, this variable of the one and that of the other differ.
//!
//! For example tickets: a thread takes the value of a shared variable and changes it in the same
//! step, so that no two threads have the same ticket. Such a fact stands for both orders
//! of the two threads. A variable of a thread may also be a shared one, which others may read, if
//! only steps of this thread write it and no other thread runs the same code ([`owner`]).
//!
//! A shared variable never differs from itself, so that this fact says that no two threads are at
//! these places at the same time ([`is_exclusion`]): of a reader that saw no writer after it was
//! counted, and a writer that saw no reader after it had come.
//!
//! Where a thread begins there is no such fact, so that only steps between places matter: whichever
//! of the two moves, it has to come to a place where the fact still holds.

use rustc_hash::FxHashMap;
use throng_goto::program::{BinOp, Expr, Int, Program};

use super::super::graph::Graph;
use super::super::predicate::Predicate;
use super::super::variables::OTHER;

/// Whenever a thread is at the first place and another at the second, the variable of the one is
/// not equal to that of the other.
pub type Differs = (usize, usize, u32, u32);

/// The comparison of two variables of two threads, the one that moves first. It is part of lists of
/// predicates, and is only asked about the thread that moves.
pub fn comparison(graph: &Graph, a: u32, b: u32) -> Predicate {
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
pub struct Apart {
    /// The variables.
    variables: Vec<u32>,
    /// The number of the first comparison; there is one for each two variables.
    first: u32,
    /// The comparisons that hold, by number.
    pub at: FxHashMap<(usize, usize), Vec<u32>>,
}

impl Apart {
    /// Puts facts into a list of predicates.
    pub fn of(graph: &Graph, facts: &[Differs], list: &mut Vec<Predicate>) -> Apart {
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

    /// Returns whether facts are about variables of threads that are at these places, none of which
    /// is where threads begin.
    pub fn fits(program: &Program, graph: &Graph, facts: &[Differs]) -> bool {
        let owned = |p: usize, a: u32| {
            let place = graph.places.get(p).filter(|_| !is_entry(graph, p));
            place.is_some_and(|place| owner(program, graph, a) == Some(place.template))
        };
        let begins = |p: usize| p >= graph.places.len() || is_entry(graph, p);
        let excludes = |f: &Differs| is_exclusion(graph, f) && !begins(f.0) && !begins(f.1);
        facts.iter().all(|f| excludes(f) || owned(f.0, f.2) && owned(f.1, f.3))
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
    pub fn mirror(&self, i: u32) -> u32 {
        let (a, b) = self.pair(i);
        self.number(b, a)
    }

    /// What holds of a thread and a bystander at places.
    pub fn between(&self, p: usize, q: usize) -> &[u32] {
        self.at.get(&(p, q)).map_or(&[], Vec::as_slice)
    }

    /// Adds a fact; whether it is new.
    pub fn add(&mut self, p: usize, q: usize, i: u32) -> bool {
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
    pub fn drop(&mut self, p: usize, q: usize, wrong: &[u32]) {
        let others: Vec<u32> = wrong.iter().map(|&i| self.mirror(i)).collect();
        for (key, wrong) in [((p, q), wrong), ((q, p), &others)] {
            if let Some(held) = self.at.get_mut(&key) {
                held.retain(|i| !wrong.contains(i));
            }
        }
    }

    /// The same without anything that holds.
    pub fn emptied(&self) -> Apart {
        Apart { at: FxHashMap::default(), ..self.clone() }
    }

    /// The facts, each once.
    pub fn facts(&self) -> Vec<Differs> {
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
pub fn owner(program: &Program, graph: &Graph, id: u32) -> Option<usize> {
    let variable = graph.variables.list.get(id as usize)?;
    if variable.template.is_some() || graph.variables.is_any_element(id) {
        return variable.template;
    }
    let writing = graph.edges.iter().filter(|e| e.updates.iter().any(|u| u.0 == id));
    let mut templates = writing.map(|e| graph.places[e.from].template);
    let first = templates.next()?;
    (program.runs_once(first) && templates.all(|t| t == first)).then_some(first)
}

/// Returns whether a fact says that two threads are never at its places at the same time.
pub fn is_exclusion(graph: &Graph, &(_, _, a, b): &Differs) -> bool {
    a == b && graph.variables.list.get(a as usize).is_some_and(|v| v.template.is_none())
}

/// Returns whether threads begin at a place.
pub fn is_entry(graph: &Graph, p: usize) -> bool {
    graph.entries.iter().any(|e| e.0 == p)
}
