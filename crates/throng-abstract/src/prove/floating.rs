//! Programs that compute with `float`: what does not depend on numbers is proved, and nothing is
//! proved that does.
//!
//! Here `unsigned` stands for `float`: its operators are replaced by those on numbers, so that
//! constants are bits.

use std::sync::Arc;

use throng_goto::Query;
use throng_goto::interpreter::Interpreter;
use throng_goto::program::{BinOp, Conversion, Expr, FloatOp, INT, Instr, Int, Width};
use throng_goto::step::After;
use throng_goto_check::abstraction::certificate::{check, document};
use throng_goto_check::abstraction::graph::{Graph, Reading};
use throng_goto_check::abstraction::predicate::Predicate;

use crate::prove::Ended;
use crate::readings::attempt;
use crate::testing::{self, limits};

const UNSIGNED: Int = Int::new(4, false);
const MAIN: &str = "int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, thread, 0); } }";
const ALONE: &str = "int main(void) { thread(0); return 0; }";

/// The expression with numbers for `unsigned`.
fn number(e: &Expr) -> Expr {
    let number = |e: &Expr| Box::new(number(e));
    match e {
        Expr::Bin(op, a, b, UNSIGNED) => Expr::Float(float(*op), number(a), number(b), Width::Single),
        Expr::Bin(op, a, b, at) => Expr::Bin(*op, number(a), number(b), *at),
        Expr::Cast(e, UNSIGNED) => Expr::Convert(number(e), Conversion::FromInt(INT, Width::Single)),
        Expr::Cast(e, INT) => Expr::Convert(number(e), Conversion::ToInt(Width::Single, INT)),
        e => e.clone(),
    }
}

fn float(op: BinOp) -> FloatOp {
    match op {
        BinOp::Add => FloatOp::Add,
        BinOp::Sub => FloatOp::Sub,
        BinOp::Mul => FloatOp::Mul,
        BinOp::Div => FloatOp::Div,
        BinOp::Eq => FloatOp::Eq,
        BinOp::Ne => FloatOp::Ne,
        BinOp::Lt => FloatOp::Lt,
        BinOp::Le => FloatOp::Le,
        op => panic!("{op:?} is not an operator on numbers"),
    }
}

fn load(globals: &str, body: &str, main: &str) -> Query {
    let mut query =
        testing::load(&format!("{globals}\nvoid *thread(void *arg) {{ {body} return 0; }}\n{main}"));
    let program = Arc::get_mut(&mut query.program).expect("it is not shared yet");
    for i in program.templates.iter_mut().flat_map(|t| &mut t.code) {
        match i {
            Instr::Let(_, e) | Instr::Branch(e, ..) | Instr::Store(_, e, _) => *e = number(e),
            _ => {}
        }
    }
    query
}

fn is_proved(globals: &str, body: &str) -> bool {
    let query = load(globals, body, MAIN);
    match attempt(&query.program, &[], &limits(), &mut |_| {}) {
        Ok((graph, Ended::Proved(proof))) => {
            let document = document(&query, &graph, &proof.evidence);
            check(&query, &document, &limits()).expect("a proof stands");
            true
        }
        _ => false,
    }
}

/// How one thread ends, and why it may go other ways.
fn run(globals: &str, body: &str) -> (Option<After>, Option<String>) {
    let query = load(globals, body, ALONE);
    let mut interpreter = Interpreter::new(&query.program);
    interpreter.run(1000, |_| 0);
    let stopped = interpreter.threads.iter().flatten().next();
    let missing =
        stopped.and_then(|t| throng_goto::step::step(&query.program, &interpreter.memory, t).missing);
    (interpreter.ended, missing.map(|missing| missing.to_string()))
}

fn fails(globals: &str, body: &str) -> bool {
    matches!(run(globals, body).0, Some(After::Failed(..)))
}

#[test]
fn what_does_not_depend_on_numbers_is_proved() {
    let floats = "unsigned d; int x;";
    assert!(is_proved(floats, "d = d + 0x3f800000u; x = 1; if (x > 1) reach_error();"));
    // Each way of a comparison is one that numbers may go.
    assert!(is_proved(floats, "if (d < 0x40000000u) x = 1; else x = 0; if (x > 1) reach_error();"));
    // Also if the number does not fit, it becomes some integer.
    assert!(is_proved(floats, "int n = (int)(d * d); if (n > 5) x = 1; if (x > 1) reach_error();"));
}

