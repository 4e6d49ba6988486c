//! The executions of C11 as a model: what happened so far is an execution graph, and a step adds the
//! events of one thread's step, in every way that the axioms of RC11 allow.
//!
//! The graph says what an access may read from; the memory beside it says which objects there are,
//! and has the last value of every location in modification order. A read of an older write is a
//! step in a memory where the location has that value; [`crate::step`] stays the one definition of
//! what a program does. Program order and reads-from together have no cycle in a consistent graph,
//! so every graph is built by steps of threads, and every graph on the way is consistent. A thread
//! that only reads until it is where it was before waits: such a step is left out, because the
//! execution without these reads is one of the program, too, and synchronises less.

mod events;
pub mod exploration;
mod litmus;
mod words;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use throng_memory::Order;
use throng_memory::axioms::{Judgement, Sequences, judge_with};
use throng_memory::graph::{Event, Graph, Id};
use throng_memory::rules::Location;
use throng_memory::search::Failure;
use throng_model::problem::{Initial, Problem, Target};
use throng_model::verdict::Trace;
use throng_model::waiting::Waits;
use throng_model::{
    Accessed, Bag, Bystanders, Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared, Step,
    Traits, Transfers,
};

use crate::doubt::{Doubt, of_steps};
use crate::model::{Concrete, Table, number, thing};
use crate::program::{Int, Point, Program, Start, Violation, object_of};
use crate::robust::{poked, turns_in_a_circle};
use crate::step::{After, Effect, Memory, Outcome, Slot, Steps, Thread, step_with_effects};
use events::Adding;

/// The race of an execution that fails, if a race is what fails, and by which reading only it fails.
type Judged = (Option<(Id, Id)>, Option<&'static str>);

/// What has happened, and the memory after it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    memory: Arc<Memory>,
    graph: Graph,
}

/// A thread of an execution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Running {
    thread: Thread,
    /// Its number in graphs.
    index: u16,
    /// The states in which it was since it last did something else than to read, by number.
    since: Vec<u64>,
}

/// A program and all its executions.
pub struct Executions {
    concrete: Arc<Concrete>,
    worlds: RwLock<Table<World>>,
    threads: RwLock<Table<Running>>,
    /// The locations of graphs: address and size.
    locations: RwLock<Table<(i64, u32)>>,
    /// The values of graphs.
    values: RwLock<Table<Vec<u16>>>,
    /// What steps depend on beside memory: objects, and how often each was used.
    uses: RwLock<Table<Vec<(i64, u32)>>>,
    missing: Mutex<Option<String>>,
    /// The most events of a graph.
    most: usize,
    sequences: Sequences,
    /// Whether some execution fails with release sequences of read-modify-writes only.
    differs: AtomicBool,
}

const SIZES: &str = "an atomic object is accessed in parts of different sizes";
const LONGER: &str =
    "an execution fails with the release sequences of C++20, and with those of C11 it does not";
const OTHERS: &str =
    "an execution fails unless semaphores, barriers and their like order what is done before and after them";
const SECTION: &str = "memory is accessed in an atomic section, which has no meaning under C11";

/// One way of a step: the world afterwards.
struct Way {
    world: World,
    outcome: Outcome,
    children: Vec<u16>,
    race: Option<(Id, Id)>,
    since: Vec<u64>,
}

impl Executions {
    /// The shared state after a data race.
    pub const RACE: Shared = Shared(0);
    /// The shared state after a property was violated; those asked for follow one another.
    const FAILED: u64 = 1;

    /// The executions with at most so many events.
    pub fn new(concrete: Arc<Concrete>, most: usize) -> Executions {
        Executions {
            concrete,
            worlds: RwLock::new(Table::new()),
            threads: RwLock::new(Table::new()),
            locations: RwLock::new(Table::new()),
            values: RwLock::new(Table::new()),
            uses: RwLock::new(Table::new()),
            missing: Mutex::new(None),
            most,
            sequences: Sequences::Updates,
            differs: AtomicBool::new(false),
        }
    }

    /// The same with release sequences of one kind.
    #[must_use]
    pub fn with(self, sequences: Sequences) -> Executions {
        Executions { sequences, ..self }
    }

    /// Returns whether an execution that a search has met fails with the release sequences of C++20,
    /// and not with those of C11.
    pub fn differs(&self) -> bool {
        self.differs.load(Ordering::Relaxed)
    }

