//! The goto program as a [`Model`] with real values: states are numbers of entries in tables that
//! grow as the search goes on.

use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use rustc_hash::FxHashMap;
use throng_model::waiting::Waits;
use throng_model::{
    Accessed, Bag, Bystanders, Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared, Step,
    Traits, Transfers,
};

use crate::places::Places;
use crate::program::{
    DANGLING, Instr, Int, Origin, PTR, Point, Program, Start, Violation, object_of, offset_of,
};
use crate::step::{
    After, Event, Memory, Missing, OPEN, Outcome, Seen, Slot, Thread, Touch, Variable, initial_memory,
    register, start, step_in_detail, step_unrecorded,
};

/// Shared memory; and, where one thread was seen to be about to write, that access, so that a
/// thread that is about to make another one shows a race.
pub type SharedState = (Arc<Memory>, Option<Touch>);

/// Things by number, and numbers by thing.
pub(crate) struct Table<T> {
    numbers: FxHashMap<Arc<T>, u64>,
    things: Vec<Arc<T>>,
}

impl<T: Hash + Eq> Table<T> {
    pub(crate) fn new() -> Table<T> {
        Table { numbers: FxHashMap::default(), things: Vec::new() }
    }
}

pub(crate) fn number<T: Hash + Eq>(table: &RwLock<Table<T>>, thing: T) -> u64 {
    if let Some(&n) = table.read().unwrap_or_else(|e| e.into_inner()).numbers.get(&thing) {
        return n;
    }
    let mut table = table.write().unwrap_or_else(|e| e.into_inner());
    if let Some(&n) = table.numbers.get(&thing) {
        return n;
    }
    let n = table.things.len() as u64;
    let thing = Arc::new(thing);
    table.things.push(thing.clone());
    table.numbers.insert(thing, n);
    n
}

pub(crate) fn thing<T>(table: &RwLock<Table<T>>, n: u64) -> Option<Arc<T>> {
    table.read().unwrap_or_else(|e| e.into_inner()).things.get(n as usize).cloned()
}

/// A C program with concrete values.
pub struct Concrete {
    program: Arc<Program>,
    memories: RwLock<Table<SharedState>>,
    threads: RwLock<Table<Thread>>,
    /// The first instruction of each template, in the numbering of edges.
    bases: Vec<u32>,
    missing: Mutex<Option<Missing>>,
    remarks: Mutex<Remarks>,
    spawns: bool,
    initial: (Shared, Vec<Local>),
    /// Where threads may wait in loops, and where stuck threads are asked for, once that is asked.
    waiting: OnceLock<Places>,
}

/// What the states take that a search has met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Number of shared states.
    pub shared: usize,
    /// Number of local states.
    pub local: usize,
    /// Number of bytes.
    pub bytes: usize,
}

