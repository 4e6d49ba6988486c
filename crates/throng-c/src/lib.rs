//! C as an input: a reader that makes goto programs, replays of runs as C programs, witnesses and
//! mutants.
//!
//! ```text
//! .c ─ cc -E ─► tokens ─► tree ─► goto program (throng-goto)
//! ```
//!
//! What the reader does not understand it refuses, by name and position.

pub mod constructs;
pub mod flags;
mod library;
mod lower;
pub mod mutants;
pub mod preprocess;
mod project;
pub mod replay;
pub mod syntax;
mod types;
mod units;
pub mod witness;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use throng_goto::{Query, Question};
use throng_lang::load::Rejected;
use throng_lang::mutant::Mutant;
use throng_lang::source::{Diagnostic, Source};

pub use flags::Flags;
pub use library::Library;
use lower::Lowered;
pub use preprocess::{Options, SourceFile};
use preprocess::{Prepared, Unit};
pub use project::{Project, Selection};
use syntax::SyntaxError;
use syntax::ast::TranslationUnit;

/// A C program that was read: what it means and what is asked, and the text it was read from.
#[derive(Clone)]
pub struct Loaded {
    /// The goto program and the question.
    pub query: Query,
    /// The text that the parser read.
    pub text: Arc<Prepared>,
    library: Arc<Library>,
}

impl Loaded {
    /// Returns the same program with another question.
    pub fn asking(&self, question: &Question) -> Result<Loaded, Rejected> {
        self.text().asking(question)
    }

    /// Returns its text.
    pub fn text(&self) -> Text {
        let ilp32 = self.query.question.ilp32;
        let library = self.library.clone();
        Text { source: self.query.source.clone(), prepared: self.text.clone(), ilp32, library }
    }
}

/// The text of a program behind the preprocessor: what it means depends on the question.
#[derive(Clone)]
pub struct Text {
    /// The file that messages are about.
    pub source: Arc<Source>,
    prepared: Arc<Prepared>,
    ilp32: bool,
    library: Arc<Library>,
}

impl Text {
    /// Reads a `.c` file through the preprocessor, or a `.i` file as it is.
    pub fn open(path: &Path, options: &Options) -> Result<Text, Rejected> {
        let user = throng_lang::load::read_source(path)?;
        let given = throng_lang::load::is_stdin(path);
        Text::of_files(path, user, given, options)
    }

    /// Reads a text that stands for a file, such as what an editor has.
    pub fn edited(path: &Path, user: Source, options: &Options) -> Result<Text, Rejected> {
        Text::of_files(path, user, true, options)
    }

    /// Reads a program of a build, and returns with it what is said about the choice of files. A
    /// file may take as long as `timeout` in the preprocessor.
    pub fn of_project(
        project: &Project,
        selection: &Selection,
        timeout: Duration,
    ) -> Result<(Text, Vec<String>), Rejected> {
        let rejected = |why| Rejected { source: project.source().clone(), diagnostics: vec![why] };
        let mut files = project.named(&selection.files).map_err(rejected)?;
        files.iter_mut().for_each(|f| f.flags = f.flags.and(&selection.flags));
        let ilp32 = units::data_model(&files).map_err(rejected)?;
        let read = units::read_all(&files, None, timeout)?;
        let chosen = selection.choose(read).map_err(rejected)?;
        let user = throng_lang::load::read_source(&chosen.files[0].path)?;
        let text = Text::prepared(user, chosen.files.into_iter().map(|f| f.unit).collect(), ilp32);
        Ok((text.with(selection.library.clone()), chosen.remarks))
    }

    /// Reads the files of a program; `given`: the text of the first is not that on the disk.
    fn of_files(path: &Path, user: Source, given: bool, options: &Options) -> Result<Text, Rejected> {
        let first = SourceFile { path: path.into(), flags: options.flags.clone() };
        let files: Vec<SourceFile> = std::iter::once(first).chain(options.more.iter().cloned()).collect();
        let rejected = |why| Rejected { source: Arc::new(user.clone()), diagnostics: vec![why] };
        let ilp32 = units::data_model(&files).map_err(rejected)?;
        let read = units::read_all(&files, given.then_some(&user), options.timeout)?;
        let text = Text::prepared(user, read.into_iter().map(|r| r.unit).collect(), ilp32);
        Ok(text.with(options.library.clone()))
    }

