//! Code written once for each value of a flag, and what is computed before: a program does the same.

mod common;

use common::*;
use throng_goto::program::{BinOp, Expr, INT, Instr, PTR, Program, Reg, Violation};

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

const GLOBALS: [(&str, throng_goto::program::Int); 3] = [("x", INT), ("y", INT), ("z", INT)];

/// A function with values, flags, and pointers that are flags as well.
struct Written<'r> {
    random: &'r mut Random,
    f: Function,
    values: Vec<Reg>,
    flags: Vec<Reg>,
    pointers: Vec<Reg>,
}

impl Written<'_> {
    fn value(&mut self) -> Expr {
        match self.random.below(3) {
            0 => Expr::Const(self.random.below(3) as i64),
            1 => Expr::Reg(self.flags[self.random.below(self.flags.len())]),
            _ => Expr::Reg(self.values[self.random.below(self.values.len())]),
        }
    }

    fn assigned(&mut self) -> Reg {
        self.values[self.random.below(self.values.len())]
    }

    fn place(&mut self) -> Expr {
        global(self.random.below(3) as i64)
    }

    fn small(e: Expr) -> Expr {
        bin(BinOp::And, e, Expr::Const(3))
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(3) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(11) {
            0 => {
                let (r, e) = (self.flags[self.random.below(self.flags.len())], self.random.below(3));
                self.f.emit(Instr::Let(r, Expr::Const(e as i64)));
            }
            1 => {
                let r = self.pointers[self.random.below(self.pointers.len())];
                let to = if self.random.below(3) == 0 { Expr::Const(0) } else { self.place() };
                self.f.emit(Instr::Let(r, to));
            }
            2 => {
                let (to, a, b) = (self.assigned(), self.value(), self.value());
                self.f.emit(Instr::Let(to, Self::small(bin(BinOp::Add, a, b))));
            }
            3 => {
                let (a, e) = (self.place(), self.value());
                self.f.store(&a, Self::small(e), INT);
            }
            4 => {
                let (a, to) = (self.place(), self.assigned());
                let e = self.f.load(&a, INT);
                self.f.emit(Instr::Let(to, e));
            }
            // A compare-exchange: a flag says whether it has written.
            5 => {
                let (a, old, new) = (self.place(), self.value(), self.value());
                let done = self.flags[self.random.below(self.flags.len())];
                self.f.emit(Instr::AtomicBegin);
                let now = self.f.load(&a, INT);
                let test = self.f.branch(bin(BinOp::Eq, now, old));
                self.f.yes(test);
                self.f.store(&a, Self::small(new), INT);
                self.f.emit(Instr::Let(done, Expr::Const(1)));
                let end = self.f.branch(Expr::Const(1));
                self.f.no(test);
                self.f.emit(Instr::Let(done, Expr::Const(0)));
                self.f.yes(end);
                self.f.no(end);
                self.f.emit(Instr::AtomicEnd);
            }
            // What a pointer leads to, if it leads anywhere.
            6 => {
                let (p, to) = (self.pointers[self.random.below(self.pointers.len())], self.assigned());
                let test = self.f.branch(Expr::bin(BinOp::Ne, Expr::Reg(p), Expr::Const(0), PTR));
                self.f.yes(test);
                let e = self.f.load(&Expr::Reg(p), INT);
                self.f.emit(Instr::Let(to, e));
                self.f.no(test);
            }
            // A loop that a flag ends.
            7 if depth > 0 => {
                let flag = self.flags[self.random.below(self.flags.len())];
                self.f.emit(Instr::Let(flag, Expr::Const(0)));
                let head = self.f.0.code.len();
                self.block(depth - 1);
                let e = self.value();
                let more = self.f.branch(bin(BinOp::Eq, e, Expr::Const(1)));
                self.f.yes(more);
                let ended = self.f.branch(bin(BinOp::Ne, Expr::Reg(flag), Expr::Const(0)));
                self.f.no(ended);
                self.f.emit(Instr::Let(flag, Expr::Const(1)));
                self.f.emit(Instr::Jump(head));
                self.f.yes(ended);
                self.f.no(more);
            }
            8 => {
                let e = self.value();
                let test = self.f.branch(bin(BinOp::Ne, e, Expr::Const(3)));
                self.f.no(test);
                let why = format!("{}", self.random.below(3));
                self.f.emit(Instr::Fail(Violation::Assertion, why));
                self.f.yes(test);
            }
            _ if depth > 0 => {
                let e = self.value();
                let test = self.f.branch(bin(BinOp::Eq, e, Expr::Const(self.random.below(2) as i64)));
                self.f.yes(test);
                self.block(depth - 1);
                let end = self.f.branch(Expr::Const(1));
                self.f.no(test);
                self.block(depth - 1);
                self.f.yes(end);
                self.f.no(end);
            }
            _ => {
                let (a, to) = (self.place(), self.assigned());
                let e = self.f.load(&a, INT);
                self.f.emit(Instr::Let(to, e));
            }
        }
    }
}

