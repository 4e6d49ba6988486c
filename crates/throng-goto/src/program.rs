//! The goto program: what a C program means, with calls inlined and every access to memory written
//! out.
//!
//! One [`Template`] per function that threads start in. Private scalars are registers; everything
//! whose address matters is bytes in memory. An address is a number: the object in the upper half,
//! the offset in the lower.

mod about;
mod allocations;
mod analysis;
mod calls;
mod created;
mod flow;
mod inline;
mod names;
mod print;
mod ranges;
mod simplify;
mod slice;
mod specialise;
mod threads;

use std::collections::HashMap;
use std::fmt;

use analysis::{interesting, live, numbers, representatives};
use flow::addresses;

use crate::step::OPEN;
use throng_model::property::ANYWHERE;

use crate::floating::{is_open_nan, truncates_open_nan};

pub use throng_memory::Order;

pub use crate::doubt::Doubt;
pub use crate::floating::{Conversion, FloatOp, Width};
pub use about::About;
pub use flow::Holders;
pub(crate) use flow::local_key;
pub use inline::Budget;
pub use ranges::Ranges;
pub use threads::Split;

/// An integer type: its size in bytes, and whether it has a sign. `_Bool` has size 1 and the flag
/// `truth`. The bits of a floating-point number are an unsigned value with the flag `float`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Int {
    /// Size in bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// Whether values may be negative.
    pub signed: bool,
    /// Whether it is `_Bool`.
    pub truth: bool,
    /// Whether values are shown as the floating-point numbers that their bits are. Operators do not
    /// depend on it.
    pub float: bool,
}

impl Int {
    /// An integer type that is not `_Bool`.
    pub const fn new(size: u8, signed: bool) -> Int {
        Int { size, signed, truth: false, float: false }
    }

    /// The type of bits as numbers: not shown as floating point.
    pub const fn plain(self) -> Int {
        Int { float: false, ..self }
    }

    /// A value as people read it.
    pub fn show(self, v: i64) -> String {
        Width::of(self).map_or_else(|| v.to_string(), |at| at.show(v))
    }

    /// `v` converted to this type.
    pub fn wrap(self, v: i64) -> i64 {
        if self.truth {
            return i64::from(v != 0);
        }
        match (self.size, self.signed) {
            (1, true) => v as i8 as i64,
            (1, false) => v as u8 as i64,
            (2, true) => v as i16 as i64,
            (2, false) => v as u16 as i64,
            (4, true) => v as i32 as i64,
            (4, false) => v as u32 as i64,
            _ => v,
        }
    }

    pub(crate) fn name(self) -> String {
        if self.truth {
            return "bool".into();
        }
        if self.float {
            return format!("f{}", u32::from(self.size) * 8);
        }
        format!("{}{}", if self.signed { 'i' } else { 'u' }, u32::from(self.size) * 8)
    }
}

/// `_Bool`
pub const BOOL: Int = Int { truth: true, ..Int::new(1, false) };
/// `int`
pub const INT: Int = Int::new(4, true);
/// Pointers, and `unsigned long`.
pub const PTR: Int = Int::new(8, false);

/// A private variable of one template.
pub type Reg = u32;

/// Object numbers from here on are private variables: [`Program::locals`], in order.
pub const PRIVATE: i64 = 0x0040_0000;
/// Object numbers from here on are functions.
pub const FUNCTION: i64 = 0x0020_0000;
/// The object number of pointers whose object no longer exists.
pub const DANGLING: i64 = FUNCTION - 1;

/// Addresses begin far away from the numbers that programs compute with.
const FIRST: i64 = 0x0b5e_a100;

/// The address of byte `offset` of `object`; object 0 is no object, but a number.
pub fn address(object: i64, offset: i64) -> i64 {
    match object {
        0 => offset,
        _ => ((object + FIRST) << 32).wrapping_add(offset),
    }
}

/// Returns the object that an address belongs to, or 0. Offsets from -2³¹ up to 2³¹ stay with their
/// object, so that a pointer in front of an array does not become one into its neighbour.
pub fn object_of(a: i64) -> i64 {
    ((a.wrapping_add(1 << 31) >> 32) - FIRST).max(0)
}

/// Returns the distance of an address from the start of its object.
pub fn offset_of(a: i64) -> i64 {
    a.wrapping_sub(address(object_of(a), 0))
}

/// Returns whether a value is the address of a variable that only one thread has.
pub fn is_private(a: i64) -> bool {
    (PRIVATE..2 * PRIVATE).contains(&object_of(a))
}

/// Returns whether a number may be an address.
fn is_an_address(v: i64) -> bool {
    (1..2 * PRIVATE).contains(&object_of(v))
}

/// Returns whether the result of an operation on two numbers, which may be addresses, does not depend
/// on which numbers addresses are.
fn is_known(op: BinOp, x: i64, y: i64) -> bool {
    match (is_an_address(x), is_an_address(y)) {
        (false, false) => true,
        (true, true) => match op {
            BinOp::Eq | BinOp::Ne => true,
            BinOp::Sub | BinOp::Lt | BinOp::Le => object_of(x) == object_of(y),
            _ => false,
        },
        (true, false) => matches!(op, BinOp::Add | BinOp::Sub) || op.compares() && y == 0,
        (false, true) => op == BinOp::Add || op.compares() && x == 0,
    }
}

/// Operators on two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
}

