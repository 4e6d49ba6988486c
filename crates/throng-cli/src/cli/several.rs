//! `throng check` about several inputs, one after the other, with one summary. The first line is
//! about all of them, so reports are printed at the end.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::CheckArgs;
use super::check::check;
use super::console::{Console, Failure};
use throng::Status;
use throng::report::json;

/// The result of checking one input.
struct Checked {
    file: PathBuf,
    report: String,
    done: Result<u8, Failure>,
}

impl Checked {
    fn status(&self) -> u8 {
        *self.done.as_ref().unwrap_or(&2)
    }
}

pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<u8, Failure> {
    refuse_outputs(args)?;
    let all = args.search.unlimited()?;
    console.stoppable(&all);
    let files = args.input.file.iter().chain(&args.more);
    let checked: Vec<Checked> = files
        .map(|file| {
            let mut one = CheckArgs { more: Vec::new(), ..args.clone() };
            one.input.file = Some(file.clone());
            let limits = super::within(all.part(), args.search.timeout, args.search.memory);
            let mut report = String::new();
            let mut keep = |text: &str| {
                report += text;
                Ok(())
            };
            let done = check(&one, console, &limits, false, &mut keep);
            done.as_ref().err().into_iter().for_each(|failure| console.fail(failure));
            Checked { file: file.clone(), report, done }
        })
        .collect();
    let statuses: Vec<u8> = checked.iter().map(Checked::status).collect();
    console.print(&match args.json {
        true => document(&checked, overall(&statuses)),
        false => text(&checked, overall(&statuses), args.output.quiet),
    })?;
    Ok([2, 10, 1, 0].into_iter().find(|status| statuses.contains(status)).unwrap_or(0))
}

fn refuse_outputs(args: &CheckArgs) -> Result<(), Failure> {
    let outputs = [
        &args.html,
        &args.sarif,
        &args.certificate,
        &args.checkpoint,
        &args.reuse,
        &args.replay,
        &args.witness,
        &args.litmus,
    ];
    if outputs.iter().all(|output| output.is_none()) {
        return Ok(());
    }
    let why = "--html, --sarif, --certificate, --checkpoint, --reuse, --replay, --witness and --litmus are about one input: check it alone";
    Err(Failure::Other(why.into()))
}

/// One violation is enough; a proof is needed for every input.
fn overall(statuses: &[u8]) -> Status {
    match statuses {
        all if all.contains(&10) => Status::Unsafe,
        all if all.iter().all(|&status| status == 0) => Status::Safe,
        _ => Status::Unknown,
    }
}

fn text(checked: &[Checked], overall: Status, quiet: bool) -> String {
    let count = |status: u8| checked.iter().filter(|c| c.status() == status).count();
    let named = [(count(10), "unsafe"), (count(1), "unknown"), (count(0), "safe"), (count(2), "not checked")];
    let named: Vec<String> =
        named.iter().filter(|n| n.0 > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let first = format!("{overall}  {} files: {}\n", checked.len(), named.join(", "));
    checked.iter().filter(|c| !c.report.is_empty()).fold(first, |text, c| {
        // A report begins with its file; verdicts alone do not.
        let named = |line: &str| format!("{}: {line}\n", c.file.display());
        match quiet {
            true => text + &c.report.lines().map(named).collect::<String>(),
            false => text + "\n" + &c.report,
        }
    })
}

/// The document about several inputs, see docs/schemas/check-several.schema.json.
#[derive(Serialize)]
struct Documents {
    schema: u32,
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    verdict: &'static str,
    files: Vec<Entry>,
}

/// The entry of a document about one input: the whole document about it alone, or why it was not
/// checked.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry {
    Checked(Value),
    Failed { file: String, error: String },
}

fn document(checked: &[Checked], overall: Status) -> String {
    let entry = |c: &Checked| match &c.done {
        Ok(_) => Entry::Checked(serde_json::from_str(&c.report).expect("a report is a document")),
        Err(why) => Entry::Failed { file: c.file.display().to_string(), error: why.to_string() },
    };
    let documents = Documents {
        schema: json::SCHEMA,
        tool: "throng",
        version: env!("CARGO_PKG_VERSION"),
        command: "check",
        verdict: overall.lower(),
        files: checked.iter().map(entry).collect(),
    };
    json::to_text(&documents)
}
