//! `--replay`: the run as a C program that is forced through it, and `--replay-run`: what it does.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::console::{Console, Failure};
use super::files;
use throng::{Outcome, Replay};

/// How long the compiler and the program may take. The program ends by itself if it does not go on.
const LONGEST: Duration = Duration::from_secs(60);

/// What became of a replay that was asked for.
pub(super) enum Saved {
    /// It was written.
    Written(Replay),
    /// There is no run into a violation.
    NoRun,
    /// There is a run that cannot be replayed, and why.
    Refused(String),
}

/// Writes the program, if there is a run for one, and says what became of it. Without a path it is a
/// temporary file, which is of use only if it is run.
pub(super) fn write(
    path: Option<&Path>,
    compile: bool,
    outcome: &Outcome,
    console: &Console,
) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(|why| Failure::Other(format!("no temporary folder: {why}")))?;
    let path = path.map_or_else(|| folder.path().join("replay.c"), PathBuf::from);
    console.note(&match save(&path, outcome)? {
        Saved::NoRun => "note: no replay was written: there is no run into a violation".into(),
        Saved::Refused(why) => format!("note: no replay was written: {why}"),
        Saved::Written(replay) if compile => format!("replay:  {}", run_it(&path, &replay)),
        Saved::Written(replay) => format!(
            "note: the run is in {0}, which was not run (`--replay-run` does that): cc {1} {0} && ./a.out",
            path.display(),
            flags(&replay).join(" ")
        ),
    });
    Ok(())
}

/// Writes the program, if there is a run for one that can be replayed.
pub(super) fn save(path: &Path, outcome: &Outcome) -> Result<Saved, Failure> {
    match outcome.replay() {
        None => Ok(Saved::NoRun),
        Some(Err(why)) => Ok(Saved::Refused(why)),
        Some(Ok(replay)) => files::replace(path, &replay.text).map(|()| Saved::Written(replay)),
    }
}

/// How the program is compiled. A compiled program goes on after most memory errors, unless it
/// looks for them.
fn flags(replay: &Replay) -> Vec<&'static str> {
    let mut flags = vec!["-pthread", "-w"];
    if replay.needs_sanitizer() {
        flags.extend(["-g", "-fsanitize=address"]);
    }
    flags
}

/// Compiles the program in a temporary directory and runs it: whether it ends in the violation, and
/// how it ends.
pub(super) fn run_it(path: &Path, replay: &Replay) -> String {
    // What the program, or what looks for memory errors, says before it aborts for a reason of its
    // own.
    let is_reason = |line: &&str| match replay.needs_sanitizer() {
        true => line.contains("ERROR: AddressSanitizer"),
        false => line.starts_with("replay: thread "),
    };
    match compile_and_run(path, replay) {
        Ok(Ended { how, said, aborted }) => {
            let reason = said.lines().find(is_reason).filter(|_| aborted);
            let word = if reason.is_some() { "reproduced" } else { "NOT reproduced" };
            let said = match reason.filter(|_| replay.needs_sanitizer()) {
                Some(line) => line.to_string(),
                None => said.trim_end().replace('\n', "\n         "),
            };
            format!("{word}: compiled and run, the program {how}: {said}")
        }
        Err(why) => format!("NOT reproduced: {why}"),
    }
}

/// How a command ended.
struct Ended {
    how: String,
    /// On standard error.
    said: String,
    aborted: bool,
}

fn compile_and_run(path: &Path, replay: &Replay) -> Result<Ended, String> {
    let compiler = std::env::var("CC").ok().filter(|c| !c.trim().is_empty()).unwrap_or_else(|| "cc".into());
    let mut words = compiler.split_whitespace();
    let folder = std::env::temp_dir().join(format!("throng-replay-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let program = folder.join("replay");
    let source = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let mut compile = Command::new(words.next().unwrap_or("cc"));
    compile.args(words).args(flags(replay)).arg("-o").arg(&program).arg(source).arg("-lm");
    let done = limited(compile).and_then(|(status, ended)| match status.is_some_and(|s| s.success()) {
        true => {
            let mut run = Command::new(&program);
            run.env("ASAN_OPTIONS", "abort_on_error=1:detect_leaks=0:detect_stack_use_after_return=1");
            limited(run).map(|done| done.1)
        }
        false => Err(format!("`{compiler}` {}:\n{}", ended.how, ended.said)),
    });
    _ = std::fs::remove_dir_all(&folder);
    done
}

/// Runs a command with a time limit; no status if it was stopped.
fn limited(mut command: Command) -> Result<(Option<ExitStatus>, Ended), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|why| format!("{}: {why}", command.get_program().display()))?;
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begun.elapsed() < LONGEST => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                _ = child.kill();
                _ = child.wait();
                break None;
            }
        }
    };
    let mut said = String::new();
    if let Some(pipe) = &mut child.stderr {
        _ = pipe.take(1 << 16).read_to_string(&mut said);
    }
    let how = match status {
        None => format!("was stopped after {} seconds", LONGEST.as_secs()),
        Some(status) => format!("ended with {status}"),
    };
    Ok((status, Ended { how, said, aborted: status.is_some_and(is_aborted) }))
}

#[cfg(unix)]
fn is_aborted(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    const SIGABRT: i32 = 6;
    status.signal() == Some(SIGABRT)
}

#[cfg(not(unix))]
fn is_aborted(status: ExitStatus) -> bool {
    // The status that `abort` leaves.
    status.code() == Some(3)
}
