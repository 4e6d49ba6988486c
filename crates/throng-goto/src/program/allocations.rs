//! A program in which every call of a short function that allocates memory calls code of its own, as
//! far as a budget goes: what such a function returns then depends on where it was called.

use super::{Instr, Program, Split, Template};

/// Maximum number of instructions of a function that is copied.
const SHORT: usize = 150;

/// Number of instructions that copies may add, beside half as many as the program has.
const MOST: usize = 10_000;

impl Program {
    /// Returns the program with code of its own for each instruction that starts threads, and for
    /// each call of a short function that allocates what it returns.
    pub fn split(&self) -> Split {
        let mut split = self.split_by_thread();
        split.by_allocation();
        split
    }

    /// Returns the short functions that allocate something, or call one that does, and return a
    /// value; none that starts threads or calls itself.
    fn allocating(&self) -> Vec<bool> {
        let fits = |t: usize| {
            let code = &self.templates[t].code;
            code.len() <= SHORT
                && code.iter().any(|i| matches!(i, Instr::Return(Some(_))))
                && !code.iter().any(|i| matches!(i, Instr::Spawn(..)))
        };
        let fits: Vec<bool> = (0..self.templates.len()).map(fits).collect();
        let mut found = vec![false; self.templates.len()];
        loop {
            let allocates = |i: &Instr| match i {
                Instr::Alloc(..) | Instr::Resize(..) => true,
                Instr::Call { function, .. } => found[*function],
                _ => false,
            };
            let is_new = |t: &usize| fits[*t] && !found[*t] && self.templates[*t].code.iter().any(allocates);
            let new: Vec<usize> = (0..found.len()).filter(is_new).collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|t| found[t] = true);
        }
        let calls = |t: usize| {
            self.templates[t].code.iter().filter_map(|i| match i {
                Instr::Call { function, .. } => Some(*function),
                _ => None,
            })
        };
        let calls_itself = |start: usize| {
            let (mut seen, mut work) = (vec![false; found.len()], vec![start]);
            while let Some(t) = work.pop() {
                for next in calls(t) {
                    if next == start {
                        return true;
                    }
                    if !std::mem::replace(&mut seen[next], true) {
                        work.push(next);
                    }
                }
            }
            false
        };
        (0..found.len()).map(|t| found[t] && !calls_itself(t)).collect()
    }
}

impl Split {
    fn by_allocation(&mut self) {
        let allocates = self.program.allocating();
        let program = &mut self.program;
        let mut used = vec![false; allocates.len()];
        // Functions as they were, with calls that are not distributed yet.
        let unchanged = |t: usize| allocates[t].then(|| program.templates[t].clone());
        let unchanged: Vec<Option<Template>> = (0..allocates.len()).map(unchanged).collect();
        let mut room = program.templates.iter().map(|t| t.code.len()).sum::<usize>() / 2 + MOST;
        let mut t = 0;
        while t < program.templates.len() {
            for pc in 0..program.templates[t].code.len() {
                let Instr::Call { function, .. } = &program.templates[t].code[pc] else { continue };
                let called = *function;
                let Some(Some(code)) = unchanged.get(called) else { continue };
                if !std::mem::replace(&mut used[called], true) || code.code.len() > room {
                    continue;
                }
                room -= code.code.len();
                let copy = program.templates.len();
                program.templates.push(Template { pointer: None, ..code.clone() });
                self.original.push(self.original[called]);
                if let Instr::Call { function, .. } = &mut program.templates[t].code[pc] {
                    *function = copy;
                }
            }
            t += 1;
        }
    }
}
