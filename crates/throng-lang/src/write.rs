//! Writers of explicit systems. A system that a format cannot express is refused, never
//! approximated.
//!
//! Reading the output back gives the same verdicts for any number of threads. Where the format is
//! less expressive than tables, systems are rewritten first, so that every step moves or creates a
//! single thread.

mod bp;
mod dot;
pub mod flow;
mod pnml;
mod spec;
mod threads;
mod tts;

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::system::System;
use throng_model::Bag;
use throng_model::table::{Fate, Names, Table};

/// Output formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Thread-transition system with numbers.
    Tts,
    /// Thread-transition system with names.
    Ntts,
    /// mist net.
    Spec,
    /// PNML net, with a property file.
    Pnml,
    /// Graph for Graphviz.
    Dot,
    /// Boolean program whose assertion fails if and only if a target is reached.
    Bp,
}

/// The output of a writer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The file.
    pub text: String,
    /// A second file, such as the properties of a PNML net.
    pub companion: Option<Companion>,
    /// The initial configuration in BFC's notation, if the format has none.
    pub initial: Option<String>,
    /// True if a reader of the file would start elsewhere unless given [`Written::initial`].
    pub start_must_be_given: bool,
    /// Notes for readers of the file.
    pub notes: Vec<String>,
}

/// A second file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Companion {
    /// The extension of its name.
    pub extension: &'static str,
    /// The file.
    pub text: String,
}

/// The reason why a system cannot be written in a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// Writes a system and its targets.
pub fn write(system: &System, format: Format) -> Result<Written, Refusal> {
    const MOST: u32 = 1 << 16;
    if let Some(target) = system.targets.iter().find(|t| !t.is_upward_closed()) {
        let name = crate::configuration::shortened(&target.name);
        return Err(Refusal(format!("target `{name}` asks for few tokens, not only for many")));
    }
    let steps = system.table.steps().iter().flat_map(|step| [&step.take, &step.put, &step.spawn]);
    let starts = system.initial.iter().map(|family| &family.threads);
    let targets = system.targets.iter().flat_map(|target| &target.configs).map(|config| &config.threads);
    let lists = matches!(format, Format::Tts | Format::Ntts | Format::Bp);
    if lists && steps.chain(starts).chain(targets).any(|threads| threads.size() > MOST) {
        return Err(Refusal(format!("this format lists threads one by one, and there are more than {MOST}")));
    }
    match format {
        Format::Tts => tts::numbered(system),
        Format::Ntts => tts::named(system),
        Format::Spec => spec::write(system),
        Format::Pnml => pnml::write(system),
        Format::Dot => Ok(dot::write(system)),
        Format::Bp => bp::write(system),
    }
}

impl Written {
    fn new(text: String) -> Written {
        Written { text, companion: None, initial: None, start_must_be_given: false, notes: Vec::new() }
    }
}

/// The states that occur in steps, initial configurations and targets, in order, with a name for
/// each.
struct Used {
    shared: BTreeMap<u64, String>,
    locals: BTreeMap<u64, String>,
}

impl Used {
    /// Collects the states and makes their names identifiers; a shared and a local state never have
    /// the same name.
    fn of(system: &System, reserved: &[&str]) -> Used {
        let (shared, locals) = states(system);
        let mut taken: FxHashSet<String> = reserved.iter().map(|r| r.to_string()).collect();
        Used {
            shared: identifiers(shared, system.table.shared(), "s", &mut taken),
            locals: identifiers(locals, system.table.locals(), "l", &mut taken),
        }
    }

    fn shared(&self, s: throng_model::Shared) -> &str {
        self.shared.get(&s.0).map_or("", String::as_str)
    }

    fn local(&self, l: throng_model::Local) -> &str {
        self.locals.get(&l.0).map_or("", String::as_str)
    }

    /// Returns threads as a list: `a,a,b`.
    fn list(&self, threads: &Bag, separator: &str) -> String {
        let each = threads.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l));
        each.map(|l| self.local(l)).collect::<Vec<_>>().join(separator)
    }
}

fn states(system: &System) -> (Vec<u64>, Vec<u64>) {
    let (mut shared, mut locals) = (Vec::new(), Vec::new());
    let bag = |b: &Bag, locals: &mut Vec<u64>| locals.extend(b.entries().iter().map(|e| e.0.0));
    for step in system.table.steps() {
        shared.extend([step.from.0, step.to.0]);
        [&step.take, &step.put, &step.spawn].iter().for_each(|b| bag(b, &mut locals));
        for &(l, fate) in system.table.fates(step.edge) {
            locals.push(l.0);
            if let Fate::To(m) = fate {
                locals.push(m.0);
            }
        }
    }
    for initial in &system.initial {
        shared.push(initial.shared.0);
        bag(&initial.threads, &mut locals);
        locals.extend(initial.any.iter().map(|l| l.0));
    }
    for config in system.targets.iter().flat_map(|t| &t.configs) {
        shared.push(config.shared.0);
        bag(&config.threads, &mut locals);
    }
    for list in [&mut shared, &mut locals] {
        list.sort_unstable();
        list.dedup();
    }
    (shared, locals)
}

/// Returns names of letters, digits and `_`, not starting with a digit, unique and not taken.
fn identifiers(
    states: Vec<u64>,
    names: &Names,
    prefix: &str,
    taken: &mut FxHashSet<String>,
) -> BTreeMap<u64, String> {
    let mut found = BTreeMap::new();
    let mut clashes: FxHashMap<String, u64> = FxHashMap::default();
    for i in states {
        let name: String =
            names.name(i).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let name = if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name
        } else {
            format!("{prefix}{name}")
        };
        let mut unique = name.clone();
        let n = clashes.entry(name.clone()).or_insert(1);
        while !taken.insert(unique.clone()) {
            *n += 1;
            unique = format!("{name}_{n}");
        }
        found.insert(i, unique);
    }
    found
}

/// Returns a text for a one-line comment.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns the origin of a step: `line 3: x>=1 -> …`.
fn origin_text(table: &Table, edge: throng_model::Edge) -> String {
    let place = throng_model::Describe::edge_place(table, edge);
    match place.line {
        0 => "a step".to_string(),
        line => format!("line {line}: `{}`", comment(&place.text)),
    }
}

#[cfg(test)]
mod tests;
