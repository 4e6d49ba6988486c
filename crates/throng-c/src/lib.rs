//! C as an input: a reader that makes goto programs, replays of runs as C programs, witnesses and
//! mutants.
//!
//! ```text
//! .c ─ cc -E ─► tokens ─► tree ─► goto program (throng-goto)
//! ```
//!
//! What the reader does not understand it refuses, by name and position.

pub mod constructs;
mod library;
mod lower;
pub mod mutants;
pub mod preprocess;
pub mod replay;
mod types;
pub mod witness;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use lang_c::ast::TranslationUnit;
use throng_goto::{Note, Program, Query, Question};
use throng_lang::load::Rejected;
use throng_lang::source::{Diagnostic, Source};

pub use preprocess::Options;
use preprocess::{Prepared, Unit};

/// A C program that was read: what it means and what is asked, and the text it was read from.
#[derive(Clone)]
pub struct Loaded {
    /// The goto program and the question.
    pub query: Query,
    /// The text that the parser read.
    pub text: Arc<Prepared>,
}

impl Loaded {
    /// Returns the same program with another question.
    pub fn asking(&self, question: &Question) -> Result<Loaded, Rejected> {
        let done = on_large_stack(|| translate(Prepared::clone(&self.text), question));
        loaded(self.query.source.clone(), question.clone(), done)
    }
}

/// Reads a `.c` file through the preprocessor, or a `.i` file as it is.
pub fn load(path: &Path, options: &Options) -> Result<Loaded, Rejected> {
    let user = throng_lang::load::read_source(path)?;
    let mut units = Vec::new();
    for (i, file) in std::iter::once(path).chain(options.more.iter().map(|p| p.as_path())).enumerate() {
        let name = file.display().to_string();
        let raw = if !preprocess::is_preprocessed(file) {
            let bytes = preprocess::preprocess(file, options)
                .map_err(|why| Rejected { source: Arc::new(user.clone()), diagnostics: vec![why] })?;
            String::from_utf8_lossy(&bytes).into_owned()
        } else if i == 0 {
            user.text.clone()
        } else {
            format!("# 1 \"{name}\"\n{}", throng_lang::load::read_source(file)?.text)
        };
        let end = if options.more.is_empty() { "" } else { "\n" };
        units.push(Unit { file: name, raw: raw + end });
    }
    read_units(user, units, options)
}

/// Reads text that is preprocessed already. `user` is the file that messages are about.
pub fn read(user: Source, raw: String, options: &Options) -> Result<Loaded, Rejected> {
    let file = user.name.clone();
    read_units(user, vec![Unit { file, raw }], options)
}

fn read_units(user: Source, units: Vec<Unit>, options: &Options) -> Result<Loaded, Rejected> {
    let source = Arc::new(user.clone());
    let question = options.question.clone();
    let done = on_large_stack(|| {
        let prepared = Prepared::new(units, user).map_err(|d| vec![d])?;
        translate(prepared, &question)
    });
    loaded(source, question, done)
}

/// Runs work that goes down the tree by recursion, as the parser does; `None` if that fails.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    const STACK: usize = 512 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.ok().and_then(|t| t.join().ok())
    })
}

fn loaded(
    source: Arc<Source>,
    question: Question,
    done: Option<Result<Translated, Vec<Diagnostic>>>,
) -> Result<Loaded, Rejected> {
    let (program, notes, text) = rejected(&source, done)?;
    let query = Query { source, program: Arc::new(program), question, notes };
    Ok(Loaded { query, text: Arc::new(text) })
}

fn rejected<T>(source: &Arc<Source>, done: Option<Result<T, Vec<Diagnostic>>>) -> Result<T, Rejected> {
    let failed = || {
        let message = "the reader of C failed on this program: please report it";
        Err(vec![Diagnostic::whole("E809", message)])
    };
    done.unwrap_or_else(failed).map_err(|diagnostics| Rejected { source: source.clone(), diagnostics })
}

type Translated = (Program, Vec<Note>, Prepared);

/// Returns the trees of all translation units. Offsets in them are those of the whole text.
fn parse(prepared: &Prepared) -> Result<Vec<TranslationUnit>, Vec<Diagnostic>> {
    prepared.units.iter().map(|(range, _)| parse_unit(prepared, range.clone())).collect()
}

fn parse_unit(prepared: &Prepared, range: Range<usize>) -> Result<TranslationUnit, Vec<Diagnostic>> {
    let config = lang_c::driver::Config::with_gcc();
    let text = " ".repeat(range.start) + &prepared.text[range];
    let parsed = lang_c::driver::parse_preprocessed(&config, text).map_err(|why| {
        let mut expected: Vec<&str> = why.expected.iter().copied().collect();
        expected.sort_unstable();
        let d = prepared.error("E802", why.offset, why.offset + 1, "this is not C that I can read");
        vec![match expected.len() {
            1..=6 => d.label(format!("expected {}", expected.join(" or "))),
            _ => d,
        }]
    })?;
    Ok(parsed.unit)
}

fn translate(prepared: Prepared, question: &Question) -> Result<Translated, Vec<Diagnostic>> {
    let units = parse(&prepared)?;
    let done = lower::lower(&units, &prepared, question).map_err(|problems| {
        let diagnostic = |p: lower::Problem| {
            let d = if p.span.is_none() {
                Diagnostic::whole(p.code, p.message)
            } else {
                prepared.error(p.code, p.span.start, p.span.end, p.message)
            };
            match p.hint {
                Some(hint) => d.hint(hint),
                None => d,
            }
        };
        problems.into_iter().map(diagnostic).collect::<Vec<_>>()
    })?;
    Ok((done.0, done.1, prepared))
}
