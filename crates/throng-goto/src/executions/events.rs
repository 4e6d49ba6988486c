//! From the effects of a step to the events of an execution graph.

use throng_memory::Order;
use throng_memory::graph::{Event, Graph, Id};
use throng_memory::rules::{Kind, Location};

use super::{Executions, SECTION, SIZES, thing};
use crate::program::{Access, Point, address as address_of, object_of};
use crate::robust::updates;
use crate::step::{Effect, Memory};

/// A graph to which the events of a step are added.
pub(super) struct Adding<'e> {
    pub(super) of: &'e Executions,
    pub(super) graph: Graph,
    pub(super) thread: usize,
    pub(super) children: Vec<u16>,
}

impl Adding<'_> {
    /// Adds the events of an effect; `None`: there is no such execution, or it is not known.
    pub(super) fn effect(&mut self, effects: &[Effect], n: usize, from: Option<Id>) -> Option<()> {
        match &effects[n] {
            Effect::Access { kind: Access::Internal, address, .. } => self.other_use(effects, n, *address),
            Effect::Access { address, size, writes, kind, at, inside, old, new } => {
                // An operation that reads and writes may put its result into plain memory.
                let operates = |e: &Effect| matches!(e, Effect::Access { kind: Access::Update(..), .. });
                let section = matches!(kind, Access::Atomic(_))
                    || *kind == Access::Plain && !effects.iter().any(operates);
                if *inside && section {
                    self.of.note_at(*at, SECTION);
                    return None;
                }
                let from = from.filter(|_| kind.is_atomic());
                let (kind, order) = match (kind, writes) {
                    (Access::Update(..), false) if updates(effects, n) => return Some(()),
                    (Access::Update(done, _), true) => (Kind::Update, *done),
                    (Access::Update(_, failed), false) => (Kind::Load, *failed),
                    (Access::Atomic(order), true) => (Kind::Store, *order),
                    (Access::Atomic(order), false) => (Kind::Load, *order),
                    (_, true) => (Kind::Store, Order::Plain),
                    (_, false) => (Kind::Load, Order::Plain),
                };
                if *size > 8 {
                    // To free a whole object.
                    return Some(());
                }
                let what = (kind, order, self.location(*address, *size, *at, old)?);
                self.add(what, new, *at, from);
            }
            Effect::Fence(order, at) => {
                let event = Event {
                    kind: Kind::Fence,
                    location: 0,
                    order: *order,
                    read: None,
                    written: None,
                    site: self.of.concrete.edge_of(*at).0,
                };
                self.graph = self.graph.with(self.thread, event, None);
            }
            Effect::Acquired(address) => self.lock(*address, Order::Acquire),
            Effect::Released(address) => self.lock(*address, Order::Release),
            Effect::Started => {
                let number = self.graph.threads.len() as u16;
                let made = self.graph.threads[self.thread].len() as u16;
                self.graph.created.insert(number, (self.thread as u16, made));
                self.graph.threads.push(Vec::new());
                self.children.push(number);
            }
            Effect::Joined(number) => {
                let made = self.graph.threads[self.thread].len() as u16;
                self.graph.joined.push((self.thread as u16, made, *number as u16));
                self.graph.joined.sort_unstable();
            }
            Effect::Ended(_) => {}
            Effect::Begins(object) => return self.begins(*object),
        }
        Some(())
    }

    /// The end of an object is a write of all of it that others have accessed: what they do must
    /// happen before.
    pub(super) fn ends(&mut self, before: &Memory, after: &Memory, at: Point) {
        let mine = |id: &Id| matches!(id, Id::Event { thread, .. } if usize::from(*thread) == self.thread);
        let others = self.graph.events().filter(|(id, event)| event.is_access() && !mine(id));
        let mut locations: Vec<Location> = others.map(|(_, event)| event.location).collect();
        locations.sort_unstable();
        locations.dedup();
        for location in locations {
            if self.of.has_ended_between(self.of.object(location), before, after) {
                self.add((Kind::Store, Order::Plain, location), &[], at, None);
            }
        }
    }

    /// A location, which has its initial write.
    fn location(&mut self, address: i64, size: u32, at: Point, old: &[u16]) -> Option<Location> {
        let location = self.of.location(address, size);
        if !self.graph.writes.contains_key(&location) {
            let near = self.graph.writes.keys().filter_map(|&l| thing(&self.of.locations, l.into()));
            let overlaps = |l: &(i64, u32)| l.0 < address + i64::from(size) && address < l.0 + i64::from(l.1);
            if near.into_iter().any(|l| l.1 <= 8 && overlaps(&l)) {
                self.of.note_at(at, SIZES);
                return None;
            }
            self.graph.writes.insert(location, vec![Id::Initial(location)]);
            let value = self.of.value(old);
            self.graph.initial.insert(location, value);
        }
        Some(location)
    }

    fn add(
        &mut self,
        (kind, order, location): (Kind, Order, Location),
        new: &[u16],
        at: Point,
        from: Option<Id>,
    ) {
        let last = self.graph.writes[&location].last().copied().unwrap_or(Id::Initial(location));
        let from = from.unwrap_or(last);
        let written = (kind != Kind::Load).then(|| self.of.value(new));
        let read = (kind != Kind::Store).then(|| (self.graph.value(from), from));
        let site = self.of.concrete.edge_of(at).0;
        let event = Event { kind, location, order, read, written, site };
        self.graph = self.graph.with(self.thread, event, written.map(|_| from));
    }

    /// A semaphore or its like is used: once for each step and object, if it is not as a lock.
    fn other_use(&mut self, effects: &[Effect], n: usize, address: i64) {
        let object = object_of(address);
        let is_first = effects[..n].iter().all(|e| match e {
            Effect::Access { kind: Access::Internal, address, .. } => object_of(*address) != object,
            _ => true,
        });
        let is_lock = effects.iter().any(|e| match e {
            Effect::Acquired(address) | Effect::Released(address) => object_of(*address) == object,
            _ => false,
        });
        if is_first && !is_lock {
            self.lock(address_of(object, 0), Order::Relaxed);
        }
    }

    /// A lock is taken or released: each time is directly behind the one before.
    fn lock(&mut self, address: i64, order: Order) {
        let location = self.of.location(address, 0);
        let initial = self.of.value(&[]);
        self.graph.writes.entry(location).or_insert_with(|| vec![Id::Initial(location)]);
        self.graph.initial.entry(location).or_insert(initial);
        let last = self.graph.writes[&location].last().copied().unwrap_or(Id::Initial(location));
        let event = Event {
            kind: Kind::Update,
            location,
            order,
            read: Some((initial, last)),
            written: Some(initial),
            site: 0,
        };
        self.graph = self.graph.with(self.thread, event, Some(last));
    }

    /// The accesses to what was at the addresses of a new object are accesses to something else,
    /// which the graph does not tell apart.
    fn begins(&self, object: i64) -> Option<()> {
        let of = self.of;
        let is_in =
            |l: &Location| thing(&of.locations, (*l).into()).is_some_and(|p| object_of(p.0) == object);
        let again = self.graph.writes.keys().any(is_in);
        if again {
            of.note("memory is used again after it was freed, or its block was left".into());
        }
        (!again).then_some(())
    }
}
