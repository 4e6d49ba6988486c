//! A program as the search through executions sees it. A statement is executed by the model itself,
//! in a shared state that holds the value that its read got; nothing is executed twice differently.
//!
//! What is open is filled in with zeros, and of a statement with many outcomes some are left out:
//! every execution is one of the program, and some may be missing.

use super::{Orders, PREFIX};
use crate::bp::Jit;
use crate::bp::expr::{Cube, FREE, ONE, ZERO};
use crate::bp::program::NodeInfo;
use crate::bp::relation::solve_guard;
use crate::source::{LineIndex, Source};
use std::collections::BTreeMap;
use throng_memory::Order;
use throng_memory::graph::Graph;
use throng_memory::program::{Offer, Program, Reading, Value};
use throng_memory::rules::{Kind, Location};
use throng_memory::slices::Instruction;
use throng_model::{Local, Model, Shared, Step};

/// The most outcomes of a statement for one value that are looked at.
const MOST_OUTCOMES: usize = 4;

/// The most locations, so that their initial writes leave room for events.
const MOST_LOCATIONS: usize = 64;

/// The most bits of a location.
const MOST_BITS: usize = 62;

/// A program whose executions can be looked at.
pub struct Executed<'j> {
    jit: &'j Jit,
    /// The shared bits of each location; those of auxiliary variables last.
    bits: Vec<Vec<u32>>,
    names: Vec<String>,
    /// What statements with an order do, by line and column.
    instructions: BTreeMap<(u32, u32), Instruction>,
    threads: usize,
}

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At {
    /// In this local state.
    Running(Local),
    /// At a statement whose assertion is violated: its point.
    Failing(u32),
    /// At the end.
    Ended,
}

impl<'j> Executed<'j> {
    /// The program with this many threads at the entry of `main`; `None` if its executions cannot be
    /// looked at: it has atomic sections, or many locations,
    /// or locations with many bits.
    pub fn new(jit: &'j Jit, orders: &Orders, source: &Source, threads: usize) -> Option<Executed<'j>> {
        let program = jit.program();
        let lines = LineIndex::new(&source.text);
        let at = |(&start, &instruction): (&u32, &Instruction)| (lines.position(start), instruction);
        let groups = &program.groups.shared;
        let of = |name: &str| crate::bp::types::bits_of(name, &program.shared, groups);
        let mut bits: Vec<Vec<u32>> = Vec::new();
        for name in &orders.locations {
            bits.push(of(name)?);
        }
        let auxiliary = (0..program.shared.len() as u32).filter(|i| !bits.iter().any(|b| b.contains(i)));
        bits.push(auxiliary.collect());
        let narrow = bits.iter().all(|b| b.len() <= MOST_BITS) && bits.len() <= MOST_LOCATIONS;
        let names = orders.locations.iter().cloned().chain([format!("{PREFIX}auxiliary")]).collect();
        let whole = narrow && !program.points.iter().any(|point| point.inside);
        let instructions = orders.instructions.iter().map(at).collect();
        whole.then_some(Executed { jit, bits, names, instructions, threads })
    }

    /// The name of a location; `None` of the auxiliary variables.
    pub fn name(&self, location: Location) -> Option<&str> {
        let name = self.names.get(location as usize)?;
        (!name.starts_with(PREFIX)).then_some(name)
    }

    /// What there is to know about a statement, by the number that events call their place.
    pub fn info(&self, site: u32) -> &NodeInfo {
        self.jit.program().info(site)
    }

    /// An execution as a litmus test; `None` if it starts threads. Values are patterns of bits.
    pub fn litmus(&self, graph: &Graph) -> Option<String> {
        let word = |location: Location| {
            let name = self.name(location).unwrap_or("auxiliary");
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
        };
        throng_memory::herd::litmus("execution", graph, &word)
    }

    /// The value of a location as the program shows it.
    pub fn shown(&self, location: Location, value: Value) -> String {
        let program = self.jit.program();
        let mut masks = self.jit.free_shared();
        self.put(location, value, &mut masks);
        let name = &self.names[location as usize];
        let group = program.groups.shared.iter().find(|group| group.name == *name);
        match group {
            Some(group) => {
                let of = |bit: &String| program.shared.iter().position(|v| v.name == *bit);
                let bits = group.bits.iter().map(|bit| of(bit).is_some_and(|i| masks[i] == ONE));
                group.ty.show(bits)
            }
            None => value.to_string(),
        }
    }

    /// The location that stands for all auxiliary variables.
    pub fn auxiliary(&self) -> Location {
        self.bits.len() as Location - 1
    }

    fn put(&self, location: Location, value: Value, masks: &mut Cube) {
        for (i, &bit) in self.bits[location as usize].iter().enumerate() {
            masks[bit as usize] = if value >> i & 1 == 1 { ONE } else { ZERO };
        }
    }

    fn get(&self, location: Location, masks: &[u8]) -> Value {
        let bits = self.bits[location as usize].iter().enumerate();
        bits.fold(0, |value, (i, &bit)| value | Value::from(masks[bit as usize] == ONE) << i)
    }

    fn point(&self, local: Local) -> u32 {
        self.jit.local.head(local.0)
    }

    fn instruction(&self, point: u32) -> Option<&Instruction> {
        let info = self.jit.program().info(point);
        self.instructions.get(&(info.line, info.column))
    }

    /// Returns whether the statement at a point uses auxiliary variables.
    fn uses_auxiliary(&self, point: u32) -> bool {
        let program = self.jit.program();
        let auxiliary = &self.bits[self.bits.len() - 1];
        let edges = program.points[point as usize].edges.iter();
        let assigns = edges.flat_map(|&e| &program.edges[e as usize].effect.assigns);
        let mut written = assigns.filter_map(|(var, _)| match var {
            crate::bp::expr::Var::Shared(i) => Some(i),
            _ => None,
        });
        program.points[point as usize].reads.iter().any(|i| auxiliary.contains(i))
            || written.any(|i| auxiliary.contains(i))
    }

    /// The shared state in which a location has a value.
    fn with(&self, location: Option<(Location, Value)>) -> Shared {
        let mut masks = self.jit.free_shared();
        if let Some((location, value)) = location {
            self.put(location, value, &mut masks);
        }
        self.jit.encode_shared(false, &masks)
    }

    fn steps(&self, shared: Shared, local: Local) -> Vec<Step> {
        let mut steps = Vec::new();
        // What is not listed is missing, which is allowed here.
        let _ = self.jit.post(shared, local, &mut steps);
        steps
    }

    /// Returns whether the assertion at a point can be violated in this state.
    fn fails(&self, shared: Shared, local: Local) -> bool {
        let (point, slots) = self.jit.local.decode(local.0);
        let Some(condition) = &self.jit.program().points[point as usize].assertion else { return false };
        let mut found = Vec::new();
        solve_guard(condition, false, self.jit.shared.decode(shared.0).1, slots, &mut found);
        !found.is_empty()
    }

    fn after(step: &Step) -> At {
        step.put.entries().first().map_or(At::Ended, |entry| At::Running(entry.0))
    }

    /// What a statement does that no other thread sees.
    fn on_its_own(&self, local: Local) -> Vec<Offer<At>> {
        let shared = self.with(None);
        if self.fails(shared, local) {
            return vec![Offer::Fail { site: self.point(local) }];
        }
        let offer = |step: Step| match step.spawn.entries().first() {
            Some(child) => Offer::Create { child: At::Running(child.0), next: Executed::after(&step) },
            None => Offer::Local(Executed::after(&step)),
        };
        self.steps(shared, local).into_iter().map(offer).collect()
    }

    fn read_of(&self, location: Location, site: u32) -> Vec<Offer<At>> {
        (0..MOST_OUTCOMES).map(|instruction| Offer::Read { location, instruction, site }).collect()
    }
}

impl Program for Executed<'_> {
    type State = At;

