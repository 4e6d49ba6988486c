//! Cheap facts, before any abstraction: comparisons that hold whenever a thread is at a place,
//! however many threads there are.
//!
//! Many comparisons are guessed: those of the program, variables against constants, one variable
//! against another (`x <= y + 1`). What some random runs contradict is dropped, then what cannot be
//! proved: each thread keeps its comparisons along its own steps, and along the steps of any other
//! thread, of which no more is known than its own comparisons at its place and that a lock does not
//! let both be where they are ([`throng_goto_check::abstraction::regions`]). What is left is inductive. Violations that it
//! rules out are left out of the abstraction.

use rustc_hash::{FxHashMap, FxHashSet};
use throng_goto::program::{Expr, Program};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::guesses::guesses;
use crate::trial::survivors;
use throng_goto_check::abstraction::cube::Side;
use throng_goto_check::abstraction::facts::apart::Apart;
use throng_goto_check::abstraction::facts::{
    Differs, Facts, Held, Known, Obligation, Then, Where, obligations,
};
use throng_goto_check::abstraction::graph::{Edge, Graph, To};
use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::regions::Regions;

use self::asking::{Asking, EdgeTypes, Solvers};
use self::tickets::{apart_guesses, exclusions};

mod asking;
mod tickets;

/// Maximum number of edges.
const MOST_EDGES: usize = 400;

/// What was shown to hold at each place by nothing but itself, so that it need not be shown again
/// where more is tried.
#[derive(Clone, Default)]
pub struct Shown(Vec<FxHashSet<Expr>>);

impl Shown {
    fn of(predicates: &[Predicate], held: &Held) -> Shown {
        let all = |at: &Vec<u32>| at.iter().map(|&i| predicates[i as usize].expr.clone()).collect();
        Shown(held.at.iter().map(all).collect())
    }

    /// Adds the comparisons to a list that lacks them.
    fn complete(&self, predicates: &mut Vec<Predicate>, graph: &Graph) {
        let mut listed: FxHashSet<Expr> = predicates.iter().map(|p| p.expr.clone()).collect();
        let missing = self.0.iter().flatten().filter(|e| listed.insert((*e).clone()));
        predicates.extend(missing.filter_map(|e| Predicate::of(e.clone(), &graph.variables)));
    }

    /// Returns the same by the numbers of comparisons.
    fn numbers(&self, predicates: &[Predicate]) -> Vec<FxHashSet<u32>> {
        let shown = |at: &FxHashSet<Expr>| {
            let known = |i: &u32| at.contains(&predicates[*i as usize].expr);
            (0..predicates.len() as u32).filter(known).collect()
        };
        self.0.iter().map(shown).collect()
    }
}

/// Finds facts that rule violations out; only those that are needed for that are kept. Facts about
/// two threads are looked for where others do not suffice. Some comparisons may be offered. What is
/// shown of a plain program is noted, and need not be shown again.
pub fn find(
    program: &Program,
    graph: &Graph,
    offered: &[Predicate],
    shown: &mut Shown,
    limits: &Limits,
) -> Result<Facts, Unknown> {
    let mut apart = apart_guesses(program, graph);
    // Who offers comparisons has looked for plain facts before.
    let facts = match offered.is_empty() || apart.is_empty() {
        true => find_with(program, graph, offered, Vec::new(), shown, limits)?,
        false => Facts::none(graph),
    };
    if facts.rule_all_out(graph) || graph.edges.len() > MOST_EDGES {
        return Ok(facts);
    }
    if !offered.is_empty() {
        apart.extend(exclusions(program, graph, &Regions::of(program, graph, limits)?));
    }
    if apart.is_empty() {
        return Ok(facts);
    }
    match find_with(program, graph, offered, apart, shown, limits) {
        Ok(more) if more.impossible.len() > facts.impossible.len() => Ok(more),
        Ok(_) | Err(_) => Ok(facts),
    }
}

