//! What crates cannot express about the architecture (ARCHITECTURE.md): which crate may depend on
//! which, who may not touch the outside world, and the order of modules within a crate.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All crates, and those of the project that each may depend on. The order is that of the house: a
/// crate depends on earlier ones alone.
const CRATES: &[(&str, &[&str])] = &[
    ("throng-model", &[]),
    ("throng-memory", &[]),
    ("throng-lang", &["throng-model", "throng-memory"]),
    ("throng-check", &["throng-model", "throng-lang"]),
    // Neither C nor an engine.
    ("throng-goto", &["throng-model", "throng-memory", "throng-lang"]),
    ("throng-goto-check", &["throng-model", "throng-memory", "throng-lang", "throng-check", "throng-goto"]),
    // It solves; what it finds out is checked.
    ("throng-static", &["throng-model", "throng-lang", "throng-check", "throng-goto", "throng-goto-check"]),
    ("throng-c", &["throng-model", "throng-lang", "throng-goto"]),
    // Runs compilers; what their output means is another's business.
    ("throng-rust", &["throng-lang"]),
    ("throng-llvm", &["throng-model", "throng-lang", "throng-goto"]),
    ("throng-engine", &["throng-model", "throng-lang", "throng-check"]),
    (
        "throng-abstract",
        &["throng-model", "throng-lang", "throng-check", "throng-goto", "throng-goto-check", "throng-engine"],
    ),
    (
        "throng",
        &[
            "throng-model",
            "throng-memory",
            "throng-lang",
            "throng-check",
            "throng-goto",
            "throng-goto-check",
            "throng-static",
            "throng-c",
            "throng-llvm",
            "throng-rust",
            "throng-engine",
            "throng-abstract",
        ],
    ),
    ("throng-lsp", &["throng-model", "throng-lang", "throng-engine", "throng"]),
    ("throng-cli", &["throng-model", "throng-lang", "throng-check", "throng-engine", "throng", "throng-lsp"]),
    (
        "throng-dev",
        &[
            "throng-model",
            "throng-memory",
            "throng-lang",
            "throng-check",
            "throng-engine",
            "throng",
            "throng-cli",
        ],
    ),
];

/// Crates that a verdict may rest on: they know neither an engine nor a front end for C.
const TRUSTED: &[&str] =
    &["throng-model", "throng-memory", "throng-lang", "throng-check", "throng-goto", "throng-goto-check"];

/// Crates that search.
const ENGINES: &[&str] = &["throng-engine", "throng-abstract", "throng-static", "throng"];

/// Crates that may print: the program, and the programs of development.
const PRINTS: &[&str] = &["throng-cli", "throng-dev"];

/// Folders and files that only compute: they neither read nor write files, print, start processes,
/// nor look at the environment.
const PURE: &[&str] = &[
    "throng-model/src",
    "throng-memory/src",
    "throng-check/src/rules.rs",
    "throng-check/src/rules",
    "throng-engine/src",
    "throng-abstract/src",
    "throng-goto/src",
    "throng-goto-check/src",
    "throng-static/src",
    "throng-c/src/lower.rs",
    "throng-c/src/lower",
    "throng-c/src/mutants.rs",
    "throng-c/src/mutants",
    "throng-c/src/replay.rs",
    "throng-c/src/replay",
    "throng-llvm/src/debug.rs",
    "throng-llvm/src/layout.rs",
    "throng-llvm/src/link.rs",
    "throng-llvm/src/lower.rs",
    "throng-llvm/src/lower",
    "throng-llvm/src/names.rs",
    "throng-llvm/src/syntax.rs",
    "throng-llvm/src/syntax",
    "throng/src/report.rs",
    "throng/src/report",
    "throng/src/template.rs",
    "throng/src/template",
];

/// A memory limit asks the system how much the process uses; a macro prints in the test that it is
/// written in; the name of a function that is modelled.
const EXCEPT: [&str; 3] = ["/proc/self/stat", "$crate::rust::Check::new", "\"std::process::"];

/// Modules, and others of the same crate that they must not use.
const BELOW: &[(&str, &[&str])] = &[
    // What engines build on knows none of them.
    ("throng-engine/src/quotient", &["auto", "registry", "views", "explicit"]),
    ("throng-engine/src/quotient.rs", &["auto", "registry", "views", "explicit"]),
    ("throng-engine/src/bdd.rs", &["auto", "registry", "symbolic"]),
    // The rules judge evidence about a model; they know no document and no language.
    ("throng-check/src/rules", &["certificate", "certify"]),
    ("throng-check/src/rules.rs", &["certificate", "certify"]),
    // Reading C is independent of what is done with the program afterwards.
    ("throng-c/src/lower.rs", &["replay", "mutants", "witness"]),
    ("throng-c/src/lower", &["replay", "mutants", "witness"]),
];