impl BinOp {
    /// How it is written in C.
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Rem => "%",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
        }
    }

    /// Returns whether the result is 0 or 1.
    pub fn compares(self) -> bool {
        matches!(self, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le)
    }

    /// Returns whether the result of an operation on signed integers does not fit.
    pub fn overflows(self, a: i64, b: i64, at: Int) -> bool {
        if !at.signed || at.truth {
            return false;
        }
        let (x, y) = (i128::from(a), i128::from(b));
        let exact = match self {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            BinOp::Mul => x * y,
            BinOp::Div | BinOp::Rem if b != 0 => x / y,
            BinOp::Shl if (0..i64::from(at.size) * 8).contains(&b) => {
                return a < 0 || x << b >= 1 << (u32::from(at.size) * 8 - 1);
            }
            _ => return false,
        };
        let limit = 1i128 << (u32::from(at.size) * 8 - 1);
        !(-limit..limit).contains(&exact)
    }

    /// The value, in type `at` of the operands; `None` where C leaves the result open.
    pub fn apply(self, a: i64, b: i64, at: Int) -> Option<i64> {
        let bits = u32::from(at.size) * 8;
        Some(match self {
            BinOp::Add => at.wrap(a.wrapping_add(b)),
            BinOp::Sub => at.wrap(a.wrapping_sub(b)),
            BinOp::Mul => at.wrap(a.wrapping_mul(b)),
            BinOp::Div | BinOp::Rem if b == 0 => return None,
            BinOp::Div if at.signed => at.wrap(a.wrapping_div(b)),
            BinOp::Div => at.wrap((a as u64 / b as u64) as i64),
            BinOp::Rem if at.signed => at.wrap(a.wrapping_rem(b)),
            BinOp::Rem => at.wrap((a as u64 % b as u64) as i64),
            BinOp::Shl | BinOp::Shr if b < 0 || b >= i64::from(bits) => return None,
            BinOp::Shl => at.wrap(a.wrapping_shl(b as u32)),
            BinOp::Shr if at.signed => a.wrapping_shr(b as u32),
            BinOp::Shr => ((a as u64) >> b) as i64,
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Xor => a ^ b,
            BinOp::Eq => i64::from(a == b),
            BinOp::Ne => i64::from(a != b),
            BinOp::Lt if at.signed => i64::from(a < b),
            BinOp::Lt => i64::from((a as u64) < b as u64),
            BinOp::Le if at.signed => i64::from(a <= b),
            BinOp::Le => i64::from(a as u64 <= b as u64),
        })
    }
}

/// Why the value of an expression is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undefined {
    /// Division by zero, or a shift that is too far.
    Operator,
    /// A floating-point number becomes an integer that it does not fit into.
    Conversion,
    /// The bits of a NaN that was computed are used as an integer.
    NotANumber,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Undefined::Operator => "division by zero, or a shift that is too far",
            Undefined::Conversion => "a floating-point number does not fit into the integer it becomes",
            Undefined::NotANumber => "the bits of a NaN are used as an integer, and C does not say which",
        })
    }
}

/// A private computation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A value, or the address of an object.
    Const(i64),
    /// A private variable.
    Reg(Reg),
    /// Conversion.
    Cast(Box<Expr>, Int),
    /// An operator on operands of the given type.
    Bin(BinOp, Box<Expr>, Box<Expr>, Int),
    /// The number of the running thread.
    SelfId,
    /// The address of a variable in memory of the running function, by its number in
    /// [`Template::locals`].
    Local(u32),
    /// An operator on floating-point numbers of a format.
    Float(FloatOp, Box<Expr>, Box<Expr>, Width),
    /// A conversion from or to a floating-point number.
    Convert(Box<Expr>, Conversion),
}

/// What the value of an expression depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// A private variable.
    Register(Reg),
    /// The number of the running thread.
    SelfId,
    /// The address of a variable in memory of the running function.
    Local(u32),
}

impl Expr {
    /// An operator, computed at once where that is possible.
    pub fn bin(op: BinOp, a: Expr, b: Expr, at: Int) -> Expr {
        match (&a, &b) {
            (Expr::Const(x), Expr::Const(y)) => {
                let overflows = op != BinOp::Shl && op.overflows(*x, *y, at);
                let exact = !overflows && !is_open_nan(*x) && !is_open_nan(*y) && is_known(op, *x, *y);
                if let Some(v) = op.apply(*x, *y, at).filter(|_| exact) {
                    return Expr::Const(v);
                }
            }
            (_, Expr::Const(0)) if matches!(op, BinOp::Add | BinOp::Sub) => return a,
            _ => {}
        }
        Expr::Bin(op, Box::new(a), Box::new(b), at)
    }

    /// A conversion, computed at once where that is possible.
    pub fn cast(e: Expr, to: Int) -> Expr {
        let to = to.plain();
        match e {
            Expr::Const(v) if to.size == 8 || to.truth || !is_an_address(v) => Expr::Const(to.wrap(v)),
            Expr::Bin(op, ..) if op.compares() => e,
            Expr::Float(op, ..) if op.compares() => e,
            e => Expr::Cast(Box::new(e), to),
        }
    }

    /// An operator on floating-point numbers, computed at once where that is possible. A NaN
    /// without exact bits is not a constant.
    pub fn float(op: FloatOp, a: Expr, b: Expr, at: Width) -> Expr {
        if let (Expr::Const(x), Expr::Const(y)) = (&a, &b) {
            let v = op.apply(*x, *y, at);
            if op.compares() || !is_open_nan(v) {
                return Expr::Const(v);
            }
        }
        Expr::Float(op, Box::new(a), Box::new(b), at)
    }

    /// A conversion from or to a floating-point number, computed at once where that is possible.
    pub fn convert(e: Expr, conversion: Conversion) -> Expr {
        if let Expr::Const(v) = e
            && let Ok(v) = conversion.apply(v)
            && !is_open_nan(v)
        {
            return Expr::Const(v);
        }
        Expr::Convert(Box::new(e), conversion)
    }

    /// Returns whether it is 0.
    pub fn is_zero(e: Expr) -> Expr {
        Expr::bin(BinOp::Eq, e, Expr::Const(0), Int::new(8, true))
    }

