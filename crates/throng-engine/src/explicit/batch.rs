//! Successors that are waiting to be stored.
//!
//! Storing successors one by one means waiting for memory each time. With a batch, the store
//! prefetches for many ([`Store::probe`]); a batch is also what a worker hands over in
//! [`super::parallel`].

use super::search::note_pruned;
use super::steps::Sink;
use super::store::{self, Id, Store};
use crate::Occupied;
use throng_model::limits::{Limits, Ticker};
use throng_model::packed::shards::Shards;
use throng_model::verdict::Unknown;

/// Number of look-ups whose memory is prefetched together.
const ABREAST: usize = 32;

/// Growth of tables in bytes above which the memory limit is checked first.
const LARGE: usize = 1 << 20;

/// Checks that tables may grow by this many bytes. Large tables take long to rebuild, so the search
/// ends before and not after a growth that exceeds the memory limit.
pub fn check_growth(growth: usize, limits: &Limits) -> Result<(), Unknown> {
    // In a place of its own, the table takes no memory.
    let counts = growth >= LARGE && limits.storage().is_none();
    if counts { limits.check_room(growth as u64) } else { Ok(()) }
}

/// Successors, and statistics of the expansion of their predecessors.
pub struct Batch {
    /// The successors: all in one list, or one list for each part of the store.
    lists: Vec<List>,
    /// The number of successors.
    len: u32,
    /// Steps fired.
    pub fired: u64,
    /// Configurations expanded.
    pub expanded: u64,
    /// The number of local states that they occupy.
    pub occupied: Occupied,
    /// The smallest size that was left out.
    pub pruned: Option<u32>,
}

/// Successors in the order in which they were found.
#[derive(Default)]
struct List {
    /// Packed forms, one after another.
    bytes: Vec<u8>,
    candidates: Vec<Candidate>,
}

/// A successor; it may or may not be new.
#[derive(Clone, Copy)]
struct Candidate {
    hash: u64,
    parent: Id,
    /// Twice the length of its packed form, plus one if it may hit a target.
    length: u32,
}

impl Candidate {
    fn length(self) -> usize {
        self.length as usize / 2
    }

    fn may_hit(self) -> bool {
        self.length % 2 == 1
    }
}

impl Batch {
    /// Creates an empty batch with this many lists.
    pub fn new(lists: usize) -> Batch {
        Batch {
            lists: (0..lists).map(|_| List::default()).collect(),
            len: 0,
            fired: 0,
            expanded: 0,
            occupied: Occupied::default(),
            pruned: None,
        }
    }

    /// Returns the number of successors.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Drops all content but keeps the memory.
    pub fn clear(&mut self) {
        for list in &mut self.lists {
            list.bytes.clear();
            list.candidates.clear();
        }
        (self.len, self.fired, self.expanded) = (0, 0, 0);
        (self.pruned, self.occupied) = (None, Occupied::default());
    }

    /// Stores all successors that are new and `wanted`, and adds those that may hit a target to
    /// `suspects`. All successors are in one list.
    pub fn store(
        &self,
        store: &mut Shards,
        suspects: &mut Vec<Id>,
        mut wanted: impl FnMut(&[u8]) -> Result<bool, Unknown>,
    ) -> Result<(), Unknown> {
        let [list] = &self.lists[..] else { return Ok(()) };
        if let [all] = store.parts_mut() {
            return list.store(all, wanted, |c, id| suspects.extend(Some(id).filter(|_| c.may_hit())));
        }
        let mut rest = &list.bytes[..];
        for c in &list.candidates {
            let (packed, later) = rest.split_at(c.length());
            rest = later;
            if wanted(packed)? {
                let new = store.insert(packed, c.hash, c.parent)?;
                suspects.extend(new.filter(|_| c.may_hit()));
            }
        }
        Ok(())
    }

    /// Stores the successors that are new and belong to this part of the store, and adds those that
    /// may hit a target to `suspects`.
    pub fn store_part(&self, number: usize, part: &mut Store, suspects: &mut Vec<Id>) -> Result<(), Unknown> {
        let id = |at: Id| Shards::id(number, at as usize);
        let found = |c: &Candidate, at: Id| suspects.extend(Some(id(at)).filter(|_| c.may_hit()));
        self.lists[number].store(part, |_| Ok(true), found)
    }
}

impl List {
    /// Stores all successors that are new and `wanted`, and calls `new` with them.
    fn store(
        &self,
        store: &mut Store,
        mut wanted: impl FnMut(&[u8]) -> Result<bool, Unknown>,
        mut new: impl FnMut(&Candidate, Id),
    ) -> Result<(), Unknown> {
        let (mut rest, mut slots) = (&self.bytes[..], Vec::with_capacity(ABREAST));
        for abreast in self.candidates.chunks(ABREAST) {
            store.reserve(abreast.len())?;
            store.probe(abreast.iter().map(|c| c.hash), &mut slots);
            for (c, &from) in abreast.iter().zip(&slots) {
                let (packed, later) = rest.split_at(c.length());
                rest = later;
                if wanted(packed)?
                    && let Some(id) = store.insert_from(from, packed, c.hash, c.parent)?
                {
                    new(c, id);
                }
            }
        }
        Ok(())
    }
}

/// Adds the successors of `parent` to a batch.
pub struct Filling<'a, 'l> {
    /// The batch.
    pub batch: &'a mut Batch,
    /// The predecessor.
    pub parent: Id,
    /// Checks the limits even when one step has very many successors.
    pub ticker: &'a mut Ticker<'l>,
    /// Bytes of the successors so far: for long configurations, these determine the work.
    pub bytes: usize,
}

impl Sink for Filling<'_, '_> {
    fn successor(&mut self, packed: &[u8], may_hit: bool) {
        let hash = store::hash(packed);
        let lists = &mut self.batch.lists;
        let part = Shards::part_of(lists.len(), hash);
        let list = &mut lists[part];
        self.batch.len += 1;
        self.bytes += packed.len();
        list.bytes.extend_from_slice(packed);
        let length = packed.len() as u32 * 2 + u32::from(may_hit);
        list.candidates.push(Candidate { hash, parent: self.parent, length });
    }

    fn one_of_many(&mut self) -> Result<(), Unknown> {
        self.ticker.tick()
    }

    fn looked_at(&mut self, steps: u32) -> Result<(), Unknown> {
        // Four steps, or sixteen bytes, cost about as much as a look-up.
        let bytes = std::mem::take(&mut self.bytes);
        self.ticker.ticks(steps / 4 + (bytes / 16) as u32)
    }

    fn pruned(&mut self, size: u64) {
        note_pruned(&mut self.batch.pruned, size);
    }
}
