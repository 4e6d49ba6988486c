//! What is run: the rows of a manifest, or the files of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Question;

/// A file with a question about it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Instance {
    /// Its name in the manifest or the folder.
    pub file: String,
    /// Where it is.
    pub path: PathBuf,
    /// The folders it is in, at most two.
    pub family: String,
    /// `assertions`, `in file`, `label L`, or a file with targets.
    pub property: String,
    /// The file with targets, if the property is one.
    pub targets: Option<PathBuf>,
    /// The initial configuration; empty: the default.
    pub initial: String,
    /// The thread bound.
    pub threads: Option<u32>,
    /// `safe`, `unsafe` or `?`, for that thread bound.
    pub expected: String,
}

impl Instance {
    /// Returns the expected verdict for another thread bound: more threads can only add behaviour.
    pub fn expected_for(&self, threads: Option<u32>) -> &str {
        let (stated, asked) = (self.threads.unwrap_or(u32::MAX), threads.unwrap_or(u32::MAX));
        match self.expected.as_str() {
            "safe" if asked <= stated => "safe",
            "unsafe" if asked >= stated => "unsafe",
            _ => "?",
        }
    }

    /// Returns the question in the form of [`super::Run::question`].
    pub fn question(&self) -> Question<'_> {
        (&self.file, self.threads.unwrap_or(u32::MAX), &self.initial, &self.property)
    }

    /// The files that may be read: the input, the targets, what lies beside the input. They need
    /// not exist.
    pub fn files(&self) -> [Option<PathBuf>; 4] {
        let beside = |extension| Some(self.path.with_extension(extension));
        [Some(self.path.clone()), self.targets.clone(), beside("prop"), beside("xml")]
    }

    /// The same question for another thread bound.
    pub fn with_bound(&self, threads: Option<u32>) -> Instance {
        Instance { expected: self.expected_for(threads).into(), threads, ..self.clone() }
    }
}

/// Every instance with each of these thread bounds, each question once.
pub fn with_bounds(instances: &[Instance], bounds: &[Option<u32>]) -> Vec<Instance> {
    let mut found: Vec<Instance> = Vec::new();
    for new in instances.iter().flat_map(|i| bounds.iter().map(|n| i.with_bound(*n))) {
        match found.iter_mut().find(|old| old.question() == new.question()) {
            Some(old) if old.expected == "?" => *old = new,
            Some(_) => {}
            None => found.push(new),
        }
    }
    found
}

/// A row of a manifest.
#[derive(Deserialize)]
struct Row {
    path: String,
    property: String,
    initial: String,
    expected: String,
}

/// The extensions that are taken from a folder.
const EXTENSIONS: &[&str] = &["bp", "nbp", "tts", "ttd", "ntts", "spec", "pnml"];

/// The instances of a manifest, or of a folder (by its `MANIFEST.csv`, if it has one).
pub fn instances(path: &Path) -> Result<Vec<Instance>, String> {
    let inside = path.join("MANIFEST.csv");
    let found = match path.is_dir() {
        true if inside.is_file() => manifest(&inside)?,
        true => folder(path)?,
        false => manifest(path)?,
    };
    if found.is_empty() { Err(format!("{}: nothing to run", path.display())) } else { Ok(found) }
}

fn manifest(path: &Path) -> Result<Vec<Instance>, String> {
    let wrong = |why: csv::Error| format!("{}: {why}", path.display());
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut reader = csv::Reader::from_path(path).map_err(wrong)?;
    let rows = reader.deserialize::<Row>();
    rows.map(|row| instance(folder, row.map_err(wrong)?, path)).collect()
}

fn instance(folder: &Path, row: Row, manifest: &Path) -> Result<Instance, String> {
    let (initial, threads) = match row.initial.split_once(" of at most ") {
        None => (row.initial.clone(), None),
        Some((initial, bound)) => {
            let wrong = |_| format!("{}: `{}` is not a number of threads", manifest.display(), row.initial);
            (initial.to_string(), Some(bound.trim().parse().map_err(wrong)?))
        }
    };
    if !["safe", "unsafe", "?"].contains(&row.expected.as_str()) {
        let where_ = manifest.display();
        return Err(format!("{where_}: {}: expected is `{}`, not safe, unsafe or ?", row.path, row.expected));
    }
    let in_file = ["assertions", "in file", ""].contains(&row.property.as_str());
    let targets = (!in_file && !row.property.starts_with("label ")).then(|| folder.join(&row.property));
    Ok(Instance {
        path: folder.join(&row.path),
        family: family(&row.path),
        initial: if initial == "in file" { String::new() } else { initial },
        file: row.path,
        property: row.property,
        targets,
        threads,
        expected: row.expected,
    })
}

