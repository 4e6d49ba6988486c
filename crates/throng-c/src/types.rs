//! C types, their sizes (LP64; `long` and sizes may have 32 bits instead) and conversions.

use std::rc::Rc;

use throng_goto::program::{INT, Int, PTR, Reg, Width};

/// A C type. Qualifiers other than `_Atomic` do not matter here.
#[derive(Clone, PartialEq, Debug)]
pub enum Ty {
    /// `void`
    Void,
    /// Integers, `_Bool`, enumerations.
    Int(Int),
    /// The value of a bit-field with more bits than `int`, and how many: it is not promoted.
    Narrow(Int, u8),
    /// `float`, `double`, and, with 16 bytes, `long double` and its like, whose values are not known.
    Float(u8),
    /// A pointer.
    Ptr(Rc<Ty>),
    /// An array; `None` if its size is not known.
    Array(Rc<Ty>, Option<u64>),
    /// An array whose size is not constant, or one of such arrays: the register that has the number
    /// of elements; `None` where that is not evaluated.
    Variable(Rc<Ty>, Option<Reg>),
    /// A structure or union, by number.
    Struct(usize),
    /// A function.
    Func(Rc<Func>),
    /// `_Atomic`
    Atomic(Rc<Ty>),
    /// `__auto_type`: that of the initial value.
    Auto,
}

/// The strictest alignment of a type, which `aligned` means without a number.
pub const STRICTEST: u64 = 16;

/// A function type.
#[derive(Clone, PartialEq, Debug)]
pub struct Func {
    /// What it returns.
    pub result: Ty,
    /// Parameters, with their names in a definition.
    pub parameters: Vec<(Option<String>, Ty)>,
    /// True if more arguments are allowed.
    pub variadic: bool,
}

/// A structure or union.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Struct {
    /// Its tag.
    pub name: String,
    /// Its members.
    pub fields: Vec<Field>,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// True if its members are known.
    pub complete: bool,
    /// True if it is a union.
    pub union: bool,
    /// Translation unit it is declared in.
    pub unit: usize,
    /// Where it is defined.
    pub at: Option<usize>,
    /// True if a parameter of this type is passed as its first member.
    pub transparent: bool,
    /// The type and number of its elements, if it is a vector of GCC: its one member is the array
    /// of these, without a name.
    pub vector: Option<(Ty, u64)>,
    /// The construct in its definition that is not modelled, if there is one.
    pub refused: Option<String>,
}

/// A member.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Its name; `None` for an anonymous structure, whose members are found through it.
    pub name: Option<String>,
    /// Its type.
    pub ty: Ty,
    /// Its offset in bytes.
    pub offset: u64,
    /// Where it is, if it is a bit-field; its offset is 0 then.
    pub bits: Option<Rc<Bits>>,
}

/// A bit-field.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bits {
    /// The first bit, counted from the start of the structure.
    pub at: u64,
    /// How many bits it has.
    pub width: u32,
    /// The numbers in memory with which it is accessed: offset and size. Bit-fields next to each
    /// other are one memory location, so that accesses to two of them have bytes in common.
    pub units: Vec<(u64, u8)>,
}

impl Bits {
    /// Returns the bits of a unit that belong to it, as a mask, and which of its bits is the one at
    /// position 0 of the unit; that may be negative.
    pub fn within(&self, (offset, size): (u64, u8)) -> (i64, i64) {
        let first = self.at as i64 - offset as i64 * 8;
        let inside = |k: &i64| (first..first + i64::from(self.width)).contains(k);
        ((0..i64::from(size) * 8).filter(inside).fold(0, |mask, k| mask | 1 << k), -first)
    }

    /// Returns what a value of the bit-field is in a unit. No expression computes it: a number that
    /// looks like an address would not be computed.
    pub fn part(&self, v: i64, unit: (u64, u8)) -> i64 {
        match self.within(unit) {
            (0, _) => 0,
            (mask, down @ 1..) => (v as u64 >> down) as i64 & mask,
            (mask, down) => v << -down & mask,
        }
    }
}

impl Ty {
    /// `int`
    pub fn int() -> Ty {
        Ty::Int(INT)
    }

    /// A pointer to `to`.
    pub fn ptr(to: Ty) -> Ty {
        Ty::Ptr(Rc::new(to))
    }

    /// Returns the type without `_Atomic`.
    pub fn plain(&self) -> &Ty {
        match self {
            Ty::Atomic(t) => t.plain(),
            t => t,
        }
    }

    /// Returns whether it is `_Atomic`.
    pub fn is_atomic(&self) -> bool {
        matches!(self, Ty::Atomic(_))
    }

    /// Returns the type of the value in a register, for numbers and pointers. That of a
    /// floating-point number is its bits.
    pub fn scalar(&self) -> Option<Int> {
        match self.plain() {
            Ty::Int(i) | Ty::Narrow(i, _) => Some(*i),
            Ty::Ptr(_) | Ty::Func(_) => Some(PTR),
            t => t.width().map(Width::bits),
        }
    }

