//! The passes of a loop, executed with symbols: a register stands for its value at the head, and
//! every read gets a new name.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::code::{CELLS, Code, Place};
use super::relevant::Relevant;
use super::{Exit, Read, WaitingLoop};
use crate::program::{BinOp, Expr, Instr, Int, Reg, Violation, object_of};

/// Maximum number of states of a loop.
const MOST: usize = 2048;
/// Maximum number of parts of a value.
const LONGEST: usize = 32;

/// A value, if it can be said.
type Value = Option<Expr>;

/// Where a pass is.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    pc: usize,
    /// What differs from the head, sorted.
    changed: Vec<(Reg, Value)>,
    /// In an atomic section: the last read there, by its address and its name.
    read: Option<(Expr, Reg)>,
    inside: bool,
    wrote: Wrote,
    /// What branches found out about values that were read.
    facts: Vec<(Expr, bool)>,
}

/// What a pass has stored so far.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Wrote {
    Nothing,
    /// In place of the value that was read, this one, at this instruction.
    Instead {
        read: Reg,
        address: Expr,
        at: Int,
        value: Expr,
        pc: usize,
    },
    Something,
}

/// Returns the loop with this head and these instructions, if it is a waiting loop.
pub(super) fn waiting(code: &Code<'_>, head: usize, component: &[usize]) -> Option<WaitingLoop> {
    let allowed = |&pc: &usize| is_allowed(code, pc);
    if !component.iter().all(allowed) {
        return None;
    }
    let mut passes = Passes::new(code, head, component, Asked::Every);
    passes.explore()?;
    passes.result()
}

/// Returns the instructions of the passes from a head that may leave everything as it was; `None`
/// if there are too many ways to tell.
pub(super) fn may_wait(code: &Code<'_>, head: usize, component: &[usize]) -> Option<Vec<usize>> {
    let mut passes = Passes::new(code, head, component, Asked::Some);
    passes.explore()?;
    Some(passes.points(&passes.returning()))
}

/// Returns whether an instruction that is not in an atomic section always does more than to wait.
pub(super) fn acts(code: &Code<'_>, pc: usize) -> bool {
    match &code.t.code[pc] {
        Instr::Store(..) => code.accessed(pc) == Some(Place::Shared),
        Instr::CallPointer { .. } | Instr::Call { .. } | Instr::Fence(_) | Instr::Let(..) => false,
        Instr::Acquire(_) | Instr::Meets(..) => true,
        _ => !is_allowed(code, pc),
    }
}

/// Of which passes something is to be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Each leaves everything as it was.
    Every,
    /// Some may.
    Some,
}

/// Returns whether an instruction may occur in a waiting loop.
fn is_allowed(code: &Code<'_>, pc: usize) -> bool {
    let overflow = code.program.asked.contains(&Violation::Overflow);
    match &code.t.code[pc] {
        Instr::Let(_, e) => !(overflow && computes(e)),
        Instr::Call { function, .. } => code.quiet[*function],
        Instr::Any(_)
        | Instr::Load(..)
        | Instr::Store(..)
        | Instr::Branch(..)
        | Instr::Jump(_)
        | Instr::Assume(_)
        | Instr::AtomicBegin
        | Instr::AtomicEnd
        | Instr::Begins(..)
        | Instr::Ends(_)
        | Instr::Acquire(_)
        | Instr::Meets(..)
        | Instr::Pointer(_) => true,
        _ => false,
    }
}

/// Returns whether an operation of an expression may overflow.
fn computes(e: &Expr) -> bool {
    match e {
        Expr::Bin(op, a, b, at) => at.signed && !op.compares() || computes(a) || computes(b),
        Expr::Cast(e, _) | Expr::Convert(e, _) => computes(e),
        _ => false,
    }
}

struct Passes<'c, 'p> {
    code: &'c Code<'p>,
    asked: Asked,
    head: usize,
    inside: FxHashSet<usize>,
    relevant: Relevant,
    states: IndexMap<State, (), FxBuildHasher>,
    /// From state to state; the end of a pass leads to `None`.
    edges: Vec<(usize, Option<usize>)>,
    reads: Vec<Read>,
}

