//! What the reader does with each attribute, pragma and keyword that the parser does not see.
//!
//! There are three cases and no fourth: a construct is modelled, it has no effect on what a program
//! does, or it is refused by name. Names that are in no table are refused.

/// What a construct means for the program that it stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It changes nothing that a run of the program could show.
    None,
    /// It changes what it stands on, which is refused where the program uses it.
    OnUse,
    /// It changes the program though nothing refers to it, so that it is refused where it stands.
    AtOnce,
}

/// Attributes without effect: hints for the optimiser, for warnings, for the linker and debuggers.
pub const ATTRIBUTES_WITHOUT_EFFECT: &[&str] = &[
    "access",
    "alloc_align",
    "alloc_size",
    "always_inline",
    "artificial",
    "assume_aligned",
    "cold",
    "common",
    "const",
    "counted_by",
    "deprecated",
    "designated_init",
    "error",
    "externally_visible",
    "fallthrough",
    "fd_arg",
    "fd_arg_read",
    "fd_arg_write",
    "flatten",
    "flag_enum",
    "format",
    "format_arg",
    "gnu_inline",
    "hot",
    "leaf",
    "malloc",
    "may_alias",
    "maybe_unused",
    "musttail",
    "no_icf",
    "no_instrument_function",
    "no_profile_instrument_function",
    "no_reorder",
    "no_sanitize",
    "no_sanitize_address",
    "no_sanitize_thread",
    "no_sanitize_undefined",
    "no_split_stack",
    "no_stack_limit",
    "no_stack_protector",
    "noclone",
    "nocommon",
    "nodiscard",
    "noinline",
    "noipa",
    "nonnull",
    "nonstring",
    "noplt",
    "noreturn",
    "nothrow",
    "null_terminated_string_arg",
    "optimize",
    "patchable_function_entry",
    "pure",
    "reproducible",
    "retain",
    "returns_nonnull",
    "returns_twice",
    "sentinel",
    "stack_protect",
    "target",
    "target_clones",
    "tls_model",
    "unavailable",
    "unsequenced",
    "unused",
    "used",
    "visibility",
    "warn_if_not_aligned",
    "warn_unused",
    "warn_unused_result",
    "warning",
    "zero_call_used_regs",
];

/// Attributes of whole structures that are modelled. Elsewhere they are refused on use.
pub const ATTRIBUTES_OF_STRUCTURES: &[&str] = &["packed", "aligned"];

/// Attributes that change layout, lifetime, linkage or meaning of what they stand on.
pub const ATTRIBUTES_REFUSED_ON_USE: &[&str] = &[
    "alias",
    "aligned",
    "assume",
    "cleanup",
    "copy",
    "dllimport",
    "gcc_struct",
    "ifunc",
    "interrupt",
    "mode",
    "ms_struct",
    "naked",
    "noinit",
    "packed",
    "persistent",
    "scalar_storage_order",
    "simd",
    "strict_flex_array",
    "symver",
    "transparent_union",
    "uninitialized",
    "vector_size",
    "weak",
    "weakref",
];

/// Attributes of functions that run though nothing calls them.
pub const ATTRIBUTES_REFUSED_AT_ONCE: &[&str] = &["constructor", "destructor"];

/// Pragmas without effect, by their first words.
pub const PRAGMAS_WITHOUT_EFFECT: &[&str] = &[
    "GCC dependency",
    "GCC diagnostic",
    "GCC error",
    "GCC ivdep",
    "GCC optimize",
    "GCC poison",
    "GCC pop_options",
    "GCC push_options",
    "GCC reset_options",
    "GCC system_header",
    "GCC target",
    "GCC unroll",
    "GCC visibility",
    "GCC warning",
    "STDC",
    "clang",
    "endregion",
    "ident",
    "mark",
    "merger",
    "message",
    "once",
    "pop_macro",
    "push_macro",
    "region",
    "unroll",
    "warning",
];

/// The pragma that packs the structures which follow it: they are refused where they are used.
pub const PACK: &str = "pack";

/// Words for types that are not modelled, and what the parser reads in their place.
pub const REFUSED_TYPES: &[(&str, &str)] = &[
    ("__int128", "long"),
    ("__int128_t", "long"),
    ("__uint128_t", "unsigned long"),
    ("_Complex", " "),
    ("__complex__", " "),
    ("__complex", " "),
    ("_Imaginary", " "),
    ("_Float16", "float"),
    ("__bf16", "float"),
    ("__fp16", "float"),
    ("__float80", "double"),
    ("__ibm128", "double"),
    ("_Decimal32", "float"),
    ("_Decimal64", "double"),
    ("_Decimal128", "double"),
    ("_Accum", "int"),
    ("_Fract", "int"),
    ("_Sat", " "),
    ("__seg_fs", " "),
    ("__seg_gs", " "),
];

/// Words for types with something in brackets, and what the parser reads in place of both.
pub const REFUSED_TYPES_WITH_BRACKETS: &[(&str, &str)] = &[("_BitInt", "int"), ("_Alignas", " ")];

/// Words that are refused where they stand.
pub const REFUSED_WORDS: &[&str] = &[
    "_Pragma",
    "__builtin_convertvector",
    "__imag",
    "__imag__",
    "__label__",
    "__real",
    "__real__",
    "__transaction_atomic",
    "__transaction_relaxed",
];

/// Sections whose functions run before or after `main`.
const SECTIONS_THAT_RUN: [&str; 3] = ["_array", "ctors", "dtors"];

/// Returns the effect of an attribute, which may be written with two underscores on either side,
/// and its argument.
pub fn attribute(name: &str, argument: &str) -> Effect {
    let name = bare(name);
    let runs = || SECTIONS_THAT_RUN.iter().any(|s| argument.contains(s));
    match name {
        "section" if !runs() => Effect::None,
        "section" => Effect::AtOnce,
        _ if ATTRIBUTES_WITHOUT_EFFECT.contains(&name) => Effect::None,
        _ if ATTRIBUTES_REFUSED_AT_ONCE.contains(&name) => Effect::AtOnce,
        // Unknown attributes are among them.
        _ => Effect::OnUse,
    }
}

/// Returns the name of an attribute without the underscores around it.
pub fn bare(name: &str) -> &str {
    name.strip_prefix("__").and_then(|n| n.strip_suffix("__")).unwrap_or(name)
}

/// Returns the effect of a pragma other than [`PACK`].
pub fn pragma(text: &str) -> Effect {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let begins = |known: &&str| {
        let known: Vec<&str> = known.split(' ').collect();
        words.starts_with(&known)
    };
    if PRAGMAS_WITHOUT_EFFECT.iter().any(begins) { Effect::None } else { Effect::AtOnce }
}
