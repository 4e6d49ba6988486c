//! Starvation: an execution that never ends, in which the scheduler is fair and a thread stays at
//! some place for ever.
//!
//! A scheduler is *fair* if every thread that can move again and again moves again and again
//! (strong fairness). Choices of a thread itself need not be fair. A thread also stays for ever
//! where no thread can move any more.
//!
//! One thread is followed; of the others only the numbers in each local state are kept. For these,
//! fairness is a condition on local states: if again and again some other thread at `l` can move,
//! then again and again one at `l` does. A fair execution satisfies it. And of an execution that
//! satisfies it there is a fair one with the same configurations, which always moves the thread
//! that has been at `l` longest. So starvation is a cycle, or an end, in the graph of
//! configurations with a followed thread that satisfies one such condition (a Streett pair) for
//! each local state and one for the followed thread. It is found by strongly connected components:
//! a component in which some condition fails loses the nodes at which the threads concerned can
//! move, and is decomposed again (Emerson and Lei).
//!
//! Where states are sets, they are split into their members, as in [`crate::stuck`].

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::components::components;
use crate::limits::Ticker;
use crate::problem::Target;
use crate::stuck::{Followed, live_members, members, whole};
use crate::verdict::{Taken, Trace, Unknown};
use crate::waiting::is_waiting;
use crate::{Bystanders, Config, Incomplete, Local, Model, Step, semantics};

/// Who moves: the followed thread, or another one at a local state.
type Mover = Option<Local>;

/// A move, and where it leads while the followed thread stays at its place: `None` if it leaves, or
/// there are too many threads.
struct Move {
    mover: Mover,
    step: Step,
    to: Option<Followed>,
}

/// The places that threads are to leave, and the limits on the number of threads.
pub struct Starvation<'m> {
    model: &'m dyn Model,
    target: &'m Target,
    bound: Option<u32>,
    /// Configurations with more threads have not been explored: nothing is known about them.
    most: Option<u32>,
}

/// A fair execution in which a thread stays for ever.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// The number of the configuration from which it goes around.
    pub origin: usize,
    /// The configuration: a member of that one.
    pub start: Config,
    /// The steps back to it; none if no thread can move there.
    pub around: Vec<Taken>,
}

/// The configurations with a followed thread, and moves between them.
#[derive(Default)]
struct Graph {
    nodes: IndexSet<Followed, FxBuildHasher>,
    /// Of each node, the moves that stay, by the number of the node that they lead to.
    edges: Vec<Vec<(Mover, usize, Step)>>,
    /// Of each node, who can move.
    enabled: Vec<BTreeSet<Mover>>,
    /// Whether what happens at a node counts: not where the process has ended, or an assumption has
    /// stopped a thread.
    counts: Vec<bool>,
}

