//! No deadlock, for any number of threads: a graph of what threads may hold while they wait.
//!
//! If all threads that are left wait, each for a lock that another one holds or for the end of
//! another one, some of them wait for each other in a circle. So there is a circle in the graph
//! whose nodes are locks and ends of threads (a thread holds its own end), with an edge from what a
//! thread may hold to what it waits for, and all its edges belong to different threads that are
//! there at the same time. An order of the nodes in which every thread waits for later ones only
//! rules circles out; where an edge goes back, every circle through it has two edges that exclude
//! each other: both threads hold one lock (a gate), or never run at the same time.
//!
//! A lock is held by a thread that has not ended: words of locks are 0 at the start, become
//! something else only where a lock is taken, and are given back by those that hold them.
//!
//! What a thread may hold are all locks that it has taken and not surely given back. Functions have
//! to be in place of their calls: loops that wait for other threads are looked for inside of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use throng_goto::Program;
use throng_goto::program::{Access, Expr, Instr};
use throng_goto::waiting::possible_waits;

use super::accesses::Touched;
use super::arrivals::Arrived;
use super::facts::{Facts, Held, State, Sum};
use super::inclusion::started;
use super::pairs::Pairs;
use super::points::{Offsets, Pointers, Site};
use super::transfer::Flow;

/// What threads wait for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Node {
    /// Locks at these places, which are not told apart.
    Lock(Site, Offsets),
    /// The end of the threads that start in a template.
    End(u32),
}

/// What is known where a thread waits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Wait {
    /// Template and instruction, and what is held surely.
    at: Touched,
    pc: u32,
    /// The locks that may be held.
    held: BTreeSet<(Site, Offsets)>,
    /// What it waits for.
    locks: Vec<(Site, Offsets)>,
    ends: Vec<u32>,
}

/// What was seen of waiting threads.
#[derive(Default)]
pub(super) struct Waits {
    list: BTreeSet<Wait>,
    /// Why nothing follows from the graph.
    wrong: Option<String>,
}

impl Waits {
    /// Looks at an instruction, given what is known there.
    pub(super) fn look(&mut self, flow: &Flow<'_>, (t, pc): (usize, usize), state: &State) {
        let template = &flow.program.templates[t];
        let why = match &template.code[pc] {
            Instr::Join(e, _) => {
                let ends = match flow.values.threads(t, e) {
                    Some(places) => places.into_iter().filter_map(|p| started(flow.program, p)).collect(),
                    None => flow.values.index.starts.clone(),
                };
                self.add((t, pc), state, Vec::new(), ends)
            }
            Instr::Assume(_) if template.access[pc] == Access::Internal => match template.code.get(pc + 2) {
                Some(Instr::Acquire(e)) if flow.code[t].takes(pc + 2).is_some() => {
                    let places = flow.values.of(t, e);
                    let known = !places.is_empty() && !places.0.contains_key(&Site::Unknown);
                    let why = self.add((t, pc), state, places.all().collect(), Vec::new());
                    if known { why } else { Some("it is not known which lock is taken") }
                }
                _ => Some("a thread waits for something else than a lock"),
            },
            Instr::End(_) | Instr::Return(_) if !state.held.is_empty() => {
                Some("a thread may end with a lock")
            }
            Instr::Call { .. } | Instr::CallPointer { .. } => Some("a function is called"),
            Instr::Load(_, a, _) if flow.may_wait_for_own(t, a) && template.repeats(pc) => {
                Some("a loop may wait for a variable of its own thread, whose address others know")
            }
            _ => None,
        };
        if let (Some(why), None) = (why, &self.wrong) {
            self.wrong = Some(format!("line {}: {why}", flow.program.origin(t, pc).line));
        }
    }

    fn add(
        &mut self,
        (t, pc): (usize, usize),
        state: &State,
        locks: Vec<(Site, Offsets)>,
        ends: Vec<usize>,
    ) -> Option<&'static str> {
        let at = Touched {
            template: t,
            at: Offsets::ANY,
            size: 1,
            writes: false,
            atomic: false,
            address: None,
            owned: None,
            locks: state.locks.clone(),
            alive: state.alive.clone(),
            arrived: Arrived::of(state),
        };
        let held = state.held.iter().map(|h| (h.site, h.at)).collect();
        let ends = ends.into_iter().map(|t| t as u32).collect();
        let section = u32::from(!locks.is_empty());
        self.list.insert(Wait { at, pc: pc as u32, held, locks, ends });
        // What came before in a section of its own has not happened while it waits.
        (state.inside > section).then_some("a thread waits inside an atomic section")
    }
}

