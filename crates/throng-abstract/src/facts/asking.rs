//! The solver about one edge. What holds before a step is given to it only when values that it
//! found contradict it: few comparisons are of use for another one, and circuits of all of them
//! would take most of the time.

use std::rc::Rc;

use batsat::Lit;
use rustc_hash::FxHashMap;
use throng_goto::program::{Expr, Int};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::abstraction::after;
use crate::blast::{Encoder, Types, eval};
use throng_goto_check::abstraction::cube::Side;
use throng_goto_check::abstraction::elements::instances;
use throng_goto_check::abstraction::facts::{Known, same};
use throng_goto_check::abstraction::graph::{Edge, Graph};
use throng_goto_check::abstraction::predicate::{Predicate, used};

/// Maximum number of comparisons that are given to the solver at a time.
const AT_A_TIME: usize = 6;

/// The solver about one edge.
pub(super) struct Asking<'a> {
    encoder: Encoder<'a>,
    graph: &'a Graph,
    list: &'a [Predicate],
    edge: &'a Edge,
    known: FxHashMap<(u32, Side), Lit>,
    said: FxHashMap<(u32, Side), Rc<Said>>,
}

/// What a comparison says, and the variables in it.
struct Said {
    all: Vec<Expr>,
    variables: Vec<u32>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        list: &'a [Predicate],
        edge: &'a Edge,
        types: &'a Types<'a>,
        limits: &Limits,
    ) -> Asking<'a> {
        let mut encoder = Encoder::new(limits, types);
        for g in &edge.guard {
            let l = encoder.truth(g);
            encoder.sat.clause(&[l]);
        }
        Asking { encoder, graph, list, edge, known: FxHashMap::default(), said: FxHashMap::default() }
    }

    /// What always holds.
    pub(super) fn truth(&self) -> Lit {
        self.encoder.sat.constant(true)
    }

    /// Returns whether the edge writes a variable of a comparison, of the thread that moves or of a
    /// bystander.
    pub(super) fn changes(&self, i: u32, side: Side) -> bool {
        let variables = &self.list[i as usize].variables;
        let counts =
            |id: u32| side == Side::After || self.graph.variables.list[id as usize].template.is_none();
        self.edge.updates.iter().any(|u| counts(u.0) && variables.contains(&u.0))
    }

    /// What a comparison says, computed once.
    fn said(&mut self, i: u32, side: Side) -> Rc<Said> {
        if let Some(said) = self.said.get(&(i, side)) {
            return said.clone();
        }
        let all = self.expressions(i, side);
        let mut variables: Vec<u32> = all.iter().flat_map(used).collect();
        variables.sort_unstable();
        variables.dedup();
        let said = Rc::new(Said { all, variables });
        self.said.insert((i, side), said.clone());
        said
    }

    /// What a comparison says; before a step, also about elements of arrays that it reads.
    fn expressions(&self, i: u32, side: Side) -> Vec<Expr> {
        let p = &self.list[i as usize];
        let e = match side {
            Side::Before | Side::After => p.expr.clone(),
            Side::OtherBefore | Side::OtherAfter => p.of_other(&self.graph.variables),
        };
        match side {
            Side::After | Side::OtherAfter => vec![after(self.graph, self.edge, &e)],
            Side::Before | Side::OtherBefore => {
                let mut all = instances(self.edge, &e);
                all.push(e);
                all
            }
        }
    }

    /// A comparison as a literal.
    pub(super) fn literal(&mut self, i: u32, side: Side) -> Lit {
        if let Some(&l) = self.known.get(&(i, side)) {
            return l;
        }
        let mut l = self.truth();
        for e in &self.said(i, side).all {
            let one = self.encoder.truth(e);
            l = self.encoder.sat.and(l, one);
        }
        self.known.insert((i, side), l);
        l
    }

    /// What of `known` contradicts a goal; none if values satisfy all of it, which the solver then
    /// has.
    pub(super) fn against(&mut self, known: &[Known], goal: Lit) -> Result<Option<Vec<Known>>, Unknown> {
        // What was of use before comes first.
        let (mut given, mut open): (Vec<Known>, Vec<Known>) =
            known.iter().partition(|k| self.known.contains_key(&(k.i, k.side)));
        loop {
            let mut assumptions: Vec<Lit> = given.iter().map(|k| self.known[&(k.i, k.side)]).collect();
            assumptions.push(goal);
            if !self.encoder.solve(&assumptions)? {
                let core = self.encoder.sat.core();
                given.retain(|k| core.contains(&self.known[&(k.i, k.side)]));
                return Ok(Some(given));
            }
            let mut values = self.encoder.model();
            let mut wrong: Vec<(usize, usize)> = Vec::new();
            for (n, k) in open.iter().enumerate() {
                let said = self.said(k.i, k.side);
                // Variables that the solver has not met may have any value.
                let new = said.variables.iter().filter(|id| !values.contains_key(id)).count();
                said.variables.iter().for_each(|&id| _ = values.entry(id).or_insert(0));
                if said.all.iter().any(|e| eval(e, &values).is_none_or(|v| v == 0)) {
                    wrong.push((new, n));
                }
            }
            if wrong.is_empty() {
                return Ok(None);
            }
            wrong.sort_unstable();
            wrong.truncate(AT_A_TIME);
            wrong.sort_unstable_by_key(|w| std::cmp::Reverse(w.1));
            for (_, n) in wrong {
                let k = open.swap_remove(n);
                self.literal(k.i, k.side);
                given.push(k);
            }
        }
    }

    /// The same beside some that are assumed anyway, which it leaves out; and nothing else in it can
    /// be left out.
    pub(super) fn reason(
        &mut self,
        known: &[Known],
        anyway: &[Known],
        goal: Lit,
    ) -> Result<Option<Vec<Known>>, Unknown> {
        let Some(found) = self.against(known, goal)? else { return Ok(None) };
        let is_free = |k: &Known| anyway.iter().any(|a| (a.i, a.side, a.place) == (k.i, k.side, k.place));
        let (free, mut needed): (Vec<Known>, Vec<Known>) = found.into_iter().partition(is_free);
        let mut n = 0;
        while n < needed.len() {
            let rest = needed.iter().enumerate().filter(|(k, _)| *k != n).map(|(_, k)| k).chain(&free);
            let mut assumptions: Vec<Lit> = rest.map(|k| self.known[&(k.i, k.side)]).collect();
            assumptions.push(goal);
            if self.encoder.solve(&assumptions)? {
                n += 1;
                continue;
            }
            // What was found to be needed is in every such core.
            let core = self.encoder.sat.core();
            needed.remove(n);
            needed.retain(|k| core.contains(&self.known[&(k.i, k.side)]));
        }
        Ok(Some(needed))
    }

    /// Those of some comparisons that need not hold afterwards, if others hold before; and what shows
    /// that the rest of them do.
    pub(super) fn wrong(
        &mut self,
        known: &[Known],
        then: &[u32],
        side: Side,
    ) -> Result<(Vec<u32>, Vec<Known>), Unknown> {
        let mut reason = Vec::new();
        let mut left: Vec<(Lit, u32)> = then.iter().map(|&i| (self.literal(i, side), i)).collect();
        let mut wrong = Vec::new();
        while !left.is_empty() {
            let active = self.encoder.sat.fresh();
            let mut clause: Vec<Lit> = left.iter().map(|l| !l.0).collect();
            clause.push(!active);
            self.encoder.sat.clause(&clause);
            let why = self.against(known, active)?;
            let found = why.is_none();
            reason = why.unwrap_or_default();
            if found {
                let sat = &self.encoder.sat;
                let fails: Vec<u32> = left.iter().filter(|l| !sat.holds(l.0)).map(|l| l.1).collect();
                if fails.is_empty() {
                    return Err(Unknown::Inconclusive(
                        "the SAT solver's values satisfy what they should not".into(),
                    ));
                }
                left.retain(|l| !fails.contains(&l.1));
                wrong.extend(fails);
            }
            self.encoder.sat.clause(&[!active]);
            if !found {
                break;
            }
        }
        Ok((wrong, reason))
    }
}

