//! Boolean programs: the shared state in bits, and a label for every local state; or, if there are
//! transfers, which move threads at other labels, the local state in bits as well.
//!
//! The one initial thread first creates all others (so the program has a `start_thread`, and one
//! initial thread is the default reading), then leads the steps that take no thread. A target is
//! one more step, which takes its threads and leaves one at an `assert(0)`; the shared states it
//! passes through let no other thread move. A thread between two labels does not block others, so
//! no verdict depends on it. Only a transfer would miss it.

mod passive;

use std::collections::BTreeMap;
use std::fmt::Write;

use super::threads::{Rewriter, single_initial, step, thread_form};
use super::{Refusal, Used, Written};
use crate::system::System;
use throng_model::{Bag, Local, Place};

/// Writes `.bp`.
pub(super) fn write(system: &System) -> Result<Written, Refusal> {
    let (system, error) = with_assertion(system)?;
    let system = thread_form(&single_initial(&system)?, false)?;
    let used = Used::of(&system, &[]);
    let transfers = system.table.steps().iter().any(|s| !system.table.fates(s.edge).is_empty());
    let program = Program { system: &system, used: &used, bits: Bits::new("b", used.shared.keys()), error };
    let mut written = Written::new(if transfers { passive::program(&program) } else { program.labels() });
    if system.targets.len() > 1 {
        written.notes.push("all targets became one assertion".into());
    }
    Ok(written)
}

/// A system in thread form with one initial thread, to be printed.
struct Program<'a> {
    system: &'a System,
    used: &'a Used,
    /// Shared states as bits.
    bits: Bits,
    /// The local state at which an assertion fails.
    error: Local,
}

impl Program<'_> {
    /// Returns the declarations of the shared bits and the start of `main`.
    fn head(&self) -> String {
        let start = self.system.initial.first().map_or(0, |i| i.shared.0);
        let mut text = String::new();
        for (i, value) in self.bits.values(start).into_iter().enumerate() {
            let _ = writeln!(text, "decl b{i} := {};", u8::from(value));
        }
        text.push_str("\nvoid main() begin\n");
        text
    }

    /// Returns the local state in which the initial thread starts, if there is one.
    fn entry(&self) -> Option<Local> {
        self.system.initial.first().and_then(|i| i.threads.entries().first()).map(|e| e.0)
    }

    /// Returns a `start_thread` if no step creates a thread, so that one initial thread is the
    /// default reading.
    fn creates(&self) -> &'static str {
        let creates = self.system.table.steps().iter().any(|s| !s.spawn.is_empty());
        if creates { "" } else { "    start_thread goto stop;\n" }
    }

    /// Returns the program with a label for each local state.
    fn labels(&self) -> String {
        let mut text = self.head();
        text.push_str(self.creates());
        let _ = match self.entry() {
            Some(l) => writeln!(text, "    goto at_{};", self.used.local(l)),
            None => writeln!(text, "    goto stop;"),
        };
        let mut edges: BTreeMap<Local, Vec<usize>> = BTreeMap::new();
        for (i, step) in self.system.table.steps().iter().enumerate() {
            if let Some(&(l, _)) = step.take.entries().first() {
                edges.entry(l).or_default().push(i);
            }
        }
        for (&l, name) in &self.used.locals {
            let of_l = edges.get(&Local(l)).map_or(&[][..], Vec::as_slice);
            self.location((name, of_l), Local(l) == self.error, &mut text);
        }
        text.push_str("stop: end_thread;\nend\n");
        text
    }

    /// Prints `at_l: goto e1, e2;` and the edges.
    fn location(&self, (name, edges): (&str, &[usize]), is_error: bool, text: &mut String) {
        if is_error {
            let _ = writeln!(text, "at_{name}: assert(0);\n    goto stop;");
            return;
        }
        if edges.is_empty() {
            let _ = writeln!(text, "at_{name}: goto stop;");
            return;
        }
        let labels: Vec<String> = edges.iter().map(|i| format!("e{i}")).collect();
        let _ = writeln!(text, "at_{name}: goto {};", labels.join(", "));
        for (&i, label) in edges.iter().zip(&labels) {
            let step = &self.system.table.steps()[i];
            let _ = writeln!(text, "{label}: {};", self.bits.change(step.from.0, step.to.0));
            if let Some(&(child, _)) = step.spawn.entries().first() {
                let _ = writeln!(text, "    start_thread goto at_{};", self.used.local(child));
            }
            if let Some(&(m, _)) = step.put.entries().first() {
                let _ = writeln!(text, "    goto at_{};", self.used.local(m));
            }
        }
    }
}

/// Adds every target as a step that leaves a thread in a local state of its own.
fn with_assertion(system: &System) -> Result<(System, Local), Refusal> {
    let mut rewriter = Rewriter::copy(&system.table);
    let error = rewriter.fresh_local("error")?;
    let bad = rewriter.fresh_shared("bad")?;
    for config in system.targets.iter().flat_map(|t| &t.configs) {
        let found = step(config.shared, bad, config.threads.clone(), Bag::one(error), Bag::new());
        rewriter.add(found, Place::default());
    }
    Ok((rewriter.finish(system), error))
}

/// States as bits, most significant first.
struct Bits {
    prefix: &'static str,
    codes: BTreeMap<u64, usize>,
    width: usize,
}

impl Bits {
    fn new<'a>(prefix: &'static str, states: impl Iterator<Item = &'a u64>) -> Bits {
        let codes: BTreeMap<u64, usize> = states.enumerate().map(|(i, &s)| (s, i)).collect();
        let width = (codes.len().max(2) - 1).ilog2() as usize + 1;
        Bits { prefix, codes, width }
    }

    fn values(&self, state: u64) -> Vec<bool> {
        let code = self.codes.get(&state).copied().unwrap_or(0);
        (0..self.width).rev().map(|i| code >> i & 1 == 1).collect()
    }

    /// Returns the condition that the bits hold this state: `before b0 after & !before b1 after`.
    fn hold(&self, state: u64, before: &str, after: &str) -> String {
        let prefix = self.prefix;
        let literal =
            |(i, b): (usize, bool)| format!("{}{before}{prefix}{i}{after}", if b { "" } else { "!" });
        self.values(state).into_iter().enumerate().map(literal).collect::<Vec<_>>().join(" & ")
    }

    /// Returns the bits that differ, and their new values.
    fn changes(&self, from: u64, to: u64) -> Vec<(String, &'static str)> {
        let (before, after) = (self.values(from), self.values(to));
        let changed = (0..self.width).filter(|&i| before[i] != after[i]);
        changed.map(|i| (format!("{}{i}", self.prefix), if after[i] { "1" } else { "0" })).collect()
    }

    /// Returns the guard and, if the state changes, the assignment, as one statement.
    fn change(&self, from: u64, to: u64) -> String {
        guarded(&self.changes(from, to), &self.hold(from, "", ""))
    }
}

/// Returns `x,y := 0,1 constrain guard`.
fn guarded(changes: &[(String, &str)], guard: &str) -> String {
    if changes.is_empty() {
        return format!("assume({guard})");
    }
    let names: Vec<&str> = changes.iter().map(|c| c.0.as_str()).collect();
    let values: Vec<&str> = changes.iter().map(|c| c.1).collect();
    format!("{} := {} constrain {guard}", names.join(","), values.join(","))
}
