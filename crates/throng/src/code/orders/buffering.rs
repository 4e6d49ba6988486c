//! Load buffering: ISO C and some processors let a relaxed read take its value from a write that its
//! thread executes earlier in effect, though later in the program; RC11 does not. Where no relaxed
//! read is followed by a write that it could change places with, nothing has to be assumed.
//!
//! A write cannot come before a relaxed read if it releases, if an acquire fence is between them, if
//! both are of the same location, or if the thread gets there only by leaving a loop that waits for
//! the value: no compiler and no processor lets others see a write before it is known to happen.
//! Other dependencies count for nothing here, because compilers may remove them.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use throng_goto::program::{self, Access, Expr, Instr, Order, Program, Reg, Template};

/// Returns whether a relaxed read of a program may change places with a later write.
pub(super) fn may_buffer_loads(program: &Program) -> bool {
    if !program.is_flat() {
        let any = |is: fn(&Template, usize) -> bool| {
            program.templates.iter().any(|t| (0..t.code.len()).any(|pc| is(t, pc)))
        };
        return any(reads_relaxed) && any(writes_relaxed);
    }
    program.templates.iter().any(|template| {
        let reading = (0..template.code.len()).filter(|&pc| reads_relaxed(template, pc));
        { reading }.any(|pc| Walk { template, read: pc }.meets_write())
    })
}

fn orders(access: Access) -> Vec<Order> {
    match access {
        Access::Atomic(order) => vec![order],
        Access::Update(done, failed) => vec![done, failed],
        Access::Plain | Access::Internal => Vec::new(),
    }
}

fn reads_relaxed(template: &Template, pc: usize) -> bool {
    let relaxed = orders(template.access[pc]).iter().any(|order| !order.acquires());
    relaxed && matches!(template.code[pc], Instr::Load(..))
}

fn writes_relaxed(template: &Template, pc: usize) -> bool {
    let relaxed = orders(template.access[pc]).first().is_some_and(|order| !order.releases());
    relaxed && matches!(template.code[pc], Instr::Store(..))
}

/// A walk from a relaxed read on.
struct Walk<'t> {
    template: &'t Template,
    read: usize,
}

/// Where a walk is: the instruction, the registers that have the value, and whether it is still in
/// the operation that the read is a part of.
type At = (usize, BTreeSet<Reg>, bool);

impl Walk<'_> {
    /// Returns whether it gets to a write that could come before the read.
    fn meets_write(&self) -> bool {
        let Instr::Load(register, ..) = &self.template.code[self.read] else { return false };
        let inside = matches!(self.template.access[self.read], Access::Update(..));
        let mut open: Vec<At> = vec![(self.read + 1, BTreeSet::from([*register]), inside)];
        let mut seen: FxHashSet<At> = FxHashSet::default();
        while let Some(at) = open.pop() {
            if at.0 >= self.template.code.len() || !seen.insert(at.clone()) {
                continue;
            }
            if self.may_come_before(&at) {
                return true;
            }
            open.extend(self.next(at));
        }
        false
    }

    /// Returns whether the instruction is such a write.
    fn may_come_before(&self, (pc, _, inside): &At) -> bool {
        let Instr::Store(address, ..) = &self.template.code[*pc] else { return false };
        writes_relaxed(self.template, *pc) && !inside && !self.is_same_location(address)
    }

    fn is_same_location(&self, address: &Expr) -> bool {
        let Instr::Load(_, read, _) = &self.template.code[self.read] else { return false };
        address.constant().is_some_and(|a| read.constant() == Some(a))
    }

    fn next(&self, (pc, mut with, inside): At) -> Vec<At> {
        let instruction = &self.template.code[pc];
        match instruction {
            Instr::Fence(order) if order.acquires() => return Vec::new(),
            Instr::Branch(condition, ..) if uses(condition, &with) && self.waits_at(pc) => return Vec::new(),
            Instr::Assume(condition) if uses(condition, &with) => return Vec::new(),
            _ => {}
        }
        if let Some(register) = program::writes(instruction) {
            match instruction {
                Instr::Let(_, e) if uses(e, &with) => with.insert(register),
                _ => with.remove(&register),
            };
        }
        let inside = inside && *instruction != Instr::AtomicEnd;
        let after = program::next(&self.template.code, pc).into_iter();
        after.map(|pc| (pc, with.clone(), inside)).collect()
    }

    /// Returns whether one way from a branch leads back to the read without a write.
    fn waits_at(&self, branch: usize) -> bool {
        let quiet = |pc: usize| {
            let i = &self.template.code[pc];
            !matches!(i, Instr::Store(..) | Instr::Spawn(..))
        };
        program::next(&self.template.code, branch).into_iter().any(|first| {
            let (mut open, mut seen) = (vec![first], FxHashSet::default());
            while let Some(pc) = open.pop() {
                if pc == self.read {
                    return true;
                }
                if quiet(pc) && seen.insert(pc) {
                    open.extend(program::next(&self.template.code, pc));
                }
            }
            false
        })
    }
}

fn uses(e: &Expr, with: &BTreeSet<Reg>) -> bool {
    let mut found = false;
    e.registers(&mut |register| found |= with.contains(&register));
    found
}
