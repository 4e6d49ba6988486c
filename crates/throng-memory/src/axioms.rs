//! The axioms of C11 in the form of RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017), with the
//! release sequences of C++20.
//!
//! A graph is consistent if happens-before `hb` has no cycle; nothing that happens before
//! contradicts the extended coherence order `eco` of a location; no write comes between a
//! read-modify-write and what it reads; program order and reads-from together have no cycle (no
//! value out of thin air, and no load buffering); and the order of sequentially consistent accesses
//! and fences `psc` has no cycle.

use crate::graph::{Event, Graph, Id};
use crate::order::Order;
use crate::relation::{MOST_EVENTS, Relation, members};
use crate::rules::Kind;
use std::collections::BTreeMap;

/// A graph with its relations, over numbered events.
pub struct Judged<'g> {
    graph: &'g Graph,
    sequences: Sequences,
    ids: Vec<Id>,
    numbers: BTreeMap<Id, usize>,
    program_order: Relation,
    reads_from: Relation,
    modification: Relation,
    from_reads: Relation,
    happens_before: Relation,
}

/// What is to be known of a graph that is consistent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// Is it an execution of sequential consistency?
    pub sequential: bool,
    /// Two events that race.
    pub race: Option<(Id, Id)>,
}

/// Which writes behind a release write belong to its release sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sequences {
    /// Read-modify-writes only, as C++20 has it: fewer, so that more executions are possible.
    #[default]
    Updates,
    /// Later writes of the same thread as well, as C11 and RC11 have it.
    Thread,
}

/// Returns what there is to know of a graph; `None` if it is not consistent, or too large.
pub fn judge(graph: &Graph) -> Option<Judgement> {
    judge_with(graph, Sequences::Updates)
}

/// The same with release sequences of one kind.
pub fn judge_with(graph: &Graph, sequences: Sequences) -> Option<Judgement> {
    let judged = Judged::with(graph, sequences)?;
    let sequential = judged.is_sequential();
    judged.is_consistent().then(|| Judgement { sequential, race: judged.race() })
}

