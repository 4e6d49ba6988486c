//! `throng mutate`: what a proof depends on. One thing after the other is changed, and the changed
//! program is checked.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::MutateArgs;
use super::console::{Console, Failure};
use super::files;
use super::replay::{self, Saved};
use throng::report::text;
use throng::{Error, Format, Input, Job, Mutant, Outcome, Status};
use throng_model::limits::Limits;

/// Default time limit of one check.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The check of one program.
struct Row {
    /// `None`: it could not be checked.
    status: Option<Status>,
    answer: String,
    replay: Option<String>,
    seconds: f64,
    report: Value,
    text: String,
}

pub(super) fn run(args: &MutateArgs, console: &Console) -> Result<u8, Failure> {
    let input = open(args, console)?;
    let quiet = Console::new(super::OutputArgs { quiet: true, ..console.output });
    let job = Job::new(&input)
        .question(args.input.asking(args.question.question()))
        .settings(args.search.settings())
        .watch(&quiet);
    // What is wrong with the question is said once.
    console.assume(console.prepare(&job, Job::prepare)?);
    let mutants = job.mutants()?;
    let all = args.search.unlimited()?;
    console.stoppable(&all);
    let check = |n: Option<usize>| -> Row {
        let timeout = args.search.timeout.unwrap_or(TIMEOUT);
        let limits = super::within(all.part(), Some(timeout), args.search.memory);
        let began = Instant::now();
        let done = checked(args, &job, n.map(|n| (n, &mutants[n])), &limits);
        row(done, began, console)
    };
    let original = check(None);
    let mut rows: Vec<Row> = Vec::new();
    if original.status != Some(Status::Unsafe) {
        for n in 0..mutants.len() {
            // What was found is kept.
            if all.check().is_err() {
                break;
            }
            if !args.output.quiet && !args.json {
                console.note(&format!("{} of {}: {}", n + 1, mutants.len(), named(&mutants[n])));
            }
            rows.push(check(Some(n)));
        }
        if all.check().is_err() {
            // The last one was interrupted.
            rows.pop();
        }
    }
    let depends = original.status == Some(Status::Safe)
        && !rows.is_empty()
        && rows.len() == mutants.len()
        && rows.iter().all(|row| row.status == Some(Status::Unsafe));
    let file = args.input.file().display().to_string();
    let text = match args.json {
        true => document(&file, &mutants, &original, &rows, depends),
        false => table(args, &file, &mutants, &original, &rows),
    };
    console.print(&text)?;
    Ok(if depends { 0 } else { 1 })
}

fn row(done: Result<(Outcome, Option<String>), Failure>, began: Instant, console: &Console) -> Row {
    let seconds = began.elapsed().as_secs_f64();
    match done {
        Err(failure) => {
            let why = match failure {
                Failure::Other(why) | Failure::Unwritten(why) => why,
                Failure::Wrong(found) => found
                    .iter()
                    .find(|d| d.diagnostic.is_error())
                    .map_or_else(String::new, |d| d.diagnostic.message.clone()),
            };
            let answer = format!("not checked: {why}");
            Row { status: None, answer, replay: None, seconds, report: Value::Null, text: String::new() }
        }
        Ok((outcome, replay)) => {
            let quiet = text::Options { quiet: true, ..text::Options::default() };
            let said = outcome.text(quiet);
            // One verdict may take several lines; of several verdicts, the first line sums up.
            let answer = match outcome.problem.targets.len() {
                1 => said.split_whitespace().collect::<Vec<_>>().join(" "),
                _ => said.lines().next().unwrap_or_default().to_string(),
            };
            let options = text::Options { colour: console.colour, ..text::Options::default() };
            Row {
                status: Some(outcome.status()),
                answer,
                replay,
                seconds,
                report: serde_json::from_str(&outcome.json()).unwrap_or(Value::Null),
                text: outcome.text(options),
            }
        }
    }
}

/// Describes the change that makes the mutant.
fn named(mutant: &Mutant) -> String {
    format!("{}: {}", mutant.change.text(), mutant.what)
}