    /// The shared state in which the property with this number among those asked is violated.
    pub fn failed(&self, property: usize) -> Shared {
        Shared(Self::FAILED + property as u64)
    }

    /// The shared state after a memory error.
    pub fn memory_error(&self) -> Shared {
        self.failed(self.program().asked.len())
    }

    fn ended(&self) -> Shared {
        self.failed(self.program().asked.len() + 1)
    }

    fn first(&self) -> u64 {
        self.ended().0 + 1
    }

    /// The question whether an execution reaches one of these shared states.
    pub fn problem(self: Arc<Self>, original: &Problem, target: Target) -> Problem {
        let (shared, threads) = self.concrete.initial();
        let memory = self
            .concrete
            .memory(shared)
            .map(|s| s.0.clone())
            .unwrap_or_else(|| Arc::new(crate::step::initial_memory(self.program())));
        let mut states: Vec<Thread> =
            threads.iter().filter_map(|&l| self.concrete.thread(l)).map(|t| Thread::clone(&t)).collect();
        if let (Start::Any(_), Some(n)) = (&self.program().start, original.bound.threads()) {
            // So many threads, of each entry in turn.
            states = states.iter().cycle().take(n as usize).cloned().collect();
        }
        let graph = Graph::new(states.len());
        let local = |(n, thread): (usize, Thread)| self.local(thread, n as u16, Vec::new());
        let threads: Bag = states.into_iter().enumerate().map(local).collect();
        let shared = self.shared(World { memory, graph });
        Problem {
            targets: vec![target],
            initial: vec![Initial { shared, threads, any: Vec::new() }],
            initial_text: original.initial_text.clone(),
            bound: original.bound,
            model: self,
        }
    }

    /// Returns why not all steps are known, if a search met one that is not.
    pub fn incomplete(&self) -> Option<String> {
        locked(&self.missing).clone()
    }

    /// Everything that an execution depends on and that the program may not bear out.
    pub fn doubts(&self, trace: &Trace) -> BTreeSet<Doubt> {
        let ways: Vec<_> = trace.steps.iter().filter_map(|taken| self.way(&taken.step)).collect();
        let steps = ways.iter().map(|(_, way, index)| (usize::from(*index), &way.outcome.events[..]));
        of_steps(self.program(), steps)
    }

    fn program(&self) -> &Program {
        self.concrete.program()
    }

    fn shared(&self, world: World) -> Shared {
        Shared(number(&self.worlds, world) + self.first())
    }

    fn world(&self, s: Shared) -> Option<Arc<World>> {
        s.0.checked_sub(self.first()).and_then(|n| thing(&self.worlds, n))
    }

    fn local(&self, thread: Thread, index: u16, since: Vec<u64>) -> Local {
        Local(number(&self.threads, Running { thread, index, since }))
    }

    fn location(&self, address: i64, size: u32) -> Location {
        number(&self.locations, (address, size)) as Location
    }

    fn value(&self, bytes: &[u16]) -> i64 {
        number(&self.values, bytes.to_vec()) as i64
    }

    fn bytes(&self, value: i64) -> Vec<u16> {
        thing(&self.values, value as u64).map(|v| Vec::clone(&v)).unwrap_or_default()
    }

    fn note(&self, why: String) {
        locked(&self.missing).get_or_insert(why);
    }

    fn note_at(&self, at: Point, why: &str) {
        self.note(format!("line {}: {why}", self.program().origin_at(at).line));
    }

    fn complete(&self) -> Result<(), Incomplete> {
        match self.incomplete() {
            Some(why) => Err(Incomplete(why)),
            None => Ok(()),
        }
    }

