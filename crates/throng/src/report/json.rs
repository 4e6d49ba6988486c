//! The report as one JSON document. The order of keys is stable; `schema` is incremented when their
//! meaning changes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::facts::{LineFacts, facts};
use super::story::{Story, describe_run};
use super::{advice, at_most, evidence, reason, scope, scope_of};
use crate::findings::Findings;
use crate::outcome::{MemoryModel, Outcome, Phases, Status, Written};
use crate::undecided::{Look, Possible};
use throng_engine::{Attempt, Statistics};
use throng_lang::question::SourceDiagnostic;
use throng_model::problem::Bound;
use throng_model::verdict::{Unknown, Verdict};

/// Version of the document's layout.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    file: &'a str,
    verdict: &'static str,
    engine: &'a str,
    /// Maximum number of threads at a time: the requested bound, the initial number if none is ever
    /// added, or the largest number that the program creates; null: any number.
    threads: Option<u32>,
    /// Nets: the bound on tokens for each open count of the initial marking.
    tokens: Option<u32>,
    initial: &'a str,
    /// For how many threads a proof holds, in the words of the first line.
    scope: String,
    /// What the verdicts take for granted.
    assumptions: Vec<String>,
    /// The memory model that the verdicts are about, where the program names weaker memory orders or
    /// one was asked for: `sc`, `c11`; else null.
    memory_model: Option<&'static str>,
    targets: &'a [TargetDocument<'a>],
    /// The trace of the first target that is reached.
    trace: Option<&'a Story>,
    /// Runs that may be violations, and what is uncertain about them, where an answer is missing.
    possible: &'a [Possible],
    /// Places to look at, where an answer is missing.
    look: &'a [Look],
    /// The certificate that was written.
    certificate: Option<&'a Written>,
    statistics: Numbers<'a>,
    /// The facts that the proof shows about each line.
    facts: Vec<LineFacts>,
    /// What is known about the objects that threads share; null where races in source code were
    /// not asked for, or nothing is known.
    races: Option<&'a Findings>,
    /// Warnings about the input, the question or the proof.
    warnings: Vec<Warning<'a>>,
    /// The record of each engine, if several took part.
    attempts: &'a [Attempt],
}

#[derive(Serialize)]
struct TargetDocument<'a> {
    name: &'a str,
    verdict: &'static str,
    /// For formulas, whether the formula is true, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<bool>,
    /// For formulas that ask for it, the largest number of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<i64>,
    /// Why there is no verdict, in one word.
    cause: Option<&'static str>,
    reason: Option<String>,
    /// What to try next, if there is no verdict.
    next: Vec<String>,
    /// The engine that answered.
    by: Option<&'a str>,
    evidence: Option<Evidence>,
    checked: bool,
    /// For a run, the maximum number of threads at a time.
    threads: Option<u32>,
    /// For a run, the number of threads in all: some may end before others start.
    #[serde(skip_serializing_if = "Option::is_none")]
    threads_in_all: Option<u32>,
    /// For a run, whether no run has fewer threads, as far as known.
    fewest: Option<bool>,
    steps: Option<usize>,
    trace: Option<Story>,
}

#[derive(Serialize)]
struct Warning<'a> {
    code: &'static str,
    message: &'a str,
    file: &'a str,
    /// The line; null if the whole file is meant.
    line: Option<usize>,
    column: Option<usize>,
}

impl Warning<'_> {
    fn of(warning: &SourceDiagnostic) -> Warning<'_> {
        let SourceDiagnostic { source, diagnostic } = warning;
        let at = diagnostic.span.map(|span| source.position(span.start as usize));
        Warning {
            code: diagnostic.code,
            message: &diagnostic.message,
            file: &source.name,
            line: at.map(|at| at.0),
            column: at.map(|at| at.1),
        }
    }
}

#[derive(Serialize)]
struct Evidence {
    kind: &'static str,
    /// The number of steps of a run, or of members of a certificate.
    size: usize,
}

#[derive(Serialize)]
struct Numbers<'a> {
    #[serde(flatten)]
    search: &'a Statistics,
    seconds: f64,
    /// The seconds of each phase of the run.
    phases: BTreeMap<&'static str, f64>,
    /// The seconds of checking the evidence.
    checking: f64,
    /// The seconds of engines that decided nothing.
    thrown_away: f64,
    /// Bytes of memory in use at the end.
    memory: u64,
    /// Maximum number of bytes in use.
    peak_memory: u64,
}

