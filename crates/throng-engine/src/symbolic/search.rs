//! Breadth-first search over states, level after level as in [`crate::levels`].
//!
//! The store of visited states is merged and grows; only the *new* part of a successor is explored.
//! The states of the next round are merged among themselves, too, and record all their origins: so
//! the rounds form a graph in which each configuration found in round d is reached by d edges, and
//! [`super::replay`] reads a run off it.

use std::time::{Duration, Instant};

use super::machine::Machine;
use super::registry::{Registry, State, Threads, add};
use super::replay::replay;
use super::store::{Origin, Store};
use super::targets::Targets;
use crate::bdd::Full;
use crate::levels::{Levels, SizeLimit};
use crate::{Occupied, Progress, Watch};
use throng_lang::bp::program::Coded;
use throng_model::Config;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::{Trace, Unknown, Verdict};

/// Cost in ticks of the images of a state: some hundred operations on diagrams.
pub const EXPANSION: u32 = 128;

/// Cost in ticks of determining the new part of a state.
const INSERTION: u32 = 16;

/// A search and its results.
pub struct Search<'p> {
    pub(super) problem: &'p Problem,
    pub(super) coded: &'p dyn Coded,
    pub(super) levels: Levels<'p>,
    pub(super) machine: Machine<'p>,
    targets: Targets,
    pub(super) visited: Store,
    pub(super) nodes: Vec<Node>,
    pub(super) limits: &'p Limits,
    pub(super) ticker: Ticker<'p>,
    /// Number of occupied sets of local states.
    pub(super) occupied: Occupied,
    watch: &'p dyn Watch,
    reported: Instant,
    stop_at_first: bool,
    /// For each target, a run that hits it.
    pub(super) traces: Vec<Option<Trace>>,
    /// The level last searched.
    pub(super) reached: u32,
}

/// A state that is explored once.
pub struct Node {
    /// The state.
    pub state: State,
    /// The nodes and edges that led to it.
    pub origins: Vec<Origin>,
    /// The round in which it was found.
    pub depth: u32,
}

/// Why a search ends early.
pub enum Stop {
    /// All targets are decided.
    Decided,
    /// A limit was reached.
    Limit(Unknown),
    /// The diagrams are full.
    Full,
}

impl From<Unknown> for Stop {
    fn from(why: Unknown) -> Stop {
        Stop::Limit(why)
    }
}

impl From<Full> for Stop {
    fn from(_: Full) -> Stop {
        Stop::Full
    }
}