    /// What a thread can do in this memory. To turn in a circle is to wait.
    fn steps(&self, memory: &Arc<Memory>, thread: &Thread) -> Steps {
        let mut steps = step_with_effects(self.program(), memory, thread);
        if let Some(why) = &steps.missing {
            self.note(why.to_string());
        }
        let all = std::mem::take(&mut steps.outcomes).into_iter();
        let (turns, moves) = all.partition(|outcome: &Outcome| turns_in_a_circle(memory, thread, outcome));
        let turns: Vec<Outcome> = turns;
        steps.blocked.extend(turns.into_iter().map(|outcome| outcome.effects));
        steps.outcomes = moves;
        steps
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// The first atomic access of a step: its location.
fn atomic_access(effects: &[Effect]) -> Option<(i64, u32)> {
    effects.iter().find_map(|e| match e {
        Effect::Access { address, size, kind, .. } if kind.is_atomic() => Some((*address, *size)),
        _ => None,
    })
}

impl Executions {
    /// All ways in which a thread can go on.
    fn ways(&self, world: &World, running: &Running) -> Vec<Way> {
        let Steps { outcomes: last, blocked, .. } = self.steps(&world.memory, &running.thread);
        let all = last.iter().map(|outcome| &outcome.effects).chain(&blocked);
        let mut places: Vec<(i64, u32)> = all.filter_map(|effects| atomic_access(effects)).collect();
        places.sort_unstable();
        places.dedup();
        let mut ways = Vec::new();
        for outcome in last {
            self.extend(world, running, outcome, None, &mut ways);
        }
        for place in places {
            let writes = world.graph.writes.get(&self.location(place.0, place.1));
            for &from in writes.map_or(&[][..], |w| &w[..w.len() - 1]) {
                self.older_ways(world, running, (place, from), &mut ways);
            }
        }
        ways
    }

    /// Adds the ways in which the atomic access of a thread's step, to this place, meets a write that
    /// is not the last one.
    fn older_ways(
        &self,
        world: &World,
        running: &Running,
        (place, from): ((i64, u32), Id),
        ways: &mut Vec<Way>,
    ) {
        let bytes = self.bytes(world.graph.value(from));
        let Some(memory) = poked(self.program(), &world.memory, place.0, &bytes) else { return };
        for outcome in self.steps(&Arc::new(memory), &running.thread).outcomes {
            if atomic_access(&outcome.effects) == Some(place) {
                self.extend(world, running, outcome, Some(from), ways);
            }
        }
    }

    /// Adds the ways that an outcome of a step stands for; `from`: the write that its atomic access
    /// meets, if that is not the last one.
    fn extend(
        &self,
        world: &World,
        running: &Running,
        outcome: Outcome,
        from: Option<Id>,
        ways: &mut Vec<Way>,
    ) {
        let Some((graph, children)) = self.graph(world, running.index, &outcome, from) else { return };
        let mut memory = match &outcome.after {
            After::Runs(memory) => memory.clone(),
            _ => world.memory.clone(),
        };
        if let (Some(_), Some((address, size))) = (from, atomic_access(&outcome.effects)) {
            // The memory has the last value again. An operation that reads an older write and writes
            // directly behind it is not the last one.
            let bytes = world.graph.writes.get(&self.location(address, size)).and_then(|w| w.last().copied());
            let bytes = bytes.map(|last| self.bytes(world.graph.value(last)));
            if let Some(restored) = bytes.and_then(|b| poked(self.program(), &memory, address, &b)) {
                memory = Arc::new(restored);
            }
        }
        // What only one thread ever accesses is written without an effect.
        let same = memory == world.memory;
        let since = if same { self.since(running, &outcome) } else { Vec::new() };
        let again = outcome.thread.clone().map(|thread| self.concrete.local(thread).0);
        if again.is_some_and(|now| since.contains(&now)) {
            return;
        }
        if graph.len() > self.most {
            self.note(format!("executions with more than {} events are not looked at", self.most));
            return;
        }
        let grown = graph.len() > world.graph.len();
        let judgement = if grown { judge_with(&graph, self.sequences) } else { Some(SEQUENTIAL) };
        let Some(judgement) = judgement else { return };
        let failed = matches!(outcome.after, After::Failed(..));
        let race = match (judgement.race, failed) {
            (None, false) => None,
            (race, _) => match self.judge_strictly(&graph, race.is_some()) {
                // It fails by one reading only: neither a violation nor none.
                Err(why) => return self.note_reading(why),
                Ok((race, why)) => {
                    why.into_iter().for_each(|why| self.note_reading(why));
                    race
                }
            },
        };
        ways.push(Way { world: World { memory, graph }, outcome, children, race, since });
    }

    /// The states of a thread since it last did something else than to read, after a step.
    fn since(&self, running: &Running, outcome: &Outcome) -> Vec<u64> {
        let reads = |e: &Effect| match e {
            Effect::Access { writes, kind, .. } => !writes && kind.is_atomic(),
            Effect::Fence(..) => true,
            _ => false,
        };
        let only = outcome.effects.iter().all(reads) && matches!(outcome.after, After::Runs(_));
        if !only || !outcome.started.is_empty() {
            return Vec::new();
        }
        let mut since = running.since.clone();
        since.push(self.concrete.local(running.thread.clone()).0);
        since
    }

    /// Notes that an execution fails by one reading only, and which.
    fn note_reading(&self, why: &str) {
        if why == LONGER {
            self.differs.store(true, Ordering::Relaxed);
        }
        self.note(why.into());
    }

    /// The race of an execution that fails, if it fails by the strictest reading as well: with the
    /// release sequences of C11, and if semaphores and their like synchronise as locks do. `Err`: by
    /// that, there is no such execution.
    fn judge_strictly(&self, graph: &Graph, races: bool) -> Result<Judged, &'static str> {
        let longer = judge_with(graph, Sequences::Thread).ok_or(LONGER)?;
        if races && longer.race.is_none() {
            return Ok((None, Some(LONGER)));
        }
        let mut strict = graph.clone();
        for event in strict.threads.iter_mut().flatten() {
            if event.order == Order::Relaxed && self.is_lock(event.location) && event.is_access() {
                event.order = Order::AcqRel;
            }
        }
        let strict = judge_with(&strict, Sequences::Thread).ok_or(OTHERS)?;
        let why = (races && strict.race.is_none()).then_some(OTHERS);
        Ok((strict.race, why))
    }

    /// The graph with the events of an outcome, and the numbers of the threads that it starts.
    fn graph(
        &self,
        world: &World,
        index: u16,
        outcome: &Outcome,
        from: Option<Id>,
    ) -> Option<(Graph, Vec<u16>)> {
        let graph = world.graph.clone();
        let mut adding = Adding { of: self, graph, thread: usize::from(index), children: Vec::new() };
        for n in 0..outcome.effects.len() {
            adding.effect(&outcome.effects, n, from)?;
        }
        if let After::Runs(after) = &outcome.after {
            adding.ends(&world.memory, after, outcome.at);
        }
        Some((adding.graph, adding.children))
    }

    /// The object of a location.
    fn object(&self, location: Location) -> i64 {
        thing(&self.locations, location.into()).map_or(0, |place| object_of(place.0))
    }

    /// Returns whether an object was there and is not any more.
    fn has_ended_between(&self, object: i64, before: &Memory, after: &Memory) -> bool {
        let fixed = self.program().objects.len();
        let Some(slot) = usize::try_from(object - 1).ok().and_then(|n| n.checked_sub(fixed)) else {
            return false;
        };
        let lives = |memory: &Memory| matches!(memory.heap.get(slot), Some(Slot::Used(..) | Slot::Local(..)));
        lives(before) && !lives(after)
    }
}

/// Of a graph that is as it was.
const SEQUENTIAL: Judgement = Judgement { sequential: true, race: None };

impl Model for Executions {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let (Some(world), Some(state)) = (self.world(s), thing(&self.threads, l.0)) else {
            return Ok(());
        };
        for (choice, way) in self.ways(&world, &state).into_iter().enumerate() {
            out.push(self.step(s, l, state.index, choice as u64, way));
        }
        self.complete()
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.complete()
    }

