//! A proof for people: facts that hold at each line, derived from the certificate.
//!
//! The certificate was checked, and describes every reachable configuration (`covering`); a fact
//! holds in all of its members. So each fact is as certain as the verdict.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::Serialize;

use crate::covering::{Covering, Member};
use crate::outcome::Outcome;
use throng_model::limits::{Limits, Ticker};
use throng_model::verdict::{Unknown, Verdict};
use throng_model::{Local, Model, Place, Shared};

/// The facts that hold whenever a thread is at a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LineFacts {
    /// The line.
    pub line: u32,
    /// Facts in words: `lock = 1`, `no other thread is at lines 13–16`.
    pub facts: Vec<String>,
}

/// Maximum number of values of a variable at a line that are listed.
const MOST_VALUES: usize = 3;

/// Maximum number of members of a certificate from which facts are derived.
const MOST_MEMBERS: usize = 200_000;

/// Returns the facts that the proofs of an answer show. None if the input has no lines, nothing was
/// proved, the proof is very large, or the limits of the run are reached.
pub fn facts(report: &Outcome) -> Vec<LineFacts> {
    #[cfg(feature = "code")]
    if let Some(answered) = &report.answered {
        return answered.line_facts();
    }
    let (model, verdicts) = (&*report.problem.model, &report.answer.verdicts);
    let size = |verdict: &Verdict| verdict.evidence().map_or(0, |evidence| evidence.1);
    if verdicts.iter().any(|verdict| size(verdict) > MOST_MEMBERS) {
        return Vec::new();
    }
    let Some(covering) = Covering::new(&report.problem, verdicts, None) else { return Vec::new() };
    let found = Collector::of(model, &covering, &report.limits).and_then(|seen| seen.facts(&report.limits));
    found.unwrap_or_default()
}

/// Returns the line of a thread state; of source code, if it is one of the first file.
fn line_of(model: &dyn Model, l: Local, is_code: bool) -> Option<u32> {
    let here = |place: &Place| place.line > 0 && !(is_code && place.origin.is_some());
    model.place(l).filter(here).map(|place| place.line)
}

/// The values that a variable has; `None`: any. One more than [`MOST_VALUES`] stands for many.
type Values = Option<BTreeSet<u32>>;

/// The values of variables.
#[derive(Clone, Default)]
struct Known(BTreeMap<u32, Values>);

impl Known {
    fn note(&mut self, now: &[(u32, Option<u32>)]) {
        for (name, value) in now {
            let known = self.0.entry(*name).or_insert_with(|| Some(BTreeSet::new()));
            match (known, value) {
                (known, None) => *known = None,
                (Some(set), Some(value)) if set.len() <= MOST_VALUES => _ = set.insert(*value),
                (Some(_) | None, Some(_)) => {}
            }
        }
    }

    /// Adds values of variables. A missing variable may have any value.
    fn note_all(&mut self, now: &[(u32, Option<u32>)], is_first: bool) {
        let before: Vec<u32> = self.0.keys().copied().collect();
        self.note(now);
        let has = |name: &u32| now.iter().any(|n| n.0 == *name);
        for (name, values) in &mut self.0 {
            if !has(name) || !is_first && before.binary_search(name).is_err() {
                *values = None;
            }
        }
    }
}

/// Texts and their numbers.
#[derive(Default)]
struct Texts {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Texts {
    fn number(&mut self, text: String) -> u32 {
        let next = self.texts.len() as u32;
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }

