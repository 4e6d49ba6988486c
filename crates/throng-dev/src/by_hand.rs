//! Two algorithms written by hand for Boolean programs: the third version of IJIT (section 5), with
//! which just-in-time translation is compared.
//!
//! The engines know states as opaque words and get steps from a model. Here states are what they are
//! in a program: a place and two bits for each variable, which may be 0 and may be 1; statements are
//! executed on these, and nothing is translated back or forth. Both versions leave a variable open
//! until a statement reads it, and forget values that are never read again, so that they explore
//! the same states: without that, a comparison would say more about these two ideas than about the
//! translation.
//!
//! Taken are programs that neither start nor wake threads and have no variables of other threads,
//! with at most 64 shared variables and 64 of a thread.

mod execute;
mod explicit;
mod karp_miller;

pub use self::explicit::{Counts, explicit};
pub use self::karp_miller::karp_miller;

use throng_lang::bp::Jit;
use throng_lang::bp::program::expr::{FREE, ONE, ZERO};
use throng_lang::bp::program::live::{faint_assignments, live_slots};
use throng_lang::bp::program::{EdgeKind, Program};

/// For each of up to 64 variables, whether it may be 0 and whether it may be 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Bits {
    zero: u64,
    one: u64,
}

impl Bits {
    fn get(self, i: u32) -> u8 {
        (if self.zero >> i & 1 == 1 { ZERO } else { 0 }) | (if self.one >> i & 1 == 1 { ONE } else { 0 })
    }

    fn set(&mut self, i: u32, mask: u8) {
        let bit = 1 << i;
        self.zero = if mask & ZERO == 0 { self.zero & !bit } else { self.zero | bit };
        self.one = if mask & ONE == 0 { self.one & !bit } else { self.one | bit };
    }

    fn of(masks: impl Iterator<Item = u8>) -> Bits {
        let mut bits = Bits::default();
        (0..).zip(masks).for_each(|(i, mask)| bits.set(i, mask));
        bits
    }
}

/// A thread: its place and its variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Thread {
    point: u32,
    slots: Bits,
}

/// The shared variables, and whether a thread is inside an atomic section.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Common {
    inside: bool,
    variables: Bits,
}

/// A program, ready to be executed.
pub struct ByHand<'a> {
    program: &'a Program,
    /// For each place, slots that are in use and whose values do not matter.
    dead: Vec<u64>,
    /// For each place, the slots that are in use.
    used: Vec<u64>,
    /// For each edge, assignments that are never observed.
    faint: Vec<Vec<bool>>,
}

impl<'a> ByHand<'a> {
    /// Takes a program, unless it is of another kind.
    pub fn new(jit: &'a Jit) -> Option<ByHand<'a>> {
        let program = jit.program();
        let plain = |e: &throng_lang::bp::program::Edge| e.kind == EdgeKind::Plain && e.child.is_none();
        if program.shared.len() > 64 || program.slots > 64 || !program.edges.iter().all(plain) {
            return None;
        }
        let live = live_slots(program, &[]);
        let low = |n: usize| if n == 64 { u64::MAX } else { (1 << n) - 1 };
        let used: Vec<u64> = (0..program.points.len()).map(|p| low(program.used_slots(p as u32))).collect();
        let lives = |slots: &[bool]| (0..).zip(slots).fold(0, |bits, (i, &l)| bits | u64::from(l) << i);
        let dead = live.iter().zip(&used).map(|(slots, used)| used & !lives(slots)).collect();
        Some(ByHand { program, dead, used, faint: faint_assignments(program, &live) })
    }

    /// The shared variables and the thread at the start.
    fn start(&self) -> (Common, Thread) {
        let program = self.program;
        let variables = Bits::of(program.shared.iter().map(|v| v.initial));
        let entry = program.entry;
        let point = &program.points[entry as usize];
        let own = program.thread_locals.iter().chain(&program.functions[point.function].variables);
        let masks = own.map(|v| v.initial).chain(std::iter::repeat(ZERO)).take(program.slots);
        let thread = Thread { point: entry, slots: Bits::of(masks) };
        (Common { inside: point.inside, variables }, self.forgetful(thread))
    }

    /// The thread with every value open that does not matter, and unused slots 0.
    fn forgetful(&self, Thread { point, slots }: Thread) -> Thread {
        let (dead, used) = (self.dead[point as usize], self.used[point as usize]);
        Thread {
            point,
            slots: Bits { zero: slots.zero | dead | !used & self.all(), one: (slots.one | dead) & used },
        }
    }

    fn all(&self) -> u64 {
        if self.program.slots == 64 { u64::MAX } else { (1 << self.program.slots) - 1 }
    }

    /// Whether a thread can violate an assertion.
    fn violates(&self, common: Common, thread: Thread) -> bool {
        let point = &self.program.points[thread.point as usize];
        let Some(condition) = point.assertion.as_ref().filter(|_| point.inside == common.inside) else {
            return false;
        };
        execute::can(condition, false, common.variables, thread.slots)
    }
}

/// The mask of a variable that may have either value.
const OPEN: u8 = FREE;
