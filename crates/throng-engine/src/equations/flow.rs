//! The equations in integers: the least numbers of initial and of created threads (TSE, section 5).
//!
//! A solution says how often each step is taken. If its steps are not connected (a cycle of shared
//! states that the rest never enters, or a step that keeps such a shared state), no run takes them
//! (C_C). Instead of the paper's quadratic encoding, the constraint is added only where a solution
//! violates it: a thread that takes a step within those shared states must have entered them.
//!
//! Steps that keep the shared state and have the same effect share one unknown, whatever that
//! shared state is: flow does not distinguish them. They are connected with the others if one of
//! their shared states is.

use std::collections::BTreeSet;

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Variable};
use rustc_hash::FxHashMap;

use super::connected::loose;
use super::lp::{Equations, NoSolution, Row, solve};
use crate::FlowStatistics;
use crate::facts::Facts;
use throng_model::Config;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Initial, Problem};
use throng_model::verdict::Unknown;

/// Maximum number of pairs of an initial family and a bad configuration.
const MOST_PAIRS: usize = 16;

/// Maximum number of cuts before a solution is accepted. They rarely change the number of threads
/// (`bench/any`), and each costs another integer program.
const MOST_CUTS: usize = 4;

/// Budget of integer programs for one target in slices of time; beyond it, starting the search with
/// too few threads is cheaper.
pub(super) const PATIENCE: u32 = 30;

/// Maximum number of steps within a set of shared states for each time it is entered. Too small a
/// number could only make the answer larger.
const ROUNDS: f64 = 1e4;

impl Equations {
    /// Returns the least number of threads with which the equations for `bad` have a solution;
    /// `None` if none was found for any start and end.
    pub fn least_threads(
        &self,
        problem: &Problem,
        facts: &Facts,
        bad: &Config,
        limits: &Limits,
        patience: &mut u32,
        statistics: &mut FlowStatistics,
    ) -> Result<Option<u32>, Unknown> {
        let ends = facts.meeting(bad);
        let pairs = problem.initial.iter().flat_map(|family| ends.iter().map(move |end| (family, end)));
        let mut least: Option<u32> = None;
        for (i, (family, (end, threads))) in pairs.enumerate() {
            if i == MOST_PAIRS {
                // Nothing is known about the other pairs.
                return Ok(least.or(problem.initial.iter().map(|f| f.threads.size().max(1)).min()));
            }
            let Some(&end) = self.shared.get(end) else { continue };
            let wanted: Vec<(Vec<u32>, u32)> = threads
                .iter()
                .map(|(ls, n)| (ls.iter().filter_map(|l| self.locals.get(l).copied()).collect(), *n))
                .collect();
            let flow = Flow { equations: self, family, end, wanted: &wanted };
            least = [least, flow.least(limits, patience, statistics)?].into_iter().flatten().min();
        }
        Ok(least)
    }
}

/// The equations for one start and one end.
struct Flow<'a> {
    equations: &'a Equations,
    family: &'a Initial,
    end: u32,
    /// Columns with the number of threads required in them at the end.
    wanted: &'a [(Vec<u32>, u32)],
}

