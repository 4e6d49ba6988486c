//! Local/global state machines as specifications of programs: which shared state of the machine
//! stands for which values of a program's variables (reference 4.6).
//!
//! A system of named states is such a machine if each of its steps moves one thread. Its lines
//! `means STATE CONDITION` are conditions on shared variables; no two of them hold at once. Values
//! for which none holds are such as the machine never shows.

use std::sync::Arc;

use crate::system::System;
use throng_model::table::Table;
use throng_model::{Bystanders, Config, Local, Model, Shared};

/// A local/global state machine that a program may refine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// States and steps.
    pub table: Arc<Table>,
    /// The initial shared state.
    pub start: Shared,
    /// The local states in which threads of the program start.
    pub roles: Vec<Local>,
    /// Maximum number of threads in these; `None` if there may be any number.
    pub most: Option<u32>,
    /// Shared states, each with its condition on a program's shared variables.
    pub conditions: Vec<(Shared, String)>,
}

impl Machine {
    /// Returns the machine that a system is, for threads that start in one of the local states with
    /// these names, or, if there are no names, wherever any number of threads starts.
    pub fn of(system: &System, roles: &[String]) -> Result<Machine, String> {
        let one_thread = |s: &&throng_model::Step| {
            s.take.size() == 1 && s.put.size() == 1 && s.spawn.is_empty() && s.others == Bystanders::Stay
        };
        let table = &system.table;
        if let Some(other) = table.steps().iter().find(|s| !one_thread(s)) {
            let line = throng_model::Describe::edge_place(&**table, other.edge).line;
            return Err(format!("a machine has edges `s l -> s' l'` only, and line {line} is another"));
        }
        let [family] = &system.initial[..] else {
            return Err("a machine starts in one way: `init` occurs once".into());
        };
        if system.meanings.is_empty() {
            return Err("the machine does not say what its shared states stand for: write lines \
                        `means STATE CONDITION`"
                .into());
        }
        let named = |name: &String| {
            let found = (0..table.locals().len()).find(|&l| table.locals().name(l) == *name);
            found.map(Local).ok_or_else(|| format!("the machine has no local state `{name}`"))
        };
        let mut roles: Vec<Local> = roles.iter().map(named).collect::<Result<_, _>>()?;
        if roles.is_empty() {
            roles.clone_from(&family.any);
        }
        roles.sort_unstable();
        roles.dedup();
        let most = match roles[..] {
            [] => {
                return Err("any number of threads starts in no local state: say in which one the \
                              threads of the program start"
                    .into());
            }
            _ if roles.iter().all(|l| family.any.contains(l)) => None,
            [one] if family.threads.count(one) > 0 => Some(family.threads.count(one)),
            _ => {
                return Err("threads of the program start in one local state of `init`, or in some \
                             behind its `/`"
                    .into());
            }
        };
        let conditions = system.meanings.iter().map(|(s, part)| (*s, part.text.clone())).collect();
        Ok(Machine { table: table.clone(), start: family.shared, roles, most, conditions })
    }
}

/// The values of a program's shared variables that the shared states of a machine stand for, as
/// sets of a model of the program.
pub struct Meanings {
    /// A shared state of the machine, or none, and values, outside and inside of atomic sections.
    /// The values of different states are disjoint.
    parts: Vec<(Option<Shared>, [Shared; 2])>,
}

impl Meanings {
    /// Returns the meanings in a model of the program, given by the configurations in which an
    /// expression over the shared variables is false.
    pub fn new(
        machine: &Machine,
        model: &dyn Model,
        falsify: &dyn Fn(&str) -> Result<Vec<Config>, String>,
    ) -> Result<Meanings, String> {
        let sets = model.sets().ok_or("a program has variables")?;
        let both = |config: &Config| {
            let (_, masks) = sets.cubes().shared_cube(config.shared);
            [false, true].map(|inside| sets.cubes().encode_shared(inside, &masks))
        };
        let mut parts: Vec<(Option<Shared>, [Shared; 2])> = Vec::new();
        for (state, condition) in &machine.conditions {
            let name = || machine.table.shared().name(state.0);
            let found = falsify(&format!("!({condition})")).map_err(|why| format!("`{}`: {why}", name()))?;
            for values in found.iter().map(both) {
                let overlaps = |p: &&(Option<Shared>, [Shared; 2])| {
                    p.0 != Some(*state) && model.meets_shared(p.1[0], values[0])
                };
                if let Some((Some(other), _)) = parts.iter().find(overlaps) {
                    let other = machine.table.shared().name(other.0);
                    return Err(format!("`{other}` and `{}` stand for the same values", name()));
                }
                parts.push((Some(*state), values));
            }
        }
        let some: Vec<String> = machine.conditions.iter().map(|(_, e)| format!("({e})")).collect();
        parts.extend(falsify(&some.join(" | "))?.iter().map(|config| (None, both(config))));
        Ok(Meanings { parts })
    }

    /// Returns the values that some state of the machine stands for, with that state, while no
    /// thread is inside an atomic section.
    pub fn outside(&self) -> impl Iterator<Item = (Shared, Shared)> + '_ {
        self.parts.iter().filter_map(|(state, values)| Some(((*state)?, values[0])))
    }

    /// Returns the parts of a set of values that states of the machine stand for, or that none
    /// stands for.
    pub fn parts(&self, model: &dyn Model, values: Shared) -> Vec<(Option<Shared>, Shared)> {
        let inside = usize::from(model.inside_atomic(values));
        let part = |(state, of): &(Option<Shared>, [Shared; 2])| {
            Some((*state, model.meet_shared(of[inside], values)?))
        };
        self.parts.iter().filter_map(part).collect()
    }
}
