//! Facts about places: comparisons that hold whenever a thread is at a place, however many threads
//! there are, and what has to be shown for that.
//!
//! Each thread keeps its comparisons along its own steps, and along the steps of any other thread,
//! of which no more is known than its own comparisons at its place and that a lock does not let
//! both be where they are ([`super::regions`]).

use throng_goto::program::{Expr, Program};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use self::apart::Apart;
use super::cube::{Cube, Side};
use super::elements::{instances, variants};
use super::encoder::check_edge;
use super::graph::{Edge, Graph, To};
use super::predicate::{Predicate, rename};
use super::program::is_exact;
use super::regions::{Regions, before_others};
use super::tallies::together;
use super::variables::INPUT;

pub mod apart;

pub use self::apart::Differs;

/// Comparisons that hold at places, and what they rule out.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The comparisons.
    pub predicates: Vec<Predicate>,
    /// For each place, the comparisons that hold whenever a thread is there, by number.
    pub at: Vec<Vec<u32>>,
    /// Variables of two threads that differ.
    pub apart: Vec<Differs>,
    /// The edges into a violation, or into what is not modelled, that no thread takes.
    pub impossible: Vec<usize>,
}

impl Facts {
    /// Nothing is known.
    pub fn none(graph: &Graph) -> Facts {
        Facts { at: vec![Vec::new(); graph.places.len()], ..Facts::default() }
    }

    /// Returns whether nothing is left that could go wrong.
    pub fn rule_all_out(&self, graph: &Graph) -> bool {
        let failing = (0..graph.edges.len()).filter(|&n| matches!(graph.edges[n].to, To::Fail(..)));
        failing.into_iter().all(|n| self.impossible.contains(&n))
    }
}

/// What has to be shown: whenever a step is made along an edge, by a thread for which the facts of
/// a place hold, beside another for which those of another place do, then the facts of a place hold
/// afterwards.
pub struct Obligation {
    /// The edge.
    pub edge: Edge,
    /// The place of the thread that moves; none at the start.
    pub mine: Option<usize>,
    /// The place of the bystander, if one matters.
    pub beside: Option<usize>,
    /// What holds afterwards.
    pub then: Then,
}

/// Whose facts hold after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// Those of the thread that moved to a place, or that begins there.
    At(usize),
    /// Those of the bystander where it is.
    Bystander(usize),
    /// Those about both: the one that moved to a place, and the bystander.
    Apart(usize, usize),
}

impl Then {
    /// Returns whose predicates these are.
    pub fn side(self) -> Side {
        match self {
            Then::At(_) | Then::Apart(..) => Side::After,
            Then::Bystander(_) => Side::OtherAfter,
        }
    }
}

/// What holds at places, and of two threads.
pub struct Held {
    /// For each place, the comparisons that hold whenever a thread is there, by number.
    pub at: Vec<Vec<u32>>,
    /// What holds of two threads.
    pub apart: Apart,
}

impl Held {
    /// Returns what is to hold after a step.
    pub fn then(&self, then: Then) -> &[u32] {
        match then {
            Then::At(p) | Then::Bystander(p) => &self.at[p],
            Then::Apart(p, q) => self.apart.between(p, q),
        }
    }

    /// Returns whether a comparison still holds where it is known.
    pub fn has(&self, known: &Known) -> bool {
        match known.place {
            Where::At(p) => self.at[p].contains(&known.i),
            Where::Apart(p, q) => self.apart.between(p, q).contains(&known.i),
        }
    }

    /// Returns what is known before a step.
    pub fn known(&self, o: &Obligation) -> Vec<Known> {
        let (mine, beside) = (o.mine, o.beside);
        let one = |place: Option<usize>, side| {
            let held = place.map(|p| (Where::At(p), &self.at[p]));
            held.into_iter()
                .flat_map(move |(place, held)| held.iter().map(move |&i| Known { i, side, place }))
        };
        let both = mine.zip(beside).into_iter().flat_map(|(p, q)| {
            let place = Where::Apart(p, q);
            self.apart.between(p, q).iter().map(move |&i| Known { i, side: Side::Before, place })
        });
        one(mine, Side::Before).chain(one(beside, Side::OtherBefore)).chain(both).collect()
    }
}

