//! Deadlocks: configurations in which no thread can ever move again although some thread has not
//! ended.
//!
//! Larger configurations may be able to move, so deadlocks are not upward closed: being one is a
//! property of a whole configuration, which is defined here. A thread that is about to violate an
//! assertion can move.
//!
//! A thread that can only go around a waiting loop ([`crate::waiting`]) waits as well: only
//! others could end that, so a configuration of which all threads wait or have ended stays as it is
//! for ever.
//!
//! Where states are sets, a configuration stands for many, and some of them may be deadlocks
//! although others can move. Whether a thread can move depends on the shared variables and on its
//! own; so removing the parts that can move is exact for each thread by itself, and threads have to
//! agree on the shared part only. Where the presence of others blocks
//! ([`crate::Traits::blocking`]), this does not hold, and states must be plain.

use crate::cubes::Cubes;
use crate::stuck::{live_members, members};
use crate::waiting::{is_in_loop, waits_alone};
use crate::{Bystanders, Config, Incomplete, Local, Model, Shared, Step, semantics};

/// A part of a state: a shared and a local one.
type Part = (Shared, Local);

/// Maximum number of parts that a state may be split into.
const MOST_PARTS: usize = 1 << 12;

fn too_many() -> Incomplete {
    Incomplete("whether a thread can move depends on too many variables".into())
}

/// Returns a part of `config`, which has finite counts, such that all of it is a deadlock; `None`
/// if no concrete configuration of it is one.
pub fn deadlocked(
    model: &dyn Model,
    config: &Config,
    bound: Option<u32>,
) -> Result<Option<Config>, Incomplete> {
    let threads = config.threads.entries();
    if threads.iter().all(|e| model.has_ended(e.0)) {
        return Ok(None);
    }
    if knows_who_waits(model) {
        return waiting(model, config);
    }
    match blocked(model, config, bound)? {
        None if threads.iter().any(|e| is_in_loop(model, e.0)) => {
            // Of the others, one that moves whatever the member is rules a deadlock out at once.
            for &(l, _) in threads.iter().filter(|e| !is_in_loop(model, e.0) && !model.has_ended(e.0)) {
                if always_moves(model, config.shared, l)? {
                    return Ok(None);
                }
            }
            waiting(model, config)
        }
        found => Ok(found),
    }
}

/// Returns whether a plain model says of each thread alone whether it waits: one that an assumption
/// has stopped, for example, does not.
fn knows_who_waits(model: &dyn Model) -> bool {
    model.is_exact() && model.waits().is_some()
}

/// Returns a member of `config` in which all threads wait, in loops or not.
fn waiting(model: &dyn Model, config: &Config) -> Result<Option<Config>, Incomplete> {
    if model.blocking().is_some() {
        return Ok(None);
    }
    'members: for member in members(model, config)? {
        let mut steps = Vec::new();
        let listed = model.post_shared(member.shared, &mut steps);
        if !steps.is_empty() {
            continue;
        }
        // In a model that knows who waits, threads lead all steps.
        if !knows_who_waits(model) {
            listed?;
        }
        for &(l, _) in member.threads.entries() {
            if !model.has_ended(l) && !waits_alone(model, member.shared, l)? {
                continue 'members;
            }
        }
        return Ok(Some(member));
    }
    Ok(None)
}

/// Returns a part of `config` in which no thread can move at all, not even around a waiting loop; of
/// threads that have ended nothing is known here.
pub fn blocked(model: &dyn Model, config: &Config, bound: Option<u32>) -> Result<Option<Config>, Incomplete> {
    let threads = config.threads.entries();
    if model.is_exact() {
        let mut after = Vec::new();
        semantics::successors(model, config, bound, &mut after)?;
        return Ok(after.is_empty().then(|| config.clone()));
    }
    let mut steps = Vec::new();
    model.post_shared(config.shared, &mut steps)?;
    if !steps.is_empty() {
        return Ok(None);
    }
    let mut found: Vec<Config> = vec![Config::new(config.shared, Default::default())];
    for &(l, n) in threads {
        let mut further = Vec::new();
        for (s, stuck) in stuck_parts(model, config.shared, l)? {
            for part in &found {
                if let Some(shared) = model.meet_shared(part.shared, s) {
                    let mut part = Config::new(shared, part.threads.clone());
                    part.threads.insert(stuck, n);
                    further.push(part);
                }
            }
        }
        // The local states are only for people: one combination for each shared part suffices.
        further.sort_unstable();
        further.dedup_by_key(|c| c.shared);
        if further.len() > MOST_PARTS {
            return Err(too_many());
        }
        found = further;
    }
    Ok(found.into_iter().next())
}

