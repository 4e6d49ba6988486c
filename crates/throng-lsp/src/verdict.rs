//! Checks a text, and converts the outcome for an editor.

use std::path::Path;

use serde_json::{Value, json};

use crate::asked::Asked;
use crate::position::Text;
use throng::check::{Document, Origin, document, read, write};
use throng::findings::Findings;
use throng::report::facts::{LineFacts, facts};
use throng::report::findings::describe;
use throng::report::story::{Difference, Event, Story, describe_run};
use throng::report::threads_text;
use throng::{Engine, Error, Input, Job, Limits, Outcome, Prepared, Settings, Status, TextOptions, Watch};
use throng_engine::reuse::Reuse;
use throng_lang::load::{Reading, decode};
use throng_model::verdict::Verdict;

/// Maximum number of steps of a run that are listed with a diagnostic; `throng.showRun` has them
/// all.
const MOST_RELATED: usize = 200;

/// Maximum number of members of a proof that is tried on the next text: writing a larger one would
/// take as long as searching.
const MOST_REUSED: usize = 20_000;

/// The result of a check.
pub struct Found {
    /// The verdicts.
    pub outcome: Outcome,
    /// The facts proved about each line.
    facts: Vec<LineFacts>,
    /// The prepared question, if its answer can be tried on other texts.
    prepared: Option<Prepared>,
}

impl Found {
    /// Returns the facts proved about a line, from 1, in Markdown.
    pub fn about(&self, line: u32) -> Option<String> {
        let found = &self.facts[self.facts.binary_search_by_key(&line, |at| at.line).ok()?];
        let threads = threads_text(&self.outcome.problem);
        let facts: Vec<String> = found.facts.iter().map(|fact| format!("- {fact}")).collect();
        Some(format!("Proved whenever a thread is here (threads: {threads}):\n\n{}", facts.join("\n")))
    }

    /// Returns the proof as a certificate. Runs are not kept for other texts, which may have a
    /// shorter one.
    fn certificate(&self) -> Option<Document> {
        let verdicts = &self.outcome.answer.verdicts;
        let members: usize = verdicts.iter().filter_map(Verdict::evidence).map(|evidence| evidence.1).sum();
        if !self.outcome.is_safe() || members > MOST_REUSED {
            return None;
        }
        let origin = Origin { problem: &self.outcome.problem, ..self.prepared.as_ref()?.origin()? };
        let mut bytes = Vec::new();
        write(&document(&origin, verdicts).ok()?, &mut bytes).ok()?;
        read(&bytes).ok()
    }
}

/// Checks a text in an editor. The proof of an `earlier` text is tried first.
pub fn check(
    path: &Path,
    text: &str,
    asked: &Asked,
    earlier: Option<&Found>,
    settings: Settings,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Found, Error> {
    let source = decode(path.display().to_string(), text.as_bytes().to_vec())?;
    let input = Input::edited_within(path, source, Reading::default(), limits)?;
    let job = Job::new(&input).question(asked.question()).settings(settings).watch(watch);
    let prepared = job.prepare()?.clone();
    let search = Engine::Auto.build(&settings);
    let outcome = match (earlier.and_then(Found::certificate), prepared.loaded()) {
        (Some(old), Some(loaded)) => job.check_by(&Reuse::new(loaded, old, search), limits)?,
        _ => job.check(Engine::Auto, limits)?,
    };
    let facts = facts(&outcome);
    Ok(Found { outcome, facts, prepared: Some(prepared) })
}

/// Returns whether a file is in a language of which functions can be asked about.
pub fn is_code(path: &Path) -> bool {
    is_c(path) || is_rust(path)
}

/// Returns whether a file is Rust. Another server reads it while it is typed.
pub fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "rs")
}

/// Returns whether a file is C, whose preprocessor may take longer than an editor waits.
pub fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "c" || e == "i")
}

