//! Every configuration once, in the order in which it was found.
//!
//! One byte arena holds records: the predecessor's id (4 bytes), then the packed configuration, then bytes that fill it up to a multiple of four. A record's
//! id is where it begins, counted in units of four bytes, so that ids of 32 bits reach through 16 GiB; since packed configurations end by themselves, walking the arena is walking the search's
//! queue, and a breadth-first layer is a range of bytes. A hash table of ids finds a configuration.
//!
//! Invariant: no two records hold the same configuration; a predecessor's id is smaller than its successors'.
//!
//! # The table
//!
//! Open addressing with linear probing over slots of five bytes: an id, and eight bits of the hash that spare most
//! looks into the arena. In a large search nearly all time goes into waiting for memory, so what counts is how many cache
//! lines a look-up touches: here one in the table and one in the arena. (`hashbrown::HashTable<u32>` takes the same five bytes
//! per slot but keeps tags and values apart, which is a line more, and can only double.) At a load between 8/15 and 4/5
//! this is 6 to 10 bytes per configuration, besides 4 for the predecessor and 1.5 to fill up a record.
//!
//! [`Store::warm`] looks at the memory that several look-ups will need, so that the processor waits for all of it at the same time.

use std::hash::Hasher;
use std::hint::black_box;
use std::ops::Range;

use rustc_hash::FxHasher;

use super::pack;
use crate::verdict::Unknown;

/// Where a configuration is stored, in units of [`UNIT`] bytes.
pub type Id = u32;

/// The predecessor of a configuration the search starts from; and the id in a free slot.
pub const ROOT: Id = u32::MAX;

/// Records begin at multiples of this many bytes.
pub const UNIT: usize = 4;

/// Bytes of a record before the packed configuration.
const HEAD: usize = 4;

/// Where the arena ends at the latest.
const MOST: u64 = (u32::MAX as u64) * UNIT as u64;

/// The set of configurations found.
#[derive(Debug, Default)]
pub struct Store {
    arena: Vec<u8>,
    slots: Vec<Slot>,
    len: usize,
}

/// Tag and id.
type Slot = [u8; 5];

const FREE: Slot = [0xff; 5];

/// How much memory a store uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Configurations stored.
    pub configurations: u64,
    /// Bytes of packed configurations.
    pub packed: u64,
    /// Bytes of predecessor links and of the hash table.
    pub bookkeeping: u64,
}

impl Store {
    /// How many configurations there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The id that the next configuration will get.
    pub fn end(&self) -> usize {
        self.arena.len() / UNIT
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.arena.clear();
        self.slots.fill(FREE);
        self.len = 0;
    }

    /// The bytes from the packed configuration at `id` on.
    pub fn packed(&self, id: Id) -> &[u8] {
        &self.arena[id as usize * UNIT + HEAD..]
    }

    /// The id of the record after one whose packed form has `length` bytes.
    pub fn after(id: Id, length: usize) -> usize {
        id as usize + (HEAD + length).div_ceil(UNIT)
    }

    /// The configuration from which `id` was first found, unless the search started there.
    pub fn parent(&self, id: Id) -> Option<Id> {
        let at = id as usize * UNIT;
        let bytes: [u8; HEAD] = self.arena[at..at + HEAD].try_into().ok()?;
        Some(u32::from_le_bytes(bytes)).filter(|&p| p != ROOT)
    }

    /// Whether a configuration is there.
    pub fn contains(&self, packed: &[u8], hash: u64) -> bool {
        !self.slots.is_empty() && self.find(packed, hash).is_none()
    }

    /// How many bytes more the table will take if it has to grow for so many configurations; 0 if not.
    pub fn growth(&self, more: usize) -> usize {
        let grows = self.len + more >= self.slots.len() / 5 * 4;
        if grows { self.slots.len() / 2 * size_of::<Slot>() } else { 0 }
    }

    /// Adds a configuration, unless it is there, and returns its id if it is new.
    pub fn insert(&mut self, packed: &[u8], hash: u64, parent: Id) -> Result<Option<Id>, Unknown> {
        if self.len >= self.slots.len() / 5 * 4 {
            self.grow();
        }
        let Some(free) = self.find(packed, hash) else { return Ok(None) };
        let id = Id::try_from(self.end()).ok().filter(|&id| id != ROOT).ok_or(Unknown::Memory(MOST))?;
        self.slots[free] = slot(hash, id);
        self.len += 1;
        self.arena.extend_from_slice(&parent.to_le_bytes());
        self.arena.extend_from_slice(packed);
        self.arena.resize(self.arena.len().next_multiple_of(UNIT), 0);
        Ok(Some(id))
    }

