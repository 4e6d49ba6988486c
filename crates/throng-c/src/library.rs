//! Functions of the C library and of POSIX that are known without their code: what they do with
//! what their arguments point to, and what they return.
//!
//! The table is in `library/*.toml`, one line for each function; users add rows of their own. A
//! function that is not there, has no meaning of its own ([`special`]) and is not defined by the
//! program may do anything.

pub(crate) mod format;
pub(crate) mod math;
pub(crate) mod prelude;
pub(crate) mod row;
pub(crate) mod special;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::syntax::ast::{ExternalDeclaration, TranslationUnit};
use row::{Function, Row};
use special::Meaning;
use throng_lang::load::{Rejected, read_source};
use throng_lang::source::{Diagnostic, Source, Span};

/// The table, by header. Each row is one line.
const FILES: &[&str] = &[
    include_str!("../library/compiler.toml"),
    include_str!("../library/files.toml"),
    include_str!("../library/linux.toml"),
    include_str!("../library/math.toml"),
    include_str!("../library/network.toml"),
    include_str!("../library/process.toml"),
    include_str!("../library/stdio.toml"),
    include_str!("../library/stdlib.toml"),
    include_str!("../library/string.toml"),
    include_str!("../library/threads.toml"),
    include_str!("../library/time.toml"),
    include_str!("../library/wchar.toml"),
];

/// A row of the table: its line, and what it says once that was asked for.
struct Line {
    text: &'static str,
    row: OnceLock<Option<Row>>,
}

/// Returns the lines of the table by the functions that they are about. They are read when they are
/// asked for, because a program calls few of them.
fn lines() -> &'static HashMap<&'static str, Line> {
    static LINES: OnceLock<HashMap<&'static str, Line>> = OnceLock::new();
    LINES.get_or_init(|| {
        let lines = FILES.iter().flat_map(|file| file.lines());
        let named = lines.filter_map(|text| Some((text.split_once(" = {")?.0, text)));
        named.map(|(name, text)| (name, Line { text, row: OnceLock::new() })).collect()
    })
}

/// Returns what the table says about a function.
fn built_in(name: &str) -> Option<&'static Row> {
    let line = lines().get(name)?;
    let read = || toml::from_str::<BTreeMap<String, Row>>(line.text).ok()?.into_values().next();
    line.row.get_or_init(read).as_ref()
}

/// What is known about functions without a body: the table, and rows of the user.
///
/// ```
/// use throng_c::Library;
/// let row = "[log_line]\narguments = [\"text\", \"value\"]\nreturns = \"0..\"\n";
/// assert!(Library::read("log.toml", row).is_ok());
/// assert!(Library::read("log.toml", "[strlen]\nreturns = \"0..\"\n").is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Library {
    rows: BTreeMap<String, Row>,
    /// Where the user's rows are.
    files: Vec<(Arc<Source>, BTreeMap<String, Span>)>,
}

impl Library {
    /// Reads rows of the user from files.
    pub fn open(paths: &[impl AsRef<Path>]) -> Result<Library, Rejected> {
        let mut library = Library::default();
        for path in paths {
            library.add(read_source(path.as_ref())?)?;
        }
        Ok(library)
    }

    /// Reads rows from a text that has a name.
    pub fn read(name: impl Into<String>, text: impl Into<String>) -> Result<Library, Rejected> {
        let mut library = Library::default();
        library.add(Source::new(name, text))?;
        Ok(library)
    }

    fn add(&mut self, source: Source) -> Result<(), Rejected> {
        let source = Arc::new(source);
        let rejected = |span, message: String| Rejected {
            source: source.clone(),
            diagnostics: vec![Diagnostic::error("E812", span, message)],
        };
        let rows: BTreeMap<toml::Spanned<String>, Row> = toml::from_str(&source.text).map_err(|e| {
            let at = e.span().unwrap_or(0..0);
            rejected(Span::new(at.start, at.end), e.message().to_string())
        })?;
        let mut places = BTreeMap::new();
        for (name, row) in rows {
            let at = Span::new(name.span().start, name.span().end);
            let name = name.into_inner();
            let known = built_in(&name).is_some() || special::special(&name, false).is_some();
            if known || prelude::defines(&name) {
                return Err(rejected(at, format!("`{name}` is known already: its row is built in")));
            }
            if let Row::Like(other) = &row
                && built_in(other).is_none()
                && special::special(other, false).is_none()
                && !prelude::defines(other)
            {
                return Err(rejected(at, format!("`{name}` is like `{other}`, which is not known")));
            }
            if self.rows.insert(name.clone(), row).is_some() {
                return Err(rejected(at, format!("there is another row about `{name}`")));
            }
            places.insert(name, at);
        }
        self.files.push((source, places));
        Ok(())
    }

    /// Refuses rows about functions that the program defines itself.
    pub(crate) fn check(&self, units: &[TranslationUnit]) -> Result<(), Rejected> {
        let items = units.iter().filter(|_| !self.rows.is_empty()).flat_map(|u| &u.0);
        for item in items {
            let ExternalDeclaration::FunctionDefinition(f) = &item.node else { continue };
            let name = crate::lower::declared_name(&f.node.declarator.node).unwrap_or_default();
            for (source, places) in &self.files {
                if let Some(&at) = places.get(name) {
                    let message = format!("the program defines `{name}` itself: the row says nothing");
                    let diagnostics = vec![Diagnostic::error("E812", at, message)];
                    return Err(Rejected { source: source.clone(), diagnostics });
                }
            }
        }
        Ok(())
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.get(name).or_else(|| built_in(name))
    }

    /// Returns the function that one means, which is another one if the table says so.
    pub(crate) fn plain<'n>(&'n self, name: &'n str) -> &'n str {
        let mut name = name;
        // The other one may be like a third one.
        for _ in 0..4 {
            match self.row(name) {
                Some(Row::Like(other)) => name = other,
                _ => break,
            }
        }
        name
    }

    /// Returns what a call of this name means, for a program that defines a function of the name
    /// or does not.
    pub(crate) fn meaning(&self, name: &str, defined: bool) -> Option<Meaning> {
        let plain = if defined { name } else { self.plain(name) };
        special::special(plain, defined)
    }

    /// Returns what a row says about a function that is not defined.
    pub(crate) fn known(&self, name: &str) -> Option<&Function> {
        match self.row(self.plain(name))? {
            Row::Function(f) => Some(f),
            Row::Like(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
