//! Threads that starve in no fair execution, for any number of threads.
//!
//! One thread is followed. A *node* is a shared state with the local state of that thread, at one
//! of the places asked for; *moves* lead from node to node, taken by the followed thread or by
//! another one. Nodes and moves are those that views allow, so that an execution in which the thread
//! stays for ever goes along moves, and from some point on stays among nodes that it visits again
//! and again. There are finitely many of them, but any number of threads. So some strongly connected
//! component would have to remain after what follows from fairness ([`crate::starvation`]) is left
//! out:
//!
//! - A *rank* is a sum over the node and the other threads, none of which counts less than nothing.
//!   If no move of the component increases it, a move that decreases it is taken only finitely
//!   often. The moves that last are those that a linear program gives no rank: they form a vector
//!   of steps that can be repeated.
//! - If no move of the followed thread lasts, it cannot move again and again, so no node is visited
//!   again and again at which it can.
//! - If no move of others from local state m lasts, then no thread is at m again and again where one
//!   there can move: the one that came last would stay there, and could move again and again.
//! - A node is not visited again and again if no reachable configuration has it and lacks all
//!   threads that are ruled out there, which vectors show.
//!
//! An execution also ends where nobody can move: a node without moves that last.
//!
//! Where states are sets, a state moves only if all its members do, and every move has to lead to
//! states of the views themselves.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::components::components;
use crate::deadlock::always_moves;
use crate::helpers::Excludes;
use crate::limits::Ticker;
use crate::starvation::Starvation;
use crate::verdict::{Rank, Unknown};
use crate::views::Views;
use crate::waiting::is_waiting;
use crate::{Bag, Incomplete, Local, Model, Shared, Step};

/// A shared state and the local state of the followed thread.
pub type Node = (Shared, Local);

/// A move from node to node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    /// The node before, by number.
    pub from: usize,
    /// The node after, by number.
    pub to: usize,
    /// The thread that takes it, if it is another one.
    pub by: Option<Local>,
    /// The other threads that are there afterwards: the one that took it, and those it has started.
    pub arrived: Bag,
}

/// Nodes, and moves that have to be looked at together.
pub struct Part<'g> {
    /// All nodes.
    pub nodes: &'g IndexSet<Node, FxBuildHasher>,
    /// All moves.
    pub moves: &'g [Move],
    /// Those of this part, by number.
    pub inside: &'g [usize],
}

/// Returns moves of a part that are taken only finitely often, by their numbers: those that some
/// rank says are ([`Weights::falling`]).
pub type Falling<'a> = dyn FnMut(&Part<'_>) -> Result<Vec<usize>, Unknown> + 'a;

/// Returns a node such that a thread is not shown not to stay there for ever; `None` if in every
/// fair execution every thread leaves the places asked for, whatever the number of threads.
pub fn may_starve(
    starvation: &Starvation<'_>,
    views: &Views,
    excludes: &mut Excludes<'_>,
    falling: &mut Falling<'_>,
    ticker: &mut Ticker,
) -> Result<Option<Node>, Unknown> {
    let mut graph = Graph::of(starvation, views);
    graph.explore(ticker)?;
    let all: Vec<usize> = (0..graph.nodes.len()).collect();
    let mut work = vec![(all, (0..graph.moves.len()).collect::<Vec<usize>>())];
    while let Some((nodes, moves)) = work.pop() {
        for part in graph.components(&nodes, &moves) {
            ticker.ticks(16 + 8 * part.moves.len() as u32)?;
            let lasting = graph.lasting(&part.moves, falling)?;
            let left = graph.visited(&part.nodes, &lasting, excludes, ticker)?;
            if left.len() == part.nodes.len() && lasting.len() == part.moves.len() {
                return Ok(graph.nodes.get_index(left[0]).copied());
            }
            if !left.is_empty() {
                work.push((left, lasting));
            }
        }
    }
    Ok(None)
}

/// A rank, prepared for evaluation.
pub struct Weights {
    nodes: FxHashMap<Node, i64>,
    locals: FxHashMap<Local, i64>,
}

impl Weights {
    /// Prepares a rank; `None` if some thread counts less than nothing.
    pub fn new(rank: &Rank) -> Option<Weights> {
        let (nodes, locals) = (rank.nodes.iter().copied().collect(), rank.locals.iter().copied().collect());
        rank.locals.iter().all(|e| e.1 >= 0).then_some(Weights { nodes, locals })
    }

