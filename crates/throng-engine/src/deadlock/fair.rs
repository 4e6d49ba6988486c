//! Proofs that no thread starves, for any number of threads ([`throng_model::fair`]): ranks are the
//! solutions of linear programs, which say for as many moves as possible that they are taken only
//! finitely often. By Farkas' lemma the others form a vector of steps that can be repeated.

use std::collections::BTreeSet;
use std::sync::Arc;

use microlp::{ComparisonOp, OptimizationDirection, Variable};
use rustc_hash::FxHashMap;

use super::Excluded;
use crate::equations::{exact, lp};
use crate::facts::FactStore;
use throng_model::fair::{Move, Part, Weights, may_starve};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::starvation::Starvation;
use throng_model::verdict::{Certificate, Rank, Unknown};
use throng_model::{Bag, Local};

/// The largest weight of a state.
const MOST: f64 = 1e4;

/// What a weight costs, beside a step that falls: people prefer small numbers.
const SMALL: f64 = -1e-6;

/// Returns a proof that any number of threads leave the places of `target`, if one is found.
pub(super) fn prove(
    problem: &Problem,
    target: &Target,
    limits: &Limits,
) -> Result<Option<Certificate>, Unknown> {
    let model = &*problem.model;
    if problem.bound != Bound::Any || model.blocking().is_some() {
        return Ok(None);
    }
    let facts = FactStore::default().get_or_find(problem, limits)?;
    let mut excluded = Excluded::new(problem, &facts, limits);
    let starvation = Starvation::new(model, target, None, None);
    let mut ranks: Vec<Rank> = Vec::new();
    let mut falling = |part: &Part<'_>| {
        let Some((rank, falls)) = rank(part, limits)? else { return Ok(Vec::new()) };
        ranks.push(rank);
        Ok(falls)
    };
    let mut excludes = |s, l, others: &[Local]| excluded.holds(s, l, others);
    let mut ticker = Ticker::new(limits);
    let left = may_starve(&starvation, facts.views(), &mut excludes, &mut falling, &mut ticker)?;
    let proof = super::Relative { ranks, ..excluded.relative() };
    Ok(left.is_none().then(|| Certificate::Relative(Arc::new(proof))))
}

/// What a move changes: nodes before and after, who takes it, who is there afterwards.
type Row<'p> = (Option<(usize, usize)>, Option<Local>, &'p Bag);

fn row(step: &Move) -> Row<'_> {
    ((step.from != step.to).then_some((step.from, step.to)), step.by, &step.arrived)
}

/// Returns a rank that says of as many moves as possible that they are taken only finitely often,
/// and these.
fn rank(part: &Part<'_>, limits: &Limits) -> Result<Option<(Rank, Vec<usize>)>, Unknown> {
    let rows: BTreeSet<Row<'_>> = part.inside.iter().map(|&m| row(&part.moves[m])).collect();
    let mut lp = microlp::Problem::new(OptimizationDirection::Maximize);
    let mut nodes: FxHashMap<usize, Variable> = FxHashMap::default();
    let mut locals: FxHashMap<Local, Variable> = FxHashMap::default();
    let mut cost = 0;
    for (ends, by, arrived) in rows {
        let falls = lp.add_var(1.0, (0.0, 1.0));
        let mut terms: FxHashMap<Variable, f64> = FxHashMap::from_iter([(falls, 1.0)]);
        let ends = ends.into_iter().flat_map(|(from, to)| [(from, -1.0), (to, 1.0)]);
        for (n, factor) in ends {
            let column = *nodes.entry(n).or_insert_with(|| lp.add_var(SMALL, (0.0, MOST)));
            *terms.entry(column).or_default() += factor;
        }
        let gone = by.map(|l| (l, -1.0));
        let arrived = arrived.entries().iter().map(|&(l, n)| (l, f64::from(n)));
        for (l, factor) in gone.into_iter().chain(arrived) {
            let column = *locals.entry(l).or_insert_with(|| lp.add_var(SMALL, (0.0, MOST)));
            *terms.entry(column).or_default() += factor;
        }
        cost += terms.len() as u32;
        let mut terms: Vec<(Variable, f64)> = terms.into_iter().collect();
        terms.sort_unstable_by_key(|e| e.0.idx());
        lp.add_constraint(&terms[..], ComparisonOp::Le, 0.0);
    }
    Ticker::new(limits).ticks(cost.saturating_mul(16))?;
    let Ok(solved) = lp::solve(lp, None, limits)? else { return Ok(None) };
    let mut columns: Vec<(Column, f64)> =
        nodes.iter().map(|(&n, &v)| (Column::Node(n), solved.var_value(v))).collect();
    columns.extend(locals.iter().map(|(&l, &v)| (Column::Local(l), solved.var_value(v))));
    columns.sort_unstable_by_key(|e| e.0);
    let numbers: Vec<f64> = columns.iter().map(|e| e.1).collect();
    let candidates = exact::vectors(&numbers).map(|numbers| of_numbers(part, &columns, &numbers));
    let judged = candidates.filter_map(|rank| Some((Weights::new(&rank)?.falling(part), rank)));
    let best = judged.max_by_key(|(falls, _)| falls.len());
    Ok(best.filter(|(falls, _)| !falls.is_empty()).map(|(falls, rank)| (rank, falls)))
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Node(usize),
    Local(Local),
}

fn of_numbers(part: &Part<'_>, columns: &[(Column, f64)], numbers: &[i64]) -> Rank {
    let mut rank = Rank::default();
    for (&(column, _), &n) in columns.iter().zip(numbers).filter(|e| *e.1 != 0) {
        match column {
            Column::Node(node) => rank.nodes.push((part.nodes[node], n)),
            Column::Local(l) => rank.locals.push((l, n)),
        }
    }
    rank
}
