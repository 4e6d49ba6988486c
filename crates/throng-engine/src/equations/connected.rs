//! Proofs from connectivity (TSE's process B, C_C): trees of cases, with a vector in each.
//!
//! A solution of the equations need not be a run, because its steps may not hang together: some are
//! taken in shared states X that the others never enter. So runs are divided: either a run is never
//! in X, and has no step from or to X; or some step enters X, because no run starts there. Both are
//! linear constraints that this solution violates, and both cases are solved, and divided, again. A
//! case whose equations have no rational solution has a vector to show it (Farkas), which also
//! counts how often each X is entered: [`throng_model::verdict::Tree`]. If a solution is connected,
//! there is no tree.
//!
//! All of this is in floating point. Vectors are rounded to integers, and a tree stands only if all
//! its vectors are exact.

use std::collections::BTreeSet;

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Variable};

use super::exact;
use super::flow::grow;
use super::lp::{Equations, Row, solve};
use crate::facts::Facts;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::{Branch, MOST_SPLITS, Tree, Unknown};
use throng_model::{Config, OMEGA};

/// Columns of shared states.
type Set = BTreeSet<u32>;

/// Weights in the order of the columns, and drops.
type Numbers = (Vec<i64>, Vec<i64>);

/// Maximum number of sets that a tree divides runs by.
const MOST_DIVISIONS: usize = 48;

/// Budget of one tree in slices of time.
const PATIENCE: u32 = 40;

/// Numbers below this count as zero.
const EPSILON: f64 = 1e-7;

/// The trees that were found for a target.
#[derive(Default)]
pub(super) struct Trees(Vec<Found>);

#[derive(Default)]
struct Found {
    tree: Tree,
    leaves: Vec<Leaf>,
}

/// A vector for some runs, in the order of the columns.
struct Leaf {
    never: Set,
    numbers: Vec<i64>,
    /// The sum of all drops.
    dropped: i128,
}

/// The runs that are never in some sets, and enter others.
#[derive(Clone, Default)]
struct Case {
    never: Set,
    entered: Vec<Set>,
}

impl Case {
    /// Returns whether such a run may take a step with this effect.
    fn takes(&self, row: &Row) -> bool {
        match row.shared {
            Some((from, to)) => !self.never.contains(&from) && !self.never.contains(&to),
            None => row.keeps.is_empty() || row.keeps.iter().any(|s| !self.never.contains(s)),
        }
    }
}

/// Returns whether a step with this effect enters a set.
fn enters(row: &Row, set: &Set) -> bool {
    row.shared.is_some_and(|(from, to)| !set.contains(&from) && set.contains(&to))
}

impl Trees {
    /// Searches for a tree that excludes `bad`. Returns whether one was found, now or before.
    pub(super) fn rule_out(
        &mut self,
        problem: &Problem,
        facts: &Facts,
        system: &Equations,
        bad: &Config,
        limits: &Limits,
    ) -> Result<bool, Unknown> {
        // Only shared states that are not initial can be divided by.
        if system.shared_states.len() < 2 {
            return Ok(false);
        }
        let mut search = Search { problem, facts, system, bad, limits, divisions: 0, patience: PATIENCE };
        if self.0.iter().any(|found| found.leaves.iter().all(|leaf| search.excludes(leaf))) {
            return Ok(true);
        }
        let mut found = Found::default();
        let proved = search.divide(&Case::default(), &mut found)?;
        if proved {
            self.0.push(found);
        }
        Ok(proved)
    }

    /// Returns the trees as evidence.
    pub(super) fn into_evidence(self) -> Vec<Tree> {
        self.0.into_iter().map(|found| found.tree).collect()
    }
}

struct Search<'a> {
    problem: &'a Problem,
    facts: &'a Facts,
    system: &'a Equations,
    bad: &'a Config,
    limits: &'a Limits,
    divisions: usize,
    patience: u32,
}

