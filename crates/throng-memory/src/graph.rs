//! Execution graphs: events, program order, reads-from, and the order in which each location is
//! written (modification order).

use crate::order::Order;
use crate::program::Value;
use crate::rules::{Kind, Location};
use std::collections::BTreeMap;

/// An event of a graph: the thread and the position in it, or the initial write of a location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Id {
    /// What a location holds before the first write.
    Initial(Location),
    /// An event of a thread.
    Event {
        /// The number of the thread.
        thread: u16,
        /// The number of the event in its thread.
        index: u16,
    },
}

/// Something that a thread did.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// What kind of access it is.
    pub kind: Kind,
    /// The location; of a fence, any.
    pub location: Location,
    /// Its order.
    pub order: Order,
    /// The value that it read, and the write that it read from.
    pub read: Option<(Value, Id)>,
    /// The value that it wrote.
    pub written: Option<Value>,
    /// Where the program says so.
    pub site: u32,
}

impl Event {
    /// Returns whether it writes.
    pub fn writes(&self) -> bool {
        self.written.is_some()
    }

    /// Returns whether it accesses a location.
    pub fn is_access(&self) -> bool {
        self.kind != Kind::Fence
    }
}

/// An execution, or the beginning of one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Graph {
    /// The events of each thread, in program order.
    pub threads: Vec<Vec<Event>>,
    /// The writes of each location, in modification order; the initial one first.
    pub writes: BTreeMap<Location, Vec<Id>>,
    /// For each thread that was started: by which, and how many events that one had then.
    pub created: BTreeMap<u16, (u16, u16)>,
    /// Ends of threads that were waited for: by which, how many events it had then, and for which.
    pub joined: Vec<(u16, u16, u16)>,
    /// The initial values of locations that are accessed.
    pub initial: BTreeMap<Location, Value>,
}

impl Graph {
    /// The graph of so many threads that have not begun.
    pub fn new(threads: usize) -> Graph {
        Graph { threads: vec![Vec::new(); threads], ..Graph::default() }
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Returns whether nothing has happened.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The event; `None` of an initial write.
    pub fn event(&self, id: Id) -> Option<&Event> {
        match id {
            Id::Initial(_) => None,
            Id::Event { thread, index } => self.threads[usize::from(thread)].get(usize::from(index)),
        }
    }

    /// The value that a write wrote.
    pub fn value(&self, id: Id) -> Value {
        match id {
            Id::Initial(location) => self.initial.get(&location).copied().unwrap_or(0),
            _ => self.event(id).and_then(|event| event.written).unwrap_or(0),
        }
    }

    /// All events of threads, with what they are.
    pub fn events(&self) -> impl Iterator<Item = (Id, &Event)> {
        self.threads.iter().enumerate().flat_map(|(thread, events)| {
            events
                .iter()
                .enumerate()
                .map(move |(index, event)| (Id::Event { thread: thread as u16, index: index as u16 }, event))
        })
    }

    /// Adds an event to a thread; `after`: the write that it is placed directly after, if it writes.
    #[must_use]
    pub fn with(&self, thread: usize, event: Event, after: Option<Id>) -> Graph {
        let mut graph = self.clone();
        let id = Id::Event { thread: thread as u16, index: graph.threads[thread].len() as u16 };
        if let Some(after) = after {
            let writes = graph.writes.entry(event.location).or_default();
            let at = writes.iter().position(|&write| write == after).map_or(writes.len(), |i| i + 1);
            writes.insert(at, id);
        }
        graph.threads[thread].push(event);
        graph
    }

    /// Makes sure that a location has its initial write.
    pub(crate) fn know(&mut self, location: Location, initial: Value) {
        self.writes.entry(location).or_insert_with(|| vec![Id::Initial(location)]);
        self.initial.entry(location).or_insert(initial);
    }
}
