//! States by name: what a certificate calls them.
//!
//! A state of a system or net has its name in the input (its number, if it has no name). A state of a program is where it is and the values that
//! are known. A place is called by function and label: `main:CRITICAL+2` is the second statement behind the label `CRITICAL`
//! in text order, `main:+4` is the fifth of a function without labels before it; callers come first, `main:+1 > f:+0`.
//! So a name survives changes of line numbers, comments, and of other functions.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::lang::bp::Jit;
use crate::model::program::expr::{Cube, FREE, ONE, ZERO};
use crate::model::program::{Coded, Cubes, Program, Variable};
use crate::model::table::Table;
use crate::model::{Local, Shared};

/// A shared state.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SharedName {
    /// Of a system, as the input calls it.
    Name(String),
    /// Of a program.
    Values(SharedValues),
}

/// What is known about the shared variables of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedValues {
    /// Whether somebody is inside an atomic section.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// Values; a variable that is not mentioned may have either.
    pub values: BTreeMap<String, u8>,
}

/// A local state.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LocalName {
    /// Of a system, as the input calls it.
    Name(String),
    /// Of a program.
    Values(LocalValues),
}

/// Where a thread is and what is known about its variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalValues {
    /// The place; empty for a thread that has ended and keeps its slot.
    pub at: String,
    /// Values: `x` for thread-local variables, `f:x` for those of the functions on the stack; a variable that is not
    /// mentioned may have either.
    pub values: BTreeMap<String, u8>,
}

/// The names of the places of one function, given where each node is written and its labels.
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

/// The variables whose values are known.
pub fn values(names: impl Iterator<Item = String>, masks: &[u8]) -> BTreeMap<String, u8> {
    let known = names.zip(masks).filter(|(_, m)| **m != FREE);
    known.map(|(name, &m)| (name, m >> 1)).collect()
}

/// The name of a variable of a function.
pub fn local_variable(function: &str, variable: &Variable) -> String {
    format!("{function}:{}", variable.name)
}

/// States by name; of one that the input does not have, why.
pub type Found<W> = Vec<Result<W, String>>;

/// Who knows the names of a model's states.
pub trait Namer {
    /// The name of a shared state.
    fn shared(&self, s: Shared) -> SharedName;
    /// The name of a local state.
    fn local(&self, l: Local) -> LocalName;
}

impl Namer for Table {
    fn shared(&self, s: Shared) -> SharedName {
        SharedName::Name(Table::shared(self).name(s.0))
    }

    fn local(&self, l: Local) -> LocalName {
        LocalName::Name(self.locals().name(l.0))
    }
}

/// Names for the states of a program as the engines see it.
pub struct ProgramNames<'a> {
    jit: &'a Jit,
    /// By function and node.
    places: Vec<Vec<String>>,
}

impl<'a> ProgramNames<'a> {
    /// Of this program.
    pub fn new(jit: &'a Jit) -> ProgramNames<'a> {
        let of = |f: &crate::model::program::FunctionInfo| {
            places(&f.name, f.nodes.iter().map(|n| ((n.line, n.column), &n.labels[..])))
        };
        ProgramNames { places: jit.program().functions.iter().map(of).collect(), jit }
    }

    fn program(&self) -> &'a Program {
        self.jit.program()
    }
}

impl ProgramNames<'_> {
    /// The states with these names, as far as the program has them.
    pub fn words(&self, shared: &[SharedName], locals: &[LocalName]) -> (Found<Shared>, Found<Local>) {
        let program = self.program();
        let points: HashMap<String, u32> =
            (0..program.points.len() as u32).map(|p| (self.at(p), p)).collect();
        let shared = shared.iter().map(|name| {
            let SharedName::Values(state) = name else { return Err("a shared state without values".into()) };
            let masks = masks(program.shared.iter().map(|v| v.name.clone()), &state.values)?;
            Ok(self.jit.shared_word(state.atomic, &masks))
        });
        let locals = locals.iter().map(|name| {
            let LocalName::Values(state) = name else { return Err("a local state without a place".into()) };
            if state.at.is_empty() && self.jit.keeps_ended() {
                return Ok(self.jit.local_word(program.points.len() as u32, &vec![ZERO; program.slots]));
            }
            let Some(&point) = points.get(&state.at) else {
                return Err(format!("the program has no place `{}`", state.at));
            };
            let mut masks = masks(self.variables(point).into_iter(), &state.values)?;
            masks.resize(program.slots, ZERO);
            Ok(self.jit.local_word(point, &masks))
        });
        (shared.collect(), locals.collect())
    }

    /// The calls of a point, outermost first: instance and node.
    fn frames(&self, point: u32) -> Vec<(usize, usize)> {
        let program = self.program();
        let p = &program.points[point as usize];
        let mut frames = vec![(p.instance, p.node)];
        while let Some(caller) = frames.last().and_then(|&(i, _)| program.instances[i].caller) {
            frames.push(caller);
        }
        frames.reverse();
        frames
    }

    fn at(&self, point: u32) -> String {
        let place =
            |(i, node): (usize, usize)| self.places[self.program().instances[i].function][node].as_str();
        self.frames(point).into_iter().map(place).collect::<Vec<_>>().join(" > ")
    }

    /// The variables in the slots that are used at a point.
    fn variables(&self, point: u32) -> Vec<String> {
        let program = self.program();
        let mut names: Vec<String> = program.thread_locals.iter().map(|v| v.name.clone()).collect();
        for (i, _) in self.frames(point) {
            let function = &program.functions[program.instances[i].function];
            names.extend(function.variables.iter().map(|v| local_variable(&function.name, v)));
        }
        names
    }
}

/// The masks of all variables, given the values of some.
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

impl Namer for ProgramNames<'_> {
    fn shared(&self, s: Shared) -> SharedName {
        let (atomic, masks) = self.jit.shared_cube(s);
        let names = self.program().shared.iter().map(|v| v.name.clone());
        SharedName::Values(SharedValues { atomic, values: values(names, &masks) })
    }

    fn local(&self, l: Local) -> LocalName {
        let (point, masks) = self.jit.local_cube(l);
        let program = self.program();
        if program.points.len() == point as usize {
            return LocalName::Values(LocalValues { at: String::new(), values: BTreeMap::new() });
        }
        LocalName::Values(LocalValues {
            at: self.at(point),
            values: values(self.variables(point).into_iter(), &masks),
        })
    }
}
