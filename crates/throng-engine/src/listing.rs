//! The interface of searches to their model: lists the steps of each thread state once, and numbers
//! the states that occur.
//!
//! Searches differ in how they store steps. Listing them, numbering states, recording incomplete
//! lists and counting the work is common to all, and is done here.

use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use throng_model::singles::LISTING;
use throng_model::verdict::Unknown;
use throng_model::{Bag, Config, Incomplete, Local, Model, Shared, Step};

/// The states that a search has met, and the status of their lists.
pub struct Listing {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The shared states met.
    pub shared: Ids<Shared>,
    /// The local states met.
    pub locals: Ids<Local>,
    /// Ticks that have not been charged yet.
    work: u32,
    /// Why some list was incomplete, if one was.
    incomplete: Option<Incomplete>,
}

impl Listing {
    /// Creates an empty listing.
    pub fn new(model: Arc<dyn Model>) -> Listing {
        Listing { model, shared: Ids::default(), locals: Ids::default(), work: 0, incomplete: None }
    }

    /// Returns the steps that a thread at `l` leads in `s`.
    pub fn led_by(&mut self, s: u32, l: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        let listed = self.model.post(self.shared.value(s), self.locals.value(l), &mut steps);
        self.note(listed, steps.len());
        steps
    }

    /// Returns the steps in `s` that take no thread.
    pub fn without_leader(&mut self, s: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        let listed = self.model.post_shared(self.shared.value(s), &mut steps);
        self.note(listed, steps.len());
        steps
    }

    /// Returns the fates of a bystander at `l` of a step that moves bystanders, each once; `None`:
    /// it vanishes.
    pub fn fates(&mut self, step: &Step, l: u32) -> Vec<Option<Local>> {
        let mut fates = Vec::new();
        let listed = self.model.bystander(step, self.locals.value(l), &mut fates);
        self.note(listed, 0);
        fates.sort_unstable();
        fates.dedup();
        fates
    }

    /// Converts a configuration to the model's states.
    pub fn config(&self, s: u32, entries: &[(u32, u32)]) -> Config {
        Config::new(self.shared.value(s), entries.iter().map(|&(l, n)| (self.locals.value(l), n)).collect())
    }

    /// Returns an error unless all lists were complete so far: then nothing can be proved
    /// unreachable.
    pub fn complete(&self) -> Result<(), Unknown> {
        self.incomplete.clone().map_or(Ok(()), |why| Err(why.into()))
    }

    /// Adds other work, in ticks.
    pub fn add_work(&mut self, ticks: u32) {
        self.work = self.work.saturating_add(ticks);
    }

    /// Returns the work since the last call, in ticks: a statement may have thousands of cases.
    pub fn take_work(&mut self) -> u32 {
        std::mem::take(&mut self.work)
    }

    fn note(&mut self, listed: Result<(), Incomplete>, steps: usize) {
        self.add_work(LISTING.saturating_add(steps as u32));
        if let Err(why) = listed {
            self.incomplete.get_or_insert(why);
        }
    }
}

/// Returns the entries of a bag over small numbers, sorted.
pub fn entries(bag: &Bag, mut id: impl FnMut(Local) -> u32) -> Vec<(u32, u32)> {
    let mut entries: Vec<(u32, u32)> = bag.entries().iter().map(|&(l, n)| (id(l), n)).collect();
    entries.sort_unstable();
    entries
}

/// Values of one kind and their ids: 0, 1, … in the order in which they are met.
#[derive(Debug)]
pub struct Ids<W> {
    values: Vec<W>,
    ids: FxHashMap<W, u32>,
}

impl<W> Default for Ids<W> {
    fn default() -> Ids<W> {
        Ids { values: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<W: Copy + Eq + Hash> Ids<W> {
    /// Returns the id of `value`, and whether it is new.
    pub fn intern(&mut self, value: W) -> (u32, bool) {
        let next = self.values.len() as u32;
        let id = *self.ids.entry(value).or_insert(next);
        if id == next {
            self.values.push(value);
        }
        (id, id == next)
    }

    /// Returns all values, by id.
    pub fn values(&self) -> &[W] {
        &self.values
    }

    /// Returns all values without the ids.
    pub fn into_values(self) -> Vec<W> {
        self.values
    }

    /// Returns the value of an id.
    pub fn value(&self, id: u32) -> W {
        self.values[id as usize]
    }
}
