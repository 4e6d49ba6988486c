//! The goto program as a graph: between two points at which other threads may move lies a path, and
//! a path is one guard and one parallel assignment over the variables before it.

use rustc_hash::{FxHashMap, FxHashSet};
use throng_goto::program::{Expr, Instr, Int, Program, Start, Violation, next};

use super::copies::{Copies, copies};
use super::predicate::rename;
use super::tallies::{Counted, Tally};
use super::variables::{INPUT, Variables};

mod paths;

use self::paths::Builder;

/// A point at which threads may take turns, or at which paths meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The template.
    pub template: usize,
    /// The next instruction.
    pub pc: usize,
    /// Whether no other thread moves here.
    pub atomic: bool,
}

/// Where a path leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum To {
    /// To a place, by number.
    Place(usize),
    /// Into a violation, or, if there is none, into what is not defined or not modelled.
    Fail(Option<Violation>, String),
    /// To the end of the thread.
    End,
}

/// A path.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it begins, by number.
    pub from: usize,
    /// Where it leads.
    pub to: To,
    /// What holds before it.
    pub guard: Vec<Expr>,
    /// The variables that it changes, and their values, over the variables before it. Those of
    /// another template are of the thread that it starts.
    pub updates: Vec<(u32, Expr)>,
    /// Templates of threads that it starts.
    pub starts: Vec<usize>,
    /// The types of its inputs.
    pub inputs: Vec<Int>,
    /// Inputs that are read from arrays: the variable for any element, and the input (see
    /// `elements.rs`).
    pub reads: Vec<(u32, u32)>,
    /// Its instructions.
    pub path: Vec<usize>,
}

impl Edge {
    /// The type of a variable or input in it.
    pub fn ty(&self, variables: &Variables, id: u32) -> Int {
        match id.checked_sub(INPUT) {
            Some(n) => self.inputs.get(n as usize).copied().unwrap_or(Int::new(8, true)),
            None => variables.ty(id),
        }
    }
}

/// The graph of a program.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The variables.
    pub variables: Variables,
    /// The places.
    pub places: Vec<Place>,
    /// The paths between them.
    pub edges: Vec<Edge>,
    /// What the shared variables are at the start.
    pub initial: Edge,
    /// Whether it is taken for granted that computed accesses stay inside their objects.
    pub trusts: bool,
    /// Whether what is read at a computed place of a small array is open, though its parts are
    /// variables.
    pub summarises: bool,
    /// Whether threads are counted.
    pub counts: bool,
    /// How many threads are at places.
    pub tallies: Vec<Counted>,
    /// Shared variables that are taken not to count past the end of their types.
    pub bounded: Vec<u32>,
    /// For each place, variables that are equal to others there, or to addresses that are computed
    /// from others; no path speaks of them.
    pub copies: Vec<Vec<(u32, Expr)>>,
    /// The numbers in the guards and assignments of paths.
    pub constants: FxHashSet<i64>,
    /// For each template the place at which its threads begin, and what its variables are there.
    pub entries: Vec<(usize, Edge)>,
}

/// Returns whether this kind of violation can be ruled out by abstraction. Memory errors are among
/// what is not defined, which is always ruled out.
pub fn is_proved(v: &Violation) -> bool {
    matches!(v, Violation::Assertion | Violation::Exclusion(_) | Violation::Memory)
}

/// Maximum number of edges.
const MOST_EDGES: usize = 4000;

/// How accesses with computed addresses are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// It is taken for granted that an access that is computed from one object is inside of it;
    /// else, being outside is a failure.
    pub trusting: bool,
    /// An access to an array is not one to each of its parts, however few they are: what is read is
    /// open, and all parts are when it is written.
    pub summarising: bool,
    /// Threads are counted (see `counting.rs`).
    pub counting: bool,
}

