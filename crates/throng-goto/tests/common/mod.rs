//! Programs written by hand, and all that they can do.

#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use throng_goto::program::{
    Access, BinOp, Expr, FUNCTION, INT, Instr, Int, Local, Object, Origin, PTR, Program, Reg, Start,
    Template, Violation, address,
};
use throng_goto::step::{After, Memory, OPEN, Thread, initial_memory, start, step};

pub const BOOL: Int = Int { truth: true, ..Int::new(1, false) };

/// A function being written.
#[derive(Clone)]
pub struct Function(pub Template);

impl Function {
    pub fn new(name: &str, parameters: &[Int]) -> Function {
        let mut f = Function(Template { name: name.into(), ..Template::default() });
        parameters.iter().for_each(|&at| _ = f.register(at));
        f.0.arguments = parameters.len();
        f
    }

    pub fn register(&mut self, at: Int) -> Reg {
        self.0.registers.push(at);
        self.0.names.push(None);
        self.0.owners.push(String::new());
        self.0.registers.len() as Reg - 1
    }

    pub fn local(&mut self, name: &str, size: u32) -> Expr {
        let parts = vec![(0, if size == 8 { PTR } else { INT }, String::new())];
        let local =
            Local { name: name.into(), size, align: size, parts, addressed: true, ..Local::default() };
        self.0.locals.push(local);
        Expr::Local(self.0.locals.len() as u32 - 1)
    }

    pub fn emit(&mut self, i: Instr) -> usize {
        self.0.code.push(i);
        self.0.code.len() - 1
    }

    pub fn begins(&mut self, local: &Expr, size: u32) {
        self.emit(Instr::Begins(local.clone(), size));
    }

    pub fn call(&mut self, function: usize, arguments: &[Expr], result: Option<Reg>) {
        self.emit(Instr::Call { function, arguments: arguments.to_vec(), result });
    }

    pub fn load(&mut self, address: &Expr, at: Int) -> Expr {
        let r = self.register(at);
        self.emit(Instr::Load(r, address.clone(), at));
        Expr::Reg(r)
    }

    pub fn store(&mut self, address: &Expr, value: Expr, at: Int) {
        self.emit(Instr::Store(address.clone(), value, at));
    }

    /// Emits a branch whose targets are set later.
    pub fn branch(&mut self, e: Expr) -> usize {
        self.emit(Instr::Branch(e, usize::MAX, usize::MAX))
    }

    /// What comes next is where a branch leads.
    pub fn yes(&mut self, branch: usize) {
        let here = self.0.code.len();
        if let Instr::Branch(_, yes, _) = &mut self.0.code[branch] {
            *yes = here;
        }
    }

    pub fn no(&mut self, branch: usize) {
        let here = self.0.code.len();
        if let Instr::Branch(_, _, no) = &mut self.0.code[branch] {
            *no = here;
        }
    }
}

pub fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::bin(op, a, b, INT)
}

/// The address of a global variable of [`program`].
pub fn global(n: i64) -> Expr {
    Expr::Const(address(n + 1, 0))
}

/// The address of a function, by its place in the list.
pub fn pointer(n: i64) -> Expr {
    Expr::Const(address(FUNCTION + n, 0))
}

/// A program of these functions, of which the first is where it starts; pointers may point to each.
pub fn program(functions: Vec<Function>, globals: &[(&str, Int)]) -> Program {
    let mut program = raw(functions, globals);
    program.finish();
    program
}