impl<'m> Starvation<'m> {
    /// Checks for threads at the places of `target`. A step creates no more than `bound` threads,
    /// and configurations with more than `most` threads are unknown.
    pub fn new(
        model: &'m dyn Model,
        target: &'m Target,
        bound: Option<u32>,
        most: Option<u32>,
    ) -> Starvation<'m> {
        Starvation { model, target, bound, most }
    }

    /// Returns a lasso among configurations, which must be closed under steps except for those with
    /// too many threads.
    pub fn find<'c>(
        &self,
        all: impl Iterator<Item = &'c Config>,
        ticker: &mut Ticker,
    ) -> Result<Option<Lasso>, Unknown> {
        let (mut graph, mut origins) = (Graph::default(), Vec::new());
        for (origin, config) in all.enumerate() {
            ticker.ticks(4)?;
            if !config.threads.entries().iter().any(|e| self.is_there(e.0)) {
                continue;
            }
            for member in members(self.model, config)? {
                for node in self.followed(&member) {
                    if graph.nodes.insert(node) {
                        origins.push(origin);
                    }
                }
            }
        }
        self.explore(&mut graph, ticker)?;
        let all = (0..graph.nodes.len()).filter(|&n| graph.counts[n]).collect();
        let Some(fair) = fair_component(&graph, all, ticker)? else { return Ok(None) };
        // Nodes that were only reached while a thread was followed have no origin of their own.
        let start = fair.iter().copied().filter(|&n| n < origins.len()).min_by_key(|&n| origins[n]);
        let Some(start) = start else {
            return Err(Unknown::Inconclusive("a cycle was found, but no run to it".into()));
        };
        let around = closed_walk(&graph, &fair, start);
        Ok(Some(Lasso { origin: origins[start], start: whole(&graph.nodes[start]), around }))
    }

    /// Returns whether a lasso can follow `config`.
    pub fn can_follow(&self, config: &Config, ticker: &mut Ticker) -> Result<bool, Unknown> {
        let mut graph = Graph::default();
        for member in members(self.model, config)? {
            graph.nodes.extend(self.followed(&member));
        }
        self.explore(&mut graph, ticker)?;
        let all = (0..graph.nodes.len()).filter(|&n| graph.counts[n]).collect();
        Ok(fair_component(&graph, all, ticker)?.is_some())
    }

    fn explore(&self, graph: &mut Graph, ticker: &mut Ticker) -> Result<(), Unknown> {
        let mut next = 0;
        while let Some(node) = graph.nodes.get_index(next).cloned() {
            ticker.ticks(16)?;
            let moves = self.moves(&node)?;
            graph.counts.push(moves.is_some());
            let (mut edges, mut enabled) = (Vec::new(), BTreeSet::new());
            for Move { mover, step, to } in moves.unwrap_or_default() {
                ticker.ticks(8)?;
                enabled.insert(mover);
                if let Some(to) = to {
                    edges.push((mover, graph.nodes.insert_full(to).0, step));
                }
            }
            graph.edges.push(edges);
            graph.enabled.push(enabled);
            next += 1;
        }
        Ok(())
    }

    pub(crate) fn model(&self) -> &'m dyn Model {
        self.model
    }

    /// Returns whether a thread at `l` is at one of the places.
    pub(crate) fn is_there(&self, l: Local) -> bool {
        if let Some(asked) = self.model.waits().and_then(|waits| waits.is_asked(l)) {
            return asked;
        }
        let mut asked = self.target.configs.iter().map(|c| c.threads.entries());
        asked.any(|threads| matches!(threads, &[(there, 1)] if self.model.meets_local(l, there)))
    }

    fn followed(&self, config: &Config) -> Vec<Followed> {
        let there = config.threads.entries().iter().filter(|e| self.is_there(e.0));
        let without = |&(l, _): &(Local, u32)| {
            let mut others = config.clone();
            others.threads.remove(l, 1);
            (others, l)
        };
        there.map(without).collect()
    }

    /// Returns all moves from a node; `None` if what happens there does not count.
    fn moves(&self, node: &Followed) -> Result<Option<Vec<Move>>, Incomplete> {
        let (model, (others, l)) = (self.model, node);
        let (s, mut found, mut steps) = (others.shared, Vec::new(), Vec::new());
        model.post(s, *l, &mut steps)?;
        if steps.is_empty() && !is_waiting(model, s, *l)? {
            return Ok(None);
        }
        for step in steps {
            self.own(node, step, &mut found)?;
        }
        for &(m, _) in others.threads.entries() {
            let mut steps = Vec::new();
            model.post(s, m, &mut steps)?;
            if steps.is_empty() && !model.has_ended(m) && !is_waiting(model, s, m)? {
                return Ok(None);
            }
            for step in steps {
                self.of_another(node, m, step, &mut found)?;
            }
        }
        Ok(Some(found))
    }

    /// Adds the moves of the followed thread by a step.
    fn own(&self, node: &Followed, step: Step, found: &mut Vec<Move>) -> Result<(), Incomplete> {
        let (others, l) = node;
        if step.take.size() != 1 {
            return Err(Incomplete("several threads move in one step".into()));
        }
        let mut after = Vec::new();
        semantics::fire(self.model, &whole(&(others.clone(), *l)), &step, self.bound, &mut after)?;
        let to: Vec<Local> = step.put.entries().iter().map(|e| e.0).collect();
        for config in after {
            match to[..] {
                [to] if step.put.size() == 1 => self.add(None, &step, &config, to, found)?,
                _ => found.push(Move { mover: None, step: step.clone(), to: None }),
            }
        }
        Ok(())
    }

    /// Adds the moves of another thread by a step.
    fn of_another(
        &self,
        node: &Followed,
        mover: Local,
        step: Step,
        found: &mut Vec<Move>,
    ) -> Result<(), Incomplete> {
        let (model, (others, l)) = (self.model, node);
        if step.take.size() != 1 {
            return Err(Incomplete("several threads move in one step".into()));
        }
        let room = self.bound.map(|n| n.saturating_sub(1));
        let mut after = Vec::new();
        semantics::fire(model, others, &step, room, &mut after)?;
        let mut fates: Vec<Option<Local>> = vec![Some(*l)];
        match step.others {
            Bystanders::Stay => {}
            Bystanders::Transfer => {
                fates.clear();
                model.bystander(&step, *l, &mut fates)?;
            }
            Bystanders::WakeOne => {
                if let Some(woken) = model.woken_by(&step, *l) {
                    let mut rest = others.threads.clone();
                    rest.remove(mover, 1);
                    let waits = |e: &(Local, u32)| model.woken_by(&step, e.0).is_some();
                    let quiet = Step { others: Bystanders::Stay, ..step.clone() };
                    let mut alone = Vec::new();
                    semantics::fire(model, others, &quiet, room, &mut alone)?;
                    for config in alone {
                        self.add_for(Some(mover), &step, &config, woken, found)?;
                    }
                    if !rest.entries().iter().any(waits) {
                        return Ok(());
                    }
                }
            }
        }
        for config in after {
            for fate in &fates {
                match fate {
                    Some(to) => self.add_for(Some(mover), &step, &config, *to, found)?,
                    None => found.push(Move { mover: Some(mover), step: step.clone(), to: None }),
                }
            }
        }
        Ok(())
    }

    /// Adds a move after which the followed thread is at `to`, given the other threads.
    fn add_for(
        &self,
        mover: Mover,
        step: &Step,
        others: &Config,
        to: Local,
        found: &mut Vec<Move>,
    ) -> Result<(), Incomplete> {
        self.add(mover, step, &whole(&(others.clone(), to)), to, found)
    }

    /// Adds a move to a configuration in which the followed thread is at `to`.
    fn add(
        &self,
        mover: Mover,
        step: &Step,
        after: &Config,
        to: Local,
        found: &mut Vec<Move>,
    ) -> Result<(), Incomplete> {
        let too_many = self.most.is_some_and(|most| after.threads.size() > most);
        if too_many || !self.is_there(to) {
            found.push(Move { mover, step: step.clone(), to: None });
            return Ok(());
        }
        let mut others = after.clone();
        others.threads.remove(to, 1);
        for others in members(self.model, &others)? {
            for l in live_members(self.model, to) {
                let to = Some((others.clone(), l));
                found.push(Move { mover, step: step.clone(), to });
            }
        }
        Ok(())
    }
}

