//! The monitor over all runs of a small program under sequential consistency, by its rules alone.

use std::collections::{BTreeMap, HashSet};
use throng_memory::Order;
use throng_memory::litmus::{Instruction, Litmus, Thread};
use throng_memory::program::{Program, Value};
use throng_memory::rules::{Access, Bit, Class, Features, Formula, Kind, Location, Mine, Monitor, Update};
use throng_memory::slices::{Instruction as Sliced, slices};

/// A rule left out or made wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    /// Readers do not hand awareness on to the next writer.
    ReadersSilent,
    /// Other threads stay aware after a write.
    NeverUnaware,
    /// A write that a read-modify-write has read counts as a place for another.
    UnreadIgnored,
    /// A read-modify-write is a load and then a store.
    UpdateSplit,
    /// Relaxed reads acquire.
    RelaxedAcquires,
    /// A sequentially consistent fence knows all that earlier ones knew.
    FencesTotal,
    /// A sequentially consistent fence only acquires and releases.
    FencesWeak,
    /// No read of a plain location is watched.
    NothingWatched,
    /// Readers are aware of what earlier readers were.
    ReadersAware,
}

impl Mutant {
    pub const ALL: [Mutant; 9] = [
        Mutant::ReadersSilent,
        Mutant::NeverUnaware,
        Mutant::UnreadIgnored,
        Mutant::UpdateSplit,
        Mutant::RelaxedAcquires,
        Mutant::FencesTotal,
        Mutant::FencesWeak,
        Mutant::NothingWatched,
        Mutant::ReadersAware,
    ];
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    memory: Vec<Value>,
    own: Vec<BTreeMap<Mine, bool>>,
    shared: BTreeMap<Bit, bool>,
    /// Of a mutant: is there a stale write that no sequentially consistent fence so far knew of?
    fences: bool,
}

struct Watch<'p> {
    program: &'p Litmus,
    monitor: Monitor,
    /// The value that a class with values is about.
    value: Value,
    mutant: Option<Mutant>,
}