    /// Returns the value, given those of the leaves. Calls `overflow` for each signed operation that overflows. This, [`BinOp::apply`],
    /// [`FloatOp::apply`] and [`Conversion::apply`] are the only definition of what operators do.
    pub fn value<S: From<Undefined>>(
        &self,
        leaf: &dyn Fn(Leaf) -> Result<i64, S>,
        overflow: &dyn Fn(),
    ) -> Result<i64, S> {
        Ok(match self {
            Expr::Const(v) => *v,
            Expr::Reg(r) => leaf(Leaf::Register(*r))?,
            Expr::SelfId => leaf(Leaf::SelfId)?,
            Expr::Local(k) => leaf(Leaf::Local(*k))?,
            Expr::Cast(e, to) => {
                let v = e.value(leaf, overflow)?;
                if truncates_open_nan(v, *to) {
                    return Err(Undefined::NotANumber.into());
                }
                to.wrap(v)
            }
            Expr::Bin(op, a, b, at) => {
                let (a, b) = (a.value(leaf, overflow)?, b.value(leaf, overflow)?);
                if is_open_nan(a) || is_open_nan(b) {
                    return Err(Undefined::NotANumber.into());
                }
                if op.overflows(a, b, *at) {
                    overflow();
                }
                op.apply(a, b, *at).ok_or(Undefined::Operator)?
            }
            Expr::Float(op, a, b, at) => op.apply(a.value(leaf, overflow)?, b.value(leaf, overflow)?, *at),
            Expr::Convert(e, conversion) => conversion.apply(e.value(leaf, overflow)?)?,
        })
    }

    /// Returns the expression with leaves replaced. What comes to be constant is computed.
    pub fn replaced(&self, leaf: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
        let computed = |old: &Expr, new: &Expr| old.constant().is_none() && new.constant().is_some();
        match self {
            Expr::Cast(e, to) => {
                let new = e.replaced(leaf);
                if computed(e, &new) { Expr::cast(new, *to) } else { Expr::Cast(Box::new(new), *to) }
            }
            Expr::Bin(op, a, b, at) => {
                let (x, y) = (a.replaced(leaf), b.replaced(leaf));
                match computed(a, &x) || computed(b, &y) {
                    true => Expr::bin(*op, x, y, *at),
                    false => Expr::Bin(*op, Box::new(x), Box::new(y), *at),
                }
            }
            Expr::Float(op, a, b, at) => {
                let (x, y) = (a.replaced(leaf), b.replaced(leaf));
                match computed(a, &x) || computed(b, &y) {
                    true => Expr::float(*op, x, y, *at),
                    false => Expr::Float(*op, Box::new(x), Box::new(y), *at),
                }
            }
            Expr::Convert(e, conversion) => {
                let new = e.replaced(leaf);
                match computed(e, &new) {
                    true => Expr::convert(new, *conversion),
                    false => Expr::Convert(Box::new(new), *conversion),
                }
            }
            Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => {
                leaf(self).unwrap_or_else(|| self.clone())
            }
        }
    }

    /// Returns the value in a type, left as it is where it is one of the type; the types of registers
    /// are given.
    pub fn converted(self, at: Int, registers: &[Int]) -> Expr {
        let fits = match &self {
            Expr::Const(v) => at.wrap(*v) == *v,
            Expr::Reg(r) => registers[*r as usize] == at,
            Expr::Cast(_, to) => *to == at,
            Expr::Bin(op, ..) if op.compares() => true,
            Expr::Bin(.., of) => *of == at,
            Expr::Float(op, .., of) => op.result(*of) == at,
            Expr::Convert(_, conversion) => conversion.result() == at,
            Expr::Local(_) => at.size == 8 && !at.truth,
            Expr::SelfId => at.size >= 4 && !at.truth,
        };
        if fits { self } else { Expr::cast(self, at) }
    }

    /// Calls `f` on every register in it.
    pub fn registers(&self, f: &mut impl FnMut(Reg)) {
        match self {
            Expr::Reg(r) => f(*r),
            Expr::Cast(e, _) | Expr::Convert(e, _) => e.registers(f),
            Expr::Bin(_, a, b, _) | Expr::Float(_, a, b, _) => {
                a.registers(f);
                b.registers(f);
            }
            Expr::Const(_) | Expr::SelfId | Expr::Local(_) => {}
        }
    }

    /// Calls `f` on every local variable in it.
    pub fn locals(&self, f: &mut impl FnMut(u32)) {
        match self {
            Expr::Local(k) => f(*k),
            Expr::Cast(e, _) | Expr::Convert(e, _) => e.locals(f),
            Expr::Bin(_, a, b, _) | Expr::Float(_, a, b, _) => {
                a.locals(f);
                b.locals(f);
            }
            Expr::Const(_) | Expr::Reg(_) | Expr::SelfId => {}
        }
    }

    /// The value, if it is a constant.
    pub fn constant(&self) -> Option<i64> {
        match self {
            Expr::Const(v) => Some(*v),
            _ => None,
        }
    }

    /// Calls `f` on every constant in it.
    pub fn constants(&self, f: &mut impl FnMut(i64)) {
        match self {
            Expr::Const(v) => f(*v),
            Expr::Cast(e, _) | Expr::Convert(e, _) => e.constants(f),
            Expr::Bin(_, a, b, _) | Expr::Float(_, a, b, _) => {
                a.constants(f);
                b.constants(f);
            }
            Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => {}
        }
    }
}

/// Which side of a synchronisation a thread is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// It hands over what it has done.
    Releases,
    /// It takes what was handed over.
    Acquires,
}

