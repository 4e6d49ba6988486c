//! What the goto program does: memory, values, and one step of one thread. The only definition; the
//! interpreter and the concrete model both call [`step`].

mod bits;
mod calls;
mod copies;
mod ended;
mod memory;
mod numbers;
mod sequence;

use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashSet, FxHasher};

use crate::program::{
    Access, Conversion, DANGLING, Expr, FUNCTION, Instr, Int, Leaf, Order, Point, Program, Reg, Side,
    Template, Undefined, Violation, Width, address, is_private, object_of,
};

pub use bits::is_byte;
pub use calls::MOST_CALLS;
pub use ended::Ended;
pub use sequence::{Item, Seen, Sequence};

/// Bytes of memory, of which some have no value.
pub type Bytes = Sequence<u16, 32>;

impl Item for u16 {
    const BLANK: u16 = OPEN;
    const BLANKS: &'static [u16] = &[OPEN; 32];

    fn code(&self) -> u64 {
        u64::from(self ^ OPEN)
    }
}

/// A byte that was never written: its value is open until it is read.
pub const OPEN: u16 = 256;

/// A byte of a local variable whose lifetime has ended.
pub const DEAD: u16 = 260;

/// A copy of a byte that was never written.
pub const COPIED: u16 = 258;

/// A place for an allocated object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Slot {
    /// Nothing points there, so it is used again first.
    Empty,
    /// What was there was freed, and some thread may still have a pointer to it. An allocation may
    /// get the same address again, or another one.
    Freed,
    /// An object: its bytes, and whether its address may be known to other threads.
    Used(Bytes, bool),
    /// A local variable of a running function: which one, its bytes, and whether its address may be
    /// known to other threads.
    Local(Variable, Bytes, bool),
    /// A local variable was here whose function has returned, and some thread may still have a
    /// pointer to it.
    Gone,
}

impl Item for Slot {
    const BLANK: Slot = Slot::Empty;
    const BLANKS: &'static [Slot] = &[const { Slot::Empty }; 4];

    fn code(&self) -> u64 {
        if *self == Slot::Empty {
            return 0;
        }
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish().max(1)
    }

    fn count(&self, seen: &mut Seen) {
        if let Slot::Used(bytes, _) | Slot::Local(_, bytes, _) = self {
            bytes.count(seen);
        }
    }
}

/// A local variable in memory, by its function: template, and number in [`Template::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    /// The template.
    pub template: u32,
    /// The number of the variable.
    pub local: u32,
}

/// A call that has not returned.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// The call.
    pub at: Point,
    /// The registers of the caller that are read after the call. That of the result is open.
    pub registers: Vec<Option<i64>>,
}

/// What all threads see.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Memory {
    /// Objects with a fixed place.
    pub fixed: Bytes,
    /// Allocated objects.
    pub heap: Sequence<Slot, 4>,
    /// Which threads have ended; empty if threads have no numbers.
    pub ended: Ended,
}

impl Memory {
    /// Adds the bytes that were not seen before.
    pub fn count(&self, seen: &mut Seen) {
        self.fixed.count(seen);
        self.heap.count(seen);
        self.ended.count(seen);
    }
}

/// What one thread sees alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// The template it runs.
    pub template: u32,
    /// The next instruction.
    pub pc: u32,
    /// Its number, or 0 if threads have none.
    pub id: u32,
    /// The registers that are read later; `None` is open: it becomes some value when it is read.
    pub registers: Vec<Option<i64>>,
    /// Private memory.
    pub private: Bytes,
    /// The calls that have not returned, the first one first.
    pub frames: Vec<Arc<Frame>>,
    /// The places among the allocated objects of those local variables of running functions that
    /// other threads may come to know.
    pub slots: Vec<u32>,
    /// The addresses of the locks that it holds, sorted.
    pub held: Vec<i64>,
    /// Whether it was stopped before an access, to look for a race: it does nothing more.
    pub stopped: bool,
}

impl Thread {
    /// The next instruction.
    pub fn point(&self) -> Point {
        Point { template: self.template, pc: self.pc }
    }

    /// Adds the bytes that were not seen before.
    pub fn count(&self, seen: &mut Seen) {
        self.private.count(seen);
        let register = size_of::<Option<i64>>();
        seen.bytes += self.registers.capacity() * register;
        seen.bytes += self.frames.capacity() * size_of::<Arc<Frame>>();
        seen.bytes += self.slots.capacity() * size_of::<u32>() + self.held.capacity() * size_of::<i64>();
        for frame in &self.frames {
            if seen.is_new(frame) {
                seen.bytes += frame.registers.capacity() * register;
            }
        }
    }
}

/// An access to shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Touch {
    /// The first byte.
    pub address: i64,
    /// How many bytes.
    pub size: u32,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The instruction.
    pub at: Point,
}

impl Touch {
    /// Returns whether two accesses of different threads, at the same time, are a data race.
    pub fn races(&self, other: &Touch) -> bool {
        (self.writes || other.writes)
            && !(self.atomic && other.atomic)
            && self.address < other.address + i64::from(other.size)
            && other.address < self.address + i64::from(self.size)
    }
}