/// An edge: a thread that starts in `thread` may hold `from` where it waits for `to`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Edge {
    from: usize,
    to: usize,
    thread: usize,
    wait: usize,
}

/// The graph of a program.
pub(super) struct Graph<'a> {
    pairs: &'a Pairs<'a>,
    waits: Vec<Wait>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// By node, the edges that begin there.
    after: Vec<Vec<usize>>,
}

/// A circle: template and instruction of each wait.
pub type Circle = Vec<(u32, u32)>;

/// Maximum number of steps of the search for circles.
const MOST_STEPS: usize = 200_000;

impl<'a> Graph<'a> {
    /// Returns the graph, or why nothing follows from it.
    pub(super) fn new(program: &Program, pairs: &'a Pairs<'a>, seen: Waits) -> Result<Graph<'a>, String> {
        if let Some(why) = seen.wrong {
            return Err(why);
        }
        if !program.is_flat() {
            return Err("functions are not in place of their calls".into());
        }
        if !possible_waits(program).is_empty() {
            return Err("threads wait in loops".into());
        }
        let waits: Vec<Wait> = seen.list.into_iter().collect();
        if waits.iter().flat_map(|w| &w.locks).any(|at| !pairs.words.keeps_zero(pairs.flow, *at)) {
            return Err("a lock may be taken without a thread that holds it".into());
        }
        let mut graph = Graph { pairs, waits, nodes: Vec::new(), edges: Vec::new(), after: Vec::new() };
        graph.connect();
        Ok(graph)
    }

    fn connect(&mut self) {
        let mut places: BTreeMap<Site, BTreeSet<Offsets>> = BTreeMap::new();
        for (site, at) in self.waits.iter().flat_map(|w| w.locks.iter().chain(&w.held)) {
            places.entry(*site).or_default().insert(*at);
        }
        let node = |(site, at): (Site, Offsets)| {
            let all = &places[&site];
            let alone = all.iter().all(|other| *other == at || !at.overlaps(4, *other, 4));
            let joined = all.iter().copied().reduce(Offsets::joined);
            Node::Lock(site, if alone && at.stride == 0 { at } else { joined.unwrap_or(at) })
        };
        let mut found = BTreeSet::new();
        for (n, wait) in self.waits.iter().enumerate() {
            for &thread in &self.pairs.flow.threads.of[wait.at.template] {
                let own = [Node::End(thread as u32)];
                let from: Vec<Node> = wait.held.iter().map(|at| node(*at)).chain(own).collect();
                let ends = wait.ends.iter().map(|t| Node::End(*t));
                for to in wait.locks.iter().map(|at| node(*at)).chain(ends) {
                    found.extend(from.iter().map(|from| (*from, to, thread, n)));
                }
            }
        }
        let nodes: BTreeSet<Node> = found.iter().flat_map(|e| [e.0, e.1]).collect();
        self.nodes = nodes.into_iter().collect();
        let number = |node: Node| self.nodes.binary_search(&node).unwrap_or_default();
        let edge = |(from, to, thread, wait)| Edge { from: number(from), to: number(to), thread, wait };
        self.edges = found.into_iter().map(edge).collect();
        self.after = vec![Vec::new(); self.nodes.len()];
        for (n, edge) in self.edges.iter().enumerate() {
            self.after[edge.from].push(n);
        }
    }

    /// Returns an order of the nodes in which few edges go back.
    pub(super) fn order(&self) -> Vec<Node> {
        let (mut seen, mut order) = (vec![false; self.nodes.len()], Vec::new());
        for start in 0..self.nodes.len() {
            let mut work = vec![(start, 0)];
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            while let Some((node, next)) = work.pop() {
                let Some(edge) = self.after[node].get(next) else {
                    order.push(self.nodes[node]);
                    continue;
                };
                work.push((node, next + 1));
                let to = self.edges[*edge].to;
                if !std::mem::replace(&mut seen[to], true) {
                    work.push((to, 0));
                }
            }
        }
        order.reverse();
        order
    }

    /// Checks that an order rules deadlocks out; `Err`: a circle that it does not, or why it cannot
    /// be told.
    pub(super) fn check(&self, order: &[Node]) -> Result<(), Result<Circle, String>> {
        let place: BTreeMap<Node, usize> = order.iter().enumerate().map(|(n, node)| (*node, n)).collect();
        let at = |n: usize| place.get(&self.nodes[n]).copied();
        let mut left = MOST_STEPS;
        for (n, edge) in self.edges.iter().enumerate() {
            let (Some(from), Some(to)) = (at(edge.from), at(edge.to)) else {
                return Err(Err("a lock is missing in the order".into()));
            };
            if from < to {
                continue;
            }
            let mut path = vec![n];
            match self.closes(edge.from, &mut path, &mut left) {
                Some(false) => {}
                Some(true) => {
                    let place = |e: &usize| {
                        let wait = &self.waits[self.edges[*e].wait];
                        (wait.at.template as u32, wait.pc)
                    };
                    return Err(Ok(path.iter().map(place).collect()));
                }
                None => return Err(Err("there are too many ways to wait in a circle".into())),
            }
        }
        Ok(())
    }

    /// Returns whether edges whose threads may be there at the same time lead on from a path to a
    /// node. `None`: that takes too long.
    fn closes(&self, goal: usize, path: &mut Vec<usize>, left: &mut usize) -> Option<bool> {
        *left = left.checked_sub(1)?;
        let here = path.last().map(|e| self.edges[*e].to)?;
        if here == goal {
            return Some(true);
        }
        for &next in &self.after[here] {
            let to = self.edges[next].to;
            let again = to != goal && path.iter().any(|e| self.edges[*e].to == to);
            if again || path.iter().any(|e| self.exclude(&self.edges[*e], &self.edges[next])) {
                continue;
            }
            path.push(next);
            if self.closes(goal, path, left)? {
                return Some(true);
            }
            path.pop();
        }
        Some(false)
    }

    /// Returns whether no two threads are where these edges are at the same time.
    fn exclude(&self, a: &Edge, b: &Edge) -> bool {
        let (x, y) = (&self.waits[a.wait].at, &self.waits[b.wait].at);
        !self.pairs.may_meet((a.thread, x), (b.thread, y)) || self.pairs.common(x, y).is_some()
    }

    /// Returns how many instructions wait.
    pub(super) fn waits(&self) -> usize {
        self.waits.iter().map(|w| (w.at.template, w.pc)).collect::<BTreeSet<_>>().len()
    }
}

