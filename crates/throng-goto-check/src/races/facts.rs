//! What is known about a program: where addresses may be, what escapes, and what holds where
//! threads are.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use throng_goto::program::{Reg, object_of};

use super::arrivals::{self, Count, Steps};
use super::crowds::{self, Bound, Crowd};
use super::points::{Offsets, Points, Site};
use super::waits::Node;

/// What a static analysis found out about a program in which each instruction starts threads in a
/// template of its own ([`throng_goto::Program::split`]).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Where addresses may be.
    pub points: Points,
    /// The objects whose addresses another thread may come to know than the one that has them.
    pub escaped: BTreeSet<Site>,
    /// By template, what holds at some instructions: where several ways meet, and where code begins.
    /// One of the states describes a thread that comes there; none, if no thread does.
    pub at: Vec<BTreeMap<u32, Vec<State>>>,
    /// By template, what holds where it returns or a thread ends in it; `None` if it does not.
    pub exits: Vec<Option<State>>,
    /// Whether states say which locks may be held.
    #[serde(default)]
    pub holds: bool,
    /// What threads wait for, in an order that rules deadlocks out; empty if that is not asked.
    #[serde(default)]
    pub order: Vec<Node>,
}

/// What is known about a thread that comes to an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Threads that were started by it, or by those, and may not have ended, by the templates that
    /// they start in; whether there may be more than one.
    pub alive: BTreeMap<u32, bool>,
    /// Locks that it holds.
    pub locks: BTreeSet<Lock>,
    /// Registers that are equal to a sum.
    pub equal: BTreeMap<Reg, Sum>,
    /// What else is known of registers.
    pub known: BTreeMap<Reg, Known>,
    /// Registers that point to an object of its own.
    pub owned: BTreeMap<Reg, Owned>,
    /// What is in variables that no other thread knows, by address: bytes and value.
    pub cells: BTreeMap<i64, (u8, i64)>,
    /// Number of atomic sections that it is inside of, at least.
    pub sections: u32,
    /// Locks that it may hold, if facts say so ([`Facts::holds`]).
    pub held: BTreeSet<Held>,
    /// Number of atomic sections that it is inside of, at most, as far as they are counted, if facts
    /// say which locks may be held.
    pub inside: u32,
    /// Threads that it has started, by the templates that they start in: where their numbers are,
    /// and what they were given.
    pub crowds: BTreeMap<u32, Crowd>,
    /// Registers that are less than something.
    pub less: BTreeMap<Reg, Bound>,
    /// Registers with a number out of a row of numbers, by the template of the threads, with the
    /// index there.
    pub elements: BTreeMap<Reg, (u32, Sum)>,
    /// Registers whose values an integer type has: its size, and whether it has a sign.
    pub fits: BTreeMap<Reg, (u8, bool)>,
    /// By counter, what the thread knows that has started those that count themselves.
    pub counts: BTreeMap<u32, Count>,
    /// By counter, how often the thread has counted itself.
    pub passed: BTreeMap<u32, Steps>,
    /// Flags that are 0, for the thread that writes them.
    pub cleared: BTreeSet<u32>,
    /// Registers with a value of a flag that was loaded since the thread has counted itself.
    pub flags: BTreeMap<Reg, u32>,
    /// Counters with flags that were not 0 since the thread has counted itself.
    pub found: BTreeSet<(u32, u32)>,
}

/// A lock that is held.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Lock {
    /// Its address.
    pub address: Sum,
    /// How it is held.
    pub kind: Kind,
}

/// A lock that may be held.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Held {
    /// Its address, if it can be said.
    pub address: Option<Sum>,
    /// The object that it is in.
    pub site: Site,
    /// Where in the object.
    pub at: Offsets,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// No other thread holds it in any way.
    Alone,
    /// Others may hold it in the same way.
    Reader,
    /// It is a semaphore that one thread at a time gets past.
    Semaphore,
}

/// A sum: the start of an object, a number, and registers with factors, sorted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Sum {
    /// The object, if there is one in it.
    pub base: Option<Site>,
    /// The number.
    pub offset: i64,
    /// Registers and their factors, which are not 0.
    pub terms: Vec<(Reg, i64)>,
}

/// What is known of the value of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Known {
    /// It is this.
    Is(i64),
    /// It is not this.
    IsNot(i64),
}

