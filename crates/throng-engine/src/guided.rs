//! Best-first search for deep bugs, guided by distances that the equations estimate.
//!
//! # Idea
//!
//! At least how many steps lead from a configuration to the target, if they only have to satisfy
//! the thread-state equations ([`super::equations`])? That is a linear program. Its dual asks for a
//! weight of every shared state and a weight ≥ 0 of every local state such that no step raises the
//! sum by more than 1; then the sum at the target minus the sum here is a lower bound. Such weights
//! (`Bearings`) hold for *every* configuration, so one linear program serves many of them: they are
//! kept, and the estimate is the best bound that any of them gives. New ones are computed where the
//! search comes closer than ever before. If there is no finite bound, the target cannot be reached
//! from there, and the configuration is dropped.
//!
//! Where any number of threads may start, the search has ω of them; their number is determined once
//! a run is found. Runs are then shortened (`run`). This finds bugs only: it never answers SAFE,
//! and its runs need not have the fewest threads.

mod run;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::equations::{Bearings, System};
use super::facts::{FactStore, Facts};
use super::{Algorithm, Answer, Progress, Statistics, Watch};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Unknown, Verdict};
use throng_model::{Config, Step, semantics};

/// The engine `guided`.
#[derive(Clone, Debug, Default)]
pub struct Guided {
    /// The shared facts, among them views.
    pub store: Arc<FactStore>,
}

impl Algorithm for Guided {
    fn name(&self) -> &'static str {
        "guided"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut statistics = Statistics::default();
        let found = applies(problem).and_then(|()| self.store.get_or_singles(problem, limits));
        let facts = match found {
            Ok(facts) => facts,
            Err(why) => return Answer::new(vec![Verdict::Unknown(why); problem.targets.len()], statistics),
        };
        let system = System::new(problem, &facts);
        let mut verdicts = Vec::new();
        for (i, target) in problem.targets.iter().enumerate() {
            let mut hunt = Hunt::new(problem, target, &facts, &system, limits);
            let verdict = hunt.run(watch).unwrap_or_else(Verdict::Unknown);
            statistics.configurations += hunt.nodes.len() as u64;
            statistics.steps += hunt.steps;
            watch.found(i, &verdict);
            verdicts.push(verdict);
        }
        Answer::new(verdicts, statistics)
    }
}

/// Returns an error if guided search cannot answer this problem.
fn applies(problem: &Problem) -> Result<(), Unknown> {
    let refuse = |why: &str| Err(Unknown::NotForThisModel(why.into()));
    if problem.bound != Bound::Any {
        return refuse("guided search is for any number of threads; with a bound use `explicit`");
    }
    if problem.model.moves_bystanders() || problem.model.blocking().is_some() {
        return refuse(
            "guided search takes no steps that concern other threads (signal, broadcast, transfer, zero test); \
             use `explicit` or `backward`",
        );
    }
    Ok(())
}

/// Weight of an estimated step relative to one that was taken: the higher, the greedier.
const GREED: f64 = 5.0;

/// Maximum number of bad configurations that are goals.
const GOALS: usize = 16;

/// Maximum number of bearings for each goal.
const MOST_BEARINGS: usize = 24;

struct Hunt<'a> {
    problem: &'a Problem,
    target: &'a Target,
    facts: &'a Facts,
    system: &'a System,
    limits: &'a Limits,
    /// The configurations found, each with its predecessor and step in `origins`.
    nodes: IndexSet<Config, FxBuildHasher>,
    origins: Vec<(u32, Option<Step>)>,
    /// Estimated cost, depth and number of each open configuration.
    queue: BinaryHeap<Reverse<(u64, u32, u32)>>,
    goals: Vec<(Config, Vec<Bearings>)>,
    steps: u64,
}

