//! Refutations by the state equation: a reachable marking is the initial one plus the effects of
//! transitions, each some number of times; and a trap that is marked at the start stays marked.
//!
//! Linear programs are solved in floating point. One looks for a marking that satisfies the
//! comparisons of a case; if there is none, another one, its dual, gives the numbers of a
//! contradiction, which are rounded to integers and hold exactly or are dropped. If there is one,
//! it may leave a trap unmarked, which is then added, or violate an open disjunction, which is then
//! split into cases. All this is tried first with flows in place of the state equation (`flows`).

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Variable};
use rustc_hash::FxHashSet;

use super::flows::Flow;
use super::net::Net;
use crate::equations::exact;
use crate::equations::lp::{NoSolution, solve};
use throng_model::limits::Limits;
use throng_model::predicate::{Predicate, Sum};
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Case, Contradiction, Refutation, Unknown};

/// Maximum number of linear programs for one target.
const MOST_PROGRAMS: u32 = 400;

/// Budget of one linear program in slices of time.
const PATIENCE: u32 = 60;

/// Returns the budget for one target in slices of time: it grows fourfold from round to round up to
/// a maximum. Flows get half of it.
pub fn patience(round: u32) -> u32 {
    4 << (2 * round.min(3))
}

/// Numbers of tokens below this count as zero.
const EPSILON: f64 = 1e-6;

/// The result of the state equation for a target.
pub enum EquationResult {
    /// No reachable marking satisfies it.
    Refuted(Refutation),
    /// It may be reachable in this case: comparisons that hold there.
    Possible(Vec<(Sum, i64)>),
    /// The budget was too small for an answer; these comparisons hold at the target, if it has a
    /// single case.
    Undecided(Vec<(Sum, i64)>),
}

/// Tries to refute a target by traps and the state equation, or flows instead, within a budget of
/// time slices.
pub fn refute(
    net: &Net,
    flows: Option<&[Flow]>,
    problem: &Problem,
    target: &Target,
    patience: u32,
    limits: &Limits,
) -> Result<EquationResult, Unknown> {
    let Some(predicate) = target.predicate().counted(net.steps) else {
        return Ok(EquationResult::Undecided(Vec::new()));
    };
    let mut held = Held::default();
    held.assume(&predicate);
    let mut prover = Prover {
        net,
        flows,
        columns: columns(net),
        limits,
        programs: MOST_PROGRAMS,
        patience,
        found: Refutation::default(),
        possible: None,
    };
    if !prover.prove(&held)? {
        let only = if held.open.is_empty() { &held.comparisons[..] } else { &[] };
        let only = || only.iter().map(|&(sum, n)| (sum.clone(), n)).collect();
        // A marking that flows allow need not satisfy the state equation.
        let possible = prover.possible.take().filter(|_| flows.is_none());
        return Ok(possible.map_or_else(|| EquationResult::Undecided(only()), EquationResult::Possible));
    }
    let found = std::mem::take(&mut prover.found);
    let safe = throng_model::verdict::Verdict::Safe(throng_model::verdict::Certificate::Refutation(
        std::sync::Arc::new(found.clone()),
    ));
    let stands = throng_check::rules::check_within(problem, target, &safe, limits).is_ok();
    Ok(if stands { EquationResult::Refuted(found) } else { EquationResult::Undecided(Vec::new()) })
}

