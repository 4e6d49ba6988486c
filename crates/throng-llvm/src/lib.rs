//! LLVM IR as an input: a reader of modules as text, and their meaning as goto programs.
//!
//! ```text
//! .ll … ─► trees ─► one program of linked modules ─► goto program (throng-goto)
//! ```
//!
//! What the reader does not understand it refuses, by name and by its line in the source that the
//! modules were compiled from.

mod debug;
mod layout;
mod link;
mod lower;
pub mod models;
pub mod names;
pub mod sources;
pub mod syntax;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use throng_goto::{Query, Question};
use throng_lang::load::Rejected;
use throng_lang::source::{Diagnostic, Source};

use crate::sources::Sources;
use crate::syntax::SyntaxError;

/// Which functions threads begin in, beside those that the question names ([`Question::entries`]),
/// each of which any number of threads call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Roles {
    /// A function that runs first, before all others.
    pub setup: Option<String>,
    /// Functions that one thread each calls.
    pub one: Vec<String>,
}

impl Roles {
    /// A function that runs first, and functions that one thread each calls.
    pub fn new(setup: Option<String>, one: Vec<String>) -> Roles {
        Roles { setup, one }
    }
}

/// The modules of a program as text: what they mean depends on the question.
#[derive(Clone)]
pub struct Text {
    /// The file that messages are about.
    pub source: Arc<Source>,
    modules: Arc<Vec<Source>>,
    sources: Arc<Sources>,
    roles: Roles,
    path: PathBuf,
    /// The file that runs and proofs are about, if it is another one.
    written: Option<Arc<Source>>,
}

impl Text {
    /// Reads a `.ll` file.
    pub fn open(path: &Path) -> Result<Text, Rejected> {
        let source = throng_lang::load::read_source(path)?;
        Ok(Text { path: path.into(), ..Text::of(vec![source], None) })
    }

    /// Takes the texts of modules. They were compiled from `written`, if that is known: then it is
    /// the file that messages are about, and its lines are those without a file name.
    pub fn of(modules: Vec<Source>, written: Option<Source>) -> Text {
        let sources = Sources::of(&modules, written.as_ref());
        let main = if written.is_none() { sources.main().map(Arc::new) } else { None };
        let first = modules.first().cloned().unwrap_or_else(|| Source::new("<nothing>", ""));
        let source = written.unwrap_or(first);
        let path = PathBuf::from(&source.name);
        Text {
            source: Arc::new(source),
            modules: Arc::new(modules),
            sources: Arc::new(sources),
            roles: Roles::default(),
            path,
            written: main,
        }
    }

    /// The same modules with roles for some functions.
    pub fn with(self, roles: Roles) -> Text {
        Text { roles, ..self }
    }

    /// The files that the program was read from.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.path.as_path())
    }

    /// Returns what the program means to a question.
    pub fn asking(&self, question: &Question) -> Result<Loaded, Rejected> {
        on_large_stack(|| self.read(question)).unwrap_or_else(|| {
            let message = "the reader of LLVM IR failed on this program: please report it";
            Err(self.rejected(vec![Diagnostic::whole("E859", message)]))
        })
    }

    fn rejected(&self, diagnostics: Vec<Diagnostic>) -> Rejected {
        Rejected { source: self.source.clone(), diagnostics }
    }

    fn read(&self, question: &Question) -> Result<Loaded, Rejected> {
        let parsed: Result<Vec<_>, Rejected> = self
            .modules
            .iter()
            .map(|module| syntax::parser::parse(&module.text).map_err(|e| syntax_error(module, e)))
            .collect();
        let linked = link::Linked::new(parsed?);
        let asked = lower::Asked { question, roles: &self.roles, sources: &self.sources };
        match lower::lower(&linked, &asked) {
            Ok((program, notes)) => {
                let (program, question) = (Arc::new(program), question.clone());
                let source = self.written.as_ref().unwrap_or(&self.source).clone();
                let query = Query { source, program, whole: None, question, notes };
                Ok(Loaded { query, text: self.clone() })
            }
            Err(problems) => Err(self.refused(problems)),
        }
    }

    /// Returns the messages for problems: under the line of the source, if that is at hand.
    fn refused(&self, problems: Vec<lower::Problem>) -> Rejected {
        let mut about = self.source.clone();
        let mut diagnostics = Vec::new();
        for p in problems {
            let place = p.place.as_ref().and_then(|(file, line, column)| {
                let text = self.sources.text(file)?;
                Some((file, sources::span(text, *line, *column), text))
            });
            let diagnostic = match place {
                Some((file, span, text)) => {
                    if diagnostics.is_empty() && about.text != *text {
                        about = Arc::new(Source::new(file.clone(), text.to_string()));
                    }
                    match about.text == *text {
                        true => Diagnostic::error(p.code, span, p.message),
                        false => Diagnostic::whole(p.code, format!("{}, at {file}", p.message)),
                    }
                }
                None => match &p.place {
                    Some((file, line, _)) => {
                        Diagnostic::whole(p.code, format!("{}, at {file}:{line}", p.message))
                    }
                    None => Diagnostic::whole(p.code, p.message),
                },
            };
            diagnostics.push(p.hint.into_iter().fold(diagnostic, Diagnostic::hint));
        }
        Rejected { source: about, diagnostics }
    }
}

fn syntax_error(module: &Source, e: SyntaxError) -> Rejected {
    let diagnostics = vec![Diagnostic::error("E851", e.span, e.message)];
    Rejected { source: Arc::new(module.clone()), diagnostics }
}

/// A program that was read: what it means and what is asked.
#[derive(Clone)]
pub struct Loaded {
    /// The goto program and the question.
    pub query: Query,
    text: Text,
}

impl Loaded {
    /// Returns the same program with another question.
    pub fn asking(&self, question: &Question) -> Result<Loaded, Rejected> {
        self.text.asking(question)
    }
}

/// Reads the texts of modules and asks a question about the program.
pub fn read(modules: Vec<Source>, question: &Question) -> Result<Loaded, Rejected> {
    Text::of(modules, None).asking(question)
}

/// Runs work that goes down trees by recursion; `None` if that fails.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    const STACK: usize = 512 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.ok().and_then(|t| t.join().ok())
    })
}
