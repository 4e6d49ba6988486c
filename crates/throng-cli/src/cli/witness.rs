//! Witnesses of SV-COMP: `check --witness FILE` writes one, `certify x.c FILE.yml` looks for a run
//! through one.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::console::{Console, Failure};
use super::{CertifyArgs, files};
use throng::{Error, Job, Outcome, WitnessOf};
use throng_check::certify::Fault;

/// Writes a witness of the verdict, if there is one for it.
pub(super) fn write(path: &Path, input: &Path, outcome: &Outcome, console: &Console) -> Result<(), Failure> {
    let file = input.display().to_string();
    match outcome.witness(&WitnessOf { file: &file, bytes: &read(input)?, created: time() }) {
        Ok(text) => files::replace(path, &text),
        Err(why) => {
            console.note(&format!("note: no witness was written: {why}"));
            Ok(())
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|why| Failure::Other(format!("{}: {why}", path.display())))
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

/// Follows a witness: what is printed, and the exit status.
pub(super) fn certify(args: &CertifyArgs, job: &Job<'_>, bytes: &[u8]) -> Result<(String, u8), Failure> {
    let initial = format!("initial: {}\n", job.prepare()?.problem.initial_text);
    match job.follow_witness(&read(args.input.file())?, bytes) {
        Ok(()) => Ok((format!("VALID  a run follows the witness into the violation\n{initial}"), 0)),
        Err(Error::NotCertified(Fault::Invalid(why))) => Ok((format!("INVALID  {why}\n{initial}"), 10)),
        Err(Error::NotCertified(Fault::Limit(why))) => Ok((format!("UNKNOWN  {why}\n{initial}"), 1)),
        Err(Error::NotCertified(fault)) => {
            Err(Failure::Other(format!("{}: {fault}", args.certificate().display())))
        }
        Err(error) => Err(error.into()),
    }
}
