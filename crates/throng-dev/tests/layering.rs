//! What crates cannot express about the architecture (ARCHITECTURE.md): who may not touch the
//! outside world, and the order of modules in `throng`. Everything else is kept by the compiler: a
//! crate sees only those it depends on.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files that only compute: they neither read nor write files, print, start processes,
/// nor look at the environment.
const PURE: &[&str] = &[
    "throng-model/src",
    "throng-check/src/rules.rs",
    "throng-check/src/rules",
    "throng-engine/src",
    "throng-goto/src",
    "throng-goto-check/src",
    "throng/src/report.rs",
    "throng/src/report",
    "throng/src/template.rs",
    "throng/src/template",
];

/// A memory limit asks the system how much the process uses.
const EXCEPT: &str = "/proc/self/stat";

/// Modules, and others of the same crate that they must not use.
const BELOW: &[(&str, &[&str])] = &[
    // What engines build on knows none of them.
    ("throng-engine/src/quotient", &["auto", "registry", "views", "explicit"]),
    ("throng-engine/src/quotient.rs", &["auto", "registry", "views", "explicit"]),
    ("throng-engine/src/bdd.rs", &["auto", "registry", "symbolic"]),
    // The rules judge evidence about a model; they know no document and no language.
    ("throng-check/src/rules", &["certificate", "certify"]),
    ("throng-check/src/rules.rs", &["certificate", "certify"]),
];

/// Names of all crates.
fn crates() -> Vec<String> {
    let folder = Path::new(throng_dev::ROOT).join("crates");
    let names = fs::read_dir(folder).expect("a folder").map(|e| e.expect("entry").file_name());
    names.map(|name| name.into_string().expect("a plain name")).collect()
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
fn code(path: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    rust_files(&Path::new(throng_dev::ROOT).join("crates").join(path), &mut files);
    assert!(!files.is_empty(), "{path} has moved");
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
        lines.extend(code.map(|line| (file.clone(), line.to_string())));
    }
    lines
}

#[test]
fn model_rules_and_engines_do_no_input_or_output() {
    for path in PURE {
        for (file, line) in code(path) {
            for word in ["std::fs", "std::io", "std::process", "std::net", "println!", "print!", "std::env"] {
                assert!(!line.contains(word) || line.contains(EXCEPT), "{}: {line}", file.display());
            }
        }
    }
}

#[test]
fn modules_use_only_what_lies_below_them() {
    for (path, above) in BELOW {
        let root = path.split("/src").next().unwrap_or_default();
        for module in *above {
            let (file, folder) = (format!("{root}/src/{module}.rs"), format!("{root}/src/{module}"));
            let crates = Path::new(throng_dev::ROOT).join("crates");
            let exists = crates.join(&file).exists() || crates.join(&folder).exists();
            assert!(exists, "{path} must not use {module}, which does not exist");
        }
        for (file, line) in code(path) {
            for module in *above {
                assert!(!line.contains(&format!("crate::{module}")), "{}: {line}", file.display());
            }
        }
    }
}

/// Memory that is mapped from files is the one thing that safe code cannot do.
#[test]
fn one_function_is_unsafe() {
    let unsafe_code: Vec<String> = crates()
        .into_iter()
        .filter(|name| name != "throng-dev")
        .flat_map(|name| code(&format!("{name}/src")))
        .filter(|(_, line)| line.contains("allow(unsafe_code)"))
        .map(|(file, _)| file.display().to_string())
        .collect();
    assert!(matches!(&unsafe_code[..], [one] if one.ends_with("cli/store.rs")), "{unsafe_code:?}");
}

/// The trusted crates depend on no engine, directly or otherwise.
#[test]
fn what_must_be_trusted_depends_on_no_engine() {
    for (name, allowed) in [
        ("throng-model", &[][..]),
        ("throng-lang", &["throng-model"]),
        ("throng-check", &["throng-model", "throng-lang"]),
        ("throng-goto", &["throng-model"]),
        ("throng-goto-check", &["throng-model", "throng-lang", "throng-check", "throng-goto"]),
    ] {
        let path = Path::new(throng_dev::ROOT).join("crates").join(name).join("Cargo.toml");
        let text = fs::read_to_string(path).expect("readable");
        let own = text.lines().filter(|l| l.starts_with("throng") && l.contains("workspace"));
        for line in own {
            let dependency = line.split(['.', ' ']).next().unwrap_or_default();
            assert!(allowed.contains(&dependency), "{name} depends on {dependency}");
        }
    }
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