impl Search<'_> {
    /// Adds a tree for a case that has no vector yet. Returns whether there is one.
    fn divide(&mut self, case: &Case, found: &mut Found) -> Result<bool, Unknown> {
        if self.divisions == MOST_DIVISIONS || case.entered.len() + 1 == MOST_SPLITS {
            return Ok(false);
        }
        let Some(taken) = self.solution(case)? else { return Ok(false) };
        let Some(apart) = self.apart(&taken) else { return Ok(false) };
        self.divisions += 1;
        let states = apart.iter().map(|&s| self.system.shared_states[s as usize]).collect();
        found.tree.push(Branch::Split(states));
        let mut never = case.clone();
        never.never.extend(&apart);
        let mut entered = case.clone();
        entered.entered.push(apart);
        Ok(self.settle(&never, found)? && self.settle(&entered, found)?)
    }

    /// Adds a leaf or a tree for a case. Returns whether there is one.
    fn settle(&mut self, case: &Case, found: &mut Found) -> Result<bool, Unknown> {
        let Some((numbers, drops)) = self.vector(case)? else { return self.divide(case, found) };
        found.tree.push(Branch::Leaf { vector: self.system.vector(&numbers), drops: drops.clone() });
        let dropped = drops.into_iter().map(i128::from).sum();
        found.leaves.push(Leaf { never: case.never.clone(), numbers, dropped });
        Ok(true)
    }

    /// Returns weights in the order of the columns, and the drop of each set that is entered, such
    /// that no step of a run of the case increases the sum, but the target requires more than there
    /// is.
    fn vector(&mut self, case: &Case) -> Result<Option<Numbers>, Unknown> {
        let system = self.system;
        let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
        let columns = system.variables(&mut lp, self.problem, 1.0);
        let drops: Vec<Variable> =
            case.entered.iter().map(|_| lp.add_var(1e-3, (0.0, f64::INFINITY))).collect();
        for row in system.rows.iter().filter(|row| case.takes(row)) {
            let change = row.change.iter().map(|&(column, n)| (columns[column as usize], f64::from(n)));
            let into = case.entered.iter().zip(&drops).filter(|(set, _)| enters(row, set));
            let terms: LinearExpr = change.chain(into.map(|(_, &drop)| (drop, 1.0))).collect();
            lp.add_constraint(terms, ComparisonOp::Le, 0.0);
        }
        for family in &self.problem.initial {
            let start = Config::new(family.shared, family.threads.clone());
            lp.add_constraint(system.value(&columns, &start), ComparisonOp::Le, 0.0);
        }
        for (s, mut terms) in system.goal(&mut lp, &columns, self.facts, self.bad) {
            if !case.never.contains(&s) {
                drops.iter().for_each(|&drop| terms.add(drop, 1.0));
                lp.add_constraint(terms, ComparisonOp::Ge, 1.0);
            }
        }
        let Some(solution) = self.solve(lp)? else { return Ok(None) };
        let numbers: Vec<f64> = columns.iter().chain(&drops).map(|&v| solution.var_value(v)).collect();
        let split = |all: Vec<i64>| {
            let (numbers, drops) = all.split_at(columns.len());
            (numbers.to_vec(), drops.to_vec())
        };
        Ok(exact::vectors(&numbers).map(split).find(|(numbers, drops)| self.stands(case, numbers, drops)))
    }

    fn solve(&mut self, lp: microlp::Problem) -> Result<Option<microlp::Solution>, Unknown> {
        Ticker::new(self.limits).ticks(self.system.effort())?;
        Ok(solve(lp, Some(&mut self.patience), self.limits)?.ok())
    }

    /// Returns whether these integers are what [`Search::vector`] asks for.
    fn stands(&self, case: &Case, numbers: &[i64], drops: &[i64]) -> bool {
        let of = |column: u32| i128::from(numbers[column as usize]);
        let mut rows = self.system.rows.iter().filter(|row| case.takes(row));
        let falls = rows.all(|row| {
            let change: i128 = row.change.iter().map(|&(column, n)| of(column) * i128::from(n)).sum();
            let into = case.entered.iter().zip(drops).filter(|(set, _)| enters(row, set));
            change + into.map(|(_, &n)| i128::from(n)).sum::<i128>() <= 0
        });
        let dropped = drops.iter().map(|&n| i128::from(n)).sum();
        falls && self.excludes(&Leaf { never: case.never.clone(), numbers: numbers.to_vec(), dropped })
    }

    /// Returns whether the target requires more than the vector of a leaf leaves.
    fn excludes(&self, leaf: &Leaf) -> bool {
        let system = self.system;
        let of = |column: Option<&u32>| column.map_or(0, |&c| i128::from(leaf.numbers[c as usize]));
        let start = |family: &throng_model::problem::Initial| {
            let each =
                family.threads.entries().iter().map(|&(l, n)| of(system.locals.get(&l)) * i128::from(n));
            of(system.shared.get(&family.shared)) + each.sum::<i128>()
        };
        let most = self.problem.initial.iter().map(start).max().unwrap_or(0) - leaf.dropped;
        self.facts.meeting(self.bad).iter().all(|(s, threads)| {
            let column = system.shared.get(s);
            let least = |(fitting, n): &(Vec<_>, u32)| {
                fitting.iter().map(|l| of(system.locals.get(l))).min().unwrap_or(0) * i128::from(*n)
            };
            column.is_some_and(|c| leaf.never.contains(c))
                || of(column) + threads.iter().map(least).sum::<i128>() > most
        })
    }

    /// Returns how often each step is taken in a rational solution of the equations of a case, one
    /// with few steps.
    fn solution(&mut self, case: &Case) -> Result<Option<Vec<f64>>, Unknown> {
        let system = self.system;
        let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
        let mut balance: Vec<LinearExpr> = vec![LinearExpr::empty(); system.columns()];
        let mut used: Vec<Option<Variable>> = Vec::new();
        for row in &system.rows {
            let x = case.takes(row).then(|| lp.add_var(1.0, (0.0, f64::INFINITY)));
            for &(column, n) in row.change.iter().filter(|_| x.is_some()) {
                x.iter().for_each(|&x| balance[column as usize].add(x, f64::from(n)));
            }
            used.push(x);
        }
        self.begin(&mut lp, &mut balance);
        self.end(case, &mut lp, &mut balance);
        for (column, terms) in balance.into_iter().enumerate() {
            let exactly = column < system.shared_states.len();
            lp.add_constraint(terms, if exactly { ComparisonOp::Eq } else { ComparisonOp::Ge }, 0.0);
        }
        for set in &case.entered {
            let into = system.rows.iter().zip(&used).filter(|(row, _)| enters(row, set));
            let terms: LinearExpr = into.filter_map(|(_, x)| Some(((*x)?, 1.0))).collect();
            lp.add_constraint(terms, ComparisonOp::Ge, 1.0);
        }
        let Some(solution) = self.solve(lp)? else { return Ok(None) };
        Ok(Some(used.iter().map(|x| x.map_or(0.0, |x| solution.var_value(x))).collect()))
    }

    /// Adds what is there at the start: a mixture of all starts, as vectors are about all of them.
    fn begin(&self, lp: &mut microlp::Problem, balance: &mut [LinearExpr]) {
        let system = self.system;
        let mut whole = LinearExpr::empty();
        for family in &self.problem.initial {
            let share = lp.add_var(0.0, (0.0, 1.0));
            whole.add(share, 1.0);
            balance[system.shared[&family.shared] as usize].add(share, 1.0);
            for &(l, n) in family.threads.entries().iter().filter(|e| e.1 != OMEGA) {
                balance[system.locals[&l] as usize].add(share, f64::from(n));
            }
            for l in &family.any {
                let more = lp.add_var(0.0, (0.0, f64::INFINITY));
                balance[system.locals[l] as usize].add(more, 1.0);
            }
        }
        lp.add_constraint(whole, ComparisonOp::Eq, 1.0);
    }

    /// Takes away what the target requires: a mixture of all ways to meet it.
    fn end(&self, case: &Case, lp: &mut microlp::Problem, balance: &mut [LinearExpr]) {
        let system = self.system;
        let mut whole = LinearExpr::empty();
        for (s, threads) in self.facts.meeting(self.bad) {
            let Some(&s) = system.shared.get(&s).filter(|s| !case.never.contains(s)) else { continue };
            let share = lp.add_var(0.0, (0.0, 1.0));
            whole.add(share, 1.0);
            balance[s as usize].add(share, -1.0);
            for (fitting, n) in threads {
                let known: Vec<u32> = fitting.iter().filter_map(|l| system.locals.get(l).copied()).collect();
                // A thread in a state that no step knows costs nothing.
                if known.is_empty() || known.len() < fitting.len() {
                    continue;
                }
                let mut parts = LinearExpr::empty();
                parts.add(share, -f64::from(n));
                for column in known {
                    let part = lp.add_var(0.0, (0.0, f64::INFINITY));
                    parts.add(part, 1.0);
                    balance[column as usize].add(part, -1.0);
                }
                lp.add_constraint(parts, ComparisonOp::Eq, 0.0);
            }
        }
        lp.add_constraint(whole, ComparisonOp::Eq, 1.0);
    }

    /// Returns shared states within which steps are taken, but that are not connected with an
    /// initial one.
    fn apart(&self, taken: &[f64]) -> Option<Set> {
        let system = self.system;
        let rows: Vec<&Row> =
            taken.iter().zip(&system.rows).filter(|(x, _)| **x > EPSILON).map(|(_, row)| row).collect();
        let moves: Vec<(u32, u32)> = rows.iter().filter_map(|row| row.shared).collect();
        let mut together: Set =
            self.problem.initial.iter().map(|family| system.shared[&family.shared]).collect();
        grow(&mut together, &moves);
        loose(&rows, &together, &moves)
    }
}

/// Returns the shared states of a step that is not connected with `together`, and what is connected
/// with them.
pub(super) fn loose(rows: &[&Row], together: &Set, moves: &[(u32, u32)]) -> Option<Set> {
    let states = |row: &Row| -> Set {
        row.shared.map_or_else(|| row.keeps.iter().copied().collect(), |(from, to)| [from, to].into())
    };
    let mut apart = rows.iter().map(|row| states(row)).find(|s| !s.is_empty() && s.is_disjoint(together))?;
    grow(&mut apart, moves);
    Some(apart)
}