    fn traits(&self) -> Traits {
        self.concrete.traits()
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        None
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    fn has_ended(&self, _: Local) -> bool {
        false
    }

    /// Who waits is asked under sequential consistency.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }
}

impl Executions {
    fn step(&self, s: Shared, l: Local, index: u16, choice: u64, way: Way) -> Step {
        let outcome = &way.outcome;
        let to = match &outcome.after {
            _ if way.race.is_some() => Self::RACE,
            After::Runs(_) => self.shared(way.world),
            After::Failed(what, _) => self.violation(*what),
            After::Halted => self.ended(),
        };
        let runs = to.0 >= self.first();
        let failed = !runs && to != Self::RACE;
        let put = outcome.thread.iter().map(|t| match runs {
            true => self.local(t.clone(), index, way.since.clone()),
            // The thread is still there, to be seen.
            false => l,
        });
        let children = outcome.started.iter().zip(&way.children).filter(|_| runs);
        Step {
            from: s,
            to,
            take: Bag::one(l),
            put: put.collect(),
            spawn: children.map(|(t, n)| self.local(t.clone(), *n, Vec::new())).collect(),
            others: Bystanders::Stay,
            edge: self.concrete.edge_of(if failed { outcome.last } else { outcome.at }),
            choice,
        }
    }