/// The end of a run that goes around for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Around {
    /// The number of steps before it.
    pub from: usize,
    /// Where the thread that stays is at its beginning.
    pub stays: Local,
    /// Of each of its steps, whether that thread takes it.
    pub moves: Vec<bool>,
}

/// Returns the part of a run that can be repeated, and a thread that stays at its place meanwhile,
/// for people; `None` if the run only leads to such a part.
pub fn around(model: &dyn Model, target: &Target, trace: &Trace) -> Option<Around> {
    let configs: Vec<&Config> =
        std::iter::once(&trace.start).chain(trace.steps.iter().map(|taken| &taken.after)).collect();
    let end = *configs.last()?;
    let from = configs.iter().position(|config| *config == end)?;
    let steps = &trace.steps[from..];
    if steps.is_empty() {
        return None;
    }
    let starvation = Starvation::new(model, target, None, None);
    let there = end.threads.entries().iter().map(|e| e.0).filter(|&l| starvation.is_there(l));
    there.into_iter().find_map(|stays| {
        let moves = starvation.staying(stays, &configs[from..], steps)?;
        Some(Around { from, stays, moves })
    })
}

impl Starvation<'_> {
    /// Returns which of the steps a thread takes that is at its place throughout, and comes back.
    fn staying(&self, stays: Local, configs: &[&Config], steps: &[Taken]) -> Option<Vec<bool>> {
        // Of each place that it can be at: how it came there.
        let mut ways: BTreeMap<Local, Vec<bool>> = BTreeMap::from([(stays, Vec::new())]);
        for (taken, config) in steps.iter().zip(configs) {
            let mut next: BTreeMap<Local, Vec<bool>> = BTreeMap::new();
            let mover = taken.step.take.entries().first().map(|e| e.0);
            for (l, way) in ways {
                let mut go = |to: Local, moves: bool| {
                    if self.is_there(to) && taken.after.threads.count(to) > 0 {
                        next.entry(to).or_insert_with(|| [&way[..], &[moves]].concat());
                    }
                };
                if mover == Some(l) {
                    taken.step.put.entries().iter().for_each(|e| go(e.0, true));
                }
                if mover != Some(l) || config.threads.count(l) > 1 {
                    go(l, false);
                    if let Some(woken) = self.model.woken_by(&taken.step, l) {
                        go(woken, false);
                    }
                }
            }
            ways = next;
        }
        ways.remove(&stays)
    }
}

