//! The report as one self-contained web page: no network, no server, no other file.
//!
//! The page holds the report as data, and a script draws it: the program beside a timeline for a
//! run, a browsable certificate for a proof. All content of the input is data in a JSON block,
//! which the script inserts as text and never as markup, so a source text cannot change the page.
//! Without scripts, the page shows the report as plain text.

pub(crate) mod listing;
mod proof;
mod run;

use std::collections::HashMap;

use serde::Serialize;

use self::proof::{Proof, proof};
use self::run::{Run, run};
use super::facts::{LineFacts, facts as line_facts};
use super::{advice, all_threads, detail, duration, evidence, findings, text};
use crate::findings::{Findings, PossibleRace, SharedAccess, SharedObject};
use crate::outcome::{Outcome, Status};
use crate::undecided::{Look, Possible};
use throng_engine::Attempt;
use throng_lang::question::SourceDiagnostic;
use throng_model::verdict::Verdict;

/// Maximum length of the displayed input; of a longer one, only the beginning is shown.
const LONGEST: usize = 4 << 20;

#[derive(Serialize)]
struct Document<'a> {
    file: &'a str,
    language: &'a str,
    unit: &'a str,
    verdict: &'static str,
    checked: bool,
    /// Names and values at the top of the page.
    facts: Vec<(&'static str, String)>,
    source: &'a str,
    /// True if the source was too long to be shown as a whole.
    cut: bool,
    targets: Vec<Target>,
    proofs: Vec<Proof>,
    /// The facts proved about each line.
    lines: Vec<LineFacts>,
    attempts: &'a [Attempt],
    /// Runs that may be violations, and places to look at, where an answer is missing.
    possible: &'a [Possible],
    look: &'a [Look],
    /// What is known about shared objects.
    races: Option<Races<'a>>,
    version: &'static str,
}

/// Findings about shared objects, in the words of the text.
#[derive(Serialize)]
struct Races<'a> {
    summary: String,
    open: &'a [String],
    possible: Vec<RacingObject<'a>>,
    /// Names of the other objects, and why they have no race.
    without: Vec<(&'a str, String)>,
}

#[derive(Serialize)]
struct RacingObject<'a> {
    name: &'a str,
    races: Vec<Racing<'a>>,
}

