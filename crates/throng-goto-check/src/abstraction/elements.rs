//! Arrays whose elements are alike: a variable stands for any element of such an array, and facts
//! about it hold for all of them.
//!
//! A step that stores into the array either writes the element that the variable stands for or
//! leaves it alone; facts have to be kept in both cases ([`variants`]). What a step reads from the
//! array is some element, so that facts about the variable are known of the value that is read
//! ([`Edge::reads`]). Nothing else is said about the variable: it occurs in no guard, and no
//! predicate of the abstraction is about it.

use rustc_hash::FxHashMap;
use throng_goto::program::{self, BinOp, Expr, Instr, Int, Program};
use throng_goto::step::OPEN;

use super::graph::{Edge, Graph};
use super::predicate::{rename, used};
use super::variables::Variables;

/// Maximum number of arrays with an element variable.
const MOST: usize = 3;

/// The arrays that are only ever accessed element by element, at computed places, and all of whose
/// elements are the same at the start: the object, the type of an element, and its value at the
/// start.
pub(crate) fn arrays(program: &Program, variables: &Variables) -> Vec<(i64, Int, i64)> {
    // `None`: there are other accesses.
    let mut found: FxHashMap<i64, Option<Int>> = FxHashMap::default();
    for (k, t) in program.templates.iter().enumerate() {
        for i in &t.code {
            let (Instr::Load(_, a, at) | Instr::Store(a, _, at)) = i else { continue };
            let a = variables.fold(k, a);
            let ty = Int::new(at.size, at.signed);
            match object_of(&a) {
                // It may be any object.
                None if !matches!(a, Expr::Const(_)) => return Vec::new(),
                None => {}
                Some(o) => {
                    let plain = is_element(&a, i64::from(at.size)) && !at.truth;
                    let known = found.entry(o).or_insert(plain.then_some(ty));
                    *known = known.filter(|known| plain && *known == ty);
                }
            }
        }
    }
    let mut arrays: Vec<(i64, Int, i64)> = Vec::new();
    for (o, ty) in found {
        let (Some(ty), Some(object)) = (ty, program.objects.get((o - 1) as usize)) else { continue };
        let mut values = object.init.chunks(usize::from(ty.size)).map(|bytes| {
            let whole = bytes.len() == usize::from(ty.size) && !bytes.contains(&OPEN);
            whole.then(|| ty.wrap(bytes.iter().rev().fold(0i64, |n, &b| n << 8 | i64::from(b))))
        });
        let Some(Some(first)) = values.next() else { continue };
        if !object.library && values.all(|v| v == Some(first)) {
            arrays.push((o, ty, first));
        }
    }
    arrays.sort_unstable_by_key(|a| a.0);
    arrays.truncate(MOST);
    arrays
}

/// The one shared object whose address is in an expression.
pub fn object_of(a: &Expr) -> Option<i64> {
    let mut bases = Vec::new();
    a.constants(&mut |c| {
        if program::object_of(c) > 0 {
            bases.push(program::object_of(c));
        }
    });
    match bases[..] {
        [object] => Some(object),
        _ => None,
    }
}

/// Returns whether an address is that of an array plus a multiple of the size of an element.
fn is_element(a: &Expr, size: i64) -> bool {
    let Expr::Bin(BinOp::Add, x, y, _) = a else { return false };
    let multiple = |e: &Expr| {
        let Expr::Bin(BinOp::Mul, a, b, at) = e else { return false };
        at.size == 8 && (**a == Expr::Const(size) || **b == Expr::Const(size))
    };
    let start = |e: &Expr| matches!(e, Expr::Const(c) if program::object_of(*c) > 0 && program::offset_of(*c) % size == 0);
    start(x) && multiple(y) || start(y) && multiple(x)
}

/// An edge that stores into arrays: for each of these, the element that its variable stands for is
/// written or not.
pub fn variants(graph: &Graph, e: &Edge) -> Vec<Edge> {
    let mut found = vec![e.clone()];
    for &(id, _) in e.updates.iter().filter(|u| graph.variables.is_any_element(u.0)) {
        for k in 0..found.len() {
            let mut other = found[k].clone();
            other.updates.retain(|u| u.0 != id);
            found.push(other);
        }
    }
    found
}

/// What a comparison about any element says about the values that an edge reads from its array.
pub fn instances(e: &Edge, expr: &Expr) -> Vec<Expr> {
    let used = used(expr);
    let about = e.reads.iter().filter(|r| used.contains(&r.0));
    about.map(|&(id, input)| rename(expr, &|v| if v == id { input } else { v })).collect()
}