impl Flow<'_> {
    /// Returns whether what is loaded may be a private variable that other threads write. Loops that
    /// read nothing else are not among the waiting loops, which take such a variable for their own.
    fn may_wait_for_own(&self, t: usize, address: &Expr) -> bool {
        let own = |site: &Site| matches!(site, Site::Private(_) | Site::Local(..));
        self.values.of(t, address).sites().any(|site| own(&site) && self.escaped.contains(&site))
    }

    /// The thread takes a lock: it may hold it from now on.
    pub(super) fn holds_from_now(&self, t: usize, lock: &Expr, before: &State, then: &mut State) {
        if !self.holds {
            return;
        }
        let address = self.address(t, lock, before);
        let mut places = self.values.of(t, lock);
        if places.is_empty() {
            places = Pointers::one(Site::Unknown, Offsets::ANY);
        }
        then.held.extend(places.all().map(|(site, at)| Held { address: address.clone(), site, at }));
    }

    /// The thread gives a lock back.
    pub(super) fn holds_no_more(&self, t: usize, lock: &Expr, before: &State, then: &mut State) {
        let address = self.address(t, lock, before);
        let only = self.values.of(t, lock).single().filter(|(site, _)| self.is_one(*site));
        let only = only.map(|(site, at)| (site, Offsets::one(at)));
        let normal = |sum: &Sum| before.normal(sum);
        let address = address.as_ref().and_then(normal);
        let is_same = |h: &Held| address.is_some() && h.address.as_ref().and_then(normal) == address;
        let same = |h: &Held| is_same(h) || Some((h.site, h.at)) == only;
        then.held.retain(|h| !same(h));
    }
}

/// Returns the threads and locks of a program in an order that rules deadlocks out, with the number
/// of instructions that wait, or why there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// Deadlocks are ruled out.
    Yes {
        /// The order.
        order: Vec<Node>,
        /// Number of instructions that wait.
        waits: usize,
    },
    /// A deadlock is possible: where its threads wait.
    Circle(Circle),
    /// Nothing follows.
    No(String),
}

/// Returns what the graph of a program shows, by its facts.
pub(super) fn ordered(program: &Program, pairs: &Pairs<'_>, seen: Waits, facts: &Facts) -> Ordered {
    let graph = match Graph::new(program, pairs, seen) {
        Ok(graph) => graph,
        Err(why) => return Ordered::No(why),
    };
    let order = if facts.order.is_empty() { graph.order() } else { facts.order.clone() };
    match graph.check(&order) {
        Ok(()) => Ordered::Yes { order, waits: graph.waits() },
        Err(Ok(circle)) => Ordered::Circle(circle),
        Err(Err(why)) => Ordered::No(why),
    }
}