/// Returns the first line of a report with single blanks: `UNSAFE assertions 2 threads, 8 steps`.
pub fn headline(outcome: &Outcome) -> String {
    let report = report(outcome);
    report.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the report as text.
pub fn report(outcome: &Outcome) -> String {
    outcome.text(TextOptions::default())
}

/// Returns the answer of `throng.check`.
pub fn answer(outcome: &Outcome, uri: &str, text: &Text) -> Value {
    json!({
        "status": outcome.status().to_string(),
        "headline": headline(outcome),
        "report": report(outcome),
        "runs": runs(outcome, uri, text),
    })
}

/// Returns every run into a violation, as a sequence of locations.
pub fn runs(outcome: &Outcome, uri: &str, text: &Text) -> Vec<Value> {
    stories(outcome).iter().map(|story| run(story, uri, text)).collect()
}

fn stories(outcome: &Outcome) -> Vec<Story> {
    let pairs = outcome.problem.targets.iter().zip(&outcome.shown().verdicts);
    pairs
        .filter_map(|(target, verdict)| match verdict {
            Verdict::Unsafe(trace) => Some(describe_run(&outcome.problem, target, trace)),
            _ => None,
        })
        .collect()
}

fn run(story: &Story, uri: &str, text: &Text) -> Value {
    let steps = story.steps.iter().map(|event| {
        let change = |d: &Difference| {
            json!({
                "thread": d.thread.map(|t| t.to_string()),
                "variable": d.variable,
                "before": d.before,
                "after": d.after,
            })
        };
        json!({
            "step": event.step,
            "thread": event.thread.map(|t| t.to_string()),
            "statement": event.statement,
            "location": location(uri, text, event.line, event.column),
            "changes": event.changes.iter().map(change).collect::<Vec<_>>(),
        })
    });
    let (line, column) = end(story);
    json!({
        "target": story.violation.target,
        "threads": story.threads,
        "steps": steps.collect::<Vec<_>>(),
        "violation": {
            "location": location(uri, text, line, column),
            "threads": story.violation.threads.iter().map(|c| c.thread.to_string()).collect::<Vec<_>>(),
        },
    })
}

/// Returns line and column of the end of a run: a violating thread, else the last statement.
fn end(story: &Story) -> (u32, u32) {
    let culprit = story.violation.threads.iter().find_map(|c| Some((c.state.line?, c.state.column?)));
    culprit.or(story.steps.last().map(|s| (s.line, s.column))).unwrap_or_default()
}

/// Returns a place in the text; null if the line is not known.
fn location(uri: &str, text: &Text, line: u32, column: u32) -> Value {
    if line == 0 { Value::Null } else { json!({ "uri": uri, "range": text.rest_of_line(line, column) }) }
}

/// Returns violations as diagnostics at the ends of runs, with their steps as related places.
pub fn diagnostics(outcome: &Outcome, uri: &str, text: &Text) -> Vec<Value> {
    let mut found: Vec<Value> = match outcome.status() {
        Status::Unsafe => stories(outcome).iter().map(|story| diagnostic(story, uri, text)).collect(),
        Status::Safe | Status::Unknown => Vec::new(),
    };
    found.extend(outcome.look.iter().filter(|look| look.file == outcome.file()).map(|look| {
        json!({
            "range": text.rest_of_line(look.line, 1),
            "severity": 3,
            "source": "throng",
            "code": "undecided",
            "message": look.why,
        })
    }));
    found.extend(outcome.possible.iter().filter_map(|possible| {
        let mut warning = diagnostic(possible.trace.as_ref()?, uri, text);
        let doubts = possible.uncertain.join("; ");
        warning["severity"] = json!(2);
        warning["message"] =
            format!("possible: {}; uncertain: {doubts}", warning["message"].as_str().unwrap_or_default())
                .into();
        Some(warning)
    }));
    found.extend(outcome.findings.iter().flat_map(|findings| possible_races(outcome, findings, uri, text)));
    found
}

/// Returns a hint at each access of this file that may race, with the other access as its
/// related place. Other files have no text here.
fn possible_races(outcome: &Outcome, findings: &Findings, uri: &str, text: &Text) -> Vec<Value> {
    let mut found = Vec::new();
    for object in findings.worst_first() {
        for race in object.races.iter().filter(|race| !race.confirmed && !race.accepted) {
            for (here, other) in [(&race.first, &race.second), (&race.second, &race.first)] {
                if here.file != outcome.file() {
                    continue;
                }
                let mut warning = json!({
                    "range": text.rest_of_line(here.line, here.column),
                    "severity": 4,
                    "source": "throng",
                    "code": "possible-race",
                    "message": format!("possible race on {}: this {} and a {} in line {}; {}", object.name, here.kind(), other.kind(), other.line, race.why),
                });
                if other.file == outcome.file() {
                    let at = location(uri, text, other.line, other.column);
                    warning["relatedInformation"] = json!([{ "location": at, "message": describe(other) }]);
                }
                if !found.contains(&warning) {
                    found.push(warning);
                }
            }
        }
    }
    found
}

fn diagnostic(story: &Story, uri: &str, text: &Text) -> Value {
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let size = format!("{}, {}", plural(story.threads as usize, "thread"), plural(story.length, "step"));
    let (line, column) = end(story);
    let related = story.steps.iter().take(MOST_RELATED).filter_map(|event| {
        let location = location(uri, text, event.line, event.column);
        (!location.is_null()).then(|| json!({ "location": location, "message": describe_step(event) }))
    });
    json!({
        "range": text.rest_of_line(line, column),
        "severity": 1,
        "source": "throng",
        "code": "violated",
        "message": format!("UNSAFE {}: {size}", story.violation.target),
        "relatedInformation": related.collect::<Vec<_>>(),
    })
}

/// Describes a step: `5. T1: lock := 1 (lock: 0 -> 1)`.
fn describe_step(event: &Event) -> String {
    let thread = event.thread.map_or_else(String::new, |t| format!("{t}: "));
    let changes: Vec<String> =
        event.changes.iter().map(|d| format!("{}: {} -> {}", d.variable, d.before, d.after)).collect();
    let changes = if changes.is_empty() { String::new() } else { format!(" ({})", changes.join(", ")) };
    format!("{}. {thread}{}{changes}", event.step, event.statement)
}
