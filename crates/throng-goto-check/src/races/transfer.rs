//! What an instruction does to what is known where threads are. The search and the check share it.
//!
//! **Threads.** `alive` has the threads below a thread that may not have ended. Starting one adds it
//! and all that it may start. Waiting for one removes it, if the value waited for can only be the
//! number of the one thread that may be alive, with those of the threads below it that it has waited
//! for wherever it ends.
//!
//! **Locks.** Their addresses are sums over registers of the function; a register that changes takes
//! the sums with it that cannot be said otherwise.
//!
//! **Rows.** Threads that are started in loops are known by the rows with their numbers
//! ([`super::crowds`]), and variables that only one thread writes by what they are equal to
//! (`super::cells`).
//!
//! **Owned objects.** No other thread has the address of a private object: it was allocated here,
//! and no value that may be its address was stored, handed to a thread, or given to a call since.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use throng_goto::program::{BinOp, Expr, Instr, Program, Reg, Start, next, object_of, offset_of};

use super::arrivals::{self, Counter, Flag};
use super::cells::{self, Cells};
use super::crowds;
use super::facts::{Facts, Held, Kind, Known, Lock, Owned, State, Sum};
use super::inclusion::{Values, started};
use super::patterns::Code;
use super::points::{Offsets, Place, Pointers, Site};
use super::threads::{Threads, called};

/// A program, with what is known about it.
pub struct Flow<'a> {
    /// The program.
    pub program: &'a Program,
    /// The values of its expressions.
    pub values: Values<'a>,
    /// Its threads.
    pub threads: Threads,
    /// Its code.
    pub code: Vec<Code<'a>>,
    /// By template, the addresses that a call of it may release.
    released: Vec<Pointers>,
    /// The objects that other threads may come to know.
    pub(super) escaped: &'a BTreeSet<Site>,
    /// The variables that only one thread writes.
    pub(super) cells: Cells,
    /// The variables in which threads count themselves.
    pub(super) counters: Vec<Counter>,
    /// The variables that such threads load, and only one thread writes.
    pub(super) flags: Vec<Flag>,
    /// Whether states say which locks may be held.
    pub(super) holds: bool,
}

