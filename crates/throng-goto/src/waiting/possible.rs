//! Loops in which threads may wait: of some way around, it is not known that it changes something.
//!
//! Every way around that only waits reads memory that others may write, so each of these reads is
//! tried as the head of passes, beside the places to which control jumps back; other passes do not
//! count. A way around changes something if it stores to shared memory, other than in place of what
//! it has read in the same atomic section, takes or gives back a lock, starts a thread, and so on;
//! or if what it writes to variables of its own decides how the next one goes: a loop that counts,
//! or goes through a list, computes, and it is taken for granted that it comes to an end.

use super::code::{Code, Place, Values};
use super::{components, pass, quiet};
use crate::program::{Instr, Point, Program, next};

/// Maximum number of heads that are tried in a loop.
const MOST_HEADS: usize = 256;

/// A loop in which threads may wait.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PossibleWait {
    /// The template.
    pub template: usize,
    /// The instructions, sorted.
    pub points: Vec<usize>,
}

impl PossibleWait {
    /// Returns the places of the instructions.
    pub fn places(&self) -> impl Iterator<Item = Point> + '_ {
        self.points.iter().map(|&pc| Point { template: self.template as u32, pc: pc as u32 })
    }
}

/// Returns the loops of a program that is finished in which threads may wait. No two have an
/// instruction in common. A loop that looks at nothing waits for nothing: it is how some programs
/// stop.
pub fn possible_waits(program: &Program) -> Vec<PossibleWait> {
    let (quiet, values) = (quiet(program), Values::default());
    let mut found = Vec::new();
    for template in 0..program.templates.len() {
        let code = Code::new(program, template, &quiet, &values);
        let all: Vec<usize> = (0..code.t.code.len()).collect();
        for component in components::components(&code.t.code, &all) {
            let loops = loops(&code, &component);
            found.extend(loops.into_iter().map(|points| PossibleWait { template, points }));
        }
    }
    found
}

/// Returns the sets of instructions of ways around that may wait, united where they overlap.
fn loops(code: &Code<'_>, component: &[usize]) -> Vec<Vec<usize>> {
    let heads = heads(code, component);
    let tried = |head: &usize| pass::may_wait(code, *head, component);
    let ways = match heads.len() <= MOST_HEADS {
        true => heads.iter().map(tried).collect::<Option<Vec<_>>>(),
        false => None,
    };
    let mut found: Vec<Vec<usize>> = Vec::new();
    for mut points in ways.unwrap_or_else(|| without_actions(code, component)) {
        if !points.iter().any(|&pc| looks(code, pc)) {
            continue;
        }
        let overlaps = |other: &Vec<usize>| other.iter().any(|pc| points.contains(pc));
        let (with, apart): (Vec<_>, Vec<_>) = found.into_iter().partition(overlaps);
        points.extend(with.into_iter().flatten());
        found = apart;
        found.push(sorted(points));
    }
    found
}

/// Returns the ways around on which no instruction is certain to change something, where there are
/// too many to execute them: what is stored in atomic sections may be what was there.
fn without_actions(code: &Code<'_>, component: &[usize]) -> Vec<Vec<usize>> {
    let mut inside = vec![false; code.t.code.len() + 1];
    let begins = |pc: &usize| matches!(code.t.code[*pc], Instr::AtomicBegin);
    let mut work: Vec<usize> = component.iter().copied().filter(begins).collect();
    while let Some(pc) = work.pop() {
        if !matches!(code.t.code[pc], Instr::AtomicEnd) {
            let next = next(&code.t.code, pc).into_iter();
            work.extend(next.filter(|&to| !std::mem::replace(&mut inside[to], true)));
        }
    }
    let silent = |pc: &usize| inside[*pc] || !pass::acts(code, *pc);
    let left: Vec<usize> = component.iter().copied().filter(silent).collect();
    components::components(&code.t.code, &left)
}

/// Returns the instructions that are tried as heads.
fn heads(code: &Code<'_>, component: &[usize]) -> Vec<usize> {
    let inside = |pc: &usize| component.contains(pc);
    let back = component
        .iter()
        .flat_map(|&pc| next(&code.t.code, pc).into_iter().filter(move |&to| to <= pc).filter(inside));
    let looking = component.iter().copied().filter(|&pc| looks(code, pc));
    sorted(component.iter().copied().take(1).chain(back).chain(looking).collect())
}

/// Returns whether an instruction may read what other threads write.
fn looks(code: &Code<'_>, pc: usize) -> bool {
    match &code.t.code[pc] {
        Instr::Load(..) => code.accessed(pc) == Some(Place::Shared),
        Instr::Call { .. } | Instr::CallPointer { .. } => true,
        _ => false,
    }
}

fn sorted(mut list: Vec<usize>) -> Vec<usize> {
    list.sort_unstable();
    list.dedup();
    list
}
