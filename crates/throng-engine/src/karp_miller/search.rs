//! The search: grows the tree until nothing new is found or every target is decided.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::antichain::Antichain;
use super::path::Path;
use super::shorten::{Run, shorten};
use super::steps::{Led, Steps};
use super::targets::Targets;
use super::tree::{NONE, Node, NodeId, Tree};
use super::vector::{Entry, Signature};
use super::witness::{Unrolled, unroll};
use super::{KarpMiller, NAME, Order};
use crate::checkpoint::Keeper;
use crate::{Occupied, Progress, TreeStatistics, Watch};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Initial, Problem, Target};
use throng_model::verdict::{Taken, Trace, Unknown};
use throng_model::{Config, OMEGA, Persist, Shared, UNCOUNTABLE};

/// A search and its results.
pub struct Search<'p> {
    pub(super) problem: &'p Problem,
    options: &'p KarpMiller,
    pub(super) steps: Steps,
    targets: Targets<'p>,
    pub(super) tree: Tree,
    pub(super) antichain: Antichain,
    pub(super) path: Path,
    /// The nodes of the path, with the progress of the expansion of each.
    pub(super) frames: Vec<Frame>,
    /// The number of initial families that have become roots.
    pub(super) families: usize,
    /// A new node that has not been compared with the targets yet.
    pub(super) unjudged: Option<NodeId>,
    keeper: Option<&'p dyn Keeper>,
    /// The number of fired steps at which the keeper is asked next whether a state is due.
    keep_at: u64,
    ticker: Ticker<'p>,
    /// The part of the antichain's work that has been charged to the ticker.
    pub(super) ticked: u64,
    watch: &'p dyn Watch,
    reported: Instant,
    /// The number of fired steps at which the clock is read next.
    report_at: u64,
    /// For each target, a run that hits it.
    pub traces: Vec<Option<Trace>>,
    /// True for targets that are hit only by runs with too many threads to count.
    pub uncountable: Vec<bool>,
    /// The statistics so far.
    pub statistics: TreeStatistics,
    /// Number of local states that labels occupy.
    pub occupied: Occupied,
    /// Steps fired.
    pub fired: u64,
    scratch: Scratch,
}

/// The successor under construction.
#[derive(Default)]
struct Scratch {
    counts: Vec<Entry>,
    pumped: Vec<NodeId>,
}

/// Why a search ends early.
#[derive(Debug)]
pub enum Stop {
    /// All targets are decided.
    Decided,
    /// A limit was reached.
    Limit(Unknown),
}

impl From<Unknown> for Stop {
    fn from(why: Unknown) -> Stop {
        Stop::Limit(why)
    }
}

/// The progress of the expansion of a node.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The node.
    pub node: NodeId,
    /// 0: steps that keep the shared state; 1: the others. Only used if they are distinguished.
    pub pass: u8,
    /// The leader whose steps are fired: 0 for steps that take no thread, then the local states of
    /// the node.
    pub leader: usize,
    /// The next step of this leader.
    pub at: u32,
    /// The end of its steps.
    pub end: u32,
}

/// Minimum time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(250);

