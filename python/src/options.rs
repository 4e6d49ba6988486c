//! Questions and search options as Python passes them: dictionaries whose keys are the keyword
//! arguments.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use throng::lang::Vocabulary;
use throng::model::limits::Limits;
use throng::{Engine, Settings};

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
    deadlock: "deadlock",
    stuck: "stuck",
    invariant: "invariant",
    from: "format",
    init_free: "init_free",
    timeout: "timeout",
    memory: "memory",
    max_threads: "max_threads",
    auto: "engine='auto'",
    backward: "engine='backward'",
    engine: "another engine",
    answer: "throng.check",
    ..Vocabulary::LIBRARY
};

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
    invariant: Vec<String>,
}

impl From<Question> for throng::Question {
    fn from(asked: Question) -> throng::Question {
        throng::Question {
            initial: asked.initial,
            threads: asked.threads,
            targets: asked.target,
            prop: asked.prop,
            error_labels: asked.error_label,
            mutex: asked.mutex,
            at_most: asked.at_most,
            never: asked.never,
            races: asked.race,
            deadlock: asked.deadlock,
            stuck: asked.stuck,
            invariants: asked.invariant,
            may_lack_target: false,
            vocabulary: &PYTHON,
        }
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

    pub(crate) fn limits(&self) -> PyResult<Limits> {
        let mut limits = Limits::none();
        if let Some(seconds) = self.timeout {
            let wrong = |_| PyValueError::new_err("timeout: expected a number of seconds, 0 or more");
            limits = limits.timeout(Duration::try_from_secs_f64(seconds).map_err(wrong)?);
        }
        if let Some(mebibytes) = self.memory {
            limits = limits.memory(mebibytes.saturating_mul(1 << 20));
        }
        Ok(limits)
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
