//! The variables that a thread reads and writes now and later: the four sets of Boom, section 7.3,
//! for each point.
//!
//! # Bits
//!
//! Each shared variable has a bit, and so has each thread variable that some statement with `$`
//! accesses in *other* threads, and the set of waiting threads. With more than 63 of them several
//! share a bit, which only makes sets larger.
//!
//! # Reads and writes
//!
//! A statement that may refuse to execute (`assume`, `constrain`) writes every variable it
//! mentions: it restricts their values, and so may disable others (the paper's listing 1). A branch
//! does not: one of its two edges is always enabled.
//!
//! # Threads that never go first
//!
//! Executing an assertion, creating or ending a thread, entering an atomic section, waking others
//! and accessing others' variables are always visible, regardless of the sets. So is one point of
//! every cycle of invisible points: otherwise a thread in such a cycle would keep the others from
//! ever moving.

use super::expr::{Expr, Var};
use super::{Edge, EdgeKind, Effect, Program};
use throng_model::Footprint;

/// The bit of the set of waiting threads.
const WAITERS: u64 = 1 << 63;

/// A variable of a thread that others may access: thread-local, or of a function.
type Passive = (Option<usize>, usize);

/// Returns the footprint of each point.
pub fn footprints(program: &Program) -> Vec<Footprint> {
    let bits = Bits::new(program);
    let mut found: Vec<Footprint> = (0..program.points.len() as u32).map(|p| bits.now(p)).collect();
    look_ahead(program, &mut found);
    break_cycles(program, &mut found);
    found
}

/// Returns the bits of the shared variables that are not open.
pub fn shared_bits(is_open: impl Iterator<Item = bool>) -> u64 {
    is_open.enumerate().filter(|o| !o.1).fold(0, |bits, (i, _)| bits | bit(i))
}

fn bit(variable: usize) -> u64 {
    1 << (variable % 63)
}

/// The bit of each variable.
struct Bits<'p> {
    program: &'p Program,
    passive: Vec<Passive>,
    spawns: bool,
}

