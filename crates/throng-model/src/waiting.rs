//! Threads that wait in a loop.
//!
//! A thread whose next statement belongs to a loop in which it may do nothing but read (the front end
//! says which, [`Waits`]) can move, but to no avail: with the shared state as it is, all that it can do *alone*
//! leaves that state as it is, starts and wakes no thread, and comes back or waits, whatever it
//! chooses. Such a thread waits as one does that cannot move at all, and only others can change
//! that. The front end only names the places; that nothing changes and that there is no way out is
//! established here, step by step, for the state at hand.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::stuck::live_members;
use crate::{Bystanders, Incomplete, Local, Model, Shared, Step};

/// Maximum number of states of one thread in a loop.
const MOST: usize = 1 << 12;

/// What a model knows about waiting, beside its steps.
pub trait Waits {
    /// Returns the loop that only reads, whatever the values, to which the next statement of a thread
    /// belongs, by some number.
    fn loop_of(&self, l: Local) -> Option<u32>;

    /// Returns the loop to which the next statement of a thread belongs if some way around it may
    /// change nothing: a thread may wait there although it can move.
    fn possible_loop_of(&self, l: Local) -> Option<u32>;

    /// Returns whether the next statement of a thread is that at `place`, or inside of the loop that
    /// begins there; of a loop in which threads may wait.
    fn is_inside(&self, place: Local, l: Local) -> bool;

    /// Returns whether a thread that cannot move in `s` waits for others: not if the process has
    /// ended, or an assumption has stopped it.
    fn is_waiting(&self, s: Shared, l: Local) -> Result<bool, Incomplete>;

    /// Returns whether in `s` only the thread inside an atomic section can move.
    fn is_alone(&self, s: Shared) -> bool;

    /// Returns whether stuck threads are asked for where a thread is; `None` if that is for the
    /// target to say, which lists the states.
    fn is_asked(&self, l: Local) -> Option<bool>;
}

/// Returns whether a thread may wait in a loop.
pub fn is_in_loop(model: &dyn Model, l: Local) -> bool {
    model.waits().is_some_and(|waits| waits.possible_loop_of(l).is_some())
}

/// Returns whether both states are in the same loop in which threads may wait.
pub fn may_be_in_same_loop(model: &dyn Model, a: Local, b: Local) -> bool {
    let of =
        |waits: &dyn Waits| waits.possible_loop_of(a).filter(|of| waits.possible_loop_of(b) == Some(*of));
    model.waits().and_then(of).is_some()
}

/// Returns whether both states are in the same waiting loop.
pub fn is_in_same_loop(model: &dyn Model, a: Local, b: Local) -> bool {
    model.waits().is_some_and(|waits| waits.loop_of(a).is_some_and(|of| waits.loop_of(b) == Some(of)))
}

/// Returns whether a step does nothing that others can tell but, perhaps, to change the shared
/// state; and the thread that takes it lives.
fn is_private(step: &Step) -> bool {
    step.spawn.is_empty() && step.others == Bystanders::Stay && (step.take.size(), step.put.size()) == (1, 1)
}

/// Returns where a thread in a waiting loop comes by its next step, or the atomic section that it
/// begins with, if it stays in that loop whatever it does, and others cannot tell that it moved.
/// Empty: it cannot move. States are plain.
pub fn around(model: &dyn Model, s: Shared, l: Local) -> Result<Option<Vec<Local>>, Incomplete> {
    let Some(waits) = model.waits() else { return Ok(None) };
    let Some(here) = waits.possible_loop_of(l) else { return Ok(None) };
    let mut seen: IndexSet<(Shared, Local), FxBuildHasher> = IndexSet::from_iter([(s, l)]);
    let (mut next, mut steps, mut found) = (0, Vec::new(), Vec::new());
    while let Some(&(at, l)) = seen.get_index(next) {
        steps.clear();
        model.post(at, l, &mut steps)?;
        if steps.is_empty() && at != s {
            return Ok(None);
        }
        few(seen.len())?;
        for step in &steps {
            if !is_private(step) || step.from != at {
                return Ok(None);
            }
            let to = step.put.entries().iter().flat_map(|e| live_members(model, e.0));
            let to: Vec<Local> = to.collect();
            if step.to == s && to.iter().all(|&l| waits.possible_loop_of(l) == Some(here)) {
                found.extend(to);
            } else if waits.is_alone(step.to) {
                seen.extend(to.into_iter().map(|l| (step.to, l)));
            } else {
                return Ok(None);
            }
        }
        next += 1;
    }
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}

/// Fails if a thread has so many states in a loop that it is not known whether it leaves.
fn few(states: usize) -> Result<(), Incomplete> {
    match states <= MOST {
        true => Ok(()),
        false => {
            Err(Incomplete("a thread goes around a loop in too many ways to see whether it waits".into()))
        }
    }
}

/// Returns whether a thread at `l` waits in `s` as long as the shared state stays as it is: it
/// cannot move, or all that it can do alone is to go around a waiting loop. States are plain.
pub fn waits_alone(model: &dyn Model, s: Shared, l: Local) -> Result<bool, Incomplete> {
    let mut seen: IndexSet<Local, FxBuildHasher> = IndexSet::from_iter([l]);
    let mut next = 0;
    while let Some(&l) = seen.get_index(next) {
        next += 1;
        few(seen.len())?;
        match around(model, s, l)? {
            Some(to) if !to.is_empty() => seen.extend(to),
            _ => {
                if !is_waiting(model, s, l)? || is_moving(model, s, l)? {
                    return Ok(false);
                }
                let mut steps = Vec::new();
                let listed = model.post(s, l, &mut steps);
                if !steps.is_empty() {
                    return Ok(false);
                }
                // A plain model has answered for this thread alone; what it left open elsewhere does
                // not matter here.
                if !(model.is_exact() && model.waits().is_some()) {
                    listed?;
                }
            }
        }
    }
    Ok(true)
}

/// Returns whether a thread can move, if only to violate an assertion, in a model of sets.
fn is_moving(model: &dyn Model, s: Shared, l: Local) -> Result<bool, Incomplete> {
    let mut parts = Vec::new();
    if let Some(sets) = model.sets() {
        sets.moving(s, l, &mut parts)?;
    }
    Ok(!parts.is_empty())
}

/// Returns whether a thread that cannot move waits for others.
pub fn is_waiting(model: &dyn Model, s: Shared, l: Local) -> Result<bool, Incomplete> {
    model.waits().map_or(Ok(true), |waits| waits.is_waiting(s, l))
}
