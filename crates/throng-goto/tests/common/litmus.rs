//! Small programs as goto programs, and a search of all that these can do.

use std::collections::HashSet;

use super::common::{Function, bin, global, raw};
use super::generate::{self, Flavour};
use throng_goto::Program;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Order, Reg, Start, Violation};
use throng_memory::litmus::{Instruction, Litmus};
use throng_model::problem::{Initial, Problem};
use throng_model::random::Random;
use throng_model::semantics::successors;
use throng_model::{Config, Shared};

const LOCATIONS: [&str; 4] = ["w", "x", "y", "z"];

/// A thread of a small program as a function of a goto program, being written.
struct Making {
    function: Function,
    access: Vec<Access>,
    register: Reg,
    values: i64,
    /// Whether an operation that waits is a loop that reads before it tries.
    loops: bool,
}

fn kind(order: Order) -> Access {
    if order == Order::Plain { Access::Plain } else { Access::Atomic(order) }
}

impl Making {
    fn emit(&mut self, i: Instr, access: Access) -> usize {
        self.access.push(access);
        self.function.emit(i)
    }

    fn load(&mut self, x: u32, access: Access) {
        self.emit(Instr::Load(self.register, global(x.into()), INT), access);
    }

    fn store(&mut self, x: u32, e: Expr, access: Access) {
        self.emit(Instr::Store(global(x.into()), e, INT), access);
    }

    fn is(&self, op: BinOp, value: i64) -> Expr {
        bin(op, Expr::Reg(self.register), Expr::Const(value))
    }

    /// Accesses in one step: `then` is what is written, if anything is.
    fn section(&mut self, x: u32, orders: (Order, Order), wait: Option<Expr>, then: Option<Expr>) {
        let access = Access::Update(orders.0, orders.1);
        self.emit(Instr::AtomicBegin, Access::Plain);
        self.load(x, access);
        if let Some(wait) = wait {
            self.emit(Instr::Assume(wait), Access::Plain);
        }
        if let Some(e) = then {
            self.store(x, e, access);
        }
        self.emit(Instr::AtomicEnd, Access::Plain);
    }

    /// Reads until the first value is there, tries to write the second one, and begins again if
    /// another value is there.
    fn tries(&mut self, x: u32, a: i64, b: i64, order: Order) {
        let scratch = self.function.register(INT);
        let kept = std::mem::replace(&mut self.register, scratch);
        let head = self.function.0.code.len();
        self.load(x, kind(Order::Relaxed));
        let found = self.emit(Instr::Branch(self.is(BinOp::Eq, a), head + 2, head), Access::Plain);
        self.function.yes(found);
        let access = Access::Update(order, Order::Relaxed);
        self.emit(Instr::AtomicBegin, Access::Plain);
        self.load(x, access);
        let branch = self.emit(Instr::Branch(self.is(BinOp::Eq, a), 0, 0), Access::Plain);
        self.function.yes(branch);
        self.store(x, Expr::Const(b), access);
        self.emit(Instr::AtomicEnd, Access::Plain);
        self.emit(Instr::Let(kept, Expr::Reg(scratch)), Access::Plain);
        let done = self.emit(Instr::Jump(0), Access::Plain);
        self.function.no(branch);
        self.emit(Instr::AtomicEnd, Access::Plain);
        self.emit(Instr::Jump(head), Access::Plain);
        let behind = self.function.0.code.len();
        self.function.0.code[done] = Instr::Jump(behind);
        self.register = kept;
    }

