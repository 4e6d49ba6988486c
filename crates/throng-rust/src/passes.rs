//! The flags of rustc: what is compiled, and which passes LLVM runs over it.

use std::path::Path;

/// Flags of both runs: every function that is written is compiled, used or not; arithmetic is
/// checked; variables, types and lines are described.
const COMMON: [&str; 6] = [
    "codegen-units=1",
    "debug-assertions=off",
    "overflow-checks=on",
    "debuginfo=2",
    "symbol-mangling-version=v0",
    "no-prepopulate-passes",
];

/// The passes of LLVM, in order.
///
/// None of them looks at more than one read or write of shared memory at a time. `simplifycfg` is
/// not among them: it merges stores of two branches, and drops a branch into
/// `unreachable_unchecked`. A panic is a violation where it begins, so what unwinding does is not
/// needed: `lower-invoke` drops the edges there, and `unreachableblockelim` the blocks.
pub const PASSES: [&str; 6] =
    ["forceattrs", "lower-invoke", "unreachableblockelim", "inline", "sroa", "unreachableblockelim"];

/// Everything is inlined that is not recursive and not kept whole; what is larger is called.
const LARGEST: &str = "inline-threshold=20000";

/// What one run of rustc is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Run<'a> {
    /// Nothing is inlined: the run says which functions there are.
    Listing,
    /// Like that, with the code of functions that other crates have compiled, too.
    Instances,
    /// The passes run; the file names the functions that are kept whole, as LLVM reads it.
    Reading(&'a Path),
}

/// Returns the flags of a run.
pub fn flags(run: Run<'_>) -> Vec<String> {
    let mut flags: Vec<String> = COMMON.iter().flat_map(|flag| codegen(flag)).collect();
    flags.extend(codegen(if run == Run::Instances { "opt-level=2" } else { "opt-level=0" }));
    if let Run::Reading(whole) = run {
        flags.extend(codegen(&format!("passes={}", PASSES.join(","))));
        flags.extend(codegen(&format!("llvm-args=-{LARGEST}")));
        flags.extend(codegen(&format!("llvm-args=-forceattrs-csv-path={}", whole.display())));
    }
    flags
}

/// The flag by which functions are compiled that nothing calls.
pub fn all_functions() -> Vec<String> {
    codegen("link-dead-code=yes")
}

fn codegen(flag: &str) -> Vec<String> {
    vec!["-C".into(), flag.into()]
}

/// Returns whether rustc fails because its LLVM does not know a pass or an option of ours, which is
/// not the fault of the program.
pub fn are_refused(stderr: &str) -> bool {
    ["failed to run LLVM passes", "Unknown command line argument", "unknown pass name"]
        .iter()
        .any(|message| stderr.contains(message))
}
