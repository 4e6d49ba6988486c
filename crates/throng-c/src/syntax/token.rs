//! Tokens and the words of the language.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// A token: its kind, and where it stands in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Whether it is a keyword that a program may declare as a name, since older standards or
    /// other compilers do not have it.
    pub(super) soft: bool,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Of an opening bracket: the index of its closing bracket, or of the end of the text if it has
    /// none.
    pub(super) closing: u32,
}

/// The kinds of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    End,
    Identifier,
    Number,
    Character,
    Text,

    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Dot,
    Arrow,
    Increment,
    Decrement,
    Ampersand,
    Star,
    Plus,
    Minus,
    Tilde,
    Exclamation,
    Slash,
    Percent,
    ShiftLeft,
    ShiftRight,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    Equals,
    NotEquals,
    Caret,
    Bar,
    And,
    Or,
    Question,
    Colon,
    Semicolon,
    Ellipsis,
    Comma,
    Assign,
    AssignMultiply,
    AssignDivide,
    AssignModulo,
    AssignPlus,
    AssignMinus,
    AssignShiftLeft,
    AssignShiftRight,
    AssignAnd,
    AssignXor,
    AssignOr,

    Typedef,
    Extern,
    Static,
    ThreadLocal,
    Auto,
    Register,
    Constexpr,

    Void,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
    Signed,
    Unsigned,
    Bool,
    Complex,
    Int128,
    UnsignedInt128,
    AutoType,
    VaList,
    BitInt,
    OtherType,
    Atomic,
    Struct,
    Union,
    Enum,
    TypeOf,
    TypeOfUnqualified,

    Const,
    Restrict,
    Volatile,
    OtherQualifier,
    Inline,
    Noreturn,
    AlignAs,
    Attribute,
    Declspec,
    Extension,
    Asm,
    StaticAssert,

    If,
    Else,
    Switch,
    Case,
    Default,
    While,
    Do,
    For,
    Goto,
    Continue,
    Break,
    Return,
    LocalLabel,

    SizeOf,
    AlignOf,
    Generic,
    OffsetOf,
    VaArg,
    TypesCompatible,
    Real,
    Imaginary,
    True,
    False,
    Nullptr,
}

/// Words that are keywords in every dialect.
const KEYWORDS: &[(Kind, &[&str])] = &[
    (Kind::Typedef, &["typedef"]),
    (Kind::Extern, &["extern"]),
    (Kind::Static, &["static"]),
    (Kind::ThreadLocal, &["_Thread_local", "__thread"]),
    (Kind::Auto, &["auto"]),
    (Kind::Register, &["register"]),
    (Kind::Void, &["void"]),
    (Kind::Char, &["char"]),
    (Kind::Short, &["short"]),
    (Kind::Int, &["int"]),
    (Kind::Long, &["long"]),
    (Kind::Float, &["float"]),
    (Kind::Double, &["double"]),
    (Kind::Signed, &["signed", "__signed", "__signed__"]),
    (Kind::Unsigned, &["unsigned"]),
    (Kind::Bool, &["_Bool"]),
    (Kind::Complex, &["_Complex", "__complex", "__complex__"]),
    (Kind::Int128, &["__int128"]),
    (Kind::AutoType, &["__auto_type"]),
    (Kind::BitInt, &["_BitInt"]),
    (Kind::Atomic, &["_Atomic"]),
    (Kind::Struct, &["struct"]),
    (Kind::Union, &["union"]),
    (Kind::Enum, &["enum"]),
    (Kind::TypeOf, &["__typeof", "__typeof__"]),
    (Kind::TypeOfUnqualified, &["__typeof_unqual", "__typeof_unqual__"]),
    (Kind::Const, &["const", "__const", "__const__"]),
    (Kind::Restrict, &["restrict", "__restrict", "__restrict__"]),
    (Kind::Volatile, &["volatile", "__volatile", "__volatile__"]),
    (Kind::Inline, &["inline", "__inline", "__inline__"]),
    (Kind::Noreturn, &["_Noreturn"]),
    (Kind::AlignAs, &["_Alignas"]),
    (Kind::Attribute, &["__attribute", "__attribute__"]),
    (Kind::Extension, &["__extension__"]),
    (Kind::Asm, &["asm", "__asm", "__asm__"]),
    (Kind::StaticAssert, &["_Static_assert"]),
    (Kind::If, &["if"]),
    (Kind::Else, &["else"]),
    (Kind::Switch, &["switch"]),
    (Kind::Case, &["case"]),
    (Kind::Default, &["default"]),
    (Kind::While, &["while"]),
    (Kind::Do, &["do"]),
    (Kind::For, &["for"]),
    (Kind::Goto, &["goto"]),
    (Kind::Continue, &["continue"]),
    (Kind::Break, &["break"]),
    (Kind::Return, &["return"]),
    (Kind::LocalLabel, &["__label__"]),
    (Kind::SizeOf, &["sizeof"]),
    (Kind::AlignOf, &["_Alignof", "__alignof", "__alignof__"]),
    (Kind::Generic, &["_Generic"]),
    (Kind::OffsetOf, &["__builtin_offsetof"]),
    (Kind::VaArg, &["__builtin_va_arg"]),
    (Kind::TypesCompatible, &["__builtin_types_compatible_p"]),
    (Kind::Real, &["__real", "__real__"]),
    (Kind::Imaginary, &["__imag", "__imag__"]),
];