    /// Writes an instruction; returns the branch that leaves out the next one.
    fn instruction(&mut self, instruction: Instruction) -> Option<(usize, bool)> {
        use Instruction::*;
        match instruction {
            Load(x, o) => self.load(x, kind(o)),
            Store(x, v, o) => self.store(x, Expr::Const(v), kind(o)),
            StoreRegister(x, o) => self.store(x, Expr::Reg(self.register), kind(o)),
            Add(x, v, o) => {
                let sum = bin(BinOp::Add, Expr::Reg(self.register), Expr::Const(v));
                self.section(x, (o, o), None, Some(bin(BinOp::Rem, sum, Expr::Const(self.values))));
            }
            Replace(x, a, b, o) if self.loops => self.tries(x, a, b, o),
            Exchange(x, v, o) => self.section(x, (o, o), None, Some(Expr::Const(v))),
            Replace(x, a, b, o) => {
                // The register stays.
                let (kept, scratch) = (self.register, self.function.register(INT));
                self.register = scratch;
                self.section(x, (o, o), Some(self.is(BinOp::Eq, a)), Some(Expr::Const(b)));
                self.register = kept;
                self.emit(Instr::Let(kept, Expr::Reg(scratch)), Access::Plain);
            }
            CompareExchange(x, a, b, done, failed) => {
                let access = Access::Update(done, failed);
                self.emit(Instr::AtomicBegin, Access::Plain);
                self.load(x, access);
                let branch = self.emit(Instr::Branch(self.is(BinOp::Eq, a), 0, 0), Access::Plain);
                self.function.yes(branch);
                self.store(x, Expr::Const(b), access);
                self.function.no(branch);
                self.emit(Instr::AtomicEnd, Access::Plain);
            }
            Wait(x, v, o) => self.section(x, (o, o), Some(self.is(BinOp::Eq, v)), None),
            WaitNot(x, v, o) => self.section(x, (o, o), Some(self.is(BinOp::Ne, v)), None),
            Fence(o) => _ = self.emit(Instr::Fence(o), Access::Plain),
            AssertNot(v) => {
                let branch = self.emit(Instr::Branch(self.is(BinOp::Eq, v), 0, 0), Access::Plain);
                self.function.yes(branch);
                self.emit(Instr::Fail(Violation::Assertion, "a value was read".into()), Access::Plain);
                self.function.no(branch);
            }
            IfEqual(v) | IfUnequal(v) => {
                let branch = self.emit(Instr::Branch(self.is(BinOp::Eq, v), 0, 0), Access::Plain);
                return Some((branch, matches!(instruction, IfEqual(_))));
            }
        }
        None
    }
}

/// A thread; what its accesses are.
fn thread(code: &[Instruction], name: &str, values: i64, loops: bool) -> (Function, Vec<Access>) {
    let mut function = Function::new(name, &[]);
    let register = function.register(INT);
    let mut making = Making { function, access: Vec::new(), register, values, loops };
    making.emit(Instr::Let(register, Expr::Const(0)), Access::Plain);
    let mut skips: Vec<(usize, bool, usize)> = Vec::new();
    for (n, &instruction) in code.iter().enumerate() {
        if let Some((branch, then)) = making.instruction(instruction) {
            // Taken: the next instruction; else the one behind it.
            if then {
                making.function.yes(branch)
            } else {
                making.function.no(branch)
            }
            skips.push((branch, then, n + 1));
        }
        for &(branch, then, _) in skips.iter().filter(|s| s.2 == n) {
            if then { making.function.no(branch) } else { making.function.yes(branch) }
        }
    }
    for &(branch, then, _) in skips.iter().filter(|s| s.2 == code.len()) {
        if then { making.function.no(branch) } else { making.function.yes(branch) }
    }
    making.emit(Instr::End(Expr::Const(0)), Access::Plain);
    (making.function, making.access)
}

/// The program: a first thread starts the others.
pub fn translated(litmus: &Litmus) -> Program {
    translated_with(litmus, false)
}

/// The program, with operations that wait as loops that read before they try, if `loops` says so.
pub fn translated_with(litmus: &Litmus, loops: bool) -> Program {
    let mut main = Function::new("main", &[]);
    let number = main.register(INT);
    for n in 0..litmus.threads.len() {
        main.emit(Instr::Spawn(n + 1, Vec::new(), number));
    }
    main.emit(Instr::End(Expr::Const(0)));
    let mut functions = vec![main];
    let mut access = Vec::new();
    for (n, code) in litmus.threads.iter().enumerate() {
        let (function, kinds) = thread(code, &format!("t{n}"), litmus.values, loops);
        functions.push(function);
        access.push(kinds);
    }
    let globals: Vec<_> = LOCATIONS.iter().map(|&name| (name, INT)).collect();
    let mut program = raw(functions, &globals);
    for (t, kinds) in program.templates[1..].iter_mut().zip(access) {
        (t.access, t.single) = (kinds, true);
    }
    program.weak_orders = true;
    program.start = Start::One(0);
    program.finish();
    program
}

/// Returns whether a search meets one of the targets; `None` if it does not come to an end.
pub fn meets(problem: &Problem, most: usize) -> Option<bool> {
    let Initial { shared, threads, .. } = &problem.initial[0];
    let first = Config::new(*shared, threads.clone());
    let bad: Vec<Shared> = problem.targets[0].configs.iter().map(|c| c.shared).collect();
    let (mut seen, mut work) = (HashSet::from([first.clone()]), vec![first]);
    while let Some(config) = work.pop() {
        let mut next = Vec::new();
        successors(&*problem.model, &config, None, &mut next).ok()?;
        for (_, after) in next {
            if bad.contains(&after.shared) {
                return Some(true);
            }
            if seen.insert(after.clone()) {
                work.push(after);
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(false)
}

/// A random program.
pub fn program(random: &mut Random, flavour: Flavour, number: usize) -> Litmus {
    match number % 3 {
        0 => generate::random(random, flavour),
        _ => generate::shape(random, flavour),
    }
}
