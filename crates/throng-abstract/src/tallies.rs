//! Guesses about what variables count: `readers == #(threads at these places)`.
//!
//! How much a step makes a variable larger is what random runs show; where that is the same each
//! time, each place gets a weight, so that a step from one place to another changes the variable by
//! the difference of their weights, and a thread that is started brings its own. Places of the same
//! weights are counted together ([`throng_goto_check::abstraction::tallies`]). Nothing of that has
//! to be right: that the variable is the weighted sum is a comparison that is proved like every
//! other one, or dropped.

use std::collections::BTreeMap;

use throng_goto::program::{BinOp, Expr, Int, Program};
use throng_goto_check::abstraction::graph::{Graph, To};
use throng_goto_check::abstraction::predicate::{Predicate, text, used};
use throng_goto_check::abstraction::tallies::Tally;
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::blast::eval;
use crate::guarded::is_sum;
use crate::guesses::compare;
use crate::trial::{Values, watch_steps};

/// Number of random runs that are watched.
const RUNS: usize = 100;
/// Maximum number of tallies.
const MOST: usize = 8;
/// Maximum number of variables that locks may protect.
const MOST_PROTECTED: usize = 6;
/// Maximum number of variables that are compared with each other.
const MOST_SUMS: usize = 4;
/// Weights of places at which threads of a template may begin.
const BEGINNINGS: [i64; 3] = [0, 1, -1];
/// Maximum number of templates that are tried with more than one such weight.
const MOST_BEGINNINGS: u32 = 4;
const WIDE: Int = Int::new(8, true);

/// Returns a graph with tallies, and what variables may be sums of them; `None`: no variable seems
/// to count.
pub(crate) fn tallied(
    program: &Program,
    graph: &Graph,
    limits: &Limits,
) -> Result<Option<(Graph, Vec<Predicate>)>, Unknown> {
    let mut terms = terms(graph);
    watch_changes(program, graph, &mut terms, limits)?;
    let mut sums: Vec<Sum> = Vec::new();
    for term in &terms {
        if is_explained(graph, &sums, term) {
            continue;
        }
        let Some(sum) = term.weights(program, graph) else { continue };
        sums.push(sum);
        if classes(&sums).len() > MOST {
            sums.pop();
        }
    }
    if sums.is_empty() {
        return Ok(None);
    }
    let classes = classes(&sums);
    let tallies: Vec<Tally> =
        classes.iter().map(|(weights, members)| tally(graph, &sums, weights, members)).collect();
    let Ok(counted) = graph.clone().with_tallies(program, &tallies) else { return Ok(None) };
    let equations = sums.iter().enumerate().map(|(k, sum)| {
        let weighted =
            counted.tallies.iter().zip(classes.keys()).map(|(t, weights)| (t.variable, weights[k]));
        sum.equation(weighted)
    });
    let expressions = equations.chain(conditional(graph, &sums));
    let offered: Vec<Predicate> = expressions.filter_map(|e| Predicate::of(e, &counted.variables)).collect();
    Ok((!offered.is_empty()).then_some((counted, offered)))
}

/// What a lock protects: comparisons of shared variables that may hold while a term has its value of
/// the start, when nothing is counted: `writing != 0 || data == copy`; and what may hold as long as
/// something is counted: `references == 0 || freed == 0`.
fn conditional(graph: &Graph, sums: &[Sum]) -> Vec<Expr> {
    let mut found: Vec<Expr> = protected(graph, sums);
    let plain = found.clone();
    for sum in sums {
        let counts = compare(BinOp::Ne, sum.expr.clone(), Expr::Const(sum.start));
        let none = compare(BinOp::Eq, sum.expr.clone(), Expr::Const(0));
        for guard in std::iter::once(counts).chain((sum.start != 0).then_some(none)) {
            let or = |e: &Expr| Expr::Bin(BinOp::Or, Box::new(guard.clone()), Box::new(e.clone()), WIDE);
            found.extend(plain.iter().map(or));
        }
    }
    found
}

/// Comparisons of variables that do not count with their values at the start, and with each other.
fn protected(graph: &Graph, sums: &[Sum]) -> Vec<Expr> {
    let v = &graph.variables;
    let counts = |id: u32| sums.iter().any(|s| used(&s.expr).contains(&id));
    let mut written: Vec<u32> = graph.edges.iter().flat_map(|e| &e.updates).map(|u| u.0).collect();
    written.sort_unstable();
    written.dedup();
    written.retain(|&id| v.list[id as usize].template.is_none() && !v.is_any_element(id) && !counts(id));
    written.truncate(MOST_PROTECTED);
    let initial = |id: u32| v.list[id as usize].initial;
    let equal = |a: u32, b: Expr| compare(BinOp::Eq, Expr::Reg(a), b);
    let alone = written.iter().filter_map(|&a| Some(equal(a, Expr::Const(initial(a)?))));
    let pairs = written.iter().enumerate().flat_map(|(k, &a)| written[..k].iter().map(move |&b| (a, b)));
    let pairs = pairs.filter(|&(a, b)| initial(a) == initial(b)).map(|(a, b)| equal(a, Expr::Reg(b)));
    alone.chain(pairs).collect()
}