    /// The files that were read with those of the program: headers, and files of flags.
    pub fn beside(&self) -> impl Iterator<Item = &Path> {
        self.prepared.beside.iter().map(PathBuf::as_path)
    }

    /// The files of the program, headers apart.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.prepared.units.iter().map(|(_, file)| Path::new(file))
    }

    fn prepared(user: Source, units: Vec<Unit>, ilp32: bool) -> Text {
        let prepared = Prepared::new(units, user);
        let source = prepared.user.clone();
        Text { source, prepared: Arc::new(prepared), ilp32, library: Arc::default() }
    }

    fn with(self, library: Arc<Library>) -> Text {
        Text { library, ..self }
    }

    /// Returns the text with something changed.
    pub fn mutated(&self, mutant: &Mutant) -> Text {
        let prepared = Arc::new(self.prepared.edited(&mutant.edits));
        Text { prepared, ..self.clone() }
    }

    /// Returns what the program means to a question.
    pub fn asking(&self, question: &Question) -> Result<Loaded, Rejected> {
        let mut question = question.clone();
        question.ilp32 = self.ilp32;
        let done = on_large_stack(|| translate(&self.prepared, &question, &self.library));
        let Lowered { program, whole, notes } = done.unwrap_or_else(|| Err(self.failed()))?;
        let whole = whole.map(Arc::new);
        let source = self.source.clone();
        let query = Query { source, program: Arc::new(program), whole, question, notes };
        Ok(Loaded { query, text: self.prepared.clone(), library: self.library.clone() })
    }

    /// Returns the answer where the reader itself fails.
    fn failed(&self) -> Rejected {
        let message = "the reader of C failed on this program: please report it";
        let diagnostics = vec![Diagnostic::whole("E809", message)];
        Rejected { source: self.source.clone(), diagnostics }
    }
}

/// Reads a `.c` file through the preprocessor, or a `.i` file as it is.
pub fn load(path: &Path, options: &Options) -> Result<Loaded, Rejected> {
    Text::open(path, options)?.asking(&options.question)
}

/// Reads text that is preprocessed already. `user` is the file that messages are about.
pub fn read(user: Source, raw: String, options: &Options) -> Result<Loaded, Rejected> {
    let file = user.name.clone();
    let unit = Unit { file, raw, ..Unit::default() };
    let text = Text::prepared(user, vec![unit], options.flags.is_ilp32());
    text.with(options.library.clone()).asking(&options.question)
}

/// Runs work that goes down the tree by recursion, as the parser does; `None` if that fails.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    const STACK: usize = 512 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.ok().and_then(|t| t.join().ok())
    })
}

/// Returns the trees of all translation units. Offsets in them are those of the whole text.
fn parse(prepared: &Prepared) -> Result<Vec<TranslationUnit>, Vec<Diagnostic>> {
    let (mut trees, mut errors) = (Vec::new(), Vec::new());
    for (range, _) in &prepared.units {
        match syntax::parse(&prepared.text, range.clone()) {
            Ok(tree) => trees.push(tree),
            Err(found) => errors.extend(found.into_iter().map(|e| syntax_error(prepared, e))),
        }
    }
    if errors.is_empty() { Ok(trees) } else { Err(errors) }
}

fn syntax_error(prepared: &Prepared, e: SyntaxError) -> Diagnostic {
    let d = prepared.error("E802", e.span.start, e.span.end, e.message);
    let d = e.label.into_iter().fold(d, Diagnostic::label);
    e.hint.into_iter().fold(d, Diagnostic::hint)
}

fn translate(prepared: &Prepared, question: &Question, library: &Arc<Library>) -> Result<Lowered, Rejected> {
    let rejected = |diagnostics| Rejected { source: prepared.user.clone(), diagnostics };
    let units = parse(prepared).map_err(rejected)?;
    library.check(&units)?;
    lower::lower(&units, prepared, question, library).map_err(|problems| {
        let diagnostic = |p: lower::Problem| {
            let d = if p.span.is_none() {
                Diagnostic::whole(p.code, p.message)
            } else {
                prepared.error(p.code, p.span.start, p.span.end, p.message)
            };
            p.hint.into_iter().fold(d, Diagnostic::hint)
        };
        rejected(problems.into_iter().map(diagnostic).collect())
    })
}
