//! The monitor beside the goto program, and its executions, against the axioms: random programs and
//! shapes, as goto programs and as small programs whose graphs are all enumerated.

mod common;
#[path = "../../throng-memory/tests/memory/generate.rs"]
mod generate;
#[path = "common/litmus.rs"]
mod litmus;

use std::sync::Arc;

use common::{Function, bin, global, raw};
use generate::Flavour;
use litmus::{meets, program, translated, translated_with};
use throng_goto::executions::exploration::Explored;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Violation};
use throng_goto::robust::lag::Values;
use throng_goto::{Concrete, Executions, Program, Robust};
use throng_memory::Order;
use throng_memory::axioms::{Sequences, judge, judge_with};
use throng_memory::litmus::{Instruction, Litmus};
use throng_memory::search::{Ended, Met, Search};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::random::Random;
use throng_model::semantics::successors;
use throng_model::verdict::Trace;
use throng_model::{Bag, Config};

const GRAPHS: usize = 4000;
const STATES: usize = 60_000;

fn robust(program: &Program) -> Option<bool> {
    robust_as(program, |model, _| Some(model))
}

/// The same with another monitor.
fn robust_as(program: &Program, make: impl Fn(Robust, &Concrete) -> Option<Robust>) -> Option<bool> {
    let concrete = Arc::new(Concrete::new(Arc::new(program.clone())));
    let original = problem(concrete.clone());
    let model = make(Robust::new(concrete.clone()), &concrete)?;
    let found = meets(&Arc::new(model).problem(&original), STATES)?;
    Some(!found)
}

/// But for reads that change nothing.
fn robust_but_for_harmless_reads(program: &Program) -> Option<bool> {
    robust_as(program, |model, concrete| {
        Some(model.but_for_harmless_reads(Values::of(concrete, STATES, &|| false)?))
    })
}

fn problem(model: Arc<Concrete>) -> Problem {
    Problem {
        model,
        initial: Vec::new(),
        initial_text: String::new(),
        targets: Vec::new(),
        bound: Bound::Any,
    }
}

/// Returns whether an execution has a race.
fn races(program: &Program) -> Option<bool> {
    let concrete = Arc::new(Concrete::new(Arc::new(program.clone())));
    let original = problem(concrete.clone());
    let bad = Config::new(Executions::RACE, Bag::new());
    let target = Target::covering("race".to_string(), vec![bad]);
    meets(&Arc::new(Executions::new(concrete, 60)).problem(&original, target), STATES)
}

/// Explores the executions; `None` if one of them fails with the release sequences of C++20 only.
fn explored(program: &Program) -> Option<Explored> {
    let concrete = Arc::new(Concrete::new(Arc::new(program.clone())));
    let original = problem(concrete.clone());
    let executions = Arc::new(Executions::new(concrete, 60));
    let bad = [Executions::RACE, executions.failed(0)].map(|s| Config::new(s, Bag::new()));
    let target = Target::covering("executions".to_string(), bad.to_vec());
    let problem = executions.clone().problem(&original, target);
    let explored = executions.explore(&problem, &Limits::none());
    if executions.incomplete().is_some() {
        return None;
    }
    if let Some(trace) = &explored.failing {
        assert!(is_run(&problem, trace), "{trace:?}");
    }
    Some(explored)
}

fn is_run(problem: &Problem, trace: &Trace) -> bool {
    let mut now = trace.start.clone();
    trace.steps.iter().all(|taken| {
        let mut next = Vec::new();
        successors(&*problem.model, &now, None, &mut next).expect("all steps are known");
        now = taken.after.clone();
        next.iter().any(|(step, after)| *step == taken.step && *after == now)
    })
}

/// What the graphs of a small program come to: whether one fails, and the number of complete ones in
/// which all threads have ended.
fn graphs(litmus: &Litmus) -> Option<(bool, usize)> {
    let (mut fails, mut complete) = (false, 0);
    let ended = Search { graphs: GRAPHS, ..Search::default() }.run(litmus, &mut |met| {
        match met {
            Met::Graph(_, judgement) => fails |= judgement.race.is_some(),
            Met::Failure(..) => fails = true,
            Met::Complete(_, all) => complete += usize::from(all),
        }
        true
    });
    (ended == Ended::Exhausted).then_some((fails, complete))
}