/// An expression over shared variables that may count threads.
struct Term {
    expr: Expr,
    /// Its value at the start.
    start: i64,
    /// Its variables.
    variables: Vec<u32>,
    /// By how much each edge made it larger; `None`: the edge was not taken.
    changes: Vec<Option<i64>>,
    /// No edge changed it in two ways.
    steady: bool,
}

/// Where threads are counted: at a place, or after they have ended on an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Member {
    At(usize),
    Ended(usize),
}

/// A term and the weights of places and ends, those that are not 0.
struct Sum {
    expr: Expr,
    start: i64,
    weights: BTreeMap<Member, i64>,
}

/// Variables that steps make larger or smaller, then other ones and differences.
fn terms(graph: &Graph) -> Vec<Term> {
    let v = &graph.variables;
    let initial = |id: u32| v.list[id as usize].initial;
    let shared = |id: &u32| {
        v.list[*id as usize].template.is_none() && !v.is_any_element(*id) && initial(*id).is_some()
    };
    let updates = || graph.edges.iter().flat_map(|e| &e.updates).filter(|u| shared(&u.0));
    let mut written: Vec<(bool, u32)> = updates().map(|(id, x)| (!is_sum(graph, x), *id)).collect();
    written.sort_unstable();
    written.dedup();
    let mut seen = Vec::new();
    written.retain(|(_, id)| {
        !seen.contains(id) && {
            seen.push(*id);
            true
        }
    });
    let one = |id: u32| (Expr::Reg(id), vec![id]);
    let mut found: Vec<(Expr, Vec<u32>)> = written.iter().map(|w| one(w.1)).collect();
    let sums: Vec<u32> = written.iter().filter(|w| !w.0).map(|w| w.1).take(MOST_SUMS).collect();
    for (&a, &b) in sums.iter().flat_map(|a| sums.iter().map(move |b| (a, b))).filter(|(a, b)| a != b) {
        if v.ty(a) == v.ty(b) {
            let e = Expr::Bin(BinOp::Sub, Box::new(Expr::Reg(a)), Box::new(Expr::Reg(b)), v.ty(a));
            found.push((e, vec![a, b]));
        }
    }
    // Less than 0: a value of its own.
    found.extend(
        sums.iter().filter(|&&a| v.ty(a).signed).map(|&a| {
            (Expr::Bin(BinOp::Lt, Box::new(Expr::Reg(a)), Box::new(Expr::Const(0)), WIDE), vec![a])
        }),
    );
    let term = |(expr, variables): (Expr, Vec<u32>)| {
        let values: Values = variables.iter().filter_map(|&id| Some((id, initial(id)?))).collect();
        let start = eval(&expr, &values)?;
        Some(Term { expr, start, variables, changes: vec![None; graph.edges.len()], steady: true })
    };
    found.into_iter().filter_map(term).collect()
}

/// Random runs, to see by how much each step changes each term.
fn watch_changes(
    program: &Program,
    graph: &Graph,
    terms: &mut [Term],
    limits: &Limits,
) -> Result<(), Unknown> {
    watch_steps(program, graph, RUNS, limits, &mut |n, before, after| {
        for term in terms.iter_mut().filter(|t| t.steady) {
            let (Some(was), Some(is)) = (eval(&term.expr, before), eval(&term.expr, after)) else { continue };
            let change = is.wrapping_sub(was);
            term.steady &= *term.changes[n].get_or_insert(change) == change;
        }
    })
}

/// Returns whether a difference is not worth a sum of its own, because its variables have one each.
fn is_explained(graph: &Graph, sums: &[Sum], term: &Term) -> bool {
    let plain = |id: u32| sums.iter().any(|s| s.expr == Expr::Reg(id));
    let signed = |id: u32| graph.variables.ty(id).signed;
    // The sign says more than a sum of both signs.
    let both = |id: u32| {
        let sum = sums.iter().find(|s| s.expr == Expr::Reg(id));
        sum.is_none_or(|s| s.weights.values().any(|&w| w < 0) && s.weights.values().any(|&w| w > 0))
    };
    match term.variables[..] {
        [_, _] => term.variables.iter().any(|&id| plain(id)),
        [id] if term.expr != Expr::Reg(id) => signed(id) && !both(id),
        _ => false,
    }
}

impl Term {
    /// How much one edge changes it, if that is known.
    fn change(&self, graph: &Graph, n: usize) -> Option<i64> {
        let writes = graph.edges[n].updates.iter().any(|u| self.variables.contains(&u.0));
        self.changes[n].or((!writes).then_some(0))
    }