/// The folder with all crates.
fn folder() -> PathBuf {
    Path::new(throng_dev::ROOT).join("crates")
}

/// The names of all crates that there are.
fn crates() -> Vec<String> {
    let names = fs::read_dir(folder()).expect("a folder").map(|e| e.expect("entry").file_name());
    names.map(|name| name.into_string().expect("a plain name")).collect()
}

/// Finds a file or a folder below `crates/`, or says that it does not exist.
fn find(path: &str) -> Result<PathBuf, String> {
    let found = folder().join(path);
    if found.exists() { Ok(found) } else { Err(format!("{path} does not exist")) }
}

fn rust_files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            rust_files(&entry.expect("entry").path(), found);
        }
    } else if path.extension().is_some_and(|e| e == "rs") && path.file_stem().is_some_and(|s| s != "tests") {
        found.push(path.to_path_buf());
    }
}

/// The lines of code below a path in `crates/`, without tests and comments, each with its file.
fn code(path: &str) -> Result<Vec<(PathBuf, String)>, String> {
    let mut files = Vec::new();
    rust_files(&find(path)?, &mut files);
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
        lines.extend(code.map(|line| (file.clone(), line.to_string())));
    }
    if lines.is_empty() { Err(format!("{path} has no code")) } else { Ok(lines) }
}

/// Returns an error if code below the path contains one of the words.
fn without(path: &str, words: &[&str]) -> Result<(), String> {
    let bad = |(_, line): &&(PathBuf, String)| {
        words.iter().any(|word| line.contains(word)) && !EXCEPT.iter().any(|e| line.contains(e))
    };
    match code(path)?.iter().find(bad) {
        Some((file, line)) => Err(format!("{}: {line}", file.display())),
        None => Ok(()),
    }
}

/// Returns an error if a module uses one of the others of its crate, or if one of them does not
/// exist.
fn below(path: &str, above: &[&str]) -> Result<(), String> {
    let root = path.split("/src").next().unwrap_or_default();
    for module in above {
        find(&format!("{root}/src/{module}.rs")).or_else(|_| find(&format!("{root}/src/{module}")))?;
        if let Some((file, line)) = code(path)?.iter().find(|(_, line)| uses(line, module)) {
            return Err(format!("{}: {line}", file.display()));
        }
    }
    Ok(())
}

/// Returns whether a line names a module of its crate: `crate::module`, or `crate::{…, module}`.
fn uses(line: &str, module: &str) -> bool {
    let mut words = |c: char| !c.is_alphanumeric() && c != '_';
    line.split("crate::").skip(1).any(|rest| match rest.strip_prefix('{') {
        Some(list) => list.split(&mut words).any(|word| word == module),
        None => rest.split(&mut words).next() == Some(module),
    })
}

/// The crates of the project that a crate depends on, other than for its tests.
fn dependencies(name: &str) -> Result<BTreeSet<String>, String> {
    let text = fs::read_to_string(find(&format!("{name}/Cargo.toml"))?).expect("readable");
    let (mut found, mut counts) = (BTreeSet::new(), false);
    for line in text.lines() {
        if line.starts_with('[') {
            counts = line.ends_with("dependencies]") && !line.contains("dev-dependencies");
        } else if counts && line.starts_with("throng") {
            found.extend(line.split(['.', ' ', '=']).next().map(str::to_string));
        }
    }
    Ok(found)
}

/// Returns an error if a crate depends on one that is not among these.
fn depends_only(name: &str, allowed: &[&str]) -> Result<(), String> {
    for other in allowed {
        find(&format!("{other}/Cargo.toml"))?;
    }
    match dependencies(name)?.iter().find(|d| !allowed.contains(&d.as_str())) {
        Some(other) => Err(format!("{name} depends on {other}")),
        None => Ok(()),
    }
}

#[test]
fn every_crate_depends_on_what_it_may() {
    let named: BTreeSet<String> = CRATES.iter().map(|c| c.0.to_string()).collect();
    assert_eq!(named, crates().into_iter().collect(), "the table has all crates and no other");
    for (i, (name, allowed)) in CRATES.iter().enumerate() {
        assert_eq!(depends_only(name, allowed), Ok(()));
        let later = allowed.iter().find(|other| CRATES[i..].iter().any(|c| c.0 == **other));
        assert_eq!(later, None, "{name} comes first");
    }
}