/// Returns how often each transition would fire on a shortest way from a marking to where these
/// comparisons hold, according to the state equation. Of transitions with equal effects, only the
/// first is listed.
pub fn plan(
    net: &Net,
    from: &[u32],
    comparisons: &[(Sum, i64)],
    limits: &Limits,
) -> Result<Option<Vec<(u32, f64)>>, Unknown> {
    let mut seen = FxHashSet::default();
    let firsts: Vec<u32> = (0..net.changes.len() as u32)
        .filter(|&t| !net.changes[t as usize].is_empty() && seen.insert(&net.changes[t as usize]))
        .collect();
    let columns: Vec<&[(u32, i64)]> = firsts.iter().map(|&t| &net.changes[t as usize][..]).collect();
    let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
    let variables: Vec<Variable> = columns.iter().map(|_| lp.add_var(1.0, (0.0, f64::INFINITY))).collect();
    each_place(from, &columns, &variables, &mut lp);
    for (sum, least) in comparisons {
        let sum: Vec<(u32, i64)> = sum.iter().map(|&(l, n)| (net.number(l), n)).collect();
        let here: f64 = sum.iter().map(|&(p, n)| n as f64 * f64::from(from[p as usize])).sum();
        row(&dense(net, &sum), *least as f64 - here, &columns, &variables, &mut lp);
    }
    let Ok(solution) = solve(lp, Some(&mut PATIENCE.clone()), limits)? else { return Ok(None) };
    let times = firsts.iter().zip(&variables).map(|(&t, &v)| (t, solution.var_value(v)));
    Ok(Some(times.filter(|e| e.1 > EPSILON).collect()))
}

/// Returns the largest value of a sum that the state equation allows, rounded down; `None` if it is
/// unbounded or not found.
pub fn largest(
    net: &Net,
    flows: Option<&[Flow]>,
    sum: &Sum,
    limits: &Limits,
) -> Result<Option<i64>, Unknown> {
    let mut lp = microlp::Problem::new(OptimizationDirection::Maximize);
    let sum: Vec<(u32, i64)> = sum.iter().map(|&(l, n)| (net.number(l), n)).collect();
    let weights = dense(net, &sum);
    let rounded = |v: f64| (v.abs() < 1e9).then(|| (v + 1e-4).floor() as i64);
    if let Some(flows) = flows {
        let places: Vec<Variable> = weights.iter().map(|&w| lp.add_var(w, (0.0, f64::INFINITY))).collect();
        each_flow(net, flows, &places, &mut lp);
        if let Ok(solution) = solve(lp, Some(&mut PATIENCE.clone()), limits)? {
            return Ok(rounded(solution.objective()));
        }
        lp = microlp::Problem::new(OptimizationDirection::Maximize);
    }
    let columns = columns(net);
    let variables: Vec<Variable> = columns
        .iter()
        .map(|c| {
            lp.add_var(c.iter().map(|&(p, n)| weights[p as usize] * n as f64).sum(), (0.0, f64::INFINITY))
        })
        .collect();
    each_place(&net.start, &columns, &variables, &mut lp);
    let start = at_start(net, &sum);
    let solved = solve(lp, Some(&mut PATIENCE.clone()), limits)?;
    Ok(solved.ok().and_then(|s| rounded(s.objective() + start)))
}

/// Requires that every flow keeps its initial sum.
fn each_flow(net: &Net, flows: &[Flow], places: &[Variable], lp: &mut microlp::Problem) {
    for flow in flows {
        let row: LinearExpr = flow.iter().map(|&(p, n)| (places[p as usize], n as f64)).collect();
        lp.add_constraint(row, ComparisonOp::Eq, at_start(net, flow));
    }
}

fn at_start(net: &Net, sum: &[(u32, i64)]) -> f64 {
    sum.iter().map(|&(p, n)| n as f64 * f64::from(net.start[p as usize])).sum()
}

/// Returns the different effects of transitions.
pub(super) fn columns<'n>(net: &'n Net) -> Vec<&'n [(u32, i64)]> {
    let mut seen = FxHashSet::default();
    let all = net.changes.iter().map(Vec::as_slice);
    all.filter(|c| !c.is_empty() && seen.insert(*c)).collect()
}

fn dense(net: &Net, sum: &[(u32, i64)]) -> Vec<f64> {
    let mut weights = vec![0.0; net.places.len()];
    sum.iter().for_each(|&(p, n)| weights[p as usize] += n as f64);
    weights
}