/// One edge after another: shared variables by the first, variables of a thread by the second.
fn composed(graph: &Graph, first: &Edge, second: &Edge) -> Edge {
    let shared = |id: u32| graph.variables.list[id as usize].template.is_none();
    let shift = first.inputs.len() as u32;
    let mut edge = first.clone();
    edge.updates.retain(|u| shared(u.0));
    let moved = second.updates.iter().filter(|u| !shared(u.0));
    edge.updates
        .extend(moved.map(|(id, e)| (*id, rename(e, &|id| if id >= INPUT { id + shift } else { id }))));
    edge.inputs.extend(second.inputs.iter().copied());
    edge
}

/// Returns everything that has to be shown for facts to hold.
pub fn obligations(program: &Program, graph: &Graph, regions: &Regions, apart: &Apart) -> Vec<Obligation> {
    let mut found = Vec::new();
    for t in Graph::first(program).0 {
        let (then, entry) = &graph.entries[t];
        let edge = composed(graph, &graph.initial, entry);
        found.push(Obligation { edge, mine: None, beside: None, then: Then::At(*then) });
    }
    let early = before_others(program, graph);
    let once: Vec<bool> = (0..program.templates.len()).map(|t| program.runs_once(t)).collect();
    for e in graph.edges.iter().flat_map(|e| variants(graph, e)) {
        let (e, mine) = (&e, Some(e.from));
        match e.to {
            To::Fail(..) => continue,
            To::Place(then) => {
                found.push(Obligation { edge: e.clone(), mine, beside: None, then: Then::At(then) });
            }
            To::End => {}
        }
        for &child in &e.starts {
            let (then, entry) = &graph.entries[child];
            let edge = if is_exact(graph, e) { e.clone() } else { composed(graph, e, entry) };
            found.push(Obligation { edge, mine, beside: None, then: Then::At(*then) });
        }
        // The first thread is alone until it starts others.
        if early[e.from] {
            continue;
        }
        let shared = |u: &(u32, _)| graph.variables.list[u.0 as usize].template.is_none();
        let visible = e.updates.iter().any(shared);
        for (q, known) in beside(graph, e.from) {
            let place = &graph.places[q];
            let alone = place.template == graph.places[e.from].template && once[place.template];
            // A thread in an atomic section is the one that moves.
            if alone || early[q] || place.atomic || regions.exclude(e.from, q) {
                continue;
            }
            let beside = Some(q);
            let mut e = e.clone();
            e.guard.extend(known);
            if visible {
                found.push(Obligation { edge: e.clone(), mine, beside, then: Then::Bystander(q) });
            }
            if let To::Place(p) = e.to
                && !apart.between(p, q).is_empty()
            {
                found.push(Obligation { edge: e, mine, beside, then: Then::Apart(p, q) });
            }
        }
    }
    found
}

/// The places of bystanders, and what a thread at a place and one of them know together; those that
/// know the same follow each other.
fn beside(graph: &Graph, p: usize) -> Vec<(usize, Vec<Expr>)> {
    let counted = |q: usize| graph.tallies.iter().map(|t| t.has(q)).collect::<Vec<bool>>();
    let mut all: Vec<usize> = (0..graph.places.len()).collect();
    all.sort_by_key(|&q| counted(q));
    all.into_iter().map(|q| (q, together(graph, p, q))).collect()
}