/// Finds facts, those about two threads among some that may hold.
fn find_with(
    program: &Program,
    graph: &Graph,
    offered: &[Predicate],
    mut apart: Vec<Differs>,
    shown: &mut Shown,
    limits: &Limits,
) -> Result<Facts, Unknown> {
    let fails = |n: &usize| matches!(graph.edges[*n].to, To::Fail(..));
    let failing: Vec<usize> = (0..graph.edges.len()).filter(fails).collect();
    if graph.edges.len() > MOST_EDGES || failing.is_empty() {
        return Ok(Facts::none(graph));
    }
    let mut predicates = guesses(program, graph);
    predicates.extend(offered.iter().cloned());
    shown.complete(&mut predicates, graph);
    let plain = offered.is_empty() && apart.is_empty();
    let at = survivors(program, graph, &predicates, &mut apart, limits)?;
    let mut held = Held { at, apart: Apart::of(graph, &apart, &mut predicates) };
    let regions = Regions::of(program, graph, limits)?;
    let obligations = obligations(program, graph, &regions, &held.apart);
    let edges: Vec<&Edge> = obligations.iter().map(|o| &o.edge).collect();
    let types: Vec<EdgeTypes<'_>> =
        (edges.iter()).map(|e| -> EdgeTypes<'_> { Box::new(|id| e.ty(&graph.variables, id)) }).collect();
    let mut solvers = Solvers::new(graph, &predicates, &edges, &types, limits);
    weaken(&mut held, &obligations, &mut solvers, &shown.numbers(&predicates))?;
    if plain {
        *shown = Shown::of(&predicates, &held);
    }
    let (mut needed, mut impossible): (Vec<(Where, u32)>, Vec<usize>) = Default::default();
    for n in failing {
        let e = &graph.edges[n];
        let types = |id: u32| e.ty(&graph.variables, id);
        let mut asking = Asking::new(graph, &predicates, e, &types, limits);
        let known = held.at[e.from].iter();
        let known = known.map(|&i| Known { i, side: Side::Before, place: Where::At(e.from) });
        let yes = asking.truth();
        if let Some(reason) = asking.reason(&known.collect::<Vec<Known>>(), &[], yes)? {
            impossible.push(n);
            needed.extend(reason.into_iter().map(|k| (k.place, k.i)));
        }
    }
    let kept = keep(&held, &obligations, needed, &mut solvers)?;
    drop(solvers);
    Ok(renumbered(&predicates, kept, impossible))
}

/// Drops what cannot be proved until the rest can, but for what was shown before, by place.
fn weaken(
    held: &mut Held,
    obligations: &[Obligation],
    solvers: &mut Solvers<'_>,
    shown_before: &[FxHashSet<u32>],
) -> Result<(), Unknown> {
    // When what is held became less, and when an obligation was last shown.
    let mut changed: FxHashMap<Where, u32> = FxHashMap::default();
    let mut shown = vec![0u32; obligations.len()];
    // What it was shown from.
    let mut reasons: Vec<Vec<Known>> = vec![Vec::new(); obligations.len()];
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
                let sure = match o.then {
                    Then::At(p) | Then::Bystander(p) => shown_before.get(p),
                    Then::Apart(..) => None,
                };
                let open = |i: &u32| {
                    (asking.changes(*i, side) || !before.contains(i)) && !sure.is_some_and(|s| s.contains(i))
                };
                let then: Vec<u32> = held.then(o.then).iter().copied().filter(open).collect();
                // It stays shown while what shows it does, and what the step leaves alone held.
                let changes = then.iter().all(|&i| asking.changes(i, side));
                if shown[k] > 0 && changes && reasons[k].iter().all(|known| held.has(known)) {
                    shown[k] = now;
                    continue;
                }
                let known = held.known(o);
                let (wrong, reason) = match then.is_empty() {
                    true => Default::default(),
                    false => asking.wrong(&known, &then, side)?,
                };
                reasons[k] = reason;
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
    needed.into_iter().for_each(|(place, i)| _ = add(&mut kept, place, i));
    // How many of the facts of its place each obligation was asked about: what was shown for them
    // stays so, because there will only be more facts.
    let mut asked = vec![0; obligations.len()];
    loop {
        let mut all = true;
        for (k, o) in obligations.iter().enumerate() {
            let side = o.then.side();
            let asking = solvers.about(k);
            // What a step does not change, a bystander keeps.
            let open = |i: &u32| side == Side::After || asking.changes(*i, side);
            let new = &kept.then(o.then)[asked[k]..];
            let then: Vec<u32> = new.iter().copied().filter(open).collect();
            asked[k] += new.len();
            if then.is_empty() {
                continue;
            }
            for i in asking.wrong(&kept.known(o), &then, side)?.0 {
                let not = !asking.literal(i, side);
                let reason = asking.reason(&held.known(o), &kept.known(o), not)?;
                let reason = reason.ok_or_else(|| Unknown::Inconclusive("facts are not inductive".into()))?;
                for k in reason {
                    all &= !add(&mut kept, k.place, k.i);
                }
            }
        }
        if all {
            return Ok(kept);
        }
    }
}

/// Adds a fact; whether it is new.
fn add(kept: &mut Held, place: Where, i: u32) -> bool {
    match place {
        Where::At(p) if kept.at[p].contains(&i) => false,
        Where::At(p) => {
            kept.at[p].push(i);
            true
        }
        Where::Apart(p, q) => kept.apart.add(p, q, i),
    }
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