/// Requires that no place gets a negative number of tokens, from this marking on.
fn each_place(from: &[u32], columns: &[&[(u32, i64)]], variables: &[Variable], lp: &mut microlp::Problem) {
    let mut rows: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); from.len()];
    for (column, &variable) in columns.iter().zip(variables) {
        column.iter().for_each(|&(p, n)| rows[p as usize].push((variable, n as f64)));
    }
    for (p, row) in rows.into_iter().enumerate() {
        if row.iter().any(|term| term.1 < 0.0) {
            let row: LinearExpr = row.into_iter().collect();
            lp.add_constraint(row, ComparisonOp::Ge, -f64::from(from[p]));
        }
    }
}

/// Requires that a weighted sum grows by at least `least`.
fn row(
    weights: &[f64],
    least: f64,
    columns: &[&[(u32, i64)]],
    variables: &[Variable],
    lp: &mut microlp::Problem,
) {
    let mut row = LinearExpr::empty();
    for (column, &variable) in columns.iter().zip(variables) {
        let n: f64 = column.iter().map(|&(p, n)| weights[p as usize] * n as f64).sum();
        if n != 0.0 {
            row.add(variable, n);
        }
    }
    lp.add_constraint(row, ComparisonOp::Ge, least);
}

/// The comparisons of a case and its open disjunctions, as in the rule that checks them.
#[derive(Clone, Default)]
struct Held<'a> {
    comparisons: Vec<(&'a Sum, i64)>,
    open: Vec<&'a [Predicate]>,
}

impl<'a> Held<'a> {
    fn assume(&mut self, predicate: &'a Predicate) {
        match predicate {
            Predicate::AtLeast(sum, least) => self.comparisons.push((sum, *least)),
            Predicate::All(parts) => parts.iter().for_each(|part| self.assume(part)),
            Predicate::Any(parts) => self.open.push(parts),
            Predicate::Dead | Predicate::Live => {}
        }
    }
}

struct Prover<'n> {
    net: &'n Net<'n>,
    /// Flows to use instead of the state equation.
    flows: Option<&'n [Flow]>,
    columns: Vec<&'n [(u32, i64)]>,
    limits: &'n Limits,
    programs: u32,
    patience: u32,
    found: Refutation,
    /// A case that is not refuted.
    possible: Option<Vec<(Sum, i64)>>,
}

/// The result of a linear program.
enum Solved {
    /// A marking that it allows.
    Marking(Vec<f64>),
    Nothing,
    TooHard,
}