impl<'a> Flow<'a> {
    /// Prepares a program.
    pub fn new(values: Values<'a>, escaped: &'a BTreeSet<Site>, holds: bool) -> Flow<'a> {
        let program = values.program;
        let threads = Threads::of(&values);
        let code: Vec<Code<'a>> = program.templates.iter().map(Code::new).collect();
        let mut own: Vec<Pointers> = Vec::new();
        for (k, t) in program.templates.iter().enumerate() {
            let mut found = Pointers::default();
            for i in &t.code {
                if let Instr::Release(e) = i {
                    found.extend(&values.of(k, e));
                }
            }
            own.push(found);
        }
        let all = |t: usize| {
            let mut found = Pointers::default();
            threads.inside(t).into_iter().for_each(|inner| found.extend(&own[inner]));
            found
        };
        let is_called = |t: usize| threads.is_called(t);
        let released = (0..own.len()).map(|t| if is_called(t) { all(t) } else { Pointers::default() });
        let released = released.collect();
        let cells = Cells::new(&values, &threads);
        let counters = arrivals::counters(&values, &threads, &code);
        let flags = arrivals::flags(&values, &counters);
        Flow { program, values, threads, code, released, escaped, cells, counters, flags, holds }
    }

    /// Returns the sum that an expression is, as far as it is one.
    pub fn sum(&self, t: usize, e: &Expr, state: &State) -> Option<Sum> {
        match e {
            Expr::Const(v) => Some(match self.values.constant(*v).single() {
                Some((site, offset)) => Sum::address(site, offset),
                None => Sum::number(*v),
            }),
            Expr::Reg(r) => Some(state.equal.get(r).cloned().unwrap_or_else(|| Sum::register(*r))),
            Expr::Local(k) => Some(Sum::address(Site::Local(t as u32, *k), 0)),
            Expr::Cast(e, to) if to.size == 8 || self.fits(t, e, state, *to) => self.sum(t, e, state),
            Expr::Bin(op @ (BinOp::Add | BinOp::Sub), a, b, at) if at.size == 8 || at.signed => {
                let factor = if *op == BinOp::Sub { -1 } else { 1 };
                self.sum(t, a, state)?.plus(&self.sum(t, b, state)?, factor)
            }
            Expr::Bin(BinOp::Mul, a, b, at) if at.size == 8 => match (&**a, &**b) {
                (e, Expr::Const(c)) | (Expr::Const(c), e) => self.sum(t, e, state)?.times(*c),
                _ => None,
            },
            _ => None,
        }
        .filter(|sum| sum.terms.len() <= 3)
    }

    /// Returns the sum that an address is. A register that can only be the address of one place is
    /// replaced by that.
    pub fn address(&self, t: usize, e: &Expr, state: &State) -> Option<Sum> {
        let sum = self.sum(t, e, state)?;
        if sum.base.is_some() {
            return Some(sum);
        }
        let mut pointers = sum.terms.iter().filter(|(r, _)| !self.pointers(t, *r).is_empty());
        if let (Some((r, 1)), None) = (pointers.next(), pointers.next())
            && let Some((site, offset)) = self.pointers(t, *r).single()
            && self.is_one(site)
        {
            return sum.replaced(*r, &Sum::address(site, offset));
        }
        Some(sum)
    }

    /// Returns where a register, or a variable that stands for one, may point.
    fn pointers(&self, t: usize, r: Reg) -> Cow<'_, Pointers> {
        match self.cells.address(r) {
            Some(a) => Cow::Owned(self.values.points.loaded(&self.values.constant(a))),
            None => Cow::Borrowed(self.values.points.register(t, r)),
        }
    }

    /// Returns whether there is only one object of this name.
    pub fn is_one(&self, site: Site) -> bool {
        match site {
            Site::Object(_) => true,
            Site::Heap((t, pc)) => {
                let t = t as usize;
                self.threads.once[t] && !self.program.templates[t].repeats(pc as usize)
            }
            _ => false,
        }
    }

    /// Returns the states after an instruction, with where they are. `exits` has what is known where
    /// templates return.
    pub fn after(&self, (t, pc): (usize, usize), state: &State, exits: &Facts) -> Vec<(usize, State)> {
        let code = &self.program.templates[t].code;
        let mut then = state.clone();
        match &code[pc] {
            Instr::Branch(e, yes, no) => {
                let ways = self.branch(t, e, (*yes, *no), state, exits).into_iter();
                return ways.map(|(to, then)| self.keep_live(t, to, then)).collect();
            }
            Instr::Assume(Expr::Const(0)) => return Vec::new(),
            Instr::Assume(e) => match learnt(e, true, state) {
                None => return Vec::new(),
                Some(fact) => {
                    then.known.extend(fact);
                    self.learn_order(t, e, true, &mut then, exits);
                }
            },
            Instr::AtomicBegin => {
                then.sections += 1;
                then.inside = if self.holds { (then.inside + 1).min(MOST_INSIDE) } else { 0 };
            }
            Instr::AtomicEnd => {
                then.sections = then.sections.saturating_sub(1);
                // More of them than can be counted stay more than are allowed.
                let counted = then.inside < MOST_INSIDE;
                then.inside = if counted { then.inside.saturating_sub(1) } else { MOST_INSIDE };
            }
            Instr::Acquire(e) => {
                if let (Some(kind), Some(address)) = (self.code[t].takes(pc), self.address(t, e, state)) {
                    then.locks.insert(Lock { address, kind });
                }
                self.holds_from_now(t, e, state, &mut then);
            }
            Instr::Release(e) => {
                self.release(t, e, state, &mut then);
                self.holds_no_more(t, e, state, &mut then);
            }
            Instr::Let(r, e) => self.assign(t, *r, e, &mut then),
            Instr::Store(a, e, at) => {
                self.publish(t, e, &mut then);
                self.write(t, a, constant(e, state).map(|v| (at.size, at.wrap(v))), &mut then);
                self.stored(t, (a, e, *at), state, &mut then);
                self.write_cell(t, (a, e, *at), state, &mut then);
                if let Some(semaphore) = self.code[t].gets_past(pc) {
                    let address = self.address(t, semaphore, state);
                    then.locks.extend(address.map(|address| Lock { address, kind: Kind::Semaphore }));
                }
                if let Some(semaphore) = self.code[t].posts(pc) {
                    self.release(t, semaphore, state, &mut then);
                }
            }
            Instr::Begins(a, _) => self.ends(t, a, &mut then),
            Instr::Ends(list) => list.iter().for_each(|(a, _)| self.ends(t, a, &mut then)),
            Instr::Free(a) => self.ends(t, a, &mut then),
            Instr::Load(r, a, at) => {
                forget(*r, &mut then);
                let known =
                    a.constant().and_then(|a| state.cells.get(&a)).filter(|(size, _)| *size == at.size);
                then.known.extend(known.map(|(_, v)| (*r, Known::Is(*v))));
                self.loaded(t, (*r, a, *at), state, &mut then);
                self.read_cell(t, (*r, a, *at), state, &mut then);
            }
            Instr::Alloc(r, _) => {
                forget(*r, &mut then);
                then.owned.insert(*r, Owned::Private);
            }
            Instr::Resize(r, a, _) => {
                self.ends(t, a, &mut then);
                forget(*r, &mut then);
                then.owned.insert(*r, Owned::Private);
            }
            Instr::Any(r) => forget(*r, &mut then),
            Instr::Spawn(child, arguments, r) => {
                arguments.iter().for_each(|e| self.publish(t, e, &mut then));
                forget(*r, &mut then);
                self.start(*child, &mut then.alive);
                self.joins_crowd(t, (*child, arguments, *r), state, &mut then);
                self.starts_counted(*child, state, &mut then);
            }
            Instr::Join(e, r) => {
                let last = self.shortened(t, e, state, &mut then);
                if let Some(ended) = self.joined(t, e, state).or(last) {
                    self.end(ended, &mut then.alive, exits);
                }
                forget(*r, &mut then);
            }
            i @ (Instr::Call { .. } | Instr::CallPointer { .. }) => {
                let then = self.call((t, pc), i, state, exits);
                return then.map(|s| self.keep_live(t, pc + 1, s)).into_iter().collect();
            }
            _ => {}
        }
        self.counted((t, pc), state, &mut then);
        self.flagged((t, pc), state, &mut then);
        self.goes_on(t, pc, then)
    }

    fn release(&self, t: usize, e: &Expr, state: &State, then: &mut State) {
        let places = self.values.of(t, e);
        let sum = self.address(t, e, state);
        then.locks
            .retain(|l| !self.may_be(t, &l.address, &places) && sum.as_ref().is_none_or(|s| l.address != *s));
    }

    /// The lifetime of an object begins or ends.
    fn ends(&self, t: usize, a: &Expr, then: &mut State) {
        let places = self.values.of(t, a).anywhere();
        self.write(t, a, None, then);
        self.overwritten(t, &places, 8, None, then);
        self.forget_cells(&places, 8, then);
    }

    /// Something is written: a value, if it is known, of so many bytes.
    fn write(&self, t: usize, to: &Expr, value: Option<(u8, i64)>, then: &mut State) {
        let places = self.values.of(t, to);
        then.cells.retain(|a, (size, _)| {
            let own = Site::Private(object_of(*a));
            let hits = |at: &Offsets| at.overlaps(8, Offsets::one(offset_of(*a)), (*size).into());
            !places.0.contains_key(&Site::Unknown)
                && !places.0.get(&own).is_some_and(|list| list.iter().any(hits))
        });
        if let (Expr::Const(a), Some(value)) = (to, value)
            && self.program.is_private(*a)
            && !self.escaped.contains(&Site::Private(object_of(*a)))
        {
            then.cells.insert(*a, value);
        }
    }

    /// What is known of registers that are not read any more is forgotten.
    fn keep_live(&self, t: usize, to: usize, mut state: State) -> (usize, State) {
        if let Some(live) = self.code[t].t.live.get(to) {
            let is_live = |r: &Reg| *r >= cells::FIRST || live.binary_search(r).is_ok();
            state.equal.retain(|r, _| is_live(r));
            state.known.retain(|r, _| is_live(r));
            state.owned.retain(|r, _| is_live(r));
            state.less.retain(|r, _| is_live(r));
            state.fits.retain(|r, _| is_live(r));
        }
        (to, state)
    }

    fn goes_on(&self, t: usize, pc: usize, state: State) -> Vec<(usize, State)> {
        let code = &self.code[t].t.code;
        let mut to = next(code, pc).into_iter().filter(|to| *to < code.len());
        to.next().map(|to| self.keep_live(t, to, state)).into_iter().collect()
    }

    /// Starts a thread.
    fn start(&self, child: usize, alive: &mut BTreeMap<u32, bool>) {
        let mut add = |t: usize| {
            let known = alive.get(&(t as u32)).copied();
            alive.insert(t as u32, known.is_some() || !self.threads.once[t] && t != child);
        };
        add(child);
        self.threads.below[child].iter().for_each(|t| add(*t));
    }

    /// Returns the thread that a join waits for, if it is one that may be alive, and the only one.
    fn joined(&self, t: usize, e: &Expr, state: &State) -> Option<usize> {
        let places = self.values.threads(t, e)?;
        let [place] = places[..] else { return None };
        let thread = started(self.program, place)?;
        let (parent, _) = self.threads.parent[thread]?;
        let here = self.threads.of[t].len() == 1 && self.threads.of[t].contains(&parent);
        let one = state.alive.get(&(thread as u32)) == Some(&false);
        (here && one && self.threads.once[parent]).then_some(thread)
    }

    /// A thread has ended.
    fn end(&self, thread: usize, alive: &mut BTreeMap<u32, bool>, exits: &Facts) {
        alive.remove(&(thread as u32));
        // Where it is not the only one of its name, others may have started threads; and where it
        // ends inside of a function that it calls, what is known there is not among its exits.
        if self.threads.once[thread] && !self.ends_inside(thread) {
            let left = exits.exits[thread].as_ref().map(|s| &s.alive);
            let below = &self.threads.below[thread];
            alive.retain(|t, _| {
                !below.contains(&(*t as usize)) || left.is_some_and(|left| left.contains_key(t))
            });
        }
    }

    /// Returns whether a thread may end in a function that it calls.
    fn ends_inside(&self, thread: usize) -> bool {
        let ends = |t: &usize| self.code[*t].t.code.iter().any(|i| matches!(i, Instr::End(_)));
        self.threads.inside(thread).iter().any(|t| *t != thread && ends(t))
    }

    /// Notes what a condition says that compares numbers.
    fn learn_order(&self, t: usize, e: &Expr, holds: bool, then: &mut State, exits: &Facts) {
        self.learn_count(t, e, holds, then);
        self.learn_flag(e, holds, then);
        for ended in self.compared(t, e, holds, then) {
            self.end(ended, &mut then.alive, exits);
        }
    }

    fn branch(
        &self,
        t: usize,
        e: &Expr,
        (yes, no): (usize, usize),
        state: &State,
        exits: &Facts,
    ) -> Vec<(usize, State)> {
        let way = |to: usize, holds: bool| {
            let fact = learnt(e, holds, state)?;
            let mut then = state.clone();
            then.known.extend(fact);
            self.learn_order(t, e, holds, &mut then, exits);
            Some((to, then))
        };
        if yes == no {
            return vec![(yes, state.clone())];
        }
        way(yes, true).into_iter().chain(way(no, false)).collect()
    }

    fn assign(&self, t: usize, r: Reg, e: &Expr, state: &mut State) {
        let sum = self.sum(t, e, state);
        let owned = self.owner(t, e, state);
        let value = constant(e, state);
        let is_wide = self.program.templates[t].registers[r as usize].size == 8;
        let width = is_wide.then(|| self.width(t, e, state)).flatten();
        forget_unless(r, sum.as_ref(), state);
        state.fits.extend(width.map(|at| (r, at)));
        // Numbers are known otherwise: a counter that is 0 at first stays a counter.
        let says = |s: &Sum| s.factor(r) == 0 && (s.base.is_some() || !s.terms.is_empty());
        if let Some(sum) = sum.filter(says) {
            state.equal.insert(r, sum);
        }
        if let Some(owned) = owned {
            state.owned.insert(r, owned);
        }
        if let Some(v) = value {
            state.known.insert(r, Known::Is(self.program.templates[t].registers[r as usize].wrap(v)));
        }
    }

    /// Returns how the object belongs to the thread that an expression is an address in.
    pub fn owner(&self, t: usize, e: &Expr, state: &State) -> Option<Owned> {
        match e {
            Expr::Reg(r) => state.owned.get(r).copied(),
            Expr::Cast(e, to) if to.size == 8 => self.owner(t, e, state),
            Expr::Bin(BinOp::Add | BinOp::Sub, a, b, at)
                if at.size == 8 && self.values.of(t, b).is_empty() =>
            {
                self.owner(t, a, state)
            }
            _ => None,
        }
    }

    /// Other threads may come to know a value.
    fn publish(&self, t: usize, e: &Expr, state: &mut State) {
        if state.owned.is_empty() {
            return;
        }
        let places = self.values.of(t, e);
        self.publish_sites(t, &places.sites().collect(), state);
    }

    fn publish_sites(&self, t: usize, sites: &BTreeSet<Site>, state: &mut State) {
        state
            .owned
            .retain(|r, _| self.values.points.register(t, *r).sites().all(|site| !sites.contains(&site)));
    }

    /// Returns whether a lock may be at one of some places.
    fn may_be(&self, t: usize, lock: &Sum, places: &Pointers) -> bool {
        let own = self.places(t, lock);
        own.all().any(|(site, at)| {
            places.all().any(|(other, to)| site == other && at.overlaps(4, to, 4))
                || places.0.contains_key(&Site::Unknown)
        }) || own.is_empty()
    }

    /// Returns whether a lock may be where an expression points to.
    pub fn may_be_at(&self, t: usize, lock: &Sum, e: &Expr) -> bool {
        self.may_be(t, lock, &self.values.of(t, e))
    }

    /// Returns whether the thread is the first one, and no other one is alive.
    pub fn is_alone(&self, t: usize, state: &State) -> bool {
        let first = self.program.first_templates();
        let is_first = |t: usize| self.program.start == Start::One(t) && self.threads.once[t];
        let only = self.threads.of[t].len() == 1 && self.threads.of[t].iter().all(|t| is_first(*t));
        only && first.len() == 1 && state.alive.is_empty()
    }

    /// Returns where an address may be that is a sum.
    pub fn places(&self, t: usize, sum: &Sum) -> Pointers {
        let mut found = Pointers::default();
        let moved = |pointers: &Pointers, except: Option<Reg>| {
            let others = sum.terms.iter().filter(|(r, _)| Some(*r) != except);
            others.fold(pointers.moved(sum.offset, 0), |all, (_, n)| all.moved(0, *n))
        };
        if let Some(site) = sum.base {
            found.extend(&moved(&Pointers::one(site, Offsets::one(0)), None));
        }
        for (r, n) in &sum.terms {
            let pointers = self.pointers(t, *r);
            let pointers = if *n == 1 { pointers.into_owned() } else { pointers.anywhere() };
            found.extend(&moved(&pointers, Some(*r)));
        }
        found
    }

    /// Returns the code that an instruction leads to outside of its template, with what is known
    /// there.
    pub fn enters(&self, (t, pc): (usize, usize), state: &State) -> Vec<(usize, State)> {
        match &self.program.templates[t].code[pc] {
            Instr::Spawn(child, arguments, _) => {
                let owned = arguments.iter().map(|e| self.handed(t, e, arguments, state));
                let owned = (0..).zip(owned).filter_map(|(r, o)| Some((r, o?))).collect();
                let widths = arguments.iter().map(|e| self.width(t, e, state));
                let fits = (0..).zip(widths).filter_map(|(r, at)| Some((r, at?))).collect();
                let passed = self.steps_at_start(*child);
                vec![(*child, State { owned, fits, passed, ..State::default() })]
            }
            i @ Instr::Call { arguments, .. } => {
                let arguments: Vec<&Expr> = arguments.iter().collect();
                self.entered(t, i, &arguments, state)
            }
            i @ Instr::CallPointer { arguments, .. } => {
                let arguments: Vec<&Expr> = arguments.iter().map(|a| &a.0).collect();
                self.entered(t, i, &arguments, state)
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether an object is handed to a thread as an argument, and as no other one.
    fn handed(&self, t: usize, e: &Expr, all: &[Expr], state: &State) -> Option<Owned> {
        (all.len() == 1).then(|| self.owner(t, e, state))??;
        Some(Owned::Handed)
    }

    fn entered(&self, t: usize, call: &Instr, arguments: &[&Expr], state: &State) -> Vec<(usize, State)> {
        let locks = state.locks.iter().filter_map(|l| {
            let address = translated(&l.address, &|sum| self.as_parameter(t, sum, arguments, state))?;
            Some(Lock { address, ..l.clone() })
        });
        let (mut owned, mut known) = (BTreeMap::new(), BTreeMap::new());
        for (r, e) in (0..).zip(arguments) {
            owned.extend(self.owner(t, e, state).map(|o| (r, o)));
            known.extend(constant(e, state).map(|v| (r, Known::Is(v))));
        }
        let first = State {
            alive: state.alive.clone(),
            locks: locks.collect(),
            owned,
            sections: state.sections,
            ..State::default()
        };
        let callees = called(&self.values, t, call).into_iter();
        callees
            .map(|callee| {
                let types = &self.program.templates[callee].registers;
                let fits = |(r, k): (&Reg, &Known)| match k {
                    Known::Is(v) if types[*r as usize].wrap(*v) == *v => Some((*r, *k)),
                    _ => None,
                };
                (callee, State { known: known.iter().filter_map(fits).collect(), ..first.clone() })
            })
            .collect()
    }

    /// Returns a sum over the registers of the caller as one over the parameters.
    fn as_parameter(&self, t: usize, sum: &Sum, arguments: &[&Expr], state: &State) -> Option<Sum> {
        (0..).zip(arguments).find_map(|(r, e)| {
            let apart = sum.apart(&self.sum(t, e, state)?)?;
            Sum::register(r).plus(&Sum::number(apart), 1)
        })
    }

    /// Returns what is known after a call, if it returns.
    fn call(&self, (t, _): (usize, usize), i: &Instr, state: &State, exits: &Facts) -> Option<State> {
        let (arguments, result): (Vec<&Expr>, _) = match i {
            Instr::Call { arguments, result, .. } => (arguments.iter().collect(), *result),
            Instr::CallPointer { arguments, result, .. } => {
                (arguments.iter().map(|a| &a.0).collect(), *result)
            }
            _ => return None,
        };
        let mut all: Option<State> = None;
        for callee in called(&self.values, t, i) {
            let Some(exit) = &exits.exits[callee] else { continue };
            let mut then = state.clone();
            if self.threads.starts_or_joins(self.program, callee) {
                then.alive = exit.alive.clone();
            }
            then.locks.retain(|l| !self.may_be(t, &l.address, &self.released[callee]));
            then.locks.extend(exit.locks.iter().filter_map(|l| {
                let address =
                    translated(&l.address, &|sum| as_argument(self, (t, callee), sum, &arguments, state))?;
                Some(Lock { address, ..l.clone() })
            }));
            then.sections = exit.sections;
            then.cells.clear();
            self.written_by_call(t, callee, &mut then);
            arguments.iter().for_each(|e| self.publish(t, e, &mut then));
            if let Some(r) = result {
                forget(r, &mut then);
                then.owned.extend(exit.owned.get(&RESULT).map(|o| (r, *o)));
            }
            all = Some(all.map_or(then.clone(), |known| known.join(&then)));
        }
        all
    }

    /// Returns what is known where an instruction returns or ends the thread, if it does.
    pub fn leaves(&self, (t, pc): (usize, usize), state: &State) -> Option<State> {
        let result = match &self.program.templates[t].code[pc] {
            Instr::Return(e) => e.as_ref(),
            Instr::End(_) => None,
            _ => return None,
        };
        let template = &self.program.templates[t];
        let assigned = |r: Reg| template.code.iter().any(|i| throng_goto::program::writes(i) == Some(r));
        let stays = |r: Reg| (r as usize) < template.arguments && !assigned(r);
        let local = |l: &Lock| {
            l.address.terms.iter().all(|(r, _)| stays(*r)) && !matches!(l.address.base, Some(Site::Local(..)))
        };
        let owned = result.and_then(|e| self.owner(t, e, state));
        Some(State {
            alive: state.alive.clone(),
            locks: state.locks.iter().filter(|l| local(l)).cloned().collect(),
            owned: owned.map(|o| (RESULT, o)).into_iter().collect(),
            sections: state.sections,
            ..State::default()
        })
    }

    /// Returns whether what is known in a template depends on where another one returns: it calls
    /// it, or may wait for a thread that runs it.
    pub fn depends(&self, t: usize, on: usize) -> bool {
        let below = || self.threads.of[t].iter().any(|thread| self.threads.below[*thread].contains(&on));
        let joins = |i: &Instr| matches!(i, Instr::Join(..));
        self.threads.calls(t).contains(&on) || self.program.templates[t].code.iter().any(joins) && below()
    }

    /// Returns the place of an instruction.
    pub fn place(at: (usize, usize)) -> Place {
        (at.0 as u32, at.1 as u32)
    }
}

/// Maximum number of atomic sections inside of each other that are counted.
const MOST_INSIDE: u32 = 16;

/// Stands for the result of a function, among its registers.
pub const RESULT: Reg = u32::MAX;

/// Returns an address as it is called elsewhere: that of an object as it is, others as `name` says.
fn translated(sum: &Sum, name: &dyn Fn(&Sum) -> Option<Sum>) -> Option<Sum> {
    match (sum.base, &sum.terms[..]) {
        (Some(Site::Object(_) | Site::Heap(_)), []) => Some(sum.clone()),
        _ => name(sum),
    }
}

/// Returns a sum over parameters as one over the registers of the caller.
fn as_argument(
    flow: &Flow<'_>,
    (t, callee): (usize, usize),
    sum: &Sum,
    arguments: &[&Expr],
    state: &State,
) -> Option<Sum> {
    let mut all = Sum { terms: Vec::new(), ..sum.clone() };
    let types = &flow.program.templates[callee].registers;
    for (r, n) in &sum.terms {
        let (e, at) = (*arguments.get(*r as usize)?, *types.get(*r as usize)?);
        let argument = flow.sum(t, e, state).filter(|_| at.size == 8 || flow.fits(t, e, state, at))?;
        all = all.plus(&argument, *n)?;
    }
    Some(all)
}

/// A register gets a value of which nothing is known.
pub(super) fn forget(r: Reg, state: &mut State) {
    forget_unless(r, None, state);
}

/// A register changes. What is said with it is said otherwise, if another one is equal to it and a
/// number, or if the new value is (`new`, over the old one).
pub(super) fn forget_unless(r: Reg, new: Option<&Sum>, state: &mut State) {
    state.known.remove(&r);
    state.owned.remove(&r);
    let old = old_value(r, new, state);
    let replace = |sum: &Sum| match &old {
        _ if sum.factor(r) == 0 => Some(sum.clone()),
        Some(old) => sum.replaced(r, old),
        None => None,
    };
    let locks = std::mem::take(&mut state.locks).into_iter();
    state.locks = locks.filter_map(|l| Some(Lock { address: replace(&l.address)?, ..l })).collect();
    let held = std::mem::take(&mut state.held).into_iter();
    state.held = held.map(|h| Held { address: h.address.as_ref().and_then(replace), ..h }).collect();
    let equal = std::mem::take(&mut state.equal).into_iter().filter(|(q, _)| *q != r);
    state.equal =
        equal.filter_map(|(q, sum)| Some((q, replace(&sum)?))).filter(|(q, s)| s.factor(*q) == 0).collect();
    crowds::forget(r, &replace, state);
    arrivals::forget(r, &replace, state);
}

/// Returns the old value of a register over others, or over itself after the change.
fn old_value(r: Reg, new: Option<&Sum>, state: &State) -> Option<Sum> {
    // r := r + number
    if let Some(Sum { base: None, offset, terms }) = new
        && terms[..] == [(r, 1)]
    {
        return Sum::register(r).plus(&Sum::number(offset.checked_neg()?), 1);
    }
    // q = r + number
    state.equal.iter().find_map(|(q, sum)| match (&sum.base, &sum.terms[..]) {
        (None, [(of, 1)]) if *of == r && *q != r => {
            Sum::register(*q).plus(&Sum::number(sum.offset.checked_neg()?), 1)
        }
        _ => None,
    })
}

/// Returns the value of an expression, if it is known.
fn constant(e: &Expr, state: &State) -> Option<i64> {
    match e {
        Expr::Const(v) => Some(*v),
        Expr::Reg(r) => match state.known.get(r) {
            Some(Known::Is(v)) => Some(*v),
            _ => None,
        },
        Expr::Cast(e, to) if object_of(constant(e, state)?) == 0 => Some(to.wrap(constant(e, state)?)),
        Expr::Bin(op, a, b, at) => {
            let (a, b) = (constant(a, state)?, constant(b, state)?);
            let numbers = object_of(a) == 0 && object_of(b) == 0;
            op.apply(a, b, *at).filter(|_| numbers && !op.overflows(a, b, *at))
        }
        _ => None,
    }
}

/// Returns what is known in addition where a condition holds or does not; `None`: it cannot be.
fn learnt(e: &Expr, holds: bool, state: &State) -> Option<Option<(Reg, Known)>> {
    if let Some(v) = constant(e, state).filter(|v| object_of(*v) == 0) {
        return ((v != 0) == holds).then_some(None);
    }
    let (r, c, equal) = match e {
        Expr::Reg(r) => (*r, 0, !holds),
        Expr::Bin(op @ (BinOp::Eq | BinOp::Ne), a, b, _) => match (&**a, &**b) {
            (Expr::Reg(r), Expr::Const(c)) => (*r, *c, (*op == BinOp::Eq) == holds),
            // `!(…)`
            (inner, Expr::Const(0)) if !matches!(inner, Expr::Cast(..)) => {
                return learnt(inner, (*op == BinOp::Ne) == holds, state);
            }
            _ => return Some(None),
        },
        _ => return Some(None),
    };
    let fact = if equal { Known::Is(c) } else { Known::IsNot(c) };
    match (state.known.get(&r), fact) {
        (Some(Known::Is(v)), Known::Is(c)) if *v != c => None,
        (Some(Known::Is(v)), Known::IsNot(c)) if *v == c => None,
        (Some(Known::IsNot(v)), Known::Is(c)) if *v == c => None,
        _ => Some(Some((r, fact))),
    }
}
