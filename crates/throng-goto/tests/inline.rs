//! Functions in place of their calls: a program does the same before and after.

mod common;

use common::program as finished;
use common::*;
use throng_goto::doubt::Doubt;
use throng_goto::program::{BinOp, Budget, Expr, INT, Instr, PTR, Program, Violation, next};

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

const FUNCTIONS: usize = 5;
const GLOBALS: [(&str, throng_goto::program::Int); 4] = [("x", INT), ("y", INT), ("p", PTR), ("f", PTR)];

/// A function with an integer, a pointer to an integer, and a depth of calls as parameters.
struct Written<'r> {
    random: &'r mut Random,
    number: usize,
    f: Function,
    integers: Vec<u32>,
    pointers: Vec<Expr>,
    recursive: bool,
}

impl Written<'_> {
    fn integer(&mut self) -> Expr {
        match self.random.below(3) {
            0 => Expr::Const(self.random.below(3) as i64),
            _ => Expr::Reg(self.integers[self.random.below(self.integers.len())]),
        }
    }

    fn pointer(&mut self) -> Expr {
        self.pointers[self.random.below(self.pointers.len())].clone()
    }

    fn small(e: Expr) -> Expr {
        bin(BinOp::And, e, Expr::Const(3))
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(12) {
            0 => {
                let (a, b) = (self.integer(), self.integer());
                let to = self.integers[self.random.below(self.integers.len())];
                self.f.emit(Instr::Let(to, Self::small(bin(BinOp::Add, a, b))));
            }
            1 => {
                let r = self.f.register(BOOL);
                self.f.emit(Instr::Any(r));
                let to = self.integers[self.random.below(self.integers.len())];
                self.f.emit(Instr::Let(to, Expr::Reg(r)));
            }
            2 | 3 => {
                let p = self.pointer();
                let v = self.f.load(&p, INT);
                self.integers.push(if let Expr::Reg(r) = v { r } else { 0 });
            }
            4..=6 => {
                let (p, v) = (self.pointer(), self.integer());
                self.f.store(&p, Self::small(v), INT);
            }
            7 if depth > 0 => {
                let condition = self.integer();
                let b = self.f.branch(condition);
                self.f.yes(b);
                let known = (self.integers.len(), self.pointers.len());
                self.statement(depth - 1);
                self.integers.truncate(known.0);
                self.pointers.truncate(known.1);
                self.f.no(b);
            }
            8 => {
                let p = self.pointer();
                let to = global(2);
                if self.random.chance(3) {
                    self.f.store(&to, p, PTR);
                }
            }
            9 if self.number > 0 && self.random.chance(2) => {
                let v = self.integer();
                self.f.emit(Instr::Return(Some(Self::small(v))));
                // What follows is not reached.
            }
            10 if self.random.chance(4) => {
                let v = self.integer();
                let b = self.f.branch(v);
                self.f.yes(b);
                self.f.emit(Instr::Fail(Violation::Assertion, "reached".into()));
                self.f.no(b);
            }
            _ => self.call(),
        }
    }

    fn callee(&mut self) -> Option<usize> {
        let first = if self.recursive { 1 } else { self.number + 1 };
        (first < FUNCTIONS).then(|| first + self.random.below(FUNCTIONS - first))
    }

    fn call(&mut self) {
        let Some(callee) = self.callee() else { return };
        let (a, b) = (self.integer(), self.pointer());
        let result = match self.random.below(3) {
            0 => None,
            1 => Some(self.integers[self.random.below(self.integers.len())]),
            _ => Some(self.f.register(INT)),
        };
        let deeper = match self.number {
            0 => Expr::Const(0),
            _ => bin(BinOp::Add, Expr::Reg(2), Expr::Const(1)),
        };
        // Calls end at some depth.
        let guard = (self.recursive && self.number > 0)
            .then(|| self.f.branch(bin(BinOp::Lt, Expr::Reg(2), Expr::Const(3))));
        guard.into_iter().for_each(|b| self.f.yes(b));
        if self.random.chance(4) {
            self.f.store(&global(3), pointer(callee as i64), PTR);
        }
        // Where a function may call what a pointer points to, it may call itself.
        if (self.recursive || self.number == 0) && self.random.chance(4) {
            let address = self.f.load(&global(3), PTR);
            let arguments = vec![(a, INT), (b, PTR), (deeper, INT)];
            self.f.emit(Instr::CallPointer { address, arguments, result });
        } else {
            self.f.call(callee, &[a, b, deeper], result);
        }
        guard.into_iter().for_each(|b| self.f.no(b));
        self.integers.extend(result);
    }
}

