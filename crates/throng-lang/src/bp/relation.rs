//! Executing statements, forward and backward, with one solver.
//!
//! An [`Effect`] is a relation between values before and after. [`solve`] takes the known values of
//! both sides, as masks, and lists cubes whose union is exactly the relation: going forward the old
//! side is known and the new one free, going backward the other way round. Where a condition is
//! neither sure nor impossible it fixes one free variable that matters and tries both values;
//! variables that the statement does not mention are never fixed.
//!
//! In a solution, *every* choice of values for the variables that are still free satisfies the
//! guards and constraints, and every new value that is still free can be assigned. Going backward,
//! a new value that nothing reads may stay free even if the assigned expression depends on old free
//! values: for each of these, *some* new value results, and the caller accepts any.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

use smallvec::SmallVec;

use super::expr::{Cube, Expr, FREE, ONE, Var, ZERO, mask};
use super::program::{BystanderEffect, Effect};
use throng_model::StopCheck;

/// The known values of one step. Only the fields that an effect's variables name are read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Env {
    /// Shared variables before.
    pub shared: Cube,
    /// Slots of the active thread before.
    pub local: Cube,
    /// New values, one per assignment of the active thread.
    pub new: SmallVec<[u8; 8]>,
    /// Variables of a bystander before.
    pub other: Cube,
    /// New values, one per assignment of the bystander.
    pub other_new: SmallVec<[u8; 8]>,
}

impl Env {
    fn get(&self, v: Var) -> u8 {
        match v {
            Var::Shared(i) => self.shared[i as usize],
            Var::Local(i) => self.local[i as usize],
            Var::New(i) => self.new[i as usize],
            // A view may lack the frame's part, which then is not read.
            Var::Other(i) => self.other.get(i as usize).copied().unwrap_or(FREE),
            Var::OtherNew(i) => self.other_new[i as usize],
        }
    }

    fn set(&mut self, v: Var, mask: u8) {
        match v {
            Var::Shared(i) => self.shared[i as usize] = mask,
            Var::Local(i) => self.local[i as usize] = mask,
            Var::New(i) => self.new[i as usize] = mask,
            Var::Other(i) => self.other[i as usize] = mask,
            Var::OtherNew(i) => self.other_new[i as usize] = mask,
        }
    }
}

/// The side of a step that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The old side.
    Forward,
    /// The new side.
    Backward,
}

/// A condition on a solution.
enum Condition<'a> {
    /// The expression can take the value.
    Can(&'a Expr, bool),
    /// The new value is one that the expression can take.
    Assigned(Var, &'a Expr),
    /// The variable has one value.
    Fixed(Var),
}

/// Maximum number of case splits for one statement. An exclusive or of forty free variables has 2⁴⁰
/// cases; a search could not list them, so it gets the error that the list is incomplete.
const MOST_SPLITS: u32 = 1 << 13;

/// The limits of the running search: a statement with thousands of long cases may take longer than
/// they allow.
#[derive(Default)]
pub struct Patience {
    over: RwLock<Option<StopCheck>>,
    splits: AtomicU32,
}

impl std::fmt::Debug for Patience {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Patience")
    }
}

impl Patience {
    /// Number of splits between two checks.
    const EVERY: u32 = 256;

    /// Sets the function that decides whether the search has to stop.
    pub fn set_stop_check(&self, over: Option<StopCheck>) {
        *self.over.write().unwrap_or_else(PoisonError::into_inner) = over;
    }

    /// Returns whether the search has to stop.
    pub fn is_over(&self) -> bool {
        self.over.read().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|over| over())
    }

    /// Counts a split; returns whether the search has to stop.
    fn ends(&self) -> bool {
        let count = self.splits.fetch_add(1, Ordering::Relaxed);
        count % Self::EVERY == Self::EVERY - 1 && self.is_over()
    }
}

/// The remaining splits, and the limits.
struct Budget<'a> {
    splits: u32,
    patience: &'a Patience,
}

impl Budget<'_> {
    /// Counts a split; returns whether it is allowed.
    fn split(&mut self) -> bool {
        self.splits = self.splits.saturating_sub(1);
        self.splits > 0 && !self.patience.ends()
    }
}

