//! Property-directed reachability over upward-closed sets (Kloos, Majumdar, Niksic, Piskac:
//! "Incremental, inductive coverability", 2013).
//!
//! # Idea
//!
//! Frame *i* is what is not above any element that is blocked at level *i* or higher; it includes
//! all that can be reached in *i* steps. An element is blocked at level *i* if it covers no start
//! and each of its predecessors is above itself or outside frame *i* − 1. A predecessor that is not
//! has to be blocked one level below first: an obligation. One that covers a start ends a chain of
//! obligations that is a run (`backward/witness.rs`).
//!
//! Before an element is blocked it is generalised: threads are left out and variables are left open
//! as long as the condition holds. That is what sets this apart from `backward`, whose elements are
//! as special as the path to them.
//!
//! When the target is blocked at the last level, elements move up as far as the condition allows.
//! If none is left at some level, the elements above it contain the target and whatever leads to
//! them: a basis, as `backward` has it, and checked in the same way. Frames say nothing about
//! targets, so the next target finds them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::backward::applies;
use super::backward::basis::Basis;
use super::backward::into::StepsInto;
use super::backward::witness;
use super::{Algorithm, Answer, Progress, Statistics, Watch};
use throng_model::cubes::{Cube, FREE};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Certificate, Unknown, Verdict};
use throng_model::{Config, Model, Step, semantics};

/// The engine `pdr`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pdr;

impl Algorithm for Pdr {
    fn name(&self) -> &'static str {
        "pdr"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut search = Search::new(problem, limits);
        let mut verdicts = Vec::new();
        for (i, target) in problem.targets.iter().enumerate() {
            let verdict = applies(problem).and_then(|()| search.decide(target, limits, watch));
            let verdict = verdict.unwrap_or_else(Verdict::Unknown);
            watch.found(i, &verdict);
            verdicts.push(verdict);
        }
        let statistics = Statistics {
            configurations: search.nodes.len() as u64,
            steps: search.steps,
            ..Statistics::default()
        };
        Answer::new(verdicts, statistics)
    }
}

/// The level of what is blocked for ever.
const ALWAYS: u32 = u32::MAX;

/// An element that leads to the target, and the step by which it leads to the one it was found
/// from.
struct Node {
    config: Config,
    next: Option<(usize, Step)>,
}

/// Predecessors of an element, the first `done` of which are ruled out.
struct Before {
    found: Vec<(Step, Config)>,
    done: usize,
}

/// An element that is blocked.
struct Blocked {
    config: Config,
    level: u32,
    /// Whether no smaller one is blocked at its level or higher.
    alive: bool,
}

