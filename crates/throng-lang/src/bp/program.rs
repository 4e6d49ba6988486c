//! The control-flow graph of a whole program: calls inlined, one point per statement and call
//! context.
//!
//! # Slots
//!
//! A thread's variables live in *slots*: the thread-local ones first, then a frame for each active
//! call, stacked. Calls that cannot be active together share slots; a slot that no active frame
//! uses holds 0, so that equal states have equal codes.
//!
//! # Effects
//!
//! The effect of a statement on one thread is an [`Effect`]: guards over old values, a parallel
//! assignment, constraints over old and new ones, and the same for each bystander. Entering a call,
//! returning and ending are effects too (they assign slots), so the front end needs only one
//! solver.

pub mod access;
pub mod expr;
pub mod live;
pub mod waiting;

use self::expr::{Cube, Expr, FREE, Var, ZERO};
use super::lower::Globals;
use super::types::Groups;
use throng_model::Model;
pub use throng_model::cubes::Cubes;

/// A model whose states are cubes over the variables of a program, so that states can be decoded
/// and encoded.
pub trait Coded: Cubes {
    /// Returns the program.
    fn program(&self) -> &Program;

    /// Returns whether a thread that has ended stays, at point `program().points.len()`.
    fn keeps_ended(&self) -> bool;
}

/// Returns the program of a model, if it has one.
pub fn program_of(model: &dyn Model) -> Option<&dyn Coded> {
    model.sets()?.as_any().downcast_ref::<super::jit::Jit>().map(|jit| jit as &dyn Coded)
}

/// A variable and its possible initial values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name; a parameter hidden by a local has one that cannot be written in a program.
    pub name: String,
    /// Mask of its possible initial values.
    pub initial: u8,
}

/// A point where a thread can be: a statement in a call context.
#[derive(Clone, Debug)]
pub struct Point {
    /// The function, index into [`Program::functions`].
    pub function: usize,
    /// The node of that function.
    pub node: usize,
    /// Index into [`Program::instances`].
    pub instance: usize,
    /// True if it is inside an atomic section.
    pub inside: bool,
    /// Edges that leave it.
    pub edges: Vec<u32>,
    /// If it is a `wait`: the point after it.
    pub woken: Option<u32>,
    /// If it is a `wait`: the condition, 0 if it has no name.
    pub condition: u32,
    /// If it is an `assert`, its condition; and the check that numbers stay in their ranges and
    /// indices in their arrays.
    pub assertion: Option<Expr>,
    /// The shared variables that the text of its statement reads, whether or not an edge depends on
    /// them.
    pub reads: Vec<u32>,
}

/// A function in a call context.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The function.
    pub function: usize,
    /// Slot of its first variable.
    pub base: usize,
    /// The instance and the call node it was called from; none for `main` and for started
    /// functions.
    pub caller: Option<(usize, usize)>,
}

/// One way to leave a point.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The point it leaves.
    pub from: u32,
    /// The point to which the thread moves; none if it ends.
    pub to: Option<u32>,
    /// The point at which a new thread starts.
    pub child: Option<u32>,
    /// Its effect on variables.
    pub effect: Effect,
    /// Its effect on bystanders besides their variables.
    pub kind: EdgeKind,
    /// The condition that it signals, 0 if it has no name.
    pub condition: u32,
}

/// The effect of an edge on other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    /// Not at all.
    Plain,
    /// It reads or writes variables of every other thread that takes part ([`Effect::others`]).
    Passive,
    /// It wakes one thread that waits for its condition.
    Signal,
    /// It wakes all threads that wait for its condition.
    Broadcast,
}

/// A relation between values before and after a step.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// Expressions that must be able to take these values.
    pub guards: Vec<(Expr, bool)>,
    /// Parallel assignment to [`Var::Shared`] and [`Var::Local`] variables; the i-th new value is
    /// [`Var::New`]`(i)`.
    pub assigns: Vec<(Var, Expr)>,
    /// Expressions over old and new values that must be able to be 1.
    pub constraints: Vec<Expr>,
    /// Variables that must be fixed to one value first, because another thread reads them too.
    pub resolve: Vec<Var>,
    /// For each assigned variable, true if a constraint or a bystander reads its new value.
    pub new_is_read: Vec<bool>,
    /// The effect on each bystander that takes part.
    pub others: Option<Box<BystanderEffect>>,
}

