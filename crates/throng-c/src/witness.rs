//! Violation witnesses of SV-COMP, in YAML (format 2.2: the version with thread ids): the run as
//! waypoints, thread by thread, and a reader that looks for a run of the program through the
//! waypoints of a witness.

mod sha256;
mod yaml;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::Loaded;
pub use sha256::sha256;
use throng_goto::held::Held;
use throng_goto::program::{Conversion, Int, Point, Program, Start, Violation, Width};
use throng_goto::run::Run;
use throng_goto::step::{After, Event, Memory, Outcome, Thread, Touch, initial_memory, start, step};

/// What a witness is about.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// The file, as it was named, and the SHA-256 of its bytes.
    pub file: (String, String),
    /// The property, as in a property file.
    pub specification: String,
    /// `ILP32` or `LP64`.
    pub data_model: String,
    /// A random number in the form of a UUID.
    pub uuid: String,
    /// When the witness was made, as in `2026-11-16T12:00:00Z`.
    pub created: String,
}

/// Something that a thread does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waypoint {
    /// What.
    pub kind: Passing,
    /// Which thread, by number in the order of creation, from 0.
    pub thread: usize,
    /// The line.
    pub line: u32,
    /// The function.
    pub function: String,
}

/// What a thread does at a waypoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passing {
    /// It comes by.
    Comes,
    /// A function without a body that it calls returns this value.
    Receives(i64),
    /// It returns this floating-point number: the bits of a `double`.
    ReceivesNumber(i64),
    /// The violation.
    Target,
}

/// Returns the waypoints of a run, in order; those that come together at the end of a race in one
/// segment.
pub fn segments(loaded: &Loaded, run: &Run) -> Vec<Vec<Waypoint>> {
    let program = &*loaded.query.program;
    let mut found: Vec<(Waypoint, bool)> = Vec::new();
    // For each thread, the waypoint of the input that a register holds.
    let mut held: Held<usize> = Held::default();
    let mut types: HashMap<usize, Int> = HashMap::new();
    for (i, outcome) in &run.moves {
        let mut passed = None;
        for event in &outcome.events {
            held.follow(*i, event);
            match event {
                Event::Visible(at) if program.origin_at(*at).file.is_none() => {
                    let here = waypoint(program, *i, *at, Passing::Comes);
                    let last = found.iter().rev().find(|w| w.1 && w.0.kind == Passing::Comes);
                    if last.is_none_or(|last| last.0 != here) {
                        passed = Some(found.len());
                        found.push((here, true));
                    }
                }
                Event::Opened(at, r) => {
                    let origin = program.origin_at(*at);
                    let text = &loaded.text.text[origin.span.0..origin.span.1];
                    let names = &program.templates[at.template as usize].names;
                    if names[*r as usize].is_none() && text.contains("nondet") {
                        held.set(*i, *r, Some(found.len()));
                        types.insert(
                            found.len(),
                            program.templates[at.template as usize].registers[*r as usize],
                        );
                        found.push((waypoint(program, *i, *at, Passing::Receives(0)), false));
                    }
                }
                Event::Chosen(r, v) => {
                    if let Some(&k) = held.get(*i, *r) {
                        (found[k].0.kind, found[k].1) = (received(types[&k], *v), true);
                    }
                }
                _ => {}
            }
        }
        if let After::Failed(..) = outcome.after {
            // It is the target that says this.
            if let Some(passed) = passed {
                found[passed].1 = false;
            }
            found.push((waypoint(program, *i, outcome.last, Passing::Target), true));
        }
    }
    let mut segments: Vec<Vec<Waypoint>> = found.into_iter().filter(|w| w.1).map(|w| vec![w.0]).collect();
    if !run.racing.is_empty() {
        let racing = run.racing.iter();
        segments.push(racing.map(|r| waypoint(program, r.thread, r.touch.at, Passing::Target)).collect());
    }
    segments
}

/// A function returns a value of a type.
fn received(at: Int, v: i64) -> Passing {
    match Width::of(at) {
        Some(at) => Passing::ReceivesNumber(resized(at, Width::Double, v)),
        None => Passing::Receives(v),
    }
}

fn resized(from: Width, to: Width, bits: i64) -> i64 {
    Conversion::Resize(from, to).apply(bits).unwrap_or(bits)
}

/// Returns what a constraint says about a floating-point number, as C.
fn number_text(bits: i64) -> String {
    match f64::from_bits(bits as u64) {
        v if v.is_nan() => "\\result != \\result".into(),
        v if v.is_infinite() => format!("\\result == {}1e999", if v < 0.0 { "-" } else { "" }),
        v => format!("\\result == {v:?}"),
    }
}

/// Returns what a constraint says about a result.
fn parsed_result(text: &str) -> Option<Passing> {
    if text == number_text(f64::NAN.to_bits() as i64) {
        return Some(Passing::ReceivesNumber(f64::NAN.to_bits() as i64));
    }
    let v = text.strip_prefix("\\result == ")?.trim();
    let number = || v.parse::<f64>().ok().map(|v| Passing::ReceivesNumber(v.to_bits() as i64));
    v.parse().ok().map(Passing::Receives).or_else(number)
}

