//! The equations as a linear program, in floating point.
//!
//! What is solved is the dual, whose solutions are the evidence: variables are numbers for states, every possible step gives a row.

use std::time::Duration;

use microlp::{ComparisonOp, Error, LinearExpr, OptimizationDirection, SolveOutcome};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::facts::Facts;
use crate::limits::{Limits, Ticker};
use crate::model::{Config, Local, Shared, Step};
use crate::problem::Problem;
use crate::verdict::{Unknown, Vector};

/// How much a step changes the number of a state: column and coefficient, sorted, none zero.
type Row = Vec<(u32, i32)>;

/// The equations of a problem, without a target.
pub struct Equations {
    shared: FxHashMap<Shared, u32>,
    locals: FxHashMap<Local, u32>,
    /// The states in the order of their columns: shared ones first.
    shared_states: Vec<Shared>,
    local_states: Vec<Local>,
    /// What the possible steps change, each once.
    rows: Vec<Row>,
}

/// How long the solver works before it is asked whether to go on.
const SLICE: Duration = Duration::from_millis(50);

impl Equations {
    /// The equations over the steps that are possible.
    pub fn new(problem: &Problem, facts: &Facts) -> Equations {
        let (mut shared, mut locals): (Vec<Shared>, Vec<Local>) = (Vec::new(), Vec::new());
        for (s, there) in facts.singles() {
            shared.push(s);
            locals.extend(there);
        }
        for family in &problem.initial {
            shared.push(family.shared);
            locals.extend(family.threads.entries().iter().map(|e| e.0).chain(family.any.iter().copied()));
        }
        for step in facts.steps() {
            locals.extend(step.put.entries().iter().chain(step.spawn.entries()).map(|e| e.0));
        }
        shared.sort_unstable();
        shared.dedup();
        locals.sort_unstable();
        locals.dedup();
        let first = shared.len() as u32;
        let mut equations = Equations {
            shared: shared.iter().copied().zip(0..).collect(),
            locals: locals.iter().copied().zip(first..).collect(),
            shared_states: shared,
            local_states: locals,
            rows: Vec::new(),
        };
        let mut rows: FxHashSet<Row> = FxHashSet::default();
        for step in facts.steps() {
            rows.insert(equations.row(step));
            rows.extend(facts.fates(step).map(|(before, after)| equations.moves(before, after)));
        }
        rows.remove(&Vec::new());
        equations.rows = rows.into_iter().collect();
        equations.rows.sort_unstable();
        equations
    }

    fn row(&self, step: &Step) -> Row {
        let mut row = Vec::new();
        if step.from != step.to {
            row.extend([(self.shared[&step.from], -1), (self.shared[&step.to], 1)]);
        }
        row.extend(step.take.entries().iter().map(|&(l, n)| (self.locals[&l], -(n as i32))));
        let arrived = step.put.entries().iter().chain(step.spawn.entries());
        row.extend(arrived.map(|&(l, n)| (self.locals[&l], n as i32)));
        summed(row)
    }

    fn moves(&self, before: Local, after: Local) -> Row {
        let column = |l| self.locals.get(&l).copied();
        let ends = [(column(before), -1), (column(after), 1)];
        summed(ends.into_iter().filter_map(|(column, n)| Some((column?, n))).collect())
    }

    fn columns(&self) -> usize {
        self.shared_states.len() + self.local_states.len()
    }

    /// Numbers for the states, in the order of the columns, as a vector.
    pub fn vector(&self, numbers: &[i64]) -> Vector {
        let (shared, locals) = numbers.split_at(self.shared_states.len());
        let nonzero = |&(_, n): &(_, i64)| n != 0;
        Vector {
            shared: self
                .shared_states
                .iter()
                .copied()
                .zip(shared.iter().copied())
                .filter(|e| e.1 != 0)
                .collect(),
            locals: self.local_states.iter().copied().zip(locals.iter().copied()).filter(nonzero).collect(),
        }
    }

