//! Which bits of values matter to what is computed from them.
//!
//! A compiler puts fields of a union into one word, and takes them out again: the bits of an address
//! that are cut off before anything is done with them say nothing about where its object is. A value
//! of which no bit matters may be any, and is 0.

use rustc_hash::FxHashMap;

use super::function::operands;
use super::reach::Reach;
use crate::syntax::tree::{Binary, Cast, Flags, Instruction, Op, Type, Value};

const ALL: u64 = u64::MAX;

/// For each value, the bits that matter.
#[derive(Default)]
pub(crate) struct Demanded<'t>(FxHashMap<&'t str, u64>);

impl<'t> Demanded<'t> {
    /// Goes through the instructions of a function until no more bits are found to matter.
    pub(super) fn of(reach: &Reach<'_, 't>) -> Demanded<'t> {
        let mut found = Demanded::default();
        let mut more = true;
        while more {
            more = false;
            for i in reach.order.iter().rev().flat_map(|b| b.code.iter().rev()) {
                more |= found.instruction(reach, i);
            }
        }
        found
    }

    /// Returns whether an instruction computes a value that is never read, and does nothing else.
    pub(super) fn is_idle(&self, i: &Instruction<'t>) -> bool {
        let plain = match &i.op {
            Op::Binary(how, flags, Type::Int(..=64), ..) => is_of_bits(*how) && is_plain(*flags),
            Op::Cast(how, flags, (from, _), to) => {
                is_same_bits(*how) && is_plain(*flags) && is_word(from) && is_word(to)
            }
            _ => false,
        };
        plain && i.result.is_some_and(|name| self.bits(name) == 0)
    }

    fn bits(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Adds what an instruction looks at. Returns whether that is more than was known.
    fn instruction(&mut self, reach: &Reach<'_, 't>, i: &Instruction<'t>) -> bool {
        let wanted = i.result.map_or(0, |name| self.bits(name));
        match &i.op {
            Op::Debug { whole: false, .. } => false,
            Op::Binary(how, flags, Type::Int(..=64), a, b) if is_of_bits(*how) && is_plain(*flags) => {
                let kept = |other: &Value<'t>| match (how, other) {
                    (Binary::And, Value::Int(c)) => wanted & *c as u64,
                    (Binary::Shl, Value::Int(c @ 0..64)) => wanted >> c,
                    (Binary::LShr, Value::Int(c @ 0..64)) => wanted << c,
                    (Binary::Shl | Binary::LShr, _) => ALL,
                    _ => wanted,
                };
                self.add(a, kept(b)) | self.add(b, kept(a))
            }
            Op::Cast(how, flags, (from, v), to)
                if is_same_bits(*how) && is_plain(*flags) && is_word(from) && is_word(to) =>
            {
                self.add(v, wanted & low(from) & low(to))
            }
            Op::Freeze((ty, v)) if is_word(ty) => self.add(v, wanted),
            Op::Phi(ty, ways) if is_word(ty) => {
                let mut more = false;
                for (v, from) in ways {
                    more |= reach.comes_from(from) && self.add(v, wanted);
                }
                more
            }
            Op::Select { condition, yes, no } if is_word(&yes.0) => {
                self.add(&condition.1, ALL) | self.add(&yes.1, wanted) | self.add(&no.1, wanted)
            }
            op => {
                let mut more = false;
                operands(op, &mut |v| more |= self.add(v, ALL));
                more
            }
        }
    }

    fn add(&mut self, v: &Value<'t>, bits: u64) -> bool {
        let Value::Local(name) = v else {
            return if let Value::Parts(parts) = v {
                parts.iter().fold(false, |more, (_, v)| self.add(v, ALL) | more)
            } else {
                false
            };
        };
        let known = self.0.entry(name).or_insert(0);
        let more = bits & !*known != 0;
        *known |= bits;
        more
    }
}

fn is_of_bits(how: Binary) -> bool {
    matches!(how, Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::LShr)
}

/// Returns whether a conversion keeps the bits that there is room for.
fn is_same_bits(how: Cast) -> bool {
    matches!(how, Cast::Trunc | Cast::ZExt | Cast::PtrToInt | Cast::IntToPtr)
}

/// Returns whether an instruction promises nothing about its operands.
fn is_plain(flags: Flags) -> bool {
    flags == Flags::default()
}

fn is_word(ty: &Type<'_>) -> bool {
    matches!(ty, Type::Int(..=64) | Type::Pointer)
}

/// The bits that a type has.
fn low(ty: &Type<'_>) -> u64 {
    match ty {
        Type::Int(bits @ ..64) => (1 << bits) - 1,
        _ => ALL,
    }
}
