//! What is verified: a file or a text in one of the input languages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "code")]
use crate::code::Code;
#[cfg(feature = "c")]
use crate::code::Compiling;
use crate::error::Error;
#[cfg(feature = "c")]
use throng_c::Selection;
use throng_lang::load::{Format, Loaded, Reading, decode, format_of, load_within, read, read_within};
use throng_lang::question::SourceDiagnostic;
use throng_lang::source::{Diagnostic, Source};
use throng_model::limits::Limits;

/// An input that was read: a program, a thread-transition system or a Petri net; with the feature
/// `c` also a program in C.
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
    content: Content,
    took: Duration,
}

/// What the reader of a language made of an input.
#[derive(Clone)]
pub(crate) enum Content {
    /// A model.
    Model(Arc<Loaded>),
    /// A program in a source language.
    #[cfg(feature = "code")]
    Code(Arc<Code>),
}

impl Input {
    /// Reads a file in the format that its extension names; `-` is standard input.
    pub fn open(path: impl AsRef<Path>) -> Result<Input, Error> {
        Input::open_as(path, Reading::default())
    }

    /// Reads a file with options: its format, and how nets and programs are to be understood.
    pub fn open_as(path: impl AsRef<Path>, reading: Reading) -> Result<Input, Error> {
        Input::open_within(path, reading, &Limits::none())
    }

    /// The same within limits; [`Error::Impossible`] says which one was hit.
    pub fn open_within(path: impl AsRef<Path>, reading: Reading, limits: &Limits) -> Result<Input, Error> {
        let (path, began) = (path.as_ref(), Instant::now());
        let content = match format_of(path, &reading) {
            #[cfg(feature = "code")]
            Ok(format) if format.is_code() => Content::Code(Arc::new(Code::open(path, format, limits)?)),
            _ => Content::Model(Arc::new(load_within(path, &reading, limits)?)),
        };
        Ok(Input { path: path.into(), reading, content, took: began.elapsed() })
    }

    /// Reads a program in C as it is compiled.
    #[cfg(feature = "c")]
    pub fn open_c(path: impl AsRef<Path>, compiling: &Compiling, limits: &Limits) -> Result<Input, Error> {
        let (path, began) = (path.as_ref(), Instant::now());
        let content = Content::Code(Arc::new(Code::open_c(path, compiling, limits)?));
        let reading = Reading { from: Some(Format::C), ..Reading::default() };
        Ok(Input { path: path.into(), reading, content, took: began.elapsed() })
    }

    /// Reads a program of a build, as `compile_commands.json` describes it: each file with its own
    /// flags.
    #[cfg(feature = "c")]
    pub fn open_project(
        path: impl AsRef<Path>,
        selection: &Selection,
        limits: &Limits,
    ) -> Result<Input, Error> {
        let began = Instant::now();
        let code = Code::of_project(path.as_ref(), selection, limits)?;
        let first = code.files().next().map(Path::to_path_buf).unwrap_or_default();
        let reading = Reading { from: Some(Format::C), ..Reading::default() };
        Ok(Input { path: first, reading, content: Content::Code(Arc::new(code)), took: began.elapsed() })
    }

    /// Reads a file in Rust, which is compiled as a crate of its own.
    #[cfg(feature = "rust")]
    pub fn open_rust(
        path: impl AsRef<Path>,
        options: &crate::rust::Options,
        limits: &Limits,
    ) -> Result<Input, Error> {
        let (path, began) = (path.as_ref(), Instant::now());
        let content = Content::Code(Arc::new(crate::code::rust::open(path, options, limits)?));
        let reading = Reading { from: Some(Format::Rust), ..Reading::default() };
        Ok(Input { path: path.into(), reading, content, took: began.elapsed() })
    }

    /// Reads a package of cargo, with all that it depends on; what cargo has compiled before is not
    /// compiled again.
    #[cfg(feature = "rust")]
    pub fn open_package(package: &crate::rust::Package, limits: &Limits) -> Result<Input, Error> {
        let began = Instant::now();
        let compiled = crate::code::rust::compile(package, limits)?;
        Ok(Input { took: began.elapsed(), ..Input::compiled(compiled) })
    }

