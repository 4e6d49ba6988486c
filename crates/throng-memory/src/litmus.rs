//! Small programs: a list of instructions for each thread, and one register.

use crate::order::Order;
use crate::program::{Offer, Program, Reading, Value};
use crate::rules::{Access, Kind, Location};

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Instruction {
    /// The register becomes the value of a location.
    Load(Location, Order),
    /// Writes a value.
    Store(Location, Value, Order),
    /// Writes the register.
    StoreRegister(Location, Order),
    /// Adds a value, as one event; the register becomes the value before.
    Add(Location, Value, Order),
    /// Writes a value, as one event; the register becomes the value before.
    Exchange(Location, Value, Order),
    /// Writes the second value if the first is there; the register becomes the value before. The
    /// orders are those of success and of failure.
    CompareExchange(Location, Value, Value, Order, Order),
    /// Waits until the first value is there, and writes the second, as one event.
    Replace(Location, Value, Value, Order),
    /// Waits until this value is there.
    Wait(Location, Value, Order),
    /// Waits until another value is there; the register becomes that.
    WaitNot(Location, Value, Order),
    /// Orders other accesses.
    Fence(Order),
    /// Leaves out the next instruction unless the register has this value.
    IfEqual(Value),
    /// Leaves out the next instruction if the register has this value.
    IfUnequal(Value),
    /// Fails if the register has this value.
    AssertNot(Value),
}

/// A program of a few threads. Values are reduced modulo [`Litmus::values`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Litmus {
    /// The instructions of each thread.
    pub threads: Vec<Vec<Instruction>>,
    /// The number of values that a location may have.
    pub values: Value,
}

/// What a thread has still to do: its number, the next instruction, the register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// Its number in the program.
    pub number: usize,
    /// The next instruction.
    pub at: usize,
    /// The register.
    pub register: Value,
}

impl Litmus {
    /// The next instruction of a thread that accesses something, fences or fails.
    pub fn next(&self, mut thread: Thread) -> Option<(Thread, Instruction)> {
        let code = &self.threads[thread.number];
        loop {
            let instruction = *code.get(thread.at)?;
            match instruction {
                Instruction::IfEqual(value) => thread.at += 1 + usize::from(thread.register != value),
                Instruction::IfUnequal(value) => thread.at += 1 + usize::from(thread.register == value),
                Instruction::AssertNot(value) if thread.register != value => thread.at += 1,
                _ => return Some((thread, instruction)),
            }
        }
    }

    /// What an instruction that reads does with a value: the order, what it writes, and the register
    /// afterwards; `None` if it waits for another.
    pub fn reading(&self, instruction: Instruction, value: Value) -> Option<(Order, Option<Value>, Value)> {
        use Instruction::*;
        match instruction {
            Load(_, order) => Some((order, None, value)),
            Wait(_, v, order) => (value == v).then_some((order, None, value)),
            WaitNot(_, v, order) => (value != v).then_some((order, None, value)),
            Add(_, v, order) => Some((order, Some((value + v) % self.values), value)),
            Exchange(_, v, order) => Some((order, Some(v), value)),
            Replace(_, a, b, order) => (value == a).then_some((order, Some(b), value)),
            CompareExchange(_, a, b, order, _) if value == a => Some((order, Some(b), value)),
            CompareExchange(_, _, _, _, order) => Some((order, None, value)),
            Store(..) | StoreRegister(..) | Fence(_) | IfEqual(_) | IfUnequal(_) | AssertNot(_) => None,
        }
    }

    /// The location and the value of an instruction that only writes.
    pub fn storing(instruction: Instruction, register: Value) -> Option<(Location, Value, Order)> {
        match instruction {
            Instruction::Store(location, value, order) => Some((location, value, order)),
            Instruction::StoreRegister(location, order) => Some((location, register, order)),
            _ => None,
        }
    }
}

impl Instruction {
    /// The accesses that it may make: two for a read-modify-write that may fail.
    pub fn accesses(self) -> Vec<Access> {
        use Instruction::*;
        let one = |kind, location, order| vec![Access { kind, location, order }];
        match self {
            Load(x, o) | Wait(x, _, o) | WaitNot(x, _, o) => one(Kind::Load, x, o),
            Store(x, _, o) | StoreRegister(x, o) => one(Kind::Store, x, o),
            Add(x, _, o) | Exchange(x, _, o) | Replace(x, _, _, o) => one(Kind::Update, x, o),
            CompareExchange(x, _, _, o, failing) => {
                vec![
                    Access { kind: Kind::Update, location: x, order: o },
                    Access { kind: Kind::Load, location: x, order: failing },
                ]
            }
            Fence(order) => vec![Access::fence(order)],
            IfEqual(_) | IfUnequal(_) | AssertNot(_) => Vec::new(),
        }
    }

    /// Returns whether it takes another way, or waits, for some values.
    pub fn selects(self) -> bool {
        use Instruction::*;
        matches!(self, Wait(..) | WaitNot(..) | Replace(..) | CompareExchange(..))
    }
}

impl Program for Litmus {
    type State = Thread;

    fn threads(&self) -> Vec<Thread> {
        (0..self.threads.len()).map(|number| Thread { number, at: 0, register: 0 }).collect()
    }

    fn initial(&self, _: Location) -> Value {
        0
    }

    fn offers(&self, thread: &Thread) -> Vec<Offer<Thread>> {
        let Some((thread, instruction)) = self.next(*thread) else { return Vec::new() };
        let site = (thread.number * 100 + thread.at) as u32;
        let next = Thread { at: thread.at + 1, ..thread };
        if let Some((location, value, order)) = Litmus::storing(instruction, thread.register) {
            return vec![Offer::Store { location, value, order, site, next }];
        }
        match instruction {
            Instruction::Fence(order) => vec![Offer::Fence { order, site, next }],
            Instruction::AssertNot(_) => vec![Offer::Fail { site }],
            _ => {
                let location = instruction.accesses().first().map_or(0, |access| access.location);
                vec![Offer::Read { location, instruction: thread.at, site }]
            }
        }
    }

    fn read(&self, thread: &Thread, instruction: usize, value: Value) -> Option<Reading<Thread>> {
        let code = *self.threads[thread.number].get(instruction)?;
        let (order, writes, register) = self.reading(code, value)?;
        Some(Reading { order, writes, next: Thread { at: instruction + 1, register, ..*thread } })
    }
}