/// Everything that a crate depends on, directly or otherwise, by the table.
fn reachable(name: &str) -> BTreeSet<&'static str> {
    let row = CRATES.iter().find(|c| c.0 == name).expect("in the table");
    row.1.iter().flat_map(|other| reachable(other).into_iter().chain([*other])).collect()
}

#[test]
fn checkers_and_readers_know_no_engine() {
    for name in TRUSTED.iter().chain(&["throng-c"]) {
        let known = reachable(name);
        assert!(ENGINES.iter().all(|engine| !known.contains(engine)), "{name}: {known:?}");
    }
    for name in TRUSTED {
        assert!(!reachable(name).contains("throng-c"), "{name} knows a front end");
    }
}

#[test]
fn model_rules_and_engines_do_no_input_or_output() {
    let words = ["std::fs", "std::io", "std::process", "std::net", "println!", "print!", "std::env"];
    for path in PURE {
        assert_eq!(without(path, &words), Ok(()));
    }
}

#[test]
fn only_the_program_prints() {
    let words = ["println!", "print!(", "io::stdout", "io::stderr", "dbg!"];
    for (name, _) in CRATES.iter().filter(|c| !PRINTS.contains(&c.0)) {
        assert_eq!(without(&format!("{name}/src"), &words), Ok(()));
    }
    assert!(without("throng-cli/src", &["io::stdout"]).is_err(), "the words are those that print");
}

#[test]
fn modules_use_only_what_lies_below_them() {
    for (path, above) in BELOW {
        assert_eq!(below(path, above), Ok(()));
    }
}

/// What is named here must exist: a module that was renamed would otherwise pass unseen.
#[test]
fn names_of_nothing_fail() {
    let missing = |name: &str| Err(format!("{name} does not exist"));
    assert_eq!(below("throng-engine/src/bdd.rs", &["fairy"]), missing("throng-engine/src/fairy"));
    assert_eq!(below("throng-engine/src/fairy.rs", &["auto"]), missing("throng-engine/src/fairy.rs"));
    assert_eq!(without("throng-fairy/src", &["print"]), missing("throng-fairy/src"));
    assert_eq!(depends_only("throng-fairy", &[]), missing("throng-fairy/Cargo.toml"));
    assert_eq!(depends_only("throng-lang", &["throng-fairy"]), missing("throng-fairy/Cargo.toml"));
    // What exists and is used fails as well.
    assert_eq!(depends_only("throng-lang", &[]), Err("throng-lang depends on throng-memory".into()));
    assert!(below("throng-engine/src/registry.rs", &["explicit"]).is_err());
}

/// Memory that is mapped from files is the one thing that safe code cannot do.
/// The checkers of proofs about sources. No other code may say that such a proof was checked.
const CHECKS_SOURCES: &[&str] = &[
    "throng-goto-check/src/abstraction/certificate.rs",
    "throng-goto-check/src/lock_order.rs",
    "throng-goto-check/src/locksets.rs",
    "throng-goto-check/src/races.rs",
];

#[test]
fn only_checkers_of_sources_say_that_one_was_checked() -> Result<(), String> {
    let mut says = BTreeSet::new();
    for (name, _) in CRATES {
        let lines = code(&format!("{name}/src"))?;
        says.extend(
            lines.into_iter().filter(|(_, l)| l.contains("Checked::of_source")).map(|(file, _)| file),
        );
    }
    let listed: BTreeSet<PathBuf> = CHECKS_SOURCES.iter().map(|path| folder().join(path)).collect();
    assert_eq!(says, listed);
    Ok(())
}

#[test]
fn one_function_is_unsafe() {
    let unsafe_code: Vec<String> = crates()
        .into_iter()
        .filter(|name| name != "throng-dev")
        .flat_map(|name| code(&format!("{name}/src")).expect("code"))
        .filter(|(_, line)| line.contains("allow(unsafe_code)"))
        .map(|(file, _)| file.display().to_string())
        .collect();
    assert!(matches!(&unsafe_code[..], [one] if one.ends_with("cli/store.rs")), "{unsafe_code:?}");
}

/// Cargo takes a file that is missing for one that has changed, and compiles again in every call
/// what waits for it.
#[test]
fn the_build_script_waits_for_no_missing_file() {
    let output = fs::read_to_string(Path::new(env!("OUT_DIR")).join("../output")).expect("what it printed");
    let waited: Vec<&str> =
        output.lines().filter_map(|line| line.strip_prefix("cargo::rerun-if-changed=")).collect();
    assert!(!waited.is_empty(), "then it waits for the whole crate");
    for file in waited {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists(), "{file}");
    }
}