/// The program with an assertion at the end of some threads.
fn with_assertion(random: &mut Random, mut litmus: Litmus) -> Litmus {
    let thread = random.below(litmus.threads.len());
    litmus.threads[thread].push(Instruction::AssertNot(random.below(2) as i64));
    litmus
}

#[test]
fn explored_executions_are_the_graphs() {
    let (mut fail, mut pass, mut executions) = (0, 0, 0);
    for (flavour, seed) in Flavour::ALL.into_iter().zip(31..) {
        let mut random = Random::new(seed);
        for number in 0..300 {
            let mut litmus = program(&mut random, flavour, number);
            if number % 2 == 0 {
                litmus = with_assertion(&mut random, litmus);
            }
            let Some((fails, complete)) = graphs(&litmus) else { continue };
            let mut goto = translated(&litmus);
            goto.asked = vec![Violation::Assertion];
            let Some(explored) = explored(&goto) else { continue };
            assert_eq!(explored.failing.is_some(), fails, "{litmus:?}");
            if fails {
                fail += 1;
                continue;
            }
            pass += 1;
            executions += complete;
            assert!(explored.exhausted, "{litmus:?}");
            assert_eq!(explored.complete, complete, "{litmus:?}");
        }
    }
    assert!(fail > 200 && pass > 400 && executions > 3000, "{fail} {pass} {executions}");
}

#[derive(Default, Debug)]
struct Tally {
    robust: usize,
    not: usize,
    alarms: usize,
    left_out: usize,
}

#[test]
fn the_monitor_of_goto_programs_agrees_with_the_axioms() {
    for (flavour, seed) in Flavour::ALL.into_iter().zip(11..) {
        let (mut random, mut tally) = (Random::new(seed), Tally::default());
        for number in 0..400 {
            let litmus = program(&mut random, flavour, number);
            let graphs = Search { graphs: GRAPHS, ..Search::default() }.is_robust(&litmus);
            match (graphs, robust(&translated(&litmus))) {
                (None, _) | (_, None) => tally.left_out += 1,
                (Some(true), Some(true)) => tally.robust += 1,
                (Some(false), Some(false)) => tally.not += 1,
                (Some(false), Some(true)) => panic!("missed: {litmus:?}"),
                (Some(true), Some(false)) => {
                    tally.alarms += 1;
                    let sequential = format!("{litmus:?}").contains("SeqCst");
                    assert!(sequential, "false alarm: {litmus:?}");
                }
            }
        }
        assert!(tally.robust > 60 && tally.not > 60 && tally.left_out < 80, "{flavour:?}: {tally:?}");
        assert!(tally.alarms < 16, "{flavour:?}: {tally:?}");
    }
}

#[test]
fn executions_have_the_races_that_graphs_have() {
    let (mut random, mut found, mut none) = (Random::new(5), 0, 0);
    for number in 0..300 {
        let litmus = program(&mut random, Flavour::Plain, number);
        let mut race = false;
        let ended = Search { graphs: GRAPHS, ..Search::default() }.run(&litmus, &mut |met| {
            if let Met::Graph(_, judgement) = met {
                race |= judgement.race.is_some();
            }
            !race
        });
        if !race && ended != Ended::Exhausted {
            continue;
        }
        let Some(said) = races(&translated(&litmus)) else { continue };
        assert_eq!(said, race, "{litmus:?}");
        if race { found += 1 } else { none += 1 }
    }
    assert!(found > 60 && none > 60, "{found} {none}");
}

/// A random program that asserts something of what its threads have read, and reads more often.
fn asserting(random: &mut Random, flavour: Flavour, number: usize) -> Litmus {
    let mut litmus = program(random, flavour, number);
    for code in &mut litmus.threads {
        for at in (0..=code.len()).rev() {
            let more = match random.below(4) {
                0 => Instruction::AssertNot(random.below(3) as i64),
                1 => {
                    let order = random.pick(&[Order::Relaxed, Order::Acquire]);
                    let location = code.get(at).and_then(|i| i.accesses().first().map(|a| a.location));
                    Instruction::Load(location.unwrap_or(1), order)
                }
                _ => continue,
            };
            let condition =
                |i: &Instruction| matches!(i, Instruction::IfEqual(_) | Instruction::IfUnequal(_));
            let plain = more.accesses().iter().any(|a| a.location == 3);
            if !(plain || at > 0 && condition(&code[at - 1])) {
                code.insert(at, more);
            }
        }
    }
    litmus
}

