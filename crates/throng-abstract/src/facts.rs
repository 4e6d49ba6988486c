//! Cheap facts, before any abstraction: comparisons that hold whenever a thread is at a place,
//! however many threads there are.
//!
//! Many comparisons are guessed: those of the program, variables against constants, one variable
//! against another (`x <= y + 1`). What some random runs contradict is dropped, then what cannot be
//! proved: each thread keeps its comparisons along its own steps, and along the steps of any other
//! thread, of which no more is known than its own comparisons at its place and that a lock does not
//! let both be where they are ([`crate::exclusion`]). What is left is inductive. Violations that it
//! rules out are left out of the abstraction.

use rustc_hash::FxHashMap;
use throng_goto::program::Program;
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::abstraction::{Cube, Side};
use crate::edges::{Edge, Graph, To};
use crate::elements::{instances, variants};
use crate::exclusion::{Regions, before_others};
use crate::guesses::guesses;
use crate::predicates::{Predicate, rename};
use crate::recheck::check_edge;
use crate::render::is_exact;
use crate::trial::survivors;
use crate::variables::INPUT;

use self::apart::Apart;
use self::asking::{Asking, EdgeTypes, Known, Solvers, Where, same};

mod apart;
mod asking;

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

    /// Whether nothing is left that could go wrong.
    pub fn rule_all_out(&self, graph: &Graph) -> bool {
        let failing = (0..graph.edges.len()).filter(|&n| matches!(graph.edges[n].to, To::Fail(..)));
        failing.into_iter().all(|n| self.impossible.contains(&n))
    }
}

/// What has to be shown: whenever a step is made along an edge, by a thread for which the facts of
/// a place hold, beside another for which those of another place do, then the facts of a place hold
/// afterwards.
struct Obligation {
    edge: Edge,
    /// The place of the thread that moves; none at the start.
    mine: Option<usize>,
    /// The place of the bystander, if one matters.
    beside: Option<usize>,
    /// What holds afterwards.
    then: Then,
}

/// Whose facts hold after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// Those of the thread that moved to a place, or that begins there.
    At(usize),
    /// Those of the bystander where it is.
    Bystander(usize),
    /// Those about both: the one that moved to a place, and the bystander.
    Apart(usize, usize),
}

impl Then {
    fn side(self) -> Side {
        match self {
            Then::At(_) | Then::Apart(..) => Side::After,
            Then::Bystander(_) => Side::OtherAfter,
        }
    }
}

/// What holds at places, and of two threads.
struct Held {
    at: Vec<Vec<u32>>,
    apart: Apart,
}

impl Held {
    /// What is to hold after a step.
    fn then(&self, then: Then) -> &[u32] {
        match then {
            Then::At(p) | Then::Bystander(p) => &self.at[p],
            Then::Apart(p, q) => self.apart.between(p, q),
        }
    }

