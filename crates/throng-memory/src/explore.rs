//! The exploration of executions that meets each complete one once, without storing what it met.
//!
//! Executions are built event by event, so that what a read reads from is there already. A step
//! that what others do before cannot change (a write with all its places in modification order, a
//! fence, an access that is not atomic) is taken at once, for all threads together: every complete
//! execution that continues the present one has that event. A read is decided one thread at a time:
//! either it reads from one of the writes that are there (a way for each), or from one that comes
//! later. In the latter case the thread *sleeps*: of the writes that are there now, it reads from
//! none any more. So the ways exclude each other, and together they are everything: no execution is
//! built twice. What has no reads-from (a lock, a semaphore) is decided in the same way, with the
//! number of operations on it in place of the write.
//!
//! Because consistent executions stay consistent without their last events, an execution that is
//! not consistent is given up at once, and a write that is not consistent to read from will never be.
//! Accesses that are not atomic take the last value in modification order: if another write could
//! come between, the two race, and the execution with both is met.

use crate::axioms::judge;
use crate::graph::Id;
use crate::program::{Offer, Program};
use crate::search::{self, Execution};

/// What a step depends on that other threads may change: the write that it reads from, and a number
/// that differs whenever something else that it depends on does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Source {
    /// The write that it reads from.
    pub write: Option<Id>,
    /// The state of the rest.
    pub version: u64,
}

/// What a thread does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// It has ended, or waits.
    Nothing,
    /// What others do before its step does not change what it can do.
    Free,
    /// Its step depends on one of these.
    Depends(Vec<Source>),
}

/// A program whose executions are explored.
pub trait Executing {
    /// An execution, or the beginning of one.
    type State: Clone;

    /// The number of threads that were started.
    fn threads(&self, state: &Self::State) -> usize;

    /// What a thread does next.
    fn next(&self, state: &Self::State, thread: usize) -> Next;

    /// All consistent executions in which the thread has taken its next step: with this source, if
    /// the step depends on some.
    fn take(&self, state: &Self::State, thread: usize, source: Option<Source>) -> Vec<Self::State>;
}

/// What the exploration meets.
pub enum Met<'s, S> {
    /// A new execution.
    New(&'s S),
    /// One of which every continuation is met elsewhere, if there is one.
    Last(&'s S),
}

/// An execution that is to be continued.
struct Node<S> {
    state: S,
    /// For each thread, the sources that it does not take any more.
    asleep: Vec<Vec<Source>>,
    /// Whether it was visited.
    known: bool,
}

/// Explores all executions; `visit` returns whether to go on. Returns whether it came to the end.
pub fn explore<E: Executing>(
    program: &E,
    starts: Vec<E::State>,
    visit: &mut dyn FnMut(Met<'_, E::State>) -> bool,
) -> bool {
    let node = |state| Node { state, asleep: Vec::new(), known: false };
    let mut open: Vec<Node<E::State>> = starts.into_iter().map(node).collect();
    while let Some(node) = open.pop() {
        if !node.known && !visit(Met::New(&node.state)) {
            return false;
        }
        match continued(program, node) {
            Ok(next) => open.extend(next),
            Err(last) if visit(Met::Last(&last)) => {}
            Err(_) => return false,
        }
    }
    true
}

/// What follows an execution; the execution itself if nothing does.
fn continued<E: Executing>(program: &E, mut node: Node<E::State>) -> Result<Vec<Node<E::State>>, E::State> {
    let threads = program.threads(&node.state);
    node.asleep.resize(threads, Vec::new());
    let next: Vec<Next> = (0..threads).map(|thread| program.next(&node.state, thread)).collect();
    for thread in (0..threads).filter(|&thread| next[thread] == Next::Free) {
        let ways = program.take(&node.state, thread, None);
        if !ways.is_empty() {
            let way = |state| Node { state, asleep: node.asleep.clone(), known: false };
            return Ok(ways.into_iter().map(way).collect());
        }
    }
    for (thread, next) in next.into_iter().enumerate() {
        let Next::Depends(sources) = next else { continue };
        let fresh: Vec<Source> = sources.into_iter().filter(|s| !node.asleep[thread].contains(s)).collect();
        let take = |&source: &Source| program.take(&node.state, thread, Some(source));
        let ways: Vec<E::State> = fresh.iter().flat_map(take).collect();
        let mut awake = node.asleep.clone();
        awake[thread].clear();
        node.asleep[thread].extend(fresh);
        if !ways.is_empty() {
            let way = |state| Node { state, asleep: awake.clone(), known: false };
            let mut all: Vec<Node<E::State>> = ways.into_iter().map(way).collect();
            all.insert(0, Node { known: true, ..node });
            return Ok(all);
        }
    }
    Err(node.state)
}

/// Returns whether some thread can go on.
pub fn goes_on<E: Executing>(program: &E, state: &E::State) -> bool {
    (0..program.threads(state)).any(|thread| match program.next(state, thread) {
        Next::Nothing => false,
        Next::Free => !program.take(state, thread, None).is_empty(),
        Next::Depends(sources) => {
            sources.into_iter().any(|source| !program.take(state, thread, Some(source)).is_empty())
        }
    })
}

/// Small programs, whose executions are graphs.
pub struct Graphs<'p, P>(pub &'p P);

/// An execution of a small program, and the assertion that fails in it: its thread and place.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Reached<S> {
    /// The execution.
    pub execution: Execution<S>,
    /// The assertion.
    pub failure: Option<(usize, u32)>,
}

