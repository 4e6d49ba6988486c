//! What the states of a search take: what differs between them, not what the program has.

mod common;

use std::collections::HashSet;
use std::sync::Arc;

use common::*;
use throng_goto::Concrete;
use throng_goto::model::Stored;
use throng_goto::program::{BinOp, Expr, INT, Instr, Int, Object, PTR, Program};
use throng_model::{Bag, Config, semantics};

/// What is stored when everything was searched, and the number of configurations.
fn searched(program: Program) -> (Stored, usize) {
    let model = Concrete::new(Arc::new(program));
    let (shared, threads) = model.initial();
    let begin = Config::new(shared, threads.iter().copied().collect::<Bag>());
    let (mut seen, mut work) = (HashSet::from([begin.clone()]), vec![begin]);
    let mut after = Vec::new();
    while let Some(config) = work.pop() {
        semantics::successors(&model, &config, None, &mut after).expect("all steps are known");
        for (_, next) in after.drain(..) {
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    (model.stored(), seen.len())
}

/// `for (i = 0; i < n; i++) { t = start(child); join(t); }`, where the child increments `x`, beside
/// an array of so many bytes that nothing writes.
fn one_after_the_other(n: i64, unwritten: usize) -> Program {
    let mut main = Function::new("main", &[]);
    let (i, t, r) = (main.register(INT), main.register(PTR), main.register(PTR));
    main.emit(Instr::Let(i, Expr::Const(0)));
    let begin = main.0.code.len();
    let b = main.branch(bin(BinOp::Lt, Expr::Reg(i), Expr::Const(n)));
    main.yes(b);
    main.emit(Instr::Spawn(1, Vec::new(), t));
    main.emit(Instr::Join(Expr::Reg(t), r));
    main.emit(Instr::Let(i, bin(BinOp::Add, Expr::Reg(i), Expr::Const(1))));
    main.emit(Instr::Jump(begin));
    main.no(b);
    main.emit(Instr::Return(None));
    let mut child = Function::new("child", &[]);
    let v = child.register(INT);
    child.emit(Instr::Load(v, global(0), INT));
    child.store(&global(0), bin(BinOp::Add, Expr::Reg(v), Expr::Const(1)), INT);
    child.emit(Instr::Return(None));
    let mut program = raw(vec![main, child], &[("x", INT)]);
    program.objects.push(Object {
        name: "table".into(),
        init: (0..unwritten).map(|n| n as u16 & 255).collect(),
        base: 4,
        align: 0,
        parts: vec![(0, Int::new(1, false), "[0]".into())],
        visible: true,
        global: true,
        library: false,
        leaves: false,
        external: false,
    });
    program.finish();
    program
}

#[test]
fn what_is_never_written_is_stored_once() {
    let (small, configurations) = searched(one_after_the_other(50, 100));
    let (large, as_many) = searched(one_after_the_other(50, 100_000));
    assert_eq!(configurations, as_many);
    assert!(configurations > 200, "{configurations}");
    assert_eq!((small.shared, small.local), (large.shared, large.local));
    let once = 100_000 * size_of::<u16>();
    // A write copies the way to what is written: a few nodes of the tree more.
    let more = large.bytes - small.bytes - once * 3 / 2;
    assert!(more < large.shared * 800, "{more} bytes more for {} shared states", large.shared);
    assert!(large.bytes / configurations < 2_500, "{large:?}, {configurations} configurations");
}

#[test]
fn threads_that_have_ended_are_not_stored_again_and_again() {
    let (few, a) = searched(one_after_the_other(50, 1_000));
    let (many, b) = searched(one_after_the_other(1_600, 1_000));
    assert!(b > 30 * a, "{a}, {b}");
    let (each, later) = (few.bytes / a, many.bytes / b);
    assert!(later < each + 500, "{each} bytes for each configuration, then {later}");
}
