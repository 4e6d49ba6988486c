//! Boolean programs: the shared state in bits, a label for every local state.
//!
//! The one initial thread first creates all others (so the program has a `start_thread`, and one initial thread is the default
//! reading), then leads the steps that take nobody. A target is one more step, which takes its threads and leaves one at an `assert(0)`; the
//! shared states it passes through let nobody else move. A thread between two labels is merely late: it holds nothing up, so no
//! verdict depends on it. Only a transfer would miss it, so transfers are refused.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::threads::{Rewriter, single_initial, step, thread_form};
use super::{Refusal, Used, Written, whence};
use crate::lang::system::System;
use crate::model::{Bag, Local, Place, Shared};

/// `.bp`
pub(super) fn write(system: &System) -> Result<Written, Refusal> {
    if let Some(step) = system.table.steps().iter().find(|s| !system.table.fates(s.edge).is_empty()) {
        return Err(Refusal(format!(
            "{} moves, removes or tests other threads; a Boolean program with a label for each local state cannot say that",
            whence(&system.table, step.edge)
        )));
    }
    let (system, error) = with_assertion(system)?;
    let system = thread_form(&single_initial(&system)?, false)?;
    let used = Used::of(&system, &[]);
    let bits = Bits::new(&used);
    let mut text = String::new();
    let initial = system.initial.first();
    let start = initial.map_or(Shared(0), |i| i.shared);
    for (i, value) in bits.values(start).into_iter().enumerate() {
        let _ = writeln!(text, "decl b{i} := {};", u8::from(value));
    }
    text.push_str("\nvoid main() begin\n");
    let creates = system.table.steps().iter().any(|s| !s.spawn.is_empty());
    if !creates {
        text.push_str("    start_thread goto stop;\n");
    }
    match initial.and_then(|i| i.threads.entries().first()) {
        Some(&(l, _)) => writeln!(text, "    goto at_{};", used.local(l)),
        None => writeln!(text, "    goto stop;"),
    }
    .unwrap_or_default();
    let mut edges: BTreeMap<Local, Vec<usize>> = BTreeMap::new();
    for (i, step) in system.table.steps().iter().enumerate() {
        if let Some(&(l, _)) = step.take.entries().first() {
            edges.entry(l).or_default().push(i);
        }
    }
    for (&l, name) in &used.locals {
        let of_l = edges.get(&Local(l)).map_or(&[][..], Vec::as_slice);
        location(&system, &used, &bits, (name, of_l), Local(l) == error, &mut text);
    }
    text.push_str("stop: end_thread;\nend\n");
    let mut written = Written::new(text);
    if system.targets.len() > 1 {
        written.notes.push("all targets became one assertion".into());
    }
    Ok(written)
}

/// Every target as a step that leaves a thread in a local state of its own.
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

/// `at_l: goto e1, e2;` and the edges.
fn location(
    system: &System,
    used: &Used,
    bits: &Bits,
    (name, edges): (&str, &[usize]),
    is_error: bool,
    text: &mut String,
) {
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
        let step = &system.table.steps()[i];
        let _ = writeln!(text, "{label}: {};", bits.change(step.from, step.to));
        if let Some(&(child, _)) = step.spawn.entries().first() {
            let _ = writeln!(text, "    start_thread goto at_{};", used.local(child));
        }
        if let Some(&(m, _)) = step.put.entries().first() {
            let _ = writeln!(text, "    goto at_{};", used.local(m));
        }
    }
}

/// Shared states as bits, most significant first.
struct Bits {
    codes: BTreeMap<u64, usize>,
    width: usize,
}

impl Bits {
    fn new(used: &Used) -> Bits {
        let codes: BTreeMap<u64, usize> = used.shared.keys().enumerate().map(|(i, &s)| (s, i)).collect();
        let width = (codes.len().max(2) - 1).ilog2() as usize + 1;
        Bits { codes, width }
    }

    fn values(&self, s: Shared) -> Vec<bool> {
        let code = self.codes.get(&s.0).copied().unwrap_or(0);
        (0..self.width).rev().map(|i| code >> i & 1 == 1).collect()
    }

    /// The guard and, if the shared state changes, the assignment, in one step.
    fn change(&self, from: Shared, to: Shared) -> String {
        let (before, after) = (self.values(from), self.values(to));
        let literal = |(i, b): (usize, &bool)| if *b { format!("b{i}") } else { format!("!b{i}") };
        let guard = before.iter().enumerate().map(literal).collect::<Vec<_>>().join(" & ");
        let changed: Vec<usize> = (0..self.width).filter(|&i| before[i] != after[i]).collect();
        if changed.is_empty() {
            return format!("assume({guard})");
        }
        let names: Vec<String> = changed.iter().map(|i| format!("b{i}")).collect();
        let values: Vec<&str> = changed.iter().map(|&i| if after[i] { "1" } else { "0" }).collect();
        format!("{} := {} constrain {guard}", names.join(","), values.join(","))
    }
}
