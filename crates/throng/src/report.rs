//! Answers for people and for programs: the verdicts of a run, with the question that was asked, in a form
//! that [`text`] and [`json`] write down. Nothing here prints.

pub mod advice;
pub mod cutoff;
pub mod evidence;
pub mod json;
mod lanes;
pub mod page;
pub mod reach;
pub mod sarif;
pub mod story;
pub mod text;

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::engine::Answer;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Verdict;

/// All there is to say about one run.
pub struct Report<'a> {
    /// What the input is called.
    pub file: &'a str,
    /// The question.
    pub problem: &'a Problem,
    /// What moves: `thread` or `token`.
    pub unit: &'a str,
    /// Who answered.
    pub engine: &'a str,
    /// The answer.
    pub answer: &'a Answer,
    /// Whether the evidence was checked before this report was written.
    pub checked: bool,
    /// How long that took.
    pub checking: Duration,
    /// The certificate that was written.
    pub certificate: Option<&'a Written>,
    /// How long it took, everything included.
    pub time: Duration,
    /// How long each part took.
    pub phases: Phases,
    /// Bytes of memory in use at the end.
    pub memory: u64,
    /// Bytes of memory in use at most.
    pub peak_memory: u64,
}

/// How long each part of a run took. Where several engines search and check at the same time, their checks are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// From the input to the problem.
    pub reading: Duration,
    /// From the problem to an answer.
    pub searching: Duration,
    /// From the answer to a verdict.
    pub checking: Duration,
}

impl Phases {
    /// Names and times, in order.
    pub fn named(&self) -> [(&'static str, Duration); 3] {
        [("reading", self.reading), ("searching", self.searching), ("checking", self.checking)]
    }
}

/// A certificate that was written to a file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Written {
    /// The file.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// How long it took to check it as `throng certify` does; null if nobody did.
    pub seconds: Option<f64>,
}

/// A verdict without its evidence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Word {
    /// Cannot happen.
    Safe,
    /// Nobody knows.
    Unknown,
    /// Can happen.
    Unsafe,
}

impl Word {
    /// The word for a verdict.
    pub fn of(verdict: &Verdict) -> Word {
        match verdict {
            Verdict::Safe(_) => Word::Safe,
            Verdict::Unsafe(_) => Word::Unsafe,
            Verdict::Unknown(_) => Word::Unknown,
        }
    }

    /// `UNSAFE` if any is, else `UNKNOWN` if any is, else `SAFE`.
    pub fn overall(verdicts: &[Verdict]) -> Word {
        verdicts.iter().map(Word::of).max().unwrap_or(Word::Unknown)
    }

    /// The exit status that goes with it.
    pub fn status(self) -> u8 {
        match self {
            Word::Safe => 0,
            Word::Unsafe => 10,
            Word::Unknown => 1,
        }
    }

    /// As JSON spells it.
    pub fn lower(self) -> &'static str {
        match self {
            Word::Safe => "safe",
            Word::Unsafe => "unsafe",
            Word::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Word::Safe => "SAFE",
            Word::Unsafe => "UNSAFE",
            Word::Unknown => "UNKNOWN",
        })
    }
}

/// A thread bound in words.
pub fn bound_text(bound: Bound) -> String {
    match bound {
        Bound::Any => "any number".into(),
        Bound::Threads(n) => format!("at most {n}"),
        Bound::Tokens(n) => {
            format!(
                "at most {n} initial tokens, or the least allowed, in each place that may start with any number"
            )
        }
    }
}

/// How many threads there may be, in words: the bound, unless none was asked for and the number never grows.
pub fn threads_text(problem: &Problem) -> String {
    match (problem.bound, problem.fixed_threads()) {
        (Bound::Any, Some((least, most))) => format!("{}; no step adds any", range(least, most)),
        (bound, _) => bound_text(bound),
    }
}

/// `2` or `2 to 3`
fn range(least: u32, most: u32) -> String {
    if least == most { most.to_string() } else { format!("{least} to {most}") }
}

/// For how many threads, or tokens, a proof holds, as the first line says it.
fn scope(problem: &Problem, unit: &str) -> String {
    match (problem.fixed_threads(), problem.bound) {
        (Some((1, 1)), _) => format!("with 1 {unit}"),
        (Some((least, most)), _) if least == most => format!("with exactly {most} {unit}s"),
        (Some((least, most)), _) => format!("with {} {unit}s", range(least, most)),
        (None, Bound::Any) => format!("for any number of {unit}s"),
        (None, Bound::Threads(n)) => format!("for at most {}", plural(n.into(), "thread")),
        (None, bound @ Bound::Tokens(_)) => format!("for {}", bound_text(bound)),
    }
}

/// Why a target has no verdict, and what is known all the same.
fn reason(report: &Report, verdict: &Verdict) -> Option<String> {
    let Verdict::Unknown(why) = verdict else { return None };
    Some(match advice::established(report, why) {
        Some(known) => format!("{why}; {known}"),
        None => why.to_string(),
    })
}

/// What stands behind the name of a target: how it is reached, or for whom it is not, or why nobody knows.
fn detail(report: &Report, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Safe(_) => scope(report.problem, report.unit),
        Verdict::Unsafe(trace) => format!(
            "{}, {}",
            plural(trace.threads().into(), report.unit),
            plural(trace.steps.len() as u64, "step")
        ),
        Verdict::Unknown(_) => reason(report, verdict).unwrap_or_default(),
    }
}

/// `7 ms`, `2.31 s`, `12 min 3 s`
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        0 if time.as_millis() == 0 => "under 1 ms".into(),
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{:.2} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// `1 thread`, `2 threads`
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
