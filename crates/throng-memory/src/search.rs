//! The search through the executions of a program: breadth first, event by event.
//!
//! Every consistent graph can be built by adding one event at a time such that what it reads from
//! is there already, because program order and reads-from together have no cycle; and every graph on
//! the way is consistent. Each graph is met once.

use crate::axioms::{Judgement, judge};
use crate::graph::{Event, Graph, Id};
use crate::order::Order;
use crate::program::{Offer, Program, Reading};
use crate::rules::{Kind, Location};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// A graph and the states of its threads.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Execution<S> {
    /// What has happened.
    pub graph: Graph,
    /// Where the threads are.
    pub states: Vec<S>,
}

/// What a search looks at, and how far.
pub struct Search<'s> {
    /// The most events of a graph.
    pub events: usize,
    /// The most graphs.
    pub graphs: usize,
    /// The most threads; more are not started.
    pub threads: usize,
    /// The first so many threads start alike, so that only one order in which they begin is looked
    /// at.
    pub alike: usize,
    /// Returns whether to stop at once.
    pub stop: &'s dyn Fn() -> bool,
}

impl Default for Search<'_> {
    fn default() -> Self {
        Search { events: 64, graphs: 1_000_000, threads: usize::MAX, alike: 0, stop: &|| false }
    }
}