    /// Fetches what look-ups for these hashes will need from memory.
    pub fn warm(&self, hashes: impl Iterator<Item = u64> + Clone) {
        if self.slots.is_empty() {
            return;
        }
        let touched = hashes.clone().fold(0, |sum, hash| sum ^ self.slots[self.home(hash)][0]);
        black_box(touched);
        let touched = hashes.fold(0, |sum, hash| sum ^ self.arena.get(self.likely(hash)).map_or(0, |&b| b));
        black_box(touched);
    }

    /// How much memory this takes now.
    pub fn footprint(&self) -> Footprint {
        let links = (self.len * HEAD) as u64;
        Footprint {
            configurations: self.len as u64,
            packed: self.arena.len() as u64 - links,
            bookkeeping: links + (self.slots.capacity() * size_of::<Slot>()) as u64,
        }
    }

    /// The free slot where a configuration belongs; `None` if it is there already.
    fn find(&self, packed: &[u8], hash: u64) -> Option<usize> {
        let mut at = self.home(hash);
        loop {
            let (tag, id) = read(self.slots[at]);
            if id == ROOT {
                return Some(at);
            }
            if tag == hash as u8 && self.packed(id).starts_with(packed) {
                return None;
            }
            at = self.next(at);
        }
    }

    /// Where in the arena a configuration with this hash probably is.
    fn likely(&self, hash: u64) -> usize {
        let mut at = self.home(hash);
        loop {
            let (tag, id) = read(self.slots[at]);
            if id == ROOT || tag == hash as u8 {
                return id as usize * UNIT;
            }
            at = self.next(at);
        }
    }

    /// The slot where the search for a hash begins.
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    fn next(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// All records, one after another.
    pub fn records(&self) -> &[u8] {
        &self.arena
    }

    /// The records from one id up to another.
    pub fn records_in(&self, ids: Range<usize>) -> &[u8] {
        &self.arena[ids.start * UNIT..ids.end * UNIT]
    }

    /// The store with these records, if that is what they are; `length` says how long the packed configuration at the start of some bytes is, if there is one.
    pub fn of_records(arena: Vec<u8>, length: impl Fn(&[u8]) -> Option<usize>) -> Option<Store> {
        let (mut at, mut len) = (0, 0);
        if !arena.len().is_multiple_of(UNIT) || arena.len() as u64 > MOST {
            return None;
        }
        while at < arena.len() / UNIT {
            let record = &arena[at * UNIT..];
            let parent = record.first_chunk().map(|&bytes| u32::from_le_bytes(bytes))?;
            if parent != ROOT && parent as usize >= at {
                return None;
            }
            at = Store::after(at as Id, length(&record[HEAD..])?);
            len += 1;
        }
        let mut store = Store { arena, slots: Vec::new(), len };
        store.fill_anew((len / 2 * 3).max(1 << 10));
        Some(store)
    }

    /// Makes the table half as large again. It is filled anew from the arena, in order: that reads memory in one sweep,
    /// and the old table is gone before the new one comes.
    fn grow(&mut self) {
        self.fill_anew((self.slots.len() / 2 * 3).max(1 << 10));
    }

    fn fill_anew(&mut self, wanted: usize) {
        self.slots = Vec::new();
        self.slots = vec![FREE; wanted];
        let mut record = 0;
        while record < self.end() {
            let packed = self.packed(record as Id);
            let packed = &packed[..pack::length(packed)];
            let hash = hash(packed);
            let next = Store::after(record as Id, packed.len());
            let mut at = self.home(hash);
            while self.slots[at] != FREE {
                at = self.next(at);
            }
            self.slots[at] = slot(hash, record as Id);
            record = next;
        }
    }
}

/// The hash by which a packed configuration is found.
pub fn hash(packed: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(packed);
    hasher.finish()
}

fn slot(hash: u64, id: Id) -> Slot {
    let [a, b, c, d] = id.to_le_bytes();
    [hash as u8, a, b, c, d]
}

fn read([tag, a, b, c, d]: Slot) -> (u8, Id) {
    (tag, u32::from_le_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_configuration_is_kept_once_with_its_predecessor() {
        let mut store = Store::default();
        let mut packer = pack::Packer::default();
        let mut ids = Vec::new();
        for round in 0..2 {
            for i in 0..5000_u32 {
                let packed = packer.pack(i % 7, &[(i / 7, 1), (i / 7 + 3, i % 3 + 1)]);
                let hash = hash(packed);
                store.warm([hash].into_iter());
                assert_eq!(store.contains(packed, hash), round == 1);
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
        let read = Store::of_records(store.records().to_vec(), |bytes| Some(pack::length(bytes)));
        assert!(read.is_some_and(|read| read.len() == 5000 && read.end() == store.end()));
        assert!(Store::of_records(store.records()[..7].to_vec(), |_| Some(3)).is_none());
        store.clear();
        let packed = packer.pack(0, &[]);
        assert!(!store.contains(packed, hash(packed)));
        assert_eq!(store.insert(packed, hash(packed), ROOT), Ok(Some(0)));
    }
}
