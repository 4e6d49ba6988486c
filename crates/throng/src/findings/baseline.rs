//! Baselines: what a team knows of its possible races and accepts, so that only new ones fail.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Findings;

/// Version of the layout of the file.
const SCHEMA: u32 = 1;

/// What is accepted: by identity, which stays when lines are inserted, and how often. Whatever else
/// is in the file is for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Baseline {
    races: BTreeMap<String, usize>,
    open: BTreeMap<String, usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: u32,
    tool: String,
    baseline: String,
    races: Vec<Known>,
    open: Vec<String>,
}

/// A race that is known, for people: lines are those of the day on which it was written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    identity: String,
    object: String,
    first: String,
    second: String,
}

impl Baseline {
    /// Returns what accepts all of these findings.
    pub fn of(findings: &Findings) -> Baseline {
        let mut all = Baseline::default();
        findings.races().for_each(|race| *all.races.entry(race.identity.clone()).or_default() += 1);
        findings.open.iter().for_each(|what| *all.open.entry(without_lines(what)).or_default() += 1);
        all
    }

    /// Reads a file that [`write()`] has written. `Err`: what is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Baseline, String> {
        let document: Document = serde_json::from_slice(bytes).map_err(|why| why.to_string())?;
        if document.tool != env!("CARGO_PKG_NAME") || document.schema != SCHEMA {
            return Err(format!("it is not a baseline of this version, whose `schema` is {SCHEMA}"));
        }
        let mut all = Baseline::default();
        document.races.into_iter().for_each(|race| *all.races.entry(race.identity).or_default() += 1);
        document.open.iter().for_each(|what| *all.open.entry(without_lines(what)).or_default() += 1);
        Ok(all)
    }

    /// Returns whether it accepts a race at all.
    #[cfg(feature = "code")]
    pub(crate) fn knows(&self, identity: &str) -> bool {
        self.races.contains_key(identity)
    }

    /// Marks the races that it accepts, and returns what is left of `open`. One that is known as
    /// often as it is found is not new.
    #[cfg(feature = "code")]
    pub(crate) fn accept(&self, findings: &mut Findings) {
        let mut left = self.races.clone();
        for race in findings.objects.iter_mut().flat_map(|o| &mut o.races) {
            race.accepted = take(&mut left, &race.identity);
        }
        let mut left = self.open.clone();
        findings.accepted_open = findings.open.iter().filter(|w| take(&mut left, &without_lines(w))).count();
    }
}

/// Takes one of what is left.
#[cfg(feature = "code")]
fn take(left: &mut BTreeMap<String, usize>, what: &str) -> bool {
    let there = left.get_mut(what).filter(|n| **n > 0);
    there.map(|n| *n -= 1).is_some()
}

/// Returns a text without the numbers of lines, which change.
fn without_lines(text: &str) -> String {
    let mut words = text.split(' ').peekable();
    let mut out: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        out.push(word);
        if matches!(word, "line" | "lines")
            && words.peek().is_some_and(|w| w.starts_with(|c: char| c.is_ascii_digit()))
        {
            words.next();
        }
    }
    out.join(" ")
}

/// Returns the file that accepts all of these findings. The order does not depend on lines, so that
/// files of two days compare well.
pub fn write(findings: &Findings, file: &str) -> String {
    let mut races: Vec<Known> = Vec::new();
    for object in &findings.objects {
        races.extend(object.races.iter().map(|race| Known {
            identity: race.identity.clone(),
            object: object.name.clone(),
            first: format!("{} at {}:{}", race.first.kind(), race.first.file, race.first.line),
            second: format!("{} at {}:{}", race.second.kind(), race.second.file, race.second.line),
        }));
    }
    races.sort_by(|a, b| (&a.object, &a.identity).cmp(&(&b.object, &b.identity)));
    let mut open = findings.open.clone();
    open.sort();
    let tool = env!("CARGO_PKG_NAME").into();
    crate::report::json::to_text(&Document { schema: SCHEMA, tool, baseline: file.into(), races, open })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{findings, race};
    use super::*;

    #[test]
    fn what_was_written_is_accepted_and_what_is_new_is_not() {
        let mut found = findings(vec![race("a"), race("a"), race("b")]);
        found.open = vec!["line 12: `f` is not defined".into()];
        let text = write(&found, "q.c");
        let known = Baseline::read(text.as_bytes()).expect("a baseline");
        assert_eq!(known, Baseline::of(&found));
        found.objects[0].races.push(race("a"));
        found.open = vec!["line 15: `f` is not defined".into(), "line 3: `g` is not defined".into()];
        known.accept(&mut found);
        let accepted: Vec<bool> = found.races().map(|r| r.accepted).collect();
        assert_eq!(accepted, [true, true, true, false], "three of `a` are one more than two");
        assert_eq!(found.accepted_open, 1);
        assert!(found.has_new());
    }

    #[test]
    fn other_files_are_refused() {
        for text in
            ["", "{}", "[1]", "{\"schema\":2,\"tool\":\"throng\",\"baseline\":\"\",\"races\":[],\"open\":[]}"]
        {
            assert!(Baseline::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