impl Flow<'_> {
    fn least(
        &self,
        limits: &Limits,
        patience: &mut u32,
        statistics: &mut FlowStatistics,
    ) -> Result<Option<u32>, Unknown> {
        let mut cuts: Vec<BTreeSet<u32>> = Vec::new();
        let mut uncut = None;
        loop {
            Ticker::new(limits).ticks(self.equations.effort())?;
            limits.check()?;
            statistics.programs += u64::from(*patience > 0);
            let (threads, taken) = match self.solve(&cuts, patience, limits)? {
                Ok(solution) => solution,
                Err(NoSolution::None) => {
                    statistics.ruled_out += u64::from(uncut.is_some());
                    return Ok(None);
                }
                // The cuts are then no help; and before the first cut, the search has to begin with
                // the fewest threads.
                Err(NoSolution::TooHard) => {
                    statistics.too_hard += 1;
                    return Ok(uncut.or(Some(self.family.threads.size().max(1))));
                }
            };
            let without = *uncut.get_or_insert(threads);
            match self.apart(&taken) {
                Some(apart) if cuts.len() < MOST_CUTS => cuts.push(apart),
                _ => {
                    statistics.raised += u64::from(threads.saturating_sub(without));
                    return Ok(Some(threads));
                }
            }
            statistics.cuts += 1;
        }
    }

    /// Returns the least number of threads, and how often each step is taken.
    fn solve(
        &self,
        cuts: &[BTreeSet<u32>],
        patience: &mut u32,
        limits: &Limits,
    ) -> Result<Result<(u32, Vec<f64>), NoSolution>, Unknown> {
        let equations = self.equations;
        let mut ilp = microlp::Problem::new(OptimizationDirection::Minimize);
        // A step has a small cost, so that solutions have no useless ones.
        let step = |spawns: u32| f64::from(spawns) + 1e-4;
        let taken: Vec<Variable> =
            equations.rows.iter().map(|row| ilp.add_integer_var(step(row.spawns), (0, i32::MAX))).collect();
        let mut balance: FxHashMap<u32, LinearExpr> = FxHashMap::default();
        let mut terms: Vec<(u32, Variable, f64)> = Vec::new();
        for (row, &x) in equations.rows.iter().zip(&taken) {
            terms.extend(row.change.iter().map(|&(column, n)| (column, x, f64::from(n))));
        }
        for &l in &self.family.any {
            terms.push((equations.locals[&l], ilp.add_integer_var(1.0, (0, i32::MAX)), 1.0));
        }
        for (column, variable, n) in terms {
            balance.entry(column).or_insert_with(LinearExpr::empty).add(variable, n);
        }
        let there = |column: u32| {
            let fixed = self.family.threads.entries().iter().find(|e| equations.locals[&e.0] == column);
            fixed.map_or(0.0, |e| f64::from(e.1))
        };
        let first_local = equations.shared_states.len() as u32;
        let begin = equations.shared[&self.family.shared];
        for column in 0..equations.columns() as u32 {
            let expression = balance.get(&column).cloned().unwrap_or_else(LinearExpr::empty);
            if column < first_local {
                let net = f64::from(i8::from(column == self.end) - i8::from(column == begin));
                ilp.add_constraint(expression, ComparisonOp::Eq, net);
            } else {
                ilp.add_constraint(expression, ComparisonOp::Ge, -there(column));
            }
        }
        for (columns, n) in self.wanted {
            let mut sum: FxHashMap<Variable, f64> = FxHashMap::default();
            let mut have = 0.0;
            for column in columns {
                have += there(*column);
                for (row, &x) in equations.rows.iter().zip(&taken) {
                    let change = row.change.iter().find(|e| e.0 == *column).map_or(0.0, |e| f64::from(e.1));
                    *sum.entry(x).or_default() += change;
                }
            }
            // If any number of threads may start there, there are always enough.
            let any = self.family.any.iter().any(|l| columns.contains(&equations.locals[l]));
            if !any {
                let mut sum: Vec<(Variable, f64)> = sum.into_iter().filter(|e| e.1 != 0.0).collect();
                sum.sort_unstable_by_key(|e| e.0.idx());
                ilp.add_constraint(sum, ComparisonOp::Ge, f64::from(*n) - have);
            }
        }
        for apart in cuts {
            let mut within = LinearExpr::empty();
            for (row, &x) in equations.rows.iter().zip(&taken) {
                match row.shared.map(|(from, to)| (apart.contains(&from), apart.contains(&to))) {
                    None if row.keeps.iter().all(|s| apart.contains(s)) => within.add(x, 1.0),
                    Some((true, true)) => within.add(x, 1.0),
                    Some((false, true)) => within.add(x, -ROUNDS),
                    _ => {}
                }
            }
            ilp.add_constraint(within, ComparisonOp::Le, 0.0);
        }
        let solution = match solve(ilp, Some(patience), limits)? {
            Ok(solution) => solution,
            Err(why) => return Ok(Err(why)),
        };
        let counts: Vec<f64> = taken.iter().map(|&x| solution.var_value(x).round()).collect();
        let moved: f64 = counts.iter().zip(&equations.rows).map(|(x, row)| x * step(row.spawns)).sum();
        let created: f64 = counts.iter().zip(&equations.rows).map(|(x, row)| x * f64::from(row.spawns)).sum();
        let started = (solution.objective() - moved).round().max(0.0);
        let total = f64::from(self.family.threads.size()) + started + created;
        Ok(Ok((total as u32, counts)))
    }

    /// Returns shared states within which steps are taken, but that are not connected with the
    /// initial one.
    fn apart(&self, taken: &[f64]) -> Option<BTreeSet<u32>> {
        let rows: Vec<&Row> =
            taken.iter().zip(&self.equations.rows).filter(|(x, _)| **x > 0.5).map(|(_, row)| row).collect();
        let moves: Vec<(u32, u32)> = rows.iter().filter_map(|row| row.shared).collect();
        let mut together = BTreeSet::from([self.equations.shared[&self.family.shared]]);
        grow(&mut together, &moves);
        loose(&rows, &together, &moves)
    }
}

/// Adds everything that is connected with a set.
pub(super) fn grow(set: &mut BTreeSet<u32>, moves: &[(u32, u32)]) {
    loop {
        let before = set.len();
        for &(from, to) in moves {
            if set.contains(&from) || set.contains(&to) {
                set.extend([from, to]);
            }
        }
        if set.len() == before {
            return;
        }
    }
}