fn waypoint(program: &Program, thread: usize, at: Point, kind: Passing) -> Waypoint {
    let origin = program.origin_at(at);
    let function = origin.function.rsplit(" > ").next().unwrap_or_default().to_string();
    Waypoint { kind, thread, line: origin.line, function }
}

/// Returns the witness as a file.
pub fn violation(task: &Task, segments: &[Vec<Waypoint>]) -> String {
    let mut out = head(task, "violation_sequence");
    for segment in segments {
        out.push_str("    - segment:\n");
        for w in segment {
            let (kind, constraint) = match w.kind {
                Passing::Comes => ("assumption", Some(("1".to_string(), "c_expression"))),
                Passing::Receives(v) => {
                    ("function_return", Some((format!("\\result == {v}"), "ext_c_expression")))
                }
                Passing::ReceivesNumber(bits) => {
                    ("function_return", Some((number_text(bits), "ext_c_expression")))
                }
                Passing::Target => ("target", None),
            };
            _ = writeln!(out, "        - waypoint:\n            type: {kind}\n            action: follow");
            _ = writeln!(out, "            thread_id: {}", w.thread);
            if let Some((value, format)) = constraint {
                _ = writeln!(
                    out,
                    "            constraint:\n              value: {}\n              format: {format}",
                    quoted(&value)
                );
            }
            _ = writeln!(
                out,
                "            location:\n              file_name: {}\n              line: {}\n              function: {}",
                quoted(&task.file.0),
                w.line,
                quoted(&w.function)
            );
        }
    }
    out
}

/// A correctness witness: what holds at lines, as (line, function, C expression).
pub fn correctness(task: &Task, invariants: &[(u32, String, String)]) -> String {
    let mut out = head(task, "invariant_set");
    if invariants.is_empty() {
        // An empty list is a list, too.
        out = out.trim_end().to_string() + " []\n";
    }
    for (line, function, value) in invariants {
        _ = writeln!(
            out,
            "    - invariant:\n        type: location_invariant\n        location:\n          file_name: {}\n          line: {line}\n          function: {}\n        value: {}\n        format: c_expression",
            quoted(&task.file.0),
            quoted(function),
            quoted(value)
        );
    }
    out
}

