//! Runs of the abstraction: whether the program has them, and if not, which predicates tell.

use batsat::Lit;
use rustc_hash::FxHashMap;
use throng_goto::program::{BinOp, Expr, Int};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::atoms::atoms;
use crate::blast::{Encoder, eval};
use throng_goto_check::abstraction::cube::edge;
use throng_goto_check::abstraction::graph::{Edge, Graph};
use throng_goto_check::abstraction::predicate::{Predicate, rename, used};
use throng_goto_check::abstraction::simplify::substitute;
use throng_goto_check::abstraction::variables::INPUT;

/// A step of a run: the thread, the edge by number, and the thread that it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Which thread.
    pub thread: u32,
    /// Which edge.
    pub edge: usize,
    /// The thread that is started.
    pub started: Option<u32>,
}

/// What became of a run.
pub enum Simulated {
    /// The program has it; values of the inputs of each step.
    Feasible(Vec<Vec<i64>>),
    /// It stops before this step; the parts of guards that contradict one another, as step and
    /// place in the guard.
    Infeasible(usize, Vec<(usize, usize)>),
}

/// Numbers for variables of threads at moments.
const INSTANCE: u32 = 1 << 26;

struct Instances<'g> {
    graph: &'g Graph,
    now: FxHashMap<(Option<u32>, u32), u32>,
    types: Vec<Int>,
}

impl Instances<'_> {
    fn owner(&self, thread: u32, id: u32) -> Option<u32> {
        self.graph.variables.list[id as usize].template.map(|_| thread)
    }

    fn fresh(&mut self, ty: Int) -> u32 {
        self.types.push(ty);
        INSTANCE + self.types.len() as u32 - 1
    }

    fn get(&mut self, thread: u32, id: u32) -> u32 {
        let key = (self.owner(thread, id), id);
        if let Some(&n) = self.now.get(&key) {
            return n;
        }
        let n = self.fresh(self.graph.variables.ty(id));
        self.now.insert(key, n);
        n
    }
}

/// A run with names for the variables of threads at moments, step by step.
struct Named {
    guards: Vec<Vec<Expr>>,
    /// What each step assigns.
    definitions: Vec<Vec<(u32, Expr)>>,
    inputs: Vec<Vec<u32>>,
    /// The types of names.
    types: Vec<Int>,
}

impl Named {
    fn of(graph: &Graph, run: &[Move]) -> Named {
        let mut names = Instances { graph, now: FxHashMap::default(), types: Vec::new() };
        let mut named = Named { guards: vec![], definitions: vec![], inputs: vec![], types: vec![] };
        for m in run {
            let e = edge(graph, m.edge);
            let own: Vec<u32> = e.inputs.iter().map(|&ty| names.fresh(ty)).collect();
            let mut instance = |x: &Expr| {
                let mut name =
                    |id| if id >= INPUT { own[(id - INPUT) as usize] } else { names.get(m.thread, id) };
                let map: FxHashMap<u32, u32> = used(x).into_iter().map(|id| (id, name(id))).collect();
                rename(x, &|id| map.get(&id).copied().unwrap_or(id))
            };
            named.guards.push(e.guard.iter().map(&mut instance).collect());
            let values: Vec<(u32, Expr)> = e.updates.iter().map(|(id, x)| (*id, instance(x))).collect();
            let defined = values.into_iter().map(|(id, x)| {
                let n = names.fresh(graph.variables.ty(id));
                let thread = owner_of_update(graph, e, m, id);
                let key = (names.owner(thread, id), id);
                names.now.insert(key, n);
                (n, x)
            });
            named.definitions.push(defined.collect());
            named.inputs.push(own);
        }
        named.types = names.types;
        named
    }

    /// Values of the inputs of each step, given values that a solver found. The evaluator has to
    /// agree with it.
    fn replay(&self, mut model: FxHashMap<u32, i64>) -> Result<Vec<Vec<i64>>, Unknown> {
        for ((guards, definitions), inputs) in self.guards.iter().zip(&self.definitions).zip(&self.inputs) {
            let open = guards.iter().chain(definitions.iter().map(|d| &d.1)).flat_map(used);
            for id in open.chain(inputs.iter().copied()) {
                model.entry(id).or_insert(0);
            }
            if guards.iter().any(|g| eval(g, &model).is_none_or(|v| v == 0)) {
                return Err(Unknown::Inconclusive("the SAT solver's values do not satisfy a guard".into()));
            }
            for (n, x) in definitions {
                if let Some(v) = eval(x, &model) {
                    model.insert(*n, v);
                }
            }
        }
        Ok(self.inputs.iter().map(|list| list.iter().map(|n| model[n]).collect()).collect())
    }
}

