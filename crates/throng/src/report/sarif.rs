//! The report in the Static Analysis Results Interchange Format (SARIF 2.1.0, OASIS), for
//! code-scanning pages and editors.
//!
//! A violated target is a result of kind `fail` with a code flow: a thread flow per thread, whose
//! locations are numbered in the order of execution. A proved target is `pass`, an undecided one is
//! `open`. If a program was made from C and its comments give C locations, results point into the C
//! file, and the program's own line is a related location.

use serde_json::{Value, json};

use super::findings::describe;
use super::story::{Culprit, Event, Story, describe_run};
use super::text::{blamed, effects, values_text, way};
use super::{all_threads, detail, evidence, plural, threads_of};
use crate::findings::{Findings, PossibleRace, SharedAccess, SharedObject};
use crate::outcome::{Outcome, shows_value};
use throng_model::property::Property;
use throng_model::verdict::Verdict;

/// The address of the schema.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The kinds of violations: id, name, meaning.
const RULES: [(&str, &str, &str); 12] = [
    ("assertion", "Assertion", "No thread may execute an assertion whose condition is false."),
    ("error-label", "ErrorLabel", "No thread may reach this label."),
    ("mutex", "MutualExclusion", "No two threads may be at this label at the same time."),
    ("invariant", "Invariant", "The expression over the shared variables must always hold."),
    ("at-most", "AtMost", "No more threads than this may be at this label at the same time."),
    ("never", "NeverTogether", "No threads may be there, with these values, at the same time."),
    ("race", "DataRace", "No two threads may be about to access this, one of them to write it."),
    ("deadlock", "Deadlock", "Some thread can move, or all have ended."),
    ("starvation", "Starvation", "Under a fair scheduler, no thread may stay there for ever."),
    ("stuck", "StuckThread", "No thread there may be unable to move ever again."),
    (
        "target",
        "Target",
        "No configuration with this shared state and at least these threads may be reached.",
    ),
    (
        POSSIBLE,
        "PossibleRace",
        "Two accesses to the same memory, one of them a write, are not shown never to happen at the same time.",
    ),
];

/// The id of the rule about races that no run shows.
const POSSIBLE: &str = "possible-race";

/// Returns the whole log, pretty-printed.
pub fn write(report: &Outcome) -> String {
    let word = report.status();
    let pairs = report.problem.targets.iter().zip(&report.shown().verdicts).enumerate();
    let mut results: Vec<Value> = pairs
        .filter(|(_, (target, _))| !shows_value(target))
        .map(|(i, (target, verdict))| {
            let story = match verdict {
                Verdict::Unsafe(trace) => Some(describe_run(&report.problem, target, trace)),
                Verdict::Safe(_) | Verdict::Unknown(_) => None,
            };
            result(report, i, story.as_ref())
        })
        .collect();
    results.extend(report.findings.iter().flat_map(|f| possible_races(f)));
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Throng",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.map(|(id, name, what)| json!({
                    "id": id,
                    "name": name,
                    "shortDescription": { "text": what },
                    "defaultConfiguration": { "level": "error" },
                })),
            }},
            "invocations": [{
                "executionSuccessful": true,
                "exitCode": report.exit_code(),
                "toolExecutionNotifications": notifications(report),
            }],
            "artifacts": [{ "location": { "uri": uri(report.file()) } }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "verdict": word.lower(),
                "initial": report.problem.initial_text,
                "threads": all_threads(report),
                "assumptions": report.assumed(),
                "engine": report.answered_by(),
            },
        }],
    });
    super::json::to_text(&log)
}

/// Returns warnings about the input, the question and the proof.
fn notifications(report: &Outcome) -> Vec<Value> {
    let notes = report.warnings.iter().chain(&report.vacuous).map(|warning| {
        let (source, diagnostic) = (&warning.source, &warning.diagnostic);
        let location = match diagnostic.span.map(|span| source.position(span.start as usize)) {
            Some((line, column)) => physical(&source.name, line as u32, column as u32),
            None => file(report),
        };
        json!({
            "level": "warning",
            "descriptor": { "id": diagnostic.code },
            "message": { "text": diagnostic.message },
            "locations": [location],
        })
    });
    notes.collect()
}

fn result(report: &Outcome, i: usize, story: Option<&Story>) -> Value {
    let (target, verdict) = (&report.problem.targets[i], &report.shown().verdicts[i]);
    let (rule, target) = (rule(target.property.as_deref()), &target.name);
    let (kind, level) = match verdict {
        Verdict::Unsafe(_) => ("fail", "error"),
        Verdict::Safe(_) => ("pass", "none"),
        Verdict::Unknown(_) => ("open", "none"),
    };
    let mut result = json!({
        "ruleId": RULES[rule].0,
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": { "text": message(report, target, verdict, story) },
        "locations": [story.map_or_else(|| file(report), |s| place(report, s).0)],
        "partialFingerprints": { "throngTarget/v1": target },
        "properties": {
            "evidence": evidence::line(report, i),
            "checked": report.is_checked() && !matches!(verdict, Verdict::Unknown(_)),
        },
    });
    if let (Some(story), Verdict::Unsafe(trace)) = (story, verdict) {
        if let Some(related) = place(report, story).1 {
            result["relatedLocations"] = json!([related]);
        }
        result["codeFlows"] = json!([{
            "message": { "text": format!(
                "{}, {}",
                threads_of(report, trace),
                plural(story.length as u64, "step")
            ) },
            "threadFlows": flows(report, story),
        }]);
    }
    result
}