impl<'p> Bits<'p> {
    fn new(program: &'p Program) -> Bits<'p> {
        let mut bits = Bits { program, passive: Vec::new(), spawns: program.spawns() };
        let mut passive = Vec::new();
        for others in program.edges.iter().filter_map(|e| e.effect.others.as_deref()) {
            let mut see = |i: u32| passive.push(bits.passive_variable(others.function, i));
            others.assigns.iter().for_each(|a| see(a.0));
            for e in others.guards.iter().map(|g| &g.0).chain(others.assigns.iter().map(|a| &a.1)) {
                e.each_var(&mut |v| each_other(v, &mut see));
            }
            others.constraints.iter().for_each(|e| e.each_var(&mut |v| each_other(v, &mut see)));
        }
        passive.sort_unstable();
        passive.dedup();
        bits.passive = passive;
        bits
    }

    /// Returns the variable that a statement with `$` in `function` calls variable `i` of its view.
    fn passive_variable(&self, function: usize, i: u32) -> Passive {
        let i = i as usize;
        match i.checked_sub(self.program.thread_locals.len()) {
            None => (None, i),
            Some(v) => (Some(function), v),
        }
    }

    fn passive_bit(&self, variable: Passive) -> u64 {
        let position = self.passive.iter().position(|&p| p == variable);
        position.map_or(0, |i| bit(self.program.shared.len() + i))
    }

    /// Returns the bit of a slot of a thread at `point`.
    fn slot(&self, point: u32, slot: usize) -> u64 {
        if slot < self.program.thread_locals.len() {
            return self.passive_bit((None, slot));
        }
        let mut at = Some(self.program.points[point as usize].instance);
        while let Some(i) = at {
            let instance = &self.program.instances[i];
            let size = self.program.functions[instance.function].variables.len();
            if (instance.base..instance.base + size).contains(&slot) {
                return self.passive_bit((Some(instance.function), slot - instance.base));
            }
            at = instance.caller.map(|c| c.0);
        }
        0
    }

    fn variable(&self, point: u32, v: &Var) -> u64 {
        match *v {
            Var::Shared(i) => bit(i as usize),
            Var::Local(slot) => self.slot(point, slot as usize),
            Var::New(_) | Var::Other(_) | Var::OtherNew(_) => 0,
        }
    }

    fn mentioned(&self, point: u32, e: &Expr) -> u64 {
        let mut bits = 0;
        e.each_var(&mut |v| bits |= self.variable(point, v));
        bits
    }

    /// Returns the footprint of the next step of a thread at `point`.
    fn now(&self, point: u32) -> Footprint {
        let p = &self.program.points[point as usize];
        let mut found = Footprint { place: point, goes_first: !p.edges.is_empty(), ..Footprint::default() };
        let branch = is_branch(self.program, &p.edges);
        for &e in &p.edges {
            let edge = &self.program.edges[e as usize];
            self.effect(point, &edge.effect, branch, &mut found);
            if edge.to.is_some_and(|to| self.program.points[to as usize].woken.is_some()) {
                found.writes |= WAITERS;
            }
            if matches!(edge.kind, EdgeKind::Signal | EdgeKind::Broadcast) {
                found.reads |= WAITERS;
                found.writes |= WAITERS;
            }
            found.goes_first &= !self.is_visible(edge);
        }
        if let Some(condition) = &p.assertion {
            found.reads |= self.mentioned(point, condition);
            found.goes_first = false;
        }
        found
    }

    fn effect(&self, point: u32, effect: &Effect, branch: bool, found: &mut Footprint) {
        let mut read = 0;
        let guards: u64 = effect.guards.iter().fold(0, |bits, g| bits | self.mentioned(point, &g.0));
        read |= guards;
        for (place, e) in &effect.assigns {
            read |= self.mentioned(point, e);
            found.writes |= self.variable(point, place);
        }
        effect.constraints.iter().for_each(|e| read |= self.mentioned(point, e));
        if !effect.constraints.is_empty() || effect.others.is_some() {
            found.writes |= read;
        }
        if !branch {
            found.writes |= guards;
        }
        found.reads |= read;
        let Some(others) = effect.others.as_deref() else { return };
        let mut theirs = 0;
        let mut see = |i: u32| theirs |= self.passive_bit(self.passive_variable(others.function, i));
        others.assigns.iter().for_each(|a| see(a.0));
        for e in others.guards.iter().map(|g| &g.0).chain(others.assigns.iter().map(|a| &a.1)) {
            e.each_var(&mut |v| each_other(v, &mut see));
        }
        others.constraints.iter().for_each(|e| e.each_var(&mut |v| each_other(v, &mut see)));
        found.reads |= theirs;
        found.writes |= theirs;
    }

    /// Returns whether an edge is visible to others regardless of the variables it accesses.
    fn is_visible(&self, edge: &Edge) -> bool {
        let Some(to) = edge.to else { return self.spawns || !self.passive.is_empty() };
        let (from, to) = (&self.program.points[edge.from as usize], &self.program.points[to as usize]);
        edge.child.is_some()
            || edge.kind != EdgeKind::Plain
            || (to.inside && !from.inside)
            // A thread with a frame takes part in statements with `$`.
            || (from.instance != to.instance && !self.passive.is_empty())
    }
}

fn each_other(v: &Var, see: &mut dyn FnMut(u32)) {
    if let Var::Other(i) = v {
        see(*i);
    }
}

/// Returns whether the edges are the two of a branch: one of them is always enabled.
fn is_branch(program: &Program, edges: &[u32]) -> bool {
    let guard = |e: u32| match &program.edges[e as usize].effect {
        Effect { guards, others: None, .. } => match &guards[..] {
            [one] => Some(one),
            _ => None,
        },
        _ => None,
    };
    match *edges {
        [a, b] => guard(a).zip(guard(b)).is_some_and(|(a, b)| a.0 == b.0 && a.1 != b.1),
        _ => false,
    }
}

/// Computes the sets of later accesses, as a fixpoint.
fn look_ahead(program: &Program, found: &mut [Footprint]) {
    for f in found.iter_mut() {
        (f.later_reads, f.later_writes) = (f.reads, f.writes);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for p in (0..found.len()).rev() {
            let point = &program.points[p];
            let edges = point.edges.iter().map(|&e| &program.edges[e as usize]);
            let next = edges.flat_map(|e| [e.to, e.child]).chain([point.woken]).flatten();
            let (mut reads, mut writes) = (found[p].later_reads, found[p].later_writes);
            for n in next {
                reads |= found[n as usize].later_reads;
                writes |= found[n as usize].later_writes;
            }
            changed |= (reads, writes) != (found[p].later_reads, found[p].later_writes);
            (found[p].later_reads, found[p].later_writes) = (reads, writes);
        }
    }
}

/// Searches depth-first for cycles: a point that closes one does not go first.
fn break_cycles(program: &Program, found: &mut [Footprint]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; found.len()];
    for root in 0..found.len() {
        if marks[root] != Mark::New || !found[root].goes_first {
            continue;
        }
        marks[root] = Mark::Open;
        let mut stack = vec![(root, 0)];
        while let Some((p, next)) = stack.last_mut() {
            let Some(&e) = program.points[*p].edges.get(*next) else {
                marks[*p] = Mark::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            let Some(to) = program.edges[e as usize].to.map(|to| to as usize) else { continue };
            match marks[to] {
                Mark::New if found[to].goes_first => {
                    marks[to] = Mark::Open;
                    stack.push((to, 0));
                }
                Mark::Open => found[to].goes_first = false,
                Mark::New | Mark::Done => {}
            }
        }
    }
}
