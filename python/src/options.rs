//! How inputs are read, questions and search options as Python passes them: dictionaries whose keys
//! are the keyword arguments.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use throng::lang::{Source, Vocabulary};
use throng::model::limits::Limits;
use throng::{
    CodeQuestion, Compiling, Engine, Error, Flags, Format, Input, Library, Reading, Selection, Settings,
};
use throng_lang::load::format_of;

/// The names of keyword arguments in messages.
pub(crate) static PYTHON: Vocabulary = Vocabulary {
    initial: "initial",
    threads: "threads",
    target: "target",
    prop: "prop",
    error_label: "error_label",
    mutex: "mutex",
    at_most: "at_most",
    never: "never",
    race: "race",
    data_race: "data_race",
    overflow: "overflow",
    locks: "locks",
    memory_safety: "memory_safety",
    assertions: "assertions",
    property: "property",
    library: "library",
    entry: "entries",
    // These are for the command line and the library.
    setup: "`throng check --setup`",
    one: "`throng check --one`",
    volatile_atomic: "`throng check --volatile-atomic`",
    baseline: "`throng check --baseline`",
    no_spurious: "no_spurious",
    whole_statements: "whole_statements",
    memory_model: "memory_model",
    deadlock: "deadlock",
    stuck: "stuck",
    starvation: "starvation",
    invariant: "invariant",
    from: "format",
    init_free: "init_free",
    timeout: "timeout",
    memory: "memory",
    max_threads: "max_threads",
    auto: "engine='auto'",
    backward: "engine='backward'",
    // The package is built without it.
    symbolic: "`throng check --engine symbolic`",
    engine: "another engine",
};

/// How an input is read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Opening {
    format: Option<String>,
    init_free: bool,
    keep_ended: bool,
    defines: Vec<String>,
    includes: Vec<PathBuf>,
    flags: Vec<String>,
    more: Vec<PathBuf>,
    ilp32: bool,
    library: Vec<PathBuf>,
}

/// Which files of a build are one program.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Choice {
    files: Vec<PathBuf>,
    main: Option<PathBuf>,
    entries: Vec<String>,
    flags: Vec<String>,
    library: Vec<PathBuf>,
}

impl Choice {
    /// Returns what reads the build.
    pub(crate) fn selection(self) -> PyResult<impl FnOnce() -> Result<Selection, Error> + Send> {
        let flags = Flags::read(self.flags).map_err(refused_flag)?;
        let Choice { files, main, entries, library, .. } = Choice { flags: Vec::new(), ..self };
        Ok(move || {
            let library = Arc::new(Library::open(&library)?);
            Ok(Selection { files, main, entries, flags, library })
        })
    }
}

fn refused_flag(why: String) -> PyErr {
    PyValueError::new_err(format!("flags: {why}"))
}

impl Opening {
    /// Returns the flags of the compiler.
    fn compiler(&self) -> PyResult<Flags> {
        let mut words: Vec<String> = self.defines.iter().map(|name| format!("-D{name}")).collect();
        for folder in &self.includes {
            let name = folder.to_str().ok_or_else(|| PyValueError::new_err("includes: not UTF-8"))?;
            words.extend(["-I".to_string(), name.to_string()]);
        }
        words.extend(self.flags.iter().cloned());
        words.extend(self.ilp32.then(|| "-m32".to_string()));
        Flags::read(words).map_err(refused_flag)
    }

    fn reading(&self) -> PyResult<Reading> {
        let from = self.format.as_deref().map(str::parse::<Format>).transpose();
        let from = from.map_err(|why| PyValueError::new_err(format!("format: {why}")))?;
        let Opening { init_free, keep_ended, .. } = *self;
        Ok(Reading { from, init_free, keep_ended, vocabulary: &PYTHON, ..Reading::default() })
    }

    /// Refuses what says nothing about an input in this format.
    fn refuse(&self, format: Format) -> Result<(), Error> {
        const C: &str = "C files";
        let is = |other: Format| format == other;
        let given = [
            ("defines", !self.defines.is_empty(), is(Format::C), C),
            ("includes", !self.includes.is_empty(), is(Format::C), C),
            ("flags", !self.flags.is_empty(), is(Format::C), C),
            ("more", !self.more.is_empty(), is(Format::C), C),
            ("ilp32", self.ilp32, is(Format::C), C),
            ("library", !self.library.is_empty(), is(Format::C), C),
            ("init_free", self.init_free, is(Format::Spec), "nets in mist's format"),
            ("keep_ended", self.keep_ended, is(Format::Bp), "Boolean programs"),
        ];
        match given.iter().find(|(_, given, fits, _)| *given && !fits) {
            Some((name, _, _, what)) => Err(Error::Unsuitable(format!("`{name}` is for {what}"))),
            None => Ok(()),
        }
    }