/// One instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Instr {
    /// `r = e`
    Let(Reg, Expr),
    /// `r = any value of its type`
    Any(Reg),
    /// `r = *e`
    Load(Reg, Expr, Int),
    /// `*a = e`
    Store(Expr, Expr, Int),
    /// `if (e) goto first; else goto second`
    Branch(Expr, usize, usize),
    /// `goto`
    Jump(usize),
    /// Blocks forever if the value is 0.
    Assume(Expr),
    /// From here on, no other thread moves.
    AtomicBegin,
    /// Until here.
    AtomicEnd,
    /// A fence for the accesses of the thread before and after it.
    Fence(Order),
    /// Starts a thread in a template; the register receives its number.
    Spawn(usize, Vec<Expr>, Reg),
    /// Waits until the thread with this number has ended; the register receives its result.
    Join(Expr, Reg),
    /// Allocates bytes; the register receives the address.
    Alloc(Reg, Expr),
    /// Frees what was allocated.
    Free(Expr),
    /// Allocates as many bytes as the last operand says, which begin with those of the object at
    /// an address, and frees that object; the register receives the new address.
    Resize(Reg, Expr, Expr),
    /// The lifetime of a local variable in memory begins: its address, which is a constant or an
    /// [`Expr::Local`], and its size. It has no value yet.
    Begins(Expr, u32),
    /// The lifetimes of local variables in memory end: their addresses and sizes.
    Ends(Vec<(Expr, u32)>),
    /// Addresses are used in a way that C defines only sometimes.
    Pointer(PointerUse),
    /// A property is violated.
    Fail(Violation, String),
    /// What threads handed over at this address happens before what follows, or the thread hands
    /// over what it has done: a barrier or a semaphore, which no thread holds.
    Meets(Expr, Side),
    /// From here on, the thread holds the lock at this address.
    Acquire(Expr),
    /// It holds the lock no more; if it does not hold it, a lock is misused.
    Release(Expr),
    /// What follows is not modelled.
    Unmodelled(String),
    /// The process ends.
    Halt,
    /// The thread ends with this result.
    End(Expr),
    /// Calls the function with the code of a template. The arguments become its first registers,
    /// converted to their types; the register receives the result.
    Call {
        /// The template.
        function: usize,
        /// One for each of its parameters.
        arguments: Vec<Expr>,
        /// Where the result goes, if it is used.
        result: Option<Reg>,
    },
    /// Calls the function that a pointer points to, which has to take as many arguments of these
    /// sizes.
    CallPointer {
        /// The pointer.
        address: Expr,
        /// The arguments and their types.
        arguments: Vec<(Expr, Int)>,
        /// Where the result goes, if it is used.
        result: Option<Reg>,
    },
    /// The function returns, with this result if it has one. The thread ends if nothing has called
    /// the function.
    Return(Option<Expr>),
}

/// A use of addresses that C defines only sometimes.
#[derive(Clone, PartialEq, Debug)]
pub enum PointerUse {
    /// Pointer arithmetic, by the first address and the result: it stays near its object.
    Moved(Expr, Expr),
    /// Two addresses are ordered or subtracted: they belong to one object.
    Ordered(Expr, Expr),
    /// Two addresses are compared: both belong to objects that exist.
    Compared(Expr, Expr),
    /// A pointer becomes an integer: it is not an address, of which only one of many possible
    /// values is known here.
    Number(Expr),
    /// Bytes are read as numbers in which there may be an address.
    Bytes,
}

impl PointerUse {
    /// Calls `f` on the addresses.
    pub fn operands(&self, f: &mut impl FnMut(&Expr)) {
        match self {
            PointerUse::Moved(a, b) | PointerUse::Ordered(a, b) | PointerUse::Compared(a, b) => {
                f(a);
                f(b);
            }
            PointerUse::Number(a) => f(a),
            PointerUse::Bytes => {}
        }
    }
}

/// What can go wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Violation {
    /// An assertion fails, or an error function or label is reached.
    Assertion,
    /// Two threads are at the same place, by the number of the place in [`Program::exclusive`].
    Exclusion(u32),
    /// Two threads access the same memory, one writing, not both atomically.
    Race,
    /// A signed integer overflows, a divisor is zero, a shift is too far.
    Overflow,
    /// A lock is released that is not held, or destroyed while it is held.
    Locks,
    /// Memory is accessed that no object has, or freed that was not allocated.
    Memory,
}

/// What kind of memory access an instruction makes, if it makes one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Access {
    /// Like any variable.
    #[default]
    Plain,
    /// Atomic in the sense of C, with its memory order.
    Atomic(Order),
    /// A part of an atomic operation that reads and writes in one event: its order, and that of a
    /// compare-exchange that fails.
    Update(Order, Order),
    /// Inside a lock or its like: never part of a race.
    Internal,
}

impl Access {
    /// Returns whether it is atomic in the sense of C.
    pub fn is_atomic(self) -> bool {
        matches!(self, Access::Atomic(_) | Access::Update(..))
    }
}

/// Where an instruction comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The file, if it is not the user's.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if not known, because a macro was expanded in the line.
    pub column: u32,
    /// The user's line.
    pub text: String,
    /// The function and its callers.
    pub function: String,
    /// Of each of its callers, the line of the call.
    pub calls: Vec<u32>,
    /// Labels on it.
    pub labels: Vec<String>,
    /// The passage of the preprocessed text.
    pub span: (usize, usize),
}

/// An instruction, by its template and its place there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Point {
    /// The template.
    pub template: u32,
    /// The place in its code.
    pub pc: u32,
}

/// A variable in memory of a function: every call of the function has its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Local {
    /// Its name in C.
    pub name: String,
    /// Size in bytes.
    pub size: u32,
    /// Its place in private memory is a multiple of this.
    pub align: u32,
    /// The type to show it with: (offset, type, suffix of the name).
    pub parts: Vec<(u32, Int, String)>,
    /// Whether its address is used as a value, so that other threads may come to know it.
    pub addressed: bool,
    /// Where it is while a call of the function is executed.
    pub place: LocalPlace,
}

/// Where a local variable in memory is while a call is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalPlace {
    /// In private memory, by its number among those of the function, and its offset there.
    Private {
        /// The number.
        number: u32,
        /// The offset.
        offset: u32,
    },
    /// In shared memory, by its number among those of the function: other threads may come to know
    /// it.
    Shared(u32),
}

impl Default for LocalPlace {
    fn default() -> LocalPlace {
        LocalPlace::Shared(0)
    }
}

