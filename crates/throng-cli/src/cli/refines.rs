//! `throng refines`, and `throng certify` of what it writes.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::certify::slurp;
use super::console::{Console, Failure};
use super::files::{self, Kind};
use super::{CertifyArgs, RefinesArgs, limits};
use throng::report::plural;
use throng::report::refines::{RefinesVerdict, stopped};
use throng::{Error, Input, Job};
use throng_check::certificate::write::write;
use throng_check::certify::Fault;
use throng_check::certify::refinement::CertifiedRefinement;
use throng_lang::load::Reading;
use throng_model::limits::Limits;

pub(super) fn run(args: &RefinesArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let limits = limits(args.timeout, args.memory);
    let names = [&args.program, &args.machine].map(|file| file.display().to_string());
    let json = args.json;
    console.begin(
        &limits,
        Arc::new(move |why, doing| match json {
            true => stopped(&names[0], &names[1], why),
            false => format!("UNKNOWN  {why}; {doing}\n"),
        }),
    );
    let [program, machine] = [&args.program, &args.machine].map(|file| open(file, console, &limits));
    let (program, machine) = (program?, machine?);
    console.has_read();
    files::claim(args.certificate.iter().map(|path| (path, Kind::Report)), args.force)?;
    let mut job = Job::new(&program).watch(console);
    if args.no_check {
        job = job.unchecked();
    }
    let mut outcome = job.refines(&machine, &args.role, &limits)?;
    console.has_answer();
    let mut unwritten = None;
    if let (Some(path), Some(document)) = (&args.certificate, &outcome.document) {
        let written = files::stream(path, |out: &mut dyn Write| write(document, out));
        ((), unwritten) = Failure::unwritten(written)?;
    }
    outcome.time = began.elapsed();
    let report = match (args.json, args.output.quiet, &outcome.verdict) {
        (true, ..) => outcome.json(),
        (false, true, RefinesVerdict::Unknown(_)) => outcome.text(),
        (false, true, _) => outcome.text().lines().take(1).map(|line| format!("{line}\n")).collect(),
        (false, false, _) => outcome.text(),
    };
    console.print(&report)?;
    unwritten.map_or(Ok(()), Err)?;
    Ok(outcome.exit_code())
}

fn open(file: &Path, console: &Console, limits: &Limits) -> Result<Input, Failure> {
    files::was_read(file);
    let input = Input::open_within(file, Reading::default(), limits)?;
    console.warn(&input.warnings().collect::<Vec<_>>());
    Ok(input)
}

/// Checks a certificate about a program and a machine.
pub(super) fn certify(
    args: &CertifyArgs,
    program: &Input,
    console: &Console,
    limits: &Limits,
) -> Result<u8, Failure> {
    let began = Instant::now();
    let [machine] = &args.more[..] else {
        return Err(Failure::Other("a program refines one machine".into()));
    };
    let machine = open(machine, console, limits)?;
    let unreadable = |why: String| Failure::Other(format!("{}: {why}", args.certificate().display()));
    let bytes = slurp(args.certificate()).map_err(unreadable)?;
    let done = match Job::new(program).certify_refinement(&machine, &args.role, &bytes, limits) {
        Ok(certified) => Ok(certified),
        Err(Error::NotCertified(fault @ Fault::Unreadable(_))) => return Err(unreadable(fault.to_string())),
        Err(Error::NotCertified(fault)) => Err(fault),
        Err(error) => return Err(error.into()),
    };
    let (word, status) = match &done {
        Ok(_) => ("VALID", 0),
        Err(Fault::Limit(_)) => ("UNKNOWN", 1),
        Err(_) => ("INVALID", 10),
    };
    let names = [program.name(), machine.name()];
    let seconds = began.elapsed().as_secs_f64();
    let report = match args.json {
        true => json(names, word, &done, (bytes.len(), seconds)),
        false => text(names, word, &done, (bytes.len(), seconds)),
    };
    console.print(&report)?;
    Ok(status)
}

type Done = Result<CertifiedRefinement, Fault>;

fn text([program, machine]: [&str; 2], word: &str, done: &Done, (bytes, seconds): (usize, f64)) -> String {
    let certified = match done {
        Ok(certified) => certified,
        Err(fault) => return format!("{word}  {fault}\n"),
    };
    let (claim, how) = if certified.refines {
        ("SAFE", format!("refines {machine}  by simulation, {}", plural(certified.elements as u64, "pair")))
    } else {
        (
            "UNSAFE",
            format!("does not refine {machine}  by run, {}", plural(certified.elements as u64, "move")),
        )
    };
    let threads = certified.most.map_or("any number".into(), |most| format!("at most {most}"));
    let mut out = format!("{word}  {program}\n{claim:6} {how}\nthreads: {threads}\n");
    for note in &certified.notes {
        out.push_str(&format!("note: {note}\n"));
    }
    out + &format!("checked: {} in {seconds:.3} s\n", plural(bytes as u64, "byte"))
}

fn json([program, machine]: [&str; 2], word: &str, done: &Done, (bytes, seconds): (usize, f64)) -> String {
    let certified = done.as_ref().ok();
    let document = serde_json::json!({
        "file": program,
        "machine": machine,
        "result": word.to_lowercase(),
        "why": done.as_ref().err().map(ToString::to_string),
        "refines": certified.map(|c| c.refines),
        "threads": certified.and_then(|c| c.most),
        "notes": certified.map(|c| &c.notes),
        "bytes": bytes,
        "seconds": seconds,
    });
    format!("{document:#}\n")
}
