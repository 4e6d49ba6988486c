//! Saving and resuming a search, as numbers ([`crate::checkpoint`]).
//!
//! Ids are assigned in the order in which states are met, and that order is saved; steps are
//! compiled again. So a resumed search continues exactly as it would have without the interruption.

use super::pack;
use super::queue::Queue;
use super::search::Search;
use super::steps::Steps;
use super::store::ROOT;
use crate::Occupied;
use crate::checkpoint::{Damaged, Reader, Writer};
use throng_model::packed::shards::PARTS;
use throng_model::{Local, Shared};

impl Search<'_> {
    /// Writes the state between two expansions.
    pub fn write(&self, out: &mut Writer<'_>) {
        self.steps.write(out);
        out.count(self.store.parts());
        self.store.records().for_each(|records| out.bytes(records));
        self.queue.numbers().for_each(|n| out.number(n));
        out.option(self.level);
        out.option(self.pruned);
        out.number(self.expanded);
        out.number(self.fired);
        self.occupied.write(out);
        out.count(self.suspects.len());
        self.suspects.iter().for_each(|&id| out.number(id));
        out.traces(&self.traces);
    }

    /// Restores the state that another process wrote into a search that has not begun.
    pub fn read(&mut self, input: &mut Reader<'_>) -> Result<(), Damaged> {
        self.steps.read(input)?;
        let (shared, locals) =
            (self.steps.listing.shared.values().len(), self.steps.listing.locals.values().len());
        let length = |bytes: &[u8]| pack::checked_length(bytes, shared, locals);
        let parts = input.below(PARTS + 1)?;
        let records: Vec<Vec<u8>> = (0..parts).map(|_| input.bytes()).collect::<Result<_, _>>()?;
        if self.store.set_records(&records, length) != Ok(true) {
            return Err(Damaged);
        }
        self.queue = Queue::from_numbers(&self.store, || input.number())?.ok_or(Damaged)?;
        self.level = input.option()?;
        self.pruned = input.option()?;
        self.expanded = input.number()?;
        self.fired = input.number()?;
        self.occupied = Occupied::read(input)?;
        let count = input.count()?;
        self.suspects = (0..count).map(|_| input.below(ROOT as usize)).collect::<Result<_, _>>()?;
        if !self.suspects.iter().all(|&id| self.store.reaches(id)) {
            return Err(Damaged);
        }
        self.traces = input.traces(self.traces.len())?;
        Ok(())
    }
}

impl Steps {
    fn write(&self, out: &mut Writer<'_>) {
        out.count(self.listing.shared.values().len());
        self.listing.shared.values().iter().for_each(|s| out.number(s.0));
        out.count(self.listing.locals.values().len());
        self.listing.locals.values().iter().for_each(|l| out.number(l.0));
        self.alone.iter().for_each(|listed| out.number(listed.is_some()));
        out.count(self.thread_states.len());
        for thread_state in &self.thread_states {
            out.number(thread_state.shared);
            out.number(thread_state.local);
        }
    }

    fn read(&mut self, input: &mut Reader<'_>) -> Result<(), Damaged> {
        let same = |id: u32, wanted: usize| if id as usize == wanted { Ok(()) } else { Err(Damaged) };
        let shared = input.count()?;
        for i in 0..shared {
            same(self.shared_id(Shared(input.number()?)), i)?;
        }
        let locals = input.count()?;
        for i in 0..locals {
            same(self.local_id(Local(input.number()?)), i)?;
        }
        for s in 0..shared {
            if input.flag()? {
                self.alone(s as u32);
            }
        }
        for _ in 0..input.count()? {
            let (s, l) = (input.below(shared)?, input.below(locals)?);
            self.thread_state(s, l);
        }
        // All states that compiled steps lead to were met before the state was saved.
        let met = (self.listing.shared.values().len(), self.listing.locals.values().len());
        if met == (shared, locals) { Ok(()) } else { Err(Damaged) }
    }
}
