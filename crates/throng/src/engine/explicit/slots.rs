//! The same search without counter abstraction: every thread has a slot of its own, for measuring what counting brings.
//!
//! A configuration is then a sequence of local states, and sequences that differ only in the order of threads are different. The thread
//! that leads a step keeps its slot; one that is created gets the next; where one ends, those behind it move up.
//!
//! Invariant: forgetting the order maps the successors of a sequence exactly onto the successors of its multiset. So what is reached, the
//! fewest threads, the lengths of shortest runs and the evidence are those of the search that counts.

use super::steps::{Compiled, Group, Scratch, Sink, Steps, deal};
use crate::engine::levels::SizeLimit;
use throng_model::Bystanders;
use throng_model::verdict::Unknown;

/// Threads that a search without counting can start with at most.
pub const MOST: u32 = 1 << 16;

/// A step between sequences.
#[derive(Debug, Default)]
pub struct InSlots {
    /// The threads it takes, one by one.
    take: Vec<u32>,
    /// What they become. The first thread taken becomes the first of these, and so on.
    put: Vec<u32>,
    /// The threads it creates.
    spawn: Vec<u32>,
}

impl InSlots {
    /// The step that takes, puts and creates so many.
    pub fn new(take: &[(u32, u32)], put: &[(u32, u32)], spawn: &[(u32, u32)]) -> InSlots {
        let list = |entries| one_each(entries).collect();
        InSlots { take: list(take), put: list(put), spawn: list(spawn) }
    }
}

/// Every thread of a multiset.
pub fn one_each(entries: &[(u32, u32)]) -> impl Iterator<Item = u32> + '_ {
    entries.iter().flat_map(|&(l, n)| std::iter::repeat_n(l, n as usize))
}

/// Fires a step led by the thread in slot `leader` in every way, and says how many of these there are.
pub fn fire(
    steps: &Steps,
    step: &Compiled,
    leader: Option<usize>,
    creates: bool,
    scratch: &mut Scratch,
    room: SizeLimit,
    sink: &mut impl Sink,
) -> Result<u64, Unknown> {
    // Else there may be very many ways to choose some of them.
    let there = |l: u32| scratch.config.entries.iter().filter(|e| e.0 == l).count() as i64;
    if step.take.iter().any(|&(l, n)| there(l) < n) {
        return Ok(0);
    }
    let mut taken = std::mem::take(&mut scratch.taken);
    taken.clear();
    let fired = choose(step, leader, &mut taken, scratch, &mut |taken, scratch| {
        fire_taken(steps, step, taken, creates, scratch, room, sink)
    });
    scratch.taken = taken;
    fired
}

/// Calls `found` with every way to take threads, the leader among them; `taken` are the slots of the first ones.
fn choose(
    step: &Compiled,
    leader: Option<usize>,
    taken: &mut Vec<usize>,
    scratch: &mut Scratch,
    found: &mut impl FnMut(&[usize], &mut Scratch) -> Result<(), Unknown>,
) -> Result<u64, Unknown> {
    let Some(&l) = step.in_slots.take.get(taken.len()) else {
        found(taken, scratch)?;
        return Ok(1);
    };
    let is_led = |slot: usize| scratch.config.entries[slot].0 == l;
    // The leader is the first taken of its local state.
    let slots = match leader.filter(|&slot| is_led(slot) && !taken.contains(&slot)) {
        Some(leader) => leader..leader + 1,
        None => 0..scratch.config.entries.len(),
    };
    let mut fired = 0;
    for slot in slots {
        if scratch.config.entries[slot].0 == l && !taken.contains(&slot) {
            taken.push(slot);
            fired += choose(step, leader, taken, scratch, found)?;
            taken.pop();
        }
    }
    Ok(fired)
}

/// Fires a step that takes the threads in these slots.
fn fire_taken(
    steps: &Steps,
    step: &Compiled,
    taken: &[usize],
    creates: bool,
    scratch: &mut Scratch,
    room: SizeLimit,
    sink: &mut impl Sink,
) -> Result<(), Unknown> {
    let Scratch { config, packer, entries, .. } = scratch;
    let others = || (0..config.entries.len()).filter(|slot| !taken.contains(slot));
    let mut emit = |fate_of: &dyn Fn(usize) -> Option<u32>| {
        sink.one_of_many()?;
        arrange(step, taken, &config.entries, creates, fate_of, entries);
        if room.admits(entries.len() as u64, sink) {
            sink.successor(packer.pack(step.to, entries), step.may_hit);
        }
        Ok(())
    };
    let stays = |slot: usize| Some(config.entries[slot].0);
    match step.others {
        Bystanders::Stay => emit(&stays)?,
        Bystanders::WakeOne => {
            let waiting =
                others().filter_map(|slot| Some((slot, steps.woken(step, config.entries[slot].0)?)));
            let mut lost = true;
            for (woken, l) in waiting {
                emit(&|slot| if slot == woken { Some(l) } else { stays(slot) })?;
                lost = false;
            }
            if lost {
                emit(&stays)?;
            }
        }
        Bystanders::Transfer => {
            let groups: Vec<Group<'_>> =
                others().map(|slot| (1, steps.fates(step, config.entries[slot].0))).collect();
            // A thread whose presence blocks the step.
            if groups.iter().any(|g| g.1.is_empty()) {
                return Ok(());
            }
            let mut fates = vec![None; config.entries.len()];
            return deal(&groups, 0, &mut Vec::new(), &mut |chosen| {
                others().zip(chosen.iter().filter(|c| c.1 > 0)).for_each(|(slot, c)| fates[slot] = c.0);
                emit(&|slot| fates[slot])
            });
        }
    }
    Ok(())
}

/// Writes to `after` what the sequence becomes, given what becomes of bystanders.
fn arrange(
    step: &Compiled,
    taken: &[usize],
    before: &[(u32, u32)],
    creates: bool,
    fate_of: &dyn Fn(usize) -> Option<u32>,
    after: &mut Vec<(u32, u32)>,
) {
    let InSlots { put, spawn, .. } = &step.in_slots;
    if let (&[slot], &[l], Bystanders::Stay, false) = (taken, &put[..], step.others, creates) {
        // The usual step.
        after.clear();
        after.extend_from_slice(before);
        after[slot].0 = l;
        return;
    }
    let place_of = |slot| match taken.iter().position(|&t| t == slot) {
        Some(i) => put.get(i).copied(),
        None => fate_of(slot),
    };
    after.clear();
    after.extend((0..before.len()).filter_map(place_of).map(|l| (l, 1)));
    after.extend(put.iter().skip(taken.len()).map(|&l| (l, 1)));
    if creates {
        after.extend(spawn.iter().map(|&l| (l, 1)));
    }
}
