//! The native part of the Python package `throng`: inputs, searches, and models whose moves are
//! Python functions.
//!
//! It is a thin layer. It returns answers as the JSON documents that `throng check --json` and the
//! other commands print, and `throng/results.py` converts them to dataclasses.

mod options;
mod search;
mod template;

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use throng::model::limits::Limits;
use throng::{Error, Input};
use throng_lang::source::render;

use crate::options::{Choice, Opening};

create_exception!(
    throng,
    ThrongError,
    PyException,
    "The input or the question is wrong; the message says where."
);

/// Converts an error of the library to an exception.
pub(crate) fn raised(error: Error) -> PyErr {
    ThrongError::new_err(error.to_string().trim_end().to_string())
}

/// A program, a thread-transition system or a net that was read.
#[pyclass(frozen)]
pub(crate) struct Loaded(pub(crate) Input);

#[pymethods]
impl Loaded {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, opening: Opening) -> PyResult<Loaded> {
        search::apart(py, opening.file(&path)?)?.map(Loaded).map_err(raised)
    }

    #[staticmethod]
    fn project(py: Python<'_>, path: PathBuf, choice: Choice) -> PyResult<Loaded> {
        let selection = choice.selection()?;
        let read = move || Input::open_project(path, &selection()?, &Limits::none());
        search::apart(py, read)?.map(Loaded).map_err(raised)
    }

    #[staticmethod]
    fn text(py: Python<'_>, text: String, name: String, opening: Opening) -> PyResult<Loaded> {
        search::apart(py, opening.text(name, text)?)?.map(Loaded).map_err(raised)
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn source(&self) -> &str {
        self.0.text()
    }

    #[getter]
    fn format(&self) -> String {
        self.0.format().to_string()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        let rendered = |w: throng::SourceDiagnostic| render(&w.diagnostic, &w.source, false);
        self.0.warnings().map(rendered).collect()
    }
}

/// An answer: a JSON document, and a report as text.
#[pyclass(frozen)]
pub(crate) struct Answer {
    json: String,
    text: String,
    html: Box<dyn Fn() -> String + Send + Sync>,
    certificate: Option<Arc<[u8]>>,
    /// What to say beside the answer.
    remarks: Vec<String>,
    /// The run as a C program, or why there is none.
    replay: Option<Result<String, String>>,
}

impl Answer {
    /// An answer with nothing beside it.
    fn plain(json: String, text: String, html: impl Fn() -> String + Send + Sync + 'static) -> Answer {
        Answer { json, text, html: Box::new(html), certificate: None, remarks: Vec::new(), replay: None }
    }
}

#[pymethods]
impl Answer {
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| (self.html)())
    }

    #[getter]
    fn certificate(&self) -> Option<&[u8]> {
        self.certificate.as_deref()
    }

    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    fn replay(&self) -> PyResult<Option<&str>> {
        let refused = |why: &String| ThrongError::new_err(format!("the run cannot be replayed: {why}"));
        self.replay.as_ref().map(|replay| replay.as_deref().map_err(refused)).transpose()
    }
}

/// The native module.
#[pymodule]
mod _throng {
    #[pymodule_export]
    use super::search::{certify, check, cutoff, mutate, reach};
    #[pymodule_export]
    use super::{Answer, Loaded, ThrongError};

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        super::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