/// Follows a run with exact values.
pub fn simulate(graph: &Graph, run: &[Move], limits: &Limits) -> Result<Simulated, Unknown> {
    // The names of variables first, because the encoder needs to know types.
    let named = Named::of(graph, run);
    let types = |id: u32| {
        let known = named.types.get((id.wrapping_sub(INSTANCE)) as usize);
        known.copied().unwrap_or(Int::new(8, true))
    };
    let mut encoder = Encoder::new(limits, &types);
    let mut literals: Vec<(Lit, (usize, usize))> = Vec::new();
    for (i, (guards, definitions)) in named.guards.iter().zip(&named.definitions).enumerate() {
        for (k, g) in guards.iter().enumerate() {
            literals.push((encoder.truth(g), (i, k)));
        }
        let assumptions: Vec<Lit> = literals.iter().map(|l| l.0).collect();
        if !guards.is_empty() && !encoder.solve(&assumptions)? {
            // A smaller core, from the start on: late guards are near the point.
            return Ok(Simulated::Infeasible(i, encoder.minimal_core(&literals)?));
        }
        for (n, x) in definitions {
            encoder.define(*n, x);
        }
    }
    let assumptions: Vec<Lit> = literals.iter().map(|l| l.0).collect();
    encoder.solve(&assumptions)?;
    Ok(Simulated::Feasible(named.replay(encoder.model())?))
}

/// The thread whose variable an edge updates.
fn owner_of_update(graph: &Graph, e: &Edge, m: &Move, id: u32) -> u32 {
    let template = graph.variables.list[id as usize].template;
    match m.started {
        Some(child)
            if template.is_some() && e.starts.first().copied() == template && is_child(graph, e, m) =>
        {
            child
        }
        _ => m.thread,
    }
}

fn is_child(graph: &Graph, e: &Edge, m: &Move) -> bool {
    m.edge < graph.edges.len() && throng_goto_check::abstraction::program::is_exact(graph, e)
}

/// What a guard about inputs says about the variables that keep them after the step.
fn kept(graph: &Graph, e: &Edge, guard: &Expr) -> Vec<Predicate> {
    if used(guard).iter().all(|&id| id < INPUT) {
        return Vec::new();
    }
    let types = |id: u32| e.ty(&graph.variables, id);
    let holder = |id: u32| e.updates.iter().find(|u| u.1 == Expr::Reg(id)).map(|u| Expr::Reg(u.0));
    let with = |id: u32| if id >= INPUT { holder(id) } else { None };
    let mut found = Vec::new();
    atoms(&substitute(guard, &with, &types), &types, &mut found);
    found.retain(|c| used(c).iter().all(|&id| id < INPUT));
    found.into_iter().filter_map(|c| Predicate::of(c, &graph.variables)).collect()
}

/// Comparisons of what is compared with the same input.
fn eliminated(list: &[Expr]) -> Vec<Expr> {
    let sides = list.iter().filter_map(|e| match e {
        Expr::Bin(op, a, b, at) if op.compares() => match (&**a, &**b) {
            (Expr::Reg(id), other) | (other, Expr::Reg(id)) if *id >= INPUT => Some((*id, *op, other, *at)),
            _ => None,
        },
        _ => None,
    });
    let sides: Vec<(u32, BinOp, &Expr, Int)> = sides.collect();
    let mut found = Vec::new();
    for (k, (id, op, a, at)) in sides.iter().enumerate() {
        for (_, other, b, _) in sides[..k].iter().filter(|s| s.0 == *id && s.2 != *a) {
            let order = [op, other].into_iter().find(|op| matches!(op, BinOp::Lt | BinOp::Le));
            let op = *order.unwrap_or(&BinOp::Eq);
            let compared = Expr::Bin(op, Box::new((*b).clone()), Box::new((*a).clone()), *at);
            if used(&compared).iter().all(|&id| id < INPUT) {
                found.push(compared);
            }
        }
    }
    found
}