/// Returns a result for each race that no run shows: a warning, because none need exist.
fn possible_races(findings: &Findings) -> Vec<Value> {
    let each = |object: &SharedObject| {
        let races = object.races.iter().filter(|race| !race.confirmed);
        races.map(|race| possible_race(&object.name, race)).collect::<Vec<_>>()
    };
    findings.worst_first().into_iter().flat_map(each).collect()
}

fn possible_race(object: &str, race: &PossibleRace) -> Value {
    let (first, second) = (&race.first, &race.second);
    let located = |access: &SharedAccess| {
        let mut location = physical(&access.file, access.line, access.column);
        location["message"] = json!({ "text": format!("{} {}", access.kind(), describe(access)) });
        location
    };
    let text = format!(
        "possible race on {object}: a {} here, and a {} at {}:{}; {}.",
        first.kind(),
        second.kind(),
        second.file,
        second.line,
        race.why
    );
    let rule = RULES.iter().position(|rule| rule.0 == POSSIBLE);
    let mut result = json!({
        "ruleId": POSSIBLE,
        "ruleIndex": rule,
        "kind": "fail",
        "level": "warning",
        "message": { "text": text },
        "locations": [located(first)],
        "relatedLocations": [located(second)],
        "partialFingerprints": { "throngRace/v1": race.identity },
    });
    if race.accepted {
        let why = "accepted by the baseline";
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": why }]);
    }
    result
}

/// The number of the rule that a property is an instance of.
fn rule(property: Option<&Property>) -> usize {
    let id = match property {
        Some(Property::Assertions) => "assertion",
        Some(Property::ErrorLabel(_)) => "error-label",
        Some(Property::Mutex(_)) => "mutex",
        Some(Property::Invariant(_)) => "invariant",
        Some(Property::AtMost(_)) => "at-most",
        Some(Property::Never(_)) => "never",
        Some(Property::Race(_)) => "race",
        Some(Property::Deadlock) => "deadlock",
        Some(Property::Stuck(_)) => "stuck",
        Some(Property::Starvation(_)) => "starvation",
        Some(Property::State(_) | Property::MemorySafety) | None => "target",
    };
    RULES.iter().position(|rule| rule.0 == id).unwrap_or_default()
}

fn message(report: &Outcome, target: &str, verdict: &Verdict, story: Option<&Story>) -> String {
    let detail = detail(report, verdict);
    let wrong = story.map_or(&[][..], |s| &s.violation.threads);
    if let [Culprit { does: Some(_), .. }, ..] = wrong {
        let blamed: Vec<String> = wrong.iter().map(|c| blamed(c, report.file())).collect();
        return format!("{target} violated by {detail}: {}.", blamed.join("; "));
    }
    match (verdict, wrong.first()) {
        (Verdict::Unsafe(_), Some(Culprit { thread, state, .. })) => match &state.statement {
            Some(statement) => {
                let with = if state.locals.is_empty() { "" } else { " with " };
                let locals = values_text(&state.locals);
                let stays =
                    story.and_then(Story::for_ever).map_or_else(String::new, |words| format!(" and {words}"));
                format!("{target} violated by {detail}: {thread} is at `{statement}`{with}{locals}{stays}.")
            }
            None => format!("{target} can be reached by {detail}: {thread} is in {}.", state.name),
        },
        (Verdict::Unsafe(_), None) => format!("{target} violated by {detail}."),
        (Verdict::Safe(_), _) => format!("{target}: safe, {detail}."),
        (Verdict::Unknown(_), _) => format!("{target}: undecided, {detail}."),
    }
}

/// A position: line, column and C location.
struct Spot<'a> {
    line: u32,
    column: u32,
    origin: Option<&'a str>,
}

/// Returns the location of a violation, and the related one in the program if the first is in C.
fn place(report: &Outcome, story: &Story) -> (Value, Option<Value>) {
    let culprit = story.violation.threads.first().and_then(|c| {
        let state = &c.state;
        Some(Spot { line: state.line?, column: state.column.unwrap_or(0), origin: state.origin.as_deref() })
    });
    let spot = culprit.or_else(|| story.steps.last().map(spot));
    spot.map_or_else(|| (file(report), None), |spot| locations(report, &spot))
}