/// Returns whether a thread at `l` can be unable to move in shared state `s` by itself, whatever
/// other threads there are, other than around a waiting loop; or need not.
pub fn may_be_stuck(model: &dyn Model, s: Shared, l: Local) -> Result<bool, Incomplete> {
    if model.has_ended(l) {
        return Ok(true);
    }
    if knows_who_waits(model) {
        return waits_alone(model, s, l);
    }
    if is_in_loop(model, l) {
        for s in model.members_shared(s) {
            for l in live_members(model, l) {
                if waits_alone(model, s, l)? {
                    return Ok(true);
                }
            }
        }
    }
    if model.is_exact() {
        let mut steps = Vec::new();
        model.post(s, l, &mut steps)?;
        // A step that takes further threads may lack them.
        let alone = |step: &Step| step.take.size() <= 1;
        return Ok(!steps.iter().any(alone));
    }
    Ok(!stuck_parts(model, s, l)?.is_empty())
}

/// Returns whether a thread at `l` can move in `s` by itself, whatever other threads there are and
/// whichever members of the states they are.
pub fn always_moves(model: &dyn Model, s: Shared, l: Local) -> Result<bool, Incomplete> {
    if !model.is_exact() {
        return Ok(stuck_parts(model, s, l)?.is_empty());
    }
    let mut steps = Vec::new();
    model.post(s, l, &mut steps)?;
    Ok(steps.iter().any(|step| step.take.size() <= 1))
}

/// Returns whether a step is enabled in `s` whatever threads there are.
pub fn moves_by_itself(model: &dyn Model, s: Shared) -> Result<bool, Incomplete> {
    let mut steps = Vec::new();
    model.post_shared(s, &mut steps)?;
    Ok(steps.iter().any(|step| step.others != Bystanders::Transfer || model.blocking().is_none()))
}

/// Returns the parts of a shared and a local state in which a thread there cannot move.
fn stuck_parts(model: &dyn Model, s: Shared, l: Local) -> Result<Vec<Part>, Incomplete> {
    let Some(sets) = model.sets() else { return Ok(Vec::new()) };
    let mut moving = Vec::new();
    sets.moving(s, l, &mut moving)?;
    let mut left = vec![(s, l)];
    for part in moving {
        let mut further = Vec::new();
        left.into_iter().for_each(|whole| without(sets.cubes(), whole, part, &mut further));
        if further.len() > MOST_PARTS {
            return Err(too_many());
        }
        left = further;
    }
    Ok(left)
}

/// Appends parts that together are `whole` without `part`.
fn without(cubes: &dyn Cubes, whole: Part, part: Part, out: &mut Vec<Part>) {
    let ((inside, shared), (point, local)) = (cubes.shared_cube(whole.0), cubes.local_cube(whole.1));
    let ((_, gone_shared), (_, gone_local)) = (cubes.shared_cube(part.0), cubes.local_cube(part.1));
    let split = shared.len();
    let mut masks: Vec<u8> = shared.iter().chain(&local).copied().collect();
    let gone: Vec<u8> = gone_shared.iter().chain(&gone_local).copied().collect();
    if masks.iter().zip(&gone).any(|(m, g)| m & g == 0) {
        out.push(whole);
        return;
    }
    for (i, g) in gone.into_iter().enumerate() {
        let (kept, rest) = (masks[i] & !g, masks[i] & g);
        if kept != 0 {
            masks[i] = kept;
            out.push((
                cubes.encode_shared(inside, &masks[..split]),
                cubes.encode_local(point, &masks[split..]),
            ));
            masks[i] = rest;
        }
    }
}