/// Where a state leads: to another instruction, under a condition.
type After = (State, usize);

impl<'c, 'p> Passes<'c, 'p> {
    fn new(code: &'c Code<'p>, head: usize, component: &[usize], asked: Asked) -> Passes<'c, 'p> {
        let inside: FxHashSet<usize> = component.iter().copied().collect();
        let relevant = match asked {
            Asked::Every => Relevant::new(code, head, &inside),
            Asked::Some => Relevant::inside(code, head, &inside),
        };
        Passes {
            code,
            asked,
            head,
            inside,
            relevant,
            states: IndexMap::default(),
            edges: Vec::new(),
            reads: Vec::new(),
        }
    }

    /// Executes all passes. `None`: some pass is more than waiting, or there are too many.
    fn explore(&mut self) -> Option<()> {
        let first = State {
            pc: self.head,
            changed: Vec::new(),
            read: None,
            inside: false,
            wrote: Wrote::Nothing,
            facts: Vec::new(),
        };
        self.states.insert(first, ());
        let mut at = 0;
        while let Some((state, ())) = self.states.get_index(at) {
            let next = match (self.after(state.clone()), self.asked) {
                (Some(next), _) => next,
                (None, Asked::Every) => return None,
                (None, Asked::Some) => Vec::new(),
            };
            for (mut state, to) in next {
                let some = self.asked == Asked::Some;
                if !self.inside.contains(&to) || some && state.wrote == Wrote::Something {
                    continue;
                }
                if to == self.head {
                    match (self.is_as_before(&state), self.asked) {
                        (true, _) => self.edges.push((at, None)),
                        (false, Asked::Every) => return None,
                        (false, Asked::Some) => {}
                    }
                    continue;
                }
                state.pc = to;
                self.forget(&mut state);
                let next = self.states.insert_full(state, ()).0;
                self.edges.push((at, Some(next)));
            }
            at += 1;
            if self.states.len() > MOST {
                return None;
            }
        }
        Some(())
    }

    /// Returns the value of a variable at the head.
    fn initial(&self, v: Reg) -> Expr {
        self.code.constant(self.head, v).map_or(Expr::Reg(v), Expr::Const)
    }

    fn variable(&self, state: &State, v: Reg) -> Value {
        match state.changed.binary_search_by_key(&v, |c| c.0) {
            Ok(n) => state.changed[n].1.clone(),
            Err(_) => Some(self.initial(v)),
        }
    }

    fn value(&self, state: &State, e: &Expr) -> Value {
        let mut known = true;
        e.registers(&mut |r| known &= self.variable(state, r).is_some());
        known.then(|| {
            e.replaced(&|leaf| match leaf {
                Expr::Reg(r) => self.variable(state, *r),
                _ => None,
            })
        })
    }

    fn set(&self, state: &mut State, v: Reg, value: Value) {
        let value = value.filter(|e| self.relevant.contains(v) && size(e) <= LONGEST);
        match state.changed.binary_search_by_key(&v, |c| c.0) {
            Ok(n) => state.changed[n].1 = value,
            Err(n) => state.changed.insert(n, (v, value)),
        }
    }

    /// Drops what no longer matters, so that fewer states differ.
    fn forget(&self, state: &mut State) {
        let pc = state.pc;
        state.changed.retain(|(v, _)| *v >= CELLS || self.code.is_live(pc, *v));
        if self.asked == Asked::Every && matches!(state.wrote, Wrote::Nothing) && !state.inside {
            state.facts.clear();
        }
    }

    /// Returns whether nothing that matters is different from before the pass.
    fn is_as_before(&self, state: &State) -> bool {
        let same = |(v, value): &(Reg, Value)| {
            *value == Some(self.initial(*v))
                || !self.relevant.contains(*v)
                || !self.code.is_live(self.head, *v)
                || self.asked == Asked::Some && self.may_be_same(state, *v, value)
        };
        let put_back = match self.asked {
            Asked::Every => self.is_put_back(state),
            Asked::Some => may_be_put_back(state),
        };
        put_back && state.changed.iter().all(same)
    }

