//! Names for the engines' states: for writing certificates, and for trying old ones. The checker
//! has its own look-up of states by name.

use std::collections::{BTreeMap, HashMap};

use super::names::{
    Found, LocalName, LocalValues, SharedName, SharedValues, known, local_variable, masks, places,
};
use throng_lang::bp::Jit;
use throng_lang::bp::program::expr::ZERO;
use throng_lang::bp::program::{Coded, Cubes, Program};
use throng_model::table::Table;
use throng_model::{Local, Shared};

/// A source of names for a model's states.
pub trait Namer {
    /// Returns the name of a shared state.
    fn shared(&self, s: Shared) -> SharedName;
    /// Returns the name of a local state.
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

/// Names for the states of the engines' model of a program.
pub struct ProgramNames<'a> {
    jit: &'a Jit,
    /// Names of places, by function and node.
    places: Vec<Vec<String>>,
}

impl<'a> ProgramNames<'a> {
    /// Creates the names for a program.
    pub fn new(jit: &'a Jit) -> ProgramNames<'a> {
        let of = |f: &throng_lang::bp::program::FunctionInfo| {
            places(&f.name, f.nodes.iter().map(|n| ((n.line, n.column), &n.labels[..])))
        };
        ProgramNames { places: jit.program().functions.iter().map(of).collect(), jit }
    }

    fn program(&self) -> &'a Program {
        self.jit.program()
    }
}

impl ProgramNames<'_> {
    /// Returns the states with these names, as far as the program has them.
    pub fn states(&self, shared: &[SharedName], locals: &[LocalName]) -> (Found<Shared>, Found<Local>) {
        let program = self.program();
        let points: HashMap<String, u32> =
            (0..program.points.len() as u32).map(|p| (self.at(p), p)).collect();
        let shared = shared.iter().map(|name| {
            let SharedName::Values(state) = name else { return Err("a shared state without values".into()) };
            let masks = masks(program.shared.iter().map(|v| v.name.clone()), &state.values)?;
            Ok(self.jit.encode_shared(state.atomic, &masks))
        });
        let locals = locals.iter().map(|name| {
            let LocalName::Values(state) = name else { return Err("a local state without a place".into()) };
            if state.at.is_empty() && self.jit.keeps_ended() {
                return Ok(self.jit.encode_local(program.points.len() as u32, &vec![ZERO; program.slots]));
            }
            let Some(&point) = points.get(&state.at) else {
                return Err(format!("the program has no place `{}`", state.at));
            };
            let mut masks = masks(self.variables(point).into_iter(), &state.values)?;
            masks.resize(program.slots, ZERO);
            Ok(self.jit.encode_local(point, &masks))
        });
        (shared.collect(), locals.collect())
    }

    /// Returns the calls of a point, outermost first: instance and node.
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

    /// Returns the variables in the slots that are used at a point.
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

impl Namer for ProgramNames<'_> {
    fn shared(&self, s: Shared) -> SharedName {
        let (atomic, masks) = self.jit.shared_cube(s);
        let names = self.program().shared.iter().map(|v| v.name.clone());
        SharedName::Values(SharedValues { atomic, values: known(names, &masks) })
    }

    fn local(&self, l: Local) -> LocalName {
        let (point, masks) = self.jit.local_cube(l);
        let program = self.program();
        if program.points.len() == point as usize {
            return LocalName::Values(LocalValues { at: String::new(), values: BTreeMap::new() });
        }
        LocalName::Values(LocalValues {
            at: self.at(point),
            values: known(self.variables(point).into_iter(), &masks),
        })
    }
}
