//! A store that holds every configuration once, in the order in which it was found.
//!
//! One byte arena holds records: the predecessor's id (4 bytes), then the packed configuration,
//! then padding to a multiple of four bytes. A record's id is where it begins, counted in units of
//! four bytes, so that ids of 32 bits reach through 16 GiB; since packed configurations are
//! prefix-free, a walk through the arena is a walk through the search's queue, and a breadth-first
//! layer is a range of bytes. A hash table of ids finds a configuration.
//!
//! Invariant: no two records hold the same configuration.
//!
//! # The table
//!
//! Open addressing with linear probing over slots of five bytes: an id, and eight bits of the hash,
//! which avoid most accesses to the arena. In a large search most time is spent waiting for memory,
//! so the cost is the number of cache lines that a look-up touches: here one in the table and one
//! in the arena. (`hashbrown::HashTable<u32>` takes the same five bytes per slot but keeps tags and
//! values apart, which is a line more, and can only double.) At a load between 8/15 and 4/5 this is
//! 6 to 10 bytes per configuration, besides 4 for the predecessor and 1.5 to fill up a record.
//!
//! [`Store::probe`] prefetches the memory that several look-ups need, so that the processor waits
//! for all of it at once.
//!
//! A large search has several stores, and every configuration belongs to one of them by its hash
//! ([`super::shards`]). Predecessors may be in another one.

use std::hash::Hasher;
use std::hint::black_box;
use std::ops::Range;

use rustc_hash::FxHasher;

use super::pack;
use super::region::{Region, Storage};
use crate::verdict::Unknown;

/// The position of a stored configuration, in units of [`UNIT`] bytes.
pub type Id = u32;

/// The predecessor of an initial configuration; also the id in a free slot.
pub const ROOT: Id = u32::MAX;

/// Alignment of records in bytes.
pub const UNIT: usize = 4;

/// Bytes of a record before the packed configuration.
const HEAD: usize = 4;

/// The set of configurations found.
#[derive(Debug)]
pub struct Store {
    arena: Region,
    /// The hash table's slots.
    slots: Region,
    len: usize,
    /// The first id that is too large.
    reach: Id,
}

/// Tag and id.
type Slot = [u8; 5];

/// Bytes of a slot.
const SLOT: usize = size_of::<Slot>();

/// Value of each byte of a free slot.
const FREE: u8 = 0xff;

/// Number of slots of the first table.
const LEAST_SLOTS: usize = 64;

/// The memory use of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Configurations stored.
    pub configurations: u64,
    /// Bytes of packed configurations.
    pub packed: u64,
    /// Bytes of predecessor links and of the hash table.
    pub bookkeeping: u64,
}

impl Default for Store {
    fn default() -> Store {
        Store { arena: Region::default(), slots: Region::default(), len: 0, reach: ROOT }
    }
}

impl Store {
    /// Creates an empty store in a storage, with ids below `reach`.
    pub fn new(storage: &Storage, reach: Id) -> Store {
        Store { arena: Region::new(storage), slots: Region::new(storage), len: 0, reach }
    }

    /// Returns the number of configurations.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the id that the next configuration will get.
    pub fn end(&self) -> usize {
        self.arena.len() / UNIT
    }

    /// Drops all content but keeps the memory.
    pub fn clear(&mut self) {
        self.arena.clear();
        self.slots.fill(FREE);
        self.len = 0;
    }

    /// Returns the bytes from the packed configuration at `id` on.
    pub fn packed(&self, id: Id) -> &[u8] {
        &self.arena[id as usize * UNIT + HEAD..]
    }

    /// Returns the id of the record after one whose packed form has `length` bytes.
    pub fn after(id: Id, length: usize) -> usize {
        id as usize + (HEAD + length).div_ceil(UNIT)
    }

    /// Returns the configuration from which `id` was first found, unless the search started there.
    pub fn parent(&self, id: Id) -> Option<Id> {
        let at = id as usize * UNIT;
        let bytes: [u8; HEAD] = self.arena[at..at + HEAD].try_into().ok()?;
        Some(u32::from_le_bytes(bytes)).filter(|&p| p != ROOT)
    }

    /// Returns whether a configuration is stored.
    pub fn contains(&self, packed: &[u8], hash: u64) -> bool {
        let slots = self.slots();
        !slots.is_empty() && self.contains_from(home(slots, hash), packed, hash)
    }

    /// Returns the same, given that the slots from the hash's first one up to `from` hold other
    /// configurations.
    pub fn contains_from(&self, from: usize, packed: &[u8], hash: u64) -> bool {
        self.find(from, packed, hash).is_none()
    }

