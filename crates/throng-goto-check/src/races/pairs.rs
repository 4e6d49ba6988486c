//! When two accesses to one object cannot be a race.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::accesses::Touched;
use super::arrivals::Stepped;
use super::facts::{Facts, Kind, Lock, Owned, State};
use super::locks::Words;
use super::points::{Offsets, Place, Site};
use super::transfer::Flow;

/// Why two accesses are not a race.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Apart {
    /// Neither writes, or they never touch the same bytes.
    Harmless,
    /// Both are atomic.
    Atomic,
    /// A lock is held at both: what it is called for the first.
    Lock(Lock, usize),
    /// They never happen at the same time.
    Order,
    /// The object belongs to one thread at a time.
    Owned,
    /// Each thread accesses a part of its own, by what it was given.
    Index,
}

/// What was seen where threads are started.
#[derive(Default)]
pub(super) struct Starts {
    /// What is known there.
    pub(super) states: BTreeMap<Place, State>,
    /// What their arguments differ by, if that is known.
    pub(super) steps: BTreeMap<Place, Option<i64>>,
}

/// What is asked about pairs.
pub struct Pairs<'a> {
    pub(super) flow: &'a Flow<'a>,
    pub(super) facts: &'a Facts,
    pub(super) words: Words,
    starts: Starts,
    /// The counters that can be relied upon.
    counters: BTreeSet<u32>,
    /// By template that threads start in, the threads that lead to it.
    lines: Vec<Option<Vec<usize>>>,
    /// Locks that were asked about, by the template.
    asked: RefCell<HashMap<(usize, Lock), bool>>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(
        flow: &'a Flow<'a>,
        facts: &'a Facts,
        words: Words,
        starts: Starts,
        stepped: &Stepped,
    ) -> Pairs<'a> {
        let counters = stepped.right(flow, &words);
        let templates = 0..flow.program.templates.len();
        let lines = templates.map(|t| flow.threads.line(flow.program, t)).collect();
        Pairs { flow, facts, words, starts, counters, lines, asked: RefCell::default() }
    }

    /// Returns why two accesses to an object are not a race; `None` if they may be.
    pub fn apart(&self, site: Site, a: &Touched, b: &Touched) -> Option<Apart> {
        if !(a.writes || b.writes) || !a.at.overlaps(a.size, b.at, b.size) {
            return Some(Apart::Harmless);
        }
        if a.atomic && b.atomic {
            return Some(Apart::Atomic);
        }
        if self.is_owned(site, a, b) {
            return Some(Apart::Owned);
        }
        if let Some(lock) = self.common(a, b) {
            return Some(Apart::Lock(lock, a.template));
        }
        if self.has_own_index(a, b) {
            return Some(Apart::Index);
        }
        (!self.together(a, b)).then_some(Apart::Order)
    }

    /// Returns whether both accesses are made by threads that one instruction starts, at addresses
    /// that are computed from arguments far enough from each other.
    fn has_own_index(&self, a: &Touched, b: &Touched) -> bool {
        let (flow, t) = (self.flow, a.template);
        let template = &flow.program.templates[t];
        let only =
            a.template == b.template && flow.threads.of[t].len() == 1 && flow.threads.of[t].contains(&t);
        if !only || flow.threads.is_called(t) || template.arguments != 1 || template.registers[0].size != 8 {
            return false;
        }
        let place = flow.threads.parent[t].map(|p| p.1);
        let step = place.and_then(|place| self.starts.steps.get(&place).copied().flatten());
        let (Some(step), Some(p), Some(q)) = (step, &a.address, &b.address) else { return false };
        let changes = template.code.iter().any(|i| throng_goto::program::writes(i) == Some(0));
        let fixed = p.base.is_none_or(|site| flow.is_one(site));
        let [(0, n)] = p.terms[..] else { return false };
        let alike = p.base == q.base && p.terms == q.terms && fixed && !changes && n > 0;
        let apart = n.saturating_mul(step).checked_sub(p.offset.saturating_sub(q.offset).saturating_abs());
        alike && apart.is_some_and(|apart| apart >= a.size.max(b.size))
    }

    /// Returns whether each object of this name is known to one thread only.
    pub fn stays(&self, site: Site) -> bool {
        let own = matches!(site, Site::Heap(_) | Site::Local(..) | Site::Private(_));
        own && !self.facts.escaped.contains(&site)
    }

    fn is_owned(&self, site: Site, a: &Touched, b: &Touched) -> bool {
        if self.stays(site) {
            return true;
        }
        let private = |t: &Touched| t.owned == Some(Owned::Private);
        private(a) || private(b) || a.owned.is_some() && b.owned.is_some()
    }

    /// Returns a lock of the first access that the second one holds as well.
    pub(super) fn common(&self, a: &Touched, b: &Touched) -> Option<Lock> {
        let right = |l: &&Lock| self.is_lock(a.template, l);
        a.locks.iter().filter(right).find(|l| b.locks.iter().any(|m| self.is_same(a, l, b, m))).cloned()
    }

    fn is_lock(&self, t: usize, lock: &Lock) -> bool {
        let mut asked = self.asked.borrow_mut();
        *asked.entry((t, lock.clone())).or_insert_with(|| self.words.is_lock(self.flow, t, lock))
    }

    /// Returns whether two locks are one, if the accesses are to the same bytes.
    fn is_same(&self, a: &Touched, l: &Lock, b: &Touched, m: &Lock) -> bool {
        if l.kind == Kind::Reader && m.kind == Kind::Reader {
            return false;
        }
        let (x, y) = (&l.address, &m.address);
        let fixed = |base: Option<Site>| base.is_some_and(|site| self.flow.is_one(site));
        if x.terms.is_empty() && y.terms.is_empty() && fixed(x.base) {
            return x == y;
        }
        let (Some(p), Some(q)) = (&a.address, &b.address) else { return false };
        // The lock is in the same object, or the same part of it, at a fixed distance.
        if let (Some(k), Some(n)) = (x.apart(p), y.apart(q)) {
            let distance = |t: &Touched, k: i64| t.at.start.checked_add(k);
            return self.is_aligned(a, b) && distance(a, k).is_some() && distance(a, k) == distance(b, n);
        }
        // `m[i]` and `a[i]`
        let (Some(i), Some(j)) = (index(x), index(y)) else { return false };
        let (Some(f), Some(g)) = (index(p), index(q)) else { return false };
        let right = i.0 == f.0 && j.0 == g.0 && i.1 == j.1 && f.1 == g.1;
        let bases = x.base == y.base && p.base == q.base && fixed(x.base) && fixed(p.base);
        let inside = |start: i64, size: i64| start <= f.1 - size;
        // The distance between the parts of the elements that are accessed.
        let (s, t) = (p.offset.rem_euclid(f.1), q.offset.rem_euclid(f.1));
        let whole = p.offset.checked_sub(s).is_some() && p.offset.checked_sub(s) == q.offset.checked_sub(t);
        right && bases && whole && x.offset == y.offset && inside(s, a.size) && inside(t, b.size)
    }

    /// Returns whether accesses to the same bytes are to the same element, or to an object that is
    /// not divided.
    fn is_aligned(&self, a: &Touched, b: &Touched) -> bool {
        let stride = a.at.stride;
        let inside = |at: Offsets, size: i64| at.start <= stride - size;
        stride == b.at.stride && (stride == 0 || inside(a.at, a.size) && inside(b.at, b.size))
    }

    /// Returns whether two accesses may happen at the same time, by different threads.
    fn together(&self, a: &Touched, b: &Touched) -> bool {
        let threads = &self.flow.threads;
        let (x, y) = (&threads.of[a.template], &threads.of[b.template]);
        x.iter().any(|&x| y.iter().any(|&y| self.may_meet((x, a), (y, b))))
    }

    /// Returns whether two threads, by the templates that they start in, may be at these accesses at
    /// the same time.
    pub(super) fn may_meet(&self, (x, a): (usize, &Touched), (y, b): (usize, &Touched)) -> bool {
        let threads = &self.flow.threads;
        let (Some(above_x), Some(above_y)) = (&self.lines[x], &self.lines[y]) else { return true };
        if x == y {
            return self.is_several(above_x);
        }
        let Some(&common) = above_x.iter().find(|t| above_y.contains(t)) else { return true };
        if !threads.once[common] {
            return true;
        }
        let alive = |at: &BTreeMap<u32, bool>, t: usize| at.contains_key(&(t as u32));
        if common == x {
            return alive(&a.alive, y) && !self.is_behind(a, (y, b));
        }
        if common == y {
            return alive(&b.alive, x) && !self.is_behind(b, (x, a));
        }
        let branch = |line: &[usize]| line.iter().copied().take_while(|t| *t != common).last();
        let (Some(bx), Some(by)) = (branch(above_x), branch(above_y)) else { return true };
        let at_start = |child: usize, other: usize| {
            let place = threads.parent[child].map(|p| p.1);
            place.and_then(|p| self.starts.states.get(&p)).is_none_or(|s| alive(&s.alive, other))
        };
        at_start(by, x) || at_start(bx, y)
    }

    /// Returns whether a thread that was started by another one is behind an access, as that knows by
    /// a counter.
    fn is_behind(&self, parent: &Touched, (child, at): (usize, &Touched)) -> bool {
        let counts = |n: u32| {
            let counter = self.flow.counters.get(n as usize);
            self.counters.contains(&n) && counter.is_some_and(|c| c.children.contains(&child))
        };
        parent.arrived.excludes(&at.arrived, &counts)
    }

    /// Returns whether two threads may be alive that start at the begin of a line.
    fn is_several(&self, line: &[usize]) -> bool {
        let threads = &self.flow.threads;
        if threads.once[line[0]] {
            return false;
        }
        let Some((parent, place)) = threads.parent[line[0]] else { return true };
        let again = self.starts.states.get(&place).is_none_or(|s| s.alive.contains_key(&(line[0] as u32)));
        !threads.once[parent] || again
    }
}

/// Returns the register and the factor of a sum that is an object, a number, and one register.
fn index(sum: &super::facts::Sum) -> Option<(u32, i64)> {
    match sum.terms[..] {
        [(r, n)] if sum.base.is_some() && n > 0 => Some((r, n)),
        _ => None,
    }
}
