//! Which instructions of a loop matter: those that other threads or the code behind the loop can
//! tell, and what these depend on. A branch matters if different things that matter come next on
//! its two ways (Danicic et al.: A unifying theory of control dependence, weak control closure).
//! So a counter of passes that only decides how long the thread idles does not.

use rustc_hash::FxHashSet;

use super::code::{Code, Place};
use crate::program::{Instr, Reg, next};

/// The variables that matter in a loop.
pub(super) struct Relevant {
    variables: FxHashSet<Reg>,
}

impl Relevant {
    /// Returns the variables that matter in a loop or behind it.
    pub(super) fn new(code: &Code<'_>, head: usize, inside: &FxHashSet<usize>) -> Relevant {
        Relevant::of(code, head, inside, true)
    }

    /// Returns the variables that matter in a loop as long as no thread leaves it.
    pub(super) fn inside(code: &Code<'_>, head: usize, inside: &FxHashSet<usize>) -> Relevant {
        Relevant::of(code, head, inside, false)
    }

    fn of(code: &Code<'_>, head: usize, inside: &FxHashSet<usize>, behind: bool) -> Relevant {
        let mut found = Marks { code, head, inside, instructions: FxHashSet::default() };
        let mut variables = FxHashSet::default();
        for &pc in inside {
            if found.matters_itself(pc) {
                found.instructions.insert(pc);
                variables.extend(code.reads(pc));
            }
            if behind
                && let Some(v) = code.writes(pc)
                && found.leaves(v)
            {
                variables.insert(v);
            }
        }
        while found.grow(&mut variables) {}
        Relevant { variables }
    }

    pub(super) fn contains(&self, v: Reg) -> bool {
        self.variables.contains(&v)
    }
}

struct Marks<'c, 'p> {
    code: &'c Code<'p>,
    head: usize,
    inside: &'c FxHashSet<usize>,
    /// The instructions inside that matter.
    instructions: FxHashSet<usize>,
}

impl Marks<'_, '_> {
    fn matters_itself(&self, pc: usize) -> bool {
        match &self.code.t.code[pc] {
            Instr::Load(..) | Instr::Store(..) => !matches!(self.code.accessed(pc), Some(Place::Cell(_))),
            Instr::Let(..)
            | Instr::Any(_)
            | Instr::Branch(..)
            | Instr::Jump(_)
            | Instr::AtomicBegin
            | Instr::AtomicEnd
            | Instr::Begins(..)
            | Instr::Ends(_)
            | Instr::Pointer(_) => false,
            _ => true,
        }
    }

    /// Returns whether the code behind the loop may read a variable.
    fn leaves(&self, v: Reg) -> bool {
        let out = self.inside.iter().flat_map(|&pc| next(&self.code.t.code, pc));
        let mut out: Vec<usize> = out.filter(|to| !self.inside.contains(to)).collect();
        out.sort_unstable();
        out.dedup();
        out.into_iter().any(|to| self.code.is_live(to, v))
    }

    /// Adds what the instructions that matter depend on. Returns whether there was something.
    fn grow(&mut self, variables: &mut FxHashSet<Reg>) -> bool {
        let mut grown = false;
        for &pc in self.inside {
            if self.instructions.contains(&pc) {
                continue;
            }
            let matters = match &self.code.t.code[pc] {
                Instr::Branch(..) => self.decides(pc),
                _ => self.code.writes(pc).is_some_and(|v| variables.contains(&v)),
            };
            if matters {
                self.instructions.insert(pc);
                variables.extend(self.code.reads(pc));
                grown = true;
            }
        }
        grown
    }

    /// Returns whether different instructions that matter may come next after a branch.
    fn decides(&self, branch: usize) -> bool {
        let (mut seen, mut first) = (FxHashSet::default(), None);
        let mut work = next(&self.code.t.code, branch);
        while let Some(pc) = work.pop() {
            let matters = pc == self.head || !self.inside.contains(&pc) || self.instructions.contains(&pc);
            if matters {
                if *first.get_or_insert(pc) != pc {
                    return true;
                }
            } else if seen.insert(pc) {
                work.extend(next(&self.code.t.code, pc));
            }
        }
        false
    }
}