    /// What was compiled already.
    #[cfg(feature = "rust")]
    pub(crate) fn compiled(compiled: crate::code::rust::Compiled) -> Input {
        let path = compiled.manifest.clone();
        let reading = Reading { from: Some(Format::Rust), ..Reading::default() };
        let content = Content::Code(Arc::new(compiled.code()));
        Input { path, reading, content, took: Duration::ZERO }
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
        Input::of_source(PathBuf::new(), source, format, reading, &Limits::none())
    }

    /// Reads the text of a file as an editor has it, which need not be what is on the disk. Files
    /// of properties are looked for beside `path`.
    pub fn edited(path: impl AsRef<Path>, text: &str) -> Result<Input, Error> {
        Input::edited_as(path, text, Reading::default())
    }

    /// The same, read as `reading` says.
    pub fn edited_as(path: impl AsRef<Path>, text: &str, reading: Reading) -> Result<Input, Error> {
        let path = path.as_ref();
        let source = decode(path.display().to_string(), text.as_bytes().to_vec())?;
        Input::edited_within(path, source, reading, &Limits::none())
    }

    /// The same of a text that messages call by a name of its own, within limits.
    pub fn edited_within(
        path: impl AsRef<Path>,
        text: Source,
        reading: Reading,
        limits: &Limits,
    ) -> Result<Input, Error> {
        let path = path.as_ref();
        Input::of_source(path.into(), text, format_of(path, &reading)?, reading, limits)
    }

    fn of_source(
        path: PathBuf,
        source: Source,
        format: Format,
        reading: Reading,
        limits: &Limits,
    ) -> Result<Input, Error> {
        let began = Instant::now();
        let content = match format {
            #[cfg(feature = "code")]
            format if format.is_code() => {
                let named = if path.as_os_str().is_empty() { Path::new(&source.name) } else { &path };
                Content::Code(Arc::new(Code::edited(named, source.clone(), format, limits)?))
            }
            _ => Content::Model(Arc::new(read_within(source, format, &reading, limits)?)),
        };
        Ok(Input { path, reading, content, took: began.elapsed() })
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.source().name
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.source().text
    }

    /// Its text and what messages call it.
    pub fn source(&self) -> &Arc<Source> {
        match &self.content {
            Content::Model(loaded) => &loaded.source,
            #[cfg(feature = "code")]
            Content::Code(code) => code.source(),
        }
    }

    /// Its language.
    pub fn format(&self) -> Format {
        match &self.content {
            Content::Model(loaded) => loaded.format,
            #[cfg(feature = "code")]
            Content::Code(code) => code.format(),
        }
    }

    /// Warnings of the reader.
    pub fn warnings(&self) -> impl Iterator<Item = SourceDiagnostic> + '_ {
        let warnings: Vec<Diagnostic> = match &self.content {
            Content::Model(loaded) => loaded.warnings.clone(),
            #[cfg(feature = "code")]
            Content::Code(code) => code.warnings().collect(),
        };
        let source = self.source();
        warnings.into_iter().map(|diagnostic| SourceDiagnostic { source: source.clone(), diagnostic })
    }

    /// The files that it was read from, with headers and files of flags; none of a text.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.content {
            _ if self.path.as_os_str().is_empty() => Vec::new(),
            #[cfg(feature = "code")]
            Content::Code(code) => code.files().map(Path::to_path_buf).collect(),
            Content::Model(_) => vec![self.path.clone()],
        }
    }

    /// Where it came from; empty for a text.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it was read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// The model that the reader made of it; `None` of a program in a source language, whose model
    /// depends on the question ([`crate::Job::prepare`]).
    pub fn loaded(&self) -> Option<&Arc<Loaded>> {
        match &self.content {
            Content::Model(loaded) => Some(loaded),
            #[cfg(feature = "code")]
            Content::Code(_) => None,
        }
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// Returns the input with another content, such as one that was edited.
    pub(crate) fn with(&self, content: Content) -> Input {
        Input { content, ..self.clone() }
    }

    /// How long reading took.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// The same input with the values of threads' variables kept, if they are asked for and were
    /// not kept.
    pub(crate) fn with_exact_copies(&self) -> Result<Input, Error> {
        let Some(loaded) = self.loaded() else { return Ok(self.clone()) };
        if self.reading.exact_copies {
            return Ok(self.clone());
        }
        let began = Instant::now();
        let reading = Reading { exact_copies: true, ..self.reading };
        let content = Content::Model(Arc::new(read(Source::clone(&loaded.source), loaded.format, &reading)?));
        Ok(Input { reading, content, took: self.took + began.elapsed(), ..self.clone() })
    }
}
