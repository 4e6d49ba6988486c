//! Which slices of the monitor a program needs.

use crate::order::Order;
use crate::rules::{Access, Class, Kind, Location};
use std::collections::BTreeSet;

/// An instruction that accesses a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// Its access.
    pub access: Access,
    /// Returns whether it waits for some values, or takes another way for them: only some values
    /// let it make this access.
    pub selects: bool,
}

/// A location that is accessed both with and without an order, which is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mixed(pub Location);

/// The slices that a program with these instructions needs: if none of them is violated, the
/// program is robust and free of races.
pub fn slices(instructions: &[Instruction]) -> Result<Vec<(Location, Class)>, Mixed> {
    let accesses = || instructions.iter().filter(|i| i.access.is_access());
    let locations: BTreeSet<Location> = accesses().map(|i| i.access.location).collect();
    let mut found = Vec::new();
    for location in locations {
        let here: Vec<Instruction> = accesses().filter(|i| i.access.location == location).copied().collect();
        let plain = here.iter().filter(|i| i.access.order == Order::Plain).count();
        if plain != 0 && plain != here.len() {
            return Err(Mixed(location));
        }
        let classes = if plain != 0 { of_plain(&here) } else { of_atomic(&here) };
        found.extend(classes.into_iter().map(|class| (location, class)));
    }
    Ok(found)
}

/// What is never written cannot race.
fn of_plain(here: &[Instruction]) -> Vec<Class> {
    let written = here.iter().any(|i| i.access.writes());
    let read = here.iter().any(|i| i.access.reads());
    let classes = [(written, Class::LastWrite), (written && read, Class::Watched)];
    classes.into_iter().filter(|(needed, _)| *needed).map(|(_, class)| class).collect()
}

/// The classes of stale writes that instructions ask for. What only read-modify-writes write has no
/// stale write that none of them has read.
fn of_atomic(here: &[Instruction]) -> Vec<Class> {
    let written = here.iter().any(|i| i.access.writes());
    let stored = here.iter().any(|i| i.access.kind == Kind::Store);
    let some = |of: fn(&Access) -> bool, selects| here.iter().any(|i| of(&i.access) && i.selects == selects);
    let classes = [
        (written && some(Access::reads_only, false), Class::Any),
        (written && some(Access::reads_only, true), Class::Valued),
        (stored && some(Access::writes, false), Class::AnyUnread),
        (stored && some(Access::writes, true), Class::ValuedUnread),
    ];
    classes.into_iter().filter(|(needed, _)| *needed).map(|(_, class)| class).collect()
}

/// Returns whether robustness need not be asked: all atomic accesses and fences are sequentially
/// consistent, so that only races of plain accesses can make a difference.
pub fn is_sequential(instructions: &[Instruction]) -> bool {
    instructions.iter().all(|i| matches!(i.access.order, Order::SeqCst | Order::Plain))
}
