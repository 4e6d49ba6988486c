//! The four questions, each answered on a thread of its own while Python's signals are watched.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;
use throng::check::{Asked, Fault, Origin, document, read, write};
use throng::model::limits::Limits;
use throng::model::verdict::{Unknown, Verdict};
use throng::report::json as documents;
use throng::{Error, Job, Moments};
use throng_check::certificate::write::cutoff_document;
use throng_check::certificate::{Claim, shrink};

use crate::options::{PYTHON, Question, Search};
use crate::template::{Failure, Never, PythonModel};
use crate::{Answer, Loaded, ThrongError, raised};

/// Size of the stack of readers, which are recursive; the same as on the command line.
const STACK: usize = 256 << 20;

/// Time between two checks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(20);

/// Limit on the time for shrinking evidence, as on the command line.
const SHRINKING: Duration = Duration::from_secs(2);

/// Runs `work` without Python's lock, on a large stack.
pub(crate) fn apart<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    watched(py, &Limits::none(), work)
}

/// Like [`apart`], but Ctrl-C stops the work.
fn watched<T: Send>(py: Python<'_>, limits: &Limits, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let stopper = limits.stopper();
    py.detach(|| {
        let (done, finished) = channel::<()>();
        std::thread::scope(|scope| {
            // The sender is dropped when the work ends, even by a panic.
            let work = move || {
                let _done = done;
                work()
            };
            let started = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            let worker =
                started.map_err(|why| PyRuntimeError::new_err(format!("cannot start a thread: {why}")))?;
            let mut interrupted = None;
            while finished.recv_timeout(SIGNALS) == Err(RecvTimeoutError::Timeout) {
                if interrupted.is_none()
                    && let Err(signal) = Python::attach(|py| py.check_signals())
                {
                    stopper.stop();
                    interrupted = Some(signal);
                }
            }
            let panicked =
                |_| PyRuntimeError::new_err("Throng failed inside: please report it with the input");
            let answer = worker.join().map_err(panicked)?;
            interrupted.map_or(Ok(answer), Err)
        })
    })
}

