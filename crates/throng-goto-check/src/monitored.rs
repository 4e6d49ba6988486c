//! The goto program with the monitor of robustness, or of races, written into it: an ordinary
//! program, which predicate abstraction proves for any number of threads.
//!
//! One program for each slice: an address, and what is asked of it. The bits of the monitor
//! ([`throng_memory::rules`]) are registers of threads and shared variables. A run guesses three
//! times. It chooses which write of the target is the stale one, at the step that overwrites it,
//! and which later write is the last one before the violation; for races, it chooses the earlier
//! access. Before its choice nothing is known about a write that is not chosen yet: every view is
//! ignorant, and no thread is aware. So no step changes a bit of another thread: a thread that is
//! unaware because another one has written was unaware all along, as that write is the first that
//! counts. A run that chose the last write wrongly is cut off by the next one. Every violation
//! that the monitor has, its run has with the right choices.
//!
//! A thread that may read the stale value is tried with it on a copy of its code (`shadow`), up
//! to what it does next. Failures of the program itself are cut off: they are asked about without
//! the monitor.

mod bits;
mod places;
mod shadow;
mod writer;

use serde::{Deserialize, Serialize};
use throng_goto::program::{Access, BinOp, Expr, Instr, Program, Start, Violation};
use throng_goto::waiting::{WaitingLoop, waiting_loops};

use crate::abstraction::predicate::Predicate;
use crate::abstraction::variables::{Variable, Variables};
use bits::{BIT, Ghosts};
use places::Places;

/// What the names of the monitor's variables begin with.
const PREFIX: &str = "monitor.";

/// What a slice asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// No thread meets an older write of the address than sequential consistency allows.
    Robust,
    /// No two accesses of the address race.
    Race,
}

/// One address, and what is asked of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The first byte.
    pub address: i64,
    /// What is asked.
    pub asks: Asks,
}

/// Returns the slices of a program. If all of them are safe, the program is robust and has no data
/// race. `Err`: the monitor does not understand some access.
pub fn slices(program: &Program) -> Result<Vec<Slice>, String> {
    let places = Places::of(program)?;
    let mut found = Vec::new();
    for (&address, used) in &places.used {
        if used.atomic && used.written && program.weak_orders {
            found.push(Slice { address, asks: Asks::Robust });
        }
        if used.plain && used.written {
            found.push(Slice { address, asks: Asks::Race });
        }
    }
    Ok(found)
}

/// Returns whether threads share only what all of them access atomically.
pub fn shares_only_atomics(program: &Program) -> bool {
    Places::of(program).is_ok_and(|places| places.used.values().all(|used| !used.plain))
}

/// Returns the program with the monitor of a slice.
pub fn monitored(program: &Program, slice: Slice) -> Result<Program, String> {
    let places = Places::of(program)?;
    let mut new = program.clone();
    let ghosts = Ghosts::new(&mut new, &places, slice);
    let waiting = waiting_loops(program);
    let started = started(program)?;
    for (k, begins) in started.iter().enumerate() {
        let own: Vec<&WaitingLoop> = waiting.iter().filter(|l| l.template == k).collect();
        let context = writer::Context { program, places: &places, ghosts: &ghosts, slice, waiting: &own };
        new.templates[k] = writer::template(&context, k, *begins)?;
    }
    new.place_objects();
    new.asked = vec![Violation::Assertion];
    new.asserts = true;
    new.exclusive.clear();
    new.about.clear();
    new.stuck.clear();
    new.starvation.clear();
    new.finish();
    Ok(new)
}

/// The predicates that a proof about a monitored program begins with: its bits.
pub fn predicates(monitored: &Program) -> Vec<Predicate> {
    let Ok(variables) = Variables::of(monitored) else { return Vec::new() };
    let is_bit = |v: &Variable| v.name.starts_with(PREFIX) && v.name != "monitor.value";
    let bits = variables.list.iter().enumerate().filter(|(_, v)| is_bit(v));
    let zero =
        |id: usize| Expr::Bin(BinOp::Eq, Box::new(Expr::Reg(id as u32)), Box::new(Expr::Const(0)), BIT);
    bits.filter_map(|(id, _)| Predicate::of(zero(id), &variables)).collect()
}

/// For each template, whether threads that run it are there from the start.
fn started(program: &Program) -> Result<Vec<bool>, String> {
    let mut first = vec![false; program.templates.len()];
    match &program.start {
        Start::One(t) => first[*t] = true,
        Start::Any(list) => list.iter().for_each(|t| first[*t] = true),
    }
    let spawns = program.templates.iter().flat_map(|t| &t.code).filter_map(|i| match i {
        Instr::Spawn(t, ..) => Some(*t),
        _ => None,
    });
    match spawns.into_iter().find(|&t| first[t]) {
        Some(t) => Err(format!("{} is started from the beginning and later", program.templates[t].name)),
        None => Ok(first),
    }
}

/// Whether an access counts as one of C11, beside which the library has its own.
fn is_internal(access: Access) -> bool {
    access == Access::Internal
}
