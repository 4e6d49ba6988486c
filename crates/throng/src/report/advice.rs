//! Advice for an UNKNOWN.

use super::plural;
use crate::outcome::Outcome;
use throng_engine::Engine;
use throng_lang::load::Format;
use throng_lang::vocabulary::Vocabulary;
use throng_model::assumption::Assumption;
use throng_model::problem::{Bound, Target};
use throng_model::verdict::Unknown;

/// Returns what was established although there is no verdict, if anything was.
pub fn established(report: &Outcome, why: &Unknown) -> Option<String> {
    let was_asked = !matches!(why, Unknown::LeftOut(_) | Unknown::Unsure(_));
    let k = report.shown().statistics.complete_up_to.filter(|&k| k > 0 && was_asked)?;
    Some(format!("no violation with up to {}", plural(k.into(), report.unit())))
}

/// Returns how to say what functions do that are neither defined nor known.
fn undefined(report: &Outcome) -> Vec<String> {
    const MOST: usize = 3;
    let option = report.subject.vocabulary.library;
    let tip = |a: &Assumption| match a {
        Assumption::Undefined { name, row } => {
            Some(format!("if `{name}` does no more than this, say so in a file for {option}:\n{row}"))
        }
        _ => None,
    };
    report.assumptions.iter().filter_map(tip).take(MOST).collect()
}

/// Returns what to do about races that are possible and not confirmed.
fn possible(report: &Outcome) -> Vec<String> {
    let names = report.subject.vocabulary;
    let mut tips = undefined(report);
    tips.push(format!("more time for the search that looks for a run: {} SECS", names.timeout));
    tips.push(format!("to keep what is known and hear of new ones only: {} FILE", names.baseline));
    tips
}

/// Returns what to try next, the most promising first. The first line of each is for people, and
/// what follows is to be copied.
pub fn next(report: &Outcome, why: &Unknown) -> Vec<String> {
    let any = report.problem.bound == Bound::Any;
    let known = report.shown().statistics.complete_up_to.unwrap_or(0);
    let mut tips = Vec::new();
    let Vocabulary { auto, backward, symbolic, .. } = *report.subject.vocabulary;
    let names = report.subject.vocabulary;
    // Engines that cover configurations decide nothing about whole ones.
    let covers = report.problem.model.predecessors().is_some()
        && !report.problem.targets.iter().any(Target::is_about_all_threads);
    let is_code = report.subject.format.is_some_and(Format::is_code);
    tips.extend(
        report.look.iter().filter_map(|look| Some(format!("line {}: {}", look.line, look.advice.as_ref()?))),
    );
    let or_backward = if covers { format!(", or {backward}") } else { String::new() };
    match why {
        Unknown::LeftOut(_) => return tips,
        Unknown::Possible(_) => return possible(report),
        Unknown::Unsure(_) => {
            tips.extend(undefined(report));
            return tips;
        }
        Unknown::Time(limit) => {
            tips.push(format!(
                "more time: {} {}",
                names.timeout,
                (limit.as_secs_f64() * 4.0).ceil().max(1.0)
            ));
            if report.engine != Engine::Auto.name() {
                tips.push(format!("other engines: {auto}, which runs all suitable ones"));
            }
        }
        Unknown::Memory(limit) => {
            let more = (limit >> 20).saturating_mul(2).max(1);
            tips.push(format!("more memory, on a machine that has it: {} {more}", names.memory));
            tips.extend(match (covers, is_code) {
                (true, _) => Some(format!(
                    "an engine that stores less: {backward} (any number of threads) or {symbolic}"
                )),
                (false, false) => Some(format!("an engine that stores less: {symbolic}")),
                (false, true) => None,
            });
        }
        Unknown::Cancelled => {
            tips.push(format!("let it run longer; {} SECS ends it by itself", names.timeout))
        }
        Unknown::Work => tips.push(format!("the engine alone, without a share of work: {}", names.engine)),
        Unknown::Bound(n) => {
            tips.push(format!("more threads: {} {}", names.max_threads, u64::from(*n) * 2));
            tips.push(format!("an engine that proves for any number of threads: {auto}{or_backward}"));
        }
        Unknown::Inconclusive(_) | Unknown::NotForThisModel(_) => {
            let tried = report.engine == Engine::Auto.name();
            match (tried, covers) {
                (false, _) => tips.push(format!("another engine: {auto} (all suitable ones){or_backward}")),
                (true, true) => tips.push(format!("another engine: {backward}")),
                (true, false) => {}
            }
        }
    }
    // A program that has no more threads has no smaller question.
    let more = report.most_threads.is_none_or(|most| known.max(1) + 1 < most);
    if any && more && known < 3 && !matches!(why, Unknown::Bound(_)) {
        tips.push(format!(
            "a smaller question, which may already show a bug: {} {}",
            names.threads,
            known.max(1) + 1
        ));
    }
    if report.problem.targets.len() > 1 {
        tips.push("fewer targets at a time".into());
    }
    tips
}
