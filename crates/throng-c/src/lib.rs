//! C as an input: a reader, the goto program with its interpreter, and the concrete model that engines search.
//!
//! ```text
//! .c ─ cc -E ─► tokens ─► tree ─► goto program ─► interpreter, concrete model
//! ```
//!
//! [`step`] is the one definition of what a program does. What the reader does not understand it refuses, by name and position;
//! what the concrete model leaves out makes it incomplete, so that a run still counts and nothing is proved.

pub mod goto;
pub mod interpreter;
mod lower;
pub mod model;
pub mod preprocess;
pub mod step;
mod types;

use std::path::Path;
use std::sync::Arc;

use throng_lang::load::Rejected;
use throng_lang::source::{Diagnostic, Source};
use throng_model::problem::{Bound, Initial, Problem, Target};
use throng_model::{Bag, Config};

pub use goto::Program;
pub use model::Concrete;
pub use preprocess::Options;
use preprocess::Prepared;

/// A C program that was read.
pub struct Loaded {
    /// The user's file.
    pub source: Arc<Source>,
    /// What it means.
    pub program: Arc<Program>,
    /// What was assumed in reading it.
    pub notes: Vec<String>,
}

impl Loaded {
    /// The question whether some run violates the property, over concrete values.
    pub fn problem(&self) -> Problem {
        let model = Concrete::new(self.program.clone());
        let (shared, main) = model.initial();
        Problem {
            model: Arc::new(model),
            initial: vec![Initial { shared, threads: Bag::one(main), any: Vec::new() }],
            initial_text: "one thread at main".into(),
            targets: vec![Target::covering("assertions", vec![Config::new(model::FAILED, Bag::new())])],
            bound: Bound::Any,
        }
    }
}

/// Reads a `.c` file through the preprocessor, or a `.i` file as it is.
pub fn load(path: &Path, options: &Options) -> Result<Loaded, Rejected> {
    let user = throng_lang::load::read_source(path)?;
    let mut raw = String::new();
    for (i, file) in std::iter::once(path).chain(options.more.iter().map(|p| p.as_path())).enumerate() {
        if preprocess::is_preprocessed(file) {
            raw.push_str(&if i == 0 {
                user.text.clone()
            } else {
                throng_lang::load::read_source(file)?.text
            });
        } else {
            let bytes = preprocess::preprocess(file, options)
                .map_err(|why| Rejected { source: Arc::new(user.clone()), diagnostics: vec![why] })?;
            raw.push_str(&String::from_utf8_lossy(&bytes));
        }
        raw.push('\n');
    }
    if preprocess::is_preprocessed(path) && options.more.is_empty() {
        raw.pop();
    }
    read(user, raw, options)
}

/// Reads text that is preprocessed already. `user` is the file that messages are about.
pub fn read(user: Source, raw: String, options: &Options) -> Result<Loaded, Rejected> {
    const STACK: usize = 512 << 20;
    let source = Arc::new(user.clone());
    let rejected = |diagnostics| Rejected { source: source.clone(), diagnostics };
    let options = options.clone();
    // The parser and what follows go down the tree by recursion.
    let work = std::thread::Builder::new().stack_size(STACK).spawn(move || translate(user, raw, &options));
    let done = work.map(|w| w.join());
    match done {
        Ok(Ok(Ok((program, notes)))) => Ok(Loaded { source, program: Arc::new(program), notes }),
        Ok(Ok(Err(found))) => Err(rejected(found)),
        Ok(Err(_)) | Err(_) => Err(rejected(vec![Diagnostic::whole(
            "E809",
            "the reader of C failed on this program: please report it",
        )])),
    }
}

fn translate(
    user: Source,
    raw: String,
    options: &Options,
) -> Result<(Program, Vec<String>), Vec<Diagnostic>> {
    let prepared = Prepared::new(raw, user).map_err(|d| vec![d])?;
    let config = lang_c::driver::Config::with_gcc();
    let parsed = lang_c::driver::parse_preprocessed(&config, prepared.text.clone()).map_err(|why| {
        let mut expected: Vec<&str> = why.expected.iter().copied().collect();
        expected.sort_unstable();
        let d = prepared.error("E802", why.offset, why.offset + 1, "this is not C that I can read");
        vec![match expected.len() {
            1..=6 => d.label(format!("expected {}", expected.join(" or "))),
            _ => d,
        }]
    })?;
    let units = [parsed.unit];
    lower::lower(&units, &prepared, &options.error_labels).map_err(|problems| {
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
        problems.into_iter().map(diagnostic).collect()
    })
}