    /// Returns the moves of a part that decrease the rank, if none increases it.
    pub fn falling(&self, part: &Part<'_>) -> Vec<usize> {
        let change = |&m: &usize| (m, self.change(part.nodes, &part.moves[m]));
        let changes: Vec<(usize, i128)> = part.inside.iter().map(change).collect();
        match changes.iter().all(|e| e.1 <= 0) {
            true => changes.into_iter().filter(|e| e.1 < 0).map(|e| e.0).collect(),
            false => Vec::new(),
        }
    }

    /// Returns by how much a move changes the rank.
    fn change(&self, nodes: &IndexSet<Node, FxBuildHasher>, step: &Move) -> i128 {
        let arrived = step.arrived.entries().iter().map(|&(l, n)| self.of_local(l) * i128::from(n));
        let gone = step.by.map_or(0, |l| self.of_local(l));
        self.of_node(nodes[step.to]) - self.of_node(nodes[step.from]) + arrived.sum::<i128>() - gone
    }

    fn of_node(&self, node: Node) -> i128 {
        self.nodes.get(&node).copied().unwrap_or(0).into()
    }

    fn of_local(&self, l: Local) -> i128 {
        self.locals.get(&l).copied().unwrap_or(0).into()
    }
}

/// Some nodes and the moves between them, by number.
struct Component {
    nodes: Vec<usize>,
    moves: Vec<usize>,
}

struct Graph<'a> {
    starvation: &'a Starvation<'a>,
    model: &'a dyn Model,
    views: &'a Views,
    nodes: IndexSet<Node, FxBuildHasher>,
    moves: Vec<Move>,
    /// Of each node, whether the followed thread can move.
    moves_itself: Vec<bool>,
    /// Of each node, whether no execution stays there: an assumption has stopped the thread, or the
    /// process has ended.
    never: Vec<bool>,
    /// What others can do at a shared state, once it is known.
    others: FxHashMap<Shared, Others>,
}

/// The local states of others with a shared state.
#[derive(Clone, Default)]
struct Others {
    /// Those that can move, whatever the member.
    moving: FxHashSet<Local>,
    /// Those that no execution that counts has: an assumption has stopped them.
    stopped: FxHashSet<Local>,
}