    /// Returns whether a variable may have the value from before the pass again. A loop that counts
    /// up or down, or goes from one element of a list to the next, does not wait.
    fn may_be_same(&self, state: &State, v: Reg, value: &Value) -> bool {
        let Some(value) = value else { return true };
        let before = self.initial(v);
        match value {
            Expr::Const(_) => before.constant().is_none(),
            Expr::Reg(_) => state.facts.iter().any(|(e, holds)| says_equal(e, *holds, value, &before)),
            value => !is_shifted(value, &before),
        }
    }

    /// Returns whether what was stored is what was there before.
    fn is_put_back(&self, state: &State) -> bool {
        let (read, address, at, value) = match &state.wrote {
            Wrote::Nothing => return true,
            Wrote::Something => return false,
            Wrote::Instead { read, address, at, value, .. } => (*read, address, *at, value),
        };
        if *value == Expr::Reg(read) {
            return true;
        }
        let (Some(a), Some(stored)) = (address.constant(), value.constant()) else { return false };
        let Some(values) = self.code.values_at(a, at) else { return false };
        values.into_iter().filter(|&v| fits(state, read, v)).all(|v| v == at.wrap(stored))
    }

    /// Executes the instruction of a state.
    fn after(&mut self, mut state: State) -> Option<Vec<After>> {
        let pc = state.pc;
        match &self.code.t.code[pc] {
            Instr::Let(r, e) => {
                let of = self.code.t.registers[*r as usize];
                let value = self.value(&state, e).map(|e| match e {
                    Expr::Const(v) => Expr::Const(of.wrap(v)),
                    e => e,
                });
                self.set(&mut state, *r, value);
            }
            Instr::Any(r) => self.set(&mut state, *r, None),
            Instr::Load(r, a, at) => self.load(&mut state, *r, a, *at),
            Instr::Store(a, e, at) => self.store(&mut state, a, e, *at)?,
            Instr::Branch(e, yes, no) => return Some(self.branch(state, e, *yes, *no)),
            Instr::Jump(to) => return Some(vec![(state, *to)]),
            Instr::Assume(e) if self.value(&state, e) == Some(Expr::Const(0)) => return Some(Vec::new()),
            Instr::AtomicBegin => (state.inside, state.read) = (true, None),
            Instr::AtomicEnd => (state.inside, state.read) = (false, None),
            Instr::Begins(a, _) => self.end_lifetime(&mut state, a),
            Instr::Ends(list) => list.iter().for_each(|l| self.end_lifetime(&mut state, &l.0)),
            // A lock is taken: fine if the thread leaves the loop then.
            Instr::Acquire(_) | Instr::Meets(..) => state.wrote = Wrote::Something,
            Instr::Call { result, .. } | Instr::CallPointer { result, .. } => {
                // It may write private variables whose addresses it gets.
                self.code.all_cells().for_each(|c| self.set(&mut state, c, None));
                result.iter().for_each(|r| self.set(&mut state, *r, None));
            }
            // What a fence orders is not seen by a thread that only looks.
            Instr::Fence(_) => {}
            // What is not allowed here does more than to wait.
            _ if !is_allowed(self.code, pc) => state.wrote = Wrote::Something,
            _ => {}
        }
        Some(vec![(state, pc + 1)])
    }

    fn load(&mut self, state: &mut State, r: Reg, a: &Expr, at: Int) {
        let address = self.value(state, a);
        let place = self.place(address.as_ref(), a, at);
        match place {
            Place::Cell(c) => {
                let value = self.variable(state, c);
                self.set(state, r, value);
            }
            Place::Private => self.set(state, r, None),
            Place::Shared => {
                let name = Read::FIRST + state.pc as Reg;
                forget_value(state, name);
                match self.reads.iter_mut().find(|read| read.at == state.pc) {
                    Some(read) if read.address != address => read.address = None,
                    Some(_) => {}
                    None => {
                        let address = address.clone();
                        self.reads.push(Read { at: state.pc, address, size: at, value: name });
                    }
                }
                if state.inside {
                    state.read = address.map(|a| (a, name));
                }
                // What no one reads has no name.
                self.set(state, r, Some(Expr::Reg(name)));
            }
        }
    }

