//! Calls: recursion, pointers to functions, and local variables of functions that are called.

mod common;

use common::*;
use throng_goto::program::{BinOp, Expr, INT, Instr, PTR, Program, Violation};
use throng_goto::step::MOST_CALLS;

fn one(program: &Program) -> End {
    let found = explore(program);
    assert_eq!(found.missing.len(), 0, "{:?}", found.missing);
    assert_eq!(found.ends.len(), 1, "{:?}", found.ends);
    found.ends.into_iter().next().unwrap()
}

/// `f(n) = n <= 1 ? 1 : n * f(n - 1)`, as the function with this number.
fn factorial(number: usize) -> Function {
    let mut f = Function::new("factorial", &[INT]);
    let n = || Expr::Reg(0);
    let r = f.register(INT);
    let b = f.branch(bin(BinOp::Le, n(), Expr::Const(1)));
    f.yes(b);
    f.emit(Instr::Return(Some(Expr::Const(1))));
    f.no(b);
    f.call(number, &[bin(BinOp::Sub, n(), Expr::Const(1))], Some(r));
    f.emit(Instr::Return(Some(bin(BinOp::Mul, n(), Expr::Reg(r)))));
    f
}

#[test]
fn a_function_that_calls_itself_is_computed() {
    let mut main = Function::new("main", &[]);
    let r = main.register(INT);
    main.call(1, &[Expr::Const(10)], Some(r));
    main.store(&global(0), Expr::Reg(r), INT);
    main.emit(Instr::Return(None));
    let end = one(&program(vec![main, factorial(1)], &[("x", INT)]));
    assert_eq!(end.how, "ended");
    assert_eq!(end.values["x"], Some(3_628_800));
}

#[test]
fn functions_that_call_one_another_are_computed() {
    // even(n) = n == 0 ? 1 : odd(n - 1); odd(n) = n == 0 ? 0 : even(n - 1)
    let parity = |name: &str, other: usize, at_zero: i64| {
        let mut f = Function::new(name, &[INT]);
        let r = f.register(BOOL);
        let b = f.branch(bin(BinOp::Eq, Expr::Reg(0), Expr::Const(0)));
        f.yes(b);
        f.emit(Instr::Return(Some(Expr::Const(at_zero))));
        f.no(b);
        f.call(other, &[bin(BinOp::Sub, Expr::Reg(0), Expr::Const(1))], Some(r));
        f.emit(Instr::Return(Some(Expr::Reg(r))));
        f
    };
    let mut main = Function::new("main", &[]);
    let (a, b) = (main.register(INT), main.register(INT));
    main.call(1, &[Expr::Const(7)], Some(a));
    main.call(1, &[Expr::Const(8)], Some(b));
    main.store(&global(0), Expr::Reg(a), INT);
    main.store(&global(1), Expr::Reg(b), INT);
    main.emit(Instr::Return(None));
    let functions = vec![main, parity("even", 2, 1), parity("odd", 1, 0)];
    let end = one(&program(functions, &[("x", INT), ("y", INT)]));
    assert_eq!((end.values["x"], end.values["y"]), (Some(0), Some(1)));
}

#[test]
fn arguments_and_results_have_the_types_of_parameters_and_registers() {
    let byte = throng_goto::program::Int::new(1, false);
    let mut f = Function::new("f", &[byte]);
    f.emit(Instr::Return(Some(bin(BinOp::Add, Expr::Reg(0), Expr::Const(256)))));
    let mut main = Function::new("main", &[]);
    let (small, large) = (main.register(byte), main.register(INT));
    main.call(1, &[Expr::Const(300)], Some(small));
    main.call(1, &[Expr::Const(300)], Some(large));
    main.store(&global(0), Expr::Reg(small), INT);
    main.store(&global(1), Expr::Reg(large), INT);
    main.emit(Instr::Return(None));
    let end = one(&program(vec![main, f], &[("x", INT), ("y", INT)]));
    assert_eq!((end.values["x"], end.values["y"]), (Some(44), Some(300)));
}

