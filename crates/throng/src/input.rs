//! What is verified: a file or a text in one of the input languages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Error;
use throng_lang::load::{Format, Loaded, Reading, decode, format_of, load, load_within, read};
use throng_lang::question::SourceDiagnostic;
use throng_lang::source::Source;
use throng_model::limits::Limits;

/// An input that was read: a program, a thread-transition system or a Petri net.
///
/// ```
/// use throng::{Format, Input};
/// let input = Input::from_text("decl lock := 0; void main() begin lock := 1; end", Format::Bp)?;
/// assert_eq!(input.format(), Format::Bp);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone)]
pub struct Input {
    path: PathBuf,
    reading: Reading,
    loaded: Arc<Loaded>,
    took: Duration,
}

impl Input {
    /// Reads a file in the format that its extension names; `-` is standard input.
    pub fn open(path: impl AsRef<Path>) -> Result<Input, Error> {
        Input::open_as(path, Reading::default())
    }

    /// Reads a file with options: its format, and how nets and programs are to be understood.
    pub fn open_as(path: impl AsRef<Path>, reading: Reading) -> Result<Input, Error> {
        let (path, began) = (path.as_ref(), Instant::now());
        let loaded = Arc::new(load(path, &reading)?);
        Ok(Input { path: path.into(), reading, loaded, took: began.elapsed() })
    }

    /// The same within limits; [`Error::Impossible`] says which one was hit.
    pub fn open_within(path: impl AsRef<Path>, reading: Reading, limits: &Limits) -> Result<Input, Error> {
        let (path, began) = (path.as_ref(), Instant::now());
        let loaded = Arc::new(load_within(path, &reading, limits)?);
        Ok(Input { path: path.into(), reading, loaded, took: began.elapsed() })
    }

    /// Reads a text.
    pub fn from_text(text: &str, format: Format) -> Result<Input, Error> {
        Input::from_text_as(text, format, Reading::default())
    }

    /// The same, read as `reading` says.
    pub fn from_text_as(text: &str, format: Format, reading: Reading) -> Result<Input, Error> {
        let reading = Reading { from: Some(format), ..reading };
        Input::from_source(Source::new(format!("<{format}>"), text), format, reading)
    }

    /// Reads a text that has a name, with options.
    pub fn from_source(source: Source, format: Format, reading: Reading) -> Result<Input, Error> {
        let began = Instant::now();
        let loaded = Arc::new(read(source, format, &reading)?);
        Ok(Input { path: PathBuf::new(), reading, loaded, took: began.elapsed() })
    }

    /// Reads the text of a file as an editor has it, which need not be what is on the disk. Files
    /// of properties are looked for beside `path`.
    pub fn edited(path: impl AsRef<Path>, text: &str) -> Result<Input, Error> {
        let (path, began) = (path.as_ref(), Instant::now());
        let name = path.display().to_string();
        let source = decode(name, text.as_bytes().to_vec())?;
        let reading = Reading::default();
        let loaded = Arc::new(read(source, format_of(path, &reading)?, &reading)?);
        Ok(Input { path: path.into(), reading, loaded, took: began.elapsed() })
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.loaded.source.name
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.loaded.source.text
    }

    /// Its language.
    pub fn format(&self) -> Format {
        self.loaded.format
    }

    /// Warnings of the reader.
    pub fn warnings(&self) -> impl Iterator<Item = SourceDiagnostic> + '_ {
        let source = &self.loaded.source;
        self.loaded
            .warnings
            .iter()
            .map(|d| SourceDiagnostic { source: source.clone(), diagnostic: d.clone() })
    }

    /// Where it came from; empty for a text.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it was read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// What the reader made of it.
    pub fn loaded(&self) -> &Arc<Loaded> {
        &self.loaded
    }

    /// How long reading took.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// The same input with the values of threads' variables kept, if they are asked for and were
    /// not kept.
    pub(crate) fn with_exact_copies(&self) -> Result<Input, Error> {
        if self.reading.exact_copies {
            return Ok(self.clone());
        }
        let began = Instant::now();
        let reading = Reading { exact_copies: true, ..self.reading };
        let loaded = read(Source::clone(&self.loaded.source), self.loaded.format, &reading)?;
        Ok(Input {
            path: self.path.clone(),
            reading,
            loaded: Arc::new(loaded),
            took: self.took + began.elapsed(),
        })
    }
}