fn head(task: &Task, kind: &str) -> String {
    format!(
        "- entry_type: {kind}
  metadata:
    format_version: \"2.2\"
    uuid: {}
    creation_time: {}
    producer:
      name: \"throng\"
      version: \"{}\"
    task:
      input_files:
        - {}
      input_file_hashes:
        {}: {}
      specification: {}
      data_model: {}
      language: C
  content:
",
        quoted(&task.uuid),
        quoted(&task.created),
        env!("CARGO_PKG_VERSION"),
        quoted(&task.file.0),
        quoted(&task.file.0),
        quoted(&task.file.1),
        quoted(&task.specification),
        task.data_model,
    )
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if (c as u32) < 32 => _ = write!(out, "\\x{:02x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A witness that was read.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The SHA-256 of each input file.
    pub hashes: Vec<String>,
    /// The waypoints to follow; none in a correctness witness.
    pub segments: Vec<Vec<Waypoint>>,
    /// True if it is a violation witness.
    pub violation: bool,
}

/// Reads a witness. The error says what is not understood, such as waypoints to avoid.
pub fn read(text: &str) -> Result<Witness, String> {
    let root = yaml::read(text)?;
    let entries = root.items().ok_or("a witness is a list of entries")?;
    let [entry] = entries else { return Err("expected one entry".into()) };
    let kind = entry.get("entry_type").and_then(yaml::Node::text).unwrap_or_default();
    let hashes = entry.get("metadata").and_then(|m| m.get("task")).and_then(|t| t.get("input_file_hashes"));
    let hashes =
        hashes.map_or(Vec::new(), |h| h.values().filter_map(|v| v.text().map(str::to_string)).collect());
    let content = entry.get("content").and_then(yaml::Node::items).ok_or("there is no content")?;
    match kind {
        "invariant_set" => Ok(Witness { hashes, segments: Vec::new(), violation: false }),
        "violation_sequence" => {
            let segments = content.iter().map(segment).collect::<Result<_, _>>()?;
            Ok(Witness { hashes, segments, violation: true })
        }
        other => Err(format!("`{other}` is not a kind of entry that is understood")),
    }
}

fn segment(node: &yaml::Node) -> Result<Vec<Waypoint>, String> {
    let points = node.get("segment").and_then(yaml::Node::items).ok_or("expected a segment")?;
    points
        .iter()
        .map(|p| p.get("waypoint").ok_or("expected a waypoint".to_string()).and_then(passed))
        .collect()
}

fn passed(node: &yaml::Node) -> Result<Waypoint, String> {
    let text = |key: &str| node.get(key).and_then(yaml::Node::text);
    if text("action") != Some("follow") {
        return Err("waypoints to avoid are not supported".into());
    }
    let location = node.get("location").ok_or("a waypoint has no location")?;
    let line = location.get("line").and_then(yaml::Node::text).and_then(|l| l.parse().ok());
    let function = location.get("function").and_then(yaml::Node::text).unwrap_or_default().to_string();
    let value = node.get("constraint").and_then(|c| c.get("value")).and_then(yaml::Node::text);
    let kind = match text("type") {
        Some("target") => Passing::Target,
        Some("assumption") if value == Some("1") => Passing::Comes,
        Some("function_return") => {
            value.and_then(parsed_result).ok_or("a constraint on a result that is not supported")?
        }
        other => return Err(format!("a waypoint `{}` that is not supported", other.unwrap_or_default())),
    };
    Ok(Waypoint {
        kind,
        // Programs without threads have no numbers of threads.
        thread: text("thread_id").map_or(Ok(0), |t| t.parse().map_err(|_| "thread_id is not a number"))?,
        line: line.ok_or("a location has no line")?,
        function,
    })
}

/// Maximum number of configurations that are looked at to follow a witness.
const MOST: usize = 200_000;

/// Returns whether the program has a run through the waypoints into a violation: `None` if that
/// many configurations do not tell.
pub fn follow(loaded: &Loaded, witness: &Witness) -> Option<bool> {
    let program = &*loaded.query.program;
    let Start::One(first) = program.start else { return None };
    let inputs: HashSet<(usize, i64)> = witness
        .segments
        .iter()
        .flatten()
        .flat_map(|w| {
            let values = match w.kind {
                Passing::Receives(v) => vec![v],
                // A NaN comes with open bits.
                Passing::ReceivesNumber(v) => {
                    let as_width = |to| resized(Width::Double, to, v);
                    vec![v, as_width(Width::Double), as_width(Width::Single)]
                }
                Passing::Comes | Passing::Target => Vec::new(),
            };
            values.into_iter().map(|v| (w.thread, v))
        })
        .collect();
    let steps: Vec<&Vec<Waypoint>> = witness
        .segments
        .iter()
        .filter(|s| {
            !matches!(s[..], [Waypoint { kind: Passing::Receives(_) | Passing::ReceivesNumber(_), .. }])
        })
        .collect();
    let begin = (0, Arc::new(initial_memory(program)), vec![Some(start(program, first, &[], 0))]);
    let mut seen: HashSet<(usize, Arc<Memory>, Vec<Option<Thread>>)> = HashSet::from([begin.clone()]);
    let mut work = vec![begin];
    while let Some((at, memory, threads)) = work.pop() {
        if seen.len() > MOST {
            return None;
        }
        let Some(&segment) = steps.get(at) else { continue };
        let outcomes = |i: usize| -> Vec<Outcome> {
            let Some(Some(t)) = threads.get(i) else { return Vec::new() };
            step(program, &memory, t).outcomes
        };
        let line = |at: Point| program.origin_at(at).line;
        if let [a, b] = &segment[..] {
            // Both are about to make their accesses.
            let touches = |w: &Waypoint| -> Vec<Touch> {
                let of = outcomes(w.thread).into_iter();
                of.flat_map(|o| o.touches.into_iter().filter(move |x| line(x.at) == w.line)).collect()
            };
            if touches(a).iter().any(|x| touches(b).iter().any(|y| x.races(y))) {
                return Some(true);
            }
            continue;
        }
        let [w] = &segment[..] else { continue };
        for o in outcomes(w.thread) {
            let chosen = o.events.iter().all(|e| match e {
                Event::Chosen(_, v) => inputs.is_empty() || inputs.contains(&(w.thread, *v)),
                _ => true,
            });
            if let (Passing::Target, After::Failed(what, _)) = (&w.kind, &o.after)
                && chosen
                && *what != Violation::Race
                && line(o.last) == w.line
            {
                return Some(true);
            }
            let After::Runs(after) = o.after else { continue };
            let by = program.origin_at(o.at);
            // Steps in other files have no waypoints; several steps of a line have one.
            let stays = by.file.is_some() || by.line == w.line;
            let passes = w.kind == Passing::Comes && by.file.is_none() && by.line == w.line;
            if !chosen || !stays {
                continue;
            }
            let mut threads = threads.clone();
            threads[w.thread] = o.thread;
            threads.extend(o.started.into_iter().map(Some));
            for next in [Some(at), passes.then_some(at + 1)].into_iter().flatten() {
                let next = (next, after.clone(), threads.clone());
                if seen.insert(next.clone()) {
                    work.push(next);
                }
            }
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let numbers = [0.5, -0.0, 1e300, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3.0];
        for bits in numbers.map(|v: f64| v.to_bits() as i64) {
            assert_eq!(parsed_result(&number_text(bits)), Some(Passing::ReceivesNumber(bits)), "{bits:x}");
        }
        assert_eq!(parsed_result("\\result == -3"), Some(Passing::Receives(-3)));
        assert_eq!(parsed_result("\\result > 3"), None);
    }
}
