//! A build, as `compile_commands.json` describes it: the C files, and how each is compiled.

mod command;
mod select;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use throng_lang::load::{Rejected, read_source};
use throng_lang::source::{Diagnostic, Source, Span};

use crate::flags::{Arguments, Flags, shown, split};
use crate::preprocess::SourceFile;

pub(crate) use select::Read;
pub use select::Selection;

/// The file that a build tool writes.
const DATABASE: &str = "compile_commands.json";

/// The C files of a build, in its order, each with its flags.
#[derive(Clone, Debug)]
pub struct Project {
    source: Arc<Source>,
    files: Vec<Compiled>,
    remarks: Vec<String>,
}

/// A file of a build; a flag that is not modelled is told of only where the file is chosen.
#[derive(Clone, Debug)]
struct Compiled {
    path: PathBuf,
    /// The path without links, by which files are compared.
    identity: PathBuf,
    flags: Result<Flags, String>,
}

/// An entry of the file.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

impl Project {
    /// Reads a build from `compile_commands.json`, or from the folder that has it.
    pub fn open(path: &Path) -> Result<Project, Rejected> {
        let path = if path.is_dir() { path.join(DATABASE) } else { path.to_path_buf() };
        let source = Arc::new(read_source(&path)?);
        let rejected = |d| Rejected { source: source.clone(), diagnostics: vec![d] };
        let entries: Vec<Entry> = serde_json::from_str(&source.text)
            .map_err(|why| rejected(Diagnostic::error("E811", place(&source, &why), unreadable(&why))))?;
        let mut project = Project { source: source.clone(), files: Vec::new(), remarks: Vec::new() };
        let beside = path.parent().unwrap_or(Path::new(""));
        for entry in entries {
            project.add(entry, beside).map_err(|why| rejected(Diagnostic::whole("E811", why)))?;
        }
        if project.files.is_empty() {
            let message = match &project.remarks[..] {
                [] => "there are no files in this build".to_string(),
                remarks => format!("there are no C files in this build: {}", remarks.join("; ")),
            };
            return Err(rejected(Diagnostic::whole("E811", message)));
        }
        Ok(project)
    }

    /// The C files of the build.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|f| f.path.as_path())
    }

    /// What is left out of the program, and why.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    fn add(&mut self, entry: Entry, beside: &Path) -> Result<(), String> {
        let folder = beside.join(&entry.directory);
        let path = shown(&folder.join(&entry.file));
        let name = path.display().to_string();
        let words = match (entry.arguments, entry.command) {
            (Some(words), _) => words,
            (None, Some(line)) => split(&line).map_err(|why| format!("the command for `{name}`: {why}"))?,
            (None, None) => return Err(format!("`{name}` has neither `arguments` nor a `command`")),
        };
        let (compiler, words) = command::split_off_compiler(words);
        let arguments = Arguments::read(words, &folder);
        let language = arguments.as_ref().ok().and_then(|a| a.language.as_deref());
        if let Some(other) = command::other_language(&path, &compiler, language) {
            self.remark(format!("`{name}` is left out: it is {other}"));
            return Ok(());
        }
        let identity = std::fs::canonicalize(&path).unwrap_or(path.clone());
        let flags = arguments.map(|a| a.flags);
        match self.files.iter().find(|f| f.identity == identity) {
            Some(known) if known.flags == flags => {}
            Some(_) => {
                self.remark(format!("`{name}` is in the build with different flags: the first ones count"));
            }
            None => self.files.push(Compiled { path, identity, flags }),
        }
        Ok(())
    }

    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// Returns the files that are named, or all of them, with flags that are modelled.
    pub(crate) fn named(&self, names: &[PathBuf]) -> Result<Vec<SourceFile>, Diagnostic> {
        let all = || (0..self.files.len()).collect();
        let numbers: Vec<usize> = match names {
            [] => all(),
            names => names.iter().map(|name| self.find(name)).collect::<Result<_, _>>()?,
        };
        let mut chosen: Vec<SourceFile> = Vec::new();
        for file in numbers.into_iter().map(|n| &self.files[n]) {
            let name = file.path.display();
            let flags = file.flags.clone();
            let flags = flags.map_err(|why| Diagnostic::whole("E811", format!("`{name}`: {why}")))?;
            let next = SourceFile { path: file.path.clone(), flags };
            if !chosen.contains(&next) {
                chosen.push(next);
            }
        }
        Ok(chosen)
    }

    /// Finds a file by its path, or by the end of its path where that is unique.
    fn find(&self, name: &Path) -> Result<usize, Diagnostic> {
        let identity = std::fs::canonicalize(name).ok();
        if let Some(n) = self.files.iter().position(|f| Some(&f.identity) == identity.as_ref()) {
            return Ok(n);
        }
        let numbered = self.files.iter().enumerate();
        let ends: Vec<usize> = numbered.filter(|(_, f)| f.path.ends_with(name)).map(|(n, _)| n).collect();
        match ends[..] {
            [n] => Ok(n),
            [] => {
                let message = format!("`{}` is not a C file of this build", name.display());
                Err(Diagnostic::whole("E811", message).hint(format!("its files are {}", list(self.files()))))
            }
            _ => {
                let message = format!("several files of this build end in `{}`", name.display());
                let which = list(ends.iter().map(|&n| self.files[n].path.as_path()));
                Err(Diagnostic::whole("E811", message).hint(format!("name one of {which}")))
            }
        }
    }
}

/// Returns the names of files, as far as they fit into a message.
fn list<'a>(files: impl Iterator<Item = &'a Path>) -> String {
    const MOST: usize = 12;
    let names: Vec<String> = files.map(|f| format!("`{}`", f.display())).collect();
    match names.len().checked_sub(MOST) {
        Some(more @ 1..) => format!("{}, and {more} more", names[..MOST].join(", ")),
        _ => names.join(", "),
    }
}

/// Returns what is wrong with the text, without the position, which is told otherwise.
fn unreadable(why: &serde_json::Error) -> String {
    let said = why.to_string();
    let what = said.rsplit_once(" at line ").map_or(&said[..], |s| s.0);
    format!("this is not a list of compile commands: {what}")
}

fn place(source: &Source, why: &serde_json::Error) -> Span {
    let starts = source.text.match_indices('\n').map(|(at, _)| at + 1);
    let start = std::iter::once(0).chain(starts).nth(why.line().saturating_sub(1)).unwrap_or(0);
    let at = (start + why.column().saturating_sub(1)).min(source.text.len());
    Span::new(at, (at + 1).min(source.text.len()))
}
