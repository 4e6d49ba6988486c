//! Findings about shared objects as text: possible races first, grouped by object; then why the
//! other objects have none.

use super::plural;
use super::text::wrap;
use crate::findings::{Findings, ObjectStatus, PossibleRace, SharedAccess, SharedObject};

/// Maximum numbers of objects, and of races of one object, that are listed without `--verbose`.
const MOST: (usize, usize) = (20, 3);

/// Returns a line that sums up: `12 shared: 1 possible race, 11 protected`.
pub fn summary(findings: &Findings) -> String {
    let parts = findings.counts().into_iter().map(|(status, n)| match status {
        ObjectStatus::PossibleRace => format!("{n} with possible races"),
        other => format!("{n} {}", other.words()),
    });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => "none is shared".into(),
        false => format!("{} shared: {}", findings.objects.len(), parts.join(", ")),
    }
}

/// Returns the whole list; `all`: however long it is.
pub fn write(findings: &Findings, all: bool) -> String {
    let most = if all { (usize::MAX, usize::MAX) } else { MOST };
    let mut out = String::new();
    let racing = findings.worst_first();
    if !racing.is_empty() {
        out.push_str("\nPossible races, by object:\n");
        racing.iter().take(most.0).for_each(|object| out.push_str(&possible(object, most.1)));
        out.push_str(&more(racing.len(), most.0, "object"));
    }
    if !findings.open.is_empty() {
        out.push_str("\nNot known, so that nothing is proved:\n");
        findings.open.iter().take(most.0).for_each(|what| out.push_str(&wrap("  ", what, 4)));
        out.push_str(&more(findings.open.len(), most.0, "reason"));
    }
    let apart: Vec<&SharedObject> = findings.objects.iter().filter(|o| o.races.is_empty()).collect();
    if !apart.is_empty() {
        out.push_str("\nShared objects without a race:\n");
        apart.iter().take(most.0).for_each(|object| out.push_str(&without(object)));
        out.push_str(&more(apart.len(), most.0, "object"));
    }
    out
}

fn more(all: usize, shown: usize, what: &str) -> String {
    let left = all.saturating_sub(shown) as u64;
    if left == 0 { String::new() } else { format!("  ... and {} more\n", plural(left, what)) }
}

fn accesses(n: usize) -> String {
    if n == 1 { "1 access".into() } else { format!("{n} accesses") }
}

/// Returns the name of an object, with its line.
fn named(object: &SharedObject) -> String {
    let place = object.line.map_or_else(String::new, |line| format!(" (line {line})"));
    format!("{}{place}", object.name)
}

fn without(object: &SharedObject) -> String {
    let accesses = accesses(object.accesses);
    wrap("  ", &format!("{}: {}, {accesses}", named(object), reason(object)), 6)
}

/// Returns why an object has no race: `protected by m`.
pub fn reason(object: &SharedObject) -> String {
    let why = object.reasons.join("; ");
    match (object.status, why.is_empty()) {
        (ObjectStatus::Protected, false) => format!("protected by {why}"),
        (ObjectStatus::Apart, false) => why,
        (status, true) => status.words().into(),
        (status, false) => format!("{}: {why}", status.words()),
    }
}

fn possible(object: &SharedObject, most: usize) -> String {
    let pairs = plural(object.races.len() as u64, "pair");
    let head = format!("{}: {pairs} among {}", named(object), accesses(object.accesses));
    let mut out = wrap("  ", &head, 4);
    object.races.iter().take(most).for_each(|race| out.push_str(&pair(race)));
    out + &more(object.races.len(), most, "pair").replacen("  ", "    ", 1)
}

fn pair(race: &PossibleRace) -> String {
    let mark = state(race).map_or_else(String::new, |state| format!("    {state}:\n"));
    let why = wrap("      ", &race.why, 8);
    format!("{mark}{}{}{why}", access(&race.first), access(&race.second))
}

/// Returns what is known about a pair beside that it may race.
pub fn state(race: &PossibleRace) -> Option<&'static str> {
    match (race.confirmed, race.accepted) {
        (true, true) => Some("confirmed by the run, accepted by the baseline"),
        (true, false) => Some("confirmed by the run"),
        (false, true) => Some("accepted by the baseline"),
        (false, false) => None,
    }
}

fn access(access: &SharedAccess) -> String {
    let head = format!("    {:5} ", access.kind());
    wrap(&head, &describe(access), 10)
}

/// Returns a statement as a part of a sentence.
fn statement(text: &str) -> &str {
    text.trim().trim_end_matches(';')
}

/// Returns an access in words: `q.c:31: q->head = n, in main (line 50) > push, holding q.m`.
pub fn describe(access: &SharedAccess) -> String {
    let SharedAccess { file, line, text, thread, .. } = access;
    let path = access.path();
    let path = if path.is_empty() { String::new() } else { format!(", in {path}") };
    format!("{file}:{line}: {}{path}, thread {thread}, holding {}", statement(text), access.held())
}
