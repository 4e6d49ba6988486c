//! The arrows between modules (ARCHITECTURE.md): who may use whom, and who may not touch the outside world.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Module, and the modules of this crate that it may use. Whoever is not listed may use everything.
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("problem", &["model"]),
    ("verdict", &["model"]),
    ("reduction", &["model", "problem"]),
    ("contract", &["model", "problem", "verdict"]),
    ("limits", &["verdict"]),
    ("bdd", &[]),
    ("bench", &[]),
    ("threads", &["model"]),
    ("concrete", &["model", "problem", "threads", "verdict"]),
    ("unfold", &["model", "problem", "verdict", "limits"]),
    ("checkpoint", &["model", "verdict"]),
    ("check", &["model", "problem", "verdict", "limits", "reduction"]),
    ("lang", &["model", "problem", "unfold"]),
    (
        "engine",
        &["model", "problem", "verdict", "limits", "check", "reduction", "contract", "bdd", "checkpoint"],
    ),
    ("question", &["model", "problem", "lang"]),
    ("report", &["model", "problem", "verdict", "engine", "threads"]),
    (
        "verify",
        &[
            "model", "problem", "verdict", "limits", "lang", "question", "engine", "check", "concrete",
            "report",
        ],
    ),
    ("own", &["model", "problem", "verdict", "limits", "unfold", "verify"]),
    ("certificate", &["model", "problem", "verdict", "limits", "lang", "concrete", "check"]),
    ("certify", &["model", "problem", "verdict", "limits", "lang", "check", "certificate"]),
    ("simulate", &["model", "problem", "verdict", "threads", "report"]),
];

/// These compute; they neither read nor write files, print, nor start processes.
const PURE: &[&str] = &[
    "model",
    "problem",
    "verdict",
    "engine",
    "fuzz",
    "check",
    "checkpoint",
    "concrete",
    "contract",
    "threads",
    "unfold",
    "report",
    "own",
    "reduction",
    "bdd",
];

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(dir).expect("src is there").map(|e| e.expect("entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The top-level module a file belongs to, and its text without its tests.
fn modules() -> Vec<(String, PathBuf, String)> {
    let src = Path::new(throng_dev::ROOT).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let named = |path: PathBuf| {
        let inside = path.strip_prefix(&src).expect("below src");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        let is_test = inside.file_stem().is_some_and(|s| s == "tests");
        let text = fs::read_to_string(&path).expect("readable");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default().to_string();
        (!is_test).then(|| (first.trim_end_matches(".rs").to_string(), path, text))
    };
    files.into_iter().filter_map(named).collect()
}

/// Code lines only: documentation may point anywhere.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|l| !l.trim_start().starts_with("//"))
}

fn used(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in code(text) {
        for part in line.split("crate::").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.insert(name);
        }
    }
    found
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let mut seen = BTreeSet::new();
    for (module, path, text) in modules() {
        let Some((_, allowed)) = ALLOWED.iter().find(|(m, _)| *m == module) else { continue };
        seen.insert(module.clone());
        for other in used(&text) {
            let fine = other == module || allowed.contains(&other.as_str());
            assert!(fine, "{} uses crate::{other}, which `{module}` may not", path.display());
        }
    }
    assert_eq!(seen.len(), ALLOWED.len(), "a module of the table is gone: {seen:?}");
}

#[test]
fn engines_and_checker_do_no_input_or_output() {
    for (module, path, text) in modules() {
        if !PURE.contains(&module.as_str()) {
            continue;
        }
        for line in code(&text) {
            for word in ["std::fs", "std::io", "std::process", "std::net", "println!", "print!", "std::env"] {
                assert!(!line.contains(word), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn the_checker_never_calls_an_engine() {
    let mut files = 0;
    for (module, path, text) in modules() {
        if module == "check" || module == "certify" {
            assert!(!code(&text).any(|l| l.contains("engine")), "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 0);
}