impl<P: Program> Graphs<'_, P> {
    /// The executions before anything has happened.
    pub fn starts(&self) -> Vec<Reached<P::State>> {
        let starts = search::starts(self.0).into_iter();
        starts.map(|execution| Reached { execution, failure: None }).collect()
    }

    fn offers(&self, state: &Reached<P::State>, thread: usize) -> Vec<Offer<P::State>> {
        let local = |offer: &Offer<P::State>| !matches!(offer, Offer::Local(_));
        self.0.offers(&state.execution.states[thread]).into_iter().filter(local).collect()
    }

    fn sources(&self, state: &Reached<P::State>, offer: &Offer<P::State>, number: usize) -> Vec<Source> {
        let version = number as u64;
        let Offer::Read { location, .. } = offer else { return vec![Source { write: None, version }] };
        let initial = vec![Id::Initial(*location)];
        let writes = state.execution.graph.writes.get(location).unwrap_or(&initial);
        writes.iter().map(|&write| Source { write: Some(write), version }).collect()
    }
}

impl<P: Program> Executing for Graphs<'_, P> {
    type State = Reached<P::State>;

    fn threads(&self, state: &Self::State) -> usize {
        state.execution.states.len()
    }

    fn next(&self, state: &Self::State, thread: usize) -> Next {
        let offers = self.offers(state, thread);
        let ended = |other: usize| {
            state.execution.states.get(other).is_some_and(|state| self.0.offers(state).is_empty())
        };
        let waits = |offer: &Offer<P::State>| matches!(offer, Offer::Join { thread, .. } if !ended(*thread));
        if state.failure.is_some() || offers.iter().all(waits) {
            return Next::Nothing;
        }
        if offers.iter().all(|offer| !matches!(offer, Offer::Read { .. })) {
            return Next::Free;
        }
        let sources = offers.iter().enumerate().flat_map(|(n, offer)| self.sources(state, offer, n));
        Next::Depends(sources.collect())
    }

    fn take(&self, state: &Self::State, thread: usize, source: Option<Source>) -> Vec<Self::State> {
        let mut found = Vec::new();
        for (number, offer) in self.offers(state, thread).into_iter().enumerate() {
            let wanted = source.is_none_or(|source| source.version == number as u64);
            if wanted {
                found.extend(search::after(self.0, &state.execution, thread, offer));
            }
        }
        let from = source.and_then(|source| source.write);
        let reads = |(execution, _): &(Execution<P::State>, _)| {
            let last = execution.graph.threads[thread].last();
            from.is_none() || last.and_then(|event| event.read).is_some_and(|(_, write)| Some(write) == from)
        };
        let found = found.into_iter().filter(reads);
        let consistent = found.filter(|(execution, _)| judge(&execution.graph).is_some());
        consistent.map(|(execution, failure)| Reached { execution, failure }).collect()
    }
}
