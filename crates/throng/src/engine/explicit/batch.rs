//! Successors that are waiting to be stored.
//!
//! Storing one at a time means waiting for memory each time. A batch lets the store fetch what it needs for many
//! ([`Store::warm`]), and it is what a worker hands over in [`super::parallel`].

use super::search::note_pruned;
use super::steps::Sink;
use super::store::{self, Id, Store};
use crate::engine::Occupied;
use throng_model::limits::{Limits, Ticker};
use throng_model::verdict::Unknown;

/// Look-ups whose memory is fetched at the same time.
const ABREAST: usize = 32;

/// Tables that grow by this many bytes may not fit.
const LARGE: usize = 1 << 20;

/// A large table takes long to fill anew. If that passes the memory limit, the search ends before, not after.
pub fn check_growth(store: &Store, more: usize, limits: &Limits) -> Result<(), Unknown> {
    match store.growth(more) {
        growth if growth >= LARGE => limits.check_room(growth as u64),
        _ => Ok(()),
    }
}

/// Successors in the order in which they were found, and what expanding their predecessors gave besides.
#[derive(Default)]
pub struct Batch {
    /// Packed forms, one after another.
    bytes: Vec<u8>,
    candidates: Vec<Candidate>,
    /// Steps fired.
    pub fired: u64,
    /// Configurations expanded.
    pub expanded: u64,
    /// How many local states they occupy.
    pub occupied: Occupied,
    /// The smallest size that was left out.
    pub pruned: Option<u32>,
}

/// A successor; it may or may not be new.
#[derive(Clone, Copy)]
struct Candidate {
    hash: u64,
    parent: Id,
    length: u32,
    may_hit: bool,
}

impl Batch {
    /// How many successors there are.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.candidates.clear();
        (self.fired, self.expanded, self.pruned, self.occupied) = (0, 0, None, Occupied::default());
    }

    /// Stores all that is new and `wanted`, and adds what may hit a target to `suspects`.
    pub fn store(
        &self,
        store: &mut Store,
        suspects: &mut Vec<Id>,
        mut wanted: impl FnMut(&[u8]) -> Result<bool, Unknown>,
    ) -> Result<(), Unknown> {
        let mut rest = &self.bytes[..];
        for abreast in self.candidates.chunks(ABREAST) {
            store.warm(abreast.iter().map(|c| c.hash));
            for c in abreast {
                let (packed, later) = rest.split_at(c.length as usize);
                rest = later;
                if wanted(packed)? {
                    let new = store.insert(packed, c.hash, c.parent)?;
                    suspects.extend(new.filter(|_| c.may_hit));
                }
            }
        }
        Ok(())
    }

    /// Drops what is stored already.
    pub fn drop_known(&mut self, store: &Store) {
        let (mut from, mut to, mut kept) = (0, 0, 0);
        for first in (0..self.candidates.len()).step_by(ABREAST) {
            let end = self.candidates.len().min(first + ABREAST);
            store.warm(self.candidates[first..end].iter().map(|c| c.hash));
            for i in first..end {
                let c = self.candidates[i];
                let packed = from..from + c.length as usize;
                from = packed.end;
                if !store.contains(&self.bytes[packed.clone()], c.hash) {
                    self.bytes.copy_within(packed.clone(), to);
                    to += packed.len();
                    self.candidates[kept] = c;
                    kept += 1;
                }
            }
        }
        self.bytes.truncate(to);
        self.candidates.truncate(kept);
    }
}

/// Puts the successors of `parent` into a batch.
pub struct Filling<'a, 'l> {
    /// The batch.
    pub batch: &'a mut Batch,
    /// Whose successors they are.
    pub parent: Id,
    /// Watches the limits when one step has very many successors.
    pub ticker: &'a mut Ticker<'l>,
    /// Bytes of the successors so far: where configurations are long, these are most of the work.
    pub bytes: usize,
}

impl Sink for Filling<'_, '_> {
    fn successor(&mut self, packed: &[u8], may_hit: bool) {
        let candidate = Candidate {
            hash: store::hash(packed),
            parent: self.parent,
            length: packed.len() as u32,
            may_hit,
        };
        self.bytes += packed.len();
        self.batch.bytes.extend_from_slice(packed);
        self.batch.candidates.push(candidate);
    }

    fn one_of_many(&mut self) -> Result<(), Unknown> {
        self.ticker.tick()
    }

    fn looked_at(&mut self, steps: u32) -> Result<(), Unknown> {
        // Four steps, or sixteen bytes, are about as much work as a look-up.
        let bytes = std::mem::take(&mut self.bytes);
        self.ticker.ticks(steps / 4 + (bytes / 16) as u32)
    }

    fn pruned(&mut self, size: u64) {
        note_pruned(&mut self.batch.pruned, size);
    }
}
