//! What instructions around an [`Instr::Acquire`] or [`Instr::Release`] do to the word of a lock.
//!
//! A lock is a word that is 0 while it is free. Who takes it alone finds 0 and writes something
//! else in the same atomic section; a reader finds anything but -1, and adds 1.

use throng_goto::program::{Access, BinOp, Expr, Instr, Template, next};

use super::facts::Kind;

/// The code of a template, and where control comes from.
pub struct Code<'p> {
    /// The template.
    pub t: &'p Template,
    /// By instruction, those before it.
    pub before: Vec<Vec<usize>>,
}

impl<'p> Code<'p> {
    /// Goes through the code of a template.
    pub fn new(t: &'p Template) -> Code<'p> {
        let mut before = vec![Vec::new(); t.code.len()];
        for pc in 0..t.code.len() {
            for to in next(&t.code, pc).into_iter().filter(|to| *to < t.code.len()) {
                if !before[to].contains(&pc) {
                    before[to].push(pc);
                }
            }
        }
        Code { t, before }
    }

    /// Returns whether a fact is kept at an instruction: code begins there, or ways meet.
    pub fn is_head(&self, pc: usize) -> bool {
        pc == 0 || self.before[pc].len() > 1
    }

    /// Returns whether the instruction takes a lock, and how; `None` if that is not known.
    pub fn takes(&self, pc: usize) -> Option<Kind> {
        let Instr::Acquire(lock) = &self.t.code[pc] else { return None };
        self.taken_by(pc.checked_sub(1).filter(|store| self.before[pc] == [*store])?, lock)
    }

    /// Returns how a store takes a lock.
    fn taken_by(&self, store: usize, lock: &Expr) -> Option<Kind> {
        let Instr::Store(to, v, at) = &self.t.code[store] else { return None };
        if to != lock || at.size != 4 || self.t.access[store] != Access::Internal {
            return None;
        }
        let mut registers = 0;
        v.registers(&mut |_| registers += 1);
        let tests: Vec<usize> = self.before[store].iter().copied().filter(|p| !self.is_dead(*p)).collect();
        match v {
            Expr::Const(0) => return None,
            Expr::Bin(BinOp::Add, a, one, _) if **one == Expr::Const(1) && matches!(**a, Expr::Reg(_)) => {
                let Expr::Reg(r) = **a else { return None };
                let tested =
                    |p: &usize| self.tests(*p, lock) == Some((r, -1)) && self.leads(*p, store, false);
                return (!tests.is_empty() && tests.iter().all(tested)).then_some(Kind::Reader);
            }
            _ if registers == 0 => {}
            _ => return None,
        }
        let tested = |p: &usize| matches!(self.tests(*p, lock), Some((_, 0))) && self.leads(*p, store, true);
        (!tests.is_empty() && tests.iter().all(tested)).then_some(Kind::Alone)
    }

    fn is_dead(&self, pc: usize) -> bool {
        self.t.code[pc] == Instr::Assume(Expr::Const(0))
    }

    /// Returns whether the branch leads to an instruction where it holds (`yes`), or where it does
    /// not, and not there otherwise.
    fn leads(&self, branch: usize, to: usize, yes: bool) -> bool {
        match &self.t.code[branch] {
            Instr::Branch(_, a, b) => a != b && to == if yes { *a } else { *b },
            _ => false,
        }
    }

    /// Returns the register that the word of a lock was loaded to, and the number that it is
    /// compared with, in a section that began before the load and in which nothing jumps.
    fn tests(&self, branch: usize, lock: &Expr) -> Option<(u32, i64)> {
        let Instr::Branch(Expr::Bin(BinOp::Eq, x, y, _), ..) = &self.t.code[branch] else { return None };
        let (Expr::Reg(r), Expr::Const(c)) = (&**x, &**y) else { return None };
        let load = branch.checked_sub(1).filter(|load| self.before[branch] == [*load])?;
        let Instr::Load(q, from, at) = &self.t.code[load] else { return None };
        let begin = load.checked_sub(1).filter(|begin| self.before[load] == [*begin])?;
        let mut changed = false;
        lock.registers(&mut |used| changed |= used == *q);
        let right = q == r && from == lock && at.size == 4 && !changed;
        (right && self.t.code[begin] == Instr::AtomicBegin).then_some((*r, *c))
    }

    /// Returns whether a store gives a lock back that the thread holds alone (`alone`) or not.
    pub fn gives(&self, store: usize, alone: bool) -> bool {
        let Instr::Store(to, v, at) = &self.t.code[store] else { return false };
        let Some(Instr::Release(lock)) = self.t.code.get(self.after_jumps(store + 1)) else { return false };
        if to != lock || at.size != 4 || self.t.access[store] != Access::Internal {
            return false;
        }
        let tests = &self.before[store];
        let by_readers = |r: Option<u32>, yes: bool| {
            let tested = |p: &usize| {
                let test = self.tests(*p, lock);
                matches!(test, Some((q, -1)) if r.is_none_or(|r| r == q)) && self.leads(*p, store, yes)
            };
            !tests.is_empty() && tests.iter().all(tested)
        };
        match v {
            Expr::Const(0) => alone || by_readers(None, true),
            Expr::Bin(BinOp::Add, a, b, _) if **b == Expr::Const(-1) => match **a {
                Expr::Reg(r) => by_readers(Some(r), false),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns whether a store takes a lock: the instruction behind it says so.
    pub fn is_taking(&self, store: usize) -> bool {
        self.t.code.len() > store + 1 && self.takes(store + 1).is_some()
    }

    /// Returns the semaphore that a store counts down, having found that it is greater than 0.
    pub fn gets_past(&self, store: usize) -> Option<&Expr> {
        let (semaphore, r) = self.counts(store, -1)?;
        let tests: Vec<usize> = self.before[store].iter().copied().filter(|p| !self.is_dead(*p)).collect();
        let tested = |p: &usize| {
            let Instr::Branch(Expr::Bin(BinOp::Lt, zero, x, _), ..) = &self.t.code[*p] else { return false };
            **zero == Expr::Const(0)
                && **x == Expr::Reg(r)
                && self.leads(*p, store, true)
                && self.before[*p][..].first().is_some_and(|load| self.loads(*load, *p, r, semaphore))
        };
        (!tests.is_empty() && tests.iter().all(tested)).then_some(semaphore)
    }

    /// Returns the semaphore that a store counts up.
    pub fn posts(&self, store: usize) -> Option<&Expr> {
        let (semaphore, r) = self.counts(store, 1)?;
        let load = store.checked_sub(1)?;
        self.loads(load, store, r, semaphore).then_some(semaphore)
    }

    /// Returns what a store counts, and the register with its old value.
    fn counts(&self, store: usize, by: i64) -> Option<(&Expr, u32)> {
        let Instr::Store(to, Expr::Bin(BinOp::Add, x, n, _), at) = &self.t.code[store] else { return None };
        let Expr::Reg(r) = **x else { return None };
        let right = **n == Expr::Const(by) && at.size == 4 && self.t.access[store] == Access::Internal;
        right.then_some((to, r))
    }

    /// Returns whether an instruction is a load at the begin of a section, and comes right before
    /// another one.
    fn loads(&self, load: usize, before: usize, r: u32, from: &Expr) -> bool {
        let Instr::Load(q, place, at) = &self.t.code[load] else { return false };
        let Some(begin) = load.checked_sub(1) else { return false };
        let mut changed = false;
        from.registers(&mut |used| changed |= used == r);
        let straight = self.before[before] == [load] && self.before[load] == [begin];
        let right = *q == r && place == from && at.size == 4 && !changed;
        straight && right && self.t.code[begin] == Instr::AtomicBegin
    }

    fn after_jumps(&self, mut pc: usize) -> usize {
        for _ in 0..4 {
            match self.t.code.get(pc) {
                Some(Instr::Jump(to)) => pc = *to,
                _ => break,
            }
        }
        pc
    }
}
