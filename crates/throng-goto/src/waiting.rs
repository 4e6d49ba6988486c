//! Waiting loops: loops in which a thread only waits for what others do.
//!
//! A *pass* of a loop goes from its head to its head. A loop is a waiting loop if every pass
//! leaves everything as it was:
//!
//! - it stores nothing that other threads may see, except what it has read from there in the same
//!   atomic section (an exchange that finds the lock taken puts the same value back);
//! - it starts, joins and ends no thread, takes and gives back no lock or memory, and calls only
//!   functions that do nothing of this either;
//! - what it writes to registers and private memory is not read in the next pass or after the loop,
//!   or is the value from before the pass.
//!
//! So a thread in a pass that does not leave the loop has done nothing, and any number of passes
//! are as good as none. A compare-and-swap that fails is a read; one that succeeds writes, and the
//! loop is a waiting loop only if the thread leaves it then. Passes are executed with symbols for
//! values (`pass`), so that what the success is stored in decides the branch behind it. Counters
//! that only decide how long a thread idles between its reads do not matter (`relevant`); that
//! idling comes to an end is taken for granted.
//!
//! Where something is not understood, the loop is not a waiting loop.
//!
//! Who asks whether threads may wait needs the other side: [`possible_waits`] are the loops of which
//! *some* pass may leave everything as it was, with the shared memory and variables of a thread as
//! they happen to be. That a thread does wait there is then established for each configuration.

mod code;
mod components;
mod pass;
mod possible;
mod relevant;

pub use possible::{PossibleWait, possible_waits};

use crate::program::{Expr, Instr, Int, Point, Program, Reg};

use code::Code;

/// Maximum number of instructions of a loop that are tried as its head.
const MOST_HEADS: usize = 16;

/// A loop in which a thread waits.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct WaitingLoop {
    /// The template.
    pub template: usize,
    /// The instruction at which passes begin and end.
    pub head: usize,
    /// The instructions of passes that do not leave the loop, sorted; the head is one of them.
    pub points: Vec<usize>,
    /// The instructions that end such a pass: control goes from them to the head.
    pub returns: Vec<usize>,
    /// The reads of memory that other threads may write, in such passes, sorted by instruction.
    pub reads: Vec<Read>,
    /// The ways out of the loop.
    pub exits: Vec<Exit>,
    /// The stores of such passes, sorted: they put back what was read in the same atomic section.
    pub puts_back: Vec<usize>,
}

/// A read of memory that other threads may write.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Read {
    /// The instruction, an [`Instr::Load`].
    pub at: usize,
    /// The address, over the registers at the head and the values read before it in the pass;
    /// `None` if it differs between passes.
    pub address: Option<Expr>,
    /// The type that is read.
    pub size: Int,
    /// The number that stands for the value read, as a register, in [`Exit::when`]. Smaller
    /// numbers than [`Read::FIRST`] are registers of the template, with their values at the head.
    pub value: Reg,
}

impl Read {
    /// The first number that is not a register of a template.
    pub const FIRST: Reg = 1 << 24;
}

/// A way out of a loop.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Exit {
    /// The branch at which it is decided.
    pub at: usize,
    /// The instruction to which control goes.
    pub to: usize,
    /// The condition under which it is taken, over what was read in the pass ([`Read::value`]) and
    /// the registers at the head; `None` if it depends on something else, as an input.
    pub when: Option<Expr>,
}

impl WaitingLoop {
    /// Returns the place of the head.
    pub fn point(&self) -> Point {
        Point { template: self.template as u32, pc: self.head as u32 }
    }

    /// Returns whether a thread whose next instruction this is may be in a pass that does not leave
    /// the loop.
    pub fn contains(&self, at: Point) -> bool {
        at.template as usize == self.template && self.points.binary_search(&(at.pc as usize)).is_ok()
    }

    /// Returns the places of the instructions.
    pub(crate) fn places(&self) -> impl Iterator<Item = Point> + '_ {
        self.points.iter().map(|&pc| Point { template: self.template as u32, pc: pc as u32 })
    }

    /// Returns whether passes do not even put back what they read: they are reads alone.
    pub fn only_reads(&self) -> bool {
        self.puts_back.is_empty()
    }

    /// Returns the single read of passes and the condition on its value and on registers that no
    /// pass changes, under which the thread leaves: `wait until *address …`. `None` if a pass reads
    /// more than once, or leaves in several ways.
    pub fn test(&self) -> Option<(&Read, &Expr)> {
        match (&self.reads[..], &self.exits[..]) {
            ([read], [Exit { when: Some(when), .. }]) if self.only_reads() => Some((read, when)),
            _ => None,
        }
    }
}