#[test]
fn what_depends_on_numbers_is_not_proved_and_is_found() {
    // As integers, the bits would be 0x7f000000 and different.
    let sum = "d = 0x3f800000u; d = d + 0x3f800000u; if (d == 0x40000000u) reach_error();";
    // As integers, they would be equal.
    let not_a_number = "d = d / d; if (d != d) reach_error();";
    let converted = "d = 0x40600000u; d = d * d; if ((int)d == 12) reach_error();";
    let negative = "d = d - 0x3f800000u; if (d < 0u) reach_error();";
    for body in [sum, not_a_number, converted, negative] {
        assert!(!is_proved("unsigned d;", body), "{body}");
        assert!(fails("unsigned d;", body), "{body}");
    }
}

#[test]
fn constants_are_exact_in_proofs() {
    let sum =
        |n: &str| format!("unsigned mine = 0x3f800000u; mine = mine + mine; if (mine == {n}) reach_error();");
    assert!(is_proved("", &sum("0x40400000u")));
    assert!(!is_proved("", &sum("0x40000000u")));
}

/// 2 is less than 3, and the sum is one and the same number in both comparisons.
#[test]
fn two_uses_of_a_number_are_not_contradictory() {
    let body =
        "unsigned mine = d + 0x3f800000u; if (mine == 0x40000000u) if (mine < 0x40400000u) reach_error();";
    assert!(!is_proved("unsigned d = 0x3f800000u;", body));
    assert!(fails("unsigned d = 0x3f800000u;", body));
}

#[test]
fn operands_of_a_conversion_have_to_be_defined() {
    let body = "unsigned mine = (unsigned)(1 / x); if (mine == mine) x = 1;";
    assert!(!is_proved("int x;", body));
    assert_eq!(run("int x;", body).0, None);
    assert!(is_proved("int x;", "unsigned mine = (unsigned)(1 / 2); if (mine == mine) x = 1;"));
}

#[test]
fn what_c_leaves_open_is_not_searched() {
    let (ended, why) = run("unsigned d; int x;", "d = 0x7f000000u; x = (int)d; if (x != 1) reach_error();");
    assert_eq!(ended, None);
    let why = why.expect("the search is not complete");
    assert!(why.contains("does not fit into the integer it becomes"), "{why}");
    let reads = "d = d / d; if (((unsigned char *)&d)[3] > 127) reach_error();";
    let (ended, why) = run("unsigned d;", reads);
    assert_eq!(ended, None);
    let why = why.expect("the search is not complete");
    assert!(why.contains("the bits of a NaN are used as an integer"), "{why}");
}

#[test]
fn no_predicate_and_no_guard_is_about_numbers() {
    let query =
        load("unsigned d; int x;", "if (d + 0x3f800000u < d) x = (int)d; else d = (unsigned)x;", MAIN);
    let reading = Reading { trusting: false, summarising: true, counting: false };
    let graph = Graph::of(&query.program, reading).expect("there is a graph");
    let is_number = |e: &Expr| matches!(e, Expr::Float(..) | Expr::Convert(..));
    let open = graph.edges.iter().filter(|e| !e.inputs.is_empty()).count();
    assert!(open > 0, "numbers are inputs");
    assert!(graph.edges.iter().all(|e| !e.guard.iter().any(is_number)));
    assert!(graph.edges.iter().all(|e| !e.updates.iter().any(|u| is_number(&u.1))));
    let d = graph.variables.list.iter().position(|v| v.name == "d").expect("a variable") as u32;
    let less = |e: Expr| Expr::Bin(BinOp::Lt, Box::new(e), Box::new(Expr::Const(1)), INT);
    assert!(Predicate::of(less(Expr::Reg(d)), &graph.variables).is_some());
    let converted = Expr::convert(Expr::Reg(d), Conversion::ToInt(Width::Single, INT));
    assert!(Predicate::of(less(converted), &graph.variables).is_none());
}
