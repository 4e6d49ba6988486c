//! Programs without the data that decides nothing: what is left shows who waits for whom, and is
//! small where the data is not, as with a counter behind a lock.
//!
//! Data matters if a branch, an address, or anything else that is not a plain store depends on it.
//! What does not matter is stored and computed as 0: every step stays a step, at its place, and
//! with the same threads that can take it. Where one way of a branch is a failed assertion, or the
//! end of the process, it is not taken: a process that has ended has no waiting thread. So every
//! run of the program that does not end in this way is one of the slice, and where a thread gets on
//! in the slice, it gets on in the program, or the process ends. A thread that waits in a loop of
//! the program has to wait there in the slice, too, which is compared.
//!
//! This takes memory safety for granted, as proofs about waiting do: an object of which no address
//! is computed is accessed only where its address is written.

use rustc_hash::FxHashSet;

use super::{Expr, Instr, Program, Reg, Violation, expressions, object_of};
use crate::waiting::possible_waits;

impl Program {
    /// Returns the program without data that decides nothing. The same program if functions are
    /// called, or if a loop waits only because of what it stores.
    pub fn without_idle_data(&self) -> Program {
        let mut slice = self.clone();
        if !self.is_flat() {
            return slice;
        }
        let mut matters = Matters::of(self);
        while matters.grow(self) {}
        for (t, template) in slice.templates.iter_mut().enumerate() {
            let dead: Vec<bool> = (0..template.code.len()).map(|pc| is_end(&template.code, pc)).collect();
            for i in &mut template.code {
                matters.cut(t, i, &dead);
            }
        }
        slice.finish();
        match waits(self).is_subset(&waits(&slice)) {
            true => slice,
            false => self.clone(),
        }
    }
}

/// Returns the instructions of loops in which threads may wait.
fn waits(program: &Program) -> FxHashSet<(usize, usize)> {
    let loops = possible_waits(program).into_iter();
    loops.flat_map(|l| l.points.into_iter().map(move |pc| (l.template, pc))).collect()
}

/// Returns whether nothing but a failed assertion or the end of the process comes at an instruction.
fn is_end(code: &[Instr], pc: usize) -> bool {
    matches!(code[pc], Instr::Fail(Violation::Assertion, _) | Instr::Halt)
}

/// Returns the way that is left of a branch of which the other one is an end.
fn only_way(first: usize, second: usize, dead: &[bool]) -> Option<usize> {
    match (dead[first], dead[second]) {
        (true, false) => Some(second),
        (false, true) => Some(first),
        _ => None,
    }
}

/// What the way of threads depends on.
#[derive(Default)]
struct Matters {
    registers: FxHashSet<(usize, Reg)>,
    /// Objects, private ones among them, by the number in their addresses.
    objects: FxHashSet<i64>,
}

impl Matters {
    fn of(program: &Program) -> Matters {
        let mut found = Matters::default();
        for o in &program.objects {
            // Addresses in initial values may be read as pointers.
            for bytes in (0..o.init.len()).step_by(8).filter_map(|i| o.init.get(i..i + 8)) {
                let value = bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b & 255));
                found.objects.insert(object_of(value));
            }
        }
        for (t, template) in program.templates.iter().enumerate() {
            let dead: Vec<bool> = (0..template.code.len()).map(|pc| is_end(&template.code, pc)).collect();
            for i in &template.code {
                found.add_itself(t, i, &dead);
            }
        }
        found
    }

    /// Adds what an instruction depends on that matters itself.
    fn add_itself(&mut self, t: usize, i: &Instr, dead: &[bool]) {
        match i {
            Instr::Let(..) | Instr::Load(_, Expr::Const(_), _) | Instr::Store(Expr::Const(_), ..) => {}
            Instr::Branch(_, a, b) if only_way(*a, *b, dead).is_some() => {}
            _ => expressions(i, &mut |e| self.add(t, e)),
        }
    }

    fn add(&mut self, t: usize, e: &Expr) {
        e.registers(&mut |r| _ = self.registers.insert((t, r)));
        e.constants(&mut |v| _ = self.objects.insert(object_of(v)));
    }

    fn matters(&self, address: i64) -> bool {
        self.objects.contains(&object_of(address))
    }

    /// Adds what that depends on which matters. Returns whether there was something new.
    fn grow(&mut self, program: &Program) -> bool {
        let before = (self.registers.len(), self.objects.len());
        for (t, template) in program.templates.iter().enumerate() {
            for i in &template.code {
                match i {
                    Instr::Let(r, e) if self.registers.contains(&(t, *r)) => self.add(t, e),
                    Instr::Load(r, Expr::Const(a), _) if self.registers.contains(&(t, *r)) => {
                        self.objects.insert(object_of(*a));
                    }
                    Instr::Store(Expr::Const(a), e, _) if self.matters(*a) => self.add(t, e),
                    _ => {}
                }
            }
        }
        before != (self.registers.len(), self.objects.len())
    }

    /// Leaves out of an instruction what does not matter.
    fn cut(&self, t: usize, i: &mut Instr, dead: &[bool]) {
        match i {
            Instr::Let(r, e) if !self.registers.contains(&(t, *r)) => *e = Expr::Const(0),
            Instr::Any(r) if !self.registers.contains(&(t, *r)) => *i = Instr::Let(*r, Expr::Const(0)),
            Instr::Store(Expr::Const(a), e, _) if !self.matters(*a) => *e = Expr::Const(0),
            Instr::Branch(_, a, b) => {
                if let Some(way) = only_way(*a, *b, dead) {
                    *i = Instr::Jump(way);
                }
            }
            _ => {}
        }
    }
}