impl Known {
    /// Returns whether whatever the other says is said by this, too.
    fn covers(self, other: Known) -> bool {
        match (self, other) {
            (Known::IsNot(a), Known::Is(b)) => a != b,
            (a, b) => a == b,
        }
    }

    fn join(self, other: Known) -> Option<Known> {
        if self.covers(other) { Some(self) } else { other.covers(self).then_some(other) }
    }
}

/// How an object belongs to a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Owned {
    /// It was handed over to the thread when that was started, by one that owned it.
    Handed,
    /// No other thread knows the address.
    Private,
}

impl State {
    /// Returns what is known if either is.
    #[must_use]
    pub fn join(&self, other: &State) -> State {
        let mut alive = self.alive.clone();
        other.alive.iter().for_each(|(t, many)| *alive.entry(*t).or_default() |= many);
        let known = |(r, known): (&Reg, &Known)| Some((*r, known.join(*other.known.get(r)?)?));
        let owned = |(r, owned): (&Reg, &Owned)| Some((*r, (*owned).min(*other.owned.get(r)?)));
        State {
            alive,
            locks: self.locks_of(other).chain(other.locks_of(self)).cloned().collect(),
            equal: other.equal_of(self).chain(self.equal_of(other)).map(|(r, e)| (*r, e.clone())).collect(),
            known: self.known.iter().filter_map(known).collect(),
            owned: self.owned.iter().filter_map(owned).collect(),
            cells: common(&self.cells, &other.cells),
            sections: self.sections.min(other.sections),
            held: self.held.union(&other.held).cloned().collect(),
            inside: self.inside.max(other.inside),
            crowds: crowds::join(self, other),
            less: common(&self.less, &other.less),
            elements: common(&self.elements, &other.elements),
            fits: common(&self.fits, &other.fits),
            counts: arrivals::join(self, other),
            passed: arrivals::join_steps(self, other),
            cleared: self.cleared.intersection(&other.cleared).copied().collect(),
            flags: common(&self.flags, &other.flags),
            found: self.found.intersection(&other.found).copied().collect(),
        }
    }

    /// Returns whether whatever the other describes is described by this, too.
    pub fn covers(&self, other: &State) -> bool {
        let alive = |(t, many): (&u32, &bool)| self.alive.get(t).is_some_and(|known| *known || !many);
        other.alive.iter().all(alive)
            && self.locks_of(other).count() == self.locks.len()
            && self.equal_of(other).count() == self.equal.len()
            && self.known.iter().all(|(r, k)| other.known.get(r).is_some_and(|o| k.covers(*o)))
            && self.owned.iter().all(|(r, k)| other.owned.get(r).is_some_and(|o| k <= o))
            && is_part(&self.cells, &other.cells)
            && self.sections <= other.sections
            && other.held.iter().all(|h| self.may_hold(h))
            && self.inside >= other.inside
            && crowds::covers(self, other)
            && arrivals::covers(self, other)
            && is_part(&self.less, &other.less)
            && is_part(&self.elements, &other.elements)
            && is_part(&self.fits, &other.fits)
    }

    /// Returns the locks that the other state says are held, too.
    fn locks_of<'a>(&'a self, other: &'a State) -> impl Iterator<Item = &'a Lock> {
        let address = |l: &Lock| other.normal(&l.address);
        let same =
            move |l: &Lock, m: &Lock| l.kind == m.kind && address(l).is_some_and(|a| address(m) == Some(a));
        self.locks.iter().filter(move |l| other.locks.contains(l) || other.locks.iter().any(|m| same(l, m)))
    }

