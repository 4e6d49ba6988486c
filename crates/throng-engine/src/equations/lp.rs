//! The equations as a linear program, in floating point.
//!
//! The dual is solved, whose solutions are the evidence: variables are weights of states, and every
//! possible step gives a row.

use std::time::Duration;

use microlp::{ComparisonOp, Error, LinearExpr, OptimizationDirection, SolveOutcome};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::Facts;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Vector};
use throng_model::{Config, Local, OMEGA, Shared, Step};

/// The changes of the numbers of states: column and coefficient, sorted, without zeros.
type Change = Vec<(u32, i32)>;

/// The effect of a possible step in the equations.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Row {
    /// The changes of the numbers of states.
    pub change: Change,
    /// The number of threads created.
    pub spawns: u32,
    /// The columns of its shared states, if they differ.
    pub shared: Option<(u32, u32)>,
    /// The columns of the shared states that it can keep: equations of flow do not distinguish
    /// them, but connectivity does.
    pub keeps: Vec<u32>,
}

/// The equations of a problem, without a target.
pub struct Equations {
    pub(super) shared: FxHashMap<Shared, u32>,
    pub(super) locals: FxHashMap<Local, u32>,
    /// The states in the order of their columns, shared ones first.
    pub(super) shared_states: Vec<Shared>,
    local_states: Vec<Local>,
    /// The effects of the possible steps, each once.
    pub(super) rows: Vec<Row>,
}

/// Time that the solver works before limits are checked again.
const SLICE: Duration = Duration::from_millis(50);

