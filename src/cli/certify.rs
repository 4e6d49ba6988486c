//! `throng certify`, and writing certificates.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::console::{Console, Failure, stop_on_interrupt};
use super::{CertifyArgs, limits};
use crate::certificate::{Claim, write::write};
use crate::certify::{Certified, Fault, certify, read, reading};
use crate::lang::load::{LARGEST, load};
use crate::report::plural;

pub(super) fn run(args: &CertifyArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let limits = limits(args.timeout, args.memory);
    stop_on_interrupt(&limits);
    let unreadable = |why: String| Failure::Other(format!("{}: {why}", args.certificate.display()));
    let bytes = slurp(&args.certificate).map_err(unreadable)?;
    let done = read(&bytes).and_then(|document| {
        drop(bytes);
        let reading = reading(&document, args.from);
        match load(&args.file, &reading) {
            Err(rejected) => Ok(Err(rejected)),
            Ok(loaded) => certify(&loaded, &document, &limits).map(Ok),
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    let (word, status) = match &done {
        Err(Fault::Unreadable(why)) => return Err(unreadable(why.clone())),
        Ok(Err(rejected)) => return Err(rejected.clone().into()),
        Err(Fault::Invalid(_)) => ("INVALID", 10),
        Err(Fault::Limit(_)) => ("UNKNOWN", 1),
        Ok(Ok(_)) => ("VALID", 0),
    };
    let (certified, fault) = match done {
        Ok(done) => (done.ok(), None),
        Err(fault) => (None, Some(fault)),
    };
    let told = if args.json {
        json(args, word, certified.as_ref(), fault.as_ref(), seconds)
    } else {
        text(args, word, certified.as_ref(), fault.as_ref(), seconds)
    };
    console.print(&told)?;
    Ok(status)
}

fn slurp(path: &Path) -> Result<Vec<u8>, String> {
    let size = fs::metadata(path).map_err(|why| why.to_string())?;
    if size.is_dir() || size.len() > 4 * LARGEST {
        return Err("this is a directory or larger than 4 GiB".into());
    }
    fs::read(path).map_err(|why| why.to_string())
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
    seconds: f64,
) -> String {
    let Some(certified) = certified else {
        let why = fault.map(ToString::to_string).unwrap_or_default();
        return format!("{word}  {why}\n");
    };
    let mut out = format!("{word}  {}\n", args.file.display());
    for (name, verdict, kind, size) in &certified.answers {
        let elements = plural(*size as u64, "element");
        out.push_str(&format!("{:6} {name}  by {kind}, {elements}\n", claim(*verdict)));
    }
    out.push_str(&format!("initial: {}\nthreads: {}\n", certified.initial, certified.bound));
    for note in &certified.notes {
        out.push_str(&format!("note: {note}\n"));
    }
    out.push_str(&format!("checked: {seconds:.3} s\n"));
    out
}

fn json(
    args: &CertifyArgs,
    word: &str,
    certified: Option<&Certified>,
    fault: Option<&Fault>,
    seconds: f64,
) -> String {
    let answers = certified.iter().flat_map(|c| &c.answers).map(|(name, verdict, kind, size)| {
        serde_json::json!({
            "name": name, "verdict": claim(*verdict).to_lowercase(), "kind": kind, "elements": size,
        })
    });
    let document = serde_json::json!({
        "file": args.file.display().to_string(),
        "certificate": args.certificate.display().to_string(),
        "result": word.to_lowercase(),
        "why": fault.map(ToString::to_string),
        "initial": certified.map(|c| &c.initial),
        "threads": certified.map(|c| &c.bound),
        "targets": answers.collect::<Vec<_>>(),
        "notes": certified.map(|c| &c.notes),
        "seconds": seconds,
    });
    format!("{document:#}\n")
}

/// Writes a certificate: beside its place first, then all at once, so that nobody ever sees half of one. Returns its size.
pub(super) fn save(path: &Path, document: &impl Serialize) -> Result<u64, Failure> {
    let failed = |why: std::io::Error| Failure::Other(format!("cannot write {}: {why}", path.display()));
    let mut beside = OsString::from(path);
    beside.push(format!(".{}.part", std::process::id()));
    let done = File::create(&beside).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(document, &mut out)?;
        out.flush()?;
        let size = out.get_ref().metadata()?.len();
        fs::rename(&beside, path)?;
        Ok(size)
    });
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done.map_err(failed)
}