/// The effect of a statement with `x$` on each bystander.
#[derive(Clone, Debug)]
pub struct BystanderEffect {
    /// The function of which a thread must have an activation to take part; if none, all threads
    /// do.
    pub frame_of: Option<usize>,
    /// The function whose variables follow the thread-local ones in the view.
    pub function: usize,
    /// As in [`Effect`], with [`Var::Other`] and [`Var::OtherNew`] besides.
    pub guards: Vec<(Expr, bool)>,
    /// Index into the view, and the value.
    pub assigns: Vec<(u32, Expr)>,
    /// As in [`Effect`].
    pub constraints: Vec<Expr>,
    /// The variables of the active thread whose old values are read, in the order of the bits of a
    /// step's `choice`.
    pub reads: Vec<Var>,
    /// For each assigned variable, true if a constraint reads its new value.
    pub new_is_read: Vec<bool>,
}

/// The parts of a function that points refer to.
#[derive(Clone, Debug)]
pub struct FunctionInfo {
    /// Its name.
    pub name: String,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// The descriptions of its nodes.
    pub nodes: Vec<NodeInfo>,
}

/// The description of a statement, for messages.
#[derive(Clone, Debug)]
pub struct NodeInfo {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The statement on one line.
    pub text: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Its C location.
    pub origin: Option<String>,
}

/// The whole program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Shared variables.
    pub shared: Vec<Variable>,
    /// Thread-local variables; their slots come first.
    pub thread_locals: Vec<Variable>,
    /// All functions.
    pub functions: Vec<FunctionInfo>,
    /// Call contexts.
    pub instances: Vec<Instance>,
    /// Points.
    pub points: Vec<Point>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// The point where threads start.
    pub entry: u32,
    /// Number of slots of a thread.
    pub slots: usize,
    /// The bits of each variable.
    pub groups: Groups,
    /// Constants, and types of variables.
    pub globals: Globals,
}

impl Program {
    /// Returns the number of slots in use at a point: the thread-local ones and all active frames.
    pub fn used_slots(&self, point: u32) -> usize {
        let instance = &self.instances[self.points[point as usize].instance];
        instance.base + self.functions[instance.function].variables.len()
    }

    /// Returns the slots at `point` if nothing is known: those in use are free, the others 0.
    pub fn free_slots(&self, point: u32) -> Cube {
        let used = self.used_slots(point);
        (0..self.slots).map(|i| if i < used { FREE } else { ZERO }).collect()
    }

    /// Returns the slots of a thread that starts at the entry of `main`.
    pub fn initial_slots(&self) -> Cube {
        let main = &self.instances[self.points[self.entry as usize].instance];
        let variables = self.thread_locals.iter().chain(&self.functions[main.function].variables);
        let mut slots: Cube = variables.map(|v| v.initial).collect();
        slots.resize(self.slots, ZERO);
        slots
    }

    /// Returns the slot of the first variable of `function` for a thread at `point`, if it has an
    /// activation of it.
    pub fn frame(&self, point: u32, function: usize) -> Option<usize> {
        let mut at = Some(self.points[point as usize].instance);
        while let Some(i) = at {
            let instance = &self.instances[i];
            if instance.function == function {
                return Some(instance.base);
            }
            at = instance.caller.map(|c| c.0);
        }
        None
    }

    /// Returns the slots of the variables of a bystander that a passive statement accesses: the
    /// thread-local ones, then those of `others.function`. `None` if the thread does not take part.
    pub fn view(&self, others: &BystanderEffect, point: u32) -> Option<Vec<usize>> {
        let locals = 0..self.thread_locals.len();
        match (self.frame(point, others.function), others.frame_of) {
            (None, Some(_)) => None,
            (None, None) => Some(locals.collect()),
            (Some(base), _) => {
                let frame = base..base + self.functions[others.function].variables.len();
                Some(locals.chain(frame).collect())
            }
        }
    }

    /// Returns the call chain of a point: `main > f`.
    pub fn call_path(&self, point: u32) -> String {
        let mut names = Vec::new();
        let mut at = Some(self.points[point as usize].instance);
        while let Some(i) = at {
            names.push(self.functions[self.instances[i].function].name.as_str());
            at = self.instances[i].caller.map(|c| c.0);
        }
        names.reverse();
        names.join(" > ")
    }

    /// Returns the description of the statement at a point.
    pub fn info(&self, point: u32) -> &NodeInfo {
        let p = &self.points[point as usize];
        &self.functions[p.function].nodes[p.node]
    }

    /// Returns whether some statement starts a thread.
    pub fn spawns(&self) -> bool {
        self.edges.iter().any(|e| e.child.is_some())
    }
}