/// `main` calls what a pointer in memory points to, with one argument.
fn by_pointer(pointer: Expr) -> Program {
    let mut main = Function::new("main", &[]);
    let r = main.register(INT);
    main.store(&global(0), pointer, PTR);
    let p = main.load(&global(0), PTR);
    let arguments = vec![(Expr::Const(20), INT)];
    main.emit(Instr::CallPointer { address: p, arguments, result: Some(r) });
    main.store(&global(1), Expr::Reg(r), INT);
    main.emit(Instr::Return(None));
    let mut double = Function::new("double", &[INT]);
    double.emit(Instr::Return(Some(bin(BinOp::Mul, Expr::Reg(0), Expr::Const(2)))));
    let mut nothing = Function::new("nothing", &[]);
    nothing.emit(Instr::Return(None));
    program(vec![main, double, nothing], &[("p", PTR), ("x", INT)])
}

#[test]
fn a_pointer_calls_the_function_that_it_points_to() {
    assert_eq!(one(&by_pointer(pointer(1))).values["x"], Some(40));
    for (wrong, why) in [
        (pointer(2), "`nothing` is called through a pointer with other arguments than it takes"),
        (pointer(7), "a pointer is called that is not a known function"),
        (Expr::Const(0), "a pointer is called that is not a known function"),
        (global(1), "a pointer is called that is not a known function"),
    ] {
        let found = explore(&by_pointer(wrong));
        assert!(found.missing.iter().any(|m| m.contains(why)), "{why}: {:?}", found.missing);
        assert!(found.ends.iter().all(|e| e.how == "stuck"), "{:?}", found.ends);
    }
}

/// `sum(n, p)`: each call has a variable `v`, whose address it hands to the next one, which adds to
/// it; the last call writes through the pointer that it was handed. `*out = v` where it returns.
fn sums(leaks: bool) -> Program {
    let mut main = Function::new("main", &[]);
    let x = main.local("x", 4);
    main.begins(&x, 4);
    main.store(&x, Expr::Const(100), INT);
    main.call(1, &[Expr::Const(4), x.clone()], None);
    let v = main.load(&x, INT);
    main.store(&global(0), v, INT);
    main.emit(Instr::Return(None));
    let mut sum = Function::new("sum", &[INT, PTR]);
    let v = sum.local("v", 4);
    let b = sum.branch(bin(BinOp::Eq, Expr::Reg(0), Expr::Const(0)));
    sum.yes(b);
    sum.emit(Instr::Return(None));
    sum.no(b);
    sum.begins(&v, 4);
    sum.store(&v, Expr::Reg(0), INT);
    if leaks {
        sum.store(&global(1), v.clone(), PTR);
    }
    sum.call(1, &[bin(BinOp::Sub, Expr::Reg(0), Expr::Const(1)), v.clone()], None);
    let (own, outer) = (sum.load(&v, INT), sum.load(&Expr::Reg(1), INT));
    sum.store(&Expr::Reg(1), bin(BinOp::Add, outer, own), INT);
    sum.emit(Instr::Ends(vec![(v, 4)]));
    sum.emit(Instr::Return(None));
    program(vec![main, sum], &[("x", INT), ("p", PTR)])
}

#[test]
fn every_call_has_its_own_variables_and_reaches_those_of_its_callers() {
    for leaks in [false, true] {
        let program = sums(leaks);
        assert_eq!(program.templates[1].locals[0].place.is_shared(), leaks);
        assert!(!program.templates[0].locals[0].place.is_shared());
        assert_eq!(one(&program).values["x"], Some(110));
    }
}

