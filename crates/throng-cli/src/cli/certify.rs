//! `throng certify`, and writing certificates.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::console::{Console, Failure};
use super::{CertifyArgs, files, limits, refines, witness};
use throng::report::plural;
use throng::{Error, Job, Outcome, Prepared, Written, is_about_orders};
use throng_check::certificate::Claim;
use throng_check::certificate::write::{Origin, write};
use throng_check::certify::{Asked, Certified, CertifiedAnswer, Fault, certify, read};
use throng_engine::Algorithm;
use throng_engine::reuse::Reuse;
use throng_lang::load::{LARGEST, Loaded};
use throng_model::limits::Limits;

pub(super) fn run(args: &CertifyArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let args = &args.with_certificate()?;
    let limits = limits(args.timeout, args.memory);
    let asked = args.clone();
    console.begin(
        &limits,
        Arc::new(move |why, _| {
            let render = if asked.json { json } else { text };
            render(&asked, "UNKNOWN", None, Some(&Fault::Limit(why.clone())), 0, 0.0)
        }),
    );
    let unreadable = |why: String| Failure::Other(format!("{}: {why}", args.certificate().display()));
    let bytes = slurp(args.certificate()).map_err(unreadable)?;
    let size = bytes.len();
    if args.its_own_question && args.input.is_code() {
        return Err(Failure::Other("`--its-own-question` is not for source languages".into()));
    }
    let is_refinement = !args.more.is_empty() && !args.input.is_code();
    if !is_refinement && !args.role.is_empty() {
        return Err(Failure::Other("`--role` is for a program and a machine".into()));
    }
    if is_refinement {
        let opened = console.open_within(&args.input, &[], args.input.reading(), &limits)?;
        return refines::certify(args, &opened.map_err(Error::Impossible)?, console, &limits);
    }
    if !args.more.is_empty() && !args.input.is_c() {
        return Err(Failure::Other("several files before the certificate are for C".into()));
    }
    let question = args.input.asking(args.question.question());
    let reading = question.reading(args.input.reading());
    let input = console.open_within(&args.input, &args.more, reading, &limits)?.map_err(Error::Impossible)?;
    console.has_read();
    let job = Job::new(&input).question(question);
    if args.input.is_c() && args.certificate().extension().is_some_and(|e| e == "yml" || e == "yaml") {
        let (report, status) = witness::certify(args, &job, &bytes)?;
        console.print(&report)?;
        return Ok(status);
    }
    let done = judged(args, bytes, &job, console, &limits)?;
    let seconds = began.elapsed().as_secs_f64();
    let (word, status) = match &done {
        Err(fault @ Fault::Unreadable(_)) => return Err(unreadable(fault.to_string())),
        Err(Fault::Invalid(_)) => ("INVALID", 10),
        Err(Fault::Limit(_)) => ("UNKNOWN", 1),
        Ok(_) => ("VALID", 0),
    };
    let (certified, fault) = match done {
        Ok(certified) => (Some(certified), None),
        Err(fault) => (None, Some(fault)),
    };
    let report = if args.json {
        json(args, word, certified.as_ref(), fault.as_ref(), size, seconds)
    } else {
        text(args, word, certified.as_ref(), fault.as_ref(), size, seconds)
    };
    console.print(&report)?;
    Ok(status)
}

/// Checks that the certificate answers what was asked and is valid.
fn judged(
    args: &CertifyArgs,
    bytes: Vec<u8>,
    job: &Job<'_>,
    console: &Console,
    limits: &Limits,
) -> Result<Result<Certified, Fault>, Failure> {
    let done = if args.input.is_code() {
        console.prepare(job, Job::prepare)?;
        job.certify_file(&bytes, limits)
    } else {
        if is_about_orders(&bytes) && !args.its_own_question {
            console.prepare(job, Job::prepare)?;
            return judgement(job.certify_file(&bytes, limits));
        }
        let document = match read(&bytes) {
            Ok(document) => document,
            Err(fault) => return Ok(Err(fault)),
        };
        drop(bytes);
        if args.its_own_question {
            job.certify_as_stated(&document, limits)
        } else {
            let about_cutoff = job.is_about_cutoff(&document);
            console.prepare(job, if about_cutoff { Job::prepare_listing } else { Job::prepare })?;
            job.certify(&document, limits)
        }
    };
    judgement(done)
}