/// Returns the whole report, pretty-printed.
pub fn write(report: &Outcome) -> String {
    let by = report.answered_by();
    let targets = targets(report, &by);
    let document = Document {
        schema: SCHEMA,
        tool: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        command: "check",
        file: report.file(),
        verdict: report.status().lower(),
        engine: &by,
        threads: at_most(report),
        tokens: match report.problem.bound {
            Bound::Tokens(n) => Some(n),
            Bound::Any | Bound::Threads(_) => None,
        },
        initial: &report.problem.initial_text,
        scope: match report.answer.verdicts.first() {
            Some(verdict) => scope_of(report, verdict),
            None => scope(&report.problem, report.unit()),
        },
        assumptions: report.assumed(),
        memory_model: report.memory_model.map(MemoryModel::name),
        targets: &targets,
        trace: targets.iter().find_map(|t| t.trace.as_ref()),
        possible: &report.possible,
        look: &report.look,
        certificate: report.certificate.as_ref(),
        statistics: Numbers {
            search: &report.shown().statistics,
            seconds: report.time.as_secs_f64(),
            phases: seconds(report.phases),
            checking: report.answer.checking.as_secs_f64(),
            thrown_away: report.thrown_away().as_secs_f64(),
            memory: report.memory,
            peak_memory: report.peak_memory,
        },
        warnings: report.warnings.iter().chain(&report.vacuous).map(Warning::of).collect(),
        facts: facts(report),
        races: report.findings.as_deref(),
        attempts: &report.shown().attempts,
    };
    to_text(&document)
}

/// Returns the document of a run that was stopped before there was a report, and what it was doing.
pub fn stopped(file: &str, why: &Unknown, doing: &str) -> String {
    let mut attempt = Attempt::none(why);
    attempt.outcome.push_str(&format!("; {doing}"));
    to_text(&Document {
        schema: SCHEMA,
        tool: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        command: "check",
        file,
        verdict: Status::Unknown.lower(),
        engine: "none",
        threads: None,
        tokens: None,
        initial: "",
        scope: String::new(),
        assumptions: Vec::new(),
        memory_model: None,
        targets: &[],
        trace: None,
        possible: &[],
        look: &[],
        certificate: None,
        statistics: Numbers {
            search: &Statistics::default(),
            seconds: 0.0,
            phases: seconds(Phases::default()),
            checking: 0.0,
            thrown_away: 0.0,
            memory: 0,
            peak_memory: 0,
        },
        warnings: Vec::new(),
        facts: Vec::new(),
        races: None,
        attempts: &[attempt],
    })
}

/// Returns the seconds of each phase by name.
fn seconds(phases: Phases) -> BTreeMap<&'static str, f64> {
    phases.named().map(|(name, time)| (name, time.as_secs_f64())).into()
}

/// Returns a document, pretty-printed.
pub fn to_text(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document)
        .unwrap_or_else(|why| format!("{{\"schema\": {SCHEMA}, \"error\": {:?}}}", why.to_string()));
    text.push('\n');
    text
}

fn evidence_of(verdict: &Verdict) -> Option<Evidence> {
    match verdict {
        Verdict::Safe(certificate) => {
            let evidence::Explained { kind, size, .. } = evidence::explain(certificate);
            Some(Evidence { kind, size })
        }
        Verdict::Unsafe(trace) => Some(Evidence { kind: "run", size: trace.steps.len() }),
        Verdict::Unknown(_) => None,
    }
}

fn targets<'a>(report: &'a Outcome, by: &'a str) -> Vec<TargetDocument<'a>> {
    let pairs = report.problem.targets.iter().zip(&report.shown().verdicts);
    pairs
        .enumerate()
        .map(|(i, (target, verdict))| {
            let trace = match verdict {
                Verdict::Unsafe(trace) => Some(describe_run(&report.problem, target, trace)),
                Verdict::Safe(_) | Verdict::Unknown(_) => None,
            };
            TargetDocument {
                name: &target.name,
                verdict: Status::of(verdict).lower(),
                holds: target.holds(verdict),
                bound: target.bound(verdict),
                cause: match verdict {
                    Verdict::Unknown(why) => Some(why.cause()),
                    Verdict::Safe(_) | Verdict::Unsafe(_) => None,
                },
                reason: reason(report, verdict),
                next: match verdict {
                    Verdict::Unknown(why) => advice::next(report, why),
                    Verdict::Safe(_) | Verdict::Unsafe(_) => Vec::new(),
                },
                by: match verdict {
                    Verdict::Unknown(_) => None,
                    _ => report.shown().by.get(i).copied().flatten().or(Some(by)),
                },
                evidence: evidence_of(verdict),
                checked: report.is_checked() && !matches!(verdict, Verdict::Unknown(_)),
                threads: trace.as_ref().map(|t| t.threads),
                threads_in_all: match verdict {
                    Verdict::Unsafe(trace) if report.unit() == "thread" => Some(trace.threads_in_all()),
                    _ => None,
                },
                fewest: trace.as_ref().map(|_| report.shown().has_fewest(&report.problem, i)),
                steps: trace.as_ref().map(|t| t.length),
                trace,
            }
        })
        .collect()
}
