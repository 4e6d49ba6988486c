//! Proofs that are weaker than they seem: an assertion that no thread reaches holds, and so does
//! everything after an `assume` that never holds.
//!
//! The warnings are derived from the proof ([`crate::covering`]), so each is as certain as the
//! verdict. They are not complete: the proof may describe more than can be reached.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::covering::Covering;
use throng_lang::bp::program::program_of;
use throng_lang::question::SourceDiagnostic;
use throng_lang::source::{Diagnostic, Severity, Source, Span};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem};
use throng_model::property::Property;
use throng_model::verdict::{Unknown, Verdict};
use throng_model::{Local, Model, Place, Shared};

/// Returns warnings about the proofs for a program, as far as the limits allow; with `strict`, also
/// those found by a separate search.
pub(crate) fn vacuous(
    problem: &Problem,
    verdicts: &[Verdict],
    source: Option<&Arc<Source>>,
    strict: bool,
    limits: &Limits,
) -> Vec<SourceDiagnostic> {
    let model = &*problem.model;
    let safe: Vec<&Property> = problem
        .targets
        .iter()
        .zip(verdicts)
        .filter(|(_, v)| matches!(v, Verdict::Safe(_)))
        .filter_map(|(t, _)| t.property.as_deref())
        .collect();
    let (Some(source), Some(_), false) = (source, program_of(model), safe.is_empty()) else {
        return Vec::new();
    };
    let mut places = model.places();
    let labels: BTreeSet<String> = safe.iter().flat_map(|property| labels(property)).collect();
    let is_asked = |p: &Place| is_assertion(p) || p.labels.iter().any(|l| labels.contains(l));
    places.retain(|p| is_asked(p) || is_assumption(p));
    if places.is_empty() {
        return Vec::new();
    }
    let search = strict.then_some(limits);
    let Some(covering) = Covering::new(problem, verdicts, search) else { return Vec::new() };
    let Ok(seen) = Coverage::of(model, &covering, &places, limits) else { return Vec::new() };
    let bound = match problem.bound {
        Bound::Any => String::new(),
        Bound::Threads(n) | Bound::Tokens(n) => format!(" with at most {n} threads"),
    };
    let mut found = Vec::new();
    for place in &places {
        let at = (place.line, place.column);
        if is_assertion(place) && safe.contains(&&Property::Assertions) && !seen.reached.contains(&at) {
            found.push((at, "W620", format!("proved, but no thread reaches this assertion{bound}")));
        } else if is_assumption(place) && seen.reached.contains(&at) && !seen.passed.contains(&at) {
            found.push((at, "W621", format!("no thread gets past this{bound}: its condition never holds")));
        }
    }
    for label in &labels {
        let mut labelled = places.iter().filter(|p| p.labels.contains(label)).peekable();
        if let Some(first) = labelled.peek().map(|p| (p.line, p.column))
            && labelled.all(|p| !seen.reached.contains(&(p.line, p.column)))
        {
            found.push((first, "W622", format!("proved, but no thread reaches label `{label}`{bound}")));
        }
    }
    found.sort_unstable();
    found.dedup();
    let warning = |((line, column), code, message)| SourceDiagnostic {
        source: source.clone(),
        diagnostic: Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(code, span(source, line, column), message)
        },
    };
    found.into_iter().map(warning).collect()
}

fn is_assertion(place: &Place) -> bool {
    argument(&place.text, "assert").is_some()
}

/// Returns the text after a keyword; a name may begin like a keyword.
fn argument<'t>(text: &'t str, keyword: &str) -> Option<&'t str> {
    text.strip_prefix(keyword).filter(|rest| rest.starts_with(['(', ' ']))
}

/// Returns whether a statement is an assumption that should be satisfiable. `assume(0)` is how
/// programs stop a thread, and starting a thread never waits, whatever the new thread does.
fn is_assumption(place: &Place) -> bool {
    if argument(&place.text, "start_thread").is_some() {
        return false;
    }
    match argument(&place.text, "assume") {
        Some(condition) => !["0", "F", "false"].contains(&condition.trim_matches(['(', ')', ' '])),
        None => place.text.contains(" constrain "),
    }
}

/// Returns the labels, and perhaps lines, of the threads that a property is about.
fn labels(property: &Property) -> impl Iterator<Item = String> {
    let patterns = property.together().into_iter().flat_map(|together| &together.threads);
    patterns.flat_map(|pattern| &pattern.places).map(|place| place.text.clone())
}

/// The line and column of a statement.
type At = (u32, u32);

/// The statements that threads may reach, and the assumptions that they may pass.
#[derive(Default)]
struct Coverage {
    reached: BTreeSet<At>,
    passed: BTreeSet<At>,
}

impl Coverage {
    /// Collects them until there is nothing left to warn about.
    fn of(
        model: &dyn Model,
        covering: &Covering,
        places: &[Place],
        limits: &Limits,
    ) -> Result<Coverage, Unknown> {
        let mut ticker = Ticker::new(limits);
        let mut seen = Coverage::default();
        let mut open: BTreeSet<At> = places.iter().map(|p| (p.line, p.column)).collect();
        // The beginning and the end of a started statement may have the same position as the
        // statement.
        let assumed: BTreeSet<At> =
            places.iter().filter(|p| is_assumption(p)).map(|p| (p.line, p.column)).collect();
        let mut known: FxHashSet<(Shared, Local)> = FxHashSet::default();
        let mut assumptions: FxHashMap<Local, Option<At>> = FxHashMap::default();
        for (s, l) in covering.thread_states() {
            let assumption = *assumptions.entry(l).or_insert_with(|| {
                let place = model.place(l)?;
                let at = (place.line, place.column);
                seen.reached.insert(at);
                if is_assumption(&place) {
                    return Some(at);
                }
                if !assumed.contains(&at) {
                    open.remove(&at);
                }
                None
            });
            ticker.tick()?;
            if open.is_empty() {
                break;
            }
            let Some(at) = assumption.filter(|at| open.contains(at)) else { continue };
            let mut steps = Vec::new();
            // If not all steps were listed, a missing one may pass the assumption.
            if known.insert((s, l)) && (model.post(s, l, &mut steps).is_err() || !steps.is_empty()) {
                seen.passed.insert(at);
                open.remove(&at);
            }
        }
        Ok(seen)
    }
}

/// Returns the rest of the line from a position on, without what follows the statement.
fn span(source: &Source, line: u32, column: u32) -> Span {
    let mut start = 0;
    let mut lines = source.text.split_inclusive('\n');
    for _ in 1..line {
        start += lines.next().map_or(0, str::len);
    }
    let text = lines.next().unwrap_or_default();
    let from = text.char_indices().nth(column.saturating_sub(1) as usize).map_or(0, |c| c.0);
    let rest = &text[from..];
    let length = rest.find([';', '\n', '\r']).unwrap_or(rest.len());
    Span::new(start + from, start + from + length)
}
