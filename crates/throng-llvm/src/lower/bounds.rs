//! The largest numbers that values can be: many are the number of a variant, of which there are few.
//! Checks that cannot fail are not written, and truth values stay truth values.

use super::function::Writer;
use super::instructions::wide;
use crate::syntax::tree::{Binary, Cast, Instruction, Op, Type, Value};
use throng_goto::program::{BOOL, BinOp, Expr, Int, PTR};

/// How far back definitions are followed.
const FAR: usize = 6;

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    /// Returns the largest number that an expression can be, if that is not negative as eight bytes.
    pub(super) fn bound(&self, e: &Expr) -> Option<i64> {
        match e {
            Expr::Const(v) => (*v >= 0).then_some(*v),
            Expr::Reg(r) => {
                let known = self.bounds.get(r).copied();
                known.or_else(|| most(self.template.registers[*r as usize]))
            }
            Expr::Cast(a, to) => match (self.bound(a), most(*to)) {
                (Some(a), Some(to)) => Some(a.min(to)),
                (Some(a), None) => Some(a),
                // What is cut may be anything that has room.
                (None, to) => to,
            },
            Expr::Bin(op, ..) if op.compares() => Some(1),
            Expr::Float(op, ..) if op.compares() => Some(1),
            Expr::Bin(BinOp::And, a, b, _) => match (self.bound(a), self.bound(b)) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            Expr::Bin(BinOp::Or, a, b, _) => {
                let bits = self.bound(a)? | self.bound(b)?;
                Some(i64::try_from((bits as u64 + 1).next_power_of_two() - 1).unwrap_or(i64::MAX))
            }
            Expr::Bin(_, _, _, at) => most(*at),
            _ => None,
        }
    }

    /// Returns whether a truth value is 0.
    pub(super) fn negated(&self, e: Expr) -> Expr {
        match e {
            Expr::Bin(BinOp::Eq, a, b, at) => match (&*b, self.bound(&a)) {
                (Expr::Const(0), Some(0 | 1)) => *a,
                _ => Expr::Bin(BinOp::Ne, a, b, at),
            },
            Expr::Bin(BinOp::Ne, a, b, at) => Expr::Bin(BinOp::Eq, a, b, at),
            Expr::Bin(BinOp::Lt, a, b, at) => Expr::Bin(BinOp::Le, b, a, at),
            Expr::Bin(BinOp::Le, a, b, at) => Expr::Bin(BinOp::Lt, b, a, at),
            e => Expr::is_zero(e),
        }
    }

    /// Returns the truth value that a number is which is 0 or 1.
    pub(super) fn truth(&self, e: Expr) -> Expr {
        match e {
            Expr::Cast(a, _) if self.bound(&a).is_some_and(|most| most <= 1) => self.truth(*a),
            e => e,
        }
    }

    /// Returns whether the result of a conversion to a number is only compared with 0.
    pub(super) fn only_tests(&self, name: &str) -> bool {
        let uses = |i: &&Instruction<'t>| {
            let mut found = false;
            super::function::operands(&i.op, &mut |v| found |= *v == Value::Local(name));
            found && !matches!(i.op, Op::Debug { .. })
        };
        let zero = |v: &Value<'t>| crate::syntax::parser::is_zero(v);
        self.function.blocks.iter().flat_map(|b| &b.code).filter(uses).all(|i| match &i.op {
            Op::Compare { how: "eq" | "ne", a, b, .. } => zero(a) || zero(b),
            Op::Switch { cases, .. } => cases.iter().all(|(v, _)| zero(v)),
            _ => false,
        })
    }

    /// Returns whether the result of a conversion of an address to a number is only subtracted from
    /// others, or others from it: how far apart two addresses are does not depend on where they are.
    pub(super) fn only_subtracts(&self, name: &str) -> bool {
        let uses = |i: &&Instruction<'t>| {
            let mut found = false;
            super::function::operands(&i.op, &mut |v| found |= *v == Value::Local(name));
            found && !matches!(i.op, Op::Debug { .. })
        };
        self.function.blocks.iter().flat_map(|b| &b.code).filter(uses).all(|i| match &i.op {
            Op::Binary(Binary::Sub, _, _, a, b) => self.is_address(a) && self.is_address(b),
            _ => false,
        })
    }

    /// Returns whether a value is an address as a number.
    pub(super) fn is_address(&self, value: &Value<'t>) -> bool {
        let Value::Local(name) = value else { return false };
        let definition = self.definitions.get(name).map(|i| &i.op);
        matches!(definition, Some(Op::Cast(Cast::PtrToInt, _, _, Type::Int(64))))
    }

    /// Returns the largest number that a value is which comes from several blocks.
    pub(super) fn bound_of(&self, value: &Value<'t>, depth: usize) -> Option<i64> {
        let name = match value {
            Value::Int(v) => return i64::try_from(*v).ok().filter(|v| *v >= 0),
            Value::Zero | Value::Null => return Some(0),
            Value::Local(name) if depth < FAR => *name,
            _ => return None,
        };
        match &self.definitions.get(name)?.op {
            // On the way around a loop it is not larger than what came in.
            Op::Phi(_, ways) => {
                let others = ways.iter().filter(|(v, _)| *v != Value::Local(name));
                others.map(|(v, _)| self.bound_of(v, depth + 1)).try_fold(0, |most, v| Some(most.max(v?)))
            }
            Op::Select { yes, no, .. } => {
                Some(self.bound_of(&yes.1, depth + 1)?.max(self.bound_of(&no.1, depth + 1)?))
            }
            Op::Compare { .. } => Some(1),
            Op::Cast(Cast::ZExt, _, (Type::Int(1), _), _) => Some(1),
            Op::Cast(Cast::ZExt, _, (_, v), _) => self.bound_of(v, depth + 1),
            _ => None,
        }
    }

    /// Returns one of two constants, 0 and 1, as a truth value of the condition.
    pub(super) fn chosen(&self, test: &Expr, yes: &Expr, no: &Expr) -> Option<Expr> {
        match (yes, no) {
            (Expr::Const(1), Expr::Const(0)) => Some(test.clone()),
            (Expr::Const(0), Expr::Const(1)) => Some(self.negated(test.clone())),
            (a, b) if a == b => Some(a.clone()),
            _ => None,
        }
    }
}

/// Returns the largest number of a type, if it is not negative as eight bytes.
fn most(at: Int) -> Option<i64> {
    match at {
        _ if at.truth || at == BOOL => Some(1),
        PTR => None,
        at if at.signed || at.float || at.size == 8 => None,
        at => Some((1 << (u32::from(wide(at).size) * 8)) - 1),
    }
}