struct Search<'a> {
    problem: &'a Problem,
    model: &'a dyn Model,
    starts: Vec<Config>,
    ticker: Ticker<'a>,
    into: StepsInto<'a>,
    blocked: Vec<Blocked>,
    basis: Basis<'a>,
    /// The last level.
    last: u32,
    nodes: Vec<Node>,
    /// Obligations, the lowest level first, then the smallest.
    queue: BinaryHeap<Reverse<(u32, u32, usize)>>,
    /// Obligations that wait for others, with their levels.
    waiting: FxHashMap<(usize, u32), Before>,
    steps: u64,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, limits: &'a Limits) -> Search<'a> {
        let model = &*problem.model;
        Search {
            problem,
            model,
            starts: problem.initial.iter().map(|family| family.omega()).collect(),
            ticker: Ticker::new(limits),
            into: StepsInto::new(model),
            blocked: Vec::new(),
            basis: Basis::new(model),
            last: 1,
            nodes: Vec::new(),
            queue: BinaryHeap::new(),
            waiting: FxHashMap::default(),
            steps: 0,
        }
    }

    fn decide(&mut self, target: &Target, limits: &Limits, watch: &dyn Watch) -> Result<Verdict, Unknown> {
        // A ticker looks at the limits only after a while, and there may be thousands of targets.
        limits.check()?;
        self.queue.clear();
        self.waiting.clear();
        let first = self.nodes.len();
        for config in &target.configs {
            if self.oblige(config.clone(), None, self.last) {
                return self.run_from(self.nodes.len() - 1, target, limits);
            }
        }
        let targets = first..self.nodes.len();
        loop {
            if let Some(start) = self.meet_obligations(watch)? {
                return self.run_from(start, target, limits);
            }
            if target.configs.iter().all(|bad| self.is_out(bad, ALWAYS)) || self.propagate()? {
                let always = self.blocked.iter().filter(|b| b.alive && b.level == ALWAYS);
                let basis = always.map(|b| b.config.clone()).collect();
                return Ok(Verdict::Safe(Certificate::Upward(Arc::new(basis))));
            }
            self.last += 1;
            for at in targets.clone() {
                self.queue.push(Reverse((self.last, 0, at)));
            }
        }
    }

    /// Adds an obligation to block `config` at `level`; says so if it covers a start.
    fn oblige(&mut self, config: Config, next: Option<(usize, Step)>, level: u32) -> bool {
        let starts = self.covers_start(&config);
        self.queue.push(Reverse((level, config.threads.size(), self.nodes.len())));
        self.nodes.push(Node { config, next });
        starts
    }

    /// Blocks what has to be blocked; or finds an element that covers a start.
    fn meet_obligations(&mut self, watch: &dyn Watch) -> Result<Option<usize>, Unknown> {
        while let Some(Reverse((level, size, at))) = self.queue.pop() {
            let config = self.nodes[at].config.clone();
            self.tick()?;
            if !self.is_out(&config, level) {
                let mut before = match self.waiting.remove(&(at, level)) {
                    Some(before) => before,
                    None => Before { found: self.predecessors(&config)?, done: 0 },
                };
                if let Some((step, predecessor)) = self.first_inside(&mut before, &config, level)? {
                    self.waiting.insert((at, level), before);
                    self.queue.push(Reverse((level, size, at)));
                    if self.oblige(predecessor, Some((at, step)), level - 1) {
                        return Ok(Some(self.nodes.len() - 1));
                    }
                    continue;
                }
                let core = self.generalise(config, level)?;
                let level = self.highest(&core, level)?;
                self.block(core, level);
                self.report(watch);
            }
            // It is likely to be in the way at the next level, too.
            if level < self.last {
                self.queue.push(Reverse((level + 1, size, at)));
            }
        }
        Ok(None)
    }

    /// The first of the predecessors of `config` that is in the frame below `level` and not above
    /// `config`.
    fn first_inside(
        &mut self,
        before: &mut Before,
        config: &Config,
        level: u32,
    ) -> Result<Option<(Step, Config)>, Unknown> {
        while let Some((step, predecessor)) = before.found.get(before.done) {
            self.tick()?;
            if !predecessor.surely_covers(config, self.model) && !self.is_out(predecessor, level - 1) {
                return Ok(Some((step.clone(), predecessor.clone())));
            }
            before.done += 1;
        }
        Ok(None)
    }

    fn predecessors(&mut self, config: &Config) -> Result<Vec<(Step, Config)>, Unknown> {
        let (mut found, mut before) = (Vec::new(), Vec::new());
        for step in self.into.list(config)? {
            self.ticker.tick()?;
            self.steps += 1;
            semantics::unfire(self.model, config, &step, &mut before)?;
            found.extend(before.drain(..).map(|predecessor| (step.clone(), predecessor)));
        }
        Ok(found)
    }

    /// Whether nothing of `config` is in the frame of this level.
    fn is_out(&self, config: &Config, level: u32) -> bool {
        match level {
            0 => !self.covers_start(config),
            _ => self.basis.is_above(config, |i| self.blocked[i].level >= level),
        }
    }

    fn covers_start(&self, config: &Config) -> bool {
        self.starts.iter().any(|start| start.may_cover(config, self.model))
    }

    /// Whether `config` may be blocked at this level.
    fn may_block(&mut self, config: &Config, level: u32) -> Result<bool, Unknown> {
        if self.covers_start(config) {
            return Ok(false);
        }
        let mut before = Vec::new();
        for step in self.into.list(config)? {
            self.steps += 1;
            semantics::unfire(self.model, config, &step, &mut before)?;
            for predecessor in before.drain(..) {
                self.tick()?;
                if !predecessor.surely_covers(config, self.model) && !self.is_out(&predecessor, level - 1) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// An element below `config` that may be blocked at this level, as `config` may.
    fn generalise(&mut self, mut config: Config, level: u32) -> Result<Config, Unknown> {
        for (l, n) in config.threads.entries().to_vec() {
            // There may be very many: first all of them, then half as many, and so on.
            let mut many = n;
            while many > 0 {
                let mut fewer = config.clone();
                fewer.threads.remove(l, many);
                match self.may_block(&fewer, level)? {
                    true => config = fewer,
                    false => many /= 2,
                }
                many = many.min(config.threads.count(l));
            }
        }
        let model = self.model;
        let Some(cubes) = model.sets().map(|sets| sets.cubes()) else { return Ok(config) };
        let (inside, mut masks) = cubes.shared_cube(config.shared);
        for i in fixed(&masks) {
            let mask = std::mem::replace(&mut masks[i], FREE);
            let wider = Config::new(cubes.encode_shared(inside, &masks), config.threads.clone());
            match self.may_block(&wider, level)? {
                true => config = wider,
                false => masks[i] = mask,
            }
        }
        for (mut l, n) in config.threads.entries().to_vec() {
            let (point, mut masks) = cubes.local_cube(l);
            for i in fixed(&masks) {
                let mask = std::mem::replace(&mut masks[i], FREE);
                let mut wider = config.clone();
                wider.threads.remove(l, n);
                let open = cubes.encode_local(point, &masks);
                wider.threads.insert(open, n);
                match self.may_block(&wider, level)? {
                    true => (config, l) = (wider, open),
                    false => masks[i] = mask,
                }
            }
        }
        Ok(config)
    }

    /// The highest level, from `level` to the last, at which `config` may be blocked.
    fn highest(&mut self, config: &Config, mut level: u32) -> Result<u32, Unknown> {
        while level < self.last && self.may_block(config, level + 1)? {
            level += 1;
        }
        Ok(level)
    }

    fn block(&mut self, config: Config, level: u32) {
        let blocked = &self.blocked;
        let at = blocked.len();
        for larger in self.basis.insert(&config, at, |i| blocked[i].level <= level) {
            self.blocked[larger].alive = false;
        }
        self.blocked.push(Blocked { config, level, alive: true });
    }

    /// Moves what is blocked to higher levels. If that leaves a level empty, what is above it is
    /// blocked for ever; this says whether it is so.
    fn propagate(&mut self) -> Result<bool, Unknown> {
        for level in 1..=self.last {
            let mut stays = false;
            for i in 0..self.blocked.len() {
                if !self.blocked[i].alive || self.blocked[i].level != level {
                    continue;
                }
                let config = self.blocked[i].config.clone();
                match self.may_block(&config, level + 1)? {
                    true => self.blocked[i].level = level + 1,
                    false => stays = true,
                }
            }
            if !stays {
                self.blocked.iter_mut().filter(|b| b.level > level).for_each(|b| b.level = ALWAYS);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Comparing with what is blocked is what costs.
    fn tick(&mut self) -> Result<(), Unknown> {
        self.ticker.ticks(1 + self.basis.len() as u32 / 8)
    }

    fn report(&self, watch: &dyn Watch) {
        if self.blocked.len().is_multiple_of(256) {
            watch.progress(&Progress {
                engine: "pdr",
                phase: format!("{} levels, {} blocked", self.last, self.basis.len()),
                configurations: self.nodes.len() as u64,
                frontier: self.queue.len() as u64,
            });
        }
    }

    /// A run along the chain of obligations from `start` to the target.
    fn run_from(&self, start: usize, target: &Target, limits: &Limits) -> Result<Verdict, Unknown> {
        if let Some(why) = self.model.blocking() {
            let why = format!("{why}: what leads to the target backward need not be a run");
            return Err(Unknown::Inconclusive(why));
        }
        let mut chain = vec![&self.nodes[start].config];
        let mut edges = Vec::new();
        let mut at = start;
        while let Some((next, step)) = &self.nodes[at].next {
            edges.push(step.edge);
            at = *next;
            chain.push(&self.nodes[at].config);
        }
        witness::along(self.problem, target, &chain, &edges, limits).map(Verdict::Unsafe)
    }
}

/// The variables that have a value.
fn fixed(masks: &Cube) -> Vec<usize> {
    (0..masks.len()).filter(|&i| masks[i] != FREE).collect()
}
