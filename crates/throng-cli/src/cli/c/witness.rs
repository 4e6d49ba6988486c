//! Witnesses of SV-COMP: `check --witness FILE` writes one, `certify x.c FILE.yml` looks for a run
//! through one.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{CheckArgs, Console, Failure, Outcome, Read, files};
use crate::cli::CertifyArgs;
use throng_c::witness::{self, Task, sha256};
use throng_goto::Question;
use throng_goto::run::Run;
use throng_model::verdict::Verdict;

/// Writes a witness of the verdict, if there is one for it.
pub(super) fn write(
    path: &Path,
    args: &CheckArgs,
    read: &Read,
    outcome: &Outcome,
    console: &Console,
) -> Result<(), Failure> {
    let none = |why: &str| {
        console.note(&format!("note: no witness was written: {why}"));
        Ok(())
    };
    let Some(specification) = specification(&read.loaded.query.question) else {
        return none("the format has no property for what was asked");
    };
    if !args.input.entry.is_empty() || !args.more.is_empty() {
        return none("the format is about one file with a `main`");
    }
    let bytes = std::fs::read(&args.input.file)
        .map_err(|why| Failure::Other(format!("{}: {why}", args.input.file.display())))?;
    let task = Task {
        file: (args.input.file.display().to_string(), sha256(&bytes)),
        specification,
        data_model: if args.input.ilp32 { "ILP32" } else { "LP64" }.into(),
        uuid: uuid(),
        created: time(),
    };
    let text = match &outcome.answer.verdicts[..] {
        [Verdict::Unsafe(trace)] => {
            let run = Run::of(&read.model, trace)
                .ok_or_else(|| Failure::Other("the run cannot be replayed".into()))?;
            witness::violation(&task, &witness::segments(&read.loaded, &run))
        }
        // What was proved about lines is not in terms of C's sequence points.
        [Verdict::Safe(_)] => witness::correctness(&task, &[]),
        _ => return none("there is no verdict"),
    };
    files::replace(path, &text)
}

/// The property in the words of SV-COMP.
fn specification(question: &Question) -> Option<String> {
    let kinds =
        [question.race, question.overflow, question.locks, question.deadlock, !question.exclusive.is_empty()];
    let what = match kinds {
        [true, false, false, false, false] if !question.assertions => "data-race".to_string(),
        [false, true, false, false, false] if !question.assertions => "overflow".to_string(),
        [false, false, false, false, false] if question.error_labels.is_empty() => {
            format!("call({}())", question.error_function.as_deref().unwrap_or("reach_error"))
        }
        _ => return None,
    };
    Some(format!("CHECK( init(main()), LTL(G ! {what}) )"))
}

/// A number that no other witness has, in the form of a random UUID.
fn uuid() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let digits = sha256(format!("{now:?} {}", std::process::id()).as_bytes());
    format!(
        "{}-{}-4{}-a{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[13..16],
        &digits[17..20],
        &digits[20..32]
    )
}

/// Now, as in `2026-11-16T12:00:00Z`.
fn time() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (hours, minutes) = (rest / 3600, rest / 60 % 60);
    format!("{year:04}-{:02}-{:02}T{hours:02}:{minutes:02}:{:02}Z", month + 1, days + 1, rest % 60)
}

/// `throng certify x.c FILE.yml`: what is printed, and the exit status.
pub(in super::super) fn certify(args: &CertifyArgs, bytes: &[u8]) -> Result<(String, u8), Failure> {
    let unreadable = |why: String| Failure::Other(format!("{}: {why}", args.certificate.display()));
    let text = std::str::from_utf8(bytes).map_err(|why| unreadable(why.to_string()))?;
    let found = witness::read(text).map_err(unreadable)?;
    if !found.violation {
        return Err(unreadable("this is a correctness witness: only runs can be followed; `check --certificate` writes proofs that can be checked".into()));
    }
    let read = super::read(&args.input, &args.question, &[])?;
    let program = std::fs::read(&args.input.file)
        .map_err(|why| Failure::Other(format!("{}: {why}", args.input.file.display())))?;
    if !found.hashes.is_empty() && !found.hashes.contains(&sha256(&program)) {
        return Ok(("INVALID  the witness is about another file: the hash differs\n".into(), 10));
    }
    let initial = format!("initial: {}\n", read.problem.initial_text);
    if read.loaded.query.undefined().next().is_some() {
        return Ok((format!("UNKNOWN  the program calls what is not defined\n{initial}"), 1));
    }
    Ok(match witness::follow(&read.loaded, &found) {
        Some(true) => (format!("VALID  a run follows the witness into the violation\n{initial}"), 0),
        Some(false) => (format!("INVALID  no run follows the witness\n{initial}"), 10),
        None => (format!("UNKNOWN  the witness leaves too much open to be followed\n{initial}"), 1),
    })
}
