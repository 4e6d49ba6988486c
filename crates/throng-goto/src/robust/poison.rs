//! Reads that are left out: a thread reads an older value, and whether that was so does not matter
//! before the value is used.
//!
//! A reader of a sequence lock reads data that may be out of date, and throws it away if the
//! sequence number has changed. Read like this, a value leaves sequential consistency, and nothing
//! comes of it. So a read that may meet a stale write is not a violation at once: the run goes on
//! without the read, the thread knows no more than before, and its register is open. The
//! violation is that an open register is used: in a branch, an address, a write. Where it is
//! overwritten before, the execution without the read is one of the program, too.
//!
//! A run has one stale write, and at most one register of a thread is open because of it. Reads of
//! other stale writes may be left out as well, at any time; a run in which such a register is used,
//! and not the former one by the same instruction, is cut off, because another choice of the stale
//! write shows that violation. Of a register that is not read again, nothing comes at all.

use super::watch::Bits;
use crate::program::{Access, Instr, Program, Reg, reads};
use crate::step::{Event, Outcome, Thread, register};

/// A bit of a thread: it has left out a read of another write than the stale one, and has the
/// value open.
pub const LEFT_OUT: Bits = 1 << 7;
/// From this bit on, the number of the register that is open because of the stale write, and 1.
const REGISTER: u32 = 8;
/// All of these bits.
pub const FLAGS: Bits = !0 << 7;

/// Returns the register that is open because of the stale write.
fn poisoned(bits: Bits) -> Option<Reg> {
    Reg::from(bits >> REGISTER).checked_sub(1)
}

/// Returns whether no register of a program is open otherwise.
pub fn applies(program: &Program) -> bool {
    let mut code = program.templates.iter().flat_map(|t| &t.code);
    !program.undefined_values && !code.any(|i| matches!(i, Instr::Any(_)))
}

/// A thread behind its next read, which it has left out.
pub struct LeftOut {
    /// The thread.
    pub thread: Thread,
    /// Where it would have read, and how many bytes.
    pub location: (i64, u32),
    /// The register that is open; `None`: nothing reads it.
    open: Option<Reg>,
}

impl LeftOut {
    /// The bits of the thread if the read was one of the stale write. `None`: another register is
    /// open because of it.
    pub fn poisons(&self, bits: Bits) -> Option<Bits> {
        let Some(open) = self.open else { return Some(bits) };
        let number = Bits::try_from(open + 1).ok().filter(|n| *n < 1 << (Bits::BITS - REGISTER))?;
        poisoned(bits).is_none().then_some(bits | number << REGISTER)
    }

    /// The bits of the thread if the read was one of another write.
    pub fn leaves_out(&self, bits: Bits) -> Bits {
        bits | if self.open.is_some() { LEFT_OUT } else { 0 }
    }
}

/// Returns the thread without the atomic read that comes next.
pub fn left_out(program: &Program, thread: &Thread, location: (i64, u32)) -> Option<LeftOut> {
    let (t, pc) = (&program.templates[thread.template as usize], thread.pc as usize);
    let (Instr::Load(r, ..), Access::Atomic(_)) = (&t.code[pc], t.access[pc]) else { return None };
    let plain = thread.frames.is_empty() && !thread.stopped;
    if !plain || t.copies.binary_search(&pc).is_ok() || t.field(pc).is_some() {
        return None;
    }
    let live = t.live.get(pc + 1)?;
    let value = |q: &u32| if q == r { None } else { register(program, thread, *q) };
    let registers = live.iter().map(value).collect();
    let thread = Thread { pc: thread.pc + 1, registers, ..thread.clone() };
    Some(LeftOut { thread, location, open: live.contains(r).then_some(*r) })
}

/// What a step does with registers that are open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Nothing, or it copies them.
    Nothing,
    /// It uses one that is open because of the stale write.
    Stale,
    /// It uses another one.
    Other,
}

/// Returns what a step does with open registers; `thread` has these bits before.
pub fn used(program: &Program, thread: &Thread, bits: Bits, outcome: &Outcome) -> Use {
    let mine = poisoned(bits);
    let first = outcome.events.iter().find_map(|e| match e {
        Event::Chosen(r, _) => Some(Some(*r)),
        Event::Copied(from, _) if Some(*from) == mine => Some(mine),
        Event::Called(list) => list.first().map(|(from, _)| Some(*from)),
        Event::Returned(Some((from, _))) => Some(Some(*from)),
        Event::Opened(..) => Some(mine),
        _ => None,
    });
    let Some(register) = first else { return Use::Nothing };
    let together = |i: &Instr| {
        let (mut a, mut b) = (false, false);
        reads(i, &mut |r| {
            a |= Some(r) == mine;
            b |= Some(r) == register;
        });
        a && b
    };
    let code = &program.templates[thread.template as usize].code;
    let stale =
        mine.is_some() && (register == mine || !thread.frames.is_empty() || code.iter().any(together));
    if stale { Use::Stale } else { Use::Other }
}

/// Returns the bits of a thread after a step, of which those about open registers hold only if
/// there are some.
pub fn still(program: &Program, thread: &Thread, bits: Bits) -> Bits {
    if !thread.frames.is_empty() {
        return bits;
    }
    if !thread.registers.iter().any(Option::is_none) {
        return bits & !FLAGS;
    }
    let live = &program.templates[thread.template as usize].live[thread.pc as usize];
    let open = |r: Reg| live.contains(&r) && register(program, thread, r).is_none();
    match poisoned(bits) {
        Some(r) if !open(r) => bits & !(FLAGS & !LEFT_OUT),
        _ => bits,
    }
}
