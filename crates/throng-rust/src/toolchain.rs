//! Which compiler there is.

use std::process::Command;
use std::time::Duration;

use throng_lang::source::Diagnostic;

use crate::process;

/// The compiler that is used, and what it says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toolchain {
    /// The program: `rustc`, or what `RUSTC` names.
    pub rustc: String,
    /// The version in one line: `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub version: String,
    /// The platform that it compiles for, if nothing else is asked.
    pub host: String,
}

/// What to do where there is no compiler.
const INSTALL: &str = "install Rust (https://rustup.rs), or name the compiler in `RUSTC`";

impl Toolchain {
    /// Asks the compiler.
    pub fn find() -> Result<Toolchain, Diagnostic> {
        let rustc = named("RUSTC", "rustc");
        let done = process::run(Command::new(&rustc).arg("-vV"), Duration::from_secs(60))
            .map_err(|why| missing(&rustc, &why.to_string()))?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        match (said.lines().next(), host) {
            (Some(version), Some(host)) if done.succeeded => {
                Ok(Toolchain { rustc, version: version.into(), host: host.into() })
            }
            _ => Err(missing(&rustc, done.stderr.trim())),
        }
    }
}

/// Returns the program that a variable of the environment names, or the usual one.
pub(crate) fn named(variable: &str, usual: &str) -> String {
    std::env::var(variable).ok().filter(|v| !v.trim().is_empty()).unwrap_or_else(|| usual.into())
}

fn missing(program: &str, why: &str) -> Diagnostic {
    Diagnostic::whole("E841", format!("`{program}` cannot be started: {why}")).hint(INSTALL)
}