/// Returns a set of nodes that an execution can visit for ever, and fairly.
fn fair_component(
    graph: &Graph,
    all: Vec<usize>,
    ticker: &mut Ticker,
) -> Result<Option<Vec<usize>>, Unknown> {
    // Where no thread can move, the end is as good as a cycle.
    if let Some(&end) = all.iter().find(|&&n| graph.enabled[n].is_empty()) {
        return Ok(Some(vec![end]));
    }
    let mut work = vec![all];
    while let Some(within) = work.pop() {
        ticker.ticks(within.len() as u32)?;
        for component in components_of(graph, &within) {
            let inside = |n: usize| component.binary_search(&n).is_ok();
            let mut moves: BTreeSet<Mover> = BTreeSet::new();
            let mut can: BTreeSet<Mover> = BTreeSet::new();
            for &n in &component {
                can.extend(&graph.enabled[n]);
                moves.extend(graph.edges[n].iter().filter(|e| inside(e.1)).map(|e| e.0));
            }
            let unfair: Vec<Mover> = can.difference(&moves).copied().collect();
            if unfair.is_empty() {
                return Ok(Some(component));
            }
            let served = |n: &usize| !unfair.iter().any(|m| graph.enabled[*n].contains(m));
            let rest: Vec<usize> = component.iter().copied().filter(served).collect();
            if !rest.is_empty() {
                work.push(rest);
            }
        }
    }
    Ok(None)
}

/// Returns the strongly connected components among nodes, each sorted.
fn components_of(graph: &Graph, within: &[usize]) -> Vec<Vec<usize>> {
    let mut numbers = vec![usize::MAX; graph.nodes.len()];
    within.iter().enumerate().for_each(|(k, &n)| numbers[n] = k);
    let edges: Vec<Vec<usize>> = within
        .iter()
        .map(|&n| graph.edges[n].iter().map(|e| numbers[e.1]).filter(|&k| k != usize::MAX).collect())
        .collect();
    let mut found: Vec<Vec<usize>> = components(&edges)
        .into_iter()
        .map(|all| {
            let mut all: Vec<usize> = all.into_iter().map(|k| within[k]).collect();
            all.sort_unstable();
            all
        })
        .collect();
    found.sort_unstable();
    found
}

/// Returns the steps of a way through a fair component back to its start, in which everyone moves
/// who can.
fn closed_walk(graph: &Graph, fair: &[usize], start: usize) -> Vec<Taken> {
    let inside = |n: usize| fair.binary_search(&n).is_ok();
    let mut left: BTreeSet<Mover> = fair.iter().flat_map(|&n| graph.enabled[n].iter().copied()).collect();
    let (mut at, mut walk) = (start, Vec::new());
    while !left.is_empty() {
        let wanted = |e: &(Mover, usize, Step)| left.contains(&e.0) && inside(e.1);
        let Some(path) = path(graph, fair, at, &wanted) else { break };
        for (from, k) in path {
            let (mover, to, step) = &graph.edges[from][k];
            left.remove(mover);
            walk.push(Taken { step: step.clone(), after: whole(&graph.nodes[*to]) });
            at = *to;
        }
    }
    if at != start {
        let back = path(graph, fair, at, &|e| e.1 == start).unwrap_or_default();
        for (from, k) in back {
            let (_, to, step) = &graph.edges[from][k];
            walk.push(Taken { step: step.clone(), after: whole(&graph.nodes[*to]) });
        }
    }
    walk
}

/// Returns the shortest way from a node that ends with a wanted edge, as nodes and numbers of edges.
fn path(
    graph: &Graph,
    fair: &[usize],
    from: usize,
    wanted: &dyn Fn(&(Mover, usize, Step)) -> bool,
) -> Option<Vec<(usize, usize)>> {
    let inside = |n: usize| fair.binary_search(&n).is_ok();
    let mut reached: indexmap::IndexMap<usize, Option<(usize, usize)>, FxBuildHasher> = Default::default();
    reached.insert(from, None);
    let mut next = 0;
    while let Some((&at, _)) = reached.get_index(next) {
        next += 1;
        for (k, edge) in graph.edges[at].iter().enumerate() {
            if wanted(edge) {
                let mut way = vec![(at, k)];
                let mut here = at;
                while let Some(Some((before, k))) = reached.get(&here).copied() {
                    way.push((before, k));
                    here = before;
                }
                way.reverse();
                return Some(way);
            }
            if inside(edge.1) {
                reached.entry(edge.1).or_insert(Some((at, k)));
            }
        }
    }
    None
}
