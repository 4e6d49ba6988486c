//! Turns a run of the localised program into a run of the program, or into the variables that it
//! lacks.
//!
//! A step of the smaller program stands for some steps of a thread that change no kept variable,
//! and one that does. So its run is followed step by step: the thread that leads the next step
//! moves within its class of places, by any of its steps, until it can take one whose image is that
//! step. The shortest way to such a place is tried first, and the configuration that has come
//! furthest is continued first, so without obstacles the search is as long as the run that it
//! finds.
//!
//! Where the search is stuck, a condition or a value depends on a variable that is not kept; such
//! variables are added.
//!
//! This search need not be correct: its result consists of steps of the program, and the checker
//! replays it. If it finds no run, that proves nothing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::variables::{Dependences, Variable, Variables};
use throng_lang::bp::program::{Coded, EdgeKind};
use throng_model::limits::{Limits, Ticker};
use throng_model::localisation::LocalisedModel;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Taken, Trace, Unknown};
use throng_model::{Config, Incomplete, Local, Model, Step, semantics};

/// The result of following a run.
pub(super) enum Followed {
    /// A run of the program.
    Run(Trace),
    /// The variables that are read but not kept where the search was stuck.
    Lacks(Variables),
}

/// Maximum number of configurations explored between two steps of the smaller program, besides four
/// for each place on the way.
const PATIENCE: usize = 1 << 10;

/// Maximum number of configurations at which the search was stuck that are examined for missing
/// variables.
const MOST_STUCK: usize = 16;

/// The context in which a run is followed.
pub(super) struct Follow<'a> {
    pub(super) problem: &'a Problem,
    /// The target in the program.
    pub(super) target: &'a Target,
    pub(super) states: &'a dyn Coded,
    pub(super) dependences: &'a Dependences<'a>,
    pub(super) kept: &'a Variables,
    pub(super) smaller: &'a LocalisedModel,
    pub(super) limits: &'a Limits,
}

/// The distance in edges of each place of a class from one where the next step of the smaller
/// program can be taken.
type Distances = FxHashMap<u32, u32>;

/// One step of the smaller program.
struct Leg<'a> {
    /// The state of the thread that leads it.
    leader: Local,
    distances: Rc<Distances>,
    before: &'a Config,
    after: &'a Config,
    step: &'a Step,
}

/// A configuration of the program, and the number of steps of the smaller one that led there.
struct Node {
    config: Config,
    done: usize,
    origin: Option<(usize, Step)>,
}

