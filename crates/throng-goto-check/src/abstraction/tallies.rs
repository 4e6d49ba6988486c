//! Tallies: how many threads are at some places. A tally is a variable that no thread sees; it is
//! exact by construction, for any number of threads.
//!
//! Each step of a thread from a place of the tally to one that is not makes it one smaller, each
//! step the other way, and each start of a thread at a place of it, one larger. A thread at one of
//! the places counts itself, so a step from there is made only where the tally is at least 1, and
//! beside another thread that is counted, where it is at least 2. The paths say so in their guards.
//! That a variable of the program is a sum of tallies (`readers == #(reading)`) is then a comparison
//! like every other one, which is shown for each step; what follows from it, that a counter is
//! positive where a thread is counted, or that no thread is counted where it is 0, is arithmetic.
//!
//! Threads that end may stay in a tally, by the path on which they end: those that are stuck.
//!
//! A tally has 64 bits, and variables of programs may have fewer. That there are less than
//! [`MOST_THREADS`] threads at a time is taken for granted, and said beside the proof
//! (`Assumption::FewThreads`); of threads that have ended there may be as many as the numbers that
//! no program counts to.

use serde::{Deserialize, Serialize};
use throng_goto::program::{BinOp, Expr, Instr, Int, Program};

use super::graph::{Edge, Graph, To};

/// Fewer threads than that exist at a time.
pub const MOST_THREADS: i64 = 1 << 24;
/// Fewer threads than that are ever started.
const MOST_EVER: i64 = 1 << 60;
const WIDE: Int = Int::new(8, true);

/// What is counted: threads at some places.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// What people call it.
    pub name: String,
    /// Places by number.
    pub at: Vec<usize>,
    /// Paths by number on which threads end that stay in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<usize>,
}

/// A tally and its variable in a graph.
#[derive(Clone, Debug)]
pub struct Counted {
    /// What is counted.
    pub tally: Tally,
    /// The variable.
    pub variable: u32,
    /// For each place, whether it is counted.
    at: Vec<bool>,
}

impl Counted {
    /// Returns whether threads at a place are counted.
    pub fn has(&self, place: usize) -> bool {
        self.at.get(place).copied().unwrap_or(false)
    }
}

/// Adds tallies to a graph. `Err`: one of them is about a place or path that does not exist, or its
/// value at the start is not known.
pub fn count(program: &Program, graph: &mut Graph, tallies: &[Tally]) -> Result<(), String> {
    for tally in tallies {
        let mut at = vec![false; graph.places.len()];
        for &p in &tally.at {
            *at.get_mut(p).ok_or("a tally is about a place that does not exist")? = true;
        }
        let ends = |n: &usize| graph.edges.get(*n).is_some_and(|e| e.to == To::End);
        if !tally.ended.iter().all(ends) {
            return Err("a tally is about a path on which no thread ends".into());
        }
        let (first, any) = Graph::first(program);
        let starting = first.iter().filter(|&&t| at[graph.entries[t].0]).count();
        if any && starting > 0 {
            return Err("a tally counts threads that are there at the start, any number of them".into());
        }
        let variable = graph.variables.counter(tally.name.clone());
        let counted = Counted { tally: tally.clone(), variable, at };
        let most = counted.most(program, graph);
        for n in 0..graph.edges.len() {
            counted.along(graph, n, most);
        }
        graph.initial.updates.push((variable, Expr::Const(starting as i64)));
        graph.tallies.push(counted);
    }
    for e in graph.edges.iter_mut().chain([&mut graph.initial]) {
        e.updates.sort_unstable_by_key(|u| u.0);
    }
    Ok(())
}

/// What two threads at places know together, beside what the first one's path says.
pub fn together(graph: &Graph, p: usize, q: usize) -> Vec<Expr> {
    let known = |c: &Counted| {
        let least = i64::from(c.has(p)) + 1;
        c.has(q).then(|| at_least(c.variable, least))
    };
    graph.tallies.iter().filter_map(known).collect()
}

impl Counted {
    /// The largest value.
    fn most(&self, program: &Program, graph: &Graph) -> i64 {
        let mut templates: Vec<usize> = (graph.places.iter().enumerate())
            .filter(|(p, _)| self.has(*p))
            .map(|(_, place)| place.template)
            .chain(self.tally.ended.iter().map(|&n| graph.places[graph.edges[n].from].template))
            .collect();
        templates.sort_unstable();
        templates.dedup();
        let exists = |n: &usize| is_stuck(program, &graph.edges[*n], graph);
        match templates.iter().all(|&t| program.runs_once(t)) {
            true => templates.len() as i64,
            false if self.tally.ended.iter().all(exists) => MOST_THREADS,
            false => MOST_EVER,
        }
    }

    /// Says what a path does to the tally, and what is known of it before.
    fn along(&self, graph: &mut Graph, n: usize, most: i64) {
        let after = self.after(graph, n);
        let e = &mut graph.edges[n];
        e.guard.push(at_least(self.variable, i64::from(self.at[e.from])));
        e.guard.push(compare(BinOp::Le, Expr::Reg(self.variable), Expr::Const(most)));
        let change = after - i64::from(self.at[e.from]);
        if change != 0 {
            let sum = (Box::new(Expr::Reg(self.variable)), Box::new(Expr::Const(change)));
            e.updates.push((self.variable, Expr::Bin(BinOp::Add, sum.0, sum.1, WIDE)));
        }
    }

    /// How many of the thread that moves and those that it starts are counted afterwards.
    fn after(&self, graph: &Graph, n: usize) -> i64 {
        let e: &Edge = &graph.edges[n];
        let stays = match e.to {
            To::Place(p) => self.at[p],
            To::End => self.tally.ended.contains(&n),
            To::Fail(..) => false,
        };
        let started = e.starts.iter().filter(|&&t| self.at[graph.entries[t].0]).count();
        i64::from(stays) + started as i64
    }
}

/// Returns whether a path ends because its thread waits forever: such a thread still exists.
fn is_stuck(program: &Program, e: &Edge, graph: &Graph) -> bool {
    let code = &program.templates[graph.places[e.from].template].code;
    e.path.last().and_then(|&pc| code.get(pc)).is_some_and(|i| matches!(i, Instr::Assume(_)))
}

fn at_least(variable: u32, least: i64) -> Expr {
    compare(BinOp::Le, Expr::Const(least), Expr::Reg(variable))
}

fn compare(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Bin(op, Box::new(a), Box::new(b), WIDE)
}