/// The places where a program accesses memory.
fn accesses(p: &Program) -> usize {
    let access = |i: &&Instr| matches!(i, Instr::Load(..) | Instr::Store(..));
    p.templates.iter().map(|t| t.code.iter().filter(access).count()).sum()
}

/// A function in which every register has a value from the begin.
fn function(random: &mut Random, name: &str, starts: Option<usize>) -> Function {
    let mut f = Function::new(name, &[]);
    let mut some = |n: usize, at| (0..n).map(|_| f.register(at)).collect::<Vec<Reg>>();
    let (values, flags, pointers) = (some(2, INT), some(3, INT), some(2, PTR));
    for &r in values.iter().chain(&flags).chain(&pointers) {
        f.emit(Instr::Let(r, Expr::Const(0)));
    }
    if let Some(other) = starts {
        let number = f.register(PTR);
        f.emit(Instr::Spawn(other, Vec::new(), number));
    }
    for (k, &r) in values.iter().enumerate() {
        let e = f.load(&global(k as i64), INT);
        f.emit(Instr::Let(r, e));
    }
    let mut w = Written { random, f, values, flags, pointers };
    for _ in 0..3 {
        w.block(2);
    }
    let mut f = w.f;
    f.emit(Instr::End(Expr::Const(0)));
    f
}

fn random(seed: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let main = function(&mut random, "main", Some(1));
    raw(vec![main, function(&mut random, "other", None)], &GLOBALS)
}

#[test]
fn a_simplified_program_does_the_same() {
    let (mut longer, mut several) = (0, 0);
    for seed in 1..400 {
        let (mut before, mut after) = (random(seed), random(seed));
        before.finish();
        after.simplify();
        longer += usize::from(accesses(&after) > accesses(&before));
        after.finish();
        let (a, b) = (explore(&before), explore(&after));
        assert_eq!(a.ends, b.ends, "seed {seed}\n{}\n{}", before.print(), after.print());
        several += usize::from(a.ends.len() > 1);
    }
    assert!(longer > 20 && several > 100, "{longer} have copies of code, {several} have several ends");
}

/// Behind a compare-exchange, the place says whether it has written, and which address is meant.
#[test]
fn what_a_flag_decides_is_decided_by_the_place() {
    let mut f = Function::new("main", &[]);
    let (done, to) = (f.register(INT), f.register(PTR));
    f.emit(Instr::AtomicBegin);
    let now = f.load(&global(0), INT);
    let test = f.branch(bin(BinOp::Eq, now, Expr::Const(0)));
    f.yes(test);
    f.store(&global(0), Expr::Const(1), INT);
    f.emit(Instr::Let(done, Expr::Const(1)));
    f.emit(Instr::Let(to, global(1)));
    let end = f.branch(Expr::Const(1));
    f.no(test);
    f.emit(Instr::Let(done, Expr::Const(0)));
    f.emit(Instr::Let(to, global(2)));
    f.yes(end);
    f.no(end);
    f.emit(Instr::AtomicEnd);
    let asked = f.branch(Expr::Reg(done));
    f.yes(asked);
    f.store(&Expr::Reg(to), Expr::Const(7), INT);
    f.no(asked);
    f.emit(Instr::End(Expr::Const(0)));
    let mut program = raw(vec![f], &GLOBALS);
    program.simplify();
    let code = &program.templates[0].code;
    assert!(code.contains(&Instr::Store(global(1), Expr::Const(7), INT)), "{code:?}");
    let branches = code.iter().filter(|i| matches!(i, Instr::Branch(..))).count();
    assert_eq!(branches, 1, "{code:?}");
}
