//! The questions, each answered on a thread of its own while Python's signals are watched.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::json;
use throng::check::{Certified, Fault, read, write};
use throng::model::limits::Limits;
use throng::model::verdict::Unknown;
use throng::report::json as documents;
use throng::{CutoffOutcome, Error, Job, Moments, Outcome, Remark};
use throng_check::certificate::Claim;
use throng_check::certificate::write::cutoff_document;

use crate::options::{PYTHON, Question, Search};
use crate::template::{Failure, Never, PythonModel};
use crate::{Answer, Loaded, raised};

/// Size of the stack of readers, which are recursive; the same as on the command line.
const STACK: usize = 256 << 20;

/// Time between two checks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(20);

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
    ask: impl FnOnce(&Job<'_>, &Limits, &Limits) -> Result<Answer, Error> + Send,
) -> PyResult<Answer> {
    let settings = search.settings()?;
    // What comes after the search is not limited, but Ctrl-C stops it, too.
    let all = Limits::none();
    let limits = search.limiting()?(all.part());
    let threads = question.threads;
    let question = question.asked()?;
    let (name, reply) = match subject {
        Subject::Input(input) => {
            let input = input.get().0.clone();
            let name = input.name().to_string();
            let work = || {
                let job = Job::new(&input).question(question).settings(settings);
                let job = if certificate { job.certifiable() } else { job };
                ask(&job, &limits, &all).map_or_else(Reply::Wrong, |answer| Reply::Answer(Box::new(answer)))
            };
            (name, watched(py, &all, work)?)
        }
        Subject::Model((model, nevers)) => {
            let name = model.get_type().name()?.to_string();
            let model = PythonModel::new(&model, nevers, threads, limits.clone())?;
            let objects = model.objects.clone();
            let work = || {
                let answer = model.system().problem().map_err(Error::from).and_then(|problem| {
                    let job = Job::of(problem).vocabulary(&PYTHON).settings(settings);
                    ask(&job, &limits, &all)
                });
                answer.map_or_else(Reply::Wrong, |answer| Reply::Answer(Box::new(answer)))
            };
            let reply = watched(py, &all, work)?;
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
    Answer::plain(stopped(name, why), text, move || page.clone())
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
    let stopped = |file: &str, why: &Unknown| documents::stopped(file, why, "still searching");
    answered(py, subject, question, &search, certificate, stopped, |job, limits, all| {
        let outcome = job.check(engine, limits)?;
        let written = if certificate { Some(certified(job, &outcome, all)?) } else { None };
        let mut answer = shown(outcome);
        match written {
            Some(Ok(bytes)) => answer.certificate = Some(bytes),
            Some(Err(why)) => answer.remarks.push(format!("no certificate: {why}")),
            None => {}
        }
        Ok(answer)
    })
}

/// Returns what is shown of an outcome.
fn shown(outcome: Outcome) -> Answer {
    let details = |remark: &&Remark| matches!(remark, Remark::Round(_));
    let remarks = outcome.remarks.iter().filter(|remark| !details(remark)).map(ToString::to_string).collect();
    let replay = outcome.replay().map(|replay| replay.map(|replay| replay.text));
    let (json, text) = (outcome.json(), outcome.text(Default::default()));
    Answer { remarks, replay, ..Answer::plain(json, text, move || outcome.html()) }
}

/// Returns the certificate of an outcome as in a file, or why there is none.
fn certified(job: &Job<'_>, outcome: &Outcome, all: &Limits) -> Result<Result<Arc<[u8]>, String>, Error> {
    let prepared = job.prepare()?;
    let mut bytes = Vec::new();
    match outcome.certificate(prepared, &mut bytes) {
        Ok(done) => done.map_err(|why| Error::Unsuitable(format!("no certificate: {why}")))?,
        Err(why) => return Ok(Err(why)),
    }
    let checked = match prepared.loaded() {
        // It is about what was decided, which need not be all that was asked.
        Some(_) => {
            read(&bytes).map_err(Error::from).and_then(|document| job.certify_as_stated(&document, all))
        }
        None => job.certify_file(&bytes, all),
    };
    standing(bytes, checked).map(Ok)
}

/// Returns a certificate that the checker has read again, as on the command line: a rejected one is
/// a bug.
fn standing(bytes: Vec<u8>, checked: Result<Certified, Error>) -> Result<Arc<[u8]>, Error> {
    match checked {
        Ok(_) => Ok(bytes.into()),
        Err(fault) => Err(Error::Flawed(format!("the certificate does not stand: {fault}"))),
    }
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
    answered(py, subject, question, &search, false, throng::report::reach::stopped, |job, limits, _| {
        let found = job.reach(engine, moments, limits)?;
        Ok(Answer::plain(found.json(), found.text(false), move || found.html()))
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
    answered(
        py,
        subject,
        question,
        &search,
        certificate,
        throng::report::cutoff::stopped,
        |job, limits, all| {
            if certificate && job.prepare_listing()?.loaded().is_none() {
                return Err(Error::Unsuitable("a `certificate` of a cutoff is not for C".into()));
            }
            let found = job.cutoff(engine, None, limits)?;
            let written = if certificate { certified_cutoff(job, &found, limits, all)? } else { None };
            let answer = Answer::plain(found.json(), found.text(), move || found.html());
            Ok(Answer { certificate: written, ..answer })
        },
    )
}

/// Returns the certificate of a cutoff, if there is one.
fn certified_cutoff(
    job: &Job<'_>,
    found: &CutoffOutcome,
    limits: &Limits,
    all: &Limits,
) -> Result<Option<Arc<[u8]>>, Error> {
    let (Ok(_), Some(origin)) = (&found.cutoff, job.prepare_listing()?.origin()) else { return Ok(None) };
    let failed = |why: String| Error::Unsuitable(format!("no certificate: {why}"));
    let proof = found.proof(limits)?;
    let document = cutoff_document(&origin, &proof).map_err(failed)?;
    let mut bytes = Vec::new();
    write(&document, &mut bytes).map_err(|why| failed(why.to_string()))?;
    let checked = job.certify_file(&bytes, all);
    standing(bytes, checked).map(Some)
}

/// A changed program: the change, its lines, what was changed, and the answer or why there is none.
type Changed = (&'static str, Vec<u32>, String, Option<Answer>, Option<String>);

/// Checks the program with one thing after the other changed.
#[pyfunction]
pub(crate) fn mutate(
    py: Python<'_>,
    input: Bound<'_, Loaded>,
    question: Question,
    search: Search,
) -> PyResult<Vec<Changed>> {
    let (engine, settings, limiting) = (search.engine()?, search.settings()?, search.limiting()?);
    let (input, question) = (input.get().0.clone(), question.asked()?);
    let all = Limits::none();
    let work = || {
        let job = Job::new(&input).question(question).settings(settings);
        let mutants = job.mutants()?;
        // What is wrong with the question is said once.
        job.prepare()?;
        let mut changed = Vec::new();
        for mutant in mutants {
            if all.check().is_err() {
                break;
            }
            let limits = limiting(all.part());
            let checked = job.mutated(&mutant).and_then(|job| job.check(engine, &limits));
            let (answer, why) = match checked {
                Ok(outcome) => (Some(shown(outcome)), None),
                Err(error) => (None, Some(error.to_string().trim_end().to_string())),
            };
            changed.push((mutant.change.text(), mutant.lines, mutant.what, answer, why));
        }
        Ok(changed)
    };
    watched(py, &all, work)?.map_err(raised)
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
    let question = question.asked()?;
    let work = || Job::new(&input).question(question).certify_file(certificate, &limits);
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
        "assumptions": certified.as_ref().map(|c| c.assumptions.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "notes": certified.as_ref().map(|c| &c.notes),
    });
    Ok(document.to_string())
}