impl LocalPlace {
    /// Returns whether it is in shared memory.
    pub fn is_shared(self) -> bool {
        matches!(self, LocalPlace::Shared(_))
    }
}

/// The code of one function, and of the threads that start in it.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// The function.
    pub name: String,
    /// The instructions.
    pub code: Vec<Instr>,
    /// Where each comes from, as an index into [`Program::origins`].
    pub origins: Vec<u32>,
    /// What kind of access each makes.
    pub access: Vec<Access>,
    /// The types of the registers. The first are the arguments.
    pub registers: Vec<Int>,
    /// What the registers are called in C, if they are variables there.
    pub names: Vec<Option<String>>,
    /// The functions that the registers are variables of; empty for others.
    pub owners: Vec<String>,
    /// What the registers are called in reports, if they are variables in C.
    pub shown: Vec<Option<String>>,
    /// How many arguments there are.
    pub arguments: usize,
    /// Its number in [`Program::functions`], if pointers may point to it.
    pub pointer: Option<u32>,
    /// Its variables in memory that have no place of their own.
    pub locals: Vec<Local>,
    /// Bytes of private memory.
    pub frame: u32,
    /// Whether at most one thread ever runs it.
    pub single: bool,
    /// For each instruction, the registers that are read later, sorted.
    pub live: Vec<Vec<Reg>>,
    /// For each register that is only ever compared with constants: values that stand for all, in
    /// the sense that every value compares like one of them.
    pub representatives: Vec<Option<Vec<i64>>>,
    /// See `Template::values_at`.
    pub ranges: Ranges,
    /// Instructions [`Instr::Any`] that stand for more than the program can do, and why, by
    /// instruction.
    pub doubts: Vec<(usize, Doubt)>,
    /// Instructions [`Instr::Load`] and [`Instr::Any`], sorted, of which the value goes to the store
    /// behind them and nowhere else: they copy a part of an object, which may have no value.
    pub copies: Vec<usize>,
    /// Instructions [`Instr::Load`] and [`Instr::Store`] that access a bit-field with the bytes
    /// around it, sorted, and the bits that belong to it: others need not have a value, and keep it.
    pub bits: Vec<(usize, i64)>,
}

impl Template {
    /// Why a run through an instruction may not be one of the program.
    pub fn doubt(&self, pc: usize) -> Option<&Doubt> {
        self.doubts.iter().find(|(at, _)| *at == pc).map(|(_, doubt)| doubt)
    }

    /// Returns the bits that matter where an instruction accesses a bit-field.
    pub fn field(&self, pc: usize) -> Option<i64> {
        self.bits.binary_search_by_key(&pc, |b| b.0).ok().map(|n| self.bits[n].1)
    }

    /// Returns the number of bytes of private memory that each call takes.
    pub fn own_bytes(&self) -> u32 {
        let end = |l: &Local| match l.place {
            LocalPlace::Private { offset, .. } => offset + l.size,
            LocalPlace::Shared(_) => 0,
        };
        self.locals.iter().map(end).max().unwrap_or(0)
    }

    /// Returns whether the function can be called with arguments of these types: as many as it has
    /// parameters, and of their sizes; numbers of at most four bytes are passed alike.
    pub fn takes(&self, given: &[Int]) -> bool {
        let alike = |(a, b): (&Int, &Int)| a.size == b.size || a.size <= 4 && b.size <= 4;
        given.len() == self.arguments && given.iter().zip(&self.registers).all(alike)
    }

    /// Returns whether a thread can come to an instruction more than once.
    pub fn repeats(&self, at: usize) -> bool {
        let (mut work, mut seen) = (next(&self.code, at), vec![false; self.code.len()]);
        while let Some(pc) = work.pop() {
            if pc == at {
                return true;
            }
            if pc < seen.len() && !std::mem::replace(&mut seen[pc], true) {
                work.extend(next(&self.code, pc));
            }
        }
        false
    }
}

/// An object in shared memory with a fixed place.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name in C.
    pub name: String,
    /// Its initial bytes; [`crate::step::OPEN`] is a byte that was never written.
    pub init: Vec<u16>,
    /// The first byte's place in shared memory.
    pub base: usize,
    /// Its address is a multiple of this power of two; 0 if nothing is known of it.
    pub align: u32,
    /// The type to show it with: (offset, type, suffix of the name).
    pub parts: Vec<(u32, Int, String)>,
    /// Whether accesses to it can be seen by other threads.
    pub visible: bool,
    /// Whether it is a variable outside functions.
    pub global: bool,
    /// Whether it is a lock or its like, whose bytes mean something to the C library only.
    pub library: bool,
    /// Whether its address may come to be known to other threads.
    pub leaves: bool,
    /// Whether it is declared `extern` and defined nowhere: its value is open.
    pub external: bool,
}

impl Object {
    /// Returns whether it is a local variable of a function: only who has its address can know what
    /// is in it.
    fn is_local(&self) -> bool {
        !self.global && self.init.first() == Some(&OPEN)
    }
}

/// A variable in the private memory of threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Private {
    /// Its name in C.
    pub name: String,
    /// The first byte's place in private memory.
    pub base: u32,
    /// Size in bytes.
    pub size: u32,
    /// Its address is a multiple of this power of two.
    pub align: u32,
}

/// Where threads start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// One thread in this template.
    One(usize),
    /// Any number of threads in each of these.
    Any(Vec<usize>),
}

impl Default for Start {
    fn default() -> Start {
        Start::One(0)
    }
}

