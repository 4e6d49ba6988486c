//! The comparisons in an expression.

use throng_goto::program::{BinOp, Expr, Int};
use throng_goto_check::abstraction::simplify::{binary, type_of};

/// The comparisons that the truth of an expression is made of, each as `==` or `<`.
pub fn atoms(e: &Expr, types: &dyn Fn(u32) -> Int, found: &mut Vec<Expr>) {
    let mut add = |e: Expr| {
        if !found.contains(&e) {
            found.push(e);
        }
    };
    match e {
        Expr::Const(_) => {}
        Expr::Bin(BinOp::Ne, a, b, at) => {
            let e = binary(BinOp::Eq, (**a).clone(), (**b).clone(), *at, types);
            match e {
                Expr::Bin(BinOp::Eq, a, b, at) => {
                    inner(&a, types, &mut add);
                    inner(&b, types, &mut add);
                    add(ordered(*a, *b, at));
                }
                e => atoms(&e, types, found),
            }
        }
        Expr::Bin(BinOp::Le, a, b, at) => {
            atoms(&Expr::Bin(BinOp::Lt, b.clone(), a.clone(), *at), types, found)
        }
        Expr::Bin(BinOp::Eq, a, b, at) => {
            inner(a, types, &mut add);
            inner(b, types, &mut add);
            add(ordered((**a).clone(), (**b).clone(), *at));
        }
        Expr::Bin(BinOp::Lt, a, b, at) => {
            inner(a, types, &mut add);
            inner(b, types, &mut add);
            add(Expr::Bin(BinOp::Lt, a.clone(), b.clone(), *at));
        }
        Expr::Cast(inside, _) if type_of(inside, types).is_some_and(|t| t.truth) => {
            atoms(inside, types, found)
        }
        e => {
            let zero = binary(BinOp::Eq, e.clone(), Expr::Const(0), Int::new(8, true), types);
            match &zero {
                Expr::Bin(BinOp::Eq, ..) => add(zero),
                zero => atoms(zero, types, found),
            }
        }
    }
}

fn ordered(a: Expr, b: Expr, at: Int) -> Expr {
    let key = |e: &Expr| match e {
        Expr::Const(_) => (2, 0),
        Expr::Reg(r) => (0, *r),
        _ => (1, 0),
    };
    let (a, b) = if key(&b) < key(&a) { (b, a) } else { (a, b) };
    Expr::Bin(BinOp::Eq, Box::new(a), Box::new(b), at)
}

/// Comparisons inside arithmetic.
fn inner(e: &Expr, types: &dyn Fn(u32) -> Int, add: &mut impl FnMut(Expr)) {
    match e {
        Expr::Bin(op, ..) if op.compares() => {
            let mut found = Vec::new();
            atoms(e, types, &mut found);
            found.into_iter().for_each(add);
        }
        Expr::Bin(_, a, b, _) => {
            inner(a, types, add);
            inner(b, types, add);
        }
        Expr::Cast(e, _) | Expr::Convert(e, _) => inner(e, types, add),
        Expr::Float(_, a, b, _) => {
            inner(a, types, add);
            inner(b, types, add);
        }
        Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => {}
    }
}
