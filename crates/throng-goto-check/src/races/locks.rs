//! Which words can be relied upon as locks: they are written only by those who take them, by those
//! who hold them and give them back, and where no other thread can see them.

use throng_goto::program::Instr;

use super::accesses::written;
use super::facts::{Owned, State, Sum};
use super::points::{Pointers, Site};
use super::transfer::Flow;

/// Where words may change other than by taking and giving back a lock.
#[derive(Clone, Default, Debug)]
pub struct Changed {
    places: Vec<(Pointers, i64)>,
    anything: bool,
}

impl Changed {
    /// Looks at an instruction, given what is known there.
    pub fn look(&mut self, flow: &Flow<'_>, (t, pc): (usize, usize), state: &State) {
        let code = &flow.code[t];
        match &code.t.code[pc] {
            Instr::Release(e) => {
                let held =
                    flow.address(t, e, state).is_some_and(|a| state.locks.iter().any(|l| l.address == a));
                if !held {
                    self.add(flow.values.of(t, e), 4);
                }
            }
            Instr::Store(a, ..) => {
                let sum = flow.address(t, a, state);
                let gives =
                    state.locks.iter().any(|l| Some(&l.address) == sum.as_ref() && code.gives(pc, l.alone));
                let unseen = flow.owner(t, a, state) == Some(Owned::Private) || flow.is_alone(t, state);
                // What this thread holds itself is not to change either.
                let own = state.locks.iter().any(|l| flow.may_be_at(t, &l.address, a));
                if !(gives || code.is_taking(pc) || unseen && !own) {
                    self.record(flow, (t, pc));
                }
            }
            Instr::Free(_) | Instr::Resize(..) => {}
            Instr::Acquire(_) if code.takes(pc).is_none() => self.record_acquire(flow, (t, pc)),
            _ => {}
        }
    }

    fn record(&mut self, flow: &Flow<'_>, at: (usize, usize)) {
        if let Some((places, size)) = written(flow, at) {
            self.add(places, size);
        }
    }

    fn record_acquire(&mut self, flow: &Flow<'_>, (t, pc): (usize, usize)) {
        if let Instr::Acquire(e) = &flow.code[t].t.code[pc] {
            self.add(flow.values.of(t, e), 4);
        }
    }

    fn add(&mut self, places: Pointers, size: i64) {
        self.anything |= places.is_empty() || places.0.contains_key(&Site::Unknown);
        if !self.places.contains(&(places.clone(), size)) {
            self.places.push((places, size));
        }
    }

    /// Puts together what was found, to ask often.
    pub fn by_site(&self) -> Words {
        let mut found = Words { sites: Default::default(), anything: self.anything };
        for (places, size) in &self.places {
            for (site, at) in places.all() {
                let list = found.sites.entry(site).or_default();
                if !list.contains(&(at, *size)) {
                    list.push((at, *size));
                }
            }
        }
        found
    }
}

/// Words that cannot be relied upon, by object.
pub struct Words {
    sites: std::collections::BTreeMap<Site, Vec<(super::points::Offsets, i64)>>,
    anything: bool,
}

impl Words {
    /// Returns whether the lock at an address of a template keeps others out.
    pub fn is_lock(&self, flow: &Flow<'_>, t: usize, address: &Sum) -> bool {
        let places = flow.places(t, address);
        let changed = |site, at: super::points::Offsets| {
            let list = self.sites.get(&site).into_iter().flatten();
            list.into_iter().any(|(to, size)| at.overlaps(4, *to, *size))
        };
        !self.anything && !places.is_empty() && !places.all().any(|(site, at)| changed(site, at))
    }
}