/// What a memory model has to know about a step, in the order of execution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// Memory is accessed that other threads may see, now or later.
    Access {
        /// The first byte.
        address: i64,
        /// How many bytes.
        size: u32,
        /// Whether it writes. To free is to write the whole object.
        writes: bool,
        /// What kind of access it is.
        kind: Access,
        /// The instruction.
        at: Point,
        /// Whether it is part of an atomic section.
        inside: bool,
        /// What was there before.
        old: Vec<u16>,
        /// What is there now.
        new: Vec<u16>,
    },
    /// A fence.
    Fence(Order, Point),
    /// The next of [`Outcome::started`] starts.
    Started,
    /// The thread with this number was seen to have ended.
    Joined(usize),
    /// The thread with this number ends, if threads have numbers.
    Ended(usize),
    /// The thread takes the lock at this address, or what was handed over there.
    Acquired(i64),
    /// It releases the lock at this address, or hands over there what it has done.
    Released(i64),
    /// The lifetime of an object begins, by its number.
    Begins(i64),
}

/// How a step leaves the process.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum After {
    /// It goes on.
    Runs(Arc<Memory>),
    /// A property is violated.
    Failed(Violation, String),
    /// It has ended.
    Halted,
}

/// One way a step can go.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Outcome {
    /// The process afterwards.
    pub after: After,
    /// The thread afterwards, unless it has ended.
    pub thread: Option<Thread>,
    /// Threads that were started.
    pub started: Vec<Thread>,
    /// The visible instruction.
    pub at: Point,
    /// The last instruction; that of the failure, if there was one.
    pub last: Point,
    /// What happened that a replay has to know, in order.
    pub events: Vec<Event>,
    /// The accesses to shared memory, if races are asked for.
    pub touches: Vec<Touch>,
    /// What a memory model has to know. Only `step_with_effects` says so.
    pub effects: Vec<Effect>,
}

/// What a replay of a step has to know.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// This instruction, which other threads can see, was executed.
    Visible(Point),
    /// This instruction made a register open.
    Opened(Point, Reg),
    /// An open register was copied: from, to.
    Copied(Reg, Reg),
    /// An open register received a value.
    Chosen(Reg, i64),
    /// A function was called; these open registers of the caller became its parameters.
    Called(Vec<(Reg, Reg)>),
    /// A function returned; this open register of it became one of the caller.
    Returned(Option<(Reg, Reg)>),
    /// This instruction read memory that was never written, and a value was chosen.
    Found {
        /// The instruction.
        at: Point,
        /// The first byte.
        address: i64,
        /// The value.
        value: i64,
    },
    /// This instruction accessed memory without a turn of its own: inside an atomic section
    /// (`true`), or where no other thread can see it. Only [`step_in_detail`] says so.
    Passed(Point, bool),
    /// Shared memory at this address was read or written (`true`), with this value. Only
    /// [`step_in_detail`] says so.
    Accessed(i64, Int, i64, bool),
}

/// What is not known of a program: prints as a sentence that begins with the line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Missing {
    /// The instruction.
    pub at: Point,
    /// Its line.
    pub line: u32,
    /// What is not known there.
    pub what: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// What a step can do.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// The ways it can go.
    pub outcomes: Vec<Outcome>,
    /// Why there may be more ways than those listed.
    pub missing: Option<Missing>,
    /// A lock was misused, and where.
    pub misuse: Option<String>,
    /// A signed integer overflowed, and where.
    pub overflow: Option<String>,
    /// The thread waits for others: at a lock or its like, or for the end of another thread.
    pub waits: bool,
    /// What atomic sections accessed that cannot come to their end. Only `step_with_effects` says so.
    pub blocked: Vec<Vec<Effect>>,
}

/// The most instructions without a visible one in one step.
const LONGEST: usize = 20_000;
/// The most bytes allocated at one time, and objects.
const MOST_ALLOCATED: usize = 1 << 16;
/// Maximum number of freed objects whose addresses are not used again at once.
const MOST_FREED: usize = 6;
/// The most ways one step may go.
const MOST_WAYS: usize = 4096;

/// Shared memory at the start.
pub fn initial_memory(program: &Program) -> Memory {
    Memory {
        fixed: program.objects.iter().flat_map(|o| o.init.iter().copied()).collect(),
        heap: Sequence::blank(0),
        ended: program.numbered.then_some(None).into_iter().collect(),
    }
}

/// A thread at the start of a template.
pub fn start(program: &Program, template: usize, arguments: &[i64], id: u32) -> Thread {
    let t = &program.templates[template];
    let mut private = Bytes::from(program.private.clone());
    private.resize(program.private.len() + (t.frame + t.own_bytes()) as usize, &OPEN);
    let live = &t.live[0];
    let registers =
        live.iter().map(|&r| arguments.get(r as usize).copied().filter(|_| (r as usize) < t.arguments));
    Thread {
        template: template as u32,
        pc: 0,
        id,
        registers: registers.collect(),
        private,
        frames: Vec::new(),
        slots: Vec::new(),
        held: Vec::new(),
        stopped: false,
    }
}

/// The value of a register that a thread will read, for people.
pub fn register(program: &Program, thread: &Thread, r: Reg) -> Option<i64> {
    let live = &program.templates[thread.template as usize].live[thread.pc as usize];
    live.binary_search(&r).ok().and_then(|i| thread.registers[i])
}

