//! What the search through executions asks of a program: what does a thread do next, given the
//! values that its reads got?

use crate::order::Order;
use crate::rules::Location;
use std::hash::Hash;

/// The value of a location.
pub type Value = i64;

/// A program whose executions are explored. A state of a thread is all that decides what the thread
/// does next; locations are not part of it.
pub trait Program {
    /// The state of a thread.
    type State: Clone + Eq + Hash;

    /// The threads that there are at the start.
    fn threads(&self) -> Vec<Self::State>;

    /// What a location holds before the first write.
    fn initial(&self, location: Location) -> Value;

    /// What a thread may do next: several where it chooses, none where it has ended.
    fn offers(&self, state: &Self::State) -> Vec<Offer<Self::State>>;

    /// What the instruction with this number, which [`Offer::Read`] named, does with a value;
    /// `None` if it waits for another.
    fn read(&self, state: &Self::State, instruction: usize, value: Value) -> Option<Reading<Self::State>>;
}

/// What a thread may do next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Offer<S> {
    /// It does something that no other thread sees.
    Local(S),
    /// It executes a fence.
    Fence {
        /// Its order.
        order: Order,
        /// Where the program says so: for messages.
        site: u32,
        /// The state afterwards.
        next: S,
    },
    /// It writes without reading.
    Store {
        /// Where to.
        location: Location,
        /// What.
        value: Value,
        /// Its order.
        order: Order,
        /// Where the program says so.
        site: u32,
        /// The state afterwards.
        next: S,
    },
    /// It reads, and perhaps writes: [`Program::read`] knows the rest.
    Read {
        /// Where from.
        location: Location,
        /// The number of the instruction.
        instruction: usize,
        /// Where the program says so.
        site: u32,
    },
    /// It starts a thread.
    Create {
        /// The state of the new thread.
        child: S,
        /// The state afterwards.
        next: S,
    },
    /// It waits for the end of the thread with this number.
    Join {
        /// The number of the thread: those of the start first, then in the order of creation.
        thread: usize,
        /// The state afterwards.
        next: S,
    },
    /// It violates an assertion.
    Fail {
        /// Where the program says so.
        site: u32,
    },
}

/// What an instruction does with the value that it reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading<S> {
    /// The order of the access.
    pub order: Order,
    /// What it writes, as one event with the read.
    pub writes: Option<Value>,
    /// The state afterwards.
    pub next: S,
}
