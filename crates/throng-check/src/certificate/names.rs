//! The names of states in certificates.
//!
//! A state of a system or net has its name in the input (its number, if it has no name). A state of
//! a program is a place and the known values. A place is named by function and label:
//! `main:CRITICAL+2` is the second statement after the label `CRITICAL` in text order, `main:+4` is
//! the fifth of a function without labels before it; callers come first, `main:+1 > f:+0`. So a
//! name survives changes of line numbers, comments, and of other functions.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use throng_lang::bp::program::Variable;
use throng_lang::bp::program::expr::{Cube, FREE, ONE, ZERO};

/// A shared state.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SharedName {
    /// A state of a system, by its name in the input.
    Name(String),
    /// A state of a program.
    Values(SharedValues),
}

/// The known values of the shared variables of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedValues {
    /// True if a thread is inside an atomic section.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// Values; other variables may have either value.
    pub values: BTreeMap<String, u8>,
}

/// A local state.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LocalName {
    /// A state of a system, by its name in the input.
    Name(String),
    /// A state of a program.
    Values(LocalValues),
}

/// The place of a thread and the known values of its variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalValues {
    /// The place; empty for a thread that has ended and keeps its slot.
    pub at: String,
    /// Values: `x` for thread-local variables, `f:x` for those of the functions on the stack; other
    /// variables may have either value.
    pub values: BTreeMap<String, u8>,
}

/// Returns the names of the places of one function, given the position and labels of each node.
pub fn places<'a>(function: &str, nodes: impl Iterator<Item = ((u32, u32), &'a [String])>) -> Vec<String> {
    let nodes: Vec<((u32, u32), &[String])> = nodes.collect();
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&i| (nodes[i].0, i));
    let (mut label, mut offset) = ("", 0);
    let mut seen = HashSet::new();
    let mut names = vec![String::new(); nodes.len()];
    for i in order {
        if let Some(new) = nodes[i].1.iter().find(|l| seen.insert(l.as_str())) {
            (label, offset) = (new, 0);
        }
        names[i] = match (label, offset) {
            ("", n) => format!("{function}:+{n}"),
            (label, 0) => format!("{function}:{label}"),
            (label, n) => format!("{function}:{label}+{n}"),
        };
        offset += 1;
    }
    names
}

/// Returns the name of a variable of a function.
pub fn local_variable(function: &str, variable: &Variable) -> String {
    format!("{function}:{}", variable.name)
}

/// Returns the variables whose values are known.
pub fn known(names: impl Iterator<Item = String>, masks: &[u8]) -> BTreeMap<String, u8> {
    let known = names.zip(masks).filter(|(_, m)| **m != FREE);
    known.map(|(name, &m)| (name, m >> 1)).collect()
}

/// States by name; for one that the input does not have, the reason.
pub type Found<W> = Vec<Result<W, String>>;

/// Returns the masks of all variables, given the values of some.
pub fn masks(names: impl Iterator<Item = String>, values: &BTreeMap<String, u8>) -> Result<Cube, String> {
    let mut left: HashMap<&str, u8> = values.iter().map(|(n, &v)| (n.as_str(), v)).collect();
    let mask = |name: String| match left.remove(name.as_str()) {
        None => Ok(FREE),
        Some(0) => Ok(ZERO),
        Some(1) => Ok(ONE),
        Some(v) => Err(format!("`{name}` cannot be {v}")),
    };
    let masks: Cube = names.map(mask).collect::<Result<_, _>>()?;
    match left.keys().min() {
        None => Ok(masks),
        Some(name) => Err(format!("there is no variable `{name}`")),
    }
}