    /// Returns what reads the file.
    pub(crate) fn file(self, path: &Path) -> PyResult<impl FnOnce() -> Result<Input, Error> + Send> {
        let (reading, flags) = (self.reading()?, self.compiler()?);
        Ok(move || {
            let format = format_of(path, &reading)?;
            self.refuse(format)?;
            if format != Format::C {
                return Input::open_as(path, reading);
            }
            let library = Arc::new(Library::open(&self.library)?);
            let compiling = Compiling { library, ..Compiling::alike(flags, &self.more) };
            Input::open_c(path, &compiling, &Limits::none())
        })
    }

    /// Returns what reads the text, which has this name.
    pub(crate) fn text(
        self,
        name: String,
        text: String,
    ) -> PyResult<impl FnOnce() -> Result<Input, Error> + Send> {
        let reading = self.reading()?;
        let format = reading.from.unwrap_or(Format::Bp);
        Ok(move || {
            self.refuse(format)?;
            Input::from_source(Source::new(name, text), format, reading)
        })
    }
}

/// A question.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Question {
    initial: Option<String>,
    pub(crate) threads: Option<u32>,
    target: Vec<String>,
    prop: Option<PathBuf>,
    error_label: Vec<String>,
    mutex: Vec<String>,
    at_most: Vec<String>,
    never: Vec<String>,
    race: Vec<String>,
    deadlock: bool,
    stuck: Vec<String>,
    starvation: Vec<String>,
    invariant: Vec<String>,
    entries: Vec<String>,
    data_race: bool,
    overflow: bool,
    locks: bool,
    memory_safety: bool,
    assertions: bool,
    property: Option<PathBuf>,
    no_spurious: bool,
    whole_statements: bool,
    memory_model: Option<String>,
}

impl Question {
    pub(crate) fn asked(self) -> PyResult<throng::Question> {
        let memory_model = self.memory_model.as_deref().map(str::parse).transpose();
        let memory_model =
            memory_model.map_err(|why: String| PyValueError::new_err(format!("memory_model: {why}")))?;
        let code = CodeQuestion {
            entries: self.entries,
            data_race: self.data_race,
            overflow: self.overflow,
            locks: self.locks,
            memory_safety: self.memory_safety,
            assertions: self.assertions,
            property: self.property,
            no_spurious: self.no_spurious,
            whole_statements: self.whole_statements,
            memory_model,
            ..CodeQuestion::default()
        };
        Ok(throng::Question {
            initial: self.initial,
            threads: self.threads,
            targets: self.target,
            prop: self.prop,
            error_labels: self.error_label,
            mutex: self.mutex,
            at_most: self.at_most,
            never: self.never,
            races: self.race,
            deadlock: self.deadlock,
            stuck: self.stuck,
            starvation: self.starvation,
            invariants: self.invariant,
            may_lack_target: false,
            code,
            vocabulary: &PYTHON,
        })
    }
}

/// The options and limits of a search.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Search {
    engine: String,
    timeout: Option<f64>,
    memory: Option<u64>,
    jobs: Option<usize>,
    max_threads: Option<u32>,
}

impl Search {
    pub(crate) fn engine(&self) -> PyResult<Engine> {
        let names = || Engine::ALL.iter().map(|e| e.name()).collect::<Vec<_>>().join(", ");
        let wrong = |_| PyValueError::new_err(format!("engine: expected one of {}", names()));
        self.engine.parse().map_err(wrong)
    }

    /// Returns what limits a search; time counts from when that is applied.
    pub(crate) fn limiting(&self) -> PyResult<impl Fn(Limits) -> Limits + Send + use<>> {
        let wrong = |_| PyValueError::new_err("timeout: expected a number of seconds, 0 or more");
        let timeout = self.timeout.map(Duration::try_from_secs_f64).transpose().map_err(wrong)?;
        let memory = self.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
        Ok(move |limits: Limits| {
            let limits = timeout.into_iter().fold(limits, Limits::timeout);
            memory.into_iter().fold(limits, Limits::memory)
        })
    }

    pub(crate) fn limits(&self) -> PyResult<Limits> {
        Ok(self.limiting()?(Limits::none()))
    }

    /// Returns the settings; `jobs` defaults to the number of cores.
    pub(crate) fn settings(&self) -> PyResult<Settings> {
        let mut settings = Settings::default();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        settings.jobs = self.jobs.unwrap_or_else(cores);
        if settings.jobs == 0 {
            return Err(PyValueError::new_err("jobs: expected 1 or more"));
        }
        settings.max_threads = self.max_threads;
        Ok(settings)
    }
}
