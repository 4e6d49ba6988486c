//! The tree of a module.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use throng_lang::source::Span;

use super::metadata::Node;

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Type<'t> {
    Void,
    Int(u32),
    Float,
    Double,
    Pointer,
    Array(u64, Arc<Type<'t>>),
    /// Its fields, and whether it is packed.
    Struct(Arc<[Type<'t>]>, bool),
    /// `%name`
    Named(&'t str),
    Metadata,
    Label,
    /// A type that is not modelled, in its words.
    Other(String),
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Value<'t> {
    Local(&'t str),
    Global(&'t str),
    Int(i128),
    /// The bits of a `double`.
    Float(u64),
    Null,
    Zero,
    Undef,
    Poison,
    /// The elements of a structure or an array, with their types.
    Parts(Vec<(Type<'t>, Value<'t>)>),
    Bytes(Vec<u8>),
    /// A constant expression.
    Expr(Box<Op<'t>>),
    /// What is not modelled, in its words.
    Other(String),
}

/// A value with its type.
pub type Typed<'t> = (Type<'t>, Value<'t>);

/// An order of an atomic access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Order {
    Unordered,
    Monotonic,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    /// The order in the words of C; `unordered`, of which less is promised, is not weaker for what
    /// is modelled.
    pub fn of_memory(self) -> throng_goto::program::Order {
        use throng_goto::program::Order as Of;
        match self {
            Order::Unordered | Order::Monotonic => Of::Relaxed,
            Order::Acquire => Of::Acquire,
            Order::Release => Of::Release,
            Order::AcqRel => Of::AcqRel,
            Order::SeqCst => Of::SeqCst,
        }
    }
}

/// An operation on two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// What makes the result of an operation poison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// `nuw`
    pub unsigned: bool,
    /// `nsw`
    pub signed: bool,
    /// `exact`, `disjoint`, `nneg`, `samesign`
    pub other: bool,
}

/// A conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Cast {
    Trunc,
    ZExt,
    SExt,
    PtrToInt,
    IntToPtr,
    BitCast,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    FpTrunc,
    FpExt,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Op<'t> {
    Binary(Binary, Flags, Type<'t>, Value<'t>, Value<'t>),
    /// `icmp` or `fcmp`, by the name of the comparison.
    Compare {
        float: bool,
        how: &'t str,
        of: Type<'t>,
        a: Value<'t>,
        b: Value<'t>,
    },
    Cast(Cast, Flags, Typed<'t>, Type<'t>),
    Negate(Typed<'t>),
    Load {
        of: Type<'t>,
        from: Value<'t>,
        order: Option<Order>,
        volatile: bool,
        align: u32,
    },
    Store {
        what: Typed<'t>,
        to: Value<'t>,
        order: Option<Order>,
        volatile: bool,
        align: u32,
    },
    Alloca {
        of: Type<'t>,
        count: Option<Typed<'t>>,
        align: u32,
    },
    /// `getelementptr`
    Element {
        of: Type<'t>,
        base: Value<'t>,
        indices: Vec<Typed<'t>>,
        inbounds: bool,
    },
    Select {
        condition: Typed<'t>,
        yes: Typed<'t>,
        no: Typed<'t>,
    },
    Phi(Type<'t>, Vec<(Value<'t>, &'t str)>),
    Call(Box<Call<'t>>),
    Return(Option<Typed<'t>>),
    Branch(&'t str),
    BranchIf(Value<'t>, &'t str, &'t str),
    Switch {
        on: Typed<'t>,
        default: &'t str,
        cases: Vec<(Value<'t>, &'t str)>,
    },
    Unreachable,
    Extract {
        from: Typed<'t>,
        path: Vec<u64>,
    },
    Insert {
        into: Typed<'t>,
        what: Typed<'t>,
        path: Vec<u64>,
    },
    ReadModifyWrite {
        how: &'t str,
        at: Value<'t>,
        with: Typed<'t>,
        order: Order,
    },
    CompareExchange {
        at: Value<'t>,
        expected: Typed<'t>,
        new: Value<'t>,
        weak: bool,
        success: Order,
        failure: Order,
    },
    Fence(Order),
    Freeze(Typed<'t>),
    /// `#dbg_value` and `#dbg_declare`: the value, or the address, of a variable.
    Debug {
        what: Typed<'t>,
        variable: u32,
        whole: bool,
        declares: bool,
    },
    /// An instruction that is not modelled, by its name.
    Other(&'t str),
}

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub struct Call<'t> {
    /// The type of the result.
    pub result: Type<'t>,
    /// What is called.
    pub callee: Value<'t>,
    /// The arguments.
    pub arguments: Vec<Argument<'t>>,
    /// The normal destination of an `invoke`.
    pub then: Option<&'t str>,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument<'t> {
    /// Its type.
    pub ty: Type<'t>,
    /// Its value.
    pub value: Value<'t>,
    /// What it points to, if that is copied.
    pub by_value: Option<Type<'t>>,
    /// Its alignment, if that is known.
    pub align: u32,
}

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction<'t> {
    /// The name of the result.
    pub result: Option<&'t str>,
    /// What it does.
    pub op: Op<'t>,
    /// The number of its place in the source.
    pub place: Option<u32>,
    /// Where it is in the text.
    pub span: Span,
}

/// A block of instructions.
#[derive(Clone, PartialEq, Debug)]
pub struct Block<'t> {
    /// Its label; empty if it is the first one and has none.
    pub label: &'t str,
    /// Its instructions.
    pub code: Vec<Instruction<'t>>,
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter<'t> {
    /// Its type.
    pub ty: Type<'t>,
    /// Its name; empty in declarations.
    pub name: &'t str,
    /// What it points to, if that is copied for the function.
    pub by_value: Option<Type<'t>>,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function<'t> {
    /// Its name.
    pub name: &'t str,
    /// The type of its result.
    pub result: Type<'t>,
    /// Its parameters.
    pub parameters: Vec<Parameter<'t>>,
    /// Whether it takes more arguments than that.
    pub variadic: bool,
    /// Its blocks; none if it is only declared.
    pub blocks: Vec<Block<'t>>,
    /// The number of its description for debuggers.
    pub described: Option<u32>,
    /// Whether other modules may have another function of this name.
    pub internal: bool,
    /// Whether another module may have a definition that is as good.
    pub weak: bool,
    /// Its groups of attributes.
    pub groups: Vec<&'t str>,
    /// Where its name is.
    pub span: Span,
}

/// A variable outside functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Global<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its type.
    pub ty: Type<'t>,
    /// Its initial value; none if it is only declared.
    pub initial: Option<Value<'t>>,
    /// Whether nothing writes it.
    pub constant: bool,
    /// Whether each thread has its own.
    pub thread_local: bool,
    /// Its alignment.
    pub align: u32,
    /// The number of its description for debuggers.
    pub described: Option<u32>,
    /// Whether other modules may have another variable of this name.
    pub internal: bool,
    /// Whether another module may have a definition that is as good.
    pub weak: bool,
    /// Whether it is another name of its initial value.
    pub alias: bool,
    /// Where its name is.
    pub span: Span,
}

/// A module.
#[derive(Clone, Debug, Default)]
pub struct Module<'t> {
    /// Types that have names; `None` is opaque.
    pub types: FxHashMap<&'t str, Option<Type<'t>>>,
    /// Variables outside functions.
    pub globals: Vec<Global<'t>>,
    /// Functions.
    pub functions: Vec<Function<'t>>,
    /// Metadata with numbers.
    pub metadata: FxHashMap<u32, Node<'t>>,
    /// Groups of attributes that say that a function does not return.
    pub noreturn: Vec<&'t str>,
    /// The target's layout of data.
    pub layout: &'t str,
    /// Assembly of the module, if it has some.
    pub assembly: Option<Span>,
}