/// Returns whether facts hold, and rule out what they are said to; the second encoder shows it.
/// `Ok(Some(..))` says what does not hold.
pub fn check(
    program: &Program,
    graph: &Graph,
    facts: &Facts,
    limits: &Limits,
) -> Result<Option<String>, Unknown> {
    let here = |p: usize| facts.at[p].iter();
    let about = |p: usize| {
        let template = graph.places[p].template;
        let fits = |i: &u32| {
            let predicate = facts.predicates.get(*i as usize);
            predicate.is_some_and(|p| p.template.is_none_or(|t| t == template))
        };
        here(p).all(fits)
    };
    if facts.at.len() != graph.places.len() || !(0..facts.at.len()).all(about) {
        return Ok(Some("there are facts about places that do not exist, or about other threads".into()));
    }
    if !Apart::fits(program, graph, &facts.apart) {
        return Ok(Some("there are facts about two threads that are not where they are said to be".into()));
    }
    let regions = Regions::of(program, graph, limits)?;
    let mut all = facts.predicates.clone();
    let held = Held { at: facts.at.clone(), apart: Apart::of(graph, &facts.apart, &mut all) };
    let obligations = obligations(program, graph, &regions, &held.apart);
    for group in obligations.chunk_by(|a, b| same(&a.edge, &b.edge)) {
        let edge = &group[0].edge;
        let (mut list, mut cubes) = (all.clone(), Vec::<Cube>::new());
        for o in group {
            let side = o.then.side();
            let known = held.known(o).into_iter().map(|k| (k.i, k.side, true)).collect();
            let known = with_elements(edge, &mut list, known);
            let then = held.then(o.then).iter();
            let then = then.filter(|&&i| !stays(graph, &all, &held, o, i));
            cubes.extend(then.map(|&i| known.iter().copied().chain([(i, side, false)]).collect::<Cube>()));
        }
        if cubes.is_empty() {
            continue;
        }
        if let Some(k) = check_edge(graph, &list, edge, &cubes, limits)? {
            let last = cubes[k].last().map(|l| list[l.0 as usize].text(&graph.variables));
            let text = last.unwrap_or_default();
            return Ok(Some(format!("it is not shown that `{text}` stays true")));
        }
    }
    for &n in &facts.impossible {
        let Some(e) = graph.edges.get(n) else { return Ok(Some(format!("there is no edge {n}"))) };
        let mut list = facts.predicates.clone();
        let known = here(e.from).map(|&i| (i, Side::Before, true)).collect();
        let cube = with_elements(e, &mut list, known);
        if check_edge(graph, &list, e, &[cube], limits)?.is_some() {
            return Ok(Some(format!("edge {n} is possible")));
        }
    }
    Ok(None)
}

/// What is known before a step, with what it says about the elements of arrays that the step reads.
fn with_elements(e: &Edge, list: &mut Vec<Predicate>, mut known: Cube) -> Cube {
    for k in 0..known.len() {
        let (i, side, holds) = known[k];
        for expr in instances(e, &list[i as usize].expr) {
            known.push((list.len() as u32, side, holds));
            list.push(Predicate { expr, ..list[i as usize].clone() });
        }
    }
    known
}

/// Returns whether a comparison holds after a step because it held before and the step writes none
/// of its variables.
fn stays(graph: &Graph, all: &[Predicate], held: &Held, o: &Obligation, i: u32) -> bool {
    let shared = |id: u32| graph.variables.list[id as usize].template.is_none();
    let about = &all[i as usize].variables;
    let written = |ours: bool| o.edge.updates.iter().any(|u| (ours || shared(u.0)) && about.contains(&u.0));
    match (o.then, o.mine) {
        (Then::Bystander(_), _) => !written(false),
        // Of a thread that is started, nothing was known.
        (Then::At(p), Some(q)) if graph.places[p].template == graph.places[q].template => {
            held.at[q].contains(&i) && !written(true)
        }
        (Then::At(_) | Then::Apart(..), _) => false,
    }
}

/// A comparison that holds before a step.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its number.
    pub i: u32,
    /// Of which thread.
    pub side: Side,
    /// Where it holds.
    pub place: Where,
}

/// Where something holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Where {
    /// Of a thread at a place.
    At(usize),
    /// Of the thread that moves and a bystander.
    Apart(usize, usize),
}

/// Returns whether two edges are the same.
pub fn same(a: &Edge, b: &Edge) -> bool {
    a.from == b.from && a.path == b.path && a.updates == b.updates && a.guard == b.guard
}
