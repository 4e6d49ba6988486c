//! Which threads there are: one for each template that threads start in. The first one starts the
//! others, and they form a tree by who starts whom.

use std::collections::BTreeSet;

use throng_goto::program::{Instr, Int, Program, Start};

use super::inclusion::Values;
use super::points::Place;

/// The threads of a program in which every instruction starts threads in a template of its own,
/// where it was split ([`Program::split`]).
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// By template, the threads that may execute it, by the templates that they start in.
    pub of: Vec<BTreeSet<usize>>,
    /// By template, whether at most one thread ever executes it, and comes to its begin once.
    pub once: Vec<bool>,
    /// By template that threads start in, the thread that starts them and the instruction; `None`
    /// if there are several, or none.
    pub parent: Vec<Option<(usize, Place)>>,
    /// By template that threads start in, the threads that those start, and so on.
    pub below: Vec<BTreeSet<usize>>,
    /// By template, the templates that it calls.
    calls: Vec<BTreeSet<usize>>,
}

impl Threads {
    /// Finds the threads of a program, given which functions its pointers point to.
    pub fn of(values: &Values<'_>) -> Threads {
        let program = values.program;
        let n = program.templates.len();
        let mut calls = vec![BTreeSet::new(); n];
        // By template, the instructions that call it, and those that start threads in it.
        let (mut callers, mut starters) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for (t, template) in program.templates.iter().enumerate() {
            for (pc, i) in template.code.iter().enumerate() {
                let place = (t as u32, pc as u32);
                match i {
                    Instr::Spawn(child, ..) => starters[*child].push(place),
                    Instr::Call { .. } | Instr::CallPointer { .. } => {
                        for callee in called(values, t, i) {
                            calls[t].insert(callee);
                            callers[callee].push(place);
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut threads = Threads {
            of: vec![BTreeSet::new(); n],
            once: vec![false; n],
            parent: vec![None; n],
            below: vec![BTreeSet::new(); n],
            calls,
        };
        for &start in &values.index.starts {
            threads.reached(start).into_iter().for_each(|t| _ = threads.of[t].insert(start));
        }
        // What no thread executes starts none.
        for list in callers.iter_mut().chain(&mut starters) {
            list.retain(|place| !threads.of[place.0 as usize].is_empty());
        }
        threads.find_parents(values, &starters);
        for t in 0..n {
            threads.once[t] = threads.comes_once(program, t, &callers, &starters);
        }
        for &t in &values.index.starts {
            threads.below[t] = threads.started_below(t);
        }
        threads
    }

    fn reached(&self, start: usize) -> BTreeSet<usize> {
        let (mut seen, mut work) = (BTreeSet::new(), vec![start]);
        while let Some(t) = work.pop() {
            if seen.insert(t) {
                work.extend(&self.calls[t]);
            }
        }
        seen
    }

    fn find_parents(&mut self, values: &Values<'_>, starters: &[Vec<Place>]) {
        let first = values.program.first_templates();
        for &t in values.index.starts.iter().filter(|t| !first.contains(t)) {
            if let [place] = starters[t][..]
                && let Some(parent) = only(&self.of[place.0 as usize])
            {
                self.parent[t] = Some((parent, place));
            }
        }
    }

    fn comes_once(
        &self,
        program: &Program,
        template: usize,
        callers: &[Vec<Place>],
        starters: &[Vec<Place>],
    ) -> bool {
        let mut t = template;
        for _ in 0..=program.templates.len() {
            let first = program.start == Start::One(t);
            match (&callers[t][..], &starters[t][..], first) {
                ([], [], true) => return true,
                ([place], [], false) | ([], [place], false)
                    if !program.templates[place.0 as usize].repeats(place.1 as usize) =>
                {
                    t = place.0 as usize;
                }
                _ => return false,
            }
        }
        false
    }

    fn started_below(&self, thread: usize) -> BTreeSet<usize> {
        let (mut found, mut work) = (BTreeSet::new(), vec![thread]);
        while let Some(above) = work.pop() {
            for (t, parent) in self.parent.iter().enumerate() {
                if parent.is_some_and(|p| p.0 == above) && found.insert(t) {
                    work.push(t);
                }
            }
        }
        found
    }

    /// Returns the thread and those that start it, up to the first, which comes last; `None` if some
    /// are started by several.
    pub fn line(&self, program: &Program, thread: usize) -> Option<Vec<usize>> {
        let first = program.first_templates();
        let mut line = vec![thread];
        while line.len() <= program.templates.len() {
            let last = *line.last()?;
            match self.parent[last] {
                Some((parent, _)) => line.push(parent),
                None => return first.contains(&last).then_some(line),
            }
        }
        None
    }

    /// Returns the templates that one calls.
    pub fn calls(&self, template: usize) -> &BTreeSet<usize> {
        &self.calls[template]
    }

    /// Returns whether a template is called.
    pub fn is_called(&self, template: usize) -> bool {
        self.calls.iter().any(|c| c.contains(&template))
    }

    /// Returns whether a call of a template may start threads or wait for their end.
    pub fn starts_or_joins(&self, program: &Program, template: usize) -> bool {
        let does = |i: &Instr| matches!(i, Instr::Spawn(..) | Instr::Join(..));
        self.reached(template).into_iter().any(|t| program.templates[t].code.iter().any(does))
    }

    /// Returns the templates that a call of one may execute.
    pub fn inside(&self, template: usize) -> BTreeSet<usize> {
        self.reached(template)
    }
}

/// Returns the templates that a call may call.
pub fn called(values: &Values<'_>, t: usize, i: &Instr) -> Vec<usize> {
    match i {
        Instr::Call { function, .. } => vec![*function],
        Instr::CallPointer { address, arguments, .. } => {
            let types: Vec<Int> = arguments.iter().map(|(_, at)| *at).collect();
            values.called(t, address, &types).0
        }
        _ => Vec::new(),
    }
}

fn only(set: &BTreeSet<usize>) -> Option<usize> {
    set.first().copied().filter(|_| set.len() == 1)
}