/// A program of a few functions, of which some start as threads.
fn random(seed: u64, recursive: bool) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut functions = Vec::new();
    for number in 0..FUNCTIONS {
        let mut f = match number {
            0 => Function::new("main", &[]),
            n => Function::new(&format!("f{n}"), &[INT, PTR, INT]),
        };
        let counter = f.register(INT);
        f.emit(Instr::Let(counter, Expr::Const(1)));
        let mut pointers = vec![global(0), global(1)];
        if number > 0 {
            pointers.push(Expr::Reg(1));
        }
        for n in 0..random.below(3) {
            let v = f.local(&format!("v{n}"), 4);
            f.begins(&v, 4);
            f.store(&v, Expr::Const(n as i64), INT);
            pointers.push(v);
        }
        let integers = if number > 0 { vec![0, counter] } else { vec![counter] };
        let mut written = Written { random: &mut random, number, f, integers, pointers, recursive };
        if number == 0 {
            // Otherwise a pointer to nothing would be called.
            written.f.store(&global(3), pointer(FUNCTIONS as i64 - 1), PTR);
            if written.random.chance(2) {
                let child = 1 + written.random.below(FUNCTIONS - 1);
                let t = written.f.register(PTR);
                let arguments = vec![Expr::Const(1), global(0), Expr::Const(0)];
                written.f.emit(Instr::Spawn(child, arguments, t));
            }
        }
        for _ in 0..2 + written.random.below(4) {
            written.statement(2);
        }
        let v = written.integer();
        if number == 0 {
            written.f.store(&global(1), Written::small(v), INT);
            written.f.emit(Instr::Return(None));
        } else {
            written.f.emit(Instr::Return(Some(Written::small(v))));
        }
        functions.push(written.f);
    }
    raw(functions, &GLOBALS)
}

/// All ends; those in a violation without the values, which may be written or not by then.
fn ends(mut program: Program) -> (Vec<End>, bool) {
    program.finish();
    let found = explore(&program);
    let alike = |mut e: End| {
        if !["ended", "halted"].contains(&&*e.how) {
            e.values.clear();
            e.how.truncate(6);
        }
        e.values.remove("p");
        e
    };
    let ends: std::collections::BTreeSet<End> = found.ends.into_iter().map(alike).collect();
    (ends.into_iter().collect(), found.missing.is_empty())
}

#[test]
fn a_program_does_the_same_with_functions_in_place_of_their_calls() {
    let (mut compared, mut flat, mut partly, mut several) = (0, 0, 0, 0);
    for seed in 0..400 {
        let recursive = seed % 4 == 0;
        let (before, complete) = ends(random(seed, recursive));
        for instructions in [0, 60, 100_000] {
            let budget = Budget { instructions, ..Budget::default() };
            let inlined = random(seed, recursive).inlined(&budget);
            assert_eq!(inlined.is_flat(), inlined.not_flat().is_none());
            if instructions == 100_000 && !recursive {
                assert!(inlined.is_flat(), "{}", inlined.not_flat().unwrap());
                flat += 1;
            } else {
                partly += usize::from(!inlined.is_flat());
            }
            let (after, also) = ends(inlined);
            if complete && also {
                assert_eq!(before, after, "seed {seed}, budget {instructions}");
                compared += 1;
                several += usize::from(before.len() > 1);
            }
        }
    }
    assert!(
        compared > 800 && flat == 300 && partly > 300 && several > 200,
        "{compared} {flat} {partly} {several}"
    );
}

