//! Every configuration once, in the order in which it was found.
//!
//! One byte arena holds records: the predecessor's id (4 bytes), then the packed configuration. A record's id is
//! where it begins; since packed configurations end by themselves, walking the arena is walking the search's
//! queue, and a breadth-first layer is a range of bytes. A hash table of ids finds a configuration. Together
//! that is 4 bytes and 5 to 12 bytes (at 7/8 to 7/16 load) beside the packed form.
//!
//! Invariant: no two records hold the same configuration; a predecessor's id is smaller than its successors'.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::pack;
use crate::verdict::Unknown;

/// Where a configuration is stored.
pub type Id = u32;

/// The predecessor of a configuration the search starts from.
pub const ROOT: Id = u32::MAX;

/// Bytes of a record before the packed configuration.
const HEAD: usize = 4;

/// The set of configurations found.
#[derive(Debug, Default)]
pub struct Store {
    arena: Vec<u8>,
    table: HashTable<Id>,
}

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
        self.table.len()
    }

    /// The id that the next configuration will get.
    pub fn end(&self) -> usize {
        self.arena.len()
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.arena.clear();
        self.table.clear();
    }

    /// The bytes from the packed configuration at `id` on.
    pub fn packed(&self, id: Id) -> &[u8] {
        &self.arena[id as usize + HEAD..]
    }

    /// The id of the record after one whose packed form has `length` bytes.
    pub fn after(id: Id, length: usize) -> usize {
        id as usize + HEAD + length
    }

    /// The configuration from which `id` was first found, unless the search started there.
    pub fn parent(&self, id: Id) -> Option<Id> {
        let at = id as usize;
        let bytes: [u8; HEAD] = self.arena[at..at + HEAD].try_into().ok()?;
        Some(u32::from_le_bytes(bytes)).filter(|&p| p != ROOT)
    }

    /// Whether a configuration is there.
    pub fn contains(&self, packed: &[u8], hash: u64) -> bool {
        self.table.find(hash, |&id| self.packed(id).starts_with(packed)).is_some()
    }

    /// Adds a configuration, unless it is there, and returns its id if it is new.
    pub fn insert(&mut self, packed: &[u8], hash: u64, parent: Id) -> Result<Option<Id>, Unknown> {
        if self.table.len() == self.table.capacity() {
            self.grow();
        }
        let arena = &self.arena;
        let same = |&id: &Id| arena[id as usize + HEAD..].starts_with(packed);
        // There is room, so nothing is rehashed here.
        let hashbrown::hash_table::Entry::Vacant(free) = self.table.entry(hash, same, |_| hash) else {
            return Ok(None);
        };
        let id = Id::try_from(arena.len()).ok().filter(|&id| id != ROOT).ok_or(Unknown::Memory(1 << 32))?;
        free.insert(id);
        self.arena.extend_from_slice(&parent.to_le_bytes());
        self.arena.extend_from_slice(packed);
        Ok(Some(id))
    }

    /// How much memory this takes now.
    pub fn footprint(&self) -> Footprint {
        let links = (self.len() * HEAD) as u64;
        Footprint {
            configurations: self.len() as u64,
            packed: self.arena.len() as u64 - links,
            bookkeeping: links + self.table.allocation_size() as u64,
        }
    }

    /// Doubles the table. It is filled anew from the arena, in order: that reads memory in one sweep, and the old
    /// table is gone before the new one comes.
    fn grow(&mut self) {
        let wanted = (self.table.capacity() + 1).max(1 << 10);
        self.table = HashTable::new();
        self.table = HashTable::with_capacity(wanted);
        let mut at = 0;
        while at < self.arena.len() {
            let packed = &self.arena[at + HEAD..];
            let length = pack::length(packed);
            let hash = hash(&packed[..length]);
            self.table.insert_unique(hash, at as Id, |_| hash);
            at += HEAD + length;
        }
    }
}

/// The hash by which a packed configuration is found.
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
        let mut ids = Vec::new();
        for round in 0..2 {
            for i in 0..5000_u32 {
                let packed = packer.pack(i % 7, &[(i / 7, 1), (i / 7 + 3, i % 3 + 1)]);
                let hash = hash(packed);
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
    }
}
