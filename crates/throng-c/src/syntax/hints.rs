//! What a message suggests: the header of a type or macro, the keyword that was meant.

use super::parser::Parser;
use super::token::{Kind, Token, standard_keywords};

/// Well-known types and the headers that declare them.
const TYPES: &[(&str, &[&str])] = &[
    (
        "pthread.h",
        &[
            "pthread_t",
            "pthread_attr_t",
            "pthread_barrier_t",
            "pthread_barrierattr_t",
            "pthread_cond_t",
            "pthread_condattr_t",
            "pthread_key_t",
            "pthread_mutex_t",
            "pthread_mutexattr_t",
            "pthread_once_t",
            "pthread_rwlock_t",
            "pthread_rwlockattr_t",
            "pthread_spinlock_t",
        ],
    ),
    ("threads.h", &["thrd_t", "thrd_start_t", "mtx_t", "cnd_t", "tss_t", "tss_dtor_t", "once_flag"]),
    ("semaphore.h", &["sem_t"]),
    ("stddef.h", &["size_t", "ptrdiff_t", "wchar_t", "max_align_t", "nullptr_t"]),
    (
        "stdint.h",
        &[
            "int8_t",
            "int16_t",
            "int32_t",
            "int64_t",
            "uint8_t",
            "uint16_t",
            "uint32_t",
            "uint64_t",
            "int_fast8_t",
            "int_fast16_t",
            "int_fast32_t",
            "int_fast64_t",
            "uint_fast8_t",
            "uint_fast16_t",
            "uint_fast32_t",
            "uint_fast64_t",
            "int_least8_t",
            "int_least16_t",
            "int_least32_t",
            "int_least64_t",
            "uint_least8_t",
            "uint_least16_t",
            "uint_least32_t",
            "uint_least64_t",
            "intptr_t",
            "uintptr_t",
            "intmax_t",
            "uintmax_t",
        ],
    ),
    (
        "stdatomic.h",
        &[
            "atomic_bool",
            "atomic_char",
            "atomic_schar",
            "atomic_uchar",
            "atomic_short",
            "atomic_ushort",
            "atomic_int",
            "atomic_uint",
            "atomic_long",
            "atomic_ulong",
            "atomic_llong",
            "atomic_ullong",
            "atomic_flag",
            "atomic_size_t",
            "atomic_ptrdiff_t",
            "atomic_intptr_t",
            "atomic_uintptr_t",
            "atomic_intmax_t",
            "atomic_uintmax_t",
            "atomic_int_fast32_t",
            "atomic_int_fast64_t",
            "atomic_uint_fast32_t",
            "atomic_uint_fast64_t",
            "memory_order",
        ],
    ),
    ("stdio.h", &["FILE", "fpos_t"]),
    ("stdarg.h", &["va_list"]),
    ("stdlib.h", &["div_t", "ldiv_t", "lldiv_t"]),
    ("setjmp.h", &["jmp_buf", "sigjmp_buf"]),
    ("signal.h", &["sig_atomic_t", "sigset_t", "siginfo_t", "stack_t"]),
    ("time.h", &["time_t", "clock_t", "clockid_t", "timer_t"]),
    (
        "sys/types.h",
        &["ssize_t", "pid_t", "uid_t", "gid_t", "off_t", "mode_t", "dev_t", "ino_t", "useconds_t"],
    ),
    ("sys/socket.h", &["socklen_t", "sa_family_t"]),
    ("netinet/in.h", &["in_addr_t", "in_port_t"]),
    ("dirent.h", &["DIR"]),
    ("sched.h", &["cpu_set_t"]),
    ("locale.h", &["locale_t"]),
    ("wchar.h", &["mbstate_t", "wint_t"]),
    ("uchar.h", &["char8_t", "char16_t", "char32_t"]),
    ("complex.h", &["complex"]),
    ("regex.h", &["regex_t", "regmatch_t"]),
    ("poll.h", &["nfds_t"]),
    ("termios.h", &["tcflag_t", "speed_t"]),
    ("ucontext.h", &["ucontext_t"]),
    ("fenv.h", &["fenv_t", "fexcept_t"]),
    ("math.h", &["float_t", "double_t"]),
];