fn inlined(program: Program) -> Program {
    let mut program = program.inlined(&Budget::default());
    program.finish();
    program
}

/// `set(p, v)` stores through a pointer, and has a variable; `twice` calls it twice, one after the
/// other; `main` calls `twice` and starts a thread in it.
fn setters() -> Program {
    let mut main = Function::new("main", &[]);
    let (r, t) = (main.register(INT), main.register(PTR));
    main.call(1, &[Expr::Const(5)], Some(r));
    main.emit(Instr::Spawn(1, vec![Expr::Reg(r)], t));
    main.emit(Instr::Return(None));
    let mut twice = Function::new("twice", &[INT]);
    let own = twice.local("own", 8);
    twice.begins(&own, 8);
    let r = twice.register(INT);
    twice.call(2, &[global(0), Expr::Reg(0)], Some(r));
    twice.call(2, &[global(1), Expr::Reg(r)], Some(r));
    twice.emit(Instr::Return(Some(Expr::Reg(r))));
    let mut set = Function::new("set", &[PTR, INT]);
    let (v, result) = (set.local("v", 4), set.register(INT));
    set.begins(&v, 4);
    set.emit(Instr::Any(result));
    set.store(&Expr::Reg(0), Expr::Reg(1), INT);
    set.emit(Instr::Return(Some(Expr::Reg(result))));
    let mut program = raw(vec![main, twice, set], &[("x", INT), ("y", INT)]);
    program.templates[2].doubts.push((1, Doubt::Result("g".into())));
    program
}

#[test]
fn functions_are_put_where_they_are_called() {
    let program = inlined(setters());
    assert!(program.is_flat());
    let names: Vec<&str> = program.templates.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["main", "twice"]);
    let main = &program.templates[0];
    // Constants that are never assigned to are no registers.
    let stores: Vec<&Expr> = main
        .code
        .iter()
        .filter_map(|i| match i {
            Instr::Store(a, ..) => Some(a),
            _ => None,
        })
        .collect();
    assert_eq!(stores, [&global(0), &global(1)]);
    let values: Vec<&Expr> = main
        .code
        .iter()
        .filter_map(|i| match i {
            Instr::Store(_, v, _) => Some(v),
            _ => None,
        })
        .collect();
    assert_eq!(values[0], &Expr::Const(5));
    // The result is the register of the caller, from which it becomes a parameter.
    let copied = |i: &Instr| match i {
        Instr::Let(to, e @ Expr::Reg(_)) => Some((*to, e.clone())),
        _ => None,
    };
    let copies: Vec<_> = main.code.iter().filter_map(copied).collect();
    let [(parameter, result)] = &copies[..] else { panic!("{}", program.print()) };
    assert_eq!((values[1], result), (&Expr::Reg(*parameter), &Expr::Reg(0)));
    for t in &program.templates {
        for pc in 0..t.code.len() {
            assert!(next(&t.code, pc).iter().all(|&to| to < t.code.len()));
        }
    }
}

#[test]
fn origins_and_doubts_say_which_calls_lead_to_an_instruction() {
    let program = inlined(setters());
    let main = &program.templates[0];
    let stores = (0..main.code.len()).filter(|&pc| matches!(main.code[pc], Instr::Store(..)));
    let origins: Vec<_> = stores.map(|pc| program.origin(0, pc)).collect();
    // Lines are a hundred times the number of the function, and the number of the instruction.
    assert!(origins.iter().all(|o| o.function == "main > twice > set" && o.line == 202));
    assert_eq!(origins[0].calls, [0, 101]);
    assert_eq!(origins[1].calls, [0, 102]);
    for t in &program.templates {
        let open = (0..t.code.len()).filter(|&pc| matches!(t.code[pc], Instr::Any(_)));
        let doubts: Vec<_> = open.map(|pc| t.doubt(pc)).collect();
        assert_eq!(doubts, [Some(&Doubt::Result("g".into())); 2]);
    }
}

