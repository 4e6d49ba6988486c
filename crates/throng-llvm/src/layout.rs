//! Where the parts of types are, as on x86-64 and on ARM with 64 bits.

use throng_goto::floating::Width;
use throng_goto::program::{BOOL, Int, PTR};

use crate::syntax::tree::Type;

/// Maximum number of numbers that a value consists of.
pub(crate) const MOST_LEAVES: usize = 1 << 12;
/// Maximum number of bytes of one object.
pub(crate) const MOST_BYTES: u64 = 1 << 26;

/// A number that a value consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaf {
    /// An integer of at most 64 bits.
    Int(u32),
    Pointer,
    Float(Width),
}

impl Leaf {
    /// The type of its registers.
    pub fn int(self) -> Int {
        match self {
            Leaf::Int(1) => BOOL,
            Leaf::Int(bits) => container(bits),
            Leaf::Pointer => PTR,
            Leaf::Float(at) => at.bits(),
        }
    }

    /// The type of its bytes in memory.
    pub fn stored(self) -> Int {
        match self {
            Leaf::Int(bits) => container(bits),
            Leaf::Pointer => PTR,
            Leaf::Float(at) => at.bits(),
        }
    }
}

/// The smallest type of bytes that has as many bits.
pub(crate) fn container(bits: u32) -> Int {
    Int::new((bits.div_ceil(8).next_power_of_two()).min(8) as u8, false)
}

/// Returns the size and the alignment of a type without names, or what is wrong with it.
pub(crate) fn size_align(ty: &Type<'_>) -> Result<(u64, u64), String> {
    Ok(match ty {
        Type::Int(bits @ ..=64) => {
            let size = u64::from(container(*bits).size);
            (size, size)
        }
        Type::Int(128) => (16, 16),
        Type::Float => (4, 4),
        Type::Double | Type::Pointer => (8, 8),
        Type::Array(n, of) => {
            let (size, align) = size_align(of)?;
            let all = size.checked_mul(*n).filter(|all| *all <= MOST_BYTES);
            (all.ok_or("an object of this many bytes")?, align)
        }
        Type::Struct(fields, packed) => {
            let (mut end, mut most) = (0u64, 1u64);
            for f in fields.iter() {
                let (size, align) = size_align(f)?;
                let align = if *packed { 1 } else { align };
                end = end.next_multiple_of(align) + size;
                most = most.max(align);
                if end > MOST_BYTES {
                    return Err("an object of this many bytes".into());
                }
            }
            (end.next_multiple_of(most), most)
        }
        other => return Err(format!("the type {}", crate::syntax::name_of(other))),
    })
}

/// Returns where a field of a structure begins.
pub(crate) fn field_offset(fields: &[Type<'_>], packed: bool, n: usize) -> Result<u64, String> {
    let mut end = 0u64;
    for (k, f) in fields.iter().enumerate() {
        let (size, align) = size_align(f)?;
        end = end.next_multiple_of(if packed { 1 } else { align });
        if k == n {
            return Ok(end);
        }
        end += size;
    }
    Err("a field that does not exist".into())
}

/// Returns the numbers that a value of a type consists of, each with its offset in memory. An
/// integer of 128 bits is two numbers.
pub(crate) fn leaves(ty: &Type<'_>) -> Result<Vec<(u64, Leaf)>, String> {
    let mut found = Vec::new();
    collect(ty, 0, &mut found)?;
    Ok(found)
}

fn collect(ty: &Type<'_>, at: u64, found: &mut Vec<(u64, Leaf)>) -> Result<(), String> {
    if found.len() > MOST_LEAVES {
        return Err("a value of this many parts".into());
    }
    match ty {
        Type::Void => {}
        Type::Int(bits @ ..=64) => found.push((at, Leaf::Int(*bits))),
        Type::Int(128) => found.extend([(at, Leaf::Int(64)), (at + 8, Leaf::Int(64))]),
        Type::Pointer => found.push((at, Leaf::Pointer)),
        Type::Float => found.push((at, Leaf::Float(Width::Single))),
        Type::Double => found.push((at, Leaf::Float(Width::Double))),
        Type::Array(n, of) => {
            let size = size_align(of)?.0;
            for k in 0..*n {
                collect(of, at + k * size, found)?;
                if found.len() > MOST_LEAVES || found.is_empty() && k > MOST_LEAVES as u64 {
                    return Err("a value of this many parts".into());
                }
            }
        }
        Type::Struct(fields, packed) => {
            for (k, f) in fields.iter().enumerate() {
                collect(f, at + field_offset(fields, *packed, k)?, found)?;
            }
        }
        other => return Err(format!("the type {}", crate::syntax::name_of(other))),
    }
    Ok(())
}