    /// Returns how many more bytes the table needs if it has to grow for this many configurations;
    /// 0 if it need not.
    pub fn growth(&self, more: usize) -> usize {
        let slots = self.slots().len();
        if self.len + more >= slots / 5 * 4 { slots / 2 * SLOT } else { 0 }
    }

    /// Adds a configuration, unless it is stored already, and returns its id if it is new.
    pub fn insert(&mut self, packed: &[u8], hash: u64, parent: Id) -> Result<Option<Id>, Unknown> {
        self.reserve(1)?;
        self.insert_from(home(self.slots(), hash), packed, hash, parent)
    }

    /// Grows the table so that this many configurations fit.
    pub fn reserve(&mut self, more: usize) -> Result<(), Unknown> {
        let slots = self.slots().len();
        if self.len + more <= slots / 5 * 4 {
            return Ok(());
        }
        // Rebuilding from the arena in order reads memory in one sweep.
        self.fill_anew((slots / 2 * 3).max(more * 2).max(LEAST_SLOTS))
    }

    /// Adds like [`Store::insert`], in a table with room: the slots from the hash's first one up to
    /// `from` hold other configurations.
    pub fn insert_from(
        &mut self,
        from: usize,
        packed: &[u8],
        hash: u64,
        parent: Id,
    ) -> Result<Option<Id>, Unknown> {
        let Some(free) = self.find(from, packed, hash) else { return Ok(None) };
        let id = Id::try_from(self.end()).ok().filter(|&id| id < self.reach);
        let id = id.ok_or(Unknown::Memory(u64::from(self.reach) * UNIT as u64))?;
        let length = HEAD + packed.len();
        let filler = &[0; UNIT][..length.next_multiple_of(UNIT) - length];
        self.arena.append([&parent.to_le_bytes(), packed, filler])?;
        self.slots.as_chunks_mut().0[free] = slot(hash, id);
        self.len += 1;
        Ok(Some(id))
    }

    /// Finds, for each of these hashes, the first slot that is free or has its tag, where its
    /// look-up can begin. The memory for these look-ups is prefetched for all of them at once.
    pub fn probe(&self, hashes: impl Iterator<Item = u64> + Clone, found: &mut Vec<usize>) {
        found.clear();
        let slots = self.slots();
        if slots.is_empty() {
            return;
        }
        black_box(hashes.clone().fold(0, |sum, hash| sum ^ slots[home(slots, hash)][0]));
        found.extend(hashes.clone().map(|hash| likely(slots, hash)));
        let arena = &*self.arena;
        let first = |&at: &usize| arena.get(read(slots[at]).1 as usize * UNIT).map_or(0, |&b| b);
        black_box(found.iter().fold(0, |sum, at| sum ^ first(at)));
    }

    /// Returns the present memory use.
    pub fn footprint(&self) -> Footprint {
        let links = (self.len * HEAD) as u64;
        Footprint {
            configurations: self.len as u64,
            packed: self.arena.len() as u64 - links,
            bookkeeping: links + self.slots.capacity() as u64,
        }
    }

    /// Returns the free slot, from this one on, for a configuration; `None` if it is stored
    /// already.
    fn find(&self, from: usize, packed: &[u8], hash: u64) -> Option<usize> {
        let (slots, arena) = (self.slots(), &*self.arena);
        let mut at = from;
        loop {
            let (tag, id) = read(slots[at]);
            if id == ROOT {
                return Some(at);
            }
            if tag == hash as u8 && arena[id as usize * UNIT + HEAD..].starts_with(packed) {
                return None;
            }
            at = next(slots, at);
        }
    }

    fn slots(&self) -> &[Slot] {
        self.slots.as_chunks().0
    }

    /// Returns all records, one after another.
    pub fn records(&self) -> &[u8] {
        &self.arena
    }

    /// Returns the records from one id up to another.
    pub fn records_in(&self, ids: Range<usize>) -> &[u8] {
        &self.arena[ids.start * UNIT..ids.end * UNIT]
    }