impl Graph {
    /// The graph of a program; `Err` says what is in the way. [`Graph::trusts`] and
    /// [`Graph::summarises`] say whether the reading matters.
    pub fn of(program: &Program, reading: Reading) -> Result<Graph, String> {
        let variables = Variables::of(program)?;
        if !program.asked.iter().all(is_proved) {
            return Err(
                "only assertions, labels, exclusion and memory safety are proved by abstraction".into()
            );
        }
        if reading.trusting && program.asked.contains(&Violation::Memory) {
            return Err("that accesses stay inside their objects is what is asked".into());
        }
        let shared = |id: &u32| variables.list[*id as usize].template.is_none();
        let initial = start_edge(&variables, shared);
        let mut builder = Builder {
            program,
            cuts: (0..program.templates.len()).map(|t| loop_heads(&program.templates[t].code)).collect(),
            numbers: FxHashMap::default(),
            places: Vec::new(),
            edges: Vec::new(),
            joined: vec![false; program.templates.len()],
            copies: (0..program.templates.len()).map(|t| copies(program, &variables, t)).collect(),
            variables: &variables,
            reading,
            trusted: false,
            summarised: false,
        };
        let entries = (0..program.templates.len()).map(|template| {
            let of = |id: &u32| variables.list[*id as usize].template == Some(template);
            let place = builder.number(Place { template, pc: 0, atomic: false });
            (place, start_edge(&variables, of))
        });
        let entries: Vec<(usize, Edge)> = entries.collect();
        let mut done = 0;
        while done < builder.places.len() {
            builder.paths(done)?;
            done += 1;
            if builder.edges.len() > MOST_EDGES {
                return Err(format!("there are more than {MOST_EDGES} paths between visible steps"));
            }
        }
        let (trusts, summarises) = (builder.trusted, builder.summarised);
        let (places, edges) = (builder.places, builder.edges);
        let mut constants = FxHashSet::default();
        for e in edges.iter().chain([&initial]).chain(entries.iter().map(|e| &e.1)) {
            for x in e.guard.iter().chain(e.updates.iter().map(|u| &u.1)) {
                x.constants(&mut |c| {
                    constants.insert(c);
                });
            }
        }
        let copies = places.iter().map(|p| copied(&builder.copies, &variables, p)).collect();
        let counts = false;
        let mut graph = Graph {
            places,
            edges,
            initial,
            entries,
            variables,
            trusts,
            summarises,
            counts,
            tallies: Vec::new(),
            bounded: Vec::new(),
            constants,
            copies,
        };
        graph.counts = reading.counting && super::counting::count(program, &mut graph);
        Ok(graph)
    }

    /// The same graph with tallies (see [`super::tallies`]).
    pub fn with_tallies(mut self, program: &Program, tallies: &[Tally]) -> Result<Graph, String> {
        super::tallies::count(program, &mut self, tallies)?;
        Ok(self)
    }

    /// The same graph where counters do not reach the end of their types (see `super::bounds`);
    /// `None`: there are no such counters.
    pub fn with_bounds(mut self, program: &Program) -> Option<Graph> {
        self.bounded = super::bounds::bound(program, &mut self);
        (!self.bounded.is_empty()).then_some(self)
    }

    /// Returns whether a variable is a tally.
    pub fn is_tally(&self, id: u32) -> bool {
        self.tallies.iter().any(|t| t.variable == id)
    }

    /// The reading, as far as it matters.
    pub fn reading(&self) -> Reading {
        Reading { trusting: self.trusts, summarising: self.summarises, counting: self.counts }
    }

    /// The templates that threads run at the start, and whether any number of them does.
    pub fn first(program: &Program) -> (Vec<usize>, bool) {
        match &program.start {
            Start::One(t) => (vec![*t], false),
            Start::Any(list) => (list.clone(), true),
        }
    }
}

/// Variables get their initial values, or any.
fn start_edge(variables: &Variables, which: impl Fn(&u32) -> bool) -> Edge {
    let mut inputs = Vec::new();
    let ids = (0..variables.list.len() as u32).filter(which);
    let updates = ids.map(|id| match variables.list[id as usize].initial {
        Some(v) => (id, Expr::Const(v)),
        None => {
            inputs.push(variables.ty(id));
            (id, Expr::Reg(INPUT + inputs.len() as u32 - 1))
        }
    });
    let updates = updates.collect();
    let (guard, starts, reads, path) = (vec![], vec![], vec![], vec![]);
    Edge { from: 0, to: To::Place(0), guard, updates, starts, inputs, reads, path }
}

/// The copies at a place, as variables.
fn copied(all: &[Vec<Copies>], v: &Variables, place: &Place) -> Vec<(u32, Expr)> {
    let at = &all[place.template][place.pc];
    let variable = |r| v.register(place.template, r);
    at.iter().map(|(&r, of)| (variable(r), rename(of, &variable))).collect()
}

/// Instructions that a loop comes back to.
fn loop_heads(code: &[Instr]) -> FxHashSet<usize> {
    let mut heads = FxHashSet::default();
    let (mut seen, mut open) = (vec![false; code.len()], vec![false; code.len()]);
    let mut stack = vec![(0usize, 0usize)];
    if let Some(first) = seen.first_mut() {
        (*first, open[0]) = (true, true);
    }
    while let Some((pc, child)) = stack.pop() {
        match next(code, pc).get(child) {
            None => open[pc] = false,
            Some(&to) => {
                stack.push((pc, child + 1));
                if to >= code.len() {
                    continue;
                }
                if open[to] {
                    heads.insert(to);
                } else if !seen[to] {
                    (seen[to], open[to]) = (true, true);
                    stack.push((to, 0));
                }
            }
        }
    }
    heads
}