    /// What is known before a step.
    fn known(&self, o: &Obligation) -> Vec<Known> {
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

/// Everything that has to be shown for facts to hold.
fn obligations(program: &Program, graph: &Graph, regions: &Regions, apart: &Apart) -> Vec<Obligation> {
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
        for (q, place) in graph.places.iter().enumerate() {
            let alone = place.template == graph.places[e.from].template && once[place.template];
            // A thread in an atomic section is the one that moves.
            if alone || early[q] || place.atomic || regions.exclude(e.from, q) {
                continue;
            }
            let beside = Some(q);
            if visible {
                found.push(Obligation { edge: e.clone(), mine, beside, then: Then::Bystander(q) });
            }
            if let To::Place(p) = e.to
                && !apart.between(p, q).is_empty()
            {
                found.push(Obligation { edge: e.clone(), mine, beside, then: Then::Apart(p, q) });
            }
        }
    }
    found
}

/// Whether facts hold, and rule out what they are said to; the second encoder shows it.
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
            let then = then.filter(|&&i| side == Side::After || touches(graph, facts, edge, i));
            cubes.extend(then.map(|&i| known.iter().copied().chain([(i, side, false)]).collect::<Cube>()));
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

/// Whether an edge writes a shared variable of a comparison.
fn touches(graph: &Graph, facts: &Facts, e: &Edge, i: u32) -> bool {
    let shared = |id: u32| graph.variables.list[id as usize].template.is_none();
    let variables = &facts.predicates[i as usize].variables;
    e.updates.iter().any(|u| shared(u.0) && variables.contains(&u.0))
}

/// More edges than this are too many.
const MOST_EDGES: usize = 400;

/// Finds facts that rule violations out; only those that are needed for that are kept. Facts about
/// two threads are looked for where others do not suffice.
pub fn find(program: &Program, graph: &Graph, limits: &Limits) -> Result<Facts, Unknown> {
    let facts = find_with(program, graph, Vec::new(), limits)?;
    if facts.rule_all_out(graph) || graph.edges.len() > MOST_EDGES {
        return Ok(facts);
    }
    let apart = Apart::guesses(program, graph);
    if apart.is_empty() {
        return Ok(facts);
    }
    match find_with(program, graph, apart, limits) {
        Ok(more) if more.impossible.len() > facts.impossible.len() => Ok(more),
        Ok(_) | Err(_) => Ok(facts),
    }
}

/// Finds facts, those about two threads among some that may hold.
fn find_with(
    program: &Program,
    graph: &Graph,
    mut apart: Vec<Differs>,
    limits: &Limits,
) -> Result<Facts, Unknown> {
    let fails = |n: &usize| matches!(graph.edges[*n].to, To::Fail(..));
    let failing: Vec<usize> = (0..graph.edges.len()).filter(fails).collect();
    if graph.edges.len() > MOST_EDGES || failing.is_empty() {
        return Ok(Facts::none(graph));
    }
    let mut predicates = guesses(program, graph);
    let at = survivors(program, graph, &predicates, &mut apart, limits)?;
    let mut held = Held { at, apart: Apart::of(graph, &apart, &mut predicates) };
    let regions = Regions::of(program, graph, limits)?;
    let obligations = obligations(program, graph, &regions, &held.apart);
    let edges: Vec<&Edge> = obligations.iter().map(|o| &o.edge).collect();
    let types: Vec<EdgeTypes<'_>> =
        (edges.iter()).map(|e| -> EdgeTypes<'_> { Box::new(|id| e.ty(&graph.variables, id)) }).collect();
    let mut solvers = Solvers::new(graph, &predicates, &edges, &types, limits);
    weaken(&mut held, &obligations, &mut solvers)?;
    let (mut needed, mut impossible): (Vec<(Where, u32)>, Vec<usize>) = Default::default();
    for n in failing {
        let e = &graph.edges[n];
        let types = |id: u32| e.ty(&graph.variables, id);
        let mut asking = Asking::new(graph, &predicates, e, &types, limits);
        let known = held.at[e.from].iter();
        let known = known.map(|&i| Known { i, side: Side::Before, place: Where::At(e.from) });
        let yes = asking.truth();
        if let Some(reason) = asking.reason(&known.collect::<Vec<Known>>(), yes)? {
            impossible.push(n);
            needed.extend(reason.into_iter().map(|k| (k.place, k.i)));
        }
    }
    let kept = keep(&held, &obligations, needed, &mut solvers)?;
    drop(solvers);
    Ok(renumbered(&predicates, kept, impossible))
}

/// Drops what cannot be proved until the rest can.
fn weaken(held: &mut Held, obligations: &[Obligation], solvers: &mut Solvers<'_>) -> Result<(), Unknown> {
    // When what is held became less, and when an obligation was last shown.
    let mut changed: FxHashMap<Where, u32> = FxHashMap::default();
    let mut shown = vec![0u32; obligations.len()];
    let mut now = 1;
    loop {
        let mut all = true;
        let mut k = 0;
        while k < obligations.len() {
            let o = &obligations[k];
            let assumed = [o.mine.map(Where::At), o.beside.map(Where::At)].into_iter().flatten();
            let assumed = assumed.chain(o.mine.zip(o.beside).map(|(p, q)| Where::Apart(p, q)));
            let latest = assumed.filter_map(|place| changed.get(&place)).max().copied().unwrap_or(1);
            if shown[k] < latest {
                let side = o.then.side();
                let asking = solvers.about(k);
                // What the step does not change holds if it held where the thread was.
                let before: &[u32] = match (o.then, o.mine, o.beside) {
                    (Then::At(_), Some(p), _) => &held.at[p],
                    (Then::Bystander(q), ..) => &held.at[q],
                    (Then::Apart(..), Some(p), Some(q)) => held.apart.between(p, q),
                    _ => &[],
                };
                let open = |i: &u32| asking.changes(*i, side) || !before.contains(i);
                let then: Vec<u32> = held.then(o.then).iter().copied().filter(open).collect();
                let known = held.known(o);
                let wrong = if then.is_empty() { then } else { asking.wrong(&known, &then, side)? };
                if !wrong.is_empty() {
                    now += 1;
                    all = false;
                    // The facts that were dropped may have been assumed.
                    let again = match o.then {
                        Then::At(p) | Then::Bystander(p) => {
                            held.at[p].retain(|i| !wrong.contains(i));
                            changed.insert(Where::At(p), now);
                            o.mine == Some(p) || o.beside == Some(p)
                        }
                        Then::Apart(p, q) => {
                            held.apart.drop(p, q, &wrong);
                            changed.insert(Where::Apart(p, q), now);
                            changed.insert(Where::Apart(q, p), now);
                            o.mine == Some(p) || o.mine == Some(q)
                        }
                    };
                    if again {
                        continue;
                    }
                }
                shown[k] = now;
            }
            k += 1;
        }
        if all {
            return Ok(());
        }
    }
}

/// What some facts need, themselves included.
fn keep(
    held: &Held,
    obligations: &[Obligation],
    needed: Vec<(Where, u32)>,
    solvers: &mut Solvers<'_>,
) -> Result<Held, Unknown> {
    let mut kept = Held { at: vec![Vec::new(); held.at.len()], apart: held.apart.emptied() };
    let mut work = needed;
    while let Some((place, i)) = work.pop() {
        let new = match place {
            Where::At(p) if kept.at[p].contains(&i) => false,
            Where::At(p) => {
                kept.at[p].push(i);
                true
            }
            Where::Apart(p, q) => kept.apart.add(p, q, i),
        };
        if !new {
            continue;
        }
        for (k, o) in obligations.iter().enumerate() {
            // What has to hold afterwards.
            let i = match (place, o.then) {
                (Where::At(p), Then::At(then) | Then::Bystander(then)) if p == then => vec![i],
                (Where::Apart(p, q), Then::Apart(mine, beside)) => {
                    let mut both = Vec::new();
                    both.extend(((p, q) == (mine, beside)).then_some(i));
                    both.extend(((q, p) == (mine, beside)).then(|| held.apart.mirror(i)));
                    both
                }
                _ => continue,
            };
            for i in i {
                let side = o.then.side();
                let asking = solvers.about(k);
                if side == Side::OtherAfter && !asking.changes(i, side) {
                    continue;
                }
                let not = !asking.literal(i, side);
                // What is kept anyway, if that suffices; else what contradicts.
                let reason = match asking.reason(&kept.known(o), not)? {
                    Some(reason) => Some(reason),
                    None => asking.reason(&held.known(o), not)?,
                };
                let reason = reason.ok_or_else(|| Unknown::Inconclusive("facts are not inductive".into()))?;
                work.extend(reason.into_iter().map(|k| (k.place, k.i)));
            }
        }
    }
    Ok(kept)
}

/// Facts with those comparisons only that are used, numbered anew.
fn renumbered(predicates: &[Predicate], kept: Held, impossible: Vec<usize>) -> Facts {
    let Held { mut at, apart } = kept;
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut list = Vec::new();
    for places in &mut at {
        places.sort_unstable();
        for i in places {
            *i = *numbers.entry(*i).or_insert_with(|| {
                list.push(predicates[*i as usize].clone());
                list.len() as u32 - 1
            });
        }
    }
    Facts { predicates: list, at, apart: apart.facts(), impossible }
}

#[cfg(test)]
mod tests;
