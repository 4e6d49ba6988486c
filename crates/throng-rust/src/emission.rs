//! What the compiler made of a program.

use std::path::PathBuf;

use throng_lang::source::Diagnostic;

use crate::process::{self, Done};

/// One crate in LLVM IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The crate.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The LLVM IR of a program, and how it came to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emission {
    /// The crates; that of the user is the last one.
    pub modules: Vec<Module>,
    /// The files of the user's crate that the compiler read.
    pub files: Vec<PathBuf>,
    /// The folder that relative paths in it start from.
    pub folder: PathBuf,
    /// The compiler, in one line.
    pub version: String,
    /// What the compiler said: warnings, as they are.
    pub messages: String,
    /// The folder in which results are kept for the next call, if there is one.
    pub kept: Option<PathBuf>,
    /// Whether LLVM refused the passes, so that nothing is inlined.
    pub bare: bool,
}

impl Emission {
    /// The name of the user's crate.
    pub fn crate_name(&self) -> &str {
        self.modules.last().map_or("", |module| &module.name)
    }
}

/// Returns what a run of a compiler says that failed.
pub(crate) fn refused(program: &str, done: &Done) -> Diagnostic {
    let said = done.stderr.trim_end();
    // As it is: a shortened compiler error is of no use.
    Diagnostic { message: format!("`{program}` failed:\n{said}"), ..Diagnostic::whole("E842", "") }
}

pub(crate) fn not_run(program: &str, why: &process::Failure) -> Diagnostic {
    let hint = "install Rust (https://rustup.rs)";
    match why {
        process::Failure::NotStarted(why) => {
            Diagnostic::whole("E841", format!("`{program}` cannot be started: {why}")).hint(hint)
        }
        process::Failure::TooLong(limit) => {
            Diagnostic::whole("E842", format!("`{program}` took longer than {limit:?}"))
        }
    }
}

/// Returns the files that a file of dependencies names, which rustc writes for `make`.
pub(crate) fn files_of(dependencies: &str) -> Vec<PathBuf> {
    let first = dependencies.lines().next().unwrap_or_default();
    let names = first.split_once(": ").map_or("", |(_, names)| names);
    // A space in a name has a backslash before it.
    let escaped = names.replace("\\ ", "\0");
    escaped.split_whitespace().map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_files_of_dependencies_may_have_spaces() {
        let text = "a.ll: my\\ lock.rs b.rs\n\nb.rs:\n";
        assert_eq!(files_of(text), [PathBuf::from("my lock.rs"), PathBuf::from("b.rs")]);
        assert!(files_of("").is_empty());
    }
}
