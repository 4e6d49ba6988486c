//! C as an input: a reader, the goto program with its interpreter, and the concrete model that engines search.
//!
//! ```text
//! .c ─ cc -E ─► tokens ─► tree ─► goto program ─► interpreter, concrete model
//! ```
//!
//! [`step`] is the one definition of what a program does. What the reader does not understand it refuses, by name and position;
//! what the concrete model leaves out makes it incomplete, so that a run still counts and nothing is proved.

pub mod constructs;
pub mod dot;
pub mod doubt;
pub mod goto;
pub mod interpreter;
mod library;
pub mod locksets;
mod lower;
pub mod model;
pub mod mutants;
pub mod note;
pub mod preprocess;
pub mod question;
pub mod replay;
pub mod step;
mod types;
pub mod witness;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use lang_c::ast::TranslationUnit;
use throng_lang::load::Rejected;
use throng_lang::source::{Diagnostic, Source};
use throng_model::problem::{Bound, Initial, Problem, Target};
use throng_model::{Bag, Config};

pub use goto::Program;
pub use model::Concrete;
pub use note::Note;
pub use preprocess::Options;
use preprocess::{Prepared, Unit};
pub use question::Question;

use goto::{Start, Violation};

/// A C program that was read.
#[derive(Clone)]
pub struct Loaded {
    /// The user's file.
    pub source: Arc<Source>,
    /// What it means.
    pub program: Arc<Program>,
    /// What was asked.
    pub question: Question,
    /// What was left open in reading it.
    pub notes: Vec<Note>,
    /// The text that the parser read.
    pub text: Arc<Prepared>,
}

impl Loaded {
    /// The same program with another question.
    pub fn asking(&self, question: &Question) -> Result<Loaded, Rejected> {
        let done = on_large_stack(|| translate(Prepared::clone(&self.text), question));
        let (program, notes, text) = rejected(&self.source, done)?;
        let (program, text) = (Arc::new(program), Arc::new(text));
        Ok(Loaded { source: self.source.clone(), program, question: question.clone(), notes, text })
    }

    /// The program as a model.
    pub fn model(&self) -> Arc<Concrete> {
        Arc::new(Concrete::new(self.program.clone()))
    }

    /// The question whether some run violates a property, over concrete values.
    pub fn problem(&self) -> Problem {
        self.problem_of(self.model())
    }

    /// The same about a model of the program.
    pub fn problem_of(&self, model: Arc<Concrete>) -> Problem {
        let (shared, threads) = model.initial();
        let initial = match &self.program.start {
            Start::One(_) => Initial { shared, threads: threads.iter().copied().collect(), any: Vec::new() },
            Start::Any(_) => Initial { shared, threads: Bag::new(), any: threads.to_vec() },
        };
        let names = self.question.entries.join(", ");
        let initial_text = match &self.program.start {
            Start::One(_) if self.question.entries.is_empty() => "one thread at main".into(),
            Start::One(_) => format!("one thread that starts any number of threads, each calling {names}"),
            Start::Any(_) => format!("any number of threads, each calling {names}"),
        };
        let targets = self.program.asked.iter().enumerate().map(|(n, &what)| {
            let mut bad = vec![Config::new(model.failed(n), Bag::new())];
            // Nothing is known about what the program does after a memory error.
            if self.program.memory_errors && what != Violation::Memory {
                bad.push(Config::new(model.memory_error(), Bag::new()));
            }
            Target::covering(self.question.name(what), bad)
        });
        Problem { targets: targets.collect(), initial: vec![initial], initial_text, bound: Bound::Any, model }
    }

    /// The functions that are called, and neither defined nor known: they may do anything, so that
    /// nothing is proved about the program.
    pub fn undefined(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().filter_map(|note| match note {
            Note::Undefined(name) => Some(name.as_str()),
            Note::Assumed(_) => None,
        })
    }

    /// Returns whether a proof is limited to sequential consistency: the program names weaker
    /// orders, and `--memory-model sc` is not given.
    pub fn only_sequential(&self) -> bool {
        self.program.weak_orders && !self.question.sequential
    }

    /// What a verdict takes for granted, beside what [`Loaded::notes`] says.
    pub fn assumptions(&self, remarks: &model::Remarks) -> Vec<String> {
        let mut found = vec!["sequential consistency".to_string()];
        if self.program.weak_orders {
            found.push("weaker memory orders are executed as memory_order_seq_cst".into());
        }
        if remarks.overflow.is_some() && !self.question.overflow {
            found.push("signed integers wrap around".into());
        }
        if self.program.waits && self.question.exact_waits() {
            found.push("condition variables do not wake up spuriously".into());
        }
        if self.question.whole_statements {
            found.push("statements without calls, and conditions, are one step".into());
        }
        found.extend(self.notes.iter().map(Note::to_string));
        found
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
    let (program, notes, text) = rejected(&source, done)?;
    Ok(Loaded { source, program: Arc::new(program), question, notes, text: Arc::new(text) })
}

/// The parser and what follows go down the tree by recursion; `None` if that fails.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    const STACK: usize = 512 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.ok().and_then(|t| t.join().ok())
    })
}

fn rejected<T>(source: &Arc<Source>, done: Option<Result<T, Vec<Diagnostic>>>) -> Result<T, Rejected> {
    let failed = || {
        let message = "the reader of C failed on this program: please report it";
        Err(vec![Diagnostic::whole("E809", message)])
    };
    done.unwrap_or_else(failed).map_err(|diagnostics| Rejected { source: source.clone(), diagnostics })
}

type Translated = (Program, Vec<Note>, Prepared);

/// The trees of all translation units. Offsets in them are those of the whole text.
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