    fn violation(&self, what: Violation) -> Shared {
        match self.program().asked.iter().position(|&a| a == what) {
            Some(n) => self.failed(n),
            None if what == Violation::Memory => self.memory_error(),
            None => self.ended(),
        }
    }

    /// The way that a step stands for, with the graph before it.
    fn way(&self, step: &Step) -> Option<(Arc<World>, Way, u16)> {
        let world = self.world(step.from)?;
        let state = step.take.entries().first().and_then(|e| thing(&self.threads, e.0.0))?;
        let way = self.ways(&world, &state).into_iter().nth(step.choice as usize)?;
        Some((world, way, state.index))
    }

    fn name(&self, location: Location) -> String {
        let place = thing(&self.locations, location.into());
        let name = place.and_then(|p| self.program().name_of(p.0));
        name.unwrap_or_else(|| "allocated memory".into())
    }

    fn shown(&self, value: i64) -> String {
        let bytes = self.bytes(value);
        let size = bytes.len().next_power_of_two() as u8;
        self.concrete.show(&bytes, Int::new(size, true))
    }

    fn line(&self, event: &Event) -> u32 {
        self.line_of(event.site)
    }

    fn line_of(&self, site: u32) -> u32 {
        self.concrete.edge_place(Edge(site)).line
    }

    /// Where a value comes from, if it is not the last one.
    fn source(&self, graph: &Graph, location: Location, from: Id) -> String {
        let last = graph.writes.get(&location).and_then(|w| w.last().copied());
        let Some(last) = last.filter(|&last| last != from) else { return String::new() };
        let old = match graph.event(from) {
            Some(event) => format!(" of line {}", self.line(event)),
            None => " from the start".into(),
        };
        match graph.event(last) {
            Some(event) => {
                let value = self.shown(event.written.unwrap_or_default());
                format!("{old}, although line {} wrote {value}", self.line(event))
            }
            None => old,
        }
    }
}

impl Describe for Executions {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        let Some(world) = self.world(s) else { return Vec::new() };
        self.concrete.shared_values(self.concrete.shared(world.memory.clone(), None))
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        let state = thing(&self.threads, l.0);
        state.map(|s| self.concrete.local_values(self.concrete.local(s.thread.clone()))).unwrap_or_default()
    }

    fn place(&self, l: Local) -> Option<Place> {
        thing(&self.threads, l.0).and_then(|s| self.concrete.place(self.concrete.local(s.thread.clone())))
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.concrete.edge_place(edge)
    }

    fn accesses(&self, step: &Step) -> Vec<Accessed> {
        let Some((before, way, index)) = self.way(step) else { return Vec::new() };
        let known = before.graph.threads[usize::from(index)].len();
        let graph = &way.world.graph;
        let mut found = Vec::new();
        for event in &graph.threads[usize::from(index)][known..] {
            if thing(&self.locations, event.location.into()).is_none_or(|p| p.1 == 0) || !event.is_access() {
                continue;
            }
            let variable = self.name(event.location);
            if let Some((value, from)) = event.read {
                let value =
                    format!("{}{}", self.shown(value), self.source(&before.graph, event.location, from));
                found.push(Accessed { variable: variable.clone(), value, writes: false });
            }
            if let Some(value) = event.written {
                found.push(Accessed { variable, value: self.shown(value), writes: true });
            }
        }
        found
    }

    fn blame(&self, step: &Step) -> Option<String> {
        let (_, way, index) = self.way(step)?;
        let graph = &way.world.graph;
        if let Some((a, b)) = way.race {
            let other =
                [a, b].into_iter().find(|id| !matches!(id, Id::Event { thread, .. } if *thread == index));
            let event = other.and_then(|id| graph.event(id))?;
            let does = if event.writes() { "write" } else { "read" };
            let race = format!(
                "a race with the {does} of {} at line {}: neither happens before the other",
                self.name(event.location),
                self.line(event)
            );
            return Some(self.with_repairs(vec![race], graph, &Failure::Race(a, b)));
        }
        match way.outcome.after {
            After::Failed(_, why) => {
                let failure = Failure::Assertion(usize::from(index), 0);
                let sentences = std::iter::once(why).chain(self.outdated(graph)).collect();
                Some(self.with_repairs(sentences, graph, &failure))
            }
            After::Runs(_) | After::Halted => None,
        }
    }
}