impl<'a> Hunt<'a> {
    fn new(
        problem: &'a Problem,
        target: &'a Target,
        facts: &'a Facts,
        system: &'a System,
        limits: &'a Limits,
    ) -> Hunt<'a> {
        let possible = target.configs.iter().filter(|bad| !facts.rules_out(bad));
        let goals = possible.take(GOALS).map(|bad| (bad.clone(), Vec::new())).collect();
        let (nodes, origins, queue) = (IndexSet::default(), Vec::new(), BinaryHeap::new());
        Hunt { problem, target, facts, system, limits, nodes, origins, queue, goals, steps: 0 }
    }

    fn run(&mut self, watch: &dyn Watch) -> Result<Verdict, Unknown> {
        let give_up =
            || Ok(Verdict::Unknown(Unknown::Inconclusive("no run towards the target is left".into())));
        if self.goals.is_empty() {
            return give_up();
        }
        let mut ticker = Ticker::new(self.limits);
        for (i, family) in self.problem.initial.iter().enumerate() {
            let start = family.omega();
            if let Some(verdict) = self.add(start, i as u32, None, 0) {
                return verdict;
            }
        }
        let model = &*self.problem.model;
        let (mut after, mut closest, mut popped) = (Vec::new(), f64::INFINITY, 0u64);
        while let Some(Reverse((cost, depth, at))) = self.queue.pop() {
            popped += 1;
            let config = self.nodes[at as usize].clone();
            let now = self.estimate(&config);
            // New bearings may have raised the estimate since.
            if price(depth, now) > cost {
                self.push(now, depth, at);
                continue;
            }
            if now < closest || popped.is_multiple_of(1024) {
                closest = closest.min(now);
                if self.add_bearings(&config)? {
                    let now = self.estimate(&config);
                    self.push(now, depth, at);
                    continue;
                }
            }
            if popped.is_multiple_of(1024) {
                self.report(closest, watch);
            }
            semantics::successors(model, &config, None, &mut after)?;
            for (step, next) in after.drain(..) {
                ticker.ticks(4)?;
                self.steps += 1;
                if let Some(verdict) = self.add(next, at, Some(step), depth + 1) {
                    return verdict;
                }
            }
        }
        give_up()
    }

    /// Adds a configuration if it is new, and opens it unless the target is known to be unreachable
    /// from it. Returns a verdict if it is bad.
    fn add(
        &mut self,
        config: Config,
        from: u32,
        step: Option<Step>,
        depth: u32,
    ) -> Option<Result<Verdict, Unknown>> {
        let (at, fresh) = self.nodes.insert_full(config);
        if !fresh {
            return None;
        }
        self.origins.push((from, step));
        let config = &self.nodes[at];
        if self.target.is_hit(config, &*self.problem.model) {
            return Some(self.witness(at as u32));
        }
        let now = self.estimate(config);
        self.push(now, depth, at as u32);
        None
    }

    fn push(&mut self, estimate: f64, depth: u32, at: u32) {
        if estimate.is_finite() {
            self.queue.push(Reverse((price(depth, estimate), depth, at)));
        }
    }

    /// Returns a lower bound of the number of steps to the target.
    fn estimate(&self, config: &Config) -> f64 {
        let to = |bearings: &[Bearings]| bearings.iter().map(|b| b.distance(config)).fold(0.0, f64::max);
        self.goals.iter().map(|(_, bearings)| to(bearings)).fold(f64::INFINITY, f64::min)
    }

    /// Computes new bearings at this configuration. Returns whether the estimate may have changed.
    fn add_bearings(&mut self, config: &Config) -> Result<bool, Unknown> {
        let mut changed = false;
        for (goal, bearings) in &mut self.goals {
            let known = bearings.iter().map(|b| b.distance(config)).fold(0.0, f64::max);
            if known.is_infinite() || bearings.len() >= MOST_BEARINGS {
                continue;
            }
            let new = self.system.bearings(self.problem, self.facts, goal, config, self.limits)?;
            if new.distance(config) > known + 0.5 {
                bearings.push(new);
                changed = true;
            }
        }
        Ok(changed)
    }

    fn report(&self, closest: f64, watch: &dyn Watch) {
        watch.progress(&Progress {
            engine: "guided",
            phase: format!("at least {closest:.0} steps away"),
            configurations: self.nodes.len() as u64,
            frontier: self.queue.len() as u64,
        });
    }

    fn witness(&self, end: u32) -> Result<Verdict, Unknown> {
        let mut steps = Vec::new();
        let mut at = end;
        while let (from, Some(step)) = &self.origins[at as usize] {
            steps.push(step.clone());
            at = *from;
        }
        steps.reverse();
        let family = &self.problem.initial[self.origins[at as usize].0 as usize];
        let run = run::concrete(self.problem, self.target, family, steps);
        run.map(Verdict::Unsafe).ok_or_else(Unknown::uncountable)
    }
}

/// Returns the key that orders the queue.
fn price(depth: u32, estimate: f64) -> u64 {
    // Estimates are finite here, and below 2⁵³.
    (f64::from(depth) + GREED * estimate).ceil() as u64
}
