//! Functions of the library that are written in C: what they mean is what their code says.
//!
//! A file is parsed when one of its functions is called and not defined by the program. The code
//! stands in place of the call (`lower/prelude.rs`), and none of it assigns to a parameter or has a
//! label.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::syntax::ast::TranslationUnit;

/// The files, by name.
const FILES: &[(&str, &str)] = &[
    ("ctype.c", include_str!("../../library/ctype.c")),
    ("exit.c", include_str!("../../library/exit.c")),
    ("input.c", include_str!("../../library/input.c")),
    ("memory.c", include_str!("../../library/memory.c")),
    ("numbers.c", include_str!("../../library/numbers.c")),
    ("print.c", include_str!("../../library/print.c")),
    ("tables.c", include_str!("../../library/tables.c")),
    ("sort.c", include_str!("../../library/sort.c")),
    ("text.c", include_str!("../../library/text.c")),
];

/// Returns for each function the number of the file that defines it.
fn index() -> &'static HashMap<&'static str, usize> {
    static INDEX: OnceLock<HashMap<&'static str, usize>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut found = HashMap::new();
        for (n, (_, text)) in FILES.iter().enumerate() {
            found.extend(text.lines().filter_map(defined).map(|name| (name, n)));
        }
        found
    })
}

/// Returns the function that a line begins to define, for programs to call.
fn defined(line: &str) -> Option<&str> {
    let before = line.strip_suffix(['{', ','])?.split_once('(')?.0;
    let is_head = !line.starts_with(|c: char| c.is_whitespace()) && !line.starts_with("static ");
    let name = before.rsplit([' ', '*']).next()?;
    is_head.then_some(name)
}

/// Returns whether a compiled program can call the function of the compiler's library in its place:
/// it takes no inputs, and calls no function of the program.
pub(crate) fn is_pure(name: &str) -> bool {
    const OPEN: [&str; 3] = ["exit.c", "input.c", "sort.c"];
    const CHOICES: [&str; 3] = ["mkstemp", "mkdtemp", "strtok"];
    index().get(name).is_some_and(|&n| !OPEN.contains(&FILES[n].0)) && !CHOICES.contains(&name)
}

/// The function that takes note of others, which are called where the process exits.
pub(crate) const AT_EXIT: &str = "atexit";
/// The function that calls those.
pub(crate) const EXIT: &str = "__throng_exit";

/// Returns the function that is called where waits end only when they are woken, beside the one that
/// calls the kernel.
pub(crate) fn exact_futex(kernel: &str) -> String {
    kernel.replace(":syscall", ":__throng_futex")
}

/// Returns whether a function, by its name among the definitions, is the one that calls the kernel.
pub(crate) fn is_system_call(function: &str) -> bool {
    function.ends_with(":syscall")
}

/// Returns whether C leaves open in which order a function, by its name among the definitions,
/// compares.
pub(crate) fn is_sorting(function: &str) -> bool {
    function.ends_with(":qsort")
}

/// Returns whether a function is written in C here.
pub(crate) fn defines(name: &str) -> bool {
    index().contains_key(name)
}

/// Returns all functions that are written in C here.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = index().keys().copied().collect();
    names.sort_unstable();
    names
}

/// The trees of the files that a program needs.
#[derive(Default)]
pub(crate) struct Prelude {
    trees: [OnceLock<TranslationUnit>; FILES.len()],
}

impl Prelude {
    /// Returns the number of files.
    pub(crate) fn files(&self) -> usize {
        self.trees.len()
    }

    /// Returns the number, name and tree of the file that defines a function. Offsets in it are
    /// those of no passage of the program, which ends at `end`.
    pub(crate) fn file(&self, function: &str, end: usize) -> Option<(usize, &'static str, &TranslationUnit)> {
        let n = *index().get(function)?;
        let (name, text) = FILES[n];
        let before: usize = FILES[..n].iter().map(|(_, text)| text.len()).sum();
        let parse = || {
            let padded = " ".repeat(end + before) + text;
            let tree = crate::syntax::parse(&padded, end + before..padded.len());
            tree.unwrap_or_else(|why| unreachable!("{name}: {why:?}"))
        };
        Some((n, name, self.trees[n].get_or_init(parse)))
    }
}