#[derive(Serialize)]
struct Racing<'a> {
    state: &'static str,
    accesses: [(&'static str, String, u32); 2],
    why: &'a str,
}

impl<'a> Races<'a> {
    fn of(findings: &'a Findings) -> Races<'a> {
        let apart = findings.objects.iter().filter(|o| o.races.is_empty());
        Races {
            summary: findings::summary(findings),
            open: &findings.open,
            possible: findings.worst_first().into_iter().map(RacingObject::of).collect(),
            without: apart.map(|o| (&*o.name, findings::reason(o))).collect(),
        }
    }
}

impl<'a> RacingObject<'a> {
    fn of(object: &'a SharedObject) -> RacingObject<'a> {
        RacingObject { name: &object.name, races: object.races.iter().map(Racing::of).collect() }
    }
}

impl<'a> Racing<'a> {
    fn of(race: &'a PossibleRace) -> Racing<'a> {
        let access = |a: &SharedAccess| (a.kind(), findings::describe(a), a.line);
        Racing {
            state: findings::state(race).unwrap_or("possible"),
            accesses: [access(&race.first), access(&race.second)],
            why: &race.why,
        }
    }
}

#[derive(Serialize)]
struct Target {
    name: String,
    verdict: &'static str,
    detail: String,
    evidence: String,
    by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
    /// Index into the proofs: one certificate may prove several targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<usize>,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    established: Option<String>,
}

/// Returns the whole page.
pub fn write(report: &Outcome) -> String {
    let text = report.subject.source.as_ref().map_or("", |source| &source.text);
    let language = report.subject.format.map_or_else(String::new, |format| format.to_string());
    let (targets, proofs) = targets(report);
    let verdict = report.status();
    let shown = &text[..text.floor_char_boundary(LONGEST)];
    let document = Document {
        file: report.file(),
        language: &language,
        unit: report.unit(),
        verdict: verdict.lower(),
        checked: report.is_checked(),
        facts: facts(report),
        source: shown,
        cut: shown.len() < text.len(),
        targets,
        proofs,
        lines: line_facts(report),
        possible: &report.possible,
        look: &report.look,
        attempts: &report.shown().attempts,
        races: report.findings.as_deref().map(Races::of),
        version: env!("CARGO_PKG_VERSION"),
    };
    format!(
        include_str!("page/page.html"),
        title = escape(&format!("{verdict}: {} - Throng", report.file())),
        style = include_str!("page/page.css"),
        script = include_str!("page/page.js"),
        text = escape(&text::write(report, text::Options::default())),
        data = data(&document),
    )
}

/// Returns the reasons why the proof may be vacuous.
fn vacuous(report: &Outcome) -> String {
    let notes: Vec<String> = report
        .vacuous
        .iter()
        .map(|SourceDiagnostic { source, diagnostic }| {
            let line = diagnostic.span.map_or(0, |span| source.position(span.start as usize).0);
            format!("line {line}: {}", diagnostic.message)
        })
        .collect();
    notes.join("; ")
}

fn facts(report: &Outcome) -> Vec<(&'static str, String)> {
    let numbers = &report.shown().statistics;
    let mut rows = vec![
        ("initial", report.problem.initial_text.clone()),
        (if report.unit() == "token" { "tokens" } else { "threads" }, all_threads(report)),
        ("assumes", report.assumed().join("; ")),
        ("answered by", report.answered_by()),
        ("evidence", checked(report).into()),
        ("warnings", vacuous(report)),
        (
            "configurations",
            if numbers.configurations == 0 { String::new() } else { numbers.configurations.to_string() },
        ),
        ("time", duration(report.time)),
        ("memory", format!("{} MiB", report.peak_memory >> 20)),
        ("memory model", memory_model(report)),
    ];
    rows.retain(|(_, value)| !value.is_empty());
    rows
}

/// Returns the memory model, and why the verdicts hold there.
fn memory_model(report: &Outcome) -> String {
    match (report.memory_model, &report.memory_words) {
        (Some(model), Some(words)) => format!("{model}: {words}"),
        (Some(model), None) => model.to_string(),
        (None, _) => String::new(),
    }
}

/// Returns whether there is evidence, and whether it was checked.
fn checked(report: &Outcome) -> &'static str {
    let none = report.shown().verdicts.iter().all(|v| Status::of(v) == Status::Unknown);
    match (none, report.is_checked()) {
        (true, _) => "none",
        (false, true) => "checked",
        (false, false) => "NOT checked",
    }
}

fn targets(report: &Outcome) -> (Vec<Target>, Vec<Proof>) {
    let model = &*report.problem.model;
    let mut proofs = Vec::new();
    let mut known = HashMap::new();
    let mut targets = Vec::new();
    for (i, (target, verdict)) in report.problem.targets.iter().zip(&report.shown().verdicts).enumerate() {
        let mut entry = Target {
            name: target.name.clone(),
            verdict: Status::of(verdict).lower(),
            detail: detail(report, verdict),
            evidence: evidence::line(report, i),
            by: report.shown().by.get(i).copied().flatten(),
            run: None,
            proof: None,
            why: None,
            next: Vec::new(),
            established: None,
        };
        match verdict {
            Verdict::Unsafe(trace) => entry.run = Some(run(&report.problem, target, trace)),
            Verdict::Safe(certificate) => {
                let about = (certificate.identity(), std::mem::discriminant(&target.what));
                entry.proof = Some(*known.entry(about).or_insert_with(|| {
                    proofs.push(proof(model, target, certificate));
                    proofs.len() - 1
                }));
            }
            Verdict::Unknown(why) => {
                entry.why = Some(why.to_string());
                entry.next = advice::next(report, why);
                entry.established = advice::established(report, why);
            }
        }
        targets.push(entry);
    }
    (targets, proofs)
}

/// Returns JSON that cannot end the enclosing element.
fn data(document: &Document) -> String {
    let json =
        serde_json::to_string(document).unwrap_or_else(|why| format!("{{\"error\":{:?}}}", why.to_string()));
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Escapes text for HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