/// A thread in the middle of a step.
#[derive(Clone)]
struct Run {
    memory: Arc<Memory>,
    /// The template whose code is executed.
    template: usize,
    pc: usize,
    registers: Vec<Option<i64>>,
    private: Bytes,
    frames: Vec<Arc<Frame>>,
    slots: Vec<u32>,
    /// Where the local variables of the running function are.
    bases: calls::Bases,
    depth: u32,
    /// The visible instruction that was executed.
    at: Option<Point>,
    started: Vec<Thread>,
    executed: usize,
    /// Whether the thread was at a place that every thread is to leave.
    watched: bool,
    /// What happened, if that is recorded.
    events: Option<Vec<Event>>,
    held: Vec<i64>,
    touches: Vec<Touch>,
    effects: Vec<Effect>,
    /// What the last write has overwritten, if effects are listed.
    overwritten: Vec<u16>,
}

impl Run {
    fn record(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// The next instruction.
    fn point(&self) -> Point {
        Point { template: self.template as u32, pc: self.pc as u32 }
    }
}

/// A way that is still to be gone.
enum Way {
    Run(Box<Run>),
    /// From here, with this value of a register. There may be thousands of them, so that they share
    /// the run.
    With(Rc<Run>, Reg, i64),
}

impl Way {
    fn run(self) -> Run {
        match self {
            Way::Run(run) => *run,
            Way::With(run, r, v) => {
                let mut run = Rc::unwrap_or_clone(run);
                run.registers[r as usize] = Some(v);
                run.record(Event::Chosen(r, v));
                run
            }
        }
    }
}

/// Why an instruction cannot be executed as it stands.
enum Stop {
    /// A register is open and has to be chosen first.
    Open(Reg),
    /// The value of an expression is open.
    Value(Undefined),
    /// C leaves open what happens, or we do.
    Undefined(String),
    /// A property is violated.
    Violated(Violation, String),
}

impl From<Undefined> for Stop {
    fn from(why: Undefined) -> Stop {
        Stop::Value(why)
    }
}

/// The ways in which `thread` can make its next step: private instructions up to a visible one,
/// that one, and the private ones after it.
pub fn step(program: &Program, memory: &Arc<Memory>, thread: &Thread) -> Steps {
    steps(program, memory, thread, Record::Events)
}

/// The same steps, with the accesses to shared memory among their events.
pub fn step_in_detail(program: &Program, memory: &Arc<Memory>, thread: &Thread) -> Steps {
    steps(program, memory, thread, Record::Details)
}

/// The same steps without events, for searches: what a step does may be long, and its ways many.
pub(crate) fn step_unrecorded(program: &Program, memory: &Arc<Memory>, thread: &Thread) -> Steps {
    steps(program, memory, thread, Record::Nothing)
}

/// The same steps, with what a memory model has to know about them.
pub(crate) fn step_with_effects(program: &Program, memory: &Arc<Memory>, thread: &Thread) -> Steps {
    steps(program, memory, thread, Record::Effects)
}

/// What is said about steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Record {
    Nothing,
    /// What a replay has to know.
    Events,
    /// The accesses to shared memory, too.
    Details,
    /// What a memory model has to know, too.
    Effects,
}

fn steps(program: &Program, memory: &Arc<Memory>, thread: &Thread, record: Record) -> Steps {
    let t = &program.templates[thread.template as usize];
    let mut registers = vec![None; t.registers.len()];
    for (&r, &v) in t.live[thread.pc as usize].iter().zip(&thread.registers) {
        registers[r as usize] = v;
    }
    let mut first = Run {
        memory: memory.clone(),
        template: thread.template as usize,
        pc: thread.pc as usize,
        registers,
        private: thread.private.clone(),
        frames: thread.frames.clone(),
        slots: thread.slots.clone(),
        bases: calls::Bases::of(program, thread),
        depth: 0,
        at: None,
        started: Vec::new(),
        executed: 0,
        watched: false,
        events: (record != Record::Nothing).then(Vec::new),
        held: thread.held.clone(),
        touches: Vec::new(),
        effects: Vec::new(),
        overwritten: Vec::new(),
    };
    let mut stepper = Stepper {
        program,
        thread,
        steps: Steps::default(),
        work: Vec::new(),
        chosen: FxHashSet::default(),
        overflowed: Cell::new(false),
        arbitrary: Cell::new(false),
        addresses: program.holders.any || program.address_numbers,
        races: program.asked.contains(&Violation::Race),
        details: record == Record::Details,
        effects: record == Record::Effects,
    };
    if thread.pc == 0 && thread.frames.is_empty() && thread.slots.is_empty() {
        stepper.enter_function(&mut first);
    }
    stepper.work.push(Way::Run(Box::new(first)));
    while let Some(way) = stepper.work.pop() {
        if stepper.steps.outcomes.len() + stepper.work.len() > MOST_WAYS {
            stepper.missing_at(way.run().point(), "a step can go more than 4096 ways");
            break;
        }
        stepper.run(way.run());
    }
    stepper.steps
}

