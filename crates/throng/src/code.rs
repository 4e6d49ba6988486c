//! Programs in source languages behind the front door: what they are asked, who proves and who
//! refutes, and what an answer can be written as. [`crate::Job`] has no other way to answer about
//! them.

mod abstraction;
mod certificate;
mod check;
#[cfg(feature = "c")]
mod compiling;
mod deadlock;
#[cfg(feature = "c")]
mod invariants;
mod line_facts;
mod locksets;
mod memory;
mod mutate;
mod orders;
mod parts;
mod property;
mod question;
mod races;
#[cfg(feature = "c")]
mod replay;
#[cfg(feature = "rust")]
pub(crate) mod rust;
mod text;
mod undecided;
mod waiting;
#[cfg(feature = "c")]
mod weakest;
#[cfg(feature = "c")]
mod witness;

#[cfg(feature = "c")]
pub use compiling::Compiling;
#[cfg(feature = "c")]
pub use replay::Replay;
#[cfg(feature = "c")]
pub use weakest::WeakestOrder;
#[cfg(feature = "c")]
pub use witness::WitnessOf;

pub(crate) use certificate::{certify, write as certificate};
pub(crate) use check::{Search, check};
#[cfg(feature = "c")]
pub(crate) use replay::replay;
#[cfg(feature = "c")]
pub(crate) use weakest::weakest;
#[cfg(feature = "c")]
pub(crate) use witness::{follow, write as witness};

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use self::parts::Part;
use self::text::{Loaded, Text};
use crate::error::Error;
use crate::report::facts::{LineFacts, facts};
use throng_goto::Concrete;
use throng_goto::program::Program;
use throng_lang::load::Format;
use throng_lang::question::{Question, SourceDiagnostic};
use throng_lang::source::{Diagnostic, Source};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Unknown;

/// A program in a source language that was read.
#[derive(Clone)]
pub(crate) struct Code {
    text: Text,
    files: usize,
    /// What is said about reading it.
    warnings: Vec<Diagnostic>,
}

impl Code {
    /// Reads a file of a language.
    pub(crate) fn open(path: &Path, format: Format, limits: &Limits) -> Result<Code, Error> {
        match format {
            #[cfg(feature = "c")]
            Format::C => Code::open_c(path, &Compiling::default(), limits),
            #[cfg(feature = "llvm")]
            Format::Llvm => {
                let text = throng_llvm::Text::open(path)?;
                let ir = text::Ir { text, format, files: Vec::new(), compiler: None, mutant: None };
                Ok(Code { text: Text::Ir(Box::new(ir)), files: 1, warnings: Vec::new() })
            }
            #[cfg(feature = "rust")]
            Format::Rust => rust::open(path, &rust::Options::default(), limits),
            _ => Err(unread(path, format)),
        }
    }

    /// Reads a program in C as it is compiled.
    #[cfg(feature = "c")]
    pub(crate) fn open_c(path: &Path, compiling: &Compiling, limits: &Limits) -> Result<Code, Error> {
        let text = throng_c::Text::open(path, &compiling.options(path, limits))?;
        Ok(Code { text: Text::C(text), files: 1 + compiling.more.len(), warnings: Vec::new() })
    }

    /// Reads a program of a build.
    #[cfg(feature = "c")]
    pub(crate) fn of_project(
        path: &Path,
        selection: &throng_c::Selection,
        limits: &Limits,
    ) -> Result<Code, Error> {
        let project = throng_c::Project::open(path)?;
        let patience = compiling::patience(limits);
        let (text, chosen) = throng_c::Text::of_project(&project, selection, patience)?;
        let warning = |remark: &String| Diagnostic {
            severity: throng_lang::source::Severity::Warning,
            ..Diagnostic::whole("W811", remark)
        };
        let warnings = project.remarks().iter().chain(&chosen).map(warning).collect();
        Ok(Code { files: text.files().count(), text: Text::C(text), warnings })
    }

    /// Reads a text that stands for the file.
    pub(crate) fn edited(path: &Path, text: Source, format: Format, limits: &Limits) -> Result<Code, Error> {
        #[cfg(not(feature = "c"))]
        let _ = limits;
        match format {
            #[cfg(feature = "c")]
            Format::C => {
                let options = Compiling::default().options(path, limits);
                let text = Text::C(throng_c::Text::edited(path, text, &options)?);
                Ok(Code { text, files: 1, warnings: Vec::new() })
            }
            #[cfg(feature = "llvm")]
            Format::Llvm => {
                let text = throng_llvm::Text::of(vec![text], None);
                let ir = text::Ir { text, format, files: Vec::new(), compiler: None, mutant: None };
                let text = Text::Ir(Box::new(ir));
                Ok(Code { text, files: 1, warnings: Vec::new() })
            }
            #[cfg(feature = "rust")]
            Format::Rust => rust::edited(path, text, limits),
            _ => Err(unread(path, format)),
        }
    }

    /// Its language.
    pub(crate) fn format(&self) -> Format {
        self.text.format()
    }

    /// The files that were read, those of the program first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.text.files()
    }

    /// What is said about reading it.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.warnings.iter().cloned()
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        self.text.source()
    }

    /// Returns the program with what is asked about it, and warnings about the question.
    pub(crate) fn ask(&self, question: &Question) -> Result<(Posed, Vec<SourceDiagnostic>), Error> {
        let asked = question::translate(question, self.format(), self.source())?;
        let loaded = self.text.with_roles(&question.code).asking(&asked)?;
        question::limits(question, &asked, &loaded)?;
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

/// The error for a language that is compiled out.
fn unread(path: &Path, format: Format) -> Error {
    let message = format!("{} is not read from a text, or not without its feature", format.description());
    let diagnostic = Diagnostic::whole("E703", message);
    let source = Arc::new(Source::new(path.display().to_string(), ""));
    Error::Refused(vec![SourceDiagnostic { source, diagnostic }])
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

    /// Returns the same question about a changed program.
    #[cfg(feature = "c")]
    fn with_program(&self, program: Arc<Program>) -> Posed {
        let mut loaded = self.loaded.clone();
        loaded.query.program = program;
        Posed::new(loaded, self.problem.bound, self.files)
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
    #[cfg(feature = "c")]
    fn shown(&self) -> &Part {
        self.parts.iter().find(|p| p.outcome.is_unsafe()).unwrap_or(&self.parts[0])
    }

    /// Returns what the proofs show about lines: each fact of one of them is true.
    pub(crate) fn line_facts(&self) -> Vec<LineFacts> {
        let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for part in self.parts.iter().filter(|p| p.outcome.is_safe() && p.outcome.is_checked()) {
            let mut shown = part.abstraction.lines();
            if shown.is_empty() {
                shown = facts(&part.outcome);
            }
            for LineFacts { line, facts } in shown {
                let known = lines.entry(line).or_default();
                facts.into_iter().for_each(|f| {
                    if !known.contains(&f) {
                        known.push(f)
                    }
                });
            }
        }
        lines.into_iter().map(|(line, facts)| LineFacts { line, facts }).collect()
    }
}