impl Equations {
    /// Builds the equations over the possible steps.
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
        let mut rows: Vec<Row> = Vec::new();
        for step in facts.steps() {
            rows.push(equations.row(step));
            rows.extend(facts.fates(step).map(|(before, after)| equations.moves(step.from, before, after)));
        }
        rows.retain(|row| !row.change.is_empty());
        rows.sort_unstable();
        rows.dedup_by(|later, earlier| {
            let same = (&later.change, later.spawns, later.shared)
                == (&earlier.change, earlier.spawns, earlier.shared);
            if same && later.keeps.last() != earlier.keeps.last() {
                earlier.keeps.append(&mut later.keeps);
            }
            same
        });
        equations.rows = rows;
        equations
    }

    fn row(&self, step: &Step) -> Row {
        let mut row = Vec::new();
        let shared = (step.from != step.to).then(|| (self.shared[&step.from], self.shared[&step.to]));
        if let Some((from, to)) = shared {
            row.extend([(from, -1), (to, 1)]);
        }
        row.extend(step.take.entries().iter().map(|&(l, n)| (self.locals[&l], -(n as i32))));
        let arrived = step.put.entries().iter().chain(step.spawn.entries());
        row.extend(arrived.map(|&(l, n)| (self.locals[&l], n as i32)));
        let keeps = if shared.is_none() { vec![self.shared[&step.from]] } else { Vec::new() };
        Row { change: summed(row), spawns: step.spawn.size(), shared, keeps }
    }

    /// Returns the effect on a bystander of a step from `shared`.
    fn moves(&self, shared: Shared, before: Local, after: Local) -> Row {
        let column = |l| self.locals.get(&l).copied();
        let ends = [(column(before), -1), (column(after), 1)];
        let change = summed(ends.into_iter().filter_map(|(column, n)| Some((column?, n))).collect());
        Row {
            change,
            spawns: 0,
            shared: None,
            keeps: self.shared.get(&shared).copied().into_iter().collect(),
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.shared_states.len() + self.local_states.len()
    }

    /// Returns the vector of these weights, which are in the order of the columns.
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

    /// Returns weights that no step increases, with sum at most 0 at the start and at least 1
    /// wherever `bad` is covered; `None` if there are none.
    pub fn certificate(
        &self,
        problem: &Problem,
        facts: &Facts,
        bad: &Config,
        limits: &Limits,
    ) -> Result<Option<Vec<f64>>, Unknown> {
        let starts: Vec<Config> =
            problem.initial.iter().map(|f| Config::new(f.shared, f.threads.clone())).collect();
        self.wall(problem, facts, bad, &starts, limits)
    }

    /// Does as [`Equations::certificate`], with other starts; where any number may start, the
    /// number of threads is unbounded.
    fn wall(
        &self,
        problem: &Problem,
        facts: &Facts,
        bad: &Config,
        starts: &[Config],
        limits: &Limits,
    ) -> Result<Option<Vec<f64>>, Unknown> {
        let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
        let columns = self.variables(&mut lp, problem, 1.0);
        self.each_row(&mut lp, &columns, 0.0);
        for start in starts {
            lp.add_constraint(self.value(&columns, start), ComparisonOp::Le, 0.0);
        }
        for (_, terms) in self.goal(&mut lp, &columns, facts, bad) {
            lp.add_constraint(terms, ComparisonOp::Ge, 1.0);
        }
        Ticker::new(limits).ticks(self.effort())?;
        let solved = solve(lp, None, limits)?;
        Ok(solved.ok().map(|s| columns.iter().map(|&column| s.var_value(column)).collect()))
    }

    /// Returns weights, some of them negative, that no step increases, with sum at most 0 at the
    /// start, at least 1 in shared state `s` with a thread at `l`, and not negative for `others`;
    /// `None` if there are none.
    pub fn without_movers(
        &self,
        problem: &Problem,
        s: Shared,
        l: Local,
        others: &[Local],
        limits: &Limits,
    ) -> Result<Option<Vec<f64>>, Unknown> {
        // It is large enough for the counts of programs, and keeps the problem bounded.
        const MOST: f64 = 1000.0;
        let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
        let unbounded: FxHashSet<Local> =
            problem.initial.iter().flat_map(|f| f.any.iter().copied()).collect();
        let others: FxHashSet<Local> = others.iter().copied().collect();
        let mut columns: Vec<microlp::Variable> =
            self.shared_states.iter().map(|_| lp.add_var(0.0, (-MOST, MOST))).collect();
        columns.extend(self.local_states.iter().map(|l| {
            let least = if others.contains(l) { 0.0 } else { -MOST };
            // Any number of threads may start there.
            lp.add_var(0.0, (least, if unbounded.contains(l) { 0.0 } else { MOST }))
        }));
        // People prefer small numbers.
        for &column in &columns {
            let size = lp.add_var(1.0, (0.0, MOST));
            lp.add_constraint([(size, 1.0), (column, -1.0)], ComparisonOp::Ge, 0.0);
            lp.add_constraint([(size, 1.0), (column, 1.0)], ComparisonOp::Ge, 0.0);
        }
        self.each_row(&mut lp, &columns, 0.0);
        for family in &problem.initial {
            let start = Config::new(family.shared, family.threads.clone());
            lp.add_constraint(self.value(&columns, &start), ComparisonOp::Le, 0.0);
        }
        let stuck = Config::new(s, [l].into_iter().collect());
        lp.add_constraint(self.value(&columns, &stuck), ComparisonOp::Ge, 1.0);
        Ticker::new(limits).ticks(self.effort())?;
        let solved = solve(lp, None, limits)?;
        Ok(solved.ok().map(|s| columns.iter().map(|&column| s.var_value(column)).collect()))
    }

    /// Returns weights that give the best lower bound of the steps from `from` to `goal`, and lower
    /// bounds from everywhere else.
    pub fn bearings(
        &self,
        problem: &Problem,
        facts: &Facts,
        goal: &Config,
        from: &Config,
        limits: &Limits,
    ) -> Result<Bearings, Unknown> {
        let mut lp = microlp::Problem::new(OptimizationDirection::Maximize);
        let columns = self.variables(&mut lp, problem, 0.0);
        self.each_row(&mut lp, &columns, 1.0);
        // Only differences matter, so the sum here can be fixed to 0.
        lp.add_constraint(self.value(&columns, from), ComparisonOp::Eq, 0.0);
        let there = lp.add_var(1.0, (0.0, f64::INFINITY));
        for (_, mut terms) in self.goal(&mut lp, &columns, facts, goal) {
            terms.add(there, -1.0);
            lp.add_constraint(terms, ComparisonOp::Ge, 0.0);
        }
        Ticker::new(limits).ticks(self.effort())?;
        let (numbers, goal, infinite) = match solve(lp, None, limits)? {
            Ok(s) => (columns.iter().map(|&c| s.var_value(c)).collect(), s.var_value(there), false),
            Err(NoSolution::TooHard) => (vec![0.0; columns.len()], 0.0, false),
            // No number of steps suffices: weights that show this also hold elsewhere.
            Err(NoSolution::None) => {
                match self.wall(problem, facts, goal, std::slice::from_ref(from), limits)? {
                    Some(numbers) => (numbers, 1.0, true),
                    None => (vec![0.0; columns.len()], 0.0, false),
                }
            }
        };
        let (shared, locals) = numbers.split_at(self.shared_states.len());
        Ok(Bearings {
            shared: self.shared_states.iter().copied().zip(shared.iter().copied()).collect(),
            locals: self.local_states.iter().copied().zip(locals.iter().copied()).collect(),
            goal,
            infinite,
        })
    }

    /// Adds a variable for each column; local states cost `price` each.
    pub(super) fn variables(
        &self,
        lp: &mut microlp::Problem,
        problem: &Problem,
        price: f64,
    ) -> Vec<microlp::Variable> {
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let unbounded: FxHashSet<Local> =
            problem.initial.iter().flat_map(|f| f.any.iter().copied()).collect();
        let mut columns: Vec<microlp::Variable> =
            self.shared_states.iter().map(|_| lp.add_var(0.0, free)).collect();
        columns.extend(self.local_states.iter().map(|l| {
            // Any number of threads may start there, so their weight must be 0.
            lp.add_var(price, (0.0, if unbounded.contains(l) { 0.0 } else { f64::INFINITY }))
        }));
        columns
    }

    /// Requires that no step raises the sum by more than `most`.
    fn each_row(&self, lp: &mut microlp::Problem, columns: &[microlp::Variable], most: f64) {
        for row in &self.rows {
            let terms = row.change.iter().map(|&(column, n)| (columns[column as usize], f64::from(n)));
            lp.add_constraint(terms.collect::<LinearExpr>(), ComparisonOp::Le, most);
        }
    }

    /// Returns the sum at `config`; unbounded numbers of threads contribute nothing.
    pub(super) fn value(&self, columns: &[microlp::Variable], config: &Config) -> LinearExpr {
        let mut terms = LinearExpr::empty();
        if let Some(&s) = self.shared.get(&config.shared) {
            terms.add(columns[s as usize], 1.0);
        }
        for &(l, n) in config.threads.entries().iter().filter(|e| e.1 != OMEGA) {
            if let Some(&column) = self.locals.get(&l) {
                terms.add(columns[column as usize], f64::from(n));
            }
        }
        terms
    }

    /// Returns, for each shared state with which `bad` may be covered, its column and (at most) the
    /// sum there.
    pub(super) fn goal(
        &self,
        lp: &mut microlp::Problem,
        columns: &[microlp::Variable],
        facts: &Facts,
        bad: &Config,
    ) -> Vec<(u32, LinearExpr)> {
        let mut sums = Vec::new();
        for (s, threads) in facts.meeting(bad) {
            let Some(&s) = self.shared.get(&s) else { continue };
            let mut terms: FxHashMap<u32, f64> = FxHashMap::default();
            let mut sum = LinearExpr::empty();
            sum.add(columns[s as usize], 1.0);
            for (fitting, n) in threads {
                let known: Vec<u32> = fitting.iter().filter_map(|l| self.locals.get(l).copied()).collect();
                match known[..] {
                    [] => {}
                    [only] => *terms.entry(only).or_default() += f64::from(n),
                    _ => {
                        let least = lp.add_var(0.0, (0.0, f64::INFINITY));
                        for l in known {
                            let below = [(least, 1.0), (columns[l as usize], -1.0)];
                            lp.add_constraint(below, ComparisonOp::Le, 0.0);
                        }
                        sum.add(least, f64::from(n));
                    }
                }
            }
            let mut terms: Vec<(u32, f64)> = terms.into_iter().collect();
            terms.sort_unstable_by_key(|e| e.0);
            terms.into_iter().for_each(|(column, n)| sum.add(columns[column as usize], n));
            sums.push((s, sum));
        }
        sums
    }

    /// Returns the cost of solving in ticks: an estimate that is the same on every machine.
    pub fn effort(&self) -> u32 {
        let entries: usize = self.rows.iter().map(|row| row.change.len()).sum();
        u32::try_from(entries * self.columns().min(64) / 8).unwrap_or(u32::MAX)
    }
}