/// Whether an execution fails: one of sequential consistency, and any. `None`: there are too many.
fn fails(litmus: &Litmus) -> Option<(bool, bool)> {
    let (mut sequential, mut any) = (false, false);
    let ended = Search { graphs: GRAPHS, ..Search::default() }.run(litmus, &mut |met| {
        match met {
            Met::Graph(_, judgement) => any |= judgement.race.is_some(),
            Met::Failure(execution, ..) => {
                any = true;
                sequential |= judge(&execution.graph).is_some_and(|j| j.sequential);
            }
            Met::Complete(..) => {}
        }
        !sequential
    });
    (sequential || ended == Ended::Exhausted).then_some((sequential, any))
}

#[test]
fn reads_that_change_nothing_hide_no_failure() {
    let (mut gained, mut robust_ones, mut failing) = (0, 0, 0);
    for (flavour, seed) in Flavour::ALL.into_iter().zip(31..) {
        let mut random = Random::new(seed);
        for number in 0..300 {
            let litmus = asserting(&mut random, flavour, number);
            let Some((false, any)) = fails(&litmus) else { continue };
            for program in [translated(&litmus), translated_with(&litmus, true)] {
                let Some(but_for) = robust_but_for_harmless_reads(&program) else { continue };
                assert!(!(any && but_for), "missed: {litmus:?}");
                robust_ones += usize::from(but_for);
                failing += usize::from(any);
                gained += usize::from(but_for && robust(&program) == Some(false));
            }
        }
    }
    assert!(gained > 30 && robust_ones > 100 && failing > 100, "{gained} {robust_ones} {failing}");
}

/// A random program in which many writes with release order are followed by a relaxed one.
fn writing_twice(random: &mut Random, flavour: Flavour, number: usize) -> Litmus {
    let mut litmus = program(random, flavour, number);
    for code in &mut litmus.threads {
        for at in (0..code.len()).rev() {
            if let Instruction::Store(x, v, Order::Release) = code[at]
                && !(at > 0 && matches!(code[at - 1], Instruction::IfEqual(_) | Instruction::IfUnequal(_)))
                && random.below(4) > 0
            {
                code[at] = Instruction::Store(x, (v + 1) % 3, Order::Release);
                code.insert(at + 1, Instruction::Store(x, v, Order::Relaxed));
            }
        }
    }
    litmus
}

#[test]
fn release_sequences_of_threads_are_those_of_the_axioms() {
    let (mut gained, mut robust_ones, mut not) = (0, 0, 0);
    for (flavour, seed) in [Flavour::Relaxed, Flavour::Plain, Flavour::Fences].into_iter().zip(51..) {
        let mut random = Random::new(seed);
        for number in 0..300 {
            let litmus = writing_twice(&mut random, flavour, number);
            let mut of_axioms = true;
            let ended = Search { graphs: GRAPHS, ..Search::default() }.run(&litmus, &mut |met| {
                if let Met::Graph(execution, _) = met
                    && let Some(judged) = judge_with(&execution.graph, Sequences::Thread)
                {
                    of_axioms &= judged.sequential && judged.race.is_none();
                }
                of_axioms
            });
            if of_axioms && ended != Ended::Exhausted {
                continue;
            }
            let program = Program { numbered: true, ..translated(&litmus) };
            let said = robust_as(&program, |model, _| Some(model.with(Sequences::Thread)));
            assert!(of_axioms || said != Some(true), "missed: {litmus:?}");
            robust_ones += usize::from(said == Some(true));
            not += usize::from(!of_axioms);
            gained += usize::from(said == Some(true) && robust(&program) == Some(false));
        }
    }
    assert!(gained > 3 && robust_ones > 100 && not > 100, "{gained} {robust_ones} {not}");
}

/// A function being written, with the orders of its accesses.
struct Writing(Function, Vec<Access>);

impl Writing {
    fn new(name: &str) -> Writing {
        Writing(Function::new(name, &[]), Vec::new())
    }

    fn emit(&mut self, i: Instr, access: Access) -> usize {
        self.1.push(access);
        self.0.emit(i)
    }

    fn load(&mut self, x: i64, order: Order) -> Expr {
        let r = self.0.register(INT);
        self.emit(Instr::Load(r, global(x), INT), Access::Atomic(order));
        Expr::Reg(r)
    }

