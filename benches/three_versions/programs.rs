//! What is measured: the Boolean programs of the corpus, or the shipped examples where there is no corpus; and the two
//! programs with thirty local variables.

use std::path::{Path, PathBuf};

/// A program and the question about it.
pub struct Program {
    pub name: String,
    pub path: PathBuf,
    /// How many threads it starts with; empty: the default.
    pub initial: String,
    /// An error label; empty: the assertions.
    pub label: String,
    pub expected: String,
}

/// All programs, sorted by name.
pub fn programs() -> Vec<Program> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("THRONG_CORPUS").map(PathBuf::from);
    let corpus = named.unwrap_or_else(|| root.join("../shared/corpus"));
    let mut found = match std::fs::read_to_string(corpus.join("MANIFEST.csv")) {
        Ok(manifest) => manifest.lines().filter_map(|line| row(&corpus, line)).collect(),
        Err(_) => folder(root, "examples"),
    };
    found.extend(folder(root, "bench"));
    found.sort_by(|a: &Program, b| a.name.cmp(&b.name));
    found
}

/// A row of the manifest, if it is about a program: path, kind, property, initial, expected.
fn row(corpus: &Path, line: &str) -> Option<Program> {
    let fields: Vec<&str> = line.split(',').collect();
    let &[path, "bp", property, initial, expected, ..] = &fields[..] else { return None };
    Some(Program {
        name: path.into(),
        path: corpus.join(path),
        initial: initial.split(' ').next().unwrap_or_default().into(),
        label: property.strip_prefix("label ").unwrap_or_default().into(),
        expected: expected.into(),
    })
}

/// The programs in a folder of the project.
fn folder(root: &Path, name: &str) -> Vec<Program> {
    let Ok(entries) = std::fs::read_dir(root.join(name)) else { return Vec::new() };
    let files = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "bp"));
    let program = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let expected = text.lines().find_map(|l| l.strip_prefix("// expect: ")).unwrap_or("?");
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        Program {
            name: format!("{name}/{file}"),
            initial: String::new(),
            label: String::new(),
            expected: expected.split(',').next().unwrap_or("?").into(),
            path: path.clone(),
        }
    };
    files.map(program).collect()
}