    /// Returns the equations that the other state says hold, too.
    fn equal_of<'a>(&'a self, other: &'a State) -> impl Iterator<Item = (&'a Reg, &'a Sum)> {
        let holds = |r: &Reg, e: &Sum| other.normal(e).is_some_and(|e| other.equal.get(r) == Some(&e));
        self.equal.iter().filter(move |(r, e)| other.equal.get(r) == Some(e) || holds(r, e))
    }

    /// Returns a sum without registers that are equal to others.
    pub fn normal(&self, sum: &Sum) -> Option<Sum> {
        sum.terms.iter().try_fold(sum.clone(), |all, (r, _)| match self.equal.get(r) {
            Some(e) => all.replaced(*r, e),
            None => Some(all),
        })
    }

    fn may_hold(&self, lock: &Held) -> bool {
        self.held.contains(lock) || self.held.contains(&Held { address: None, ..lock.clone() })
    }

    /// Returns the value of a sum, if it is a number that is known.
    pub fn value(&self, sum: &Sum) -> Option<i64> {
        let start = Some(sum.offset).filter(|_| sum.base.is_none());
        sum.terms.iter().try_fold(start?, |all, (r, n)| match self.known.get(r) {
            Some(Known::Is(v)) if object_of(*v) == 0 => all.checked_add(v.checked_mul(*n)?),
            _ => None,
        })
    }

    /// Returns the number that a sum is greater by than another, if that is known.
    pub fn apart(&self, a: &Sum, b: &Sum) -> Option<i64> {
        self.value(&a.plus(b, -1)?)
    }
}

/// Returns what both say.
fn common<K: Ord + Copy, V: PartialEq + Clone>(a: &BTreeMap<K, V>, b: &BTreeMap<K, V>) -> BTreeMap<K, V> {
    a.iter().filter(|(k, v)| b.get(k) == Some(v)).map(|(k, v)| (*k, v.clone())).collect()
}

/// Returns whether the second says all that the first says.
fn is_part<K: Ord, V: PartialEq>(a: &BTreeMap<K, V>, b: &BTreeMap<K, V>) -> bool {
    a.iter().all(|(k, v)| b.get(k) == Some(v))
}

impl Sum {
    /// A number.
    pub fn number(offset: i64) -> Sum {
        Sum { offset, ..Sum::default() }
    }

    /// The value of a register.
    pub fn register(r: Reg) -> Sum {
        Sum { terms: vec![(r, 1)], ..Sum::default() }
    }

    /// An address in an object.
    pub fn address(site: Site, offset: i64) -> Sum {
        Sum { base: Some(site), offset, terms: Vec::new() }
    }

    /// Returns the sum with a multiple of another; `None` if an object is in it other than once.
    pub fn plus(&self, other: &Sum, factor: i64) -> Option<Sum> {
        let base = match (self.base, other.base) {
            (base, None) => base,
            (None, Some(base)) if factor == 1 => Some(base),
            (Some(a), Some(b)) if a == b && factor == -1 => None,
            _ => return None,
        };
        let mut terms: BTreeMap<Reg, i64> = self.terms.iter().copied().collect();
        for (r, n) in &other.terms {
            let term = terms.entry(*r).or_default();
            *term = term.checked_add(n.checked_mul(factor)?)?;
        }
        terms.retain(|_, n| *n != 0);
        let offset = self.offset.checked_add(other.offset.checked_mul(factor)?)?;
        Some(Sum { base, offset, terms: terms.into_iter().collect() })
    }

    /// Returns a multiple, which is not of an address.
    pub fn times(&self, factor: i64) -> Option<Sum> {
        if self.base.is_some() && factor != 1 {
            return None;
        }
        match factor {
            1 => Some(self.clone()),
            _ => Sum::default().plus(self, factor),
        }
    }

    /// Returns the register that it is, and nothing else.
    pub fn as_register(&self) -> Option<Reg> {
        match (self.base, self.offset, &self.terms[..]) {
            (None, 0, [(r, 1)]) => Some(*r),
            _ => None,
        }
    }

    /// Returns the factor of a register.
    pub fn factor(&self, r: Reg) -> i64 {
        self.terms.iter().find(|t| t.0 == r).map_or(0, |t| t.1)
    }

    /// Returns the sum with another one in place of a register.
    pub fn replaced(&self, r: Reg, by: &Sum) -> Option<Sum> {
        let factor = self.factor(r);
        let rest = Sum { terms: self.terms.iter().copied().filter(|t| t.0 != r).collect(), ..self.clone() };
        if factor == 0 {
            return Some(rest);
        }
        match by.base {
            Some(_) if factor != 1 => None,
            _ => rest.plus(by, factor),
        }
    }

    /// Returns the number that the sum is greater by than another, if that is always the same.
    pub fn apart(&self, other: &Sum) -> Option<i64> {
        let rest = self.plus(other, -1)?;
        (rest.base.is_none() && rest.terms.is_empty()).then_some(rest.offset)
    }
}