/// What a search came across.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Remarks {
    /// A lock was misused.
    pub misuse: Option<String>,
    /// A signed integer overflowed.
    pub overflow: Option<String>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Concrete {
    /// The model of a program.
    pub fn new(program: Arc<Program>) -> Concrete {
        let mut bases = Vec::new();
        let mut next = 0;
        for t in &program.templates {
            bases.push(next);
            next += t.code.len() as u32;
        }
        let spawns = program.templates.iter().flat_map(|t| &t.code).any(|i| matches!(i, Instr::Spawn(..)));
        let mut model = Concrete {
            memories: RwLock::new(Table::new()),
            threads: RwLock::new(Table::new()),
            bases,
            missing: Mutex::new(None),
            remarks: Mutex::default(),
            spawns,
            initial: (Shared(0), Vec::new()),
            waiting: OnceLock::new(),
            program,
        };
        let memory = model.shared(Arc::new(initial_memory(&model.program)), None);
        let templates = match &model.program.start {
            Start::One(t) => vec![*t],
            Start::Any(entries) => entries.clone(),
        };
        let first = |t: usize| model.local(start(&model.program, t, &[], 0));
        let threads = templates.into_iter().map(first).collect();
        model.initial = (memory, threads);
        model
    }

    /// Where the program starts: shared state and first threads, one of each entry.
    pub fn initial(&self) -> (Shared, &[Local]) {
        (self.initial.0, &self.initial.1)
    }

    /// The shared state in which a property is violated, by its number among those asked; after the
    /// last, that in which the process has ended.
    pub fn failed(&self, property: usize) -> Shared {
        Shared(property as u64)
    }

    /// Returns the shared state after a memory error where memory safety is not asked for.
    pub fn memory_error(&self) -> Shared {
        self.failed(self.program.asked.len())
    }

    /// Returns the shared state after the process has ended.
    pub fn halted(&self) -> Shared {
        self.failed(self.program.asked.len() + 1)
    }

    /// What the search came across so far.
    pub fn remarks(&self) -> Remarks {
        locked(&self.remarks).clone()
    }

    /// The write that a thread was seen to be about to make in this shared state.
    pub fn about(&self, s: Shared) -> Option<Touch> {
        self.memory(s).and_then(|state| state.1)
    }

    /// A thread by its number.
    pub fn thread(&self, l: Local) -> Option<Arc<Thread>> {
        thing(&self.threads, l.0)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the shared state with this content.
    pub fn shared(&self, memory: Arc<Memory>, about: Option<Touch>) -> Shared {
        Shared(number(&self.memories, (memory, about)) + self.halted().0 + 1)
    }

    /// Returns the local state with this content.
    pub fn local(&self, thread: Thread) -> Local {
        Local(number(&self.threads, thread))
    }

    /// Returns the content of a shared state: memory, and the access that some thread was seen to
    /// be about to make. A state in which the process no longer runs has none.
    pub fn memory(&self, s: Shared) -> Option<Arc<SharedState>> {
        s.0.checked_sub(self.halted().0 + 1).and_then(|n| thing(&self.memories, n))
    }

    /// Returns the numbers of shared and local states that were met, and the bytes that they take
    /// together. What states share counts once.
    pub fn stored(&self) -> Stored {
        let mut seen = Seen::default();
        let memories = self.memories.read().unwrap_or_else(|e| e.into_inner());
        for state in &memories.things {
            seen.is_new(state);
            if seen.is_new(&state.0) {
                state.0.count(&mut seen);
            }
        }
        let threads = self.threads.read().unwrap_or_else(|e| e.into_inner());
        for thread in &threads.things {
            seen.is_new(thread);
            thread.count(&mut seen);
        }
        let (shared, local) = (memories.things.len(), threads.things.len());
        // In a table, a state is a number by its content, and a content by its number.
        let bytes = seen.bytes + (shared + local) * 3 * size_of::<usize>();
        Stored { shared, local, bytes }
    }

    /// Returns why not all steps are known, if a search met one that is not.
    pub fn incomplete(&self) -> Option<String> {
        locked(&self.missing).as_ref().map(Missing::to_string)
    }

    /// Returns the first thing that a search met and that is not known.
    pub fn missing(&self) -> Option<Missing> {
        locked(&self.missing).clone()
    }

    fn complete(&self) -> Result<(), Incomplete> {
        match &*locked(&self.missing) {
            Some(why) => Err(Incomplete(why.to_string())),
            None => Ok(()),
        }
    }

    /// The edge of an instruction.
    pub fn edge_of(&self, at: Point) -> Edge {
        Edge(self.bases[at.template as usize] + at.pc)
    }

    /// Returns the instruction that an edge stands for.
    pub fn at(&self, edge: Edge) -> Point {
        let template = self.bases.partition_point(|&b| b <= edge.0).saturating_sub(1);
        Point { template: template as u32, pc: edge.0 - self.bases[template] }
    }
}

fn place(origin: &Origin) -> Place {
    Place {
        line: origin.line,
        column: origin.column.max(1),
        text: origin.text.clone(),
        labels: origin.labels.clone(),
        function: origin.function.clone(),
        calls: origin.calls.clone(),
        origin: origin.file.as_ref().map(|f| format!("{f}:{}", origin.line)),
    }
}

impl Concrete {
    /// The steps of a thread; what they say about the search is noted.
    fn steps(&self, memory: &Arc<Memory>, thread: &Thread) -> Vec<Outcome> {
        let steps = step_unrecorded(&self.program, memory, thread);
        if let Some(why) = steps.missing {
            locked(&self.missing).get_or_insert(why);
        }
        if steps.misuse.is_some() || steps.overflow.is_some() {
            let mut remarks = locked(&self.remarks);
            remarks.misuse = remarks.misuse.take().or(steps.misuse);
            remarks.overflow = remarks.overflow.take().or(steps.overflow);
        }
        steps.outcomes
    }

    fn violation(&self, what: Violation) -> Shared {
        match self.program.asked.iter().position(|&a| a == what) {
            Some(n) => self.failed(n),
            None if what == Violation::Memory => self.memory_error(),
            None => self.halted(),
        }
    }
}

impl Model for Concrete {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let (Some(state), Some(thread)) = (self.memory(s), thing(&self.threads, l.0)) else {
            return self.complete();
        };
        if thread.stopped {
            return self.complete();
        }
        let plain = Step {
            from: s,
            to: s,
            take: Bag::one(l),
            put: Bag::new(),
            spawn: Bag::new(),
            others: Bystanders::Stay,
            edge: self.edge_of(thread.point()),
            choice: 0,
        };
        let outcomes = self.steps(&state.0, &thread);
        if let Some(about) = &state.1 {
            // Another thread is about to access memory: is this one about to do that, too?
            let found = outcomes.iter().flat_map(|o| &o.touches).find(|t| self.program.is_race(t, about));
            if let Some(touch) = found {
                let edge = self.edge_of(touch.at);
                out.push(Step { to: self.violation(Violation::Race), put: Bag::one(l), edge, ..plain });
            }
            return self.complete();
        }
        let mut writes: Vec<Touch> = outcomes.iter().flat_map(|o| &o.touches).copied().collect();
        writes.retain(|t| t.writes);
        writes.dedup();
        for (choice, outcome) in outcomes.into_iter().enumerate() {
            let (to, at) = match outcome.after {
                After::Runs(memory) => (self.shared(memory, None), outcome.at),
                After::Failed(what, _) => (self.violation(what), outcome.last),
                After::Halted => (self.halted(), outcome.at),
            };
            out.push(Step {
                to,
                put: outcome.thread.map(|t| Bag::one(self.local(t))).unwrap_or_default(),
                spawn: outcome.started.into_iter().map(|t| self.local(t)).collect(),
                edge: self.edge_of(at),
                choice: choice as u64,
                ..plain.clone()
            });
        }
        // Races: the thread stops, so that it does not race with itself.
        for write in writes {
            let to = self.shared(state.0.clone(), Some(write));
            let mut stopped = Thread::clone(&thread);
            (stopped.stopped, stopped.registers, stopped.frames) = (true, Vec::new(), Vec::new());
            let put = Bag::one(self.local(stopped));
            out.push(Step { to, put, edge: self.edge_of(write.at), ..plain.clone() });
        }
        self.complete()
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.complete()
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: self.spawns }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        None
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    /// A thread that has ended is gone. One that only starts others need not start another one.
    fn has_ended(&self, l: Local) -> bool {
        let starter = self.program.starter();
        starter.is_some_and(|of| self.thread(l).is_some_and(|thread| thread.template as usize == of))
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

impl Waits for Concrete {
    fn loop_of(&self, l: Local) -> Option<u32> {
        self.possible_loop_of(l)
    }

    fn possible_loop_of(&self, l: Local) -> Option<u32> {
        let thread = self.thread(l).filter(|thread| !thread.stopped)?;
        self.places().loop_of(&thread)
    }

    fn is_inside(&self, place: Local, l: Local) -> bool {
        place == l
    }

    fn is_waiting(&self, s: Shared, l: Local) -> Result<bool, Incomplete> {
        if s == self.memory_error() {
            return Err(Incomplete("what a program does after a memory error is not known".into()));
        }
        let (Some(state), Some(thread)) = (self.memory(s), self.thread(l)) else { return Ok(false) };
        if thread.stopped || self.program.starter() == Some(thread.template as usize) {
            return Ok(false);
        }
        let steps = step_unrecorded(&self.program, &state.0, &thread);
        match steps.missing {
            Some(why) => Err(Incomplete(why.to_string())),
            None => Ok(steps.waits && steps.outcomes.is_empty()),
        }
    }

    fn is_alone(&self, _: Shared) -> bool {
        false
    }

    fn is_asked(&self, l: Local) -> Option<bool> {
        let thread = self.thread(l).filter(|thread| !thread.stopped);
        Some(thread.is_some_and(|thread| self.places().is_asked(&self.program, &thread)))
    }
}

impl Concrete {
    fn places(&self) -> &Places {
        self.waiting.get_or_init(|| Places::new(&self.program))
    }
}

impl Describe for Concrete {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        if s == self.halted() {
            return vec![("process".into(), "ended".into())];
        }
        let Some(state) = self.memory(s) else { return Vec::new() };
        let memory = &state.0;
        let mut found = Vec::new();
        if let Some(about) = &state.1 {
            let name = self.program.name_of(about.address).unwrap_or_else(|| "allocated memory".into());
            found.push(("about to be written".into(), name));
        }
        for o in self.program.objects.iter().filter(|o| o.visible && !o.name.starts_with('"')) {
            for (offset, at, suffix) in o.shown().into_iter().take(32) {
                let from = o.base + offset as usize;
                if let Some(bytes) = memory.fixed.range(from..from + at.size as usize) {
                    found.push((format!("{}{suffix}", o.name), self.show(&bytes, at)));
                }
            }
        }
        for (i, o) in memory.heap.iter().enumerate() {
            if let Slot::Used(bytes, _) | Slot::Local(_, bytes, _) = o {
                let bytes: Vec<u16> = bytes.iter().copied().collect();
                let values: Vec<String> = bytes
                    .chunks(4)
                    .map(|c| self.show(c, Int::new(c.len().next_power_of_two() as u8, true)))
                    .collect();
                let name = match o {
                    Slot::Local(of, ..) => self.local_name(*of),
                    _ => format!("allocated[{i}]"),
                };
                found.push((name, values.join(",")));
            }
        }
        found
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        let Some(thread) = thing(&self.threads, l.0) else { return Vec::new() };
        if thread.stopped {
            return Vec::new();
        }
        let t = &self.program.templates[thread.template as usize];
        let mut found = Vec::new();
        for &r in &t.live[thread.pc as usize] {
            if let Some(name) = t.shown[r as usize].clone() {
                let at = t.registers[r as usize];
                let show = |v: i64| if at == PTR { self.value(v) } else { at.show(v) };
                found.push((name, register(&self.program, &thread, r).map_or("?".into(), show)));
            }
        }
        found
    }

    fn blame(&self, step: &Step) -> Option<String> {
        let variable = |a: i64| self.program.name_of(a).unwrap_or_else(|| self.allocated(a));
        if let Some(write) = self.about(step.to) {
            return Some(format!("about to write {}", variable(write.address)));
        }
        let thread = step.take.entries().first().and_then(|e| thing(&self.threads, e.0.0))?;
        let state = self.memory(step.from).filter(|_| step.to < self.halted())?;
        let outcomes = crate::step::step(&self.program, &state.0, &thread).outcomes;
        if let Some(about) = &state.1 {
            let touch = outcomes.iter().flat_map(|o| &o.touches).find(|t| self.program.is_race(t, about))?;
            let access = if touch.writes { "write" } else { "read" };
            return Some(format!("about to {access} {}", variable(touch.address)));
        }
        match &outcomes.get(step.choice as usize)?.after {
            After::Failed(_, why) => Some(why.clone()),
            After::Runs(_) | After::Halted => None,
        }
    }

    fn place(&self, l: Local) -> Option<Place> {
        let thread = thing(&self.threads, l.0)?;
        Some(place(self.program.origin_at(thread.point())))
    }

    fn accesses(&self, step: &Step) -> Vec<Accessed> {
        let mover = step.take.entries().first().and_then(|e| thing(&self.threads, e.0.0));
        let (Some(state), Some(thread)) = (self.memory(step.from), mover) else { return Vec::new() };
        if state.1.is_some() || self.about(step.to).is_some() {
            // Only about to.
            return Vec::new();
        }
        let outcomes = step_in_detail(&self.program, &state.0, &thread).outcomes;
        let Some(outcome) = outcomes.get(step.choice as usize) else { return Vec::new() };
        let accessed = |event: &Event| match event {
            &Event::Accessed(a, at, v, writes) => {
                let variable = self.program.name_of(a).unwrap_or_else(|| self.allocated(a));
                let value = if at == PTR { self.value(v) } else { at.show(v) };
                Some(Accessed { variable, value, writes })
            }
            _ => None,
        };
        outcome.events.iter().filter_map(accessed).collect()
    }

    fn edge_place(&self, edge: Edge) -> Place {
        place(self.program.origin_at(self.at(edge)))
    }
}

/// Larger numbers than those of so many allocated objects are integers.
const MOST_SLOTS: usize = 1 << 16;

impl Concrete {
    /// Bytes as people read them.
    pub(crate) fn show(&self, bytes: &[u16], at: Int) -> String {
        if bytes.iter().any(|b| *b >= OPEN) {
            return "?".into();
        }
        let v = at.wrap(bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b)));
        if at == PTR { self.value(v) } else { at.show(v) }
    }

    /// What a local variable of a running function is called.
    fn local_name(&self, of: Variable) -> String {
        let t = &self.program.templates[of.template as usize];
        format!("{}::{}", t.name, t.locals[of.local as usize].name)
    }

    /// What allocated memory is called.
    fn allocated(&self, a: i64) -> String {
        let slot = object_of(a) - 1 - self.program.objects.len() as i64;
        match offset_of(a) {
            0 => format!("allocated[{slot}]"),
            offset => format!("allocated[{slot}]+{offset}"),
        }
    }

    /// A value of the type of addresses, which an integer may be, too.
    fn value(&self, v: i64) -> String {
        let object = object_of(v);
        let slot = usize::try_from(object - 1 - self.program.objects.len() as i64).ok();
        match self.program.pointer_name(v).filter(|_| object > 0) {
            Some(name) => format!("&{name}"),
            None if object < DANGLING && slot.is_some_and(|slot| slot < MOST_SLOTS) => {
                format!("&{}", self.allocated(v))
            }
            None => v.to_string(),
        }
    }
}
