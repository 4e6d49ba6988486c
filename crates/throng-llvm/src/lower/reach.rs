//! Where control may come in a function, and which values are constants there.
//!
//! Where a function that cannot fail is asked whether it did, the compiler leaves the question to
//! later passes, which are not run. What is behind it would be read as if it were executed.

use rustc_hash::FxHashMap;

use super::constants::cut;
use super::{Problem, Result};
use crate::syntax::tree::{Block, Cast, Flags, Function, Instruction, Op, Type, Value};

/// Maximum number of times that what is constant is computed anew, with fewer blocks.
const MOST_ROUNDS: usize = 8;

/// The blocks that control may come to, each behind those that dominate it; and what is constant.
#[derive(Default)]
pub(crate) struct Reach<'a, 't> {
    pub order: Vec<&'a Block<'t>>,
    /// The blocks that control does not come to.
    dead: Vec<&'t str>,
    known: FxHashMap<&'t str, i64>,
}

impl<'a, 't> Reach<'a, 't> {
    pub(super) fn of(function: &'a Function<'t>) -> Result<Reach<'a, 't>> {
        let mut found = Reach { order: order(function, &FxHashMap::default())?, ..Reach::default() };
        for _ in 0..MOST_ROUNDS {
            let before = found.order.len();
            found.dead = function.blocks.iter().map(|b| b.label).filter(|l| found.is_dead(l)).collect();
            found.known = found.constants();
            found.order = order(function, &found.known)?;
            if found.order.len() == before {
                break;
            }
        }
        found.dead = function.blocks.iter().map(|b| b.label).filter(|l| found.is_dead(l)).collect();
        Ok(found)
    }

    fn is_dead(&self, label: &str) -> bool {
        self.order.iter().all(|b| b.label != label)
    }

    /// Returns whether control may come from a block.
    pub(super) fn comes_from(&self, label: &str) -> bool {
        !self.dead.contains(&label)
    }

    /// Returns the number that a value of a type always is, if that is known.
    pub(super) fn number(&self, ty: &Type<'t>, value: &Value<'t>) -> Option<i64> {
        number(&self.known, ty, value)
    }

    /// Goes through the code until nothing more is found.
    fn constants(&self) -> FxHashMap<&'t str, i64> {
        let mut known = FxHashMap::default();
        loop {
            let before = known.len();
            for i in self.order.iter().flat_map(|b| &b.code) {
                if let Some(name) = i.result
                    && let Some(v) = self.constant(&known, i, name)
                {
                    known.insert(name, v);
                }
            }
            if known.len() == before {
                return known;
            }
        }
    }

    fn constant(&self, known: &FxHashMap<&'t str, i64>, i: &Instruction<'t>, name: &str) -> Option<i64> {
        match &i.op {
            Op::Phi(ty, ways) => {
                let own = |v: &Value<'t>| matches!(v, Value::Local(n) if *n == name);
                let ways = ways.iter().filter(|(v, from)| self.comes_from(from) && !own(v));
                let mut values = ways.map(|(v, _)| number(known, ty, v));
                let first = values.next()??;
                values.all(|v| v == Some(first)).then_some(first)
            }
            Op::Cast(how, flags, (from, v), to) => {
                let keeps = matches!(how, Cast::Trunc | Cast::ZExt | Cast::PtrToInt | Cast::IntToPtr);
                let v = number(known, from, v).filter(|_| keeps)?;
                let result = cut(v, width(to)?);
                // `trunc nuw` of what fits is what it is without the promise.
                let fits = Flags { unsigned: result == v, ..Flags::default() };
                (*flags == Flags::default() || *flags == fits).then_some(result)
            }
            Op::Select { condition, yes, no } => {
                let one = if number(known, &condition.0, &condition.1)? != 0 { yes } else { no };
                number(known, &one.0, &one.1)
            }
            Op::Compare { float: false, how, of, a, b } => {
                let (a, b) = (number(known, of, a)?, number(known, of, b)?);
                match *how {
                    "eq" => Some((a == b).into()),
                    "ne" => Some((a != b).into()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Returns the number that a value of a type always is, cut to the bits of the type.
fn number(known: &FxHashMap<&str, i64>, ty: &Type<'_>, value: &Value<'_>) -> Option<i64> {
    let bits = width(ty)?;
    match value {
        Value::Int(v) => Some(cut(*v as i64, bits)),
        Value::Null | Value::Zero => Some(0),
        Value::Local(name) => known.get(name).copied(),
        _ => None,
    }
}

fn width(ty: &Type<'_>) -> Option<u32> {
    match ty {
        Type::Int(bits @ ..=64) => Some(*bits),
        Type::Pointer => Some(64),
        _ => None,
    }
}

/// Returns the blocks that control may come to, each behind those that dominate it.
fn order<'a, 't>(function: &'a Function<'t>, known: &FxHashMap<&'t str, i64>) -> Result<Vec<&'a Block<'t>>> {
    let mut by_label: FxHashMap<&str, usize> = FxHashMap::default();
    for (n, b) in function.blocks.iter().enumerate() {
        by_label.insert(b.label, n);
    }
    let successors = |n: usize| -> Result<Vec<usize>> {
        let Some(last) = function.blocks[n].code.last() else {
            return Err(Problem::new("E853", "a block without instructions"));
        };
        let number = |to: &&str| match by_label.get(to) {
            Some(&n) => Ok(n),
            None => Err(Problem::new("E853", format!("there is no block `{to}`"))),
        };
        leads_to(&last.op, known).iter().map(number).collect()
    };
    // Depth first: behind a block come its successors, in reverse order of their ends.
    let (mut seen, mut done) = (vec![false; function.blocks.len()], Vec::new());
    if seen.is_empty() {
        return Ok(Vec::new());
    }
    let mut stack = vec![(0usize, successors(0)?)];
    seen[0] = true;
    while let Some((n, next)) = stack.last_mut() {
        match next.pop() {
            Some(to) if seen[to] => {}
            Some(to) => {
                seen[to] = true;
                stack.push((to, successors(to)?));
            }
            None => {
                done.push(*n);
                stack.pop();
            }
        }
    }
    Ok(done.into_iter().rev().map(|n| &function.blocks[n]).collect())
}

/// Returns the blocks that the last instruction of a block leads to.
fn leads_to<'t>(last: &Op<'t>, known: &FxHashMap<&'t str, i64>) -> Vec<&'t str> {
    match last {
        Op::Branch(to) => vec![to],
        Op::BranchIf(on, yes, no) => match number(known, &Type::Int(1), on) {
            Some(0) => vec![no],
            Some(_) => vec![yes],
            None => vec![yes, no],
        },
        Op::Switch { default, cases, .. } => {
            std::iter::once(*default).chain(cases.iter().map(|(_, to)| *to)).collect()
        }
        Op::Call(call) => call.then.into_iter().collect(),
        _ => Vec::new(),
    }
}