impl Prover<'_> {
    /// Returns whether a case is refuted, and then adds its refutation.
    fn prove(&mut self, held: &Held) -> Result<bool, Unknown> {
        // No marking satisfies an empty disjunction, so this case is refuted.
        if let Some(empty) = held.open.iter().position(|parts| parts.is_empty()) {
            self.found.cases.push(Case::Split(empty as u32));
            return Ok(true);
        }
        loop {
            let solved = match self.flows {
                Some(flows) => self.marking_of_flows(flows, held)?,
                None => self.marking(held)?,
            };
            let marking = match solved {
                Solved::Nothing => return self.contradict(held),
                Solved::TooHard => return Ok(false),
                Solved::Marking(marking) => marking,
            };
            if let Some(trap) = self.unmarked_trap(&marking) {
                self.found.traps.push(trap.into_iter().map(|p| self.net.places[p]).collect());
                continue;
            }
            let fails = |parts: &&[Predicate]| !parts.iter().any(|p| self.may_hold(p, &marking));
            let failing = held.open.iter().enumerate().filter(|(_, parts)| fails(parts));
            let Some((which, parts)) = failing.min_by_key(|(_, parts)| parts.len()) else {
                let mut comparisons = held.comparisons.clone();
                held.open.iter().for_each(|parts| self.choose(parts, &marking, &mut comparisons));
                self.possible = Some(comparisons.into_iter().map(|(sum, n)| (sum.clone(), n)).collect());
                return Ok(false);
            };
            self.found.cases.push(Case::Split(which as u32));
            for part in parts.iter() {
                let mut held = held.clone();
                held.open.remove(which);
                held.assume(part);
                if !self.prove(&held)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
    }

    /// Adds the comparisons of a part that holds in a marking.
    fn choose<'a>(&self, parts: &'a [Predicate], marking: &[f64], into: &mut Vec<(&'a Sum, i64)>) {
        let Some(part) = parts.iter().find(|p| self.may_hold(p, marking)) else { return };
        match part {
            Predicate::AtLeast(sum, least) => into.push((sum, *least)),
            Predicate::All(parts) => {
                parts.iter().for_each(|part| self.choose(std::slice::from_ref(part), marking, into));
            }
            Predicate::Any(parts) => self.choose(parts, marking, into),
            Predicate::Dead | Predicate::Live => {}
        }
    }

    fn may_hold(&self, predicate: &Predicate, marking: &[f64]) -> bool {
        match predicate {
            Predicate::AtLeast(sum, least) => {
                let each = sum.iter().map(|&(l, n)| n as f64 * marking[self.net.number(l) as usize]);
                each.sum::<f64>() >= *least as f64 - EPSILON
            }
            Predicate::All(parts) => parts.iter().all(|p| self.may_hold(p, marking)),
            Predicate::Any(parts) => parts.iter().any(|p| self.may_hold(p, marking)),
            Predicate::Dead | Predicate::Live => true,
        }
    }

    /// Returns each comparison and trap as its sum and its least value.
    fn sums(&self, held: &Held) -> Vec<(Vec<(u32, i64)>, i64)> {
        let net = self.net;
        let comparisons = held.comparisons.iter().map(|&(sum, least)| {
            let sum: Vec<(u32, i64)> = sum.iter().map(|&(l, n)| (net.number(l), n)).collect();
            (sum, least)
        });
        let traps = self.found.traps.iter().map(|t| (t.iter().map(|&l| (net.number(l), 1)).collect(), 1));
        comparisons.chain(traps).collect()
    }

    /// Returns each comparison and trap relative to the initial marking.
    fn rows(&self, held: &Held) -> Vec<(Vec<f64>, f64)> {
        let net = self.net;
        let row = |(sum, least): (Vec<(u32, i64)>, i64)| {
            let start = at_start(net, &sum);
            (dense(net, &sum), least as f64 - start)
        };
        self.sums(held).into_iter().map(row).collect()
    }

    /// Returns a marking that satisfies the comparisons of a case, the state equation and the
    /// traps.
    fn marking(&mut self, held: &Held) -> Result<Solved, Unknown> {
        let net = self.net;
        let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
        let variables: Vec<Variable> =
            self.columns.iter().map(|_| lp.add_var(1.0, (0.0, f64::INFINITY))).collect();
        each_place(&net.start, &self.columns, &variables, &mut lp);
        for (weights, least) in self.rows(held) {
            row(&weights, least, &self.columns, &variables, &mut lp);
        }
        Ok(match self.solve(lp)? {
            Ok(solution) => {
                let mut marking: Vec<f64> = net.start.iter().map(|&n| f64::from(n)).collect();
                for (column, &variable) in self.columns.iter().zip(&variables) {
                    let times = solution.var_value(variable);
                    column.iter().for_each(|&(p, n)| marking[p as usize] += n as f64 * times);
                }
                Solved::Marking(marking)
            }
            Err(NoSolution::None) => Solved::Nothing,
            Err(NoSolution::TooHard) => Solved::TooHard,
        })
    }

    /// Returns the same for flows instead of the state equation.
    fn marking_of_flows(&mut self, flows: &[Flow], held: &Held) -> Result<Solved, Unknown> {
        let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
        let places: Vec<Variable> =
            self.net.places.iter().map(|_| lp.add_var(1.0, (0.0, f64::INFINITY))).collect();
        each_flow(self.net, flows, &places, &mut lp);
        for (sum, least) in self.sums(held) {
            let row: LinearExpr = sum.iter().map(|&(p, n)| (places[p as usize], n as f64)).collect();
            lp.add_constraint(row, ComparisonOp::Ge, least as f64);
        }
        Ok(match self.solve(lp)? {
            Ok(solution) => Solved::Marking(places.iter().map(|&p| solution.var_value(p)).collect()),
            Err(NoSolution::None) => Solved::Nothing,
            Err(NoSolution::TooHard) => Solved::TooHard,
        })
    }

    fn solve(&mut self, lp: microlp::Problem) -> Result<Result<microlp::Solution, NoSolution>, Unknown> {
        let Some(left) = self.programs.checked_sub(1).filter(|_| self.patience > 0) else {
            return Ok(Err(NoSolution::TooHard));
        };
        self.programs = left;
        let given = PATIENCE.min(self.patience);
        let mut patience = given;
        let solved = solve(lp, Some(&mut patience), self.limits);
        self.patience -= given - patience;
        // A slice is charged in full, although most programs take a small part of one.
        self.patience += u32::from(given - patience == 1);
        solved
    }

    /// Adds the numbers of a contradiction, if they hold exactly. Returns whether they do.
    fn contradict(&mut self, held: &Held) -> Result<bool, Unknown> {
        if let Some(flows) = self.flows {
            return self.contradict_flows(flows, held);
        }
        let net = self.net;
        let rows = self.rows(held);
        let mut lp = microlp::Problem::new(OptimizationDirection::Maximize);
        let spare: Vec<Variable> =
            net.start.iter().map(|&n| lp.add_var(-f64::from(n), (0.0, f64::INFINITY))).collect();
        let used: Vec<Variable> = rows.iter().map(|(_, least)| lp.add_var(*least, (0.0, 1.0))).collect();
        for column in &self.columns {
            let mut row = LinearExpr::empty();
            column.iter().for_each(|&(p, n)| row.add(spare[p as usize], n as f64));
            for ((weights, _), &variable) in rows.iter().zip(&used) {
                let n: f64 = column.iter().map(|&(p, n)| weights[p as usize] * n as f64).sum();
                if n != 0.0 {
                    row.add(variable, n);
                }
            }
            lp.add_constraint(row, ComparisonOp::Le, 0.0);
        }
        let Ok(solution) = self.solve(lp)? else { return Ok(false) };
        if solution.objective() < EPSILON {
            return Ok(false);
        }
        let numbers: Vec<f64> = used.iter().chain(&spare).map(|&v| solution.var_value(v)).collect();
        for numbers in exact::vectors(&numbers) {
            let (used, spare) = numbers.split_at(used.len());
            if let Some(found) = self.contradiction(held, used, spare) {
                self.found.cases.push(Case::Linear(found));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Does the same with flows.
    fn contradict_flows(&mut self, flows: &[Flow], held: &Held) -> Result<bool, Unknown> {
        let net = self.net;
        let sums = self.sums(held);
        let mut lp = microlp::Problem::new(OptimizationDirection::Maximize);
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let times: Vec<Variable> = flows.iter().map(|flow| lp.add_var(-at_start(net, flow), free)).collect();
        let used: Vec<Variable> =
            sums.iter().map(|(_, least)| lp.add_var(*least as f64, (0.0, 1.0))).collect();
        let mut rows: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); net.places.len()];
        for (flow, &variable) in flows.iter().zip(&times) {
            flow.iter().for_each(|&(p, n)| rows[p as usize].push((variable, -n as f64)));
        }
        for ((sum, _), &variable) in sums.iter().zip(&used) {
            sum.iter().for_each(|&(p, n)| rows[p as usize].push((variable, n as f64)));
        }
        for row in rows.into_iter().filter(|row| !row.is_empty()) {
            lp.add_constraint(row.into_iter().collect::<LinearExpr>(), ComparisonOp::Le, 0.0);
        }
        let Ok(solution) = self.solve(lp)? else { return Ok(false) };
        if solution.objective() < EPSILON {
            return Ok(false);
        }
        let numbers: Vec<f64> = used.iter().chain(&times).map(|&v| solution.var_value(v)).collect();
        for numbers in exact::vectors(&numbers) {
            let (used, times) = numbers.split_at(used.len());
            // This is the part of the combination of flows that exceeds the used comparisons.
            let mut spare: Vec<i128> = vec![0; net.places.len()];
            for (flow, &times) in flows.iter().zip(times) {
                flow.iter().for_each(|&(p, n)| spare[p as usize] += i128::from(n) * i128::from(times));
            }
            for ((sum, _), &times) in sums.iter().zip(used) {
                sum.iter().for_each(|&(p, n)| spare[p as usize] -= i128::from(n) * i128::from(times));
            }
            let spare: Option<Vec<i64>> = spare.into_iter().map(|n| i64::try_from(n).ok()).collect();
            if let Some(found) = spare.and_then(|spare| self.contradiction(held, used, &spare)) {
                self.found.cases.push(Case::Linear(found));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the contradiction with these numbers, if they form one.
    fn contradiction(&self, held: &Held, used: &[i64], spare: &[i64]) -> Option<Contradiction> {
        let net = self.net;
        let (of_comparisons, of_traps) = used.split_at(held.comparisons.len());
        let mut weights: Vec<i128> = spare.iter().map(|&n| i128::from(n)).collect();
        let mut asked: i128 = 0;
        for (&(sum, least), &times) in held.comparisons.iter().zip(of_comparisons) {
            asked += i128::from(least) * i128::from(times);
            sum.iter()
                .for_each(|&(l, n)| weights[net.number(l) as usize] += i128::from(n) * i128::from(times));
        }
        for (trap, &times) in self.found.traps.iter().zip(of_traps) {
            asked += i128::from(times);
            trap.iter().for_each(|&l| weights[net.number(l) as usize] += i128::from(times));
        }
        let start: i128 = weights.iter().zip(&*net.start).map(|(&w, &n)| w * i128::from(n)).sum();
        let grows =
            |c: &&[(u32, i64)]| c.iter().map(|&(p, n)| weights[p as usize] * i128::from(n)).sum::<i128>() > 0;
        if numbers_are_negative(used)
            || numbers_are_negative(spare)
            || asked <= start
            || self.columns.iter().any(grows)
        {
            return None;
        }
        let mut sum = Sum::new();
        for (&l, &n) in net.places.iter().zip(&weights) {
            if n != 0 {
                sum.push((l, i64::try_from(n).ok()?));
            }
        }
        let counted = |list: &[i64]| (0u32..).zip(list.iter().copied()).filter(|e| e.1 > 0).collect();
        Some(Contradiction { weights: sum, comparisons: counted(of_comparisons), traps: counted(of_traps) })
    }

    /// Returns a trap that is marked at the start and not in this marking.
    fn unmarked_trap(&self, marking: &[f64]) -> Option<Vec<usize>> {
        let net = self.net;
        let mut inside: Vec<bool> = marking.iter().map(|&n| n < EPSILON).collect();
        loop {
            let puts = |step: &throng_model::Step| {
                let put = step.put.entries().iter().chain(step.spawn.entries());
                put.clone().any(|e| inside[net.number(e.0) as usize])
            };
            let mut leaving = Vec::new();
            for (needs, step) in net.needs.iter().zip(net.steps) {
                if needs.iter().any(|&(p, _)| inside[p as usize]) && !puts(step) {
                    leaving.extend(needs.iter().map(|e| e.0 as usize).filter(|&p| inside[p]));
                }
            }
            if leaving.is_empty() {
                break;
            }
            leaving.into_iter().for_each(|p| inside[p] = false);
        }
        let trap: Vec<usize> = (0..inside.len()).filter(|&p| inside[p]).collect();
        trap.iter().any(|&p| net.start[p] > 0).then_some(trap)
    }
}

fn numbers_are_negative(numbers: &[i64]) -> bool {
    numbers.iter().any(|&n| n < 0)
}