impl<'a> Graph<'a> {
    fn of(starvation: &'a Starvation<'a>, views: &'a Views) -> Graph<'a> {
        Graph {
            starvation,
            model: starvation.model(),
            views,
            nodes: IndexSet::default(),
            moves: Vec::new(),
            moves_itself: Vec::new(),
            never: Vec::new(),
            others: FxHashMap::default(),
        }
    }

    fn explore(&mut self, ticker: &mut Ticker) -> Result<(), Unknown> {
        let (views, starvation) = (self.views, self.starvation);
        for (s, group) in views.groups() {
            let mut steps = Vec::new();
            self.model.post_shared(s, &mut steps)?;
            steps.iter().try_for_each(alone)?;
            self.nodes.extend(views.singles(group).filter(|&l| starvation.is_there(l)).map(|l| (s, l)));
        }
        for from in 0..self.nodes.len() {
            ticker.ticks(16)?;
            self.own(from)?;
            let (s, l) = self.nodes[from];
            for other in self.beside(s, l) {
                ticker.ticks(4)?;
                self.of_another(from, other, ticker)?;
            }
        }
        let mut seen = FxHashSet::default();
        self.moves.retain(|step| seen.insert(step.clone()));
        Ok(())
    }

    /// Returns the local states that may occur together with a node.
    fn beside(&self, s: Shared, l: Local) -> Vec<Local> {
        let Some((group, l)) = self.views.group(s).zip(self.views.number(l)) else { return Vec::new() };
        let may = |&other: &Local| self.views.number(other).is_some_and(|other| group.pair(l, other));
        self.views.singles(group).filter(may).collect()
    }

    /// Adds the moves of the followed thread at a node.
    fn own(&mut self, from: usize) -> Result<(), Unknown> {
        let (model, (s, l)) = (self.model, self.nodes[from]);
        let mut steps = Vec::new();
        model.post(s, l, &mut steps)?;
        self.never.push(steps.is_empty() && !is_waiting(model, s, l)?);
        self.moves_itself.push(always_moves(model, s, l)?);
        for step in steps {
            alone(&step)?;
            if let [(to, 1)] = step.put.entries()[..]
                && self.starvation.is_there(to)
            {
                self.add(from, (step.to, to), None, step.spawn.clone())?;
            }
        }
        Ok(())
    }

    /// Adds the moves of other threads at a local state, at a node.
    fn of_another(&mut self, from: usize, other: Local, ticker: &mut Ticker) -> Result<(), Unknown> {
        let (model, (s, l)) = (self.model, self.nodes[from]);
        let mut steps = Vec::new();
        model.post(s, other, &mut steps)?;
        let ended = model.has_ended(other);
        let known = self.others.entry(s).or_default();
        if steps.is_empty() && !ended && !is_waiting(model, s, other)? {
            known.stopped.insert(other);
        }
        // One that only starts others need not move.
        if !ended && always_moves(model, s, other)? {
            known.moving.insert(other);
        }
        for step in steps {
            ticker.ticks(4)?;
            alone(&step)?;
            let mut arrived = step.put.clone();
            arrived.add_all(&step.spawn);
            self.add(from, (step.to, l), Some(other), arrived)?;
        }
        Ok(())
    }

    fn add(&mut self, from: usize, to: Node, by: Option<Local>, arrived: Bag) -> Result<(), Unknown> {
        let group = self.views.group(to.0);
        let known =
            |l: Local| group.zip(self.views.number(l)).is_some_and(|(group, l)| group.all().contains(l));
        let all = arrived.entries().iter().all(|e| known(e.0));
        match self.nodes.get_index_of(&to).filter(|_| all) {
            Some(to) => self.moves.push(Move { from, to, by, arrived }),
            None => {
                return Err(Unknown::Inconclusive("a step leads to a part of a state of the views".into()));
            }
        }
        Ok(())
    }

    fn components(&self, nodes: &[usize], moves: &[usize]) -> Vec<Component> {
        let numbers: FxHashMap<usize, usize> = nodes.iter().copied().zip(0..).collect();
        let inside = |&&m: &&usize| {
            numbers.contains_key(&self.moves[m].from) && numbers.contains_key(&self.moves[m].to)
        };
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for &m in moves.iter().filter(inside) {
            next[numbers[&self.moves[m].from]].push(numbers[&self.moves[m].to]);
        }
        let mut parts = components(&next);
        // Executions may also end where no move stays.
        let mut alone = vec![true; nodes.len()];
        parts.iter().flatten().for_each(|&n| alone[n] = false);
        parts.extend((0..nodes.len()).filter(|&n| alone[n]).map(|n| vec![n]));
        let mut of: FxHashMap<usize, usize> = FxHashMap::default();
        let mut found: Vec<Component> = Vec::new();
        for part in parts {
            let nodes: Vec<usize> = part.into_iter().map(|n| nodes[n]).collect();
            nodes.iter().for_each(|&n| _ = of.insert(n, found.len()));
            found.push(Component { nodes, moves: Vec::new() });
        }
        for &m in moves.iter().filter(inside) {
            let (from, to) = (of[&self.moves[m].from], of[&self.moves[m].to]);
            if from == to {
                found[from].moves.push(m);
            }
        }
        found
    }

    /// Returns the moves that may be taken again and again.
    fn lasting(&self, inside: &[usize], falling: &mut Falling<'_>) -> Result<Vec<usize>, Unknown> {
        if inside.is_empty() {
            return Ok(Vec::new());
        }
        let part = Part { nodes: &self.nodes, moves: &self.moves, inside };
        let falls: FxHashSet<usize> = falling(&part)?.into_iter().collect();
        Ok(inside.iter().copied().filter(|m| !falls.contains(m)).collect())
    }

    /// Returns the nodes that may be visited again and again if only these moves last.
    fn visited(
        &self,
        nodes: &[usize],
        lasting: &[usize],
        excludes: &mut Excludes<'_>,
        ticker: &mut Ticker,
    ) -> Result<Vec<usize>, Unknown> {
        let moves_itself = lasting.iter().any(|&m| self.moves[m].by.is_none());
        let movers: BTreeSet<Local> = lasting.iter().filter_map(|&m| self.moves[m].by).collect();
        let none = Others::default();
        let mut left = Vec::new();
        for &n in nodes {
            ticker.ticks(8)?;
            if self.never[n] || !moves_itself && self.moves_itself[n] {
                continue;
            }
            let (s, l) = self.nodes[n];
            let known = self.others.get(&s).unwrap_or(&none);
            let may_be = |other: &Local| {
                !known.stopped.contains(other) && (movers.contains(other) || !known.moving.contains(other))
            };
            let others: Vec<Local> = self.beside(s, l).into_iter().filter(may_be).collect();
            if !excludes(s, l, &others)? {
                left.push(n);
            }
        }
        Ok(left)
    }
}

/// Fails unless a step is one of a single thread that others do not notice otherwise than by the
/// shared state.
fn alone(step: &Step) -> Result<(), Incomplete> {
    match step.take.size() == 1 && step.others == crate::Bystanders::Stay {
        true => Ok(()),
        false => Err(Incomplete("a step moves several threads at once".into())),
    }
}