/// Predicates that tell why a run stops: the weakest preconditions of what contradicts, at each
/// step before.
pub fn discover(graph: &Graph, run: &[Move], last: usize, core: &[(usize, usize)]) -> Vec<Predicate> {
    // Variables of threads are told apart by an offset.
    let shift = |thread: u32| (thread + 1) << 16;
    let private = |id: u32| graph.variables.list[id as usize].template.is_some();
    let types = |id: u32| graph.variables.ty(id & 0xffff);
    let instance = |x: &Expr, thread: u32| {
        rename(x, &|id| if id < INPUT && private(id) { id + shift(thread) } else { id })
    };
    let mut current: Vec<Expr> = Vec::new();
    let mut found = Vec::new();
    for i in (0..=last).rev() {
        let (m, e) = (&run[i], edge(graph, run[i].edge));
        if i < last {
            let mut values: FxHashMap<u32, Expr> = FxHashMap::default();
            for (id, x) in &e.updates {
                let thread = owner_of_update(graph, e, m, *id);
                let key = if private(*id) { id + shift(thread) } else { *id };
                values.insert(key, instance(x, m.thread));
            }
            let with = |id: u32| values.get(&id).cloned();
            let mut earlier = Vec::new();
            for c in &current {
                atoms(&substitute(c, &with, &types), &types, &mut earlier);
            }
            current = earlier;
        }
        for (_, k) in core.iter().filter(|c| c.0 == i) {
            found.extend(kept(graph, e, &e.guard[*k]));
            atoms(&instance(&e.guard[*k], m.thread), &types, &mut current);
        }
        // What is decided by an input says about what was before it only what two comparisons with
        // the input say together.
        let (with_input, mut without): (Vec<Expr>, Vec<Expr>) =
            current.into_iter().partition(|c| used(c).iter().any(|&id| id >= INPUT));
        for e in eliminated(&with_input) {
            atoms(&e, &types, &mut without);
        }
        without.retain(|c| throng_goto_check::abstraction::simplify::size(c) <= 60);
        current = without;
        for c in &current {
            let mut owners: Vec<u32> = used(c).iter().map(|id| id >> 16).filter(|&t| t > 0).collect();
            owners.sort_unstable();
            owners.dedup();
            if owners.len() <= 1 {
                found.extend(Predicate::of(rename(c, &|id| id & 0xffff), &graph.variables));
            }
        }
    }
    let mut unique: Vec<Predicate> = Vec::new();
    for p in found {
        if !unique.contains(&p) {
            unique.push(p);
        }
    }
    unique
}

/// Returns whether shared variables have their first values: those that the contradicting guards,
/// or the steps before them, speak of. For runs that an input decides, about which weakest
/// preconditions say nothing.
pub fn beginnings(graph: &Graph, run: &[Move], core: &[(usize, usize)]) -> Vec<Predicate> {
    let guards = core.iter().flat_map(|&(i, k)| used(&edge(graph, run[i].edge).guard[k]));
    let mut ids: Vec<u32> = guards.filter(|&id| id < INPUT).collect();
    for m in run.iter().rev() {
        let updates = edge(graph, m.edge).updates.iter().filter(|u| ids.contains(&u.0));
        let more: Vec<u32> = updates.flat_map(|u| used(&u.1)).filter(|&id| id < INPUT).collect();
        ids.extend(more);
    }
    ids.sort_unstable();
    ids.dedup();
    let first = |id: u32| {
        let v = &graph.variables.list[id as usize];
        let value = Expr::Const(v.initial.filter(|_| v.template.is_none())?);
        let at = Int::new(8, true);
        Predicate::of(Expr::Bin(BinOp::Eq, Box::new(Expr::Reg(id)), Box::new(value), at), &graph.variables)
    };
    ids.into_iter().filter_map(first).collect()
}

/// A part of a run that no values follow, whatever was before it, and why it stops.
pub struct Reason {
    /// Where it begins.
    pub first: usize,
    /// Where it stops, and the parts of guards that contradict one another, both counted from
    /// `first`.
    pub stop: (usize, Vec<(usize, usize)>),
}

/// The shortest end of a run that no values follow, even if anything may have been before it: a
/// reason that does not depend on how often a loop was passed.
pub fn late_reason(graph: &Graph, run: &[Move], limits: &Limits) -> Result<Option<Reason>, Unknown> {
    // From 0 on it is infeasible; that the last step alone is, is rare.
    let (mut low, mut high) = (0, run.len());
    let mut found = None;
    while low + 1 < high {
        let middle = (low + high) / 2;
        match simulate(graph, &run[middle..], limits)? {
            Simulated::Feasible(_) => high = middle,
            Simulated::Infeasible(last, core) => {
                low = middle;
                found = Some(Reason { first: middle, stop: (last, core) });
            }
        }
    }
    Ok(found)
}