/// The same, not finished.
pub fn raw(functions: Vec<Function>, globals: &[(&str, Int)]) -> Program {
    let mut p = Program {
        asked: vec![Violation::Assertion],
        memory_errors: true,
        start: Start::One(0),
        ..Program::default()
    };
    let mut base = 0;
    for &(name, at) in globals {
        p.objects.push(Object {
            name: name.into(),
            init: vec![0; at.size.into()],
            base,
            align: 0,
            parts: vec![(0, at, String::new())],
            visible: true,
            global: true,
            library: false,
            leaves: false,
            external: false,
        });
        base += usize::from(at.size);
    }
    for (n, Function(mut t)) in functions.into_iter().enumerate() {
        for pc in 0..t.code.len() {
            let line = (n * 100 + pc) as u32;
            p.origins.push(Origin { line, function: t.name.clone(), ..Origin::default() });
            t.origins.push(p.origins.len() as u32 - 1);
        }
        t.access = vec![Access::Plain; t.code.len()];
        t.pointer = Some(n as u32);
        t.single = n == 0;
        p.functions.push(t.name.clone());
        p.templates.push(t);
    }
    p.numbered = p.templates.iter().flat_map(|t| &t.code).any(|i| matches!(i, Instr::Join(..)));
    p
}

/// What a program can do: the values of its global variables at the end, and how it ends.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct End {
    pub values: BTreeMap<String, Option<i64>>,
    pub how: String,
}

/// All ends of a program, and why there may be more.
#[derive(Default, Debug)]
pub struct Ends {
    pub ends: BTreeSet<End>,
    pub missing: BTreeSet<String>,
    pub states: usize,
}

impl Ends {
    /// The values that a global variable may have at the end.
    pub fn values(&self, name: &str) -> Vec<Option<i64>> {
        let found: BTreeSet<_> = self.ends.iter().map(|e| e.values[name]).collect();
        found.into_iter().collect()
    }

    pub fn hows(&self) -> Vec<&str> {
        let found: BTreeSet<_> = self.ends.iter().map(|e| &*e.how).collect();
        found.into_iter().collect()
    }
}

const MOST: usize = 200_000;

/// Goes through all that a program can do.
pub fn explore(program: &Program) -> Ends {
    let Start::One(first) = program.start else { return Ends::default() };
    let begin = (Arc::new(initial_memory(program)), vec![start(program, first, &[], 0)]);
    let mut seen: HashSet<(Arc<Memory>, Vec<Thread>)> = HashSet::from([begin.clone()]);
    let (mut work, mut found) = (vec![begin], Ends::default());
    while let Some((memory, threads)) = work.pop() {
        assert!(seen.len() < MOST, "too many states");
        let mut moves = false;
        for (i, thread) in threads.iter().enumerate() {
            let steps = step(program, &memory, thread);
            found.missing.extend(steps.missing.map(|missing| missing.what));
            for outcome in steps.outcomes {
                moves = true;
                let mut rest = threads.clone();
                rest.remove(i);
                rest.extend(outcome.thread);
                rest.extend(outcome.started);
                rest.sort_by_key(|t| (t.id, t.template, t.pc));
                match outcome.after {
                    After::Runs(memory) => {
                        let next = (memory, rest);
                        if seen.insert(next.clone()) {
                            work.push(next);
                        }
                    }
                    After::Failed(what, why) => {
                        found.ends.insert(end(program, &memory, format!("{what:?}: {why}")));
                    }
                    After::Halted => _ = found.ends.insert(end(program, &memory, "halted".into())),
                }
            }
        }
        if !moves {
            let how = if threads.is_empty() { "ended" } else { "stuck" };
            found.ends.insert(end(program, &memory, how.into()));
        }
    }
    found.states = seen.len();
    found
}

fn end(program: &Program, memory: &Memory, how: String) -> End {
    let globals = program.objects.iter().filter(|o| o.global);
    let value = |from: usize, at: Int| {
        let bytes = memory.fixed.range(from..from + usize::from(at.size)).expect("it is there");
        let open = bytes.iter().any(|&b| b >= OPEN);
        (!open).then(|| at.wrap(bytes.iter().rev().fold(0, |v, &b| v << 8 | i64::from(b))))
    };
    let values = globals.map(|o| (o.name.clone(), value(o.base, o.parts[0].1))).collect();
    End { values, how }
}