    /// Numbers for the states that no step increases, with sum at most 0 at the start and at least 1 wherever `bad` is covered; `None` if there
    /// are none.
    pub fn certificate(
        &self,
        problem: &Problem,
        facts: &Facts,
        bad: &Config,
        limits: &Limits,
    ) -> Result<Option<Vec<f64>>, Unknown> {
        let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let mut columns: Vec<microlp::Variable> =
            self.shared_states.iter().map(|_| lp.add_var(0.0, free)).collect();
        let unbounded: FxHashSet<Local> =
            problem.initial.iter().flat_map(|f| f.any.iter().copied()).collect();
        columns.extend(self.local_states.iter().map(|l| {
            // Any number of threads may start there, so they must count nothing.
            lp.add_var(1.0, (0.0, if unbounded.contains(l) { 0.0 } else { f64::INFINITY }))
        }));
        for row in &self.rows {
            let terms = row.iter().map(|&(column, n)| (columns[column as usize], f64::from(n)));
            lp.add_constraint(terms.collect::<LinearExpr>(), ComparisonOp::Le, 0.0);
        }
        for family in &problem.initial {
            let mut terms = LinearExpr::empty();
            terms.add(columns[self.shared[&family.shared] as usize], 1.0);
            for &(l, n) in family.threads.entries() {
                terms.add(columns[self.locals[&l] as usize], f64::from(n));
            }
            lp.add_constraint(terms, ComparisonOp::Le, 0.0);
        }
        for (s, threads) in facts.meeting(bad) {
            let Some(&s) = self.shared.get(&s) else { continue };
            let mut terms = LinearExpr::empty();
            terms.add(columns[s as usize], 1.0);
            for (fitting, n) in threads {
                let known: Vec<u32> = fitting.iter().filter_map(|l| self.locals.get(l).copied()).collect();
                let thread = match known[..] {
                    [] => continue,
                    [only] => columns[only as usize],
                    _ => {
                        let least = lp.add_var(0.0, (0.0, f64::INFINITY));
                        for l in known {
                            lp.add_constraint(
                                [(least, 1.0), (columns[l as usize], -1.0)],
                                ComparisonOp::Le,
                                0.0,
                            );
                        }
                        least
                    }
                };
                terms.add(thread, f64::from(n));
            }
            lp.add_constraint(terms, ComparisonOp::Ge, 1.0);
        }
        Ticker::new(limits).ticks(self.effort())?;
        let solution = solve(lp, limits)?;
        Ok(solution.map(|s| columns.iter().map(|&column| s.var_value(column)).collect()))
    }

    /// What solving costs, in ticks: a guess, but the same on every machine.
    pub fn effort(&self) -> u32 {
        let entries: usize = self.rows.iter().map(Vec::len).sum();
        u32::try_from(entries * self.columns().min(64) / 8).unwrap_or(u32::MAX)
    }
}

/// Adds up what belongs to one column.
fn summed(mut row: Row) -> Row {
    row.sort_unstable();
    row.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 += later.1;
        }
        same
    });
    row.retain(|e| e.1 != 0);
    row
}

/// The best solution, or `None` if there is none; in slices, so that limits are kept.
fn solve(mut lp: microlp::Problem, limits: &Limits) -> Result<Option<microlp::Solution>, Unknown> {
    lp.set_time_limit(SLICE);
    let mut outcome = lp.solve();
    loop {
        outcome = match outcome {
            Ok(SolveOutcome::Solution(solution)) => return Ok(Some(solution)),
            Ok(interrupted @ SolveOutcome::Interrupted(_)) => {
                limits.check()?;
                interrupted.resume()
            }
            Err(Error::Infeasible | Error::Unbounded) => return Ok(None),
            Err(why) => {
                return Err(Unknown::Inconclusive(format!("the linear program was not solved: {why}")));
            }
        }
    }
}