    /// Weights of places that explain all changes; `None`: there are none, or all are 0.
    fn weights(&self, program: &Program, graph: &Graph) -> Option<Sum> {
        if !self.steady || self.changes.iter().flatten().all(|&c| c == 0) {
            return None;
        }
        let (first, _) = Graph::first(program);
        let started: Vec<usize> = (0..program.templates.len()).filter(|t| !first.contains(t)).collect();
        let tried = (started.len() as u32).min(MOST_BEGINNINGS);
        let choices = (0..BEGINNINGS.len().pow(tried)).map(|n| {
            let mut beginnings = vec![0; program.templates.len()];
            for (k, &t) in started.iter().take(tried as usize).enumerate() {
                beginnings[t] = BEGINNINGS[n / BEGINNINGS.len().pow(k as u32) % BEGINNINGS.len()];
            }
            beginnings
        });
        let weights = choices.into_iter().find_map(|beginnings| self.spread(graph, &beginnings))?;
        (!weights.is_empty()).then(|| Sum { expr: self.expr.clone(), start: self.start, weights })
    }

    /// Weights of all places, from those of the places at which threads begin, along the edges;
    /// `None`: two ways to a place disagree.
    fn spread(&self, graph: &Graph, beginnings: &[i64]) -> Option<BTreeMap<Member, i64>> {
        let mut known: Vec<Option<i64>> = vec![None; graph.places.len()];
        let mut found = BTreeMap::new();
        let mut work: Vec<usize> = Vec::new();
        for ((p, _), &w) in graph.entries.iter().zip(beginnings) {
            known[*p] = Some(w);
            work.push(*p);
        }
        while let Some(p) = work.pop() {
            let edges = graph.edges.iter().enumerate().filter(|(_, e)| e.from == p);
            for (n, e) in edges {
                let Some(change) = self.change(graph, n) else { continue };
                let brought: i64 = e.starts.iter().map(|&t| beginnings[t]).sum();
                let weight = known[p]? + change - brought;
                match e.to {
                    To::Place(to) => match known[to] {
                        Some(w) if w != weight => return None,
                        Some(_) => {}
                        None => {
                            known[to] = Some(weight);
                            work.push(to);
                        }
                    },
                    To::End if weight != 0 => _ = found.insert(Member::Ended(n), weight),
                    To::End | To::Fail(..) => {}
                }
            }
        }
        let at = known.into_iter().enumerate().filter_map(|(p, w)| Some((Member::At(p), w?)));
        found.extend(at.filter(|(_, w)| *w != 0));
        Some(found)
    }
}

/// The members of all sums, by their weights in each.
fn classes(sums: &[Sum]) -> BTreeMap<Vec<i64>, Vec<Member>> {
    let mut members: Vec<Member> = sums.iter().flat_map(|s| s.weights.keys().copied()).collect();
    members.sort_unstable();
    members.dedup();
    let mut found: BTreeMap<Vec<i64>, Vec<Member>> = BTreeMap::new();
    for member in members {
        let weights = sums.iter().map(|s| s.weights.get(&member).copied().unwrap_or(0)).collect();
        found.entry(weights).or_default().push(member);
    }
    found
}

/// The tally of a class, named after the terms that it is a part of.
fn tally(graph: &Graph, sums: &[Sum], weights: &[i64], members: &[Member]) -> Tally {
    let name = |id: u32| graph.variables.list[id as usize].name.clone();
    let term = |(sum, w): (&Sum, &i64)| match w {
        1 => text(&sum.expr, &name),
        w => format!("{w} {}", text(&sum.expr, &name)),
    };
    let parts: Vec<String> = sums.iter().zip(weights).filter(|(_, w)| **w != 0).map(term).collect();
    let at = members.iter().filter_map(|m| if let Member::At(p) = m { Some(*p) } else { None });
    let ended = members.iter().filter_map(|m| if let Member::Ended(n) = m { Some(*n) } else { None });
    Tally { name: format!("#[{}]", parts.join(", ")), at: at.collect(), ended: ended.collect() }
}

impl Sum {
    /// The comparison that the term is its value at the start and the sum of tallies.
    fn equation(&self, tallies: impl Iterator<Item = (u32, i64)>) -> Expr {
        let constant = |w: i64| (w != 0).then_some(Expr::Const(w));
        let (mut less, mut more) = (vec![self.expr.clone()], Vec::new());
        for (variable, weight) in tallies.filter(|t| t.1 != 0) {
            let tally = Box::new(Expr::Reg(variable));
            let times = match weight.abs() {
                1 => *tally,
                w => Expr::Bin(BinOp::Mul, Box::new(Expr::Const(w)), tally, WIDE),
            };
            if weight < 0 { less.push(times) } else { more.push(times) }
        }
        more.extend(constant(self.start));
        let sum = |parts: Vec<Expr>| {
            let plus = |a, b| Expr::Bin(BinOp::Add, Box::new(a), Box::new(b), WIDE);
            parts.into_iter().reduce(plus).unwrap_or(Expr::Const(0))
        };
        Expr::Bin(BinOp::Eq, Box::new(sum(less)), Box::new(sum(more)), WIDE)
    }
}