/// The types of what occurs in an edge.
pub(super) type EdgeTypes<'a> = Box<dyn Fn(u32) -> Int + 'a>;

/// Solvers about edges, made when they are asked for; one for all that are alike and follow each
/// other.
pub(super) struct Solvers<'a> {
    graph: &'a Graph,
    list: &'a [Predicate],
    edges: &'a [&'a Edge],
    types: &'a [EdgeTypes<'a>],
    /// The first of the edges that are alike.
    first: Vec<usize>,
    open: FxHashMap<usize, Asking<'a>>,
    limits: Limits,
}

impl<'a> Solvers<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        list: &'a [Predicate],
        edges: &'a [&'a Edge],
        types: &'a [EdgeTypes<'a>],
        limits: &Limits,
    ) -> Solvers<'a> {
        let mut first: Vec<usize> = Vec::new();
        for (k, e) in edges.iter().enumerate() {
            let alike = k > 0 && same(edges[k - 1], e);
            first.push(if alike { first[k - 1] } else { k });
        }
        Solvers { graph, list, edges, types, first, open: FxHashMap::default(), limits: limits.clone() }
    }

    /// The solver about an edge, by number.
    pub(super) fn about(&mut self, k: usize) -> &mut Asking<'a> {
        let k = self.first[k];
        let (edge, types) = (self.edges[k], &*self.types[k]);
        self.open.entry(k).or_insert_with(|| Asking::new(self.graph, self.list, edge, types, &self.limits))
    }
}
