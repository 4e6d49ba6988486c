//! `--replay`: the run as a C program that is forced through it, and `--replay-run`: what it does.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Concrete, Console, Failure, Loaded, Outcome, files};
use throng_c::replay::{self, Ends, Run};
use throng_model::verdict::Verdict;

/// How long the compiler and the program may take.
const LONGEST: Duration = Duration::from_secs(30);

/// Writes the program, if there is a run for one, and says what became of it.
pub(super) fn write(
    path: &Path,
    compile: bool,
    loaded: &Loaded,
    model: &Concrete,
    outcome: &Outcome,
    console: &Console,
) -> Result<(), Failure> {
    if !save(path, loaded, model, outcome)? {
        console.note("note: no replay was written: there is no run into a violation");
        return Ok(());
    }
    if !compile {
        console.note(&format!("note: {0} reproduces this: cc -pthread -w {0} && ./a.out", path.display()));
        return Ok(());
    }
    let said = run_it(path).map_err(Failure::Other)?;
    console.note(&format!("replay:  {said}"));
    Ok(())
}

/// Writes the program; whether there is a run for one.
pub(super) fn save(
    path: &Path,
    loaded: &Loaded,
    model: &Concrete,
    outcome: &Outcome,
) -> Result<bool, Failure> {
    let found = outcome.answer.verdicts.iter().enumerate().find_map(|(n, v)| match v {
        Verdict::Unsafe(trace) => Some((n, trace)),
        _ => None,
    });
    let Some((n, trace)) = found else { return Ok(false) };
    let stuck = outcome.problem.targets[n].name == "deadlock";
    let ends = if stuck { Ends::Stuck } else { Ends::Aborts };
    let run = Run::of(model, trace).ok_or_else(|| Failure::Other("the run cannot be replayed".into()))?;
    let text = replay::write(loaded, &run, ends).map_err(Failure::Other)?;
    files::replace(path, &text)?;
    Ok(true)
}

/// Compiles the program in a temporary directory and runs it.
pub(super) fn run_it(path: &Path) -> Result<String, String> {
    let compiler = std::env::var("CC").ok().filter(|c| !c.trim().is_empty()).unwrap_or_else(|| "cc".into());
    let mut words = compiler.split_whitespace();
    let folder = std::env::temp_dir().join(format!("throng-replay-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let program = folder.join("replay");
    let source = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let mut compile = Command::new(words.next().unwrap_or("cc"));
    compile.args(words).args(["-pthread", "-w", "-o"]).arg(&program).arg(source);
    let done = limited(compile).and_then(|(ok, how, said)| match ok {
        true => limited(Command::new(&program)),
        false => Err(format!("`{compiler}` {how}:\n{said}")),
    });
    _ = std::fs::remove_dir_all(&folder);
    let (_, how, said) = done?;
    let said = said.trim_end().replace('\n', "\n         ");
    Ok(format!("compiled and run, the program {how}: {said}"))
}

/// Runs a command with a time limit: whether it succeeded, how it ended, and what it said on standard error.
fn limited(mut command: Command) -> Result<(bool, String, String), String> {
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
    let (ok, how) = match status {
        None => (false, format!("was stopped after {} seconds", LONGEST.as_secs())),
        Some(status) => (status.success(), format!("ended with {status}")),
    };
    Ok((ok, how, said))
}