impl Follow<'_> {
    /// Returns a run of the program along `run`, if one is found.
    pub(super) fn along(&self, run: &Trace) -> Result<Followed, Unknown> {
        let Some(legs) = self.legs(run) else { return Ok(Followed::Lacks(Variables::new())) };
        let mut search = Search {
            follow: self,
            legs: &legs,
            nodes: Vec::new(),
            known: FxHashSet::default(),
            queue: BinaryHeap::new(),
            explored: vec![0; legs.len() + 1],
            stuck: (0, u32::MAX, Vec::new()),
        };
        for start in self.starts(&run.start) {
            if let Some(end) = search.add(start, 0, None) {
                return Ok(Followed::Run(search.trace(end)));
            }
        }
        let mut ticker = Ticker::new(self.limits);
        while let Some(Reverse((_, distance, Reverse(at)))) = search.queue.pop() {
            ticker.ticks(4)?;
            if let Some(end) = search.expand(at, distance) {
                return Ok(Followed::Run(search.trace(end)));
            }
        }
        Ok(Followed::Lacks(search.lacks()))
    }

    /// Returns the initial configurations of the program whose image is that of the run.
    fn starts(&self, start: &Config) -> Vec<Config> {
        let mut found = Vec::new();
        for family in &self.problem.initial {
            let image =
                Config::new(self.smaller.shared(family.shared), self.smaller.threads(&family.threads));
            let Some(more) = start.threads.minus(&image.threads).filter(|_| image.shared == start.shared)
            else {
                continue;
            };
            let origin = |&(l, n): &(Local, u32)| {
                family.any.iter().find(|&&any| self.smaller.local(any) == l).map(|&any| (any, n))
            };
            if let Some(more) = more.entries().iter().map(origin).collect::<Option<Vec<_>>>() {
                let mut threads = family.threads.clone();
                more.into_iter().for_each(|(l, n)| threads.insert(l, n));
                found.push(Config::new(family.shared, threads));
            }
        }
        found
    }

    fn point(&self, l: Local) -> u32 {
        self.states.local_cube(l).0
    }

    /// Returns the steps of the smaller program; `None` if one has no leader.
    fn legs<'t>(&self, run: &'t Trace) -> Option<Vec<Leg<'t>>> {
        let program = self.dependences.program;
        let blank = |p: u32| self.states.encode_local(p, &program.free_slots(p));
        let class: Vec<u32> =
            (0..program.points.len() as u32).map(|p| self.point(self.smaller.local(blank(p)))).collect();
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); program.points.len()];
        // Edges that have an image in the smaller program, by the classes that they lead from and
        // to.
        let mut seen: FxHashMap<(u32, Option<u32>), Vec<u32>> = FxHashMap::default();
        for (edge, access) in program.edges.iter().zip(&self.dependences.accesses) {
            let (from, to) = (class[edge.from as usize], edge.to.map(|to| class[to as usize]));
            if let Some(next) = edge.to.filter(|_| to == Some(from)) {
                into[next as usize].push(edge.from);
            }
            let silent = edge.child.is_none() && edge.kind == EdgeKind::Plain && !access.touches(self.kept);
            if to != Some(from) || !silent {
                seen.entry((from, to)).or_default().push(edge.from);
            }
        }
        let mut known: FxHashMap<(u32, Option<u32>), Rc<Distances>> = FxHashMap::default();
        let mut legs = Vec::new();
        let mut before = &run.start;
        for Taken { step, after } in &run.steps {
            let &[(leader, 1)] = step.take.entries() else { return None };
            let between = (self.point(leader), step.put.entries().first().map(|&(l, _)| self.point(l)));
            let distances = known.entry(between).or_insert_with(|| {
                let last = seen.get(&between).map_or(&[][..], |points| points);
                Rc::new(distances(last, &into))
            });
            legs.push(Leg { leader, distances: distances.clone(), before, after, step });
            before = after;
        }
        Some(legs)
    }
}

/// Returns the distance of each place from one of the `last`.
fn distances(last: &[u32], into: &[Vec<u32>]) -> Distances {
    let mut found: Distances = last.iter().map(|&p| (p, 0)).collect();
    let mut todo: VecDeque<u32> = last.iter().copied().collect();
    while let Some(p) = todo.pop_front() {
        let next = found[&p] + 1;
        for &q in &into[p as usize] {
            found.entry(q).or_insert_with(|| {
                todo.push_back(q);
                next
            });
        }
    }
    found
}

/// The order of the search: the fewest legs left, then the shortest distance, then the newest.
type Queue = BinaryHeap<Reverse<(usize, u32, Reverse<usize>)>>;

struct Search<'a> {
    follow: &'a Follow<'a>,
    legs: &'a [Leg<'a>],
    nodes: Vec<Node>,
    known: FxHashSet<(usize, Config)>,
    queue: Queue,
    /// The number of configurations explored after each number of legs.
    explored: Vec<usize>,
    /// The largest number of legs done, then the shortest distance that occurred there, and its
    /// nodes.
    stuck: (usize, u32, Vec<usize>),
}