/// Sums up the coefficients of each column.
fn summed(mut row: Change) -> Change {
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

/// Weights of states such that no step raises the sum by more than 1.
pub struct Bearings {
    shared: FxHashMap<Shared, f64>,
    locals: FxHashMap<Local, f64>,
    /// The sum at the goal.
    goal: f64,
    /// True if no step raises the sum at all.
    infinite: bool,
}

impl Bearings {
    /// Returns a lower bound of the number of steps to the goal.
    pub fn distance(&self, config: &Config) -> f64 {
        let finite = config.threads.entries().iter().filter(|e| e.1 != OMEGA);
        let threads = finite.map(|&(l, n)| self.locals.get(&l).copied().unwrap_or(0.0) * f64::from(n));
        let here = self.shared.get(&config.shared).copied().unwrap_or(0.0) + threads.sum::<f64>();
        let rest = self.goal - here;
        if rest < 1e-6 {
            0.0
        } else if self.infinite {
            f64::INFINITY
        } else {
            rest
        }
    }
}

/// Why there is no solution.
pub(crate) enum NoSolution {
    /// None exists, or the optimum is unbounded.
    None,
    /// Solving takes too long (branch and bound need not end if variables have no bounds), or fails
    /// in floating point.
    TooHard,
}

/// Returns the best solution, if there is one. Solves in slices, between which limits are checked;
/// each costs some of `patience`, if that is limited.
pub(crate) fn solve(
    mut lp: microlp::Problem,
    mut patience: Option<&mut u32>,
    limits: &Limits,
) -> Result<Result<microlp::Solution, NoSolution>, Unknown> {
    lp.set_time_limit(SLICE);
    let mut interrupted = None;
    loop {
        limits.check()?;
        if let Some(patience) = &mut patience {
            match patience.checked_sub(1) {
                None => return Ok(Err(NoSolution::TooHard)),
                Some(left) => **patience = left,
            }
        }
        let outcome = match interrupted.take() {
            None => lp.solve(),
            Some(interrupted) => SolveOutcome::resume(interrupted),
        };
        match outcome {
            Ok(SolveOutcome::Solution(solution)) => return Ok(Ok(solution)),
            Ok(unfinished @ SolveOutcome::Interrupted(_)) => interrupted = Some(unfinished),
            Err(Error::Infeasible | Error::Unbounded) => return Ok(Err(NoSolution::None)),
            Err(_) => return Ok(Err(NoSolution::TooHard)),
        }
    }
}
