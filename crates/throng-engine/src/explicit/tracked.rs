//! Which configurations matter to a list of thread states: only those that differ for some thread.
//!
//! Two configurations are *alike to a thread* if they have the same shared state, the thread is in
//! the same state in both, and the others are the same up to values that are never read again
//! ([`throng_model::SetStates::forget`]). Such configurations have the same steps and stay alike,
//! so one of them suffices for every thread state that this thread reaches. A configuration is
//! therefore left out if, for each of its threads, one that is alike to it has been found.
//!
//! Every stored configuration is still reached by steps of the model, at its distance from the
//! start: runs are runs, and the first run to a thread state is a shortest one.

use rustc_hash::FxHashMap;

use super::pack::{Packer, Unpacked};
use super::steps::Steps;
use super::store::{self, ROOT, Store};
use throng_model::verdict::Unknown;
use throng_model::{Local, Model};

/// For each thread of each configuration found, everything that the thread can distinguish.
pub struct Tracked {
    seen: Store,
    /// The class of each local state, by dense id: states that are equal after irrelevant values
    /// are forgotten have the same class.
    classes: Vec<u32>,
    number_of: FxHashMap<Local, u32>,
    config: Unpacked,
    entries: Vec<(u32, u32)>,
    packer: Packer,
}

impl Tracked {
    /// Creates an empty set. `None` if the model never forgets anything.
    pub fn new(model: &dyn Model) -> Option<Tracked> {
        model.sets().is_some_and(|sets| sets.forgets()).then(|| Tracked {
            seen: Store::default(),
            classes: Vec::new(),
            number_of: FxHashMap::default(),
            config: Unpacked::default(),
            entries: Vec::new(),
            packer: Packer::default(),
        })
    }

    /// Drops all content.
    pub fn clear(&mut self) {
        self.seen.clear();
    }

    /// Returns whether the configuration is new to one of its threads, and adds it.
    pub fn is_new(&mut self, packed: &[u8], steps: &Steps) -> Result<bool, Unknown> {
        self.config.read(packed);
        self.entries.clear();
        // Without threads, only the shared state matters.
        let mut new = self.config.entries.is_empty() && self.add()?;
        for i in 0..self.config.entries.len() {
            self.entries.clear();
            for (j, &(l, count)) in self.config.entries.iter().enumerate() {
                while self.classes.len() <= l as usize {
                    let local = steps.forgotten(self.classes.len() as u32);
                    let next = self.number_of.len() as u32;
                    self.classes.push(*self.number_of.entry(local).or_insert(next));
                }
                let others = count - u32::from(i == j);
                if others > 0 {
                    self.entries.push((2 * self.classes[l as usize], others));
                }
                if i == j {
                    self.entries.push((2 * l + 1, 1));
                }
            }
            self.entries.sort_unstable();
            self.entries.dedup_by(|later, first| {
                let same = later.0 == first.0;
                first.1 += if same { later.1 } else { 0 };
                same
            });
            new |= self.add()?;
        }
        Ok(new)
    }

    fn add(&mut self) -> Result<bool, Unknown> {
        let packed = self.packer.pack(self.config.shared, &self.entries);
        Ok(self.seen.insert(packed, store::hash(packed), ROOT)?.is_some())
    }
}
