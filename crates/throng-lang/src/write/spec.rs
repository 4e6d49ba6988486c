//! mist nets. If there are several shared states they become places, exactly one of which holds a
//! token.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::threads::{with_met_targets, with_one_initial};
use super::{Refusal, Used, Written, comment, origin_text};
use crate::system::System;
use throng_model::table::Fate;
use throng_model::{Bag, Local, Step};

const RESERVED: [&str; 8] = ["vars", "rules", "init", "target", "invariants", "true", "in", "goal"];

/// Writes `.spec`.
pub(super) fn write(system: &System) -> Result<Written, Refusal> {
    let system = with_met_targets(with_one_initial(system)?)?;
    let used = Used::of(&system, &RESERVED);
    let with_shared = used.shared.len() > 1;
    let mut vars: Vec<&str> = used.locals.values().map(String::as_str).collect();
    if with_shared {
        vars.extend(used.shared.values().map(String::as_str));
    }
    if vars.is_empty() {
        vars.push("nothing");
    }
    let mut text = String::from("vars\n");
    for line in vars.chunks(12) {
        let _ = writeln!(text, "    {}", line.join(" "));
    }
    text.push_str("\nrules\n");
    for step in system.table.steps() {
        rule(&system, step, &used, with_shared, &mut text)?;
    }
    text.push_str("\ninit\n    ");
    let mut conditions: Vec<String> = Vec::new();
    for initial in &system.initial {
        for (&l, name) in &used.locals {
            let n = initial.threads.count(Local(l));
            let relation = if initial.any.contains(&Local(l)) { ">=" } else { "=" };
            conditions.push(format!("{name}{relation}{n}"));
        }
        if with_shared {
            conditions.extend(
                used.shared.iter().map(|(&s, name)| format!("{name}={}", u8::from(s == initial.shared.0))),
            );
        }
    }
    if conditions.is_empty() {
        conditions.push(format!("{}=0", vars[0]));
    }
    let lines: Vec<String> = conditions.chunks(12).map(|c| c.join(", ")).collect();
    text.push_str(&lines.join(",\n    "));
    text.push('\n');
    if !system.targets.is_empty() {
        text.push_str("\ntarget\n");
    }
    for target in &system.targets {
        let _ = writeln!(text, "    # {}", comment(&target.name));
        for config in &target.configs {
            let shared = with_shared.then(|| format!("{}>=1", used.shared(config.shared)));
            let threads = config.threads.entries().iter().map(|&(l, n)| format!("{}>={n}", used.local(l)));
            let mut all: Vec<String> = shared.into_iter().chain(threads).collect();
            if all.is_empty() {
                all.push(format!("{}>=0", vars[0]));
            }
            let _ = writeln!(text, "    {}", all.join(", "));
        }
    }
    Ok(Written::new(text))
}

/// Writes `x>=1, s>=1 -> x'=x-1, y'=y+z+1, z'=0, s'=s-1, t'=t+1;`.
fn rule(
    system: &System,
    step: &Step,
    used: &Used,
    with_shared: bool,
    text: &mut String,
) -> Result<(), Refusal> {
    let table = &system.table;
    let mut fate_of: FxHashMap<Local, Fate> = FxHashMap::default();
    for &(l, fate) in table.fates(step.edge) {
        if fate_of.insert(l, fate).is_some() {
            return Err(Refusal(format!(
                "{} lets each of several threads choose where it goes; a net cannot say that",
                origin_text(table, step.edge)
            )));
        }
    }
    let destination = |y: Local| match fate_of.get(&y) {
        Some(Fate::To(x)) => Some(*x),
        Some(Fate::Vanish) => None,
        Some(Fate::Block) | None => Some(y),
    };
    let mut guards: Vec<String> = Vec::new();
    for &(x, n) in step.take.entries() {
        let relation = if fate_of.get(&x) == Some(&Fate::Block) { "=" } else { ">=" };
        guards.push(format!("{}{relation}{n}", used.local(x)));
    }
    for &(x, fate) in table.fates(step.edge) {
        if fate == Fate::Block && step.take.count(x) == 0 {
            guards.push(format!("{}=0", used.local(x)));
        }
    }
    let mut updates = updates(step, &fate_of, &destination, used);
    if with_shared {
        let (from, to) = (used.shared(step.from), used.shared(step.to));
        guards.push(format!("{from}>=1"));
        if from != to {
            updates.push(format!("{from}'={from}-1"));
            updates.push(format!("{to}'={to}+1"));
        }
    }
    if updates.is_empty() {
        return Ok(()); // nothing happens
    }
    if guards.is_empty() {
        guards.push("true".into());
    }
    let _ = writeln!(text, "    {} -> {};", guards.join(", "), updates.join(", "));
    Ok(())
}

/// Returns the updates of a step: for every x that changes, the sum of the variables that flow into
/// it, plus the tokens put there, less those taken from these variables.
fn updates(
    step: &Step,
    fate_of: &FxHashMap<Local, Fate>,
    destination: &dyn Fn(Local) -> Option<Local>,
    used: &Used,
) -> Vec<String> {
    let mut sources: Vec<(Local, Local)> = Vec::new();
    let mut involved: Vec<Local> = Vec::new();
    let bags = [&step.take, &step.put, &step.spawn];
    involved.extend(bags.iter().flat_map(|b: &&Bag| b.entries()).map(|e| e.0));
    for (&y, fate) in fate_of {
        involved.push(y);
        if let Fate::To(x) = fate {
            involved.push(*x);
        }
    }
    involved.sort_unstable();
    involved.dedup();
    sources.extend(involved.iter().filter_map(|&y| Some((destination(y)?, y))));
    sources.sort_unstable_by_key(|&(x, y)| (x, y != x, y));
    let mut found = Vec::new();
    for x in involved {
        let from = sources.partition_point(|s| s.0 < x);
        let into: Vec<Local> = sources[from..].iter().take_while(|s| s.0 == x).map(|s| s.1).collect();
        let taken: i64 = into.iter().map(|&y| i64::from(step.take.count(y))).sum();
        let plus = i64::from(step.put.count(x)) + i64::from(step.spawn.count(x)) - taken;
        if into == [x] && plus == 0 {
            continue;
        }
        let name = used.local(x);
        let sum: Vec<&str> = into.iter().map(|&y| used.local(y)).collect();
        found.push(match (sum.is_empty(), plus) {
            (true, n) => format!("{name}'={n}"),
            (false, 0) => format!("{name}'={}", sum.join("+")),
            (false, n) => format!("{name}'={}{n:+}", sum.join("+")),
        });
    }
    found
}
