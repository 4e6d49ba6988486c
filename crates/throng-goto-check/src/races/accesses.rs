//! The accesses of a program that may be part of a race, with what is known there.

use std::collections::{BTreeMap, BTreeSet};

use throng_goto::program::{Access, Expr, Instr};

use super::arrivals::Arrived;
use super::facts::{Lock, Owned, State, Sum};
use super::points::{Offsets, Place, Pointers, Site};
use super::transfer::Flow;

/// What is known of an access; those that are alike are one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Touched {
    /// The template whose code makes it.
    pub template: usize,
    /// Where in the object.
    pub at: Offsets,
    /// How many bytes.
    pub size: i64,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Its address as a sum, if it is one.
    pub address: Option<Sum>,
    /// Whether the object belongs to the thread.
    pub owned: Option<Owned>,
    /// The locks that are held.
    pub locks: BTreeSet<Lock>,
    /// The threads that the running one, or those below it, started and that may be alive.
    pub alive: BTreeMap<u32, bool>,
    /// What is known of counters.
    pub arrived: Arrived,
}

/// By object, the accesses, with the instructions.
pub type Accesses = BTreeMap<Site, BTreeMap<Touched, BTreeSet<Place>>>;

/// What an instruction accesses: the address, how many bytes, whether it writes.
pub(super) fn accessed(i: &Instr) -> Option<(&Expr, Option<i64>, bool)> {
    match i {
        Instr::Load(_, a, at) => Some((a, Some(at.size.into()), false)),
        Instr::Store(a, _, at) => Some((a, Some(at.size.into()), true)),
        Instr::Free(a) | Instr::Resize(_, a, _) => Some((a, None, true)),
        _ => None,
    }
}

/// Adds what an instruction accesses. Returns what is not known about it.
pub fn collect(
    flow: &Flow<'_>,
    (t, pc): (usize, usize),
    state: &State,
    all: &mut Accesses,
) -> Option<String> {
    let template = &flow.program.templates[t];
    let (address, size, writes) = accessed(&template.code[pc])?;
    if template.access[pc] == Access::Internal {
        return None;
    }
    let places = flow.values.of(t, address);
    if places.is_empty() {
        // To free what is null does nothing, and so does what never happens.
        let number = address.constant().is_some() || size.is_none();
        return (!number).then(|| "an access through a pointer of which nothing is known".into());
    }
    let (sum, owned) = (flow.address(t, address, state), flow.owner(t, address, state));
    let arrived = Arrived::of(state);
    for (site, at) in places.all() {
        match site {
            Site::Unknown => return Some("an access through a pointer that may point anywhere".into()),
            Site::Function(_) | Site::Thread(_) => continue,
            _ => {}
        }
        let at = if size.is_some() { at } else { Offsets::ANY };
        let touched = Touched {
            template: t,
            at,
            size: size.unwrap_or(1),
            writes,
            atomic: template.access[pc].is_atomic() || state.sections > 0,
            address: sum.clone().filter(|_| size.is_some()),
            owned,
            locks: state.locks.clone(),
            alive: state.alive.clone(),
            arrived: arrived.clone(),
        };
        all.entry(site).or_default().entry(touched).or_default().insert((t as u32, pc as u32));
    }
    None
}

/// Returns the places that instructions may write to, of those that are not locks taken and given
/// back: where the word of a lock may change.
pub fn written(flow: &Flow<'_>, (t, pc): (usize, usize)) -> Option<(Pointers, i64)> {
    let (address, size, writes) = accessed(&flow.program.templates[t].code[pc])?;
    writes.then(|| {
        let places = flow.values.of(t, address);
        match size {
            Some(size) => (places, size),
            None => (places.anywhere(), 8),
        }
    })
}