    fn store(&mut self, x: i64, v: i64, order: Order) {
        self.emit(Instr::Store(global(x), Expr::Const(v), INT), Access::Atomic(order));
    }

    fn fence(&mut self, order: Option<Order>) {
        if let Some(order) = order {
            self.emit(Instr::Fence(order), Access::Plain);
        }
    }
}

fn rarely<T>(random: &mut Random, strong: T, weak: T) -> T {
    if random.below(8) == 0 { weak } else { strong }
}

/// A sequence lock with orders that may be too weak: a writer, and a reader that reads again, or
/// gives up, where the sequence number has changed.
fn sequence_lock(random: &mut Random) -> Program {
    let mut writer = Writing::new("writer");
    for round in 0..1 + random.below(2) as i64 {
        writer.store(0, 2 * round + 1, Order::Relaxed);
        writer.fence(rarely(random, Some(Order::Release), None));
        writer.store(1, round + 1, Order::Relaxed);
        writer.store(2, round + 1, Order::Relaxed);
        writer.store(0, 2 * round + 2, rarely(random, Order::Release, Order::Relaxed));
    }
    writer.emit(Instr::End(Expr::Const(0)), Access::Plain);
    let mut reader = Writing::new("reader");
    let before = reader.load(0, rarely(random, Order::Acquire, Order::Relaxed));
    let second = reader.load(2, Order::Relaxed);
    let first = reader.load(1, Order::Relaxed);
    reader.fence(rarely(random, Some(Order::Acquire), None));
    let after = reader.load(0, Order::Relaxed);
    let branches = [
        bin(BinOp::Eq, before.clone(), after),
        bin(BinOp::Eq, bin(BinOp::Rem, before, Expr::Const(2)), Expr::Const(0)),
    ];
    let again: Vec<usize> =
        branches.into_iter().map(|c| reader.emit(Instr::Branch(c, 0, 0), Access::Plain)).collect();
    for &branch in &again {
        if let Instr::Branch(_, yes, _) = &mut reader.0.0.code[branch] {
            *yes = branch + 1;
        }
    }
    let used = reader.emit(Instr::Branch(bin(BinOp::Eq, first, second), 0, 0), Access::Plain);
    reader.0.no(used);
    reader.emit(Instr::Fail(Violation::Assertion, "the parts differ".into()), Access::Plain);
    reader.0.yes(used);
    let end = reader.emit(Instr::End(Expr::Const(0)), Access::Plain);
    let to = if random.below(2) == 0 { 0 } else { end };
    for branch in again {
        if let Instr::Branch(_, _, no) = &mut reader.0.0.code[branch] {
            *no = to;
        }
    }
    let mut main = Function::new("main", &[]);
    let number = main.register(INT);
    main.emit(Instr::Spawn(1, Vec::new(), number));
    main.emit(Instr::Spawn(2, Vec::new(), number));
    main.emit(Instr::End(Expr::Const(0)));
    let (Writing(writer, writes), Writing(reader, reads)) = (writer, reader);
    let mut program = raw(vec![main, writer, reader], &[("s", INT), ("x", INT), ("y", INT)]);
    (program.templates[1].access, program.templates[2].access) = (writes, reads);
    (program.templates[1].single, program.templates[2].single) = (true, true);
    program.weak_orders = true;
    program.finish();
    program
}

/// Returns whether an execution violates an assertion.
fn asserts_wrongly(program: &Program) -> Option<bool> {
    let concrete = Arc::new(Concrete::new(Arc::new(program.clone())));
    let original = problem(concrete.clone());
    let model = Executions::new(concrete, 60);
    let bad = Config::new(model.failed(0), Bag::new());
    let target = Target::covering("assertion".to_string(), vec![bad]);
    meets(&Arc::new(model).problem(&original, target), STATES)
}

#[test]
fn readers_of_sequence_locks_may_read_what_they_throw_away() {
    let mut random = Random::new(3);
    let (mut gained, mut failing) = (0, 0);
    for _ in 0..80 {
        let program = sequence_lock(&mut random);
        let (Some(fails), Some(but_for)) =
            (asserts_wrongly(&program), robust_but_for_harmless_reads(&program))
        else {
            continue;
        };
        assert!(!(fails && but_for), "missed:\n{}", program.print());
        failing += usize::from(fails);
        gained += usize::from(but_for && robust(&program) == Some(false));
    }
    assert!(gained > 5 && failing > 10, "{gained} {failing}");
}
