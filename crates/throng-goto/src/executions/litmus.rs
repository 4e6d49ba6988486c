//! An execution of a program with threads that it creates, as a litmus test.
//!
//! Litmus tests have no creation: what the first thread does before it creates others becomes initial
//! values, and what it reads after it has joined all others is in the final ones. Locations that only
//! one thread accesses are left out. What cannot be said like this is refused, and why.

use std::collections::{BTreeMap, BTreeSet};

use throng_memory::axioms::judge;
use throng_memory::graph::{Event, Graph, Id};
use throng_memory::herd;
use throng_memory::rules::{Kind, Location};
use throng_model::verdict::Trace;

use super::{Executions, thing};

impl Executions {
    /// Writes the execution that a run leads to as a litmus test in herd's format; or says why there
    /// is none.
    pub fn litmus(&self, trace: &Trace) -> Result<String, String> {
        let last = trace.steps.last().and_then(|taken| self.way(&taken.step));
        let (_, way, _) = last.ok_or("there is no execution")?;
        let flat = self.flat(&way.world.graph)?;
        let sequential = |graph: &Graph| judge(graph).map(|judgement| judgement.sequential);
        if sequential(&flat) != sequential(&way.world.graph) {
            return Err("it depends on what the first thread does between creating others".into());
        }
        let name = |location: Location| {
            let name = self.name(location);
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
        };
        herd::litmus("execution", &flat, &name).ok_or_else(|| "threads are created".into())
    }

    /// The execution without creations and joins, with numbers for values.
    fn flat(&self, graph: &Graph) -> Result<Graph, String> {
        if graph.created.values().any(|&(by, _)| by != 0) || graph.threads.len() != graph.created.len() + 1 {
            return Err("a thread that was created creates others".into());
        }
        let early = graph.created.values().map(|c| c.1).min().unwrap_or(0);
        let created = graph.created.values().map(|c| c.1).max().unwrap_or(0);
        let joined = graph.joined.iter().filter(|j| j.0 == 0).map(|j| j.1);
        let (first, last) = (joined.clone().min(), joined.max());
        let all = graph.joined.iter().filter(|j| j.0 == 0).count() == graph.created.len();
        let shared = shared(graph, early);
        let mut making =
            Making { of: self, graph, flat: Graph::new(graph.threads.len()), now: BTreeMap::new() };
        for &location in &shared {
            making.begin(location, early)?;
        }
        for (id, event) in graph.events() {
            let Id::Event { thread, index } = id else { continue };
            let is_final = thread == 0 && all && last.is_some_and(|last| index >= last);
            if thread == 0 && index < early || event.is_access() && !shared.contains(&event.location) {
                continue;
            }
            if thread == 0 && (index < created || first.is_some_and(|first| index >= first) && !is_final) {
                return Err("the first thread does something between creating or joining others".into());
            }
            match is_final {
                true => making.finish(event)?,
                false => making.add(id, event)?,
            }
        }
        making.order()
    }

    fn number(&self, value: i64) -> Result<i64, String> {
        let bytes = self.bytes(value);
        let mut number: i64 = 0;
        for (i, &byte) in bytes.iter().enumerate() {
            let byte = u8::try_from(byte).map_err(|_| "a value is not known")?;
            number |= i64::from(byte).checked_shl(8 * i as u32).unwrap_or(0);
        }
        Ok(number)
    }
}

/// The locations that several threads access, but for what the first one does before it creates
/// others.
fn shared(graph: &Graph, early: u16) -> BTreeSet<Location> {
    let mut by: BTreeMap<Location, BTreeSet<u16>> = BTreeMap::new();
    for (id, event) in graph.events().filter(|(_, event)| event.is_access()) {
        if let Id::Event { thread, index } = id
            && (thread != 0 || index >= early)
        {
            by.entry(event.location).or_default().insert(thread);
        }
    }
    by.into_iter().filter(|(_, threads)| threads.len() > 1).map(|(location, _)| location).collect()
}

/// A litmus test being made.
struct Making<'e> {
    of: &'e Executions,
    graph: &'e Graph,
    flat: Graph,
    /// What events are called in the test.
    now: BTreeMap<Id, Id>,
}

impl Making<'_> {
    /// A location starts with what the first thread wrote before it created others.
    fn begin(&mut self, location: Location, early: u16) -> Result<(), String> {
        if thing(&self.of.locations, location.into()).is_none_or(|place| place.1 == 0) {
            return Err("litmus tests have no locks".into());
        }
        let before = |id: &&Id| match id {
            Id::Initial(_) => true,
            Id::Event { thread, index } => *thread == 0 && *index < early,
        };
        let writes = &self.graph.writes[&location];
        let known = writes.iter().take_while(before).count();
        let last = writes[..known].last().copied().unwrap_or(Id::Initial(location));
        for &id in &writes[..known] {
            self.now.insert(id, Id::Initial(location));
        }
        let value = self.of.number(self.graph.value(last))?;
        self.flat.initial.insert(location, value);
        self.flat.writes.insert(location, vec![Id::Initial(location)]);
        Ok(())
    }

    fn add(&mut self, id: Id, event: &Event) -> Result<(), String> {
        let Id::Event { thread, .. } = id else { return Ok(()) };
        let mut event = event.clone();
        if let Some((value, from)) = event.read {
            event.read = Some((self.of.number(value)?, from));
        }
        if let Some(value) = event.written {
            event.written = Some(self.of.number(value)?);
        }
        let events = &mut self.flat.threads[usize::from(thread)];
        self.now.insert(id, Id::Event { thread, index: events.len() as u16 });
        events.push(event);
        Ok(())
    }

    /// A read after all others have ended must be of the last value.
    fn finish(&self, event: &Event) -> Result<(), String> {
        let last = self.graph.writes.get(&event.location).and_then(|writes| writes.last());
        let reads_last = event.read.is_some_and(|(_, from)| Some(&from) == last);
        match event.kind == Kind::Fence || event.kind == Kind::Load && reads_last {
            true => Ok(()),
            false => Err("the first thread writes after it has joined others".into()),
        }
    }

    /// The graph, with the order of writes and what reads read from.
    fn order(mut self) -> Result<Graph, String> {
        for (location, writes) in &mut self.flat.writes {
            let later = self.graph.writes[location].iter().filter_map(|id| self.now.get(id));
            writes.extend(later.filter(|id| matches!(id, Id::Event { .. })));
        }
        for event in self.flat.threads.iter_mut().flatten() {
            if let Some((value, from)) = event.read {
                event.read = Some((value, *self.now.get(&from).ok_or("a write is left out")?));
            }
        }
        Ok(self.flat)
    }
}
