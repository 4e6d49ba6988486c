//! Which functions threads start in, and which call which.

use super::{Instr, Program, Start};

impl Program {
    /// Returns the templates that threads start in, sorted.
    pub fn starts(&self) -> Vec<usize> {
        let mut found = match &self.start {
            Start::One(t) => vec![*t],
            Start::Any(list) => list.clone(),
        };
        for i in self.templates.iter().flat_map(|t| &t.code) {
            if let Instr::Spawn(child, ..) = i {
                found.push(*child);
            }
        }
        found.retain(|&t| t < self.templates.len());
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns whether no function is called: every instruction is one of a thread's first
    /// function.
    pub fn is_flat(&self) -> bool {
        let calls = |i: &Instr| matches!(i, Instr::Call { .. } | Instr::CallPointer { .. });
        !self.templates.iter().any(|t| t.code.iter().any(calls) || !t.locals.is_empty())
    }

    /// Returns the templates that the code of one may call, sorted.
    pub fn callees(&self, template: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for i in &self.templates[template].code {
            match i {
                Instr::Call { function, .. } => found.push(*function),
                Instr::CallPointer { arguments, .. } => {
                    let types: Vec<_> = arguments.iter().map(|(_, at)| *at).collect();
                    let fits =
                        |t: &usize| self.templates[*t].pointer.is_some() && self.templates[*t].takes(&types);
                    found.extend((0..self.templates.len()).filter(fits));
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns whether some code may call a template.
    pub fn is_called(&self, template: usize) -> bool {
        (0..self.templates.len()).any(|t| self.callees(t).contains(&template))
    }

    /// Returns the templates whose code a thread that starts in one may execute, sorted.
    pub fn reaches(&self, start: usize) -> Vec<usize> {
        let (mut seen, mut work) = (vec![false; self.templates.len()], vec![start]);
        while let Some(t) = work.pop() {
            if !std::mem::replace(&mut seen[t], true) {
                work.extend(self.callees(t));
            }
        }
        (0..seen.len()).filter(|&t| seen[t]).collect()
    }
}