struct Stepper<'a> {
    program: &'a Program,
    thread: &'a Thread,
    steps: Steps,
    work: Vec<Way>,
    /// Where choices were made: a private loop comes back to the same one again and again.
    chosen: FxHashSet<Choice>,
    /// Whether the last expression overflowed.
    overflowed: Cell<bool>,
    /// Whether the last expression depended on which number an address is.
    arbitrary: Cell<bool>,
    /// Whether there may be addresses among numbers.
    addresses: bool,
    /// Whether accesses to shared memory are listed, to look for races.
    races: bool,
    /// Whether they are among the events.
    details: bool,
    /// Whether effects are listed.
    effects: bool,
}

/// All of a [`Run`] that matters later: the thread as it would be if the step ended here, and the
/// rest.
type Choice = (Thread, Option<Point>, u32, Arc<Memory>, Vec<Thread>, Vec<Touch>, Vec<Effect>);

impl<'a> Stepper<'a> {
    /// Notes that not everything is tried where a run is.
    fn missing(&mut self, run: &Run, what: impl Into<String>) {
        self.missing_at(run.point(), what);
    }

    fn missing_at(&mut self, at: Point, what: impl Into<String>) {
        let line = || self.program.origin_at(at).line;
        self.steps.missing.get_or_insert_with(|| Missing { at, line: line(), what: what.into() });
    }