impl<'g> Judged<'g> {
    /// Numbers the events and builds the relations; `None` if the graph is too large.
    pub fn new(graph: &'g Graph) -> Option<Judged<'g>> {
        Judged::with(graph, Sequences::Updates)
    }

    fn with(graph: &'g Graph, sequences: Sequences) -> Option<Judged<'g>> {
        let initial = graph.writes.keys().map(|&location| Id::Initial(location));
        let ids: Vec<Id> = initial.chain(graph.events().map(|(id, _)| id)).collect();
        if ids.len() > MOST_EVENTS {
            return None;
        }
        let numbers = ids.iter().enumerate().map(|(number, &id)| (id, number)).collect();
        let empty = Relation::new(ids.len());
        let mut judged = Judged {
            graph,
            sequences,
            ids,
            numbers,
            program_order: empty.clone(),
            reads_from: empty.clone(),
            modification: empty.clone(),
            from_reads: empty.clone(),
            happens_before: empty,
        };
        judged.order_threads();
        judged.relate_accesses();
        judged.happens_before = judged.program_order.or(&judged.synchronises()).closed();
        Some(judged)
    }

    fn event(&self, number: usize) -> Option<&'g Event> {
        self.graph.event(self.ids[number])
    }

    fn number(&self, thread: u16, index: usize) -> usize {
        self.numbers[&Id::Event { thread, index: index as u16 }]
    }

    /// The numbers of events that have a property, as a set. Initial writes have none.
    fn set(&self, has: impl Fn(&Event) -> bool) -> u128 {
        let with = (0..self.ids.len()).filter(|&number| self.event(number).is_some_and(&has));
        with.fold(0, |set, number| set | 1 << number)
    }

    /// Program order, with what starting and waiting for threads adds; initial writes come first.
    fn order_threads(&mut self) {
        let initial = self.graph.writes.len();
        let all = self.set(|_| true);
        (0..initial).for_each(|write| self.program_order.add_all(write, all));
        let lengths: Vec<usize> = self.graph.threads.iter().map(Vec::len).collect();
        for (thread, &length) in lengths.iter().enumerate() {
            let of = |index| self.number(thread as u16, index);
            let numbers: Vec<usize> = (0..length).map(of).collect();
            for (i, &from) in numbers.iter().enumerate() {
                numbers[i + 1..].iter().for_each(|&to| self.program_order.add(from, to));
            }
        }
        self.order_creations(&lengths);
        self.program_order = std::mem::replace(&mut self.program_order, Relation::new(0)).closed();
    }

    fn order_creations(&mut self, lengths: &[usize]) {
        for (&child, &(parent, before)) in &self.graph.created {
            for from in 0..usize::from(before) {
                for to in 0..lengths[usize::from(child)] {
                    self.program_order.add(self.number(parent, from), self.number(child, to));
                }
            }
        }
        for &(by, before, ended) in &self.graph.joined {
            for from in 0..lengths[usize::from(ended)] {
                for to in usize::from(before)..lengths[usize::from(by)] {
                    self.program_order.add(self.number(ended, from), self.number(by, to));
                }
            }
        }
    }

    fn relate_accesses(&mut self) {
        for writes in self.graph.writes.values() {
            let numbers: Vec<usize> = writes.iter().map(|id| self.numbers[id]).collect();
            for (i, &from) in numbers.iter().enumerate() {
                numbers[i + 1..].iter().for_each(|&to| self.modification.add(from, to));
            }
        }
        for (id, event) in self.graph.events() {
            if let Some((_, write)) = event.read {
                let (reader, write) = (self.numbers[&id], self.numbers[&write]);
                self.reads_from.add(write, reader);
                self.from_reads.add_all(reader, self.modification.after(write) & !(1 << reader));
            }
        }
    }

    /// Release writes, and writes after release fences, with the acquire reads of their release
    /// sequences, and acquire fences after reads.
    fn synchronises(&self) -> Relation {
        let mut synchronises = Relation::new(self.ids.len());
        for write in members(self.set(|e| e.writes() && e.order != Order::Plain)) {
            let from = self.releases(write);
            if from != 0 {
                let to = self.acquires(self.release_sequence(write));
                members(from).for_each(|f| synchronises.add_all(f, to & !(1 << f)));
            }
        }
        synchronises
    }

    fn releases(&self, write: usize) -> u128 {
        let fences = self.set(|e| !e.is_access() && e.order.releases());
        let before =
            members(fences).filter(|&f| self.same_thread(f, write) && self.program_order.has(f, write));
        let itself = self.event(write).is_some_and(|e| e.order.releases());
        before.fold(u128::from(itself) << write, |set, fence| set | 1 << fence)
    }

    fn same_thread(&self, a: usize, b: usize) -> bool {
        match (self.ids[a], self.ids[b]) {
            (Id::Event { thread: a, .. }, Id::Event { thread: b, .. }) => a == b,
            _ => false,
        }
    }

    /// A write, and the read-modify-writes that read from it, directly or through others.
    fn release_sequence(&self, write: usize) -> u128 {
        let updates = self.set(|e| e.kind == Kind::Update);
        let own = self.later_own_writes(write) | 1 << write;
        let (mut sequence, mut open) = (own, members(own).collect::<Vec<_>>());
        while let Some(head) = open.pop() {
            for update in members(self.reads_from.after(head) & updates & !sequence) {
                sequence |= 1 << update;
                open.push(update);
            }
        }
        sequence
    }

    /// The later writes of the same thread that belong to a release sequence.
    fn later_own_writes(&self, write: usize) -> u128 {
        let location = self.event(write).map(|e| e.location);
        let alike = match self.sequences {
            Sequences::Updates => 0,
            Sequences::Thread => {
                self.set(|e| e.writes() && Some(e.location) == location && e.order != Order::Plain)
            }
        };
        let later = members(alike & self.program_order.after(write)).filter(|&w| self.same_thread(w, write));
        later.fold(0, |set, w| set | 1 << w)
    }

    fn acquires(&self, sequence: u128) -> u128 {
        let readers = members(sequence).fold(0, |set, write| set | self.reads_from.after(write));
        let atomic = readers & self.set(|e| e.order != Order::Plain);
        let fences = self.set(|e| !e.is_access() && e.order.acquires());
        members(atomic).fold(atomic & self.set(|e| e.order.acquires()), |set, reader| {
            let after = members(self.program_order.after(reader) & fences);
            after.filter(|&f| self.same_thread(reader, f)).fold(set, |set, fence| set | 1 << fence)
        })
    }

    /// Returns whether all axioms hold.
    pub fn is_consistent(&self) -> bool {
        let eco = self.reads_from.or(&self.modification).or(&self.from_reads).closed();
        self.happens_before.is_irreflexive()
            && eco.is_irreflexive()
            && self.happens_before.then(&eco).is_irreflexive()
            && self.is_atomic()
            && self.program_order.or(&self.reads_from).is_acyclic()
            && self.psc(&eco).is_none_or(|psc| psc.is_acyclic())
    }

    /// Every read-modify-write comes directly after what it reads.
    fn is_atomic(&self) -> bool {
        members(self.set(|e| e.kind == Kind::Update)).all(|update| {
            let write = self.event(update).and_then(|e| e.read).map(|(_, write)| self.numbers[&write]);
            write.is_some_and(|write| {
                let between = |&m: &usize| self.modification.has(m, update);
                self.modification.has(write, update)
                    && members(self.modification.after(write)).filter(between).count() == 0
            })
        })
    }

    /// The order of sequentially consistent accesses and fences; `None` if there are not two.
    fn psc(&self, eco: &Relation) -> Option<Relation> {
        let fences = self.set(|e| !e.is_access() && e.order == Order::SeqCst);
        let accesses = self.set(|e| e.is_access() && e.order == Order::SeqCst);
        if (fences | accesses).count_ones() < 2 {
            return None;
        }
        let hb = &self.happens_before;
        let of_fences = hb.or(&hb.then(eco).then(hb)).between(fences, fences);
        if accesses == 0 {
            return Some(of_fences);
        }
        let all = (0..self.ids.len()).fold(0, |set, i| set | 1 << i);
        let equal = Relation::new(self.ids.len()).reflexive();
        let own = equal.between(accesses, accesses);
        let left = own.or(&hb.reflexive().between(fences, all));
        let right = own.or(&hb.reflexive().between(all, fences));
        Some(of_fences.or(&left.then(&self.sc_before()).then(&right)))
    }

    /// `sb ∪ sb≠loc ; hb ; sb≠loc ∪ hb|loc ∪ mo ∪ fr` of the paper.
    fn sc_before(&self) -> Relation {
        let n = self.ids.len();
        let location = |i: usize| match self.ids[i] {
            Id::Initial(location) => Some(location),
            _ => self.event(i).filter(|e| e.is_access()).map(|e| e.location),
        };
        let same = |a, b| location(a).is_some() && location(a) == location(b);
        let (mut elsewhere, mut here) = (Relation::new(n), Relation::new(n));
        for a in 0..n {
            members(self.program_order.after(a)).filter(|&b| !same(a, b)).for_each(|b| elsewhere.add(a, b));
            members(self.happens_before.after(a)).filter(|&b| same(a, b)).for_each(|b| here.add(a, b));
        }
        let through = elsewhere.then(&self.happens_before).then(&elsewhere);
        self.program_order.or(&through).or(&here).or(&self.modification).or(&self.from_reads)
    }

    /// Returns whether it is an execution of sequential consistency.
    pub fn is_sequential(&self) -> bool {
        self.sequential_order().is_irreflexive()
    }

    /// What comes before what under sequential consistency.
    pub fn sequential_order(&self) -> Relation {
        self.program_order.or(&self.reads_from).or(&self.modification).or(&self.from_reads).closed()
    }

    /// Two accesses of one location, one of them a write, one of them plain, neither of which
    /// happens before the other.
    pub fn race(&self) -> Option<(Id, Id)> {
        let plain = self.set(|e| e.is_access() && e.order == Order::Plain);
        for a in members(plain) {
            let first = self.event(a)?;
            let rivals =
                self.set(|e| e.is_access() && e.location == first.location && (e.writes() || first.writes()));
            let unordered = |&b: &usize| {
                !self.same_thread(a, b) && !self.happens_before.has(a, b) && !self.happens_before.has(b, a)
            };
            if let Some(b) = members(rivals).find(unordered) {
                return Some((self.ids[a], self.ids[b]));
            }
        }
        None
    }

    /// The reads that sequential consistency rules out: each with the write that it read from and a
    /// later write that had come before it.
    pub fn outdated(&self) -> Vec<(Id, Id, Id)> {
        let order = self.sequential_order();
        let mut found = Vec::new();
        for (id, event) in self.graph.events() {
            let Some((_, write)) = event.read else { continue };
            let (reader, from) = (self.numbers[&id], self.numbers[&write]);
            let late = members(self.modification.after(from)).find(|&w| w != reader && order.has(w, reader));
            found.extend(late.map(|late| (id, write, self.ids[late])));
        }
        found
    }
}
