//! A proof for people: what holds at each line, read off the certificate.
//!
//! The certificate was checked, and describes everything that can be reached (`covering`); a fact holds in all of its members. So each fact is
//! as certain as the verdict.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::covering::Covering;
use throng_model::problem::Problem;
use throng_model::verdict::Verdict;
use throng_model::{Local, Model, Shared};

/// What holds whenever a thread is at a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LineFacts {
    /// The line.
    pub line: u32,
    /// Facts in words: `lock = 1`, `no other thread is at lines 13–16`.
    pub facts: Vec<String>,
}

/// A variable with more values than this at a line is not worth a sentence.
const MOST_VALUES: usize = 3;

/// Certificates with more members than this are not gone through once more for the sake of facts.
const MOST_MEMBERS: usize = 200_000;

/// The facts that the proofs of an answer show; none if the input has no lines, or nothing was proved, or the proof is very large.
pub fn facts(problem: &Problem, verdicts: &[Verdict]) -> Vec<LineFacts> {
    let model = &*problem.model;
    let size = |verdict: &Verdict| verdict.evidence().map_or(0, |evidence| evidence.1);
    if model.places().is_empty() || verdicts.iter().any(|verdict| size(verdict) > MOST_MEMBERS) {
        return Vec::new();
    }
    let Some(covering) = Covering::new(problem, verdicts, None) else { return Vec::new() };
    let seen = Seen::of(model, &covering);
    let written = seen.values.keys().copied();
    let lines: Vec<u32> = written.collect();
    let facts = lines.iter().map(|&line| LineFacts { line, facts: seen.at(line, &lines) });
    facts.filter(|at| !at.facts.is_empty()).collect()
}

/// The values that variables have; none: any.
type Values = BTreeMap<String, Option<BTreeSet<String>>>;

#[derive(Default)]
struct Seen {
    /// At each line, the values of shared variables and of those of the thread.
    values: BTreeMap<u32, Values>,
    /// Variables and their values anywhere: what never changes says nothing about a line.
    anywhere: Values,
    /// Lines at which another thread may be.
    together: BTreeMap<u32, BTreeSet<u32>>,
}

/// A thread state, as far as facts are concerned.
struct Names<'m> {
    model: &'m dyn Model,
    lines: HashMap<Local, u32>,
    shared: HashMap<Shared, Vec<(String, String)>>,
}

impl Names<'_> {
    /// 0 if there is none.
    fn line(&mut self, l: Local) -> u32 {
        *self.lines.entry(l).or_insert_with(|| self.model.place(l).map_or(0, |p| p.line))
    }
}

impl Seen {
    fn of(model: &dyn Model, covering: &Covering) -> Seen {
        let mut seen = Seen::default();
        let mut names = Names { model, lines: HashMap::new(), shared: HashMap::new() };
        let mut locals: BTreeSet<Local> = BTreeSet::new();
        let mut known: BTreeSet<(Shared, u32)> = BTreeSet::new();
        for member in covering.members() {
            let mut sets: Vec<(BTreeSet<u32>, bool)> = Vec::new();
            for (states, several) in &member.threads {
                locals.extend(states.iter().copied());
                sets.push((
                    states.iter().map(|&l| names.line(l)).filter(|&line| line > 0).collect(),
                    *several,
                ));
            }
            for (&s, &line) in
                member.shared.iter().flat_map(|s| sets.iter().flat_map(|x| &x.0).map(move |line| (s, line)))
            {
                if known.insert((s, line)) {
                    let values = names.shared.entry(s).or_insert_with(|| model.shared_values(s));
                    note(seen.values.entry(line).or_default(), values);
                    note(&mut seen.anywhere, values);
                }
            }
            for (i, (a, several)) in sets.iter().enumerate() {
                for (b, _) in sets.iter().enumerate().filter(|(j, _)| i != *j || *several).map(|(_, set)| set)
                {
                    a.iter().for_each(|&line| seen.together.entry(line).or_default().extend(b));
                }
            }
        }
        for l in locals {
            let line = names.line(l);
            if line > 0 {
                note(seen.values.entry(line).or_default(), &model.local_values(l));
            }
        }
        seen
    }

    fn at(&self, line: u32, lines: &[u32]) -> Vec<String> {
        let mut facts = Vec::new();
        for (name, values) in &self.values[&line] {
            let Some(values) = values else { continue };
            // Of a variable of the thread, only one value is worth a sentence: how many it could have is not known here.
            let says_more = match self.anywhere.get(name) {
                Some(Some(anywhere)) => values.len() <= MOST_VALUES && values != anywhere,
                Some(None) | None => values.len() == 1,
            };
            if says_more {
                facts.push(is_one_of(name, values));
            }
        }
        let none = BTreeSet::new();
        let together = self.together.get(&line).unwrap_or(&none);
        let apart: Vec<u32> = lines.iter().copied().filter(|other| !together.contains(other)).collect();
        if apart.len() == lines.len() {
            facts.push("there is no other thread".into());
        } else if !apart.is_empty() {
            facts.push(format!("no other thread is at {}", ranges(&apart, lines)));
        }
        facts
    }
}

fn note(values: &mut Values, now: &[(String, String)]) {
    for (name, value) in now {
        let known = values.entry(name.clone()).or_insert_with(|| Some(BTreeSet::new()));
        match known {
            Some(_) if value == "*" => *known = None,
            Some(set) => _ = set.insert(value.clone()),
            None => {}
        }
    }
}

/// `x = 1`, `x is 1 or 2`
fn is_one_of(name: &str, values: &BTreeSet<String>) -> String {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    match values[..] {
        [value] => format!("{name} = {value}"),
        _ => format!("{name} is {}", values.join(" or ")),
    }
}

/// `line 13`, `lines 13–16, 20`; lines between which there is no other statement are one range.
fn ranges(chosen: &[u32], lines: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    let mut last = None;
    for (i, line) in lines.iter().enumerate().filter(|(_, line)| chosen.contains(line)) {
        match parts.last_mut() {
            Some(part) if last == Some(i.wrapping_sub(1)) => part.1 = *line,
            _ => parts.push((*line, *line)),
        }
        last = Some(i);
    }
    let parts: Vec<String> =
        parts.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}–{b}") }).collect();
    let noun = if chosen.len() == 1 { "line" } else { "lines" };
    format!("{noun} {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_lines_are_a_range() {
        let lines = [3, 4, 6, 7, 9];
        assert_eq!(ranges(&[4, 6, 7], &lines), "lines 4–7");
        assert_eq!(ranges(&[3, 9], &lines), "lines 3, 9");
        assert_eq!(ranges(&[6], &lines), "line 6");
    }
}
