//! Backward search over upward-closed sets: complete for any number of threads, signals and
//! broadcasts included.
//!
//! # Idea
//!
//! Whatever covers a bad configuration is bad, and larger configurations can do at least as much as
//! smaller ones. So the set of configurations from which the target can be covered is upward
//! closed, and by Dickson's lemma it has finitely many minimal elements (Abdulla, Čerāns, Jonsson,
//! Tsay 1996; IJIT, section 4). Start with the target, add the minimal predecessors of every
//! element ([`semantics::unfire`]), keep only minimal ones (`basis`), smallest first. If one covers
//! an initial configuration the answer is UNSAFE, and a forward replay along the chain of elements
//! gives a run (`witness`). If nothing new appears, the basis is the certificate.
//!
//! Where states stand for sets, an element stands for the upward closure of every concrete
//! configuration of its product, and it is covered by another if every one of them is. `pre` splits
//! only on variables that a statement mentions, so elements are cubes over the variables and an
//! assertion over many shared variables does not become exponentially many elements.
//!
//! Where the presence of threads blocks a step ([`throng_model::Traits::blocking`]), larger
//! configurations may do less. Every predecessor is still above a computed one, so SAFE holds; but
//! an initial configuration above the basis proves nothing, and the answer is UNKNOWN.
//!
//! # Termination
//!
//! For a given model there are finitely many states (points × masks), and bags over a finite set
//! are well-quasi-ordered.

pub(super) mod basis;
pub(super) mod into;
mod pruning;
pub(super) mod witness;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use self::basis::Basis;
use self::into::StepsInto;
use self::pruning::Pruning;
use super::facts::FactStore;
use super::{Algorithm, Answer, Progress, Statistics, Watch};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, Unknown, Verdict};
use throng_model::{Config, Model, Step, semantics};

/// Backward search without pruning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backward;

impl Algorithm for Backward {
    fn name(&self) -> &'static str {
        "backward"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        run(problem, None, limits, watch)
    }
}

/// The engine `backward`, pruned by what provably cannot be reached forward (`pruning`).
#[derive(Clone, Debug, Default)]
pub struct Pruned {
    /// The shared facts, among them views.
    pub store: Arc<FactStore>,
}

impl Algorithm for Pruned {
    fn name(&self) -> &'static str {
        "backward"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        // The search is complete without facts, too.
        match self.store.get_or_find(problem, limits) {
            Ok(facts) => run(problem, Some(&Pruning::new(problem, facts, limits)), limits, watch),
            Err(_) => {
                let mut answer = run(problem, None, limits, watch);
                answer.statistics.configurations += self.store.views_so_far(problem);
                answer
            }
        }
    }
}

fn run(problem: &Problem, pruning: Option<&Pruning>, limits: &Limits, watch: &dyn Watch) -> Answer {
    let mut statistics = Statistics::default();
    let mut verdicts = Vec::new();
    for (i, target) in problem.targets.iter().enumerate() {
        let verdict =
            search(problem, target, pruning, limits, watch, &mut statistics).unwrap_or_else(Verdict::Unknown);
        watch.found(i, &verdict);
        verdicts.push(verdict);
    }
    Answer::new(verdicts, statistics)
}

/// Returns an error if backward search cannot answer this problem.
pub(super) fn applies(problem: &Problem) -> Result<(), Unknown> {
    let refuse = |why: String| Err(Unknown::NotForThisModel(why));
    if problem.bound != Bound::Any {
        return refuse("backward search is for any number of threads; with a bound use `explicit`".into());
    }
    if problem.model.predecessors().is_none() {
        return refuse("this model lists no predecessors; use a forward engine such as `explicit`".into());
    }
    Ok(())
}

/// An element, and the step by which it leads to its successor element.
struct Node {
    config: Config,
    next: Option<(usize, Step)>,
    /// True while it is minimal.
    alive: bool,
}

struct Search<'a> {
    problem: &'a Problem,
    model: &'a dyn Model,
    pruning: Option<&'a Pruning<'a>>,
    nodes: Vec<Node>,
    basis: Basis<'a>,
    /// Smallest elements first, then those closest to the target.
    queue: BinaryHeap<Reverse<(u32, u32, usize)>>,
    into: StepsInto<'a>,
    steps: u64,
}