fn spot(event: &Event) -> Spot<'_> {
    Spot { line: event.line, column: event.column, origin: event.origin.as_deref() }
}

/// Returns the location in C if it is known, else in the input; and the one in the input if the
/// first is in C.
fn locations(report: &Outcome, spot: &Spot) -> (Value, Option<Value>) {
    let written = if spot.line == 0 { file(report) } else { physical(report.file(), spot.line, spot.column) };
    match spot.origin.and_then(c_location) {
        None => (written, None),
        Some((path, line, function)) => {
            let mut location = physical(path, line, 0);
            if let Some(name) = function {
                location["logicalLocations"] = json!([{ "name": name, "kind": "function" }]);
            }
            let mut related = written;
            related["message"] = json!({ "text": "in the Boolean program" });
            (location, Some(related))
        }
    }
}

/// Splits a C location `file:7 (f)`; locations such as `<built-in-additions>` are in no file.
fn c_location(origin: &str) -> Option<(&str, u32, Option<&str>)> {
    let (place, function) = match origin.strip_suffix(')').and_then(|o| o.rsplit_once(" (")) {
        Some((place, function)) => (place, Some(function)),
        None => (origin, None),
    };
    let (path, line) = place.rsplit_once(':')?;
    let line = line.parse().ok().filter(|&n| n > 0)?;
    (!path.starts_with('<')).then_some((path.strip_prefix("./").unwrap_or(path), line, function))
}

fn physical(path: &str, line: u32, column: u32) -> Value {
    let mut region = json!({ "startLine": line });
    if column > 0 {
        region["startColumn"] = json!(column);
    }
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(path) }, "region": region } })
}

fn file(report: &Outcome) -> Value {
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(report.file()) } } })
}

/// Returns a thread flow for each thread that acts; steps without an active thread are a flow of
/// their own.
fn flows(report: &Outcome, story: &Story) -> Vec<Value> {
    let mut actors: Vec<Option<u32>> = story.steps.iter().map(|e| e.thread.map(|t| t.0)).collect();
    actors.sort_unstable();
    actors.dedup();
    let mut flows: Vec<Value> = Vec::new();
    for actor in actors {
        let steps = story.steps.iter().filter(|e| e.thread.map(|t| t.0) == actor);
        let locations: Vec<Value> =
            steps.map(|event| step(report, event, story.is_repeated(event))).collect();
        let name = actor.map_or_else(|| "steps".to_string(), |n| format!("T{n}"));
        flows.push(
            json!({ "id": name, "message": { "text": format!("thread {name}") }, "locations": locations }),
        );
    }
    if flows.is_empty() {
        flows.push(json!({ "id": "start", "locations": [{ "location": place(report, story).0 }] }));
    }
    flows
}

/// `again`: it is one of the steps that are repeated for ever.
fn step(report: &Outcome, event: &Event, again: bool) -> Value {
    let (mut location, _) = locations(report, &spot(event));
    let who = event.thread.map_or_else(String::new, |t| format!("{t}: "));
    let mut text = format!("{who}{}{}", event.statement, way(event));
    for effect in effects(event) {
        text.push_str(&format!("; {effect}"));
    }
    if again {
        text.push_str("; repeated for ever");
    }
    location["message"] = json!({ "text": text });
    let state = |(name, value): &(String, String)| (name.clone(), json!({ "text": value }));
    let state: serde_json::Map<String, Value> = event.shared_after.0.iter().map(state).collect();
    // Viewers hide unimportant locations.
    let importance = if event.is_silent() { "unimportant" } else { "important" };
    let mut step = json!({ "executionOrder": event.step, "importance": importance, "location": location, "state": state });
    if !event.calls.is_empty() {
        step["stack"] = json!({ "frames": frames(report, event) });
    }
    step
}

/// Returns the call stack, innermost frame first: the position of the thread, and of each call.
fn frames(report: &Outcome, event: &Event) -> Vec<Value> {
    let lines = event.calls.iter().copied().chain([event.line]);
    let frame = |(name, line): (&str, u32)| {
        let mut location = physical(report.file(), line.max(1), 0);
        location["logicalLocations"] = json!([{ "name": name, "kind": "function" }]);
        json!({ "location": location })
    };
    let mut frames: Vec<Value> = event.function.split(" > ").zip(lines).map(frame).collect();
    frames.reverse();
    frames
}

/// Returns a path as a relative or absolute URI.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                uri.push(byte.into())
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_taken_apart() {
        assert_eq!(c_location("./a b/main.c:7 (f)"), Some(("a b/main.c", 7, Some("f"))));
        assert_eq!(c_location("x:y.c:12"), Some(("x:y.c", 12, None)));
        for none in ["<built-in-additions>:27", "main.c", "main.c:0", ""] {
            assert_eq!(c_location(none), None, "{none}");
        }
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/ü.bp"), "a%20b/%C3%BC.bp");
        assert_eq!(uri("/x/y.bp"), "file:///x/y.bp");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }
}
