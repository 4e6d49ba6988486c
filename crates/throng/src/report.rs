//! Reports for people and for programs: the verdicts of a run with the question, which [`text`] and
//! [`json`] write. Nothing here prints.

pub(crate) mod advice;
pub mod cutoff;
pub mod evidence;
pub mod facts;
pub mod findings;
pub mod json;
mod lanes;
#[cfg(feature = "page")]
pub(crate) mod page;
pub mod reach;
pub mod refines;
pub(crate) mod sarif;
pub mod story;
pub mod text;

use std::time::Duration;

use crate::outcome::Outcome;
pub use throng_model::plural;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Certificate, Trace, Verdict};

/// Returns a thread bound in words.
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

/// Returns the number of threads in words: the bound, or the initial number if there is no bound
/// and it never grows.
pub fn threads_text(problem: &Problem) -> String {
    match (problem.bound, problem.fixed_threads()) {
        (Bound::Any, Some((least, most))) => format!("{}; no step adds any", range(least, most)),
        (bound, _) => bound_text(bound),
    }
}

/// Formats a range: `2` or `2 to 3`.
fn range(least: u32, most: u32) -> String {
    if least == most { most.to_string() } else { format!("{least} to {most}") }
}

/// Returns for how many threads, or tokens, a proof holds, as stated on the first line.
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

/// Returns the largest number of threads at a time where a program creates them itself: known
/// beforehand, or taken from a proved set that contains every reachable configuration.
fn most_created(report: &Outcome, verdict: &Verdict) -> Option<u32> {
    let Problem { initial, bound, model, .. } = &report.problem;
    let starts_them = model.spawns() && initial.iter().all(|family| family.any.is_empty());
    if !starts_them || *bound != Bound::Any || report.subject.format.is_some_and(|f| !f.is_code()) {
        return None;
    }
    let seen = match verdict {
        Verdict::Safe(Certificate::Closed(configs)) => configs.iter().map(|c| c.threads.size()).max(),
        Verdict::Safe(Certificate::Packed(configs)) if !configs.reduced => {
            configs.iter().map(|c| c.threads.size()).max()
        }
        _ => None,
    };
    match (seen, report.most_threads) {
        (Some(seen), Some(known)) => Some(seen.min(known)),
        (seen, known) => seen.or(known),
    }
}

/// Returns the largest number of threads at a time, if it follows from a bound, the program or a
/// proof; tokens of nets are not threads.
fn at_most(report: &Outcome) -> Option<u32> {
    let fixed = report.problem.fixed_threads().filter(|_| report.unit() == "thread").map(|(_, most)| most);
    let created = || report.answer.verdicts.iter().find_map(|v| most_created(report, v));
    report.problem.bound.threads().or(fixed).or_else(created)
}

/// Returns how many threads a run has: at a time, and in all if these are more.
fn threads_of(report: &Outcome, trace: &Trace) -> String {
    let (most, all) = (trace.threads(), trace.threads_in_all());
    match report.unit() == "thread" && all > most {
        true => format!("{} at a time ({all} in all)", plural(most.into(), "thread")),
        false => plural(most.into(), report.unit()),
    }
}

/// Returns the number of threads in words, including what a proof has shown about it.
fn all_threads(report: &Outcome) -> String {
    match report.answer.verdicts.iter().find_map(|v| most_created(report, v)) {
        Some(n) => format!("at most {n} at a time: the first one and those that the program creates"),
        None => threads_text(&report.problem),
    }
}

/// Returns for how many threads a verdict holds.
fn scope_of(report: &Outcome, verdict: &Verdict) -> String {
    let created = most_created(report, verdict)
        .map(|n| format!("for all threads that are created, at most {n} at a time"));
    match (created, report.memory_model) {
        (Some(threads), None) => threads,
        // The model belongs on the first line, which is wrapped if it gets too long.
        (Some(threads), Some(model)) => format!("under {model}, {threads}"),
        (None, None) => scope(&report.problem, report.unit()),
        (None, Some(model)) => format!("{}, under {model}", scope(&report.problem, report.unit())),
    }
}

/// Returns why a target has no verdict, and what is known nevertheless.
fn reason(report: &Outcome, verdict: &Verdict) -> Option<String> {
    let Verdict::Unknown(why) = verdict else { return None };
    Some(match advice::established(report, why) {
        Some(known) => format!("{why}; {known}"),
        None => why.to_string(),
    })
}

/// Returns the text after the name of a target: how it is reached, for which numbers of threads it
/// is not, or why that is unknown.
fn detail(report: &Outcome, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Safe(_) => scope_of(report, verdict),
        Verdict::Unsafe(trace) => {
            format!("{}, {}", threads_of(report, trace), plural(trace.steps.len() as u64, "step"))
        }
        Verdict::Unknown(_) => reason(report, verdict).unwrap_or_default(),
    }
}

/// Formats a duration: `7 ms`, `2.31 s`, `12 min 3 s`.
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        0 if time.as_millis() == 0 => "under 1 ms".into(),
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{:.2} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}