/// Returns whether no slice is violated; `None` if there are too many states.
pub fn is_robust(program: &Litmus, mutant: Option<Mutant>, most: usize) -> Option<bool> {
    let code: Vec<Instruction> = program.threads.iter().flatten().copied().collect();
    let sliced: Vec<Sliced> = code
        .iter()
        .flat_map(|i| i.accesses().into_iter().map(|access| Sliced { access, selects: i.selects() }))
        .collect();
    let accesses: Vec<Access> = sliced.iter().map(|i| i.access).collect();
    let features = Features::of(&accesses);
    let sources: Vec<Location> =
        accesses.iter().filter(|a| a.is_access() && a.order != Order::Plain).map(|a| a.location).collect();
    for (target, class) in slices(&sliced).expect("no mixed accesses") {
        let values = if class.is_valued() { program.values } else { 1 };
        for value in 0..values {
            let class = match (mutant, class) {
                (Some(Mutant::UnreadIgnored), Class::AnyUnread) => Class::Any,
                (Some(Mutant::UnreadIgnored), Class::ValuedUnread) => Class::Valued,
                (_, class) => class,
            };
            let monitor = Monitor::new(target, class, sources.iter().copied(), features);
            if !(Watch { program, monitor, value, mutant }).is_safe(most)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

impl Watch<'_> {
    fn start(&self) -> State {
        let threads = self.program.threads();
        let (mut own, mut shared) = (BTreeMap::new(), BTreeMap::new());
        for (bit, value) in self.monitor.bits() {
            match bit {
                Bit::Thread(mine) => own.insert(mine, value),
                shared_bit => shared.insert(shared_bit, value),
            };
        }
        State { own: vec![own; threads.len()], shared, memory: vec![0; 4], fences: false, threads }
    }

    fn is_safe(&self, most: usize) -> Option<bool> {
        let start = self.start();
        let mut seen = HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            for thread in 0..state.threads.len() {
                let Some((at, instruction)) = self.program.next(state.threads[thread]) else { continue };
                if self.violates(&state, thread, at, instruction) {
                    return Some(false);
                }
                for next in self.steps(&state, thread, at, instruction) {
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
            if seen.len() > most {
                return None;
            }
        }
        Some(true)
    }

    /// What an instruction would do with a value: its access, and what it writes.
    fn access(&self, at: Thread, instruction: Instruction, value: Value) -> Option<(Access, Option<Value>)> {
        if let Instruction::Fence(order) = instruction {
            return Some((Access::fence(order), None));
        }
        if let Some((location, value, order)) = Litmus::storing(instruction, at.register) {
            return Some((Access { kind: Kind::Store, location, order }, Some(value)));
        }
        let (order, writes, _) = self.program.reading(instruction, value)?;
        let kind = if writes.is_some() { Kind::Update } else { Kind::Load };
        Some((Access { kind, location: instruction.accesses().first()?.location, order }, writes))
    }

    fn violates(&self, state: &State, thread: usize, at: Thread, instruction: Instruction) -> bool {
        let class = self.monitor.class();
        let plain = instruction.accesses().first().is_some_and(|a| a.order == Order::Plain);
        if !plain && class.is_valued() != instruction.selects() {
            return false;
        }
        let value = if class.is_valued() { self.value } else { 0 };
        let asked = self.access(at, instruction, value).and_then(|(access, _)| {
            // The mutant keeps the bits of another class than it asks about.
            let asks = match (self.mutant, access.writes(), plain) {
                (Some(Mutant::UnreadIgnored), true, false) => Access { kind: Kind::Load, ..access },
                _ => access,
            };
            self.monitor.violation(&asks)
        });
        asked.is_some_and(|formula| formula.holds(&|bit| get(state, thread, bit), false))
    }

    fn steps(&self, state: &State, thread: usize, at: Thread, instruction: Instruction) -> Vec<State> {
        let location = instruction.accesses().first().map_or(0, |access| access.location as usize);
        let held = state.memory[location];
        let Some((access, writes)) = self.access(at, instruction, held) else { return Vec::new() };
        let mut next = state.clone();
        let register = self.program.reading(instruction, held).map_or(at.register, |(_, _, r)| r);
        next.threads[thread] = Thread { at: at.at + 1, register, ..at };
        if let Some(value) = writes {
            next.memory[location] = value;
        }
        let old = held == self.value;
        let mut found = vec![self.updated(next.clone(), thread, &access, old)];
        if self.monitor.may_watch(&access) && self.mutant != Some(Mutant::NothingWatched) {
            found.push(apply(next, thread, &self.monitor.watch(), old));
        }
        found
    }

    fn updated(&self, mut state: State, thread: usize, access: &Access, old: bool) -> State {
        let mutant = self.mutant;
        let mut access = *access;
        if mutant == Some(Mutant::RelaxedAcquires) && access.reads() && access.order == Order::Relaxed {
            access.order = Order::Acquire;
        }
        if mutant == Some(Mutant::FencesWeak) && !access.is_access() && access.order == Order::SeqCst {
            access.order = Order::AcqRel;
        }
        if mutant == Some(Mutant::UpdateSplit) && access.kind == Kind::Update {
            let load = Access { kind: Kind::Load, ..access };
            state = apply(state, thread, &self.monitor.step(&load), old);
            access.kind = Kind::Store;
        }
        let mut update = self.monitor.step(&access);
        if mutant == Some(Mutant::ReadersSilent) && access.kind == Kind::Load {
            let silent = Bit::Location(throng_memory::rules::Of::ReaderAware, access.location);
            update.own.retain(|(bit, _)| *bit != silent);
        }
        if mutant == Some(Mutant::NeverUnaware) {
            update.others.retain(|(mine, _)| *mine != Mine::Aware);
        }
        if mutant == Some(Mutant::ReadersAware) && access.reads() {
            let aware = Bit::Location(throng_memory::rules::Of::ReaderAware, access.location);
            let known = state.shared.get(&aware).copied().unwrap_or(false);
            state = apply(state, thread, &update, old);
            *state.own[thread].entry(Mine::Aware).or_insert(false) |= known;
            return state;
        }
        let state = apply(state, thread, &update, old);
        match access.order {
            Order::SeqCst if !access.is_access() && mutant == Some(Mutant::FencesTotal) => {
                total(state, thread)
            }
            _ => state,
        }
    }
}

/// A sequentially consistent fence as a read-modify-write of a location that all of them share.
fn total(mut state: State, thread: usize) -> State {
    let known = get(&state, thread, Bit::Thread(Mine::Current)) && state.fences;
    for mine in [Mine::Current, Mine::Acquired, Mine::Fenced] {
        if let Some(bit) = state.own[thread].get_mut(&mine) {
            *bit = known;
        }
    }
    state.fences = known;
    state
}

fn get(state: &State, thread: usize, bit: Bit) -> bool {
    match bit {
        Bit::Thread(mine) => state.own[thread].get(&mine).copied().unwrap_or(false),
        shared => state.shared.get(&shared).copied().unwrap_or(false),
    }
}

/// All assignments at once.
fn apply(state: State, thread: usize, update: &Update, old: bool) -> State {
    let mut next = state.clone();
    let value = |formula: &Formula, of: usize| formula.holds(&|bit| get(&state, of, bit), old);
    for (bit, formula) in &update.own {
        let to = value(formula, thread);
        match bit {
            Bit::Thread(mine) => next.own[thread].insert(*mine, to),
            shared => next.shared.insert(*shared, to),
        };
    }
    if let Some((_, formula)) = update.others.iter().find(|(mine, _)| *mine == Mine::Current) {
        next.fences = formula.holds(&|_| state.fences, old);
    }
    for other in (0..state.own.len()).filter(|&other| other != thread) {
        for (mine, formula) in &update.others {
            next.own[other].insert(*mine, value(formula, other));
        }
    }
    next
}