impl<'p> Search<'p> {
    /// Creates a search for `targets`.
    pub fn new(
        problem: &'p Problem,
        targets: &'p [Target],
        options: &'p KarpMiller,
        limits: &'p Limits,
        watch: &'p dyn Watch,
    ) -> Search<'p> {
        let model = &*problem.model;
        let mut steps = Steps::new(problem.model.clone());
        let targets_index = Targets::new(model, targets, &mut steps);
        Search {
            problem,
            options,
            steps,
            targets: targets_index,
            tree: Tree::default(),
            antichain: Antichain::default(),
            path: Path::new(!options.minimal_ancestors, !options.prune),
            frames: Vec::new(),
            families: 0,
            unjudged: None,
            // Only the default options have a checkpoint format.
            keeper: watch.keeper().filter(|_| *options == KarpMiller::default() && model.persist().is_some()),
            keep_at: 0,
            ticker: Ticker::new(limits),
            ticked: 0,
            watch,
            reported: Instant::now(),
            report_at: 0,
            traces: vec![None; targets.len()],
            uncountable: vec![false; targets.len()],
            statistics: TreeStatistics::default(),
            occupied: Occupied::default(),
            fired: 0,
            scratch: Scratch::default(),
        }
    }

    /// Searches until the tree is complete.
    pub fn run(&mut self) -> Result<(), Stop> {
        if let Some(keeper) = self.keeper
            && keeper.recall(&mut |input| self.read(input)).is_err()
        {
            return Err(Stop::Limit(Unknown::Cancelled));
        }
        let outcome = match self.options.order {
            Order::OneByOne => self.one_by_one(),
            Order::DepthFirst | Order::BreadthFirst => self.all_at_once(),
        };
        if let (Some(keeper), Err(Stop::Limit(_))) = (self.keeper, &outcome) {
            self.keep(keeper);
        }
        self.statistics.nodes = self.tree.len() as u64;
        self.statistics.antichain = self.antichain.size() as u64;
        self.statistics.comparisons = self.antichain.comparisons();
        outcome
    }

    fn keep_now_and_then(&mut self) {
        // As for reports, reading the clock would cost more than firing a step.
        let Some(keeper) = self.keeper.filter(|_| self.fired >= self.keep_at) else { return };
        self.keep_at = self.fired + 64;
        if keeper.is_due() {
            self.keep(keeper);
        }
    }

    fn keep(&self, keeper: &dyn Keeper) {
        if let Some(states) = self.problem.model.persist().map(Persist::export_states) {
            keeper.keep(&|out| self.write(&states, out));
        }
    }

    /// Returns the maximal labels, sorted.
    pub fn maximal(&self) -> Vec<Config> {
        let config = |n: NodeId| self.steps.config(self.tree.node(n).shared, self.tree.counts(n));
        let mut maximal: Vec<Config> = self.antichain.nodes().map(config).collect();
        maximal.sort_unstable();
        maximal
    }

    /// Returns the numbers of shared and of local states of the maximal labels.
    pub fn states(&self) -> (u64, u64) {
        let (mut shared, mut locals) = (FxHashSet::default(), FxHashSet::default());
        for node in self.antichain.nodes() {
            shared.insert(self.tree.node(node).shared);
            locals.extend(self.tree.counts(node).iter().map(|e| e.0));
        }
        (shared.len() as u64, locals.len() as u64)
    }

    /// Searches depth first; a successor is built only when all before it have been explored.
    ///
    /// Stops only where it can be resumed: between two steps, or before a node is compared with the
    /// targets.
    fn one_by_one(&mut self) -> Result<(), Stop> {
        loop {
            self.judge()?;
            self.keep_now_and_then();
            let Some(&(mut frame)) = self.frames.last() else {
                if self.families == self.problem.initial.len() {
                    return Ok(());
                }
                self.families += 1;
                let root = self.root(self.families - 1);
                self.enter(root);
                continue;
            };
            let step = if self.is_obsolete(frame.node) { None } else { self.next_step(&mut frame) };
            let Some(step) = step else {
                self.leave();
                continue;
            };
            self.tick()?;
            let child = self.successor(frame.node, step)?;
            let top = self.frames.len() - 1;
            self.frames[top] = frame;
            self.enter(child);
            self.report(self.frames.len());
        }
    }

    /// Searches in STAR's order: all successors of a node are discovered at once, and wait.
    fn all_at_once(&mut self) -> Result<(), Stop> {
        let mut waiting = VecDeque::new();
        for family in 0..self.problem.initial.len() {
            waiting.extend(self.root(family));
            self.judge()?;
        }
        let mut found = Vec::new();
        while let Some(node) = match self.options.order {
            Order::BreadthFirst => waiting.pop_front(),
            Order::DepthFirst | Order::OneByOne => waiting.pop_back(),
        } {
            if self.is_obsolete(node) {
                self.statistics.dropped += 1;
                continue;
            }
            self.path.switch(&self.tree, node);
            let mut frame = Frame::new(node);
            while let Some(step) = self.next_step(&mut frame) {
                self.tick()?;
                found.extend(self.successor(node, step)?);
                self.judge()?;
            }
            // Nodes that were found first are explored first.
            match self.options.order {
                Order::BreadthFirst => waiting.extend(found.drain(..)),
                Order::DepthFirst | Order::OneByOne => waiting.extend(found.drain(..).rev()),
            }
            self.report(waiting.len());
        }
        Ok(())
    }

    /// Discovers the root of an initial family.
    fn root(&mut self, family: usize) -> Option<NodeId> {
        let config = self.problem.initial[family].omega();
        let shared = self.steps.shared_id(config.shared);
        self.scratch.counts = self.steps.vector(&config.threads);
        self.scratch.pumped.clear();
        self.discover(shared, NONE, family as u32)
    }

    /// Continues with a node, if there is one.
    fn enter(&mut self, node: Option<NodeId>) {
        if let Some(node) = node {
            self.path.push(&self.tree, node);
            self.frames.push(Frame::new(node));
        }
    }

    fn leave(&mut self) {
        self.frames.pop();
        let left = self.path.pop();
        // Only the antichain still needs labels, and only the undominated ones.
        if let Some(node) = left.filter(|&n| self.tree.node(n).dominated) {
            self.tree.forget(node);
        }
    }

    /// Returns whether the (remaining) successors of a node are not needed.
    fn is_obsolete(&self, node: NodeId) -> bool {
        self.options.drop_covered && self.tree.node(node).dominated
    }

    /// Returns the next step to fire at a node, in the requested order.
    fn next_step(&mut self, frame: &mut Frame) -> Option<u32> {
        while frame.at == frame.end {
            let node = self.tree.node(frame.node);
            if frame.leader > node.counts.len() {
                if !self.options.same_shared_first || frame.pass == 1 {
                    return None;
                }
                (frame.pass, frame.leader) = (1, 0);
            }
            let Led { start, middle, end } = match frame.leader {
                0 => self.steps.without_leader(node.shared),
                i if self.steps.has_sets() => {
                    // The newest local states lead first: they tend to be the larger sets.
                    self.steps.led_by(node.shared, node.counts[node.counts.len() - i].0)
                }
                i => self.steps.led_by(node.shared, node.counts[i - 1].0),
            };
            frame.leader += 1;
            (frame.at, frame.end) = match (self.options.same_shared_first, frame.pass) {
                (false, _) => (start, end),
                (true, 0) => (start, middle),
                (true, _) => (middle, end),
            };
        }
        frame.at += 1;
        Some(frame.at - 1)
    }

    /// Fires a step, accelerates, and discovers the result, unless the step is not enabled or the
    /// label is covered.
    fn successor(&mut self, node: NodeId, id: u32) -> Result<Option<NodeId>, Unknown> {
        let step = self.steps.step(id);
        let (parent, to) = (self.tree.node(node), step.to);
        if !step.fire(&parent.counts, &mut self.scratch.counts) {
            return Ok(None);
        }
        if self.scratch.counts.iter().any(|e| e.1 >= UNCOUNTABLE && e.1 != OMEGA) {
            return Err(Unknown::uncountable());
        }
        self.fired += 1;
        self.steps.absorb(&mut self.scratch.counts, Some(&step.give));
        if to == parent.shared && *self.scratch.counts == *parent.counts {
            return Ok(None);
        }
        self.scratch.pumped.clear();
        Ok(self.discover(to, node, id))
    }

    /// Checks the limits now and then: after many steps, or a few that required many comparisons.
    fn tick(&mut self) -> Result<(), Unknown> {
        self.ticker.tick()?;
        self.ticker.ticks(self.steps.take_work())?;
        while self.ticked < self.antichain.looked_at() {
            self.ticked += 1024;
            self.ticker.tick()?;
        }
        Ok(())
    }

    /// Adds the label in the scratch to the tree, if it is new; the node must be compared with the
    /// targets next.
    fn discover(&mut self, shared: u32, parent: NodeId, step: u32) -> Option<NodeId> {
        let Scratch { counts, pumped } = &mut self.scratch;
        let mut plain = Signature::of(counts);
        // Acceleration comes first: it makes labels larger, so one that is covered before it may
        // not be covered after it.
        self.path.accelerate(&self.tree, shared, &mut plain, counts, pumped);
        if !pumped.is_empty() {
            self.steps.absorb(counts, None);
            plain = Signature::of(counts);
        }
        let signature = self.steps.signature(plain, counts);
        let known = if self.options.prune {
            self.antichain.covers(&self.tree, &self.steps, shared, signature, counts)
        } else {
            self.path.has(&self.tree, shared, counts)
        };
        if known {
            return None;
        }
        self.statistics.accelerations += pumped.len() as u64;
        self.occupied.count(counts.len());
        let node = self.tree.push(Node {
            shared,
            parent,
            step,
            counts: counts.as_slice().into(),
            signature,
            plain,
            pumped: pumped.as_slice().into(),
            dominated: false,
        });
        self.insert(node);
        self.unjudged = Some(node);
        Some(node)
    }

    /// Lists a new node among the maximal ones and marks those that it covers as dominated.
    fn insert(&mut self, new: NodeId) {
        let n = self.tree.node(new);
        // Without pruning, a discovered label may be covered.
        let is_covered = !self.options.prune
            && self.antichain.covers(&self.tree, &self.steps, n.shared, n.signature, &n.counts);
        let dropped =
            if is_covered { Vec::new() } else { self.antichain.insert(&self.tree, &self.steps, new) };
        for node in dropped {
            self.tree.dominate(node);
            // In other orders, a switch of branches needs the labels of earlier nodes.
            if self.options.order == Order::OneByOne && !self.path.contains(node) {
                self.tree.forget(node);
            }
        }
        self.statistics.antichain_peak = self.statistics.antichain_peak.max(self.antichain.size() as u64);
    }

    /// Checks which targets the new node hits, if there is one, and finds the runs.
    fn judge(&mut self) -> Result<(), Stop> {
        let Some(node) = self.unjudged else { return Ok(()) };
        let mut hits = Vec::new();
        let n = self.tree.node(node);
        let open = |target: usize| self.traces[target].is_none() && !self.uncountable[target];
        self.targets.hits(&self.steps, n.shared, &n.counts, open, |target, bad| hits.push((target, bad)));
        for (target, bad) in hits {
            if self.is_open(target) {
                match self.trace(node, target, bad) {
                    Ok(trace) => self.traces[target] = Some(trace),
                    Err(why) if why == Unknown::uncountable() => self.uncountable[target] = true,
                    Err(why) => return Err(why.into()),
                }
            }
        }
        self.unjudged = None;
        let mut targets = 0..self.traces.len();
        let decided = !targets.is_empty() && !targets.any(|target| self.is_open(target));
        if decided { Err(Stop::Decided) } else { Ok(()) }
    }

    fn is_open(&self, target: usize) -> bool {
        self.traces[target].is_none() && !self.uncountable[target]
    }

    /// Returns a concrete run into the target, which the label of `node` covers.
    fn trace(&mut self, node: NodeId, target: usize, bad: usize) -> Result<Trace, Unknown> {
        let goal = self.goal(node, target, bad);
        let Unrolled { need, steps } = unroll(&self.tree, &self.steps, node, goal.clone(), &mut self.ticker)?;
        let root = self.tree.node(self.tree.branch(node)[0]);
        let family = &self.problem.initial[root.step as usize];
        let fixed = self.steps.vector(&family.threads);
        let run = Run { shared: root.shared, start: join(&need, &fixed), steps };
        let run = shorten(run, &goal, &self.steps, |need| join(need, &fixed), &mut self.ticker)?;
        Ok(self.as_trace(&run, family))
    }

    /// Returns exactly the threads of the label that the target needs.
    fn goal(&mut self, node: NodeId, target: usize, bad: usize) -> Vec<Entry> {
        let n = self.tree.node(node);
        let bad = self.targets.config(target, bad);
        if self.problem.model.is_exact() {
            let needed = n.counts.iter().map(|&(l, _)| (l, bad.threads.count(self.steps.local(l))));
            return needed.filter(|e| e.1 > 0).collect();
        }
        let most = bad.threads.size();
        let mut goal: Vec<Entry> = n.counts.iter().map(|&(l, n)| (l, n.min(most))).collect();
        goal.retain(|e| e.1 > 0);
        let mut i = 0;
        while i < goal.len() {
            let mut fewer = goal.clone();
            super::vector::remove(&mut fewer, goal[i].0, 1);
            if self.steps.config(n.shared, &fewer).may_cover(bad, &*self.problem.model) {
                goal = fewer;
            } else {
                i += 1;
            }
        }
        goal
    }

    fn as_trace(&self, run: &Run, family: &Initial) -> Trace {
        let mut configs = run.configs(&self.steps).into_iter().map(|(s, v)| self.steps.config(s, &v));
        let start = configs.next().unwrap_or_else(|| Config::new(Shared(0), family.threads.clone()));
        let originals = run.steps.iter().map(|&id| self.steps.original(id).clone());
        Trace { start, steps: originals.zip(configs).map(|(step, after)| Taken { step, after }).collect() }
    }

    /// Reports progress now and then.
    fn report(&mut self, frontier: usize) {
        if self.fired < self.report_at {
            return;
        }
        self.report_at = self.fired + 1024;
        if self.reported.elapsed() < REPORT_EVERY {
            return;
        }
        self.reported = Instant::now();
        self.watch.progress(&Progress {
            engine: NAME,
            phase: format!("{} maximal, path of {}", self.antichain.size(), self.path.len()),
            configurations: self.tree.len() as u64,
            frontier: frontier as u64,
        });
    }
}

impl Frame {
    /// Creates a frame for a node.
    fn new(node: NodeId) -> Frame {
        Frame { node, pass: 0, leader: 0, at: 0, end: 0 }
    }
}

/// Returns the larger count of each local state.
fn join(a: &[Entry], b: &[Entry]) -> Vec<Entry> {
    let mut joined = b.to_vec();
    for &(l, n) in a {
        let have = super::vector::count(&joined, l);
        if n > have && have != OMEGA {
            super::vector::add(&mut joined, l, n - have);
        }
    }
    joined
}
