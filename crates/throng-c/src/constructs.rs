//! What the reader does with each attribute and pragma.
//!
//! There are three cases and no fourth: a construct is understood, it has no effect on what a
//! program does, or it is refused by name. Names that are in no table are refused.

/// What an attribute stands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// A structure or union.
    Structure,
    /// An enumeration.
    Enumeration,
    /// A member of a structure or union.
    Member,
    /// A `typedef`.
    Type,
    /// A variable of the file scope, or one of a function that is `static` or `extern`.
    Variable,
    /// Another variable of a function.
    Local,
    /// A function.
    Function,
    /// A parameter, a pointer, a statement, a label or an enumerator.
    Other,
}

use On::{Enumeration, Function, Local, Member, Other, Structure, Type, Variable};

/// Attributes that are understood, and on what; elsewhere they are refused.
pub const ATTRIBUTES_UNDERSTOOD: &[(&str, &[On])] = &[
    ("alias", &[Function]),
    ("aligned", &[Structure, Member, Type, Variable, Local, Function]),
    ("cleanup", &[Local]),
    ("constructor", &[Function]),
    ("destructor", &[Function]),
    ("mode", &[Member, Type, Variable, Local]),
    ("noreturn", &[Function, Member, Type, Variable, Local, Other]),
    ("packed", &[Structure, Member, Enumeration]),
    ("section", &[Variable, Function, Local]),
    ("transparent_union", &[Structure, Type]),
    ("vector_size", &[Member, Type, Variable, Local]),
    ("weak", &[Function, Variable]),
];

/// Attributes without effect: hints for the optimiser, for warnings, for the linker and debuggers.
pub const ATTRIBUTES_WITHOUT_EFFECT: &[&str] = &[
    "access",
    "alloc_align",
    "alloc_size",
    "always_inline",
    "artificial",
    "assume_aligned",
    "cf_check",
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
    "flag_enum",
    "flatten",
    "force_align_arg_pointer",
    "format",
    "format_arg",
    "function_return",
    "gcc_struct",
    "gnu_inline",
    "hot",
    "indirect_branch",
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
    "nocf_check",
    "noclone",
    "nocommon",
    "nodiscard",
    "noinline",
    "noipa",
    "nonnull",
    "nonnull_if_nonzero",
    "nonstring",
    "noplt",
    "nothrow",
    "null_terminated_string_arg",
    "optimize",
    "patchable_function_entry",
    "pure",
    "regparm",
    "reproducible",
    "retain",
    "returns_nonnull",
    "returns_twice",
    "sentinel",
    "stack_protect",
    "strict_flex_array",
    "target",
    "target_clones",
    "tls_model",
    "unavailable",
    "uninitialized",
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

/// Attributes that change layout, lifetime, linkage or meaning of what they stand on, and are not
/// modelled: what they stand on is refused where it is used.
pub const ATTRIBUTES_REFUSED: &[&str] = &[
    "assume",
    "copy",
    "dllexport",
    "dllimport",
    "ifunc",
    "interrupt",
    "ms_struct",
    "naked",
    "noinit",
    "persistent",
    "scalar_storage_order",
    "simd",
    "symver",
    "weakref",
];

/// Pragmas without effect, by their first words. `#pragma pack` is understood; all others are
/// refused where they stand.
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

/// Instructions in assembly that do nothing which sequential consistency could show: hints, and
/// fences.
pub const ASSEMBLY_WITHOUT_EFFECT: &[&str] =
    &["dmb ish", "isb", "lfence", "mfence", "nop", "pause", "rep", "rep nop", "sfence", "yield"];

/// Sections whose functions run before or after `main`.
const SECTIONS_THAT_RUN: [&str; 3] = ["_array", "ctors", "dtors"];

/// What an attribute means for what it stands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It changes nothing that a run of the program could show.
    None,
    /// It is understood.
    Understood,
    /// It is refused.
    Refused,
}

/// Returns what an attribute means, by its name without underscores around it and by what is in its
/// brackets.
pub fn attribute(name: &str, argument: &str, on: On) -> Effect {
    if name == "section" && SECTIONS_THAT_RUN.iter().any(|s| argument.contains(s)) {
        return Effect::Refused;
    }
    match ATTRIBUTES_UNDERSTOOD.iter().find(|row| row.0 == name) {
        Some((_, places)) if places.contains(&on) => Effect::Understood,
        None if ATTRIBUTES_WITHOUT_EFFECT.contains(&name) => Effect::None,
        // Unknown attributes are among them.
        _ => Effect::Refused,
    }
}

/// Returns a name without the underscores around it.
pub fn bare(name: &str) -> &str {
    name.strip_prefix("__").and_then(|n| n.strip_suffix("__")).unwrap_or(name)
}

/// Returns whether a pragma other than `pack` has no effect.
pub fn is_pragma_without_effect(text: &str) -> bool {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    PRAGMAS_WITHOUT_EFFECT.iter().any(|known| {
        let known: Vec<&str> = known.split(' ').collect();
        words.starts_with(&known)
    })
}