/// A number in memory that has bits of a bit-field: its offset from the start of the structure, its
/// size, and whether no other bits are in it.
pub type FieldPart = (u32, u8, bool);

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The functions that threads start in, and those that are called.
    pub templates: Vec<Template>,
    /// Shared objects; number 1 is the first.
    pub objects: Vec<Object>,
    /// The initial private memory of every thread: thread-local variables.
    pub private: Vec<u16>,
    /// The variables in private memory, of all templates; the places of some overlap, because
    /// their lifetimes do not.
    pub locals: Vec<Private>,
    /// The objects whose lifetime ends while their thread goes on, sorted.
    pub scoped: Vec<i64>,
    /// Where addresses of objects may be that cease to exist.
    pub holders: Holders,
    /// Whether addresses become numbers.
    pub address_numbers: bool,
    /// Names of functions, by number, for function pointers.
    pub functions: Vec<String>,
    /// Where instructions come from.
    pub origins: Vec<Origin>,
    /// Whether there may be more than one thread.
    pub concurrent: bool,
    /// Whether threads have numbers: some thread waits for another, or asks who it is.
    pub numbered: bool,
    /// Whether some thread reads the result of another.
    pub results: bool,
    /// Values to try for inputs.
    pub interesting: Vec<i64>,
    /// Values to try for inputs that are floating-point numbers: the bits of a `double`.
    pub numbers: Vec<i64>,
    /// What is asked.
    pub asked: Vec<Violation>,
    /// What a question about races is limited to; empty: nothing.
    pub about: Vec<About>,
    /// The file of instructions whose origin names none.
    pub user: String,
    /// Whether memory errors are violations, asked for or not; else what follows one is not known.
    pub memory_errors: bool,
    /// The labels and functions of [`Violation::Exclusion`].
    pub exclusive: Vec<String>,
    /// Places at which no thread may be stuck: labels, functions, lines, `A|B` for several, or `any`;
    /// empty if that is not asked.
    pub stuck: Vec<String>,
    /// Places that every thread is to leave under a fair scheduler, likewise.
    pub starvation: Vec<String>,
    /// For each instruction, whether a thread there is at a place of [`Program::starvation`]; empty
    /// if that is not asked. A step ends where a thread leaves these places, so that it is seen.
    pub watched: Vec<Vec<bool>>,
    /// Where threads start.
    pub start: Start,
    /// Whether the first thread only starts others, any number of them.
    pub starts_any: bool,
    /// Whether something is asserted, or marked as an error.
    pub asserts: bool,
    /// Whether an atomic operation, or a fence, has a weaker order than `seq_cst`.
    pub weak_orders: bool,
    /// Whether there is a fence for threads.
    pub fences: bool,
    /// Whether the order of an atomic operation is not a constant, or is `consume`.
    pub unclear_orders: bool,
    /// Whether something else than `malloc` allocates, so that alignments are not known.
    pub unaligned: bool,
    /// Whether memory that was never written has an undefined value, which may differ from use to
    /// use, and not one that is chosen once and for all.
    pub undefined_values: bool,
    /// Whether the words of locks are in objects with data of the program, which are not locks as a
    /// whole.
    pub locks_in_data: bool,
    /// Whether there are condition variables.
    pub waits: bool,
    /// Whether mutexes may be recursive or check for errors, so that they know their owner.
    pub recursive_locks: bool,
    /// The passages that copy a structure part by part, and its parts: offset and size; none for
    /// other accesses that are made in parts.
    pub copies: HashMap<(usize, usize), Vec<(u32, u8)>>,
    /// The passages that name a bit-field, and the numbers that have it.
    pub fields: HashMap<(usize, usize), Vec<FieldPart>>,
}

/// Returns [`Program::watched`].
fn watched(program: &Program) -> Vec<Vec<bool>> {
    if program.starvation.is_empty() {
        return Vec::new();
    }
    let places = crate::places::asked(program, &program.starvation);
    let of = |(k, t): (usize, &Template)| {
        (0..t.code.len()).map(|pc| places.contains(&Point { template: k as u32, pc: pc as u32 })).collect()
    };
    program.templates.iter().enumerate().map(of).collect()
}

impl Program {
    /// The number of bytes of shared memory with a fixed place.
    pub fn shared_size(&self) -> usize {
        self.objects.last().map_or(0, |o| o.base + o.init.len())
    }

    /// Returns whether a thread that the program starts with can create threads in a loop.
    pub fn creates_without_bound(&self) -> bool {
        matches!(self.start, Start::One(_))
            && self.templates.iter().enumerate().any(|(k, t)| {
                let spawns = t.code.iter().enumerate().filter(|(_, i)| matches!(i, Instr::Spawn(..)));
                // A function that is called may be called again.
                spawns.into_iter().any(|(at, _)| t.repeats(at) || self.is_called(k))
            })
    }

    /// Returns whether at most one thread ever runs a template: the first, or one that is started
    /// at a single place to which such a thread comes once.
    pub fn runs_once(&self, template: usize) -> bool {
        let Start::One(first) = self.start else { return false };
        let mut template = template;
        // A chain of parents that does not come to an end does not begin with the first thread.
        for _ in 0..=self.templates.len() {
            if self.is_called(template) {
                return false;
            }
            let mut sites = self.templates.iter().enumerate().flat_map(|(by, t)| {
                let starts = move |i: &Instr| matches!(i, Instr::Spawn(child, ..) if *child == template);
                t.code.iter().enumerate().filter(move |(_, i)| starts(i)).map(move |(at, _)| (by, at))
            });
            match (sites.next(), sites.next()) {
                (None, _) => return template == first,
                (Some((by, at)), None) if template != first && !self.templates[by].repeats(at) => {
                    template = by;
                }
                _ => return false,
            }
        }
        false
    }

    /// The template of the thread that only starts others, any number of them, if there is one.
    pub fn starter(&self) -> Option<usize> {
        match self.start {
            Start::One(t) if self.starts_any => Some(t),
            _ => None,
        }
    }

    /// Where an instruction comes from.
    pub fn origin(&self, template: usize, pc: usize) -> &Origin {
        &self.origins[self.templates[template].origins[pc] as usize]
    }

    /// Where an instruction comes from.
    pub fn origin_at(&self, at: Point) -> &Origin {
        self.origin(at.template as usize, at.pc as usize)
    }

