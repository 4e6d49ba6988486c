//! A program in which every place that starts threads starts them in code of its own, as far as a
//! budget goes: what is known about a thread then depends on where it was started.

use super::{Instr, Program};

/// Maximum number of instructions that copies add, beside as many as the program has.
const MOST: usize = 20_000;

/// A program with copies of templates, and what they are copies of.
#[derive(Clone, Debug)]
pub struct Split {
    /// The program.
    pub program: Program,
    /// By template, that of the original program; the first ones are those themselves.
    pub original: Vec<usize>,
}

impl Program {
    /// Returns the program with a template of its own for each instruction that starts threads. A
    /// thread that starts threads like itself shares the template with them.
    pub fn split_by_thread(&self) -> Split {
        let mut program = self.clone();
        let mut original: Vec<usize> = (0..program.templates.len()).collect();
        // By template, the originals of those it was started by, itself included.
        let mut above: Vec<Vec<usize>> = original.iter().map(|&t| vec![t]).collect();
        let mut used = vec![false; program.templates.len()];
        for t in self.first_templates() {
            used[t] = true;
        }
        let (mut room, mut t) = (self.templates.iter().map(|t| t.code.len()).sum::<usize>() + MOST, 0);
        while t < program.templates.len() {
            for pc in 0..program.templates[t].code.len() {
                let Instr::Spawn(child, ..) = program.templates[t].code[pc] else { continue };
                let size = program.templates[child].code.len();
                if !std::mem::replace(&mut used[child], true) {
                    let line = above[t].clone();
                    above[child].extend(line);
                } else if !above[t].contains(&original[child]) && size <= room {
                    room -= size;
                    let copy = program.templates.len();
                    let mut line = above[t].clone();
                    line.push(original[child]);
                    above.push(line);
                    original.push(original[child]);
                    used.push(true);
                    let code = self.templates[original[child]].clone();
                    program.templates.push(super::Template { pointer: None, ..code });
                    if let Instr::Spawn(to, ..) = &mut program.templates[t].code[pc] {
                        *to = copy;
                    }
                }
            }
            t += 1;
        }
        Split { program, original }
    }

    /// Returns the templates that threads start in which the program begins with.
    pub fn first_templates(&self) -> Vec<usize> {
        match &self.start {
            super::Start::One(t) => vec![*t],
            super::Start::Any(list) => list.clone(),
        }
    }
}
