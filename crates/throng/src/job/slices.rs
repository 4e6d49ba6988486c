//! The proof that a Boolean program with memory orders is robust and has no data race, as a file:
//! a certificate under sequential consistency, and one for each slice of the monitor.
//!
//! The checker of such a file finds the slices that the program has, writes the program with the
//! monitor of each again, and asks for a certificate of it, which is checked like any other.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use throng_check::certificate::write::{Origin, document, write};
use throng_check::certificate::{Configuration, Document};
use throng_check::certify::{Asked, Certified, Fault, certify};
use throng_lang::bp::Jit;
use throng_lang::bp::orders::{Orders, Slice, monitored};
use throng_lang::load::{Input as Content, Loaded, with_tree};
use throng_memory::rules::{Class, Location};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::plural;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::Verdict;

use super::Prepared;

/// What such a file calls itself.
const FORMAT: &str = "throng-orders";
const VERSION: u32 = 1;

/// A slice with the answer that proves it.
pub(crate) struct Proved {
    pub(super) slice: Slice,
    pub(super) model: Arc<Jit>,
    pub(super) problem: Problem,
    pub(super) verdicts: Vec<Verdict>,
}

/// The file. `D`: a certificate.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<D, S> {
    format: String,
    version: u32,
    sequential: D,
    slices: Vec<Entry<S>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry<S> {
    location: String,
    class: String,
    /// Through which locations threads get to know of writes.
    sources: Vec<String>,
    proof: S,
}

fn name_of(class: Class) -> &'static str {
    match class {
        Class::Any => "any",
        Class::AnyUnread => "any-unread",
        Class::Valued => "valued",
        Class::ValuedUnread => "valued-unread",
        Class::LastWrite => "last-write",
        Class::Watched => "watched",
    }
}

/// Returns the program with the monitor of a slice, and its question; what the program asks is only
/// asked about its initial configurations and its number of threads. `Err`: why there is none.
pub(super) fn question(
    prepared: &Prepared,
    (jit, orders): (&Jit, &Orders),
    slice: &Slice,
) -> Result<(Arc<Jit>, Problem), String> {
    let input = prepared.input.as_ref().ok_or("there is no input")?;
    let tree = monitored(jit.tree(), orders, slice);
    let model = with_tree(input.source(), tree, input.reading()).map_err(|found| {
        let why = found.first().map(|d| d.message.clone()).unwrap_or_default();
        format!("the monitor of a slice is not a program: {why}")
    })?;
    let model = Arc::new(model);
    let asked = &prepared.problem;
    let initial = asked.initial.iter().map(|family| {
        let count = family.threads.size();
        model.initial(if family.any.is_empty() { Some(count) } else { None })
    });
    // A program of which no access can violate the slice asserts nothing.
    let targets = vec![model.assertions().unwrap_or_else(|| Target::covering("assertions", Vec::new()))];
    let problem = Problem { targets, initial: initial.collect(), model: model.clone(), ..asked.clone() };
    Ok((model, problem))
}

/// The model of a slice, as if it had been read.
fn as_input(prepared: &Prepared, model: Arc<Jit>) -> Option<Loaded> {
    let loaded = prepared.loaded()?;
    Some(Loaded {
        source: loaded.source.clone(),
        format: loaded.format,
        input: Content::Program(model),
        warnings: Vec::new(),
    })
}

/// Writes the file. `Err`: why there is none.
pub(crate) fn text(
    prepared: &Prepared,
    sequential: impl Serialize,
    orders: &Orders,
    proved: &[Proved],
    out: &mut dyn std::io::Write,
) -> Result<std::io::Result<()>, String> {
    let name = |y: &Location| orders.locations.get(*y as usize).cloned().unwrap_or_default();
    let input = prepared.input.as_ref().ok_or("certificates are about inputs in files or texts")?;
    let loaded: Vec<Loaded> =
        proved.iter().filter_map(|proved| as_input(prepared, proved.model.clone())).collect();
    let mut slices = Vec::new();
    for (proved, loaded) in proved.iter().zip(&loaded) {
        let origin = Origin { loaded, reading: input.reading(), problem: &proved.problem };
        slices.push(Entry {
            location: name(&proved.slice.target),
            class: name_of(proved.slice.class).into(),
            sources: proved.slice.sources.iter().map(name).collect(),
            proof: document(&origin, &proved.verdicts)?,
        });
    }
    Ok(write(&File { format: FORMAT.into(), version: VERSION, sequential, slices }, out))
}

/// Returns whether a file calls itself one about memory orders.
pub fn is_about_orders(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    serde_json::from_slice::<Head>(bytes).is_ok_and(|head| head.format == FORMAT)
}

/// Checks such a file: the certificate under sequential consistency by `sequential`, and one for
/// each slice.
pub(super) fn check(
    prepared: &Prepared,
    (jit, orders): (&Jit, &Orders),
    bytes: &[u8],
    sequential: &dyn Fn(&Document) -> Result<Certified, Fault>,
    limits: &Limits,
) -> Result<Certified, Fault> {
    type Read = Document<Vec<Configuration>>;
    let no = |why: String| Fault::Unreadable(format!("this is not a proof about memory orders: {why}"));
    let file: File<Read, Read> = serde_json::from_slice(bytes).map_err(|why| no(why.to_string()))?;
    if (file.format.as_str(), file.version) != (FORMAT, VERSION) {
        return Err(no(format!("it is not version {VERSION}")));
    }
    let mut certified = sequential(&file.sequential)?;
    let input = prepared.input.as_ref().ok_or_else(|| no("there is no input".into()))?;
    for (target, class) in orders.slices() {
        let name = &orders.locations[target as usize];
        let is_it = |entry: &&Entry<Read>| entry.location == *name && entry.class == name_of(class);
        let Some(entry) = file.slices.iter().find(is_it) else {
            let class = name_of(class);
            return Err(Fault::Invalid(format!("the slice `{class}` of `{name}` is missing")));
        };
        let number = |name: &String| orders.locations.iter().position(|l| l == name).map(|n| n as Location);
        let sources = entry.sources.iter().filter_map(number).filter(|y| orders.atomics().contains(y));
        let slice = Slice { target, class, sources: sources.collect() };
        let (model, problem) = question(prepared, (jit, orders), &slice).map_err(Fault::Invalid)?;
        let Some(loaded) = as_input(prepared, model) else { continue };
        let origin = Origin { loaded: &loaded, reading: input.reading(), problem: &problem };
        certify(&Asked::Check(origin), &entry.proof, limits).map_err(|fault| of_slice(fault, name, class))?;
    }
    let count = plural(orders.slices().len() as u64, "slice");
    certified
        .notes
        .push(format!("robust and free of races under the memory model of C11: {count} of the monitor"));
    certified.assumptions.retain(|a| !matches!(a, Assumption::SequentialConsistency { .. }));
    if orders.may_buffer_loads() {
        certified.assumptions.push(Assumption::NoLoadBuffering);
    }
    Ok(certified)
}

fn of_slice(fault: Fault, name: &str, class: Class) -> Fault {
    let named = |why: String| format!("the slice `{}` of `{name}`: {why}", name_of(class));
    match fault {
        Fault::Invalid(why) => Fault::Invalid(named(why)),
        Fault::Unreadable(why) => Fault::Invalid(named(why)),
        limit => limit,
    }
}