    /// Executes a store. `None`: it may be to any private variable.
    fn store(&mut self, state: &mut State, a: &Expr, e: &Expr, at: Int) -> Option<()> {
        let address = self.value(state, a);
        let value = self.value(state, e);
        match self.place(address.as_ref(), a, at) {
            Place::Cell(c) => {
                let value = value.map(|e| match e {
                    Expr::Const(v) => Expr::Const(at.wrap(v)),
                    e => e,
                });
                self.set(state, c, value);
            }
            Place::Private if self.asked == Asked::Every => return None,
            Place::Private => {
                let cells = self.code.all_cells().filter(|&c| self.code.is_addressed(c));
                cells.for_each(|c| self.set(state, c, None));
            }
            Place::Shared => {
                let instead = match (&state.wrote, &state.read, address, value) {
                    (Wrote::Nothing, Some((from, read)), Some(address), Some(value)) if *from == address => {
                        Some(Wrote::Instead { read: *read, address, at, value, pc: state.pc })
                    }
                    _ => None,
                };
                state.wrote = instead.unwrap_or(Wrote::Something);
            }
        }
        Some(())
    }

    fn place(&self, address: Option<&Expr>, written: &Expr, at: Int) -> Place {
        match address {
            Some(Expr::Const(a)) => self.code.place(*a, at),
            _ => self.code.place_of_unknown(written),
        }
    }

    fn branch(&self, state: State, e: &Expr, yes: usize, no: usize) -> Vec<After> {
        let way = |holds: bool, to: usize| {
            let mut state = state.clone();
            if let Some(e) = self.value(&state, e)
                && reads_memory(&e)
                && state.facts.len() < 4
            {
                state.facts.push((e, holds));
            }
            (state, to)
        };
        match self.value(&state, e) {
            Some(Expr::Const(v)) => vec![(state, if v != 0 { yes } else { no })],
            _ if yes == no => vec![(state, yes)],
            _ => vec![way(true, yes), way(false, no)],
        }
    }

    fn end_lifetime(&self, state: &mut State, a: &Expr) {
        if let Some(a) = a.constant() {
            let cells: Vec<Reg> = self.code.cells_of(object_of(a)).collect();
            cells.into_iter().for_each(|c| self.set(state, c, None));
        }
    }

    /// Returns the loop, once all passes were executed.
    fn result(mut self) -> Option<WaitingLoop> {
        let returning = self.returning();
        let in_loop = |n: usize| returning[n];
        let points = self.points(&returning);
        if points.is_empty() {
            return None;
        }
        let mut returns: Vec<usize> =
            self.edges.iter().filter(|e| e.1.is_none()).map(|e| self.state(e.0).pc).collect();
        sorted(&mut returns);
        let put = |n: usize| match &self.state(n).wrote {
            Wrote::Instead { pc, .. } if in_loop(n) => Some(*pc),
            _ => None,
        };
        let mut puts_back: Vec<usize> = (0..returning.len()).filter_map(put).collect();
        sorted(&mut puts_back);
        let exits = self.exits(&returning);
        self.reads.retain(|read| points.binary_search(&read.at).is_ok());
        self.reads.sort_by_key(|read| read.at);
        let (template, head, reads) = (self.code.template, self.head, self.reads);
        Some(WaitingLoop { template, head, points, returns, reads, exits, puts_back })
    }

    /// Returns the instructions of passes that return, sorted.
    fn points(&self, returning: &[bool]) -> Vec<usize> {
        let mut points: Vec<usize> =
            (0..returning.len()).filter(|&n| returning[n]).map(|n| self.state(n).pc).collect();
        sorted(&mut points);
        points
    }

    fn state(&self, n: usize) -> &State {
        self.states.get_index(n).map(|(state, ())| state).expect("states are numbered from 0")
    }

    /// Returns which states may come to the end of a pass.
    fn returning(&self) -> Vec<bool> {
        let mut found = vec![false; self.states.len()];
        let mut before = vec![Vec::new(); self.states.len()];
        let mut work = Vec::new();
        for &(from, to) in &self.edges {
            match to {
                Some(to) => before[to].push(from),
                None => work.push(from),
            }
        }
        while let Some(n) = work.pop() {
            if !std::mem::replace(&mut found[n], true) {
                work.extend(&before[n]);
            }
        }
        found
    }