    /// The instruction at a point.
    pub fn instruction_at(&self, at: Point) -> &Instr {
        &self.templates[at.template as usize].code[at.pc as usize]
    }

    /// Completes the program: liveness, visibility, interesting values.
    pub fn finish(&mut self) {
        let ends = |i: &Instr| match i {
            Instr::Ends(list) => list.iter().filter_map(|l| l.0.constant()).map(object_of).collect(),
            _ => Vec::new(),
        };
        self.scoped = self.templates.iter().flat_map(|t| &t.code).flat_map(ends).collect();
        self.scoped.sort_unstable();
        self.scoped.dedup();
        let spawns = |i: &Instr| matches!(i, Instr::Spawn(..));
        self.concurrent =
            matches!(self.start, Start::Any(_)) || self.templates.iter().any(|t| t.code.iter().any(spawns));
        addresses(self);
        let number = |i: &Instr| matches!(i, Instr::Pointer(PointerUse::Number(_) | PointerUse::Bytes));
        self.address_numbers = self.templates.iter().any(|t| t.code.iter().any(number));
        for t in &mut self.templates {
            t.live = live(t);
            t.shown = t.report_names();
            t.representatives = representatives(t);
            t.ranges = Ranges::default();
        }
        self.results = self.templates.iter().any(|t| {
            let reads =
                |(pc, i): (usize, &Instr)| matches!(i, Instr::Join(_, r) if t.live[pc + 1].contains(r));
            t.code.iter().enumerate().any(reads)
        });
        self.visibility();
        self.library();
        self.interesting = interesting(self);
        self.numbers = numbers(self);
        self.watched = watched(self);
    }

    /// Returns whether it matters at which place a thread is that cannot move.
    pub fn asks_about_places(&self) -> bool {
        !self.starvation.is_empty() || self.stuck.iter().any(|place| place != ANYWHERE)
    }

    /// Returns whether a thread at an instruction is at a place that every thread is to leave.
    pub fn is_watched(&self, at: Point) -> bool {
        self.watched.get(at.template as usize).is_some_and(|t| t[at.pc as usize])
    }

    /// An object is visible unless only one thread can ever access it, or nothing writes it.
    fn visibility(&mut self) {
        let n = self.objects.len();
        let (mut written, mut escapes) = (vec![false; n], vec![false; n]);
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); n];
        let object = |v: i64| {
            let o = object_of(v);
            (o >= 1 && o <= n as i64).then(|| o as usize - 1)
        };
        for o in &self.objects {
            // Addresses stored in initial values escape.
            for i in (0..o.init.len()).step_by(8) {
                if let Some(bytes) = o.init.get(i..i + 8) {
                    let v = bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b & 255));
                    if let Some(t) = object(v) {
                        escapes[t] = true;
                    }
                }
            }
        }
        // The threads that execute the code of a template.
        let mut threads: Vec<Vec<usize>> = vec![Vec::new(); self.templates.len()];
        for start in self.starts() {
            self.reaches(start).into_iter().for_each(|t| threads[t].push(start));
        }
        for (t, threads) in self.templates.iter().zip(&threads) {
            for i in &t.code {
                let rest = |e: &Expr, escapes: &mut Vec<bool>| {
                    e.constants(&mut |v| {
                        if let Some(o) = object(v) {
                            escapes[o] = true;
                        }
                    });
                };
                match i {
                    Instr::Load(_, Expr::Const(a), _) => {
                        if let Some(o) = object(*a) {
                            users[o].extend(threads);
                        }
                    }
                    Instr::Store(Expr::Const(a), v, _) => {
                        if let Some(o) = object(*a) {
                            users[o].extend(threads);
                            written[o] = true;
                        }
                        rest(v, &mut escapes);
                    }
                    Instr::Let(_, e)
                    | Instr::Load(_, e, _)
                    | Instr::Branch(e, ..)
                    | Instr::Assume(e)
                    | Instr::Join(e, _)
                    | Instr::Alloc(_, e)
                    | Instr::Free(e)
                    | Instr::End(e)
                    | Instr::Return(Some(e)) => rest(e, &mut escapes),
                    Instr::Store(a, v, _) | Instr::Resize(_, a, v) => {
                        rest(a, &mut escapes);
                        rest(v, &mut escapes);
                    }
                    Instr::Spawn(_, args, _) | Instr::Call { arguments: args, .. } => {
                        args.iter().for_each(|e| rest(e, &mut escapes));
                    }
                    Instr::CallPointer { address, arguments, .. } => {
                        rest(address, &mut escapes);
                        arguments.iter().for_each(|(e, _)| rest(e, &mut escapes));
                    }
                    _ => {}
                }
            }
        }
        for (o, object) in self.objects.iter_mut().enumerate() {
            users[o].sort_unstable();
            users[o].dedup();
            let alone = matches!(users[o][..], [k] if self.templates[k].single);
            object.visible = escapes[o] || written[o] && !alone;
        }
    }

    /// Finds the objects that are locks and their like.
    fn library(&mut self) {
        let mut found = vec![false; self.objects.len()];
        for t in &self.templates {
            for (i, access) in t.code.iter().zip(&t.access) {
                if let (
                    Instr::Load(_, Expr::Const(a), _) | Instr::Store(Expr::Const(a), ..),
                    Access::Internal,
                ) = (i, access)
                    && let Some(o) = usize::try_from(object_of(*a) - 1).ok().and_then(|o| found.get_mut(o))
                {
                    *o = true;
                }
            }
        }
        for (o, found) in self.objects.iter_mut().zip(found) {
            o.library = found && !self.locks_in_data || o.parts.iter().any(|p| p.2.contains(".__"));
        }
    }

    /// Returns whether a value is the address of a private variable of this program.
    pub fn is_private(&self, a: i64) -> bool {
        let local = is_private(a).then(|| self.locals.get((object_of(a) - PRIVATE) as usize)).flatten();
        local.is_some_and(|l| (0..=i64::from(l.size)).contains(&offset_of(a)))
    }

    /// Returns whether the lifetime of the object at an address may end while its thread goes on.
    pub fn is_scoped(&self, a: i64) -> bool {
        self.scoped.contains(&object_of(a))
    }

    /// Returns the template of the function at an address.
    pub fn function_at(&self, a: i64) -> Option<usize> {
        let number = u32::try_from(object_of(a) - FUNCTION).ok().filter(|_| offset_of(a) == 0)?;
        self.templates.iter().position(|t| t.pointer == Some(number))
    }

    /// The object that an address is in, if it has a fixed place.
    pub fn object_at(&self, a: i64) -> Option<&Object> {
        self.objects.get(usize::try_from(object_of(a)).ok()?.checked_sub(1)?)
    }
}

