//! Thread-transition systems, with numbers (`.tts`) or names (`.ntts`).

use std::fmt::Write;

use super::threads::{thread_form, with_met_targets, with_one_initial};
use super::{Refusal, Used, Written, comment};
use crate::system::{System, listed, notation};
use throng_model::table::{Fate, Names};
use throng_model::{Local, Shared, Step};

/// Maximum number of initial threads that are written one by one.
const MOST_THREADS: u64 = 1_000_000;

/// Writes `.tts`: the format has no line for the initial configuration, so it is returned beside
/// the text.
pub(super) fn numbered(system: &System) -> Result<Written, Refusal> {
    let system = prepared(system)?;
    let (shared, locals) = (system.table.shared(), system.table.locals());
    let numbers = (Names::Numbers(shared.len()), Names::Numbers(locals.len()));
    let initial: Vec<String> = system.initial.iter().map(|i| notation(i, &numbers.0, &numbers.1)).collect();
    let initial = initial.join(" ");
    let mut text = format!("# initial {initial}\n");
    for (which, names) in [("shared", shared), ("local", locals)] {
        if let Names::List(list) = names {
            for (i, name) in list.iter().enumerate() {
                let _ = writeln!(text, "# {which} {i} is {}", comment(name));
            }
        }
    }
    let _ = writeln!(text, "{} {}", shared.len().max(1), locals.len().max(1));
    edges(&system, &mut text, &|s| s.0.to_string(), &|l| l.0.to_string());
    for target in &system.targets {
        let _ = writeln!(text, "# target {}", comment(&target.name));
        for config in &target.configs {
            let _ = writeln!(text, "{}|{}", config.shared.0, listed(&config.threads, &numbers.1));
        }
    }
    let mut written = Written::new(text);
    if initial != "0/0" {
        written.start_must_be_given = true;
    }
    written.initial = Some(initial);
    Ok(written)
}

/// Writes `.ntts`.
pub(super) fn named(system: &System) -> Result<Written, Refusal> {
    let system = prepared(system)?;
    let used = Used::of(&system, &["shared", "local", "init", "target"]);
    let mut text = String::new();
    for (which, names) in [("shared", &used.shared), ("local", &used.locals)] {
        let names: Vec<&str> = names.values().map(String::as_str).collect();
        for line in names.chunks(12) {
            let _ = writeln!(text, "{which} {}", line.join(" "));
        }
        if names.is_empty() {
            let _ = writeln!(text, "{which} nothing");
        }
    }
    for initial in &system.initial {
        let _ = write!(text, "init {}", used.shared(initial.shared));
        if !initial.threads.is_empty() || initial.any.is_empty() {
            let _ = write!(text, " | {}", used.list(&initial.threads, ", "));
        }
        if !initial.any.is_empty() {
            let any: Vec<&str> = initial.any.iter().map(|&l| used.local(l)).collect();
            let _ = write!(text, " / {}", any.join(", "));
        }
        text.push('\n');
    }
    for target in &system.targets {
        let _ = writeln!(text, "# {}", comment(&target.name));
        for config in &target.configs {
            let _ = writeln!(
                text,
                "target {} | {}",
                used.shared(config.shared),
                used.list(&config.threads, ", ")
            );
        }
    }
    edges(&system, &mut text, &|s| used.shared(s).to_string(), &|l| {
        used.locals.get(&l.0).map_or("nothing", String::as_str).to_string()
    });
    Ok(Written::new(text))
}

fn prepared(system: &System) -> Result<System, Refusal> {
    let threads: u64 = system.initial.iter().map(|i| u64::from(i.threads.size())).sum();
    if threads > MOST_THREADS {
        return Err(Refusal(format!("{threads} initial threads would have to be written one by one")));
    }
    with_met_targets(thread_form(&with_one_initial(system)?, true)?)
}

/// Writes one line per step of a system in thread form.
fn edges(
    system: &System,
    text: &mut String,
    shared: &dyn Fn(Shared) -> String,
    local: &dyn Fn(Local) -> String,
) {
    // If no thread moves, any local state with a name is suitable.
    let any = local(Local(super::states(system).1.first().copied().unwrap_or(0)));
    for step in system.table.steps() {
        let fates = system.table.fates(step.edge);
        let (from, to) = (shared(step.from), shared(step.to));
        let first = |s: &Step| s.take.entries().first().map(|e| e.0);
        let _ = match (first(step), step.spawn.entries().first(), step.put.entries().first(), fates) {
            (Some(l), Some(child), _, _) => write!(text, "{from} {} +> {to} {}", local(l), local(child.0)),
            (Some(l), None, Some(m), _) => write!(text, "{from} {} -> {to} {}", local(l), local(m.0)),
            (None, _, _, &[(l, Fate::To(m))]) => write!(text, "{from} {} ~> {to} {}", local(l), local(m)),
            _ if from == to => continue,
            _ => write!(text, "{from} {any} ~> {to} {any}"),
        };
        if !step.take.is_empty() {
            for &(l, fate) in fates {
                if let Fate::To(m) = fate {
                    let _ = write!(text, "  {} ~> {}", local(l), local(m));
                }
            }
        }
        text.push('\n');
    }
}