/// The first two folders of a path.
fn family(file: &str) -> String {
    let folders: Vec<&str> = file.rsplit_once('/').map_or("", |f| f.0).split('/').take(2).collect();
    folders.join("/")
}

/// Every file below a folder that Throng reads, sorted by name; names begin with that of the
/// folder. A line `// expect: VERDICT` in it says what to expect.
fn folder(root: &Path) -> Result<Vec<Instance>, String> {
    let mut files = Vec::new();
    collect(root, &mut files).map_err(|(path, why)| format!("{}: {why}", path.display()))?;
    files.sort();
    let name = root.canonicalize().ok().and_then(|r| Some(r.file_name()?.to_string_lossy().into_owned()));
    let name = name.unwrap_or_default();
    let instance = |path: PathBuf| {
        let file = format!("{name}/{}", path.strip_prefix(root).unwrap_or(&path).display());
        let text = fs::read(&path).unwrap_or_default();
        Instance {
            family: family(&file),
            file,
            property: "in file".into(),
            targets: None,
            initial: String::new(),
            threads: None,
            expected: stated(&String::from_utf8_lossy(&text)).into(),
            path,
        }
    };
    Ok(files.into_iter().map(instance).collect())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, std::io::Error)> {
    let wrong = |why| (folder.to_path_buf(), why);
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(wrong)?);
        let taken = path.extension().is_some_and(|e| EXTENSIONS.iter().any(|&known| e == known));
        if kind.is_dir() {
            collect(&path, files)?;
        } else if taken && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

fn stated(text: &str) -> &'static str {
    let expected =
        text.lines().find_map(|l| l.trim_start_matches(['/', '#', '-', ' ']).strip_prefix("expect: "));
    let word = expected.and_then(|t| t.split(|c: char| !c.is_alphabetic()).next()).unwrap_or_default();
    ["safe", "unsafe"].into_iter().find(|w| word.eq_ignore_ascii_case(w)).unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(initial: &str, property: &str, expected: &str) -> Result<Instance, String> {
        let row = Row {
            path: "bp/boom/deep/a.bp".into(),
            property: property.into(),
            initial: initial.into(),
            expected: expected.into(),
        };
        instance(Path::new("c"), row, Path::new("c/MANIFEST.csv"))
    }

    #[test]
    fn rows_say_where_to_start_what_to_ask_and_for_how_many_threads() {
        let bounded = row("1 of at most 3", "assertions", "unsafe").unwrap();
        assert_eq!((bounded.initial.as_str(), bounded.threads), ("1", Some(3)));
        assert_eq!((bounded.family.as_str(), bounded.targets.clone()), ("bp/boom", None));
        assert_eq!(row("0|0", "a.prop", "?").unwrap().targets, Some(PathBuf::from("c/a.prop")));
        assert_eq!(row("in file", "in file", "safe").unwrap().initial, "");
        assert!(row("1 of at most x", "assertions", "safe").is_err());
        assert!(row("1", "assertions", "SAFE?").is_err());
    }

    #[test]
    fn a_verdict_carries_over_to_more_threads_if_unsafe_and_to_fewer_if_safe() {
        let bug = row("1 of at most 3", "assertions", "unsafe").unwrap();
        assert_eq!(
            [Some(2), Some(3), Some(4), None].map(|n| bug.expected_for(n)),
            ["?", "unsafe", "unsafe", "unsafe"]
        );
        let fine = row("1 of at most 3", "assertions", "safe").unwrap();
        assert_eq!(
            [Some(2), Some(3), Some(4), None].map(|n| fine.expected_for(n)),
            ["safe", "safe", "?", "?"]
        );
        assert_eq!(fine.with_bound(None).expected, "?");
    }

    #[test]
    fn files_may_state_what_to_expect() {
        assert_eq!(stated("// a lock\n// expect: unsafe, 2 threads\n"), "unsafe");
        assert_eq!(stated("# expect: SAFE\n"), "safe");
        assert_eq!(stated("decl x;"), "?");
    }
}