impl Instr {
    /// Returns the instruction with other expressions, and results in other registers.
    pub fn mapped(&self, e: &dyn Fn(&Expr) -> Expr, r: &dyn Fn(Reg) -> Reg) -> Instr {
        let all = |list: &[Expr]| list.iter().map(e).collect();
        match self {
            Instr::Let(to, value) => Instr::Let(r(*to), e(value)),
            Instr::Any(to) => Instr::Any(r(*to)),
            Instr::Load(to, a, at) => Instr::Load(r(*to), e(a), *at),
            Instr::Store(a, value, at) => Instr::Store(e(a), e(value), *at),
            Instr::Branch(value, yes, no) => Instr::Branch(e(value), *yes, *no),
            Instr::Assume(value) => Instr::Assume(e(value)),
            Instr::Spawn(t, arguments, to) => Instr::Spawn(*t, all(arguments), r(*to)),
            Instr::Join(value, to) => Instr::Join(e(value), r(*to)),
            Instr::Alloc(to, size) => Instr::Alloc(r(*to), e(size)),
            Instr::Free(value) => Instr::Free(e(value)),
            Instr::Resize(to, a, size) => Instr::Resize(r(*to), e(a), e(size)),
            Instr::Begins(a, size) => Instr::Begins(e(a), *size),
            Instr::Ends(list) => Instr::Ends(list.iter().map(|(a, size)| (e(a), *size)).collect()),
            Instr::Pointer(using) => Instr::Pointer(match using {
                PointerUse::Moved(a, b) => PointerUse::Moved(e(a), e(b)),
                PointerUse::Ordered(a, b) => PointerUse::Ordered(e(a), e(b)),
                PointerUse::Compared(a, b) => PointerUse::Compared(e(a), e(b)),
                PointerUse::Number(a) => PointerUse::Number(e(a)),
                PointerUse::Bytes => PointerUse::Bytes,
            }),
            Instr::Meets(value, side) => Instr::Meets(e(value), *side),
            Instr::Acquire(value) => Instr::Acquire(e(value)),
            Instr::Release(value) => Instr::Release(e(value)),
            Instr::End(value) => Instr::End(e(value)),
            Instr::Return(value) => Instr::Return(value.as_ref().map(e)),
            Instr::Call { function, arguments, result } => {
                Instr::Call { function: *function, arguments: all(arguments), result: result.map(r) }
            }
            Instr::CallPointer { address, arguments, result } => Instr::CallPointer {
                address: e(address),
                arguments: arguments.iter().map(|(value, at)| (e(value), *at)).collect(),
                result: result.map(r),
            },
            Instr::Jump(_)
            | Instr::Fence(_)
            | Instr::AtomicBegin
            | Instr::AtomicEnd
            | Instr::Fail(..)
            | Instr::Unmodelled(_)
            | Instr::Halt => self.clone(),
        }
    }
}

/// Calls `f` on the expressions that an instruction computes, addresses of lifetimes apart.
pub fn expressions(i: &Instr, f: &mut impl FnMut(&Expr)) {
    match i {
        Instr::Let(_, e)
        | Instr::Load(_, e, _)
        | Instr::Branch(e, ..)
        | Instr::Assume(e)
        | Instr::Join(e, _)
        | Instr::Alloc(_, e)
        | Instr::Free(e)
        | Instr::Meets(e, _)
        | Instr::Acquire(e)
        | Instr::Release(e)
        | Instr::End(e)
        | Instr::Return(Some(e)) => f(e),
        Instr::Store(a, e, _) | Instr::Resize(_, a, e) => {
            f(a);
            f(e);
        }
        Instr::Spawn(_, args, _) | Instr::Call { arguments: args, .. } => args.iter().for_each(f),
        Instr::CallPointer { address, arguments, .. } => {
            f(address);
            arguments.iter().for_each(|(e, _)| f(e));
        }
        Instr::Pointer(using) => using.operands(f),
        _ => {}
    }
}

/// Calls `f` on the registers that an instruction reads.
pub fn reads(i: &Instr, f: &mut impl FnMut(Reg)) {
    expressions(i, &mut |e| e.registers(f));
}

/// The register that an instruction writes.
pub fn writes(i: &Instr) -> Option<Reg> {
    match i {
        Instr::Let(r, _)
        | Instr::Any(r)
        | Instr::Load(r, ..)
        | Instr::Spawn(_, _, r)
        | Instr::Join(_, r)
        | Instr::Alloc(r, _)
        | Instr::Resize(r, ..) => Some(*r),
        Instr::Call { result, .. } | Instr::CallPointer { result, .. } => *result,
        _ => None,
    }
}

/// Returns where control goes from instruction `pc`. A misuse of a lock ends the thread only if
/// that is asked for.
pub fn next(code: &[Instr], pc: usize) -> Vec<usize> {
    match &code[pc] {
        Instr::Branch(_, a, b) => vec![*a, *b],
        Instr::Jump(a) => vec![*a],
        Instr::Fail(what, _) if *what != Violation::Locks => Vec::new(),
        Instr::Unmodelled(_) | Instr::Halt | Instr::End(_) | Instr::Return(_) => Vec::new(),
        _ => vec![pc + 1],
    }
}