    /// The template whose code a run executes.
    fn template(&self, run: &Run) -> &'a Template {
        &self.program.templates[run.template]
    }

    fn run(&mut self, mut run: Run) {
        let program = self.program;
        loop {
            run.executed += 1;
            if run.depth == 0 {
                let watched = self.is_watched(&run);
                if std::mem::replace(&mut run.watched, watched) && !watched {
                    return self.leave(run, true);
                }
            }
            let instruction = &program.templates[run.template].code[run.pc];
            let visible = run.depth == 0 && self.visible(&run, instruction);
            if visible && (run.at.is_some() || self.rests(&run)) {
                return self.leave(run, true);
            }
            if run.executed > LONGEST && matches!(instruction, Instr::Jump(_) | Instr::Branch(..)) {
                if run.depth > 0 {
                    return self.missing(&run, "an atomic section is too long");
                }
                return self.leave(run, true);
            }
            let here = run.point();
            if visible {
                run.at = Some(here);
                run.record(Event::Visible(here));
            }
            let done = self.execute(&mut run, instruction);
            if self.arbitrary.take() {
                self.missing_at(here, memory::NUMBER);
            }
            if self.overflowed.take() {
                let line = program.origin_at(here).line;
                self.steps.overflow.get_or_insert_with(|| format!("line {line}: a signed integer overflows"));
            }
            match done {
                Ok(true) => {}
                Ok(false) => return,
                Err(Stop::Open(r)) => {
                    if visible {
                        // It was not executed yet.
                        run.at = None;
                        run.events.as_mut().map(Vec::pop);
                    }
                    return self.choose(run, r);
                }
                Err(Stop::Violated(what, why)) => {
                    let line = program.origin_at(here).line;
                    if what == Violation::Locks {
                        self.steps.misuse.get_or_insert_with(|| format!("line {line}: {why}"));
                    }
                    return self.finish(run, After::Failed(what, why));
                }
                Err(Stop::Value(why)) => return self.undefined(run, here, &why.to_string()),
                Err(Stop::Undefined(why)) => return self.undefined(run, here, &why),
            }
        }
    }

    /// Returns whether a step ends before the first visible instruction, where places are asked about:
    /// a thread that cannot execute it is there, and not where it began.
    fn rests(&self, run: &Run) -> bool {
        self.program.asks_about_places()
            && (run.point() != self.thread.point() || run.frames.len() != self.thread.frames.len())
    }

    /// Returns whether the thread, or a function that it has called, is at a place that every thread
    /// is to leave.
    fn is_watched(&self, run: &Run) -> bool {
        let watched = |at| self.program.is_watched(at);
        !self.program.watched.is_empty()
            && (watched(run.point()) || run.frames.iter().any(|frame| watched(frame.at)))
    }

    /// The thread does not execute its next instruction, because what that does is open.
    fn undefined(&mut self, run: Run, at: Point, why: &str) {
        self.missing_at(at, why);
        self.block(run);
    }

    /// Returns whether another thread could tell when this instruction is executed.
    fn visible(&self, run: &Run, i: &Instr) -> bool {
        match i {
            Instr::Load(_, a, _) | Instr::Store(a, ..) => match self.eval(a, run, &Cell::new(false)) {
                Ok(a) => self.is_shared(run, a),
                Err(_) => false,
            },
            Instr::AtomicBegin
            | Instr::Spawn(..)
            | Instr::Join(..)
            | Instr::Alloc(..)
            | Instr::Free(_)
            | Instr::Resize(..)
            | Instr::Halt => true,
            _ => false,
        }
    }

    fn is_shared(&self, run: &Run, a: i64) -> bool {
        let object = object_of(a);
        if !(1..FUNCTION).contains(&object) {
            return false;
        }
        match self.program.objects.get(object as usize - 1) {
            Some(o) => o.visible,
            None => !matches!(self.slot(run, a), Some(Slot::Local(_, _, false))),
        }
    }

    /// The thread can never execute its next instruction. What it has done in this step is done,
    /// unless that is an atomic section: then it does not begin.
    fn block(&mut self, mut run: Run) {
        if run.depth > 0 || run.at.is_none() || run.at == Some(run.point()) {
            self.steps.blocked.extend(Some(run.effects).filter(|_| self.effects));
            return;
        }
        if self.template(&run).code[run.pc] == Instr::Assume(Expr::Const(0)) {
            // Nothing that it knows matters any more.
            run.registers.fill(None);
            run.private = Bytes::blank(run.private.len());
            run.frames.iter_mut().for_each(|f| Arc::make_mut(f).registers.fill(None));
        }
        self.leave(run, true);
    }

    /// The step ends here. The thread lives unless `lives` is false.
    fn leave(&mut self, run: Run, lives: bool) {
        let memory = run.memory.clone();
        self.outcome(run, After::Runs(memory), lives);
    }

    /// The step ends the process. A thread that violates a property is still there, to be seen.
    fn finish(&mut self, run: Run, after: After) {
        let failed = matches!(after, After::Failed(..));
        self.outcome(run, after, failed);
    }

    fn outcome(&mut self, mut run: Run, after: After, lives: bool) {
        let here = run.point();
        let (started, events) = (std::mem::take(&mut run.started), run.events.take().unwrap_or_default());
        let (at, touches) = (run.at.unwrap_or(here), std::mem::take(&mut run.touches));
        let effects = std::mem::take(&mut run.effects);
        let thread = lives.then(|| self.thread_of(run));
        self.steps.outcomes.push(Outcome {
            after,
            thread,
            started,
            at,
            last: here,
            events,
            touches,
            effects,
        });
    }

    /// Returns the thread between two steps.
    fn thread_of(&self, run: Run) -> Thread {
        Thread {
            template: run.template as u32,
            pc: run.pc as u32,
            id: self.thread.id,
            registers: self.live(&run, run.pc),
            private: run.private,
            frames: run.frames,
            slots: run.slots,
            held: run.held,
            stopped: false,
        }
    }

    /// Returns the registers that are read from an instruction on.
    fn live(&self, run: &Run, pc: usize) -> Vec<Option<i64>> {
        self.template(run).live[pc].iter().map(|&r| run.registers[r as usize]).collect()
    }

    /// Continues with every value that we try for an open register.
    fn choose(&mut self, run: Run, r: Reg) {
        let t = self.template(&run);
        let (memory, started, touches) = (run.memory.clone(), run.started.clone(), run.touches.clone());
        let (at, depth, effects) = (run.at, run.depth, run.effects.clone());
        if !self.chosen.insert((self.thread_of(run.clone()), at, depth, memory, started, touches, effects)) {
            return;
        }
        let (values, all) = match &t.representatives[r as usize] {
            Some(values) => (values.clone(), true),
            None => match t.values_at(run.pc, r) {
                Some(values) => (values.to_vec(), true),
                None => values(self.program, t.registers[r as usize]),
            },
        };
        if let Some((if_zero, if_not, value, other)) = self.decides_truth(&run, r) {
            for to in [if_not, if_zero] {
                let mut next = run.clone();
                next.record(Event::Chosen(r, if to == if_not { other } else { value }));
                next.pc = to;
                self.work.push(Way::Run(Box::new(next)));
            }
            return;
        }
        if !all {
            let what = match &t.names[r as usize] {
                Some(name) => format!("`{name}`"),
                None => "an input".into(),
            };
            self.missing(&run, format!("{what} has more values than those that were tried"));
        }
        let run = Rc::new(run);
        self.work.extend(values.into_iter().rev().map(|v| Way::With(run.clone(), r, v)));
    }

    /// Returns whether the next instruction only asks if an open register has a certain value, and
    /// nothing reads it later: then both answers are possible, whatever its type. Where control
    /// goes if it has the value and if not; the value, and another one.
    fn decides_truth(&self, run: &Run, r: Reg) -> Option<(usize, usize, i64, i64)> {
        use crate::program::BinOp;
        let t = self.template(run);
        let Instr::Branch(e, yes, no) = &t.code[run.pc] else { return None };
        if t.live[*yes].contains(&r) || t.live[*no].contains(&r) || yes == no {
            return None;
        }
        match e {
            Expr::Reg(x) if *x == r => Some((*no, *yes, 0, 1)),
            Expr::Bin(op @ (BinOp::Eq | BinOp::Ne), a, b, _) => match (&**a, &**b) {
                (Expr::Reg(x), Expr::Const(v)) if *x == r && t.registers[r as usize].wrap(*v) == *v => {
                    let other = if *v == 0 { 1 } else { 0 };
                    Some(if *op == BinOp::Eq { (*yes, *no, *v, other) } else { (*no, *yes, *v, other) })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Executes one instruction. `Ok(false)`: this way ends.
    fn execute(&mut self, run: &mut Run, instruction: &Instr) -> Result<bool, Stop> {
        match instruction {
            Instr::Let(r, e) => self.assign(run, *r, e)?,
            Instr::Any(r) => {
                run.registers[*r as usize] = None;
                let opened = Event::Opened(run.point(), *r);
                run.record(opened);
            }
            Instr::Load(r, a, at) => {
                if !self.load(run, *r, a, *at)? {
                    return Ok(false);
                }
            }
            Instr::Store(a, e, at) => self.store(run, a, e, *at)?,
            Instr::Branch(e, yes, no) => {
                run.pc = if self.value(e, run)? != 0 { *yes } else { *no };
                return Ok(true);
            }
            Instr::Jump(to) => {
                run.pc = *to;
                return Ok(true);
            }
            Instr::Assume(e) => {
                if self.value(e, run)? == 0 {
                    let t = self.template(run);
                    self.steps.waits |= t.access[run.pc] == Access::Internal;
                    self.block(run.clone());
                    return Ok(false);
                }
            }
            Instr::Fence(order) => {
                let at = run.point();
                self.affect(run, Effect::Fence(*order, at));
            }
            Instr::AtomicBegin => run.depth += 1,
            Instr::AtomicEnd => run.depth = run.depth.saturating_sub(1),
            Instr::Spawn(template, args, r) => self.spawn(run, *template, args, *r)?,
            Instr::Join(e, r) => {
                let number = self.value(e, run)?;
                let ended = usize::try_from(number).ok().and_then(|n| run.memory.ended.get(n));
                match ended {
                    None => return Err(Stop::Undefined("a thread is joined that was not created".into())),
                    Some(None) => {
                        self.steps.waits = true;
                        return Ok(false);
                    }
                    Some(Some(v)) => {
                        run.registers[*r as usize] = Some(v);
                        self.affect(run, Effect::Joined(number as usize));
                    }
                }
            }
            Instr::Alloc(r, size) => {
                let size = self.allocated_size(run, size)?;
                return Ok(self.allocate(run, *r, Bytes::blank(size)));
            }
            Instr::Resize(r, a, size) => {
                let a = self.value(a, run)?;
                let size = self.allocated_size(run, size)?;
                return self.resize(run, *r, a, size);
            }
            Instr::Free(e) => {
                let a = self.value(e, run)?;
                self.free(run, a)?;
            }
            Instr::Begins(a, size) => {
                let a = self.value(a, run)?;
                self.begins(run, a, *size as usize);
                self.affect(run, Effect::Begins(object_of(a)));
            }
            Instr::Ends(list) => {
                for (a, size) in list {
                    let a = self.value(a, run)?;
                    self.ends(run, a, *size as usize);
                }
            }
            Instr::Pointer(using) => {
                let mut operands = Vec::new();
                using.operands(&mut |e| operands.push(self.value(e, run)));
                let objects =
                    operands.into_iter().map(|v| v.map(object_of)).collect::<Result<Vec<_>, _>>()?;
                self.pointer(run, using, &objects)?;
            }
            Instr::Fail(Violation::Locks, why) => self.misuse(run, why)?,
            Instr::Fail(what, why) => return Err(Stop::Violated(*what, why.clone())),
            Instr::Meets(e, side) => {
                let a = self.value(e, run)?;
                self.affect(
                    run,
                    match side {
                        Side::Acquires => Effect::Acquired(a),
                        Side::Releases => Effect::Released(a),
                    },
                );
            }
            Instr::Acquire(e) => {
                let a = self.value(e, run)?;
                let at = run.held.partition_point(|&h| h < a);
                run.held.insert(at, a);
                self.affect(run, Effect::Acquired(a));
            }
            Instr::Release(e) => {
                let a = self.value(e, run)?;
                self.affect(run, Effect::Released(a));
                match run.held.binary_search(&a) {
                    Ok(at) => _ = run.held.remove(at),
                    Err(_) => self.misuse(run, "a lock is released that the thread does not hold")?,
                }
            }
            Instr::Unmodelled(why) => return Err(Stop::Undefined(why.clone())),
            Instr::Halt => {
                self.finish(run.clone(), After::Halted);
                return Ok(false);
            }
            Instr::End(e) => {
                self.end(run, e)?;
                return Ok(false);
            }
            Instr::Call { function, arguments, .. } => {
                self.call(run, *function, arguments)?;
                return Ok(true);
            }
            Instr::CallPointer { address, arguments, .. } => {
                let function = self.called(run, address, arguments)?;
                let arguments: Vec<Expr> = arguments.iter().map(|a| a.0.clone()).collect();
                self.call(run, function, &arguments)?;
                return Ok(true);
            }
            Instr::Return(e) if run.frames.is_empty() => {
                self.end(run, e.as_ref().unwrap_or(&Expr::Const(0)))?;
                return Ok(false);
            }
            Instr::Return(e) => {
                self.return_to_caller(run, e.as_ref())?;
                return Ok(true);
            }
        }
        run.pc += 1;
        Ok(true)
    }

    /// Returns the value of an expression, and notes whether some signed operation in it overflowed.
    fn eval(&self, e: &Expr, run: &Run, overflowed: &Cell<bool>) -> Result<i64, Stop> {
        let leaf = |of: Leaf| match of {
            Leaf::Register(r) => run.registers[r as usize].ok_or(Stop::Open(r)),
            Leaf::SelfId => Ok(i64::from(self.thread.id)),
            Leaf::Local(k) => Ok(self.local(run, k)),
        };
        e.value(&leaf, &|| overflowed.set(true))
    }

    /// Returns the value of an expression; where overflows are asked for, one is a violation.
    fn value(&self, e: &Expr, run: &Run) -> Result<i64, Stop> {
        let strict = self.program.asked.contains(&Violation::Overflow);
        let v = self.eval(e, run, &self.overflowed).map_err(|stop| match stop {
            Stop::Value(why @ Undefined::Operator) if strict => {
                Stop::Violated(Violation::Overflow, why.to_string())
            }
            stop => stop,
        })?;
        if self.addresses && !self.arbitrary.get() && self.is_arbitrary(e, run)? {
            self.arbitrary.set(true);
        }
        match strict && self.overflowed.get() {
            true => Err(Stop::Violated(Violation::Overflow, "a signed integer overflows".into())),
            false => Ok(v),
        }
    }

    /// Returns whether the register may be read after the current instruction.
    fn is_read_later(&self, run: &Run, r: Reg) -> bool {
        self.template(run).live.get(run.pc + 1).is_some_and(|live| live.contains(&r))
    }

    fn assign(&mut self, run: &mut Run, r: Reg, e: &Expr) -> Result<(), Stop> {
        let types = &self.template(run).registers;
        // A copy of an open value that is not read again stays open.
        if let Expr::Reg(from) = e
            && run.registers[*from as usize].is_none()
            && types[*from as usize] == types[r as usize]
            && self.may_copy_open(run, *from)
        {
            run.registers[r as usize] = None;
            run.record(Event::Copied(*from, r));
        } else {
            run.registers[r as usize] = self.computed(e, run)?;
        }
        Ok(())
    }

    /// Reads memory. `Ok(false)`: this way goes on with each value that we try.
    fn load(&mut self, run: &mut Run, r: Reg, address: &Expr, at: Int) -> Result<bool, Stop> {
        let a = self.value(address, run)?;
        let named = matches!(address, Expr::Const(_) | Expr::Local(_));
        if let Some(mask) = self.template(run).field(run.pc) {
            return self.load_bits(run, r, (a, named), at, mask);
        }
        let bytes = self.bytes(run, a, at.size, named)?.into_owned();
        if self.cuts_open_nan(run, a, at.size) {
            return Err(Stop::Value(Undefined::NotANumber));
        }
        self.touch(run, a, at.size.into(), false);
        let open = bytes.iter().any(|&b| b >= OPEN);
        if at.size < 8 && self.program.holders.any && !self.addresses_at(run, a, at.size).is_empty() {
            self.missing(run, memory::NUMBER);
        }
        if open && !self.is_read_later(run, r) {
            run.registers[r as usize] = None;
            return Ok(true);
        }
        if open && self.load_undefined(run, r, a, &bytes) {
            return Ok(true);
        }
        if open && self.load_unwritten(run, r, a, at)? {
            return Ok(true);
        }
        if !open {
            let v = at.wrap(bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b)));
            run.registers[r as usize] = Some(v);
            self.note(run, a, at, v, false);
            return Ok(true);
        }
        if bytes.contains(&COPIED) {
            return Err(Stop::Undefined(
                "a copy of memory that was never written, or what a function of the library wrote, is read"
                    .into(),
            ));
        }
        // Chosen once and for all, so that the next read gives the same.
        let (values, all) = values(self.program, at);
        if !all {
            self.missing(run, self.unwritten(a));
        }
        for v in values.into_iter().rev() {
            let mut next = run.clone();
            // What is known of it stays.
            let v = at.wrap(bytes.iter().enumerate().fold(0i64, |all, (k, &b)| {
                let (known, open) = bits::parts(b);
                let byte = known | (v >> (8 * k)) as u8 & open;
                all | i64::from(byte) << (8 * k)
            }));
            self.write(&mut next, a, v, at, named)?;
            next.registers[r as usize] = Some(v);
            next.record(Event::Found { at: run.point(), address: a, value: v });
            self.note(&mut next, a, at, v, false);
            next.pc += 1;
            self.work.push(Way::Run(Box::new(next)));
        }
        Ok(false)
    }

    fn store(&mut self, run: &mut Run, address: &Expr, e: &Expr, at: Int) -> Result<(), Stop> {
        if let Some(mask) = self.template(run).field(run.pc) {
            return self.store_bits(run, address, e, at, mask);
        }
        if self.store_undefined(run, address, e, at)? || self.store_unwritten(run, address, e, at)? {
            return Ok(());
        }
        let (a, v) = (self.value(address, run)?, self.value(e, run)?);
        if at.size == 8 && self.is_private(run, v) && !is_private(a) {
            return Err(escapes());
        }
        self.write(run, a, v, at, matches!(address, Expr::Const(_) | Expr::Local(_)))?;
        if at.size == 8 && !is_private(a) {
            self.publish(run, v);
        }
        if self.program.holders.any && self.completes_private_address(run, a, at.size) {
            return Err(escapes());
        }
        self.touch(run, a, at.size.into(), true);
        self.note(run, a, at, at.wrap(v), true);
        Ok(())
    }

    fn spawn(&mut self, run: &mut Run, template: usize, args: &[Expr], r: Reg) -> Result<(), Stop> {
        let args = args.iter().map(|e| self.value(e, run)).collect::<Result<Vec<_>, _>>()?;
        if args.iter().any(|&v| self.is_private(run, v)) {
            return Err(escapes());
        }
        args.iter().for_each(|&v| self.publish(run, v));
        let number = run.memory.ended.len() as u32;
        if self.program.numbered {
            Arc::make_mut(&mut run.memory).ended.begin();
        }
        run.started.push(start(self.program, template, &args, number));
        self.affect(run, Effect::Started);
        run.registers[r as usize] = Some(i64::from(number));
        Ok(())
    }

    /// Returns how many bytes are allocated.
    fn allocated_size(&self, run: &Run, size: &Expr) -> Result<usize, Stop> {
        let size = self.value(size, run)?;
        let length = |s: &Slot| if let Slot::Used(o, _) = s { o.len() + 1 } else { 0 };
        let used: usize = run.memory.heap.iter().map(length).sum();
        let room = usize::try_from(size).ok().filter(|s| s.saturating_add(used) <= MOST_ALLOCATED);
        room.ok_or_else(|| Stop::Undefined("more memory is allocated than is modelled".into()))
    }

    /// Notes that a lock is misused, or stops if that is asked for.
    fn misuse(&mut self, run: &Run, why: &str) -> Result<(), Stop> {
        if self.program.asked.contains(&Violation::Locks) {
            return Err(Stop::Violated(Violation::Locks, why.into()));
        }
        let line = self.program.origin_at(run.point()).line;
        self.steps.misuse.get_or_insert_with(|| format!("line {line}: {why}"));
        Ok(())
    }

    /// Ends the thread with a result.
    fn end(&mut self, run: &mut Run, result: &Expr) -> Result<(), Stop> {
        let wanted = self.program.numbered && self.program.results;
        let v = if wanted { self.value(result, run)? } else { 0 };
        let here = (run.template, run.pc);
        let private = self.is_private(run, v);
        let gone = self.leave_functions(run);
        (run.template, run.pc) = here;
        if self.program.numbered {
            // Variables of functions end with their thread.
            let own = private || gone.contains(&object_of(v));
            let v = if own { address(DANGLING, 0) } else { v };
            self.affect(run, Effect::Ended(self.thread.id as usize));
            self.publish(run, v);
            // No step can tell that a thread has not ended, so this needs no step of its own.
            if !Arc::make_mut(&mut run.memory).ended.end(self.thread.id as usize, v) {
                return Err(Stop::Undefined("a thread ends that was not created".into()));
            }
        }
        self.leave(run.clone(), false);
        Ok(())
    }

    /// Notes an access, for people and for replays.
    fn note(&self, run: &mut Run, address: i64, at: Int, value: i64, writes: bool) {
        let kind = self.template(run).access[run.pc];
        self.pass(run, address);
        if self.details && kind != Access::Internal && self.is_shared(run, address) {
            run.record(Event::Accessed(address, at, value, writes));
        }
    }

    /// Notes that an access takes no turn of its own.
    fn pass(&self, run: &mut Run, address: i64) {
        if self.details && (run.depth > 0 || !self.is_shared(run, address)) {
            let passed = Event::Passed(run.point(), run.depth > 0);
            run.record(passed);
        }
    }

    /// Notes an access, for races.
    fn touch(&self, run: &mut Run, address: i64, size: u32, writes: bool) {
        let kind = self.template(run).access[run.pc];
        self.affected(run, address, size, writes);
        if self.races && kind != Access::Internal && self.is_shared(run, address) {
            let atomic = kind.is_atomic() || run.depth > 0;
            run.touches.push(Touch { address, size, writes, atomic, at: run.point() });
        }
    }
}

impl Stepper<'_> {
    /// Notes what a memory model has to know.
    fn affect(&self, run: &mut Run, effect: Effect) {
        if self.effects {
            run.effects.push(effect);
        }
    }

    /// Notes an access for a memory model, unless no other thread ever sees the object. A local
    /// variable that other threads do not know yet is noted: they may come to know it.
    fn affected(&self, run: &mut Run, address: i64, size: u32, writes: bool) {
        let old = std::mem::take(&mut run.overwritten);
        let object = object_of(address);
        let fixed = || self.program.objects.get(object as usize - 1).is_none_or(|o| o.visible);
        if self.effects && (1..FUNCTION).contains(&object) && fixed() {
            let (kind, at) = (self.template(run).access[run.pc], run.point());
            let inside = run.depth > 0;
            let size_read = u8::try_from(size).unwrap_or(0);
            let new = self.bytes(run, address, size_read, true).map(|b| b.into_owned()).unwrap_or_default();
            let old = if writes { old } else { new.clone() };
            run.effects.push(Effect::Access { address, size, writes, kind, at, inside, old, new });
        }
    }
}

/// What other threads learn about is not private any more, which is not modelled.
fn escapes() -> Stop {
    Stop::Undefined("the address of a private variable is made known to other threads".into())
}

/// The values to try for an open one, and whether these are all.
fn values(program: &Program, at: Int) -> (Vec<i64>, bool) {
    match at {
        Int { truth: true, .. } => (vec![0, 1], true),
        Int { size: 1, signed, .. } => ((if signed { -128..128 } else { 0..256 }).collect(), true),
        at => {
            let mut found = Vec::new();
            let list = if at.float { &program.numbers } else { &program.interesting };
            for &v in list {
                let v = match Width::of(at) {
                    Some(at) => Conversion::Resize(Width::Double, at).apply(v).unwrap_or(0),
                    None => at.wrap(v),
                };
                if !found.contains(&v) {
                    found.push(v);
                }
            }
            (found, false)
        }
    }
}
