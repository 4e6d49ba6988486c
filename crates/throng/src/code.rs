//! Programs in C behind the front door: what they are asked, who proves and who refutes, and what
//! an answer can be written as. [`crate::Job`] has no other way to answer about them.

mod abstraction;
mod certificate;
mod check;
mod deadlock;
mod locksets;
mod memory;
mod mutate;
mod orders;
mod parts;
mod property;
mod question;
mod replay;
mod witness;

pub use replay::Replay;
pub use witness::WitnessOf;

pub(crate) use certificate::{certify, write as certificate};
pub(crate) use check::{Search, check};
pub(crate) use replay::replay;
pub(crate) use witness::{follow, write as witness};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::parts::Part;
use crate::error::Error;
use throng_c::{Flags, Library, Loaded, Options, Project, Selection, SourceFile, Text};
use throng_goto::Concrete;
use throng_goto::program::Program;
use throng_lang::question::{Question, SourceDiagnostic};
use throng_lang::source::{Diagnostic, Severity, Source};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Unknown;

/// How a C program is compiled, as far as that matters to what it means.
#[derive(Clone, Debug, Default)]
pub struct Compiling {
    /// The flags of the compiler.
    pub flags: Flags,
    /// Further files of the same program; those that are not there are looked for beside the first.
    pub more: Vec<SourceFile>,
    /// What is known about functions without a body, beside the table that is built in.
    pub library: Arc<Library>,
}

impl Compiling {
    /// Returns how further files are compiled with the flags of the first.
    ///
    /// ```
    /// use throng::{Compiling, Flags};
    /// let flags = Flags::read(["-DN=3", "-include", "stdint.h"])?;
    /// assert_eq!(Compiling::alike(flags, &["b.c", "c.c"]).more.len(), 2);
    /// # Ok::<(), String>(())
    /// ```
    pub fn alike(flags: Flags, more: &[impl AsRef<Path>]) -> Compiling {
        let compiled = |path: &Path| SourceFile { path: path.into(), flags: flags.clone() };
        Compiling {
            more: more.iter().map(|path| compiled(path.as_ref())).collect(),
            flags,
            ..Compiling::default()
        }
    }

    fn options(&self, first: &Path, limits: &Limits) -> Options {
        Options {
            flags: self.flags.clone(),
            more: self.files_beside(first),
            library: self.library.clone(),
            timeout: patience(limits),
            ..Options::default()
        }
    }

    /// Returns the further files where they are, or beside the first.
    pub fn files_beside(&self, first: &Path) -> Vec<SourceFile> {
        let there = |path: &PathBuf| match path.exists() {
            true => path.clone(),
            false => first.parent().unwrap_or(Path::new("")).join(path),
        };
        let placed = |file: &SourceFile| SourceFile { path: there(&file.path), ..file.clone() };
        self.more.iter().map(placed).collect()
    }
}

/// Returns how long the preprocessor may take for a file.
fn patience(limits: &Limits) -> Duration {
    Options::default().timeout.min(limits.time_left().unwrap_or(Duration::MAX))
}

/// A C program that was read.
#[derive(Clone)]
pub(crate) struct Code {
    text: Text,
    files: usize,
    /// What is said about the choice of its files.
    remarks: Vec<String>,
}

impl Code {
    pub(crate) fn open(path: &Path, compiling: &Compiling, limits: &Limits) -> Result<Code, Error> {
        let text = Text::open(path, &compiling.options(path, limits))?;
        Ok(Code { text, files: 1 + compiling.more.len(), remarks: Vec::new() })
    }

    /// Reads a program of a build.
    pub(crate) fn of_project(path: &Path, selection: &Selection, limits: &Limits) -> Result<Code, Error> {
        let project = Project::open(path)?;
        let (text, chosen) = Text::of_project(&project, selection, patience(limits))?;
        let files = text.files().count();
        Ok(Code { text, files, remarks: [project.remarks(), &chosen].concat() })
    }

    /// Reads a text that stands for the file.
    pub(crate) fn edited(path: &Path, text: Source, limits: &Limits) -> Result<Code, Error> {
        let compiling = Compiling::default();
        let text = Text::edited(path, text, &compiling.options(path, limits))?;
        Ok(Code { text, files: 1, remarks: Vec::new() })
    }

    /// The files that were read, those of the program first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.text.files().chain(self.text.beside())
    }

    /// What is said about the choice of its files.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.remarks
            .iter()
            .map(|remark| Diagnostic { severity: Severity::Warning, ..Diagnostic::whole("W811", remark) })
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.text.source
    }

    /// Returns the program with what is asked about it, and warnings about the question.
    pub(crate) fn ask(&self, question: &Question) -> Result<(Posed, Vec<SourceDiagnostic>), Error> {
        let asked = question::translate(question, &self.text.source)?;
        let loaded = self.text.asking(&asked)?;
        let warnings = question::warnings(question, &loaded);
        let bound = question.threads.map_or(Bound::Any, Bound::Threads);
        Ok((Posed::new(loaded, bound, self.files), warnings))
    }
}

/// A program and what is asked about it, as a problem.
#[derive(Clone)]
pub(crate) struct Posed {
    loaded: Loaded,
    model: Arc<Concrete>,
    pub(crate) problem: Problem,
    /// The number of files.
    files: usize,
}

impl Posed {
    fn new(loaded: Loaded, bound: Bound, files: usize) -> Posed {
        let model = loaded.query.model();
        let mut problem = loaded.query.problem_of(model.clone());
        problem.bound = bound;
        Posed { loaded, model, problem, files }
    }

    fn program(&self) -> &Program {
        &self.loaded.query.program
    }

    /// Returns the same program with another question.
    fn asking(&self, question: &throng_goto::Question) -> Result<Posed, Error> {
        Ok(Posed::new(self.loaded.asking(question)?, self.problem.bound, self.files))
    }

    /// Returns what the reader takes for granted or leaves open.
    pub(crate) fn notes(&self) -> &[Assumption] {
        &self.loaded.query.notes
    }

    /// Returns the functions that are called and not defined, if there are any.
    fn undefined(&self) -> Option<String> {
        let names: Vec<&str> = self.loaded.query.undefined().collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Returns why what is reached is not known, whatever a search finds.
    pub(crate) fn doubt(&self) -> Option<Unknown> {
        let names = self.undefined()?;
        Some(Unknown::Unsure(format!(
            "what is reached is not known of a program that calls what is not defined: {names}"
        )))
    }

    /// Returns the program as it is executed: calls inlined, every access written out.
    pub(crate) fn print(&self) -> String {
        self.program().print()
    }

    /// Returns the control-flow graph for Graphviz.
    pub(crate) fn dot(&self) -> String {
        throng_goto::dot::dot(self.program())
    }

    /// Returns the last program of the predicate abstraction as text.
    pub(crate) fn abstraction(&self, limits: &Limits, round: &mut dyn FnMut(&str)) -> Result<String, Error> {
        abstraction::program(&self.loaded, limits, round)
    }
}

/// The answers to the questions that were asked about a program, each alone: what replays,
/// witnesses and certificates are made of.
pub(crate) struct Answered {
    parts: Vec<Part>,
}

impl Answered {
    /// Returns the part with a violation, or the first.
    fn shown(&self) -> &Part {
        self.parts.iter().find(|p| p.outcome.is_unsafe()).unwrap_or(&self.parts[0])
    }
}
