//! Which words can be relied upon as locks: they are written only by those who take them, by those
//! who hold them and give them back, and where no other thread can see them.
//!
//! A semaphore that begins with at most 1 and is counted up only by those that counted it down lets
//! one thread past at a time. What is used in both ways is neither.

use std::collections::BTreeMap;

use throng_goto::program::{Expr, Instr};

use super::accesses::written;
use super::facts::{Kind, Lock, Owned, State};
use super::points::{Offsets, Pointers, Site};
use super::transfer::Flow;

/// Where words may change other than by taking and giving back a lock.
#[derive(Clone, Default, Debug)]
pub struct Changed {
    locks: Places,
    semaphores: Places,
    /// Where something else than 0 is written, other than by taking a lock.
    raised: Places,
}

#[derive(Clone, Default, Debug)]
struct Places {
    list: Vec<(Pointers, i64)>,
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
                    self.locks.add(flow.values.of(t, e), 4);
                }
            }
            Instr::Store(a, v, _) => self.store(flow, (t, pc), (a, v), state),
            Instr::Acquire(e) if code.takes(pc).is_none() => self.locks.add(flow.values.of(t, e), 4),
            _ => {}
        }
    }

    fn store(&mut self, flow: &Flow<'_>, (t, pc): (usize, usize), (a, v): (&Expr, &Expr), state: &State) {
        let code = &flow.code[t];
        let sum = flow.address(t, a, state);
        let held = |right: &dyn Fn(Kind) -> bool| {
            state.locks.iter().any(|l| Some(&l.address) == sum.as_ref() && right(l.kind))
        };
        let gives = held(&|kind| kind != Kind::Semaphore && code.gives(pc, kind == Kind::Alone));
        let posts = code.posts(pc).is_some() && held(&|kind| kind == Kind::Semaphore);
        let unseen = flow.owner(t, a, state) == Some(Owned::Private) || flow.is_alone(t, state);
        // What this thread holds itself is not to change either.
        let unseen = unseen && !state.locks.iter().any(|l| flow.may_be_at(t, &l.address, a));
        let Some((places, size)) = written(flow, (t, pc)) else { return };
        if !(gives || code.is_taking(pc) || unseen) {
            self.locks.add(places.clone(), size);
        }
        if !(gives || code.is_taking(pc) || *v == Expr::Const(0)) {
            self.raised.add(places.clone(), size);
        }
        let binary = matches!(v, Expr::Const(0 | 1));
        if !(posts || code.gets_past(pc).is_some() || unseen && binary) {
            self.semaphores.add(places, size);
        }
    }

    /// Puts together what was found, to ask often.
    pub fn by_site(&self) -> Words {
        let (locks, semaphores) = (self.locks.by_site(), self.semaphores.by_site());
        Words { locks, semaphores, raised: self.raised.by_site() }
    }
}

impl Places {
    fn add(&mut self, places: Pointers, size: i64) {
        self.anything |= places.is_empty() || places.0.contains_key(&Site::Unknown);
        if !self.list.contains(&(places.clone(), size)) {
            self.list.push((places, size));
        }
    }

    fn by_site(&self) -> Sites {
        let mut found = Sites { places: BTreeMap::new(), anything: self.anything };
        for (places, size) in &self.list {
            for (site, at) in places.all() {
                let list = found.places.entry(site).or_default();
                if !list.contains(&(at, *size)) {
                    list.push((at, *size));
                }
            }
        }
        found
    }
}

/// Words that cannot be relied upon.
pub struct Words {
    locks: Sites,
    semaphores: Sites,
    raised: Sites,
}

/// Places, by object.
struct Sites {
    places: BTreeMap<Site, Vec<(Offsets, i64)>>,
    anything: bool,
}

impl Sites {
    fn has(&self, places: &Pointers) -> bool {
        let changed = |site, at: Offsets| {
            let list = self.places.get(&site).into_iter().flatten();
            list.into_iter().any(|(to, size)| at.overlaps(4, *to, *size))
        };
        self.anything || places.all().any(|(site, at)| changed(site, at))
    }
}

impl Words {
    /// Returns whether words of locks are 0 unless a thread holds them.
    pub fn keeps_zero(&self, flow: &Flow<'_>, (site, at): (Site, Offsets)) -> bool {
        let place = Pointers::one(site, at);
        !self.locks.has(&place) && !self.raised.has(&place) && begins_with_zero(flow, site)
    }

    /// Returns whether a lock keeps others out, by its address in a template.
    pub fn is_lock(&self, flow: &Flow<'_>, t: usize, lock: &Lock) -> bool {
        let places = flow.places(t, &lock.address);
        if places.is_empty() {
            return false;
        }
        match lock.kind {
            Kind::Semaphore => {
                !self.semaphores.has(&places) && places.all().all(|at| begins_binary(flow, at))
            }
            Kind::Alone | Kind::Reader => !self.locks.has(&places),
        }
    }
}

/// Returns whether an object has only zeros at the start of the program, where locks are, or is made
/// later.
fn begins_with_zero(flow: &Flow<'_>, site: Site) -> bool {
    let Site::Object(o) = site else { return matches!(site, Site::Heap(_) | Site::Local(..)) };
    let object = flow.program.objects.get(o as usize - 1).filter(|o| !o.external);
    object.is_some_and(|o| o.init.iter().all(|b| *b == 0))
}

/// Returns whether a word is 0 or 1 at the start of the program.
fn begins_binary(flow: &Flow<'_>, (site, at): (Site, Offsets)) -> bool {
    let Site::Object(o) = site else { return false };
    let (Ok(start), 0) = (usize::try_from(at.start), at.stride) else { return false };
    let word = flow.program.objects.get(o as usize - 1).and_then(|o| o.init.get(start..start + 4));
    word.is_some_and(|word| word[0] <= 1 && word[1..].iter().all(|b| *b == 0))
}