    /// Returns names and values by number; a value is missing if it may be any.
    fn numbered(&mut self, values: Vec<(String, String)>) -> Vec<(u32, Option<u32>)> {
        let numbered = |(name, value): (String, String)| {
            let value = if value == "*" { None } else { Some(self.number(value)) };
            (self.number(name), value)
        };
        values.into_iter().map(numbered).collect()
    }
}

/// A set of lines: one bit for each, by index.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Row(Vec<u64>);

impl Row {
    fn insert(&mut self, i: usize) {
        if self.0.len() <= i / 64 {
            self.0.resize(i / 64 + 1, 0);
        }
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn contains(&self, i: usize) -> bool {
        self.0.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    fn extend(&mut self, other: &Row) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
}

/// The lines at which some threads of a member may be: most members have a thread at one line, and
/// some have threads at nearly all.
#[derive(Default)]
struct Lines {
    each: BTreeSet<usize>,
    row: Row,
}

impl Lines {
    fn of(each: BTreeSet<usize>) -> Lines {
        let mut row = Row::default();
        if each.len() > FEW {
            each.iter().for_each(|&i| row.insert(i));
        }
        Lines { each, row }
    }

    /// Adds these lines to a set.
    fn add_to(&self, set: &mut Row) {
        if self.each.len() > FEW {
            set.extend(&self.row);
        } else {
            self.each.iter().for_each(|&i| set.insert(i));
        }
    }

    /// Returns the cost of [`Lines::add_to`] in ticks.
    fn ticks(&self) -> u32 {
        1 + self.row.0.len().max(self.each.len().min(FEW)) as u32 / 16
    }
}

/// Maximum number of lines that are added to a set one by one.
const FEW: usize = 16;

#[derive(Default)]
struct Collector {
    /// Every line with a statement, in order.
    lines: Vec<u32>,
    texts: Texts,
    /// For each line that a thread may be at, the values of shared variables and of the thread's
    /// variables.
    shared: Vec<Option<Known>>,
    own: Vec<Option<Known>>,
    /// Values of the shared variables anywhere: a variable that never changes gives no information
    /// about a line.
    anywhere: Known,
    /// For each line, the lines at which another thread may be at the same time.
    together: Vec<Row>,
    /// True for source code, whose other files have lines that are not those of the first.
    is_code: bool,
    /// True if a thread may be where no line is known; then nothing is said about where others are
    /// not.
    elsewhere: bool,
}

impl Collector {
    fn of(model: &dyn Model, covering: &Covering, limits: &Limits) -> Result<Collector, Unknown> {
        let mut ticker = Ticker::new(limits);
        ticker.limits().check()?;
        let mut lines: BTreeSet<u32> = model.places().iter().map(|p| p.line).filter(|&l| l > 0).collect();
        let is_code = lines.is_empty();
        if is_code {
            // A program in C or Rust lists no places: those count that a thread may be at.
            let mut seen = HashSet::new();
            for l in covering.members().flat_map(|m| m.threads.into_iter().flat_map(|(set, _)| set.to_vec()))
            {
                ticker.tick()?;
                if seen.insert(l) {
                    lines.extend(line_of(model, l, is_code));
                }
            }
        }
        let lines: Vec<u32> = lines.into_iter().collect();
        let count = lines.len();
        let mut seen = Collector {
            lines,
            is_code,
            shared: vec![None; count],
            own: vec![None; count],
            together: vec![Row::default(); count],
            ..Collector::default()
        };
        let mut at: HashMap<Local, Option<usize>> = HashMap::new();
        let mut known: HashMap<Shared, Row> = HashMap::new();
        for member in covering.members() {
            let mut rows: Vec<(Lines, bool)> = Vec::new();
            for (states, several) in &member.threads {
                let mut row = BTreeSet::new();
                for &l in states.iter() {
                    ticker.tick()?;
                    let line = *at.entry(l).or_insert_with(|| seen.meet(model, l));
                    row.extend(line);
                }
                rows.push((Lines::of(row), *several));
            }
            seen.note_shared(model, &member, &rows, &mut known, &mut ticker)?;
            seen.note_together(&rows, &mut ticker)?;
        }
        Ok(seen)
    }

    /// Adds a thread state, if it is new. Returns the index of its line.
    fn meet(&mut self, model: &dyn Model, l: Local) -> Option<usize> {
        let at = line_of(model, l, self.is_code).and_then(|line| self.lines.binary_search(&line).ok());
        self.elsewhere |= at.is_none() && !model.has_ended(l);
        let i = at?;
        let now = self.texts.numbered(model.local_values(l));
        let is_first = self.own[i].is_none();
        self.own[i].get_or_insert_default().note_all(&now, is_first);
        Some(i)
    }

    fn note_shared(
        &mut self,
        model: &dyn Model,
        member: &Member<'_>,
        rows: &[(Lines, bool)],
        known: &mut HashMap<Shared, Row>,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Unknown> {
        for &s in member.shared.iter() {
            let before = known.entry(s).or_default();
            let each = rows.iter().flat_map(|(lines, _)| lines.each.iter().copied());
            let new: BTreeSet<usize> = each.filter(|&i| !before.contains(i)).collect();
            ticker.ticks(rows.iter().map(|(lines, _)| lines.each.len() as u32).sum())?;
            if new.is_empty() {
                continue;
            }
            new.iter().for_each(|&i| before.insert(i));
            let values = self.texts.numbered(model.shared_values(s));
            self.anywhere.note(&values);
            for i in new {
                ticker.ticks(values.len() as u32)?;
                let is_first = self.shared[i].is_none();
                self.shared[i].get_or_insert_default().note_all(&values, is_first);
            }
        }
        Ok(())
    }

    fn note_together(&mut self, rows: &[(Lines, bool)], ticker: &mut Ticker<'_>) -> Result<(), Unknown> {
        for (i, (a, several)) in rows.iter().enumerate() {
            for (b, _) in rows.iter().enumerate().filter(|(j, _)| i != *j || *several).map(|(_, row)| row) {
                for &line in &a.each {
                    ticker.ticks(b.ticks())?;
                    b.add_to(&mut self.together[line]);
                }
            }
        }
        Ok(())
    }

    /// Returns the facts, line by line.
    fn facts(&self, limits: &Limits) -> Result<Vec<LineFacts>, Unknown> {
        let mut ticker = Ticker::new(limits);
        let reached: Vec<usize> = (0..self.lines.len()).filter(|&i| self.shared[i].is_some()).collect();
        let lines: Vec<u32> = reached.iter().map(|&i| self.lines[i]).collect();
        let mut found = Vec::new();
        // Most lines have the same others.
        let mut apart: HashMap<&Row, Option<String>> = HashMap::new();
        for &i in &reached {
            let others = &self.together[i];
            ticker.ticks(1 + others.0.len() as u32 / 16)?;
            let mut facts = self.values(i);
            if !apart.contains_key(others) {
                ticker.ticks(1 + reached.len() as u32 / 16)?;
                apart.insert(others, Collector::apart(others, &reached, &lines));
            }
            facts.extend(apart[others].clone().filter(|_| !self.elsewhere));
            if !facts.is_empty() {
                found.push(LineFacts { line: self.lines[i], facts });
            }
        }
        Ok(found)
    }

    /// Returns the facts about variables at a line.
    fn values(&self, i: usize) -> Vec<String> {
        let mut all: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        let mut open: BTreeSet<&str> = BTreeSet::new();
        // A variable of the thread may have the name of a shared one; the fact is then true of
        // both.
        for (name, values) in self.shared[i].iter().chain(&self.own[i]).flat_map(|known| &known.0) {
            let name = self.texts.texts[*name as usize].as_str();
            match values {
                Some(values) => all.entry(name).or_default().extend(values),
                None => _ = open.insert(name),
            }
        }
        all.retain(|name, _| !open.contains(name));
        let said = all.into_iter().filter(|(name, values)| self.says_more(name, values));
        said.map(|(name, values)| {
            let values = values.iter().map(|v| self.texts.texts[*v as usize].as_str()).collect();
            is_one_of(name, &values)
        })
        .collect()
    }

    /// Returns whether the values of a variable give information. Of a variable of the thread, only
    /// a single value does: its possible values are not known here.
    fn says_more(&self, name: &str, values: &BTreeSet<u32>) -> bool {
        match self.texts.numbers.get(name).and_then(|name| self.anywhere.0.get(name)) {
            Some(Some(anywhere)) => values.len() <= MOST_VALUES && values != anywhere,
            Some(None) | None => values.len() == 1,
        }
    }

    /// Returns where no other thread is while one is at a line with these others; `lines` are those
    /// that are reached.
    fn apart(others: &Row, reached: &[usize], lines: &[u32]) -> Option<String> {
        let apart: Vec<bool> = reached.iter().map(|&other| !others.contains(other)).collect();
        match apart.iter().filter(|a| **a).count() {
            0 => None,
            n if n == lines.len() => Some("there is no other thread".into()),
            _ => Some(format!("no other thread is at {}", ranges(&apart, lines))),
        }
    }
}

/// Formats values: `x = 1`, `x is 1 or 2`.
fn is_one_of(name: &str, values: &BTreeSet<&str>) -> String {
    let values: Vec<&str> = values.iter().copied().collect();
    match values[..] {
        [value] => format!("{name} = {value}"),
        _ => format!("{name} is {}", values.join(" or ")),
    }
}

/// Formats lines: `line 13`, `lines 13–16, 20`; lines between which there is no other statement
/// form one range.
fn ranges(chosen: &[bool], lines: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for (i, line) in lines.iter().enumerate().filter(|(i, _)| chosen[*i]) {
        match parts.last_mut() {
            Some(part) if i > 0 && chosen[i - 1] => part.1 = *line,
            _ => parts.push((*line, *line)),
        }
    }
    let noun = if chosen.iter().filter(|c| **c).count() == 1 { "line" } else { "lines" };
    let parts: Vec<String> =
        parts.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}–{b}") }).collect();
    format!("{noun} {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Input, Job};
    use throng_lang::load::Format;

    #[test]
    fn describing_a_proof_obeys_the_limits_of_its_run() {
        let text = "decl x := 0; void main() begin\nx := 1 constrain !x;\nassert(x);\nx := 0;\nend";
        let (input, limits) = (Input::from_text(text, Format::Bp).expect("it is right"), Limits::none());
        let outcome = Job::new(&input).check(Engine::Views, &limits).expect("it is answered");
        assert!(outcome.is_safe() && !facts(&outcome).is_empty());
        limits.stopper().stop();
        assert!(facts(&outcome).is_empty() && outcome.to_string().starts_with("SAFE"));
    }

    #[cfg(feature = "c")]
    #[test]
    fn proofs_of_c_say_what_holds_at_lines_whoever_found_them() {
        let text = "#include <assert.h>\n#include <stdatomic.h>\natomic_int lock;\nint inside;\nvoid worker(void) {\n\
                    while (atomic_exchange(&lock, 1)) {}\ninside = 1;\nassert(inside == 1);\ninside = 0;\natomic_store(&lock, 0);\n}\n";
        let input = Input::from_text(text, Format::C).expect("it is read");
        for engine in [Engine::Auto, Engine::Views] {
            let mut job = Job::new(&input).entry("worker");
            // The abstraction goes first where a certificate is asked for.
            if engine == Engine::Auto {
                job = job.certifiable();
            }
            let outcome = job.check(engine, &Limits::none()).expect("it is answered");
            assert!(outcome.is_safe(), "{outcome}");
            let found = facts(&outcome);
            let at = |line: u32| found.iter().find(|f| f.line == line).map_or(&[][..], |f| &f.facts);
            let locked = ["lock != 0", "lock = 1"];
            assert!(at(8).iter().any(|f| locked.contains(&f.as_str())), "{engine}: {found:?}");
            assert!(at(8).iter().any(|f| f == "inside == 1" || f == "inside = 1"), "{engine}: {found:?}");
            assert!(at(6).iter().all(|f| !f.contains("lock")), "{engine}: {found:?}");
        }
    }

    #[test]
    fn neighbouring_lines_are_a_range() {
        let lines = [3, 4, 6, 7, 9];
        let of = |chosen: [u8; 5]| ranges(&chosen.map(|c| c == 1), &lines);
        assert_eq!(of([0, 1, 1, 1, 0]), "lines 4–7");
        assert_eq!(of([1, 0, 0, 0, 1]), "lines 3, 9");
        assert_eq!(of([0, 0, 1, 0, 0]), "line 6");
    }
}