impl Search<'_> {
    fn model(&self) -> &dyn Model {
        &*self.follow.problem.model
    }

    /// Returns the threads that may lead the next leg, with their distances.
    fn leaders(&self, config: &Config, done: usize) -> Vec<(u32, Local)> {
        let Some(leg) = self.legs.get(done) else { return Vec::new() };
        let leads = |l: Local| self.model().meets_local(self.follow.smaller.local(l), leg.leader);
        let entries = config.threads.entries().iter().filter(|e| leads(e.0));
        entries.filter_map(|&(l, _)| Some((*leg.distances.get(&self.follow.point(l))?, l))).collect()
    }

    /// Adds a configuration. Returns its number if it is bad.
    fn add(&mut self, config: Config, done: usize, origin: Option<(usize, Step)>) -> Option<usize> {
        let is_bad = done == self.legs.len() && self.follow.target.is_hit(&config, self.model());
        let distance = self.leaders(&config, done).into_iter().map(|(d, _)| d).min();
        if !is_bad && (distance.is_none() || !self.known.insert((done, config.clone()))) {
            return None;
        }
        let at = self.nodes.len();
        self.nodes.push(Node { config, done, origin });
        if let Some(distance) = distance {
            self.queue.push(Reverse((self.legs.len() - done, distance, Reverse(at))));
        }
        is_bad.then_some(at)
    }

    /// Adds the successors of a configuration by the threads that may lead the next leg. Returns
    /// the number of a bad one, if there is one.
    fn expand(&mut self, at: usize, distance: u32) -> Option<usize> {
        let (config, done) = (self.nodes[at].config.clone(), self.nodes[at].done);
        let leg = self.legs.get(done)?;
        self.explored[done] += 1;
        if self.explored[done] > PATIENCE + 4 * leg.distances.len() {
            return None;
        }
        if (done, Reverse(distance)) > (self.stuck.0, Reverse(self.stuck.1)) {
            self.stuck = (done, distance, Vec::new());
        }
        if (done, distance) == (self.stuck.0, self.stuck.1) && self.stuck.2.len() < MOST_STUCK {
            self.stuck.2.push(at);
        }
        let bound = self.follow.problem.bound.threads();
        for (_, l) in self.leaders(&config, done) {
            let (mut steps, mut after) = (Vec::new(), Vec::new());
            // Any step that fits will do, so an incomplete list does not matter.
            Incomplete::irrelevant(self.model().post(config.shared, l, &mut steps));
            for step in steps {
                Incomplete::irrelevant(semantics::fire(self.model(), &config, &step, bound, &mut after));
                for next in after.drain(..) {
                    let image = self.follow.smaller.config(&next);
                    let is_like = |other: &Config| {
                        image.threads.size() == other.threads.size() && image.may_cover(other, self.model())
                    };
                    let (goes, stays) = (is_like(leg.after), is_like(leg.before));
                    for (done, _) in [(done + 1, goes), (done, stays)].into_iter().filter(|e| e.1) {
                        if let Some(end) = self.add(next.clone(), done, Some((at, step.clone()))) {
                            return Some(end);
                        }
                    }
                }
            }
        }
        None
    }

    /// Returns the variables that are read but not kept where the search came furthest.
    fn lacks(&self) -> Variables {
        let (done, _, nodes) = &self.stuck;
        let Some(leg) = self.legs.get(*done) else { return Variables::new() };
        let program = self.follow.dependences.program;
        let mut edges: Vec<u32> =
            self.follow.smaller.original(leg.step.edge).map(|step| step.edge.0).into_iter().collect();
        for &at in nodes {
            for (distance, l) in self.leaders(&self.nodes[at].config, *done) {
                // These are the edges that lead closer, and all edges from the last place.
                let closer = |to: u32| leg.distances.get(&to).is_some_and(|&d| d < distance);
                let wanted = |&&e: &&u32| distance == 0 || program.edges[e as usize].to.is_some_and(closer);
                edges.extend(program.points[self.follow.point(l) as usize].edges.iter().filter(wanted));
            }
        }
        let mut found = Variables::new();
        for e in edges {
            let access = &self.follow.dependences.accesses[e as usize];
            found.extend(&access.tests);
            let kept = |v: &Option<Variable>| v.is_some_and(|v| self.follow.kept.contains(&v));
            found.extend(access.assigns.iter().filter(|(v, _)| kept(v)).flat_map(|(_, read)| read));
        }
        found.retain(|v| !self.follow.kept.contains(v));
        found
    }

    fn trace(&self, end: usize) -> Trace {
        let mut steps = Vec::new();
        let mut at = end;
        while let Some((from, step)) = &self.nodes[at].origin {
            steps.push(Taken { step: step.clone(), after: self.nodes[at].config.clone() });
            at = *from;
        }
        steps.reverse();
        Trace { start: self.nodes[at].config.clone(), steps }
    }
}
