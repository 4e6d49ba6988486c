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
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use throng::lang::Source;
use throng::{Error, Format, Input, Reading};
use throng_lang::source::render;

use crate::options::PYTHON;

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

fn reading(format: Option<&str>, init_free: bool, keep_ended: bool) -> PyResult<Reading> {
    let from = format.map(str::parse::<Format>).transpose();
    let from = from.map_err(|why| PyValueError::new_err(format!("format: {why}")))?;
    Ok(Reading { from, init_free, keep_ended, vocabulary: &PYTHON, ..Reading::default() })
}

#[pymethods]
impl Loaded {
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        init_free: bool,
        keep_ended: bool,
    ) -> PyResult<Loaded> {
        let reading = reading(format, init_free, keep_ended)?;
        search::apart(py, || Input::open_as(path, reading))?.map(Loaded).map_err(raised)
    }

    #[staticmethod]
    fn text(
        py: Python<'_>,
        text: String,
        name: String,
        format: &str,
        init_free: bool,
        keep_ended: bool,
    ) -> PyResult<Loaded> {
        let reading = reading(Some(format), init_free, keep_ended)?;
        let format = reading.from.unwrap_or(Format::Bp);
        let read = || Input::from_source(Source::new(name, text), format, reading);
        search::apart(py, read)?.map(Loaded).map_err(raised)
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
}

/// The native module.
#[pymodule]
mod _throng {
    #[pymodule_export]
    use super::search::{certify, check, cutoff, reach};
    #[pymodule_export]
    use super::{Answer, Loaded, ThrongError};

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        super::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