fn lines(mutant: &Mutant) -> String {
    mutant.lines.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn table(args: &MutateArgs, file: &str, mutants: &[Mutant], original: &Row, rows: &[Row]) -> String {
    let bad = rows.iter().filter(|row| row.status == Some(Status::Unsafe)).count();
    let left = mutants.len() - rows.len();
    let first = match original.status {
        Some(Status::Unsafe) => "nothing was changed: the program itself is UNSAFE".to_string(),
        None => "nothing is known: the program itself was not checked".to_string(),
        _ if mutants.is_empty() => {
            "nothing can be changed: no assertion, lock or atomic section is found in its own lines"
                .to_string()
        }
        Some(Status::Unknown) => {
            format!("{bad} of {} changes make it UNSAFE, but it was not proved itself", mutants.len())
        }
        Some(Status::Safe) if bad == mutants.len() => {
            format!("{bad} of {bad} changes make it UNSAFE: the proof depends on everything that was changed")
        }
        Some(Status::Safe) => format!("{bad} of {} changes make it UNSAFE", mutants.len()),
    };
    let mut out = format!("{first}\nfile:     {file}\noriginal: {}\n", original.answer);
    if !args.output.quiet && !rows.is_empty() {
        out.push('\n');
        let cells: Vec<[String; 2]> = mutants.iter().map(|m| [lines(m), named(m)]).collect();
        let width = |n: usize, title: &str| {
            cells.iter().map(|c| c[n].chars().count()).chain([title.len()]).max().unwrap_or(0)
        };
        let (w0, w1) = (width(0, "lines"), width(1, "change"));
        out.push_str(&format!("{:>w0$}  {:<w1$}  then\n", "lines", "change"));
        for (cell, row) in cells.iter().zip(rows) {
            out.push_str(&format!("{:>w0$}  {:<w1$}  {}\n", cell[0], cell[1], row.answer));
            if let Some(replay) = &row.replay {
                out.push_str(&format!("{:>w0$}  {:<w1$}  replay: {replay}\n", "", ""));
            }
        }
    }
    if left > 0 && original.status != Some(Status::Unsafe) {
        out.push_str(&format!("stopped: {left} changes were not tried\n"));
    }
    let safe = rows.iter().zip(mutants).filter(|(row, _)| row.status == Some(Status::Safe));
    for (_, mutant) in safe {
        out.push_str(&format!("the proof does not depend on line {}: {}\n", lines(mutant), named(mutant)));
    }
    if args.output.verbose {
        for (mutant, row) in mutants.iter().zip(rows) {
            out.push_str(&format!("\n--- line {}, {}\n{}", lines(mutant), named(mutant), row.text));
        }
    }
    out
}

fn document(file: &str, mutants: &[Mutant], original: &Row, rows: &[Row], depends: bool) -> String {
    let word = |row: &Row| row.status.map_or(Value::Null, |status| json!(status.to_string()));
    let changed: Vec<Value> = mutants
        .iter()
        .zip(rows)
        .map(|(mutant, row)| {
            json!({
                "change": mutant.change.text(),
                "lines": mutant.lines,
                "what": mutant.what,
                "verdict": word(row),
                "answer": row.answer,
                "seconds": row.seconds,
                "replay": row.replay,
                "report": row.report,
            })
        })
        .collect();
    let document = json!({
        "schema": 1,
        "tool": "throng",
        "version": env!("CARGO_PKG_VERSION"),
        "command": "mutate",
        "file": file,
        "original": { "verdict": word(original), "answer": original.answer, "report": original.report },
        "depends_on_all": depends,
        "changes": mutants.len(),
        "mutants": changed,
    });
    format!("{document:#}\n")
}

/// Reads the program.
fn open(args: &MutateArgs, console: &Console) -> Result<Input, Failure> {
    if !args.input.is_c() {
        if args.replay.is_some() {
            return Err(Failure::Other("`--replay` is for C".into()));
        }
        if !args.more.is_empty() {
            return Err(Failure::Other("one Boolean program at a time".into()));
        }
    }
    if let Some(folder) = &args.replay {
        fs::create_dir_all(folder).map_err(|why| Failure::Other(format!("{}: {why}", folder.display())))?;
    }
    let reading = args.question.question().reading(args.input.reading());
    let opened = console.open_within(&args.input, &args.more, reading, &Limits::none())?;
    let input = opened.map_err(Error::Impossible)?;
    match input.format() {
        Format::Bp | Format::C | Format::Rust | Format::Llvm => Ok(input),
        _ => Err(Failure::Other("`throng mutate` is for C, Rust and Boolean programs".into())),
    }
}

/// Checks the program, or a changed one; and what a replay of its run did, if that was asked for.
fn checked(
    args: &MutateArgs,
    job: &Job<'_>,
    mutant: Option<(usize, &Mutant)>,
    limits: &Limits,
) -> Result<(Outcome, Option<String>), Failure> {
    let Some((n, mutant)) = mutant else { return Ok((job.check(args.search.engine, limits)?, None)) };
    let outcome = job.mutated(mutant)?.check(args.search.engine, limits)?;
    let replayed = match args.replay.as_ref().filter(|_| outcome.is_unsafe()) {
        None => None,
        Some(folder) => {
            let path = folder.join(format!("{}.c", n + 1));
            files::claim([(&path, files::Kind::Own)], true)?;
            Some(match replay::save(&path, &outcome)? {
                Saved::NoRun => "there is no run".into(),
                Saved::Refused(why) => format!("none was written: {why}"),
                Saved::Written(_) if !args.replay_run => path.display().to_string(),
                Saved::Written(replay) => replay::run_it(&path, &replay),
            })
        }
    };
    Ok((outcome, replayed))
}