    /// Returns the branches at which a pass that might return leaves.
    fn exits(&self, returning: &[bool]) -> Vec<Exit> {
        let mut found: Vec<Exit> = Vec::new();
        for n in (0..returning.len()).filter(|&n| returning[n]) {
            let state = self.state(n);
            let Instr::Branch(e, yes, no) = &self.code.t.code[state.pc] else { continue };
            let condition = self.value(state, e);
            if matches!(condition, Some(Expr::Const(_))) {
                continue;
            }
            for (to, holds) in [(*yes, true), (*no, false)] {
                let stays = to == self.head
                    || self.edges.iter().any(|&(from, next)| {
                        from == n && next.is_some_and(|next| returning[next] && self.state(next).pc == to)
                    });
                if stays {
                    continue;
                }
                let when = condition.clone().map(|e| if holds { e } else { Expr::is_zero(e) });
                match found.iter_mut().find(|exit| (exit.at, exit.to) == (state.pc, to)) {
                    Some(exit) if exit.when != when => exit.when = None,
                    Some(_) => {}
                    None => found.push(Exit { at: state.pc, to, when }),
                }
            }
        }
        found.sort_by_key(|exit| (exit.at, exit.to));
        found
    }
}

/// Returns whether what branches found out allows that this value was read.
fn fits(state: &State, read: Reg, v: i64) -> bool {
    state.facts.iter().all(|(e, holds)| {
        let leaf = |e: &Expr| (*e == Expr::Reg(read)).then_some(Expr::Const(v));
        e.replaced(&leaf).constant().is_none_or(|c| (c != 0) == *holds)
    })
}

/// Returns whether what was stored may be what was there before.
fn may_be_put_back(state: &State) -> bool {
    match &state.wrote {
        Wrote::Nothing => true,
        Wrote::Something => false,
        Wrote::Instead { read, at, value, .. } => match value {
            Expr::Const(v) => fits(state, *read, at.wrap(*v)),
            value => !is_shifted(value, &Expr::Reg(*read)),
        },
    }
}

/// Returns whether a fact says that two values are equal.
fn says_equal(e: &Expr, holds: bool, x: &Expr, y: &Expr) -> bool {
    let Expr::Bin(op @ (BinOp::Eq | BinOp::Ne), a, b, _) = e else { return false };
    let equal = holds == (*op == BinOp::Eq);
    let same = **a == *x && **b == *y || **a == *y && **b == *x;
    same && equal || b.constant() == Some(0) && says_equal(a, !equal, x, y)
}

/// Returns whether a value is surely another one than `from`, because a constant was added.
fn is_shifted(value: &Expr, from: &Expr) -> bool {
    match value {
        Expr::Bin(BinOp::Add | BinOp::Sub | BinOp::Xor, a, b, _) => {
            let by = |e: &Expr| e.constant().is_some_and(|c| c != 0);
            **a == *from && by(b) || **b == *from && by(a)
        }
        Expr::Cast(e, _) => is_shifted(e, from),
        _ => false,
    }
}

/// A value that was read is read again: what the old one stands in is no longer known.
fn forget_value(state: &mut State, name: Reg) {
    let mentions = |e: &Expr| {
        let mut found = false;
        e.registers(&mut |r| found |= r == name);
        found
    };
    for (_, value) in &mut state.changed {
        if value.as_ref().is_some_and(&mentions) {
            *value = None;
        }
    }
    state.facts.retain(|fact| !mentions(&fact.0));
    if matches!(&state.wrote, Wrote::Instead { read, .. } if *read == name) {
        state.wrote = Wrote::Something;
    }
}

fn reads_memory(e: &Expr) -> bool {
    let mut found = false;
    e.registers(&mut |r| found |= r >= Read::FIRST);
    found
}

fn size(e: &Expr) -> usize {
    match e {
        Expr::Bin(_, a, b, _) | Expr::Float(_, a, b, _) => 1 + size(a) + size(b),
        Expr::Cast(e, _) | Expr::Convert(e, _) => 1 + size(e),
        _ => 1,
    }
}

fn sorted(list: &mut Vec<usize>) {
    list.sort_unstable();
    list.dedup();
}