/// Macros that take types, or stand for words of the language, and their headers.
const MACROS: &[(&str, &str)] = &[
    ("va_arg", "stdarg.h"),
    ("offsetof", "stddef.h"),
    ("noreturn", "stdnoreturn.h"),
    ("atomic_init", "stdatomic.h"),
    ("assert", "assert.h"),
];

/// Words of C++ that begin what C does not have.
const CPLUSPLUS: &[&str] = &["class", "template", "namespace", "using", "virtual"];

/// Returns the header that declares a well-known type.
pub(super) fn header_of(name: &str) -> Option<&'static str> {
    TYPES.iter().find(|(_, types)| types.contains(&name)).map(|(header, _)| *header)
}

/// Returns the hint for a name that is not known.
pub(super) fn for_unknown(name: &str) -> Option<String> {
    include(name).or_else(|| misspelt(name).map(meant))
}

/// Returns the hint to include what declares a name.
fn include(name: &str) -> Option<String> {
    let listed = MACROS.iter().find(|m| m.0 == name).map(|m| m.1);
    header_of(name).or(listed).map(|header| format!("add `#include <{header}>`"))
}

fn meant(word: &str) -> String {
    format!("did you mean `{word}`?")
}

/// Returns the keyword that differs from a name in one letter, or in the order of two.
fn misspelt(name: &str) -> Option<&'static str> {
    standard_keywords().find(|w| is_close(name.as_bytes(), w.as_bytes()))
}

/// Returns whether two words differ by one letter, which may be missing, or by two in other order;
/// short words only by the latter.
fn is_close(a: &[u8], b: &[u8]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.len() > short.len() + 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    let (short, long) = (&short[same..], &long[same..]);
    match (short, long) {
        ([a, b, rest @ ..], [c, d, others @ ..]) if a == d && b == c => rest == others,
        (_, []) => false,
        _ if a.len() < 4 || b.len() < 4 => false,
        _ if short.len() < long.len() => short == &long[1..],
        _ => short.get(1..) == long.get(1..),
    }
}

impl Parser<'_> {
    /// Returns a hint for an error here: what the name before it, or it itself, may be.
    pub(super) fn hint(&self) -> Option<String> {
        self.hint_about(self.at).or_else(|| self.hint_about(self.at.checked_sub(1)?))
    }

    fn hint_about(&self, index: usize) -> Option<String> {
        let name = self.spelling(index);
        if self.kind_of(index) != Kind::Identifier || self.scopes.is_declared(name) {
            return None;
        }
        for_unknown(name)
    }

    /// Suggests the header of a macro that takes types, after an error in what looks like a call.
    pub(super) fn suggest_header(&mut self, callee: &str) {
        if let Some(hint) = include(callee).filter(|_| !self.scopes.is_declared(callee)) {
            self.errors.suggest(hint);
        }
    }

    /// Suggests the keyword that the first word of a statement with an error may be.
    pub(super) fn suggest_keyword(&mut self, first: usize) {
        let name = self.spelling(first);
        if self.kind_of(first) == Kind::Identifier
            && !self.scopes.is_declared(name)
            && let Some(word) = misspelt(name)
        {
            self.errors.suggest(meant(word));
        }
    }
}

/// Returns whether a text that is not C has signs of C++.
pub(super) fn is_cplusplus(text: &str, tokens: &[Token]) -> bool {
    let spelling = |t: &Token| &text[t.start as usize..t.end as usize];
    let word = |w: &[Token]| CPLUSPLUS.contains(&spelling(&w[0])) && follows(w[1].kind);
    // Attributes have scopes too.
    let qualified = |w: &[Token]| {
        let colons = w[2].kind == Kind::Colon && w[3].kind == Kind::Colon && w[2].end == w[3].start;
        let attribute = matches!(w[0].kind, Kind::LeftBracket | Kind::Comma);
        colons && !attribute && w[1].kind == Kind::Identifier && w[4].kind == Kind::Identifier
    };
    let linkage = |w: &[Token]| w[0].kind == Kind::Extern && w[1].kind == Kind::Text;
    tokens.windows(2).any(|w| word(w) || linkage(w)) || tokens.windows(5).any(qualified)
}

/// Returns whether a token follows a word of C++, and not a name of C.
fn follows(kind: Kind) -> bool {
    matches!(kind, Kind::Identifier | Kind::Less | Kind::Void | Kind::Int | Kind::Char | Kind::Bool)
}