/// Words that are keywords in C23 or for some compilers, and names elsewhere.
const SOFT_KEYWORDS: &[(Kind, &[&str])] = &[
    (Kind::ThreadLocal, &["thread_local"]),
    (Kind::Constexpr, &["constexpr"]),
    (Kind::Bool, &["bool"]),
    (Kind::Int128, &["__int128_t"]),
    (Kind::UnsignedInt128, &["__uint128_t"]),
    (Kind::VaList, &["__builtin_va_list"]),
    (Kind::OtherType, OTHER_TYPES),
    (Kind::OtherQualifier, OTHER_QUALIFIERS),
    (Kind::TypeOf, &["typeof"]),
    (Kind::TypeOfUnqualified, &["typeof_unqual"]),
    (Kind::AlignAs, &["alignas"]),
    (Kind::AlignOf, &["alignof"]),
    (Kind::StaticAssert, &["static_assert"]),
    (Kind::Declspec, &["__declspec"]),
    (Kind::True, &["true"]),
    (Kind::False, &["false"]),
    (Kind::Nullptr, &["nullptr"]),
];

/// Types that some compilers have on some machines.
const OTHER_TYPES: &[&str] = &[
    "_Float16",
    "_Float32",
    "_Float32x",
    "_Float64",
    "_Float64x",
    "_Float128",
    "_Float128x",
    "_Decimal32",
    "_Decimal64",
    "_Decimal64x",
    "_Decimal128",
    "__float80",
    "__float128",
    "__ibm128",
    "__ieee128",
    "__bf16",
    "__fp16",
    "_Imaginary",
    "_Accum",
    "_Fract",
    "_Sat",
];

/// Qualifiers that some compilers have.
const OTHER_QUALIFIERS: &[&str] =
    &["__seg_fs", "__seg_gs", "_Nonnull", "_Nullable", "_Null_unspecified", "__unaligned", "__flash"];

type Words = FxHashMap<&'static str, (Kind, bool)>;

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let rows = |table: &'static [(Kind, &[&'static str])], soft: bool| {
        table.iter().flat_map(move |(kind, words)| words.iter().map(move |w| (*w, (*kind, soft))))
    };
    rows(KEYWORDS, false).chain(rows(SOFT_KEYWORDS, true)).collect()
});

/// Returns the kind of a word, and whether programs may declare it as a name.
pub(super) fn word(text: &str) -> (Kind, bool) {
    WORDS.get(text).copied().unwrap_or((Kind::Identifier, false))
}

/// Returns the keywords that standard C has, to compare a misspelt word with.
pub(super) fn standard_keywords() -> impl Iterator<Item = &'static str> {
    let words = KEYWORDS.iter().flat_map(|(_, words)| words.iter().copied());
    words.filter(|w| !w.starts_with('_'))
}

/// Punctuators, longer ones before their beginnings, with digraphs.
pub(super) const PUNCTUATORS: &[(&str, Kind)] = &[
    ("<<=", Kind::AssignShiftLeft),
    (">>=", Kind::AssignShiftRight),
    ("...", Kind::Ellipsis),
    ("->", Kind::Arrow),
    ("++", Kind::Increment),
    ("--", Kind::Decrement),
    ("<<", Kind::ShiftLeft),
    (">>", Kind::ShiftRight),
    ("<=", Kind::LessOrEqual),
    (">=", Kind::GreaterOrEqual),
    ("==", Kind::Equals),
    ("!=", Kind::NotEquals),
    ("&&", Kind::And),
    ("||", Kind::Or),
    ("*=", Kind::AssignMultiply),
    ("/=", Kind::AssignDivide),
    ("%=", Kind::AssignModulo),
    ("+=", Kind::AssignPlus),
    ("-=", Kind::AssignMinus),
    ("&=", Kind::AssignAnd),
    ("^=", Kind::AssignXor),
    ("|=", Kind::AssignOr),
    ("<:", Kind::LeftBracket),
    (":>", Kind::RightBracket),
    ("<%", Kind::LeftBrace),
    ("%>", Kind::RightBrace),
    ("(", Kind::LeftParen),
    (")", Kind::RightParen),
    ("[", Kind::LeftBracket),
    ("]", Kind::RightBracket),
    ("{", Kind::LeftBrace),
    ("}", Kind::RightBrace),
    (".", Kind::Dot),
    ("&", Kind::Ampersand),
    ("*", Kind::Star),
    ("+", Kind::Plus),
    ("-", Kind::Minus),
    ("~", Kind::Tilde),
    ("!", Kind::Exclamation),
    ("/", Kind::Slash),
    ("%", Kind::Percent),
    ("<", Kind::Less),
    (">", Kind::Greater),
    ("^", Kind::Caret),
    ("|", Kind::Bar),
    ("?", Kind::Question),
    (":", Kind::Colon),
    (";", Kind::Semicolon),
    (",", Kind::Comma),
    ("=", Kind::Assign),
];

impl Kind {
    /// Returns the sign of a punctuator, or a word for a kind of token, as messages have it.
    pub(super) fn symbol(self) -> String {
        let sign = PUNCTUATORS.iter().filter(|p| p.1 == self).map(|p| p.0).next_back();
        let word = || KEYWORDS.iter().find(|k| k.0 == self).map(|k| k.1[0]);
        match sign.or_else(word) {
            Some(text) => format!("`{text}`"),
            None => "a name".into(),
        }
    }

    /// Returns whether it is a bracket that opens.
    pub(super) fn opens(self) -> bool {
        matches!(self, Kind::LeftParen | Kind::LeftBracket | Kind::LeftBrace)
    }

    /// Returns the bracket that a closing bracket closes.
    pub(super) fn opened_by(self) -> Option<Kind> {
        match self {
            Kind::RightParen => Some(Kind::LeftParen),
            Kind::RightBracket => Some(Kind::LeftBracket),
            Kind::RightBrace => Some(Kind::LeftBrace),
            _ => None,
        }
    }
}