/// The subject of a question: an input, or a model written in Python with its targets.
#[derive(FromPyObject)]
pub(crate) enum Subject<'py> {
    Input(Bound<'py, Loaded>),
    Model((Bound<'py, PyAny>, Vec<Never>)),
}

/// The result of a question, before it is converted to an answer.
enum Reply {
    Answer(Box<Answer>),
    Wrong(Error),
    /// The search was stopped before there was a problem.
    Stopped(Unknown),
}

fn answered(
    py: Python<'_>,
    subject: Subject<'_>,
    question: Question,
    search: &Search,
    certificate: bool,
    stopped: impl Fn(&str, &Unknown) -> String,
    ask: impl FnOnce(&Job<'_>, &Limits) -> Result<Answer, Error> + Send,
) -> PyResult<Answer> {
    let (limits, mut settings) = (search.limits()?, search.settings()?);
    // A certificate cannot cover the configurations that partial-order reduction omits.
    settings.partial_order = !certificate;
    let (name, reply) = match subject {
        Subject::Input(input) => {
            let input = input.get().0.clone();
            let name = input.name().to_string();
            let work = || {
                let job = Job::new(&input).question(question.into()).settings(settings);
                ask(&job, &limits).map_or_else(Reply::Wrong, |answer| Reply::Answer(Box::new(answer)))
            };
            (name, watched(py, &limits, work)?)
        }
        Subject::Model((model, nevers)) => {
            let name = model.get_type().name()?.to_string();
            let model = PythonModel::new(&model, nevers, question.threads, limits.clone())?;
            let objects = model.objects.clone();
            let work = || {
                let answer = model.system().problem().map_err(Error::from).and_then(|problem| {
                    let job = Job::of(problem).vocabulary(&PYTHON).settings(settings);
                    ask(&job, &limits)
                });
                answer.map_or_else(Reply::Wrong, |answer| Reply::Answer(Box::new(answer)))
            };
            let reply = watched(py, &limits, work)?;
            // After a failure, the moves and predicates evaluated before it prove nothing about the
            // model.
            match objects.failure() {
                None => (name, reply),
                Some(Failure::Raised(error)) => return Err(error),
                Some(Failure::Limit(why)) => (name, Reply::Stopped(why)),
            }
        }
    };
    match reply {
        Reply::Answer(answer) => Ok(*answer),
        Reply::Wrong(Error::Impossible(why)) if why.cause() != "refused" => Ok(unknown(&name, &why, stopped)),
        Reply::Wrong(error) => Err(raised(error)),
        Reply::Stopped(why) => Ok(unknown(&name, &why, stopped)),
    }
}

/// Returns the answer of a search that was stopped before there was a problem.
fn unknown(name: &str, why: &Unknown, stopped: impl Fn(&str, &Unknown) -> String) -> Answer {
    let text = format!("UNKNOWN  {why}\n");
    let page = format!("<!doctype html><meta charset=utf-8><p>UNKNOWN: {}", escaped(&why.to_string()));
    Answer { json: stopped(name, why), text, html: Box::new(move || page.clone()), certificate: None }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns whether the properties hold.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    subject: Subject<'_>,
    question: Question,
    search: Search,
    certificate: bool,
) -> PyResult<Answer> {
    let engine = search.engine()?;
    answered(py, subject, question, &search, certificate, documents::stopped, |job, limits| {
        let outcome = job.check(engine, limits)?;
        let prepared = job.prepare()?;
        let decided = outcome.answer.verdicts.iter().any(|v| !matches!(v, Verdict::Unknown(_)));
        let certificate = match prepared.origin() {
            Some(origin) if certificate && decided => {
                let shortly = Limits::none().timeout(SHRINKING);
                let verdicts = shrink(origin.problem, &outcome.answer.verdicts, &shortly);
                Some(written(&origin, document(&origin, &verdicts))?)
            }
            _ => None,
        };
        let (json, text) = (outcome.json(), outcome.text(Default::default()));
        Ok(Answer { json, text, html: Box::new(move || outcome.html()), certificate })
    })
}

/// Returns every reachable thread state.
#[pyfunction]
pub(crate) fn reach(
    py: Python<'_>,
    subject: Subject<'_>,
    question: Question,
    search: Search,
    inside_atomic: bool,
) -> PyResult<Answer> {
    let engine = search.engine()?;
    let moments = if inside_atomic { Moments::All } else { Moments::OutsideAtomic };
    answered(py, subject, question, &search, false, throng::report::reach::stopped, |job, limits| {
        let found = job.reach(engine, moments, limits)?;
        let (json, text) = (found.json(), found.text(false));
        Ok(Answer { json, text, html: Box::new(move || found.html()), certificate: None })
    })
}

/// Returns the smallest number of threads with which every reachable thread state is reached.
#[pyfunction]
pub(crate) fn cutoff(
    py: Python<'_>,
    subject: Subject<'_>,
    question: Question,
    search: Search,
    certificate: bool,
) -> PyResult<Answer> {
    let engine = search.engine()?;
    answered(py, subject, question, &search, certificate, throng::report::cutoff::stopped, |job, limits| {
        let found = job.cutoff(engine, None, limits)?;
        let certificate = match (job.prepare_listing()?.origin(), &found.cutoff) {
            (Some(origin), Ok(_)) if certificate => {
                Some(written(&origin, cutoff_document(&origin, &*found.proof(limits)?))?)
            }
            _ => None,
        };
        let (json, text) = (found.json(), found.text());
        Ok(Answer { json, text, html: Box::new(move || found.html()), certificate })
    })
}

/// Writes a certificate as in a file. The checker reads it again, as on the command line: a
/// rejected one is a bug.
fn written(origin: &Origin<'_>, made: Result<impl Serialize, String>) -> Result<Arc<[u8]>, Error> {
    let made = made.map_err(|why| Error::Unsuitable(format!("no certificate: {why}")))?;
    let mut bytes = Vec::new();
    write(&made, &mut bytes).map_err(|why| Error::Unsuitable(format!("no certificate: {why}")))?;
    let own = Asked::Own(origin.loaded);
    match read(&bytes).and_then(|document| throng::check::certify(&own, &document, &Limits::none())) {
        Ok(_) => Ok(bytes.into()),
        Err(fault) => Err(Error::Flawed(format!("the certificate does not stand: {fault}"))),
    }
}

/// Returns whether a certificate answers the question about an input and is valid, as a JSON
/// document.
#[pyfunction]
pub(crate) fn certify(
    py: Python<'_>,
    input: Bound<'_, Loaded>,
    question: Question,
    search: Search,
    certificate: &[u8],
) -> PyResult<String> {
    let (input, limits) = (input.get().0.clone(), search.limits()?);
    let document = read(certificate).map_err(|fault| ThrongError::new_err(fault.to_string()))?;
    let work = || Job::new(&input).question(question.into()).certify(&document, &limits);
    let (result, why, certified) = match watched(py, &limits, work)? {
        Ok(certified) => ("valid", None, Some(certified)),
        Err(Error::NotCertified(Fault::Invalid(why))) => ("invalid", Some(why), None),
        Err(Error::NotCertified(fault @ Fault::Limit(_))) => ("unknown", Some(fault.to_string()), None),
        Err(error) => return Err(raised(error)),
    };
    let answers = certified.iter().flat_map(|c| &c.answers).map(|answer| {
        let verdict = match answer.verdict {
            Claim::Safe => "safe",
            Claim::Unsafe => "unsafe",
        };
        json!({ "name": answer.name, "verdict": verdict, "kind": answer.kind, "elements": answer.elements, "asked": answer.asked })
    });
    let cutoff = certified.as_ref().and_then(|c| c.cutoff.as_ref());
    let document = json!({
        "result": result,
        "reason": why,
        "answers": answers.collect::<Vec<_>>(),
        "cutoff": cutoff.map(|c| c.threads),
        "smallest": cutoff.map(|c| c.smallest),
        "initial": certified.as_ref().map(|c| &c.initial),
        "threads": certified.as_ref().map(|c| &c.bound),
        "notes": certified.as_ref().map(|c| &c.notes),
    });
    Ok(document.to_string())
}