    /// Returns the type of integers in which a value of it is computed, if it is an integer.
    pub fn integer(&self) -> Option<Int> {
        match self.plain() {
            Ty::Int(i) | Ty::Narrow(i, _) => Some(*i),
            _ => None,
        }
    }

    /// Returns whether it is a floating-point type.
    pub fn is_float(&self) -> bool {
        matches!(self.plain(), Ty::Float(_))
    }

    /// Returns the format of floating-point numbers whose values are known.
    pub fn width(&self) -> Option<Width> {
        match self.plain() {
            Ty::Float(4) => Some(Width::Single),
            Ty::Float(8) => Some(Width::Double),
            _ => None,
        }
    }

    /// Returns size and alignment, if known.
    pub fn layout(&self, structs: &[Struct]) -> Option<(u64, u64)> {
        Some(match self {
            Ty::Void => (1, 1),
            Ty::Int(i) | Ty::Narrow(i, _) => (u64::from(i.size), u64::from(i.size)),
            Ty::Float(n) => (u64::from(*n), u64::from(*n)),
            Ty::Ptr(_) => (8, 8),
            Ty::Func(_) => (1, 1),
            Ty::Array(t, n) => {
                let (size, align) = t.layout(structs)?;
                (size.checked_mul((*n)?)?, align)
            }
            Ty::Struct(s) if structs[*s].complete => (structs[*s].size, structs[*s].align),
            Ty::Struct(_) | Ty::Auto | Ty::Variable(..) => return None,
            Ty::Atomic(t) => {
                let (size, align) = t.layout(structs)?;
                let own = if matches!(size, 1 | 2 | 4 | 8 | 16) { size } else { align };
                (size, align.max(own))
            }
        })
    }

    /// Returns whether its size, or that of what it points to, is not constant.
    pub fn is_variable(&self) -> bool {
        match self.plain() {
            Ty::Variable(..) => true,
            Ty::Ptr(t) | Ty::Array(t, _) => t.is_variable(),
            _ => false,
        }
    }

    /// Returns whether there is a pointer in an object of this type.
    pub fn has_pointers(&self, structs: &[Struct]) -> bool {
        match self.plain() {
            Ty::Ptr(_) => true,
            Ty::Array(t, _) | Ty::Variable(t, _) => t.has_pointers(structs),
            Ty::Struct(s) => structs[*s].fields.iter().any(|f| f.ty.has_pointers(structs)),
            _ => false,
        }
    }

    /// Returns whether there is a bit-field in an object of this type.
    pub fn has_bit_fields(&self, structs: &[Struct]) -> bool {
        match self.plain() {
            Ty::Array(t, _) => t.has_bit_fields(structs),
            Ty::Struct(s) => {
                structs[*s].fields.iter().any(|f| f.bits.is_some() || f.ty.has_bit_fields(structs))
            }
            _ => false,
        }
    }

    /// Lists the scalar parts: (offset, type, suffix of the name); `false` if there are too many,
    /// or some have no value that is known.
    pub fn parts(&self, structs: &[Struct], at: u64, name: &str, out: &mut Vec<(u32, Int, String)>) -> bool {
        const MOST: usize = 1 << 14;
        if out.len() > MOST {
            return false;
        }
        match self.plain() {
            Ty::Array(t, Some(n)) => {
                let Some((size, _)) = t.layout(structs) else { return false };
                (0..*n).all(|i| t.parts(structs, at + i * size, &format!("{name}[{i}]"), out))
            }
            // At the end of a structure; it is no part of its value.
            Ty::Array(_, None) => true,
            // Bit-fields are not parts; [`Ty::has_bit_fields`] tells whether there are any.
            Ty::Struct(s) => structs[*s].fields.iter().filter(|f| f.bits.is_none()).all(|f| {
                let name = match &f.name {
                    Some(n) => format!("{name}.{n}"),
                    None => name.to_string(),
                };
                f.ty.parts(structs, at + f.offset, &name, out)
            }),
            t => match t.scalar() {
                Some(i) => {
                    out.push((at as u32, i, name.to_string()));
                    true
                }
                None => false,
            },
        }
    }
}

/// Applies the integer promotions.
pub fn promote(i: Int) -> Int {
    if i.size < 4 { INT } else { Int { truth: false, ..i } }
}

/// Applies the usual arithmetic conversions.
pub fn common(a: Int, b: Int) -> Int {
    let (a, b) = (promote(a), promote(b));
    let size = a.size.max(b.size);
    // Unsigned wins unless the signed one is larger.
    let unsigned = [a, b].iter().any(|i| !i.signed && i.size == size);
    Int::new(size, !unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_c() {
        let uint = Int::new(4, false);
        let long = Int::new(8, true);
        let uchar = Int::new(1, false);
        assert_eq!(common(INT, uint), uint);
        assert_eq!(common(uint, long), long);
        assert_eq!(common(uchar, uchar), INT);
        assert_eq!(common(PTR, long), PTR);
    }
}
