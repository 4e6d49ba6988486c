//! Programs in C behind the front door: what they are asked, who proves and who refutes, and what
//! an answer can be written as. [`crate::Job`] has no other way to answer about them.

mod abstraction;
mod certificate;
mod check;
mod deadlock;
mod locksets;
mod memory;
mod mutate;
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
use throng_c::{Loaded, Options, Text};
use throng_goto::Concrete;
use throng_goto::program::Program;
use throng_lang::question::{Question, SourceDiagnostic};
use throng_lang::source::Source;
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Unknown;

/// How a C program is compiled, as far as that matters to what it means.
#[derive(Clone, Debug, Default)]
pub struct Compiling {
    /// Macros: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Folders in which headers are looked for.
    pub includes: Vec<PathBuf>,
    /// Further files of the same program; those that are not there are looked for beside the first.
    pub more: Vec<PathBuf>,
    /// `long`, `size_t` and `ptrdiff_t` have 32 bits.
    pub ilp32: bool,
}

impl Compiling {
    fn options(&self, first: &Path, limits: &Limits) -> Options {
        let mut options = Options {
            defines: self.defines.clone(),
            includes: self.includes.clone(),
            more: self.files_beside(first),
            ..Options::default()
        };
        options.question.ilp32 = self.ilp32;
        let patience = limits.time_left().unwrap_or(Duration::MAX);
        options.timeout = options.timeout.min(patience);
        options
    }

    /// Returns the further files where they are, or beside the first.
    pub fn files_beside(&self, first: &Path) -> Vec<PathBuf> {
        let there = |path: &PathBuf| match path.exists() {
            true => path.clone(),
            false => first.parent().unwrap_or(Path::new("")).join(path),
        };
        self.more.iter().map(there).collect()
    }
}

/// A C program that was read.
#[derive(Clone)]
pub(crate) struct Code {
    text: Text,
    ilp32: bool,
    files: usize,
}

impl Code {
    pub(crate) fn open(path: &Path, compiling: &Compiling, limits: &Limits) -> Result<Code, Error> {
        let text = Text::open(path, &compiling.options(path, limits))?;
        Ok(Code { text, ilp32: compiling.ilp32, files: 1 + compiling.more.len() })
    }

    /// Reads a text that stands for the file.
    pub(crate) fn edited(path: &Path, text: Source, limits: &Limits) -> Result<Code, Error> {
        let compiling = Compiling::default();
        let text = Text::edited(path, text, &compiling.options(path, limits))?;
        Ok(Code { text, ilp32: false, files: 1 })
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.text.source
    }

    /// Returns the program with what is asked about it, and warnings about the question.
    pub(crate) fn ask(&self, question: &Question) -> Result<(Posed, Vec<SourceDiagnostic>), Error> {
        let asked = question::translate(question, &self.text.source, self.ilp32)?;
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