    /// Replaces the content by these records if they are valid; `length` returns the length of the
    /// packed configuration at the start of some bytes, if there is one. Predecessors are not
    /// checked.
    pub fn set_records(
        &mut self,
        records: &[u8],
        length: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<bool, Unknown> {
        let (mut at, mut len) = (0, 0);
        if !records.len().is_multiple_of(UNIT) || (records.len() / UNIT) as u64 > u64::from(self.reach) {
            return Ok(false);
        }
        while at < records.len() / UNIT {
            let packed = records.get(at * UNIT + HEAD..).and_then(&length);
            let Some(length) = packed else { return Ok(false) };
            at = Store::after(at as Id, length);
            len += 1;
        }
        if at != records.len() / UNIT {
            return Ok(false);
        }
        self.arena.clear();
        self.arena.append([records, &[], &[]])?;
        self.len = len;
        self.fill_anew((len / 2 * 3).max(LEAST_SLOTS))?;
        Ok(true)
    }

    /// Rebuilds the table with this many slots from the arena.
    fn fill_anew(&mut self, wanted: usize) -> Result<(), Unknown> {
        self.slots.refill(wanted * SLOT, FREE)?;
        let (slots, arena): (&mut [Slot], &[u8]) = (self.slots.as_chunks_mut().0, &self.arena);
        let mut record = 0;
        while record < arena.len() / UNIT {
            let packed = &arena[record * UNIT + HEAD..];
            let packed = &packed[..pack::length(packed)];
            let hash = hash(packed);
            let mut at = home(slots, hash);
            while read(slots[at]).1 != ROOT {
                at = next(slots, at);
            }
            slots[at] = slot(hash, record as Id);
            record = Store::after(record as Id, packed.len());
        }
        Ok(())
    }
}

/// Returns the slot where the search for a hash begins.
fn home(slots: &[Slot], hash: u64) -> usize {
    ((u128::from(hash) * slots.len() as u128) >> 64) as usize
}

fn next(slots: &[Slot], at: usize) -> usize {
    if at + 1 == slots.len() { 0 } else { at + 1 }
}

fn slot(hash: u64, id: Id) -> Slot {
    let [a, b, c, d] = id.to_le_bytes();
    [hash as u8, a, b, c, d]
}

fn read([tag, a, b, c, d]: Slot) -> (u8, Id) {
    (tag, u32::from_le_bytes([a, b, c, d]))
}

/// Returns the first slot for a hash that is free or has its tag.
fn likely(slots: &[Slot], hash: u64) -> usize {
    let mut at = home(slots, hash);
    loop {
        let (tag, id) = read(slots[at]);
        if id == ROOT || tag == hash as u8 {
            return at;
        }
        at = next(slots, at);
    }
}

/// Prefetches the memory that these look-ups, each in its store, need.
pub(super) fn fetch<'a>(look_ups: impl Iterator<Item = (&'a Store, u64)> + Clone) {
    let look_ups = look_ups.map(|(store, hash)| (store, store.slots(), hash)).filter(|l| !l.1.is_empty());
    black_box(look_ups.clone().fold(0, |sum, (_, slots, hash)| sum ^ slots[home(slots, hash)][0]));
    let first = |store: &Store, slots: &[Slot], hash| {
        store.arena.get(read(slots[likely(slots, hash)]).1 as usize * UNIT).map_or(0, |&b| b)
    };
    black_box(look_ups.fold(0, |sum, (store, slots, hash)| sum ^ first(store, slots, hash)));
}

/// Hashes a packed configuration.
pub fn hash(packed: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(packed);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_configuration_is_kept_once_with_its_predecessor() {
        let mut store = Store::default();
        let mut packer = pack::Packer::default();
        let (mut ids, mut slots) = (Vec::new(), Vec::new());
        for round in 0..2 {
            for i in 0..5000_u32 {
                let packed = packer.pack(i % 7, &[(i / 7, 1), (i / 7 + 3, i % 3 + 1)]);
                let hash = hash(packed);
                assert_eq!(store.contains(packed, hash), round == 1);
                store.probe([hash, hash].into_iter(), &mut slots);
                assert!(slots.iter().all(|&from| store.contains_from(from, packed, hash) == (round == 1)));
                match store.insert(packed, hash, ids.last().copied().unwrap_or(ROOT)).unwrap() {
                    Some(id) => ids.push(id),
                    None => assert_eq!(round, 1),
                }
            }
        }
        assert_eq!(store.len(), 5000);
        assert_eq!(store.parent(ids[0]), None);
        assert!(ids.windows(2).all(|w| store.parent(w[1]) == Some(w[0])));
        let after = ids.iter().map(|&id| Store::after(id, pack::length(store.packed(id))));
        assert!(after.eq(ids.iter().skip(1).map(|&id| id as usize).chain([store.end()])));
        assert!(store.footprint().bookkeeping <= 16 * 5000);
        assert_eq!(store.records_in(0..store.end()), store.records());
        let mut read = Store::default();
        assert_eq!(read.set_records(store.records(), |bytes| Some(pack::length(bytes))), Ok(true));
        assert!(read.len() == 5000 && read.end() == store.end());
        let packed = packer.pack(1, &[(0, 1), (3, 2)]);
        assert!(read.contains(packed, hash(packed)));
        assert_eq!(read.set_records(&store.records()[..7], |_| Some(3)), Ok(false));
        store.clear();
        let packed = packer.pack(0, &[]);
        assert!(!store.contains(packed, hash(packed)));
        assert_eq!(store.insert(packed, hash(packed), ROOT), Ok(Some(0)));
    }
}
