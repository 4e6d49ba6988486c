//! Small numbers for the states that a search meets.

use std::hash::Hash;

use rustc_hash::FxHashMap;

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
    /// The id of `value`, and whether it is new.
    pub fn intern(&mut self, value: W) -> (u32, bool) {
        let next = self.values.len() as u32;
        let id = *self.ids.entry(value).or_insert(next);
        if id == next {
            self.values.push(value);
        }
        (id, id == next)
    }

    /// All values, by their ids.
    pub fn values(&self) -> &[W] {
        &self.values
    }

    /// The value of an id.
    pub fn value(&self, id: u32) -> W {
        self.values[id as usize]
    }
}