    fn threads(&self) -> Vec<At> {
        let family = self.jit.initial(Some(1));
        let start = family.threads.entries().first().map_or(At::Ended, |entry| At::Running(entry.0));
        vec![start; self.threads]
    }

    fn initial(&self, location: Location) -> Value {
        let masks: Vec<u8> = self.jit.program().shared.iter().map(|v| v.initial).collect();
        debug_assert!(masks.iter().all(|&mask| mask <= FREE));
        self.get(location, &masks)
    }

    fn offers(&self, state: &At) -> Vec<Offer<At>> {
        let local = match *state {
            At::Running(local) => local,
            At::Failing(site) => return vec![Offer::Fail { site }],
            At::Ended => return Vec::new(),
        };
        let site = self.point(local);
        let Some(instruction) = self.instruction(site) else {
            return match self.uses_auxiliary(site) {
                true => self.read_of(self.auxiliary(), site),
                false => self.on_its_own(local),
            };
        };
        let (location, order) = (instruction.access.location, instruction.access.order);
        match instruction.access.kind {
            Kind::Fence => {
                let steps = self.steps(self.with(None), local);
                steps.iter().map(|s| Offer::Fence { order, site, next: Executed::after(s) }).collect()
            }
            Kind::Store if self.fails(self.with(None), local) => vec![Offer::Fail { site }],
            Kind::Store => {
                let store = |step: Step| {
                    let value = self.get(location, &self.jit.shared.decode(step.to.0).1);
                    Offer::Store { location, value, order, site, next: Executed::after(&step) }
                };
                self.steps(self.with(None), local).into_iter().map(store).collect()
            }
            Kind::Load | Kind::Update => self.read_of(location, site),
        }
    }

    fn read(&self, state: &At, number: usize, value: Value) -> Option<Reading<At>> {
        let At::Running(local) = *state else { return None };
        let site = self.point(local);
        let (location, order, writes) = match self.instruction(site) {
            Some(i) => (i.access.location, i.access.order, i.access.kind == Kind::Update),
            None => (self.auxiliary(), Order::Relaxed, true),
        };
        let shared = self.with(Some((location, value)));
        let written = |value| writes.then_some(value);
        if self.fails(shared, local) {
            let failing = Reading { order, writes: written(value), next: At::Failing(site) };
            return (number == 0).then_some(failing);
        }
        let step = self.steps(shared, local).into_iter().nth(number)?;
        let new = self.get(location, &self.jit.shared.decode(step.to.0).1);
        Some(Reading { order, writes: written(new), next: Executed::after(&step) })
    }
}