/// Appends the solutions of the active thread's part of an effect within `env`; returns `false` if
/// there are too many, or `patience` is over, so that some are missing.
///
/// New values that are never observed (`faint`, by assignment; none if empty) stay open.
pub fn solve(
    effect: &Effect,
    env: Env,
    direction: Direction,
    faint: &[bool],
    patience: &Patience,
    out: &mut Vec<Env>,
) -> bool {
    let is_faint = |i: usize| faint.get(i).copied().unwrap_or(false);
    let mut conditions = Vec::new();
    conditions.extend(effect.guards.iter().map(|(e, v)| Condition::Can(e, *v)));
    for (i, (_, e)) in effect.assigns.iter().enumerate() {
        let matters = direction == Direction::Forward && !is_faint(i);
        if matters || effect.new_is_read[i] || env.new[i] != FREE {
            conditions.push(Condition::Assigned(Var::New(i as u32), e));
        }
    }
    conditions.extend(effect.constraints.iter().map(|e| Condition::Can(e, true)));
    conditions.extend(effect.resolve.iter().map(|&v| Condition::Fixed(v)));
    settle(&conditions, env, out, &mut Budget { splits: MOST_SPLITS, patience })
}

/// Appends the solutions of the bystander's part; the active thread's values are fixed in `env`.
/// Returns `false` if some are missing.
pub fn solve_other(
    others: &BystanderEffect,
    env: Env,
    direction: Direction,
    patience: &Patience,
    out: &mut Vec<Env>,
) -> bool {
    let mut conditions = Vec::new();
    conditions.extend(others.guards.iter().map(|(e, v)| Condition::Can(e, *v)));
    for (i, (_, e)) in others.assigns.iter().enumerate() {
        if direction == Direction::Forward || others.new_is_read[i] || env.other_new[i] != FREE {
            conditions.push(Condition::Assigned(Var::OtherNew(i as u32), e));
        }
    }
    conditions.extend(others.constraints.iter().map(|e| Condition::Can(e, true)));
    settle(&conditions, env, out, &mut Budget { splits: MOST_SPLITS, patience })
}

/// Appends cubes over `shared` and `local` whose union is the set of values for which `e` can be
/// `value`; returns `false` if some are missing.
pub fn solve_guard(e: &Expr, value: bool, shared: Cube, local: Cube, out: &mut Vec<Env>) -> bool {
    let budget = &mut Budget { splits: MOST_SPLITS, patience: &Patience::default() };
    settle(&[Condition::Can(e, value)], Env { shared, local, ..Env::default() }, out, budget)
}

/// Establishes the conditions one after the other. Fixing a variable does not affect earlier
/// conditions: what is sure stays so.
fn settle(mut conditions: &[Condition], mut env: Env, out: &mut Vec<Env>, budget: &mut Budget) -> bool {
    while let Some((first, later)) = conditions.split_first() {
        let Ok(split) = examine(first, &mut env) else { return true };
        let Some(v) = split else {
            conditions = later;
            continue;
        };
        if !budget.split() {
            return false;
        }
        let mut zero = env.clone();
        zero.set(v, ZERO);
        if !settle(conditions, zero, out, budget) {
            return false;
        }
        env.set(v, ONE);
    }
    out.push(env);
    true
}

/// Evaluates a condition: `Err` if it cannot hold, else the free variable on which it depends, if
/// any.
fn examine(condition: &Condition, env: &mut Env) -> Result<Option<Var>, ()> {
    let (e, wanted) = match condition {
        Condition::Fixed(v) => return Ok((env.get(*v) == FREE).then_some(*v)),
        Condition::Can(e, value) => (e, mask(*value)),
        Condition::Assigned(new, e) => (e, env.get(*new)),
    };
    let values = e.eval(&|v| env.get(v));
    let possible = values.can & wanted;
    if possible == 0 {
        return Err(());
    }
    if values.sure & possible != possible {
        return Ok(e.find_free(&|v| env.get(v)));
    }
    if let Condition::Assigned(new, _) = condition {
        env.set(*new, possible);
    }
    Ok(None)
}