fn judgement(done: Result<Certified, Error>) -> Result<Result<Certified, Fault>, Failure> {
    match done {
        Ok(certified) => Ok(Ok(certified)),
        Err(Error::NotCertified(fault)) => Ok(Err(fault)),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn slurp(path: &Path) -> Result<Vec<u8>, String> {
    let size = fs::metadata(path).map_err(|why| why.to_string())?;
    if size.is_dir() || size.len() > 4 * LARGEST {
        return Err("this is a directory or larger than 4 GiB".into());
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(4 * LARGEST + 1).read_to_end(&mut bytes));
    match read {
        Err(why) => Err(why.to_string()),
        Ok(length) if length as u64 > 4 * LARGEST => Err("this is larger than 4 GiB".into()),
        Ok(_) => Ok(bytes),
    }
}

fn claim(claim: Claim) -> &'static str {
    match claim {
        Claim::Safe => "SAFE",
        Claim::Unsafe => "UNSAFE",
    }
}

fn text(
    args: &CertifyArgs,
    word: &str,
    certified: Option<&Certified>,
    fault: Option<&Fault>,
    size: usize,
    seconds: f64,
) -> String {
    let Some(certified) = certified else {
        let why = fault.map(ToString::to_string).unwrap_or_default();
        return format!("{word}  {why}\n");
    };
    let own = if args.its_own_question { "  for the certificate's own question" } else { "" };
    let mut out = format!("{word}  {}{own}\n", args.input.file().display());
    for CertifiedAnswer { name, verdict, kind, elements, asked, .. } in &certified.answers {
        let elements = plural(*elements as u64, "element");
        let more = if *asked { "" } else { " (not asked)" };
        out.push_str(&format!("{:6} {name}  by {kind}, {elements}{more}\n", claim(*verdict)));
    }
    if let Some(cutoff) = &certified.cutoff {
        let (most, fewer) = if cutoff.smallest { ("", "; fewer do not") } else { ("at most ", "") };
        out.push_str(&format!(
            "CUTOFF {most}{}: shows every thread state that can be reached{fewer}\n",
            cutoff.threads
        ));
    }
    out.push_str(&format!("initial: {}\nthreads: {}\n", certified.initial, certified.bound));
    if args.its_own_question {
        out.push_str("question: stated by the certificate; whether the input asks it was not checked\n");
    }
    if !certified.assumptions.is_empty() {
        let assumed: Vec<String> = certified.assumptions.iter().map(ToString::to_string).collect();
        out.push_str(&format!("assumes: {}\n", assumed.join("; ")));
    }
    for note in &certified.notes {
        out.push_str(&format!("note: {note}\n"));
    }
    out.push_str(&format!("checked: {} in {seconds:.3} s\n", plural(size as u64, "byte")));
    out
}

fn json(
    args: &CertifyArgs,
    word: &str,
    certified: Option<&Certified>,
    fault: Option<&Fault>,
    size: usize,
    seconds: f64,
) -> String {
    let answers = certified.iter().flat_map(|c| &c.answers).map(|answer| {
        serde_json::json!({
            "name": answer.name,
            "property": answer.property,
            "asked": answer.asked,
            "verdict": claim(answer.verdict).to_lowercase(),
            "kind": answer.kind,
            "elements": answer.elements,
        })
    });
    let document = serde_json::json!({
        "file": args.input.file().display().to_string(),
        "certificate": args.certificate().display().to_string(),
        "result": word.to_lowercase(),
        "why": fault.map(ToString::to_string),
        "its_own_question": args.its_own_question,
        "initial": certified.map(|c| &c.initial),
        "threads": certified.map(|c| &c.bound),
        "targets": answers.collect::<Vec<_>>(),
        "cutoff": certified.and_then(|c| c.cutoff.as_ref()).map(|c| {
            serde_json::json!({ "threads": c.threads, "smallest": c.smallest })
        }),
        "assumptions": certified.map(|c| c.assumptions.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "notes": certified.map(|c| &c.notes),
        "bytes": size,
        "seconds": seconds,
    });
    format!("{document:#}\n")
}

/// Writes the certificate of an outcome, and checks it unless that is turned off: one that does not
/// stand is a bug. Nothing is written if there is none.
pub(super) fn save(
    path: &Path,
    job: &Job<'_>,
    prepared: &Prepared,
    outcome: &Outcome,
    console: &Console,
    checks: bool,
) -> Result<Option<Written>, Failure> {
    let mut bytes = Vec::new();
    match outcome.certificate(prepared, &mut bytes) {
        Ok(done) => done?,
        Err(why) => {
            console.note(&format!("note: no certificate was written: {why}"));
            return Ok(None);
        }
    }
    let certify = |bytes: &[u8]| match prepared.origin().filter(|_| !is_about_orders(bytes)) {
        Some(origin) => {
            read(bytes).and_then(|d| certify(&Asked::Own(origin.loaded), &d, &Limits::none())).map(|_| ())
        }
        None => match job.certify_file(bytes, &Limits::none()) {
            Err(Error::NotCertified(fault)) => Err(fault),
            Err(error) => Err(Fault::Unreadable(error.to_string())),
            Ok(_) => Ok(()),
        },
    };
    save_bytes(path, &|out| out.write_all(&bytes), checks.then_some(&certify)).map(Some)
}

/// The same for a document about a model that is made already.
pub(super) fn save_document(
    path: &Path,
    origin: &Origin<'_>,
    document: &impl serde::Serialize,
    checks: bool,
) -> Result<Written, Failure> {
    let own = |bytes: &[u8]| {
        read(bytes).and_then(|d| certify(&Asked::Own(origin.loaded), &d, &Limits::none())).map(|_| ())
    };
    save_bytes(path, &|out| write(document, out), checks.then_some(&own))
}

/// Decides about what a file holds.
type Judge<'a> = &'a dyn Fn(&[u8]) -> Result<(), Fault>;

/// Writes a certificate, reads it again and checks it.
fn save_bytes(
    path: &Path,
    write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    judge: Option<Judge<'_>>,
) -> Result<Written, Failure> {
    files::stream(path, write)?;
    let mut written = Written { file: path.display().to_string(), bytes: 0, seconds: None };
    // A pipe cannot be read again.
    let Some(size) = fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len()) else {
        return Ok(written);
    };
    written.bytes = size;
    let Some(judge) = judge else { return Ok(written) };
    let began = Instant::now();
    let bytes = slurp(path).map_err(|why| Failure::Other(format!("{}: {why}", path.display())))?;
    match judge(&bytes) {
        Ok(()) => written.seconds = Some(began.elapsed().as_secs_f64()),
        Err(Fault::Limit(_)) => {}
        Err(fault) => {
            let why = format!("the certificate {} does not stand: {fault}", path.display());
            return Err(Error::Flawed(why).into());
        }
    }
    Ok(written)
}

/// Tries the certificate of an earlier version of the input first; another engine searches for what
/// that does not show.
pub(super) fn reusing<'a>(
    path: &Path,
    loaded: &'a Loaded,
    then: Box<dyn Algorithm + Send + 'a>,
) -> Result<Reuse<'a>, Failure> {
    let unreadable = |why: String| Failure::Other(format!("{}: {why}", path.display()));
    let bytes = slurp(path).map_err(unreadable)?;
    let document = read(&bytes).map_err(|fault| unreadable(fault.to_string()))?;
    Ok(Reuse::new(loaded, document, then))
}