/// A function returns the address of its variable, or leaves it in memory; `main` uses it.
fn dangling(by_memory: bool, again: bool) -> Program {
    let mut main = Function::new("main", &[]);
    let r = main.register(PTR);
    main.call(1, &[], Some(r));
    if again {
        main.call(1, &[], None);
    }
    let p = if by_memory { main.load(&global(0), PTR) } else { Expr::Reg(r) };
    let v = main.load(&p, INT);
    main.store(&global(1), v, INT);
    main.emit(Instr::Return(None));
    let mut f = Function::new("f", &[]);
    let v = f.local("v", 4);
    f.begins(&v, 4);
    f.store(&v, Expr::Const(3), INT);
    if by_memory {
        f.store(&global(0), if again { Expr::Const(0) } else { v.clone() }, PTR);
    }
    f.emit(Instr::Return(Some(v)));
    program(vec![main, f], &[("p", PTR), ("x", INT)])
}

#[test]
fn a_variable_of_a_function_that_has_returned_is_not_used() {
    let why = "Memory: a pointer is used whose object no longer exists";
    assert_eq!(one(&dangling(false, false)).how, why);
    assert_eq!(one(&dangling(true, false)).how, why);
    assert_eq!(one(&dangling(false, true)).how, why);
    assert_eq!(one(&dangling(true, true)).how, "Memory: a null pointer is dereferenced");
}

#[test]
fn threads_take_turns_inside_of_a_recursion() {
    // count(n) { if (n) { x = x + 1; count(n - 1); } }, in two threads.
    let mut main = Function::new("main", &[]);
    let (a, b) = (main.register(PTR), main.register(PTR));
    main.emit(Instr::Spawn(1, vec![Expr::Const(2)], a));
    main.emit(Instr::Spawn(1, vec![Expr::Const(2)], b));
    let r = main.register(PTR);
    main.emit(Instr::Join(Expr::Reg(a), r));
    main.emit(Instr::Join(Expr::Reg(b), r));
    main.emit(Instr::Return(None));
    let mut count = Function::new("count", &[INT]);
    let b = count.branch(Expr::is_zero(Expr::Reg(0)));
    count.yes(b);
    count.emit(Instr::Return(None));
    count.no(b);
    let x = count.load(&global(0), INT);
    count.store(&global(0), bin(BinOp::Add, x, Expr::Const(1)), INT);
    count.call(1, &[bin(BinOp::Sub, Expr::Reg(0), Expr::Const(1))], None);
    count.emit(Instr::Return(None));
    let found = explore(&program(vec![main, count], &[("x", INT)]));
    assert!(found.missing.is_empty());
    // The least value is that of two threads that lose one another's writes.
    assert_eq!(found.values("x"), [Some(2), Some(3), Some(4)]);
    assert_eq!(found.hows(), ["ended"]);
}

/// Two threads call `f` twice; its variable is seen by the other one if it is `published`.
fn company(published: bool) -> Ends {
    let mut main = Function::new("main", &[]);
    let r = main.register(PTR);
    main.emit(Instr::Spawn(1, vec![], r));
    main.emit(Instr::Spawn(1, vec![], r));
    main.emit(Instr::Return(None));
    let mut thread = Function::new("thread", &[]);
    thread.call(2, &[], None);
    thread.call(2, &[], None);
    thread.emit(Instr::Return(None));
    let mut f = Function::new("f", &[]);
    let v = f.local("v", 4);
    f.begins(&v, 4);
    f.store(&v, Expr::Const(1), INT);
    if published {
        f.store(&global(1), v.clone(), PTR);
    }
    let read = f.load(&v, INT);
    f.store(&global(0), read, INT);
    f.emit(Instr::Return(None));
    explore(&program(vec![main, thread, f], &[("x", INT), ("p", PTR)]))
}

#[test]
fn only_variables_that_others_may_know_are_shared_and_used_again_with_a_remark() {
    let alone = company(false);
    assert!(alone.missing.is_empty());
    assert_eq!((alone.values("x"), alone.hows()), (vec![Some(1)], vec!["ended"]));
    let known = company(true);
    assert_eq!((known.values("x"), known.hows()), (vec![Some(1)], vec!["ended"]));
    let remark = "another thread may still have a pointer to an earlier local variable";
    assert_eq!(known.missing.into_iter().collect::<Vec<_>>(), [remark]);
    assert!(known.states > alone.states);
}

