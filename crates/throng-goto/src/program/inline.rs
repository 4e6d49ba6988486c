//! Functions in place of their calls.
//!
//! Every function that threads start in becomes one template with the code of all that it calls.
//! Registers get new numbers; what is in memory gets a place of its own: in the private memory of
//! the thread, where functions that are not called at the same time share places, or an object, if
//! only one thread runs the code and the address is used. A parameter that the function never
//! assigns to, and that is a constant, is that constant; so is what is only on the way from one.
//!
//! A call stays where the function may be running already, where the program would become too long,
//! and where the private memory of a thread would. The function that is called then is a template of
//! its own. A pointer is compared with the functions that it may point to; so no call through a
//! pointer is left.

mod write;

use std::collections::HashMap;

use super::flow::Flow;
use super::{Instr, Object, Origin, Private, Program, Start, Template, reads, writes};

/// How far calls are replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Maximum number of instructions.
    pub instructions: usize,
    /// Maximum number of bytes of private memory of a thread, thread-local variables not counted.
    pub frame: u32,
    /// Maximum number of functions that are inside of one another.
    pub depth: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { instructions: 100_000, frame: 1 << 16, depth: 100 }
    }
}

impl Program {
    /// Returns the program with functions in place of all their calls; as it is, if the budget does
    /// not go that far. It is to be finished afterwards.
    pub fn flat(self, budget: &Budget) -> Program {
        if self.is_flat() {
            return self;
        }
        let inlined = self.clone().inlined(budget);
        if inlined.is_flat() { inlined } else { self }
    }

    /// Returns the program with functions in place of their calls, as far as the budget goes. It is
    /// to be finished afterwards.
    pub fn inlined(mut self, budget: &Budget) -> Program {
        if self.is_flat() {
            return self;
        }
        let starts = self.starts();
        let mut inliner = Inliner::new(&self, *budget, &starts);
        let mut templates: Vec<Template> = starts.iter().map(|&t| inliner.template(t, true)).collect();
        while let Some(&t) = inliner.called.get(templates.len() - starts.len()) {
            templates.push(inliner.template(t, false));
        }
        let Inliner { objects, private, origins, .. } = inliner;
        let number = |t: &usize| starts.iter().position(|s| s == t).unwrap_or(0);
        self.start = match &self.start {
            Start::One(t) => Start::One(number(t)),
            Start::Any(list) => Start::Any(list.iter().map(number).collect()),
        };
        let objects = told_apart(objects, &self);
        (self.templates, self.objects) = (templates, objects);
        (self.locals, self.origins) = (private, origins);
        self.place_objects();
        self
    }

    /// Gives every object its place in shared memory.
    pub fn place_objects(&mut self) {
        let mut base = 0;
        for o in &mut self.objects {
            o.base = base;
            base += o.init.len();
        }
    }

    /// Returns why calls are left after [`Program::inlined`], if some are.
    pub fn not_flat(&self) -> Option<String> {
        if self.is_flat() {
            return None;
        }
        let called = (0..self.templates.len()).find(|&t| {
            self.is_called(t) && self.callees(t).iter().any(|&next| self.reaches(next).contains(&t))
        });
        Some(match called {
            Some(t) => format!("`{}` calls itself", self.templates[t].name),
            None => "with functions in place of their calls the program is too long".into(),
        })
    }
}

/// A program being inlined.
struct Inliner<'p> {
    program: &'p Program,
    budget: Budget,
    flow: Flow,
    starts: &'p [usize],
    /// Functions that call themselves other than through pointers.
    recursive: Vec<bool>,
    /// For each function and register, whether the function assigns to it.
    assigned: Vec<Vec<bool>>,
    /// For each function and register, whether it is a step on the way to a value: no variable,
    /// assigned to at one place, and read only behind it.
    passing: Vec<Vec<bool>>,
    /// How many instructions were written.
    written: usize,
    /// The functions that are called in the result.
    called: Vec<usize>,
    /// The objects of the result, with the functions that those which were added are variables of.
    objects: Vec<(Object, Option<usize>)>,
    private: Vec<Private>,
    origins: Vec<Origin>,
    /// The number of calls that were replaced, which tells paths apart.
    paths: u32,
    /// Origins by those in the program and by the path of calls that leads there.
    known_origins: HashMap<(u32, u32), u32>,
}

impl<'p> Inliner<'p> {
    fn new(program: &'p Program, budget: Budget, starts: &'p [usize]) -> Inliner<'p> {
        let assigned = |t: &Template| {
            let mut found = vec![false; t.registers.len()];
            t.code.iter().filter_map(writes).for_each(|r| found[r as usize] = true);
            found
        };
        Inliner {
            program,
            budget,
            flow: Flow::of(program),
            starts,
            recursive: recursive(program),
            assigned: program.templates.iter().map(assigned).collect(),
            passing: program.templates.iter().map(passing).collect(),
            written: 0,
            called: Vec::new(),
            objects: program.objects.iter().map(|o| (o.clone(), None)).collect(),
            private: program.locals.clone(),
            origins: Vec::new(),
            paths: 0,
            known_origins: HashMap::new(),
        }
    }

    /// Returns the number of a function among the templates of the result.
    fn number_called(&mut self, function: usize) -> usize {
        let known = self.called.iter().position(|&t| t == function);
        let n = known.unwrap_or_else(|| {
            self.called.push(function);
            self.called.len() - 1
        });
        self.starts.len() + n
    }
}

/// Returns the objects. Variables of functions whose names other variables have, too, are called
/// `function::variable`.
fn told_apart(objects: Vec<(Object, Option<usize>)>, program: &Program) -> Vec<Object> {
    let mut count: HashMap<String, usize> = HashMap::new();
    objects.iter().for_each(|(o, _)| *count.entry(o.name.clone()).or_default() += 1);
    let name = |(mut o, function): (Object, Option<usize>)| {
        if let Some(function) = function.filter(|_| count[&o.name] > 1) {
            o.name = format!("{}::{}", program.templates[function].name, o.name);
        }
        o
    };
    objects.into_iter().map(name).collect()
}

/// See [`Inliner::passing`].
fn passing(t: &Template) -> Vec<bool> {
    let mut assigned = vec![Vec::new(); t.registers.len()];
    let mut first_read = vec![usize::MAX; t.registers.len()];
    for (pc, i) in t.code.iter().enumerate() {
        reads(i, &mut |r| first_read[r as usize] = first_read[r as usize].min(pc));
        writes(i).into_iter().for_each(|r| assigned[r as usize].push(pc));
    }
    let is_passing = |r: usize| match assigned[r][..] {
        [at] => {
            r >= t.arguments
                && t.names[r].is_none()
                && first_read[r] > at
                && matches!(t.code[at], Instr::Let(..))
        }
        _ => false,
    };
    (0..t.registers.len()).map(is_passing).collect()
}

/// Returns for each function whether it calls itself, perhaps through others, by direct calls.
fn recursive(program: &Program) -> Vec<bool> {
    let direct = |t: &Template| {
        let callee = |i: &Instr| match i {
            Instr::Call { function, .. } => Some(*function),
            _ => None,
        };
        t.code.iter().filter_map(callee).collect::<Vec<usize>>()
    };
    let calls: Vec<Vec<usize>> = program.templates.iter().map(direct).collect();
    let in_a_cycle = |t: usize| {
        let (mut seen, mut work) = (vec![false; calls.len()], calls[t].clone());
        while let Some(next) = work.pop() {
            if next == t {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                work.extend(&calls[next]);
            }
        }
        false
    };
    (0..calls.len()).map(in_a_cycle).collect()
}