fn search(
    problem: &Problem,
    target: &Target,
    pruning: Option<&Pruning>,
    limits: &Limits,
    watch: &dyn Watch,
    statistics: &mut Statistics,
) -> Result<Verdict, Unknown> {
    applies(problem)?;
    let mut search = Search {
        problem,
        model: &*problem.model,
        pruning,
        nodes: Vec::new(),
        basis: Basis::new(&*problem.model),
        queue: BinaryHeap::new(),
        into: StepsInto::new(&*problem.model),
        steps: 0,
    };
    let found = search.run(target, limits, watch);
    statistics.configurations += search.nodes.len() as u64;
    statistics.steps += search.steps;
    match found? {
        Some(start) => match problem.model.blocking() {
            Some(why) => {
                Err(Unknown::Inconclusive(format!("{why}: a backward path to the target need not be a run")))
            }
            None => search.witness(start, target, limits),
        },
        None => {
            let basis = search.basis.into_elements();
            Ok(Verdict::Safe(match pruning {
                Some(pruning) => pruning.certificate(basis),
                None => Certificate::Upward(Arc::new(basis)),
            }))
        }
    }
}

impl Search<'_> {
    /// Returns the element that covers an initial configuration, if the target can be covered.
    fn run(&mut self, target: &Target, limits: &Limits, watch: &dyn Watch) -> Result<Option<usize>, Unknown> {
        // A ticker checks the limits only after a while, and there may be thousands of targets.
        limits.check()?;
        let mut ticker = Ticker::new(limits);
        for config in &target.configs {
            ticker.ticks(1 + self.basis.len() as u32 / 8)?;
            if let Some(start) = self.add(config.clone(), None, 0) {
                return Ok(Some(start));
            }
        }
        let mut before = Vec::new();
        while let Some(Reverse((_, depth, at))) = self.queue.pop() {
            if !self.nodes[at].alive {
                continue;
            }
            self.report(watch);
            let config = self.nodes[at].config.clone();
            if let Some(pruning) = self.pruning
                && pruning.learns_to_rule_out(&config, self.steps)?
            {
                // Everything that was left out because it is above this element is excluded with
                // it.
                self.basis.remove(&config, at);
                continue;
            }
            for step in self.into.list(&config)? {
                ticker.tick()?;
                self.steps += 1;
                semantics::unfire(self.model, &config, &step, &mut before)?;
                for predecessor in before.drain(..) {
                    // Most of the time is spent on comparisons with the basis.
                    ticker.ticks(1 + self.basis.len() as u32 / 8)?;
                    if let Some(start) = self.add(predecessor, Some((at, step.clone())), depth + 1) {
                        return Ok(Some(start));
                    }
                }
                if !self.nodes[at].alive {
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Adds an element if no smaller one is known. Returns its node if it covers an initial
    /// configuration.
    fn add(&mut self, config: Config, next: Option<(usize, Step)>, depth: u32) -> Option<usize> {
        if self.basis.is_above(&config) || self.pruning.is_some_and(|p| p.rules_out(&config)) {
            return None;
        }
        let at = self.nodes.len();
        for larger in self.basis.insert(&config, at) {
            self.nodes[larger].alive = false;
        }
        let starts = self.problem.initial.iter().any(|family| family.omega().may_cover(&config, self.model));
        self.queue.push(Reverse((config.threads.size(), depth, at)));
        self.nodes.push(Node { config, next, alive: true });
        starts.then_some(at)
    }

    fn report(&self, watch: &dyn Watch) {
        if self.nodes.len().is_multiple_of(1024) {
            watch.progress(&Progress {
                engine: "backward",
                phase: format!("basis of {}", self.basis.len()),
                configurations: self.nodes.len() as u64,
                frontier: self.queue.len() as u64,
            });
        }
    }

    /// Returns a run along the chain of elements from `start` to the target.
    fn witness(&self, start: usize, target: &Target, limits: &Limits) -> Result<Verdict, Unknown> {
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