/// What the search says about each graph.
pub enum Met<'e, S> {
    /// A consistent graph.
    Graph(&'e Execution<S>, &'e Judgement),
    /// An assertion that fails in a consistent graph: the thread and the place.
    Failure(&'e Execution<S>, usize, u32),
    /// A consistent graph in which no thread can do anything; whether all have ended.
    Complete(&'e Execution<S>, bool),
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// There are no more graphs.
    Exhausted,
    /// Some graphs have more events than it looks at.
    Events,
    /// There are more graphs than it looks at.
    Graphs,
    /// It was stopped, by the visitor or from outside.
    Stopped,
}

impl Search<'_> {
    /// Goes through all executions; `visit` returns whether to go on.
    pub fn run<P: Program>(&self, program: &P, visit: &mut dyn FnMut(Met<'_, P::State>) -> bool) -> Ended {
        self.run_from(program, starts(program), visit)
    }

    /// The same from these executions on.
    pub fn run_from<P: Program>(
        &self,
        program: &P,
        starts: Vec<Execution<P::State>>,
        visit: &mut dyn FnMut(Met<'_, P::State>) -> bool,
    ) -> Ended {
        let mut seen = FxHashSet::from_iter(starts.iter().cloned());
        let mut open = VecDeque::from(starts);
        let mut ended = Ended::Exhausted;
        while let Some(execution) = open.pop_front() {
            if (self.stop)() {
                return Ended::Stopped;
            }
            let extensions = Extensions::of(program, &execution, (self.threads, self.alike));
            for &(thread, site) in &extensions.failures {
                if !visit(Met::Failure(&execution, thread, site)) {
                    return Ended::Stopped;
                }
            }
            if extensions.cut {
                ended = Ended::Events;
            }
            if extensions.found.is_empty() && extensions.failures.is_empty() {
                if !visit(Met::Complete(&execution, extensions.finished)) {
                    return Ended::Stopped;
                }
                continue;
            }
            for next in extensions.found {
                if next.graph.len() > self.events {
                    ended = Ended::Events;
                    continue;
                }
                if seen.contains(&next) {
                    continue;
                }
                let grown = next.graph.len() > execution.graph.len();
                if grown {
                    let Some(judgement) = judge(&next.graph) else { continue };
                    if !visit(Met::Graph(&next, &judgement)) {
                        return Ended::Stopped;
                    }
                }
                if seen.len() >= self.graphs {
                    return Ended::Graphs;
                }
                seen.insert(next.clone());
                open.push_back(next);
            }
        }
        ended
    }
}

/// The executions before anything has happened.
pub(crate) fn starts<P: Program>(program: &P) -> Vec<Execution<P::State>> {
    let states = program.threads();
    let mut starts = vec![Execution { graph: Graph::new(states.len()), states }];
    for thread in 0..starts[0].states.len() {
        starts = starts.iter().flat_map(|start| settled(program, start, thread)).collect();
    }
    starts
}

/// An execution, and the assertion that fails in it: the thread and the place.
type Failed<S> = (Execution<S>, Option<(usize, u32)>);

/// What a thread can make of an execution by what it offers; consistent or not.
pub(crate) fn after<P: Program>(
    program: &P,
    execution: &Execution<P::State>,
    thread: usize,
    offer: Offer<P::State>,
) -> Vec<Failed<P::State>> {
    let mut next = Extensions { found: Vec::new(), failures: Vec::new(), finished: true, cut: false };
    next.take(program, execution, thread, offer, usize::MAX);
    let failures = next.failures.into_iter().map(|failure| (execution.clone(), Some(failure)));
    next.found.into_iter().map(|found| (found, None)).chain(failures).collect()
}

/// All that can happen next.
struct Extensions<S> {
    found: Vec<Execution<S>>,
    failures: Vec<(usize, u32)>,
    /// Every thread has ended.
    finished: bool,
    /// Some thread was not started.
    cut: bool,
}

impl<S: Clone + Eq> Extensions<S> {
    fn of<P: Program<State = S>>(
        program: &P,
        execution: &Execution<S>,
        (threads, alike): (usize, usize),
    ) -> Extensions<S> {
        let mut next = Extensions { found: Vec::new(), failures: Vec::new(), finished: true, cut: false };
        for thread in 0..execution.states.len() {
            for offer in program.offers(&execution.states[thread]) {
                next.finished = false;
                if waits_for_its_turn(execution, thread, alike) {
                    continue;
                }
                next.take(program, execution, thread, offer, threads);
            }
        }
        next
    }

    /// Adds what a thread did, with what it does on its own afterwards.
    fn add<P: Program<State = S>>(&mut self, program: &P, after: Execution<S>, thread: usize) {
        self.found.extend(settled(program, &after, thread));
    }

    fn take<P: Program<State = S>>(
        &mut self,
        program: &P,
        execution: &Execution<S>,
        thread: usize,
        offer: Offer<S>,
        threads: usize,
    ) {
        match offer {
            // It was looked at when the thread came here.
            Offer::Local(_) => {}
            Offer::Fail { site } => self.failures.push((thread, site)),
            Offer::Fence { order, site, next } => {
                let event = Event { kind: Kind::Fence, location: 0, order, read: None, written: None, site };
                let graph = execution.graph.with(thread, event, None);
                self.add(program, Execution { graph, ..moved(execution, thread, next) }, thread);
            }
            Offer::Store { location, value, order, site, next } => {
                let event =
                    Event { kind: Kind::Store, location, order, read: None, written: Some(value), site };
                self.store(program, &known(program, execution, location), (thread, event, next));
            }
            Offer::Read { location, instruction, site } => {
                let execution = known(program, execution, location);
                self.read(program, &execution, thread, (location, instruction, site));
            }
            Offer::Create { child, next } => {
                if execution.states.len() < threads {
                    let child_number = execution.states.len();
                    for after in settled(program, &created(execution, thread, child, next), child_number) {
                        self.add(program, after, thread);
                    }
                } else {
                    self.cut = true;
                }
            }
            Offer::Join { thread: other, next } => {
                let ended = execution.states.get(other).is_some_and(|s| program.offers(s).is_empty());
                if ended {
                    let mut after = moved(execution, thread, next);
                    let events = after.graph.threads[thread].len() as u16;
                    after.graph.joined.push((thread as u16, events, other as u16));
                    after.graph.joined.sort_unstable();
                    self.add(program, after, thread);
                }
            }
        }
    }

    /// A store may come after any write of its location.
    fn store<P: Program<State = S>>(
        &mut self,
        program: &P,
        execution: &Execution<S>,
        (thread, event, next): (usize, Event, S),
    ) {
        for &after in &execution.graph.writes[&event.location] {
            let graph = execution.graph.with(thread, event.clone(), Some(after));
            self.add(program, Execution { graph, ..moved(execution, thread, next.clone()) }, thread);
        }
    }

    /// A read may read from any write of its location.
    fn read<P: Program<State = S>>(
        &mut self,
        program: &P,
        execution: &Execution<S>,
        thread: usize,
        (location, instruction, site): (Location, usize, u32),
    ) {
        for &write in &execution.graph.writes[&location] {
            let value = execution.graph.value(write);
            let Some(Reading { order, writes, next }) =
                program.read(&execution.states[thread], instruction, value)
            else {
                continue;
            };
            let kind = if writes.is_some() { Kind::Update } else { Kind::Load };
            let event = Event { kind, location, order, read: Some((value, write)), written: writes, site };
            let graph = execution.graph.with(thread, event, writes.map(|_| write));
            self.add(program, Execution { graph, ..moved(execution, thread, next) }, thread);
        }
    }
}

/// Where a thread gets to on its own: at each place where it may do something that others see, or
/// has ended. A thread that only ever goes round on its own never gets to such a place.
fn settled<P: Program>(
    program: &P,
    execution: &Execution<P::State>,
    thread: usize,
) -> Vec<Execution<P::State>> {
    let start = execution.states[thread].clone();
    let (mut seen, mut open) = (FxHashSet::from_iter([start.clone()]), vec![start]);
    let mut found = Vec::new();
    while let Some(state) = open.pop() {
        let offers = program.offers(&state);
        if offers.is_empty() || offers.iter().any(|offer| !matches!(offer, Offer::Local(_))) {
            found.push(moved(execution, thread, state));
        }
        for offer in offers {
            if let Offer::Local(next) = offer
                && seen.insert(next.clone())
            {
                open.push(next);
            }
        }
    }
    found
}

/// Returns whether a thread that has not begun comes after another one like it.
fn waits_for_its_turn<S: Eq>(execution: &Execution<S>, thread: usize, alike: usize) -> bool {
    thread > 0
        && thread < alike
        && execution.graph.threads[thread].is_empty()
        && execution.graph.threads[thread - 1].is_empty()
        && execution.states[thread] == execution.states[thread - 1]
}

fn moved<S: Clone>(execution: &Execution<S>, thread: usize, next: S) -> Execution<S> {
    let mut after = execution.clone();
    after.states[thread] = next;
    after
}

fn known<P: Program>(
    program: &P,
    execution: &Execution<P::State>,
    location: Location,
) -> Execution<P::State> {
    let mut after = execution.clone();
    after.graph.know(location, program.initial(location));
    after
}

fn created<S: Clone>(execution: &Execution<S>, thread: usize, child: S, next: S) -> Execution<S> {
    let mut after = moved(execution, thread, next);
    let events = after.graph.threads[thread].len() as u16;
    after.graph.created.insert(after.states.len() as u16, (thread as u16, events));
    after.graph.threads.push(Vec::new());
    after.states.push(child);
    after
}

/// What makes an execution a failing one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// An assertion fails: the thread and the place.
    Assertion(usize, u32),
    /// Two accesses race.
    Race(Id, Id),
}

/// What a hunt for a failing execution found.
pub enum Hunt<S> {
    /// A failing execution, with the fewest events.
    Failing(Box<Execution<S>>, Failure),
    /// None; why the hunt ended, and how many graphs it met.
    Nothing(Ended, usize),
}

impl Search<'_> {
    /// Looks for an execution with a race, or with a failing assertion if `assertions` count.
    pub fn hunt<P: Program>(&self, program: &P, assertions: bool) -> Hunt<P::State> {
        let (mut found, mut graphs) = (None, 0);
        let ended = self.run(program, &mut |met| {
            let failing = match met {
                Met::Graph(execution, Judgement { race: Some((a, b)), .. }) => {
                    Some((execution, Failure::Race(*a, *b)))
                }
                Met::Failure(execution, thread, site) if assertions => {
                    Some((execution, Failure::Assertion(thread, site)))
                }
                Met::Graph(..) | Met::Failure(..) | Met::Complete(..) => None,
            };
            graphs += 1;
            found = failing.map(|(execution, why)| (Box::new(execution.clone()), why));
            found.is_none()
        });
        match found {
            Some((execution, why)) => Hunt::Failing(execution, why),
            None => Hunt::Nothing(ended, graphs),
        }
    }

    /// Returns whether all executions are sequentially consistent and free of races; `None` if the
    /// search did not get to the end.
    pub fn is_robust<P: Program>(&self, program: &P) -> Option<bool> {
        let mut robust = true;
        let ended = self.run(program, &mut |met| {
            if let Met::Graph(_, judgement) = met {
                robust &= judgement.sequential && judgement.race.is_none();
            }
            robust
        });
        match (robust, ended) {
            (false, _) => Some(false),
            (true, Ended::Exhausted) => Some(true),
            (true, _) => None,
        }
    }

    /// The number of complete executions in which all threads end, and of those in which one waits
    /// for ever; `None` if the search did not get to the end.
    pub fn count<P: Program>(&self, program: &P) -> Option<(usize, usize)> {
        let (mut complete, mut blocked) = (0, 0);
        let ended = self.run(program, &mut |met| {
            match met {
                Met::Complete(_, true) => complete += 1,
                Met::Complete(_, false) => blocked += 1,
                Met::Graph(..) | Met::Failure(..) => {}
            }
            true
        });
        (ended == Ended::Exhausted).then_some((complete, blocked))
    }
}

/// The same graph with stronger orders at a place of the program.
#[must_use]
pub fn strengthened(graph: &Graph, site: u32, order: Order) -> Graph {
    let mut graph = graph.clone();
    for event in graph.threads.iter_mut().flatten().filter(|event| event.site == site) {
        event.order = event.order.join(order);
    }
    graph
}