#[test]
fn variables_in_memory_have_places_that_functions_share_which_are_not_called_together() {
    let program = inlined(setters());
    // Those of the first thread are objects, because their addresses are used.
    let objects: Vec<&str> = program.objects.iter().map(|o| &*o.name).collect();
    assert_eq!(objects, ["x", "y", "own", "set::v", "set::v"]);
    assert_eq!(program.templates[0].frame, 0);
    let places: Vec<_> = program.locals.iter().map(|l| (&*l.name, l.base, l.size)).collect();
    assert_eq!(places, [("own", 0, 8), ("v", 8, 4), ("v", 8, 4)]);
    assert_eq!(program.templates[1].frame, 12);
    assert!(!program.objects[4].visible && program.objects[0].visible);
}

#[test]
fn what_is_left_of_calls_has_a_reason() {
    let mut main = Function::new("main", &[]);
    main.call(1, &[], None);
    main.emit(Instr::Return(None));
    let mut f = Function::new("f", &[]);
    f.call(2, &[], None);
    f.emit(Instr::Return(None));
    let mut g = Function::new("g", &[]);
    g.store(&global(0), Expr::Const(1), INT);
    g.emit(Instr::Return(None));
    let program = || raw(vec![main.clone(), f.clone(), g.clone()], &[("x", INT)]);
    let small = program().inlined(&Budget { instructions: 1, ..Budget::default() });
    let why = "with functions in place of their calls the program is too long";
    assert_eq!(small.not_flat().as_deref(), Some(why));
    assert_eq!(program().inlined(&Budget::default()).not_flat(), None);
    f.call(1, &[], None);
    let program = raw(vec![main, f, g], &[("x", INT)]).inlined(&Budget::default());
    assert_eq!(program.not_flat().as_deref(), Some("`f` calls itself"));
}

#[test]
fn what_threads_are_counted_and_what_they_see_follows_calls() {
    // `main` starts a thread in a function that it calls; both call `set`.
    let program = |by_call: bool| {
        let mut main = Function::new("main", &[]);
        let t = main.register(PTR);
        match by_call {
            true => main.call(2, &[], None),
            false => _ = main.emit(Instr::Spawn(1, Vec::new(), t)),
        }
        main.call(3, &[], None);
        main.emit(Instr::Return(None));
        let mut thread = Function::new("thread", &[]);
        thread.call(3, &[], None);
        thread.emit(Instr::Return(None));
        let mut starts = Function::new("starts", &[]);
        let t = starts.register(PTR);
        if by_call {
            starts.emit(Instr::Spawn(1, Vec::new(), t));
        }
        starts.emit(Instr::Return(None));
        let mut set = Function::new("set", &[]);
        set.store(&global(0), Expr::Const(1), INT);
        set.emit(Instr::Return(None));
        let mut only = Function::new("only", &[]);
        only.store(&global(1), Expr::Const(1), INT);
        only.emit(Instr::Return(None));
        main.0.code.insert(0, Instr::Call { function: 4, arguments: Vec::new(), result: None });
        finished(vec![main, thread, starts, set, only], &[("x", INT), ("y", INT)])
    };
    for by_call in [false, true] {
        let program = program(by_call);
        assert!(program.objects[0].visible, "two threads write it");
        assert!(!program.objects[1].visible, "the first thread alone writes it");
        assert_eq!(program.most_threads(), (!by_call).then_some(2));
        assert_eq!(program.runs_once(1), !by_call);
        assert_eq!(program.creates_without_bound(), by_call);
        assert!(!program.runs_once(3));
    }
}
