//! The checkers of proofs follow no calls: they refuse a program in which some are left.

use throng_goto::program::{Access, Budget, Expr, INT, Instr, Origin, Program, Template, Violation};
use throng_goto_check::abstraction::graph::{Graph, Reading};
use throng_goto_check::lock_order::{Order, check_order};
use throng_goto_check::locksets::{check, locksets};

/// `main` calls `f`, which calls itself if `again`.
fn program(again: bool) -> Program {
    let call = || Instr::Call { function: 1, arguments: Vec::new(), result: None };
    let main = vec![call(), Instr::Return(None)];
    let f = match again {
        true => vec![call(), Instr::Return(None)],
        false => vec![Instr::Let(0, Expr::Const(1)), Instr::Return(None)],
    };
    let template = |name: &str, code: Vec<Instr>| Template {
        name: name.into(),
        origins: vec![0; code.len()],
        access: vec![Access::Plain; code.len()],
        registers: vec![INT],
        names: vec![None],
        owners: vec![String::new()],
        single: name == "main",
        code,
        ..Template::default()
    };
    let program = Program {
        templates: vec![template("main", main), template("f", f)],
        origins: vec![Origin::default()],
        asked: vec![Violation::Assertion],
        ..Program::default()
    };
    let mut program = program.inlined(&Budget::default());
    program.finish();
    program
}

#[test]
fn a_program_with_calls_is_not_proved() {
    let reading = Reading { trusting: false, summarising: false, counting: false };
    let flat = program(false);
    assert!(check(&flat, &locksets(&flat)).is_ok());
    assert!(check_order(&flat, &Order::default()).is_ok());
    assert!(Graph::of(&flat, reading).is_ok());
    let calls = program(true);
    let why = "`f` calls itself";
    assert_eq!(check(&calls, &locksets(&calls)).unwrap_err(), why);
    assert_eq!(check_order(&calls, &Order::default()).unwrap_err(), why);
    assert_eq!(Graph::of(&calls, reading).unwrap_err(), why);
}