/// Returns the waiting loops of a program that is finished ([`Program::finish`]), by template and
/// head. None contains another.
pub fn waiting_loops(program: &Program) -> Vec<WaitingLoop> {
    let quiet = quiet(program);
    let values = code::Values::default();
    let mut found = Vec::new();
    for template in 0..program.templates.len() {
        let code = Code::new(program, template, &quiet, &values);
        let all: Vec<usize> = (0..code.t.code.len()).collect();
        loops(&code, &all, &mut found);
    }
    found.sort_by_key(|l| (l.template, l.head));
    found
}

/// Adds the outermost waiting loops among the instructions `within`.
fn loops(code: &Code<'_>, within: &[usize], found: &mut Vec<WaitingLoop>) {
    for component in components::components(&code.t.code, within) {
        let head = component[0];
        let waiting = heads(code, &component).find_map(|head| pass::waiting(code, head, &component));
        match waiting {
            Some(waiting) => found.push(waiting),
            None => {
                let inner: Vec<usize> = component.into_iter().filter(|&pc| pc != head).collect();
                loops(code, &inner, found);
            }
        }
    }
}

/// Returns the innermost loop around an instruction, if that is a waiting loop.
pub(crate) fn waiting_loop_around(program: &Program, at: Point) -> Option<WaitingLoop> {
    let (quiet, values) = (quiet(program), code::Values::default());
    let code = Code::new(program, at.template as usize, &quiet, &values);
    let (pc, mut innermost) = (at.pc as usize, Vec::new());
    let mut within: Vec<usize> = (0..code.t.code.len()).collect();
    while let Some(around) =
        components::components(&code.t.code, &within).into_iter().find(|all| all.contains(&pc))
    {
        within = around.iter().copied().filter(|&pc| pc != around[0]).collect();
        innermost = around;
    }
    heads(&code, &innermost).find_map(|head| pass::waiting(&code, head, &innermost))
}

/// Returns the instructions of a loop that are tried as its head: where control enters it, and the
/// first accesses to memory. In `v = x; while (v) v = x;` nothing is live before the second read.
fn heads<'c>(code: &'c Code<'_>, component: &'c [usize]) -> impl Iterator<Item = usize> + 'c {
    let reads = |pc: &&usize| matches!(code.t.code[**pc], Instr::Load(..) | Instr::AtomicBegin);
    component.iter().take(1).chain(component.iter().skip(1).filter(reads).take(MOST_HEADS)).copied()
}

/// Returns, for each template, whether a call of it does nothing but read and compute.
fn quiet(program: &Program) -> Vec<bool> {
    let n = program.templates.len();
    let alone = |t: usize| {
        program.templates[t].code.iter().all(|i| match i {
            Instr::Store(Expr::Local(k), ..) | Instr::Begins(Expr::Local(k), _) => {
                !program.templates[t].locals[*k as usize].place.is_shared()
            }
            Instr::Ends(list) => list.iter().all(|l| matches!(l.0, Expr::Local(_))),
            Instr::Let(..)
            | Instr::Any(_)
            | Instr::Load(..)
            | Instr::Branch(..)
            | Instr::Jump(_)
            | Instr::AtomicBegin
            | Instr::AtomicEnd
            | Instr::Pointer(_)
            | Instr::Call { .. }
            | Instr::Return(_) => true,
            _ => false,
        })
    };
    let mut quiet: Vec<bool> = (0..n).map(alone).collect();
    // A function that calls one that is not quiet is not quiet itself; nor is one that may not
    // return because it calls itself.
    for (t, quiet) in quiet.iter_mut().enumerate() {
        *quiet &= program.callees(t).iter().all(|&c| !program.reaches(c).contains(&t));
    }
    loop {
        let loud = (0..n).find(|&t| quiet[t] && program.callees(t).iter().any(|&c| !quiet[c]));
        match loud {
            Some(t) => quiet[t] = false,
            None => return quiet,
        }
    }
}