impl<'p> Search<'p> {
    /// Creates a search.
    pub fn new(
        problem: &'p Problem,
        coded: &'p dyn Coded,
        machine: Machine<'p>,
        targets: Targets,
        stop_at_first: bool,
        limits: &'p Limits,
        watch: &'p dyn Watch,
    ) -> Search<'p> {
        Search {
            problem,
            coded,
            levels: Levels::new(problem),
            machine,
            targets,
            visited: Store::default(),
            nodes: Vec::new(),
            limits,
            ticker: Ticker::new(limits),
            occupied: Occupied::default(),
            watch,
            reported: Instant::now(),
            stop_at_first,
            traces: vec![None; problem.targets.len()],
            reached: 0,
        }
    }

    /// Searches `level`, given that all levels up to `below` have been searched, and returns the
    /// size of the smallest configuration that was left out because it is too large for this level.
    pub fn level(&mut self, below: Option<u32>, level: u32) -> Result<Option<u32>, Stop> {
        self.limits.check()?;
        let below = below.filter(|_| self.machine.pruned.is_none());
        if below.is_none() {
            self.visited = Store::default();
            self.nodes.clear();
        }
        self.machine.pruned = None;
        self.reached = level;
        let mut next = Store::default();
        for config in self.starts(below, level)? {
            let state = self.state_of(&config)?;
            self.found(state, &[], &mut next)?;
        }
        let size_limit = self.levels.size_limit(level);
        let mut depth = 0;
        while next.len() > 0 {
            let first = self.nodes.len();
            for member in next.into_members() {
                self.nodes.push(Node { state: member.state, origins: member.origins, depth });
            }
            self.judge(first)?;
            next = self.round(first, size_limit)?;
            depth += 1;
        }
        Ok(self.machine.pruned)
    }

    /// Returns the initial configurations after level `after` and up to `level`.
    pub fn starts(&self, after: Option<u32>, level: u32) -> Result<Vec<Config>, Unknown> {
        let mut found = Vec::new();
        let mut ticker = Ticker::new(self.limits);
        self.levels.starts(after, level, &mut |config| {
            ticker.tick()?;
            found.push(config);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns whether all targets are decided.
    pub fn is_decided(&self) -> bool {
        let hit = self.traces.iter().filter(|t| t.is_some()).count();
        !self.traces.is_empty() && (hit == self.traces.len() || self.stop_at_first && hit > 0)
    }

    /// Explores all nodes from `first` on and returns the new states.
    fn round(&mut self, first: usize, size_limit: SizeLimit) -> Result<Store, Stop> {
        let mut next = Store::default();
        let mut after = Vec::new();
        for i in first..self.nodes.len() {
            self.ticker.ticks(EXPANSION)?;
            let state = self.nodes[i].state.clone();
            self.occupied.count(state.threads.len());
            self.machine.expand(&state, size_limit, &mut after)?;
            for (edge, state) in after.drain(..) {
                self.ticker.ticks(INSERTION)?;
                self.found(state, &[(i as u32, edge)], &mut next)?;
            }
            self.report(i, next.len(), size_limit.level);
        }
        Ok(next)
    }

    /// Adds a state; its new part goes to `next`.
    fn found(&mut self, state: State, origins: &[Origin], next: &mut Store) -> Result<(), Full> {
        let registry = &mut self.machine.registry;
        if let Some(new) = self.visited.insert(registry, state, &[])? {
            next.insert(registry, new, origins)?;
        }
        Ok(())
    }

    /// Checks which targets the nodes from `first` on hit.
    fn judge(&mut self, first: usize) -> Result<(), Stop> {
        let mut hits = Vec::new();
        for i in first..self.nodes.len() {
            let inside = self.machine.is_inside(&self.nodes[i].state);
            self.targets.hits(&self.machine.registry, &self.nodes[i].state, inside, &mut hits)?;
            for target in hits.drain(..) {
                if self.traces[target].is_none() {
                    let trace = replay(self, i, target)?;
                    self.watch.found(target, &Verdict::Unsafe(trace.clone()));
                    self.traces[target] = Some(trace);
                }
            }
        }
        if self.is_decided() { Err(Stop::Decided) } else { Ok(()) }
    }

    /// Converts a configuration of the model to a symbolic state.
    pub fn state_of(&mut self, config: &Config) -> Result<State, Stop> {
        let (inside, masks) = self.coded.shared_cube(config.shared);
        let shared = self.machine.encoder.shared_set(&masks)?;
        let shared = self.machine.registry.shared_id(shared);
        let mut threads = Threads::new();
        for &(l, n) in config.threads.entries() {
            let (point, masks) = self.coded.local_cube(l);
            let set = self.machine.encoder.local_set(point, &masks)?;
            add(&mut threads, self.machine.registry.local_id(point, set), n);
        }
        let state = State { shared, threads };
        if self.machine.is_inside(&state) != inside {
            let why = "symbolic search cannot start inside an atomic section that no thread is in";
            return Err(Stop::Limit(Unknown::NotForThisModel(why.into())));
        }
        Ok(state)
    }

    /// Returns all sets.
    pub fn registry(&self) -> &Registry {
        &self.machine.registry
    }

    /// Reports progress now and then.
    fn report(&mut self, node: usize, next: usize, level: u32) {
        if self.reported.elapsed() < Duration::from_millis(250) {
            return;
        }
        self.reported = Instant::now();
        self.watch.progress(&Progress {
            engine: super::NAME,
            phase: self.levels.describe(level),
            configurations: self.nodes.len() as u64,
            frontier: (self.nodes.len() - node + next) as u64,
        });
    }
}
