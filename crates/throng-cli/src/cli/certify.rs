//! `throng certify`, and writing certificates.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::console::{Console, Failure};
use super::{CertifyArgs, files, limits};
use throng::report::plural;
use throng::{Error, Input, Job, Written};
use throng_check::certificate::write::{Origin, document, write};
use throng_check::certificate::{Claim, Document, shrink};
use throng_check::certify::{Asked, Certified, CertifiedAnswer, Fault, certify, read};
use throng_engine::Algorithm;
use throng_engine::reuse::Reuse;
use throng_lang::load::{LARGEST, Loaded};
use throng_model::limits::Limits;
use throng_model::verdict::Verdict;

/// Time limit for making evidence smaller.
const SHRINKING: Duration = Duration::from_secs(2);

pub(super) fn run(args: &CertifyArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let limits = limits(args.timeout, args.memory);
    let asked = args.clone();
    console.begin(
        &limits,
        Arc::new(move |why| {
            let render = if asked.json { json } else { text };
            render(&asked, "UNKNOWN", None, Some(&Fault::Limit(why.clone())), 0, 0.0)
        }),
    );
    let unreadable = |why: String| Failure::Other(format!("{}: {why}", args.certificate.display()));
    let bytes = slurp(&args.certificate).map_err(unreadable)?;
    let size = bytes.len();
    if super::c::is_c(&args.input) {
        return about_c(args, console, &bytes, &limits, began);
    }
    let document = read(&bytes).map_err(|fault| unreadable(fault.to_string()))?;
    drop(bytes);
    let reading = args.question.question().reading(args.input.reading());
    let input = Input::open_as(&args.input.file, reading)?;
    console.has_read();
    let done = judged(args, &document, &input, console, &limits)?;
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

/// A certificate about a C program.
fn about_c(
    args: &CertifyArgs,
    console: &Console,
    bytes: &[u8],
    limits: &Limits,
    began: Instant,
) -> Result<u8, Failure> {
    if args.its_own_question {
        return Err(Failure::Other("`--its-own-question` is not for C".into()));
    }
    if args.certificate.extension().is_some_and(|e| e == "yml" || e == "yaml") {
        let (report, status) = super::c::witness::certify(args, bytes)?;
        console.print(&report)?;
        return Ok(status);
    }
    let done = super::c::certify(args, bytes, limits)?;
    console.has_read();
    let (word, status) = match &done {
        Err(fault @ Fault::Unreadable(_)) => {
            return Err(Failure::Other(format!("{}: {fault}", args.certificate.display())));
        }
        Err(Fault::Invalid(_)) => ("INVALID", 10),
        Err(Fault::Limit(_)) => ("UNKNOWN", 1),
        Ok(_) => ("VALID", 0),
    };
    let seconds = began.elapsed().as_secs_f64();
    let report = match (&done, args.json) {
        (done, true) => {
            let document = serde_json::json!({
                "file": args.input.file.display().to_string(),
                "certificate": args.certificate.display().to_string(),
                "result": word.to_lowercase(),
                "why": done.as_ref().err().map(ToString::to_string),
                "threads": "any number",
                "safe": done.as_ref().ok().map(|d| &d.properties),
                "predicates": done.as_ref().ok().map(|d| d.sizes.0),
                "facts": done.as_ref().ok().map(|d| d.sizes.1),
                "assumptions": done.as_ref().ok().map(|d| &d.assumptions),
                "bytes": bytes.len(),
                "seconds": seconds,
            });
            format!("{document:#}\n")
        }
        (Err(fault), false) => format!("{word}  {fault}\n"),
        (Ok(found), false) => {
            let mut out = format!("{word}  {}\n", args.input.file.display());
            for name in &found.properties {
                out.push_str(&format!("SAFE   {name}  {}\n", found.how));
            }
            out.push_str(&format!("initial: {}\nthreads: any number\n", found.initial));
            out.push_str(&format!("assumes: {}\n", found.assumptions.join("; ")));
            out.push_str(&format!("checked: {} in {seconds:.3} s\n", plural(bytes.len() as u64, "byte")));
            out
        }
    };
    console.print(&report)?;
    Ok(status)
}

/// Checks that the certificate answers what was asked and is valid.
fn judged(
    args: &CertifyArgs,
    document: &Document,
    input: &Input,
    console: &Console,
    limits: &Limits,
) -> Result<Result<Certified, Fault>, Failure> {
    let job = Job::new(input).question(args.question.question());
    let done = if args.its_own_question {
        job.certify_as_stated(document, limits)
    } else {
        let about_cutoff = job.is_about_cutoff(document);
        console.prepare(&job, if about_cutoff { Job::prepare_listing } else { Job::prepare })?;
        job.certify(document, limits)
    };
    match done {
        Ok(certified) => Ok(Ok(certified)),
        Err(Error::NotCertified(fault)) => Ok(Err(fault)),
        Err(error) => Err(error.into()),
    }
}

fn slurp(path: &Path) -> Result<Vec<u8>, String> {
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
    let mut out = format!("{word}  {}{own}\n", args.input.file.display());
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
        "file": args.input.file.display().to_string(),
        "certificate": args.certificate.display().to_string(),
        "result": word.to_lowercase(),
        "why": fault.map(ToString::to_string),
        "its_own_question": args.its_own_question,
        "initial": certified.map(|c| &c.initial),
        "threads": certified.map(|c| &c.bound),
        "targets": answers.collect::<Vec<_>>(),
        "cutoff": certified.and_then(|c| c.cutoff.as_ref()).map(|c| {
            serde_json::json!({ "threads": c.threads, "smallest": c.smallest })
        }),
        "notes": certified.map(|c| &c.notes),
        "bytes": size,
        "seconds": seconds,
    });
    format!("{document:#}\n")
}

/// Writes the certificate of these verdicts, and checks it unless that is turned off: one that does
/// not stand is a bug. Nothing is written if nothing is decided.
pub(super) fn save(
    path: &Path,
    origin: &Origin<'_>,
    verdicts: &[Verdict],
    checks: bool,
) -> Result<Option<Written>, Failure> {
    if verdicts.iter().all(|v| matches!(v, Verdict::Unknown(_))) {
        return Ok(None);
    }
    // Not for longer than it takes to look at it.
    let verdicts = &shrink(origin.problem, verdicts, &Limits::none().timeout(SHRINKING));
    let document =
        document(origin, verdicts).map_err(|why| Failure::Other(format!("no certificate: {why}")))?;
    save_document(path, origin, &document, checks).map(Some)
}

/// The same for a document that is made already.
pub(super) fn save_document(
    path: &Path,
    origin: &Origin<'_>,
    document: &impl serde::Serialize,
    checks: bool,
) -> Result<Written, Failure> {
    files::stream(path, |out| write(document, out))?;
    let mut written = Written { file: path.display().to_string(), bytes: 0, seconds: None };
    // A pipe cannot be read again.
    let Some(size) = fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len()) else {
        return Ok(written);
    };
    written.bytes = size;
    if checks {
        let began = Instant::now();
        let bytes = slurp(path).map_err(|why| Failure::Other(format!("{}: {why}", path.display())))?;
        let done =
            read(&bytes).and_then(|document| certify(&Asked::Own(origin.loaded), &document, &Limits::none()));
        match done {
            Ok(_) => written.seconds = Some(began.elapsed().as_secs_f64()),
            Err(Fault::Limit(_)) => {}
            Err(fault) => {
                let why = format!("the certificate {} does not stand: {fault}", path.display());
                return Err(Error::Flawed(why).into());
            }
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