#[test]
fn a_thread_may_end_inside_of_functions() {
    let mut main = Function::new("main", &[]);
    let (t, r) = (main.register(PTR), main.register(PTR));
    main.emit(Instr::Spawn(1, vec![Expr::Const(3)], t));
    main.emit(Instr::Join(Expr::Reg(t), r));
    main.store(&global(0), Expr::Reg(r), PTR);
    main.emit(Instr::Return(None));
    let mut f = Function::new("f", &[INT]);
    let v = f.local("v", 4);
    f.begins(&v, 4);
    f.store(&global(1), v.clone(), PTR);
    let b = f.branch(Expr::is_zero(Expr::Reg(0)));
    f.yes(b);
    f.emit(Instr::End(Expr::Const(9)));
    f.no(b);
    f.call(1, &[bin(BinOp::Sub, Expr::Reg(0), Expr::Const(1))], None);
    f.emit(Instr::Fail(Violation::Assertion, "the thread goes on".into()));
    f.emit(Instr::Return(None));
    let end = one(&program(vec![main, f], &[("x", PTR), ("p", PTR)]));
    assert_eq!((&*end.how, end.values["x"]), ("ended", Some(9)));
}

#[test]
fn an_input_that_is_handed_on_is_the_same_in_all_calls() {
    // id(b) { return b; }; x = id(any) == id(the same) + 2 * (it is handed on twice).
    let mut main = Function::new("main", &[]);
    let (input, a) = (main.register(BOOL), main.register(BOOL));
    main.emit(Instr::Any(input));
    main.call(1, &[Expr::Reg(input)], Some(a));
    main.store(&global(0), Expr::Reg(a), BOOL);
    let both = main.register(BOOL);
    main.emit(Instr::Any(input));
    main.call(2, &[Expr::Reg(input), Expr::Reg(input)], Some(both));
    main.store(&global(1), Expr::Reg(both), BOOL);
    main.emit(Instr::Return(None));
    let mut id = Function::new("id", &[BOOL]);
    id.emit(Instr::Return(Some(Expr::Reg(0))));
    let mut same = Function::new("same", &[BOOL, BOOL]);
    same.emit(Instr::Return(Some(bin(BinOp::Eq, Expr::Reg(0), Expr::Reg(1)))));
    let found = explore(&program(vec![main, id, same], &[("x", BOOL), ("y", BOOL)]));
    assert!(found.missing.is_empty(), "{:?}", found.missing);
    assert_eq!(found.values("x"), [Some(0), Some(1)]);
    assert_eq!(found.values("y"), [Some(1)]);
}

#[test]
fn a_search_that_stops_at_the_depth_of_calls_says_so() {
    let depth = |n: i64| {
        let mut main = Function::new("main", &[]);
        main.call(1, &[Expr::Const(n)], None);
        main.store(&global(0), Expr::Const(1), INT);
        main.emit(Instr::Return(None));
        let mut f = Function::new("f", &[INT]);
        let b = f.branch(Expr::is_zero(Expr::Reg(0)));
        f.no(b);
        f.call(1, &[bin(BinOp::Sub, Expr::Reg(0), Expr::Const(1))], None);
        f.yes(b);
        f.emit(Instr::Return(None));
        explore(&program(vec![main, f], &[("x", INT)]))
    };
    let most = MOST_CALLS as i64;
    let within = depth(most - 1);
    assert_eq!((within.missing.len(), within.values("x")), (0, vec![Some(1)]));
    let beyond = depth(most);
    assert_eq!(beyond.hows(), ["stuck"]);
    assert!(beyond.missing.iter().any(|m| m.contains("calls are nested more than 200 deep")));
}
