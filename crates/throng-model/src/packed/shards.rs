//! A store in parts, so that several threads can fill it at the same time.
//!
//! A configuration belongs to a part by some bits of its hash, so each part can be searched and
//! filled without looking at the others. The highest bits of an id name its part. A store begins
//! with one part, in which records are in the order in which they were found; a large one can be
//! spread over [`PARTS`].

use super::pack;
use super::region::Storage;
use super::store::{self, Footprint, Id, ROOT, Store};
use crate::verdict::Unknown;

/// Number of parts of a large store. It is fixed, so that the result of a parallel search does not
/// depend on the number of threads.
pub const PARTS: usize = 16;

/// Number of configurations of a part that are visited before the next part's turn.
pub const TURN: usize = 64;

/// Number of bits of an id that locate the record within its part.
const BITS: u32 = Id::BITS - PARTS.ilog2();

/// The set of configurations found, in one part or in [`PARTS`].
#[derive(Debug)]
pub struct Shards {
    parts: Vec<Store>,
    storage: Storage,
}

impl Shards {
    /// Creates an empty store of one part.
    pub fn new(storage: &Storage) -> Shards {
        Shards { parts: vec![Store::new(storage, ROOT)], storage: storage.clone() }
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the parts, to be filled.
    pub fn parts_mut(&mut self) -> &mut [Store] {
        &mut self.parts
    }

    /// Returns the number of configurations.
    pub fn len(&self) -> usize {
        self.parts.iter().map(Store::len).sum()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the end of the last record of each part.
    pub fn ends(&self) -> Vec<usize> {
        self.parts.iter().map(Store::end).collect()
    }

    /// Drops all content but keeps the memory.
    pub fn clear(&mut self) {
        self.parts.iter_mut().for_each(Store::clear);
    }

    /// Returns the part to which a configuration belongs.
    pub fn part_of(parts: usize, hash: u64) -> usize {
        // These are neither the bits that find the slot nor those of its tag.
        (hash >> 8) as usize & (parts - 1)
    }

    /// Returns the id of a record of a part.
    pub fn id(part: usize, at: usize) -> Id {
        (part as Id) << BITS | at as Id
    }

    /// Returns the part of a record and its position there.
    fn locate(&self, id: Id) -> (&Store, Id) {
        match &self.parts[..] {
            [all] => (all, id),
            parts => (&parts[(id >> BITS) as usize], id & ((1 << BITS) - 1)),
        }
    }

    /// Returns the bytes from the packed configuration at `id` on.
    pub fn packed(&self, id: Id) -> &[u8] {
        let (part, at) = self.locate(id);
        part.packed(at)
    }

    /// Returns the configuration from which `id` was first found, unless the search started there.
    pub fn parent(&self, id: Id) -> Option<Id> {
        let (part, at) = self.locate(id);
        part.parent(at)
    }

    /// Returns whether a configuration is stored.
    pub fn contains(&self, packed: &[u8], hash: u64) -> bool {
        self.parts[Shards::part_of(self.parts.len(), hash)].contains(packed, hash)
    }

    /// Adds a configuration, unless it is stored already, and returns its id if it is new.
    pub fn insert(&mut self, packed: &[u8], hash: u64, parent: Id) -> Result<Option<Id>, Unknown> {
        let part = Shards::part_of(self.parts.len(), hash);
        let new = self.parts[part].insert(packed, hash, parent)?;
        Ok(new.map(|at| Shards::id(part, at as usize)))
    }

    /// Prefetches the memory that look-ups for these hashes need, for all of them at once.
    pub fn fetch(&self, hashes: impl Iterator<Item = u64> + Clone) {
        let parts = self.parts.len();
        store::fetch(hashes.map(|hash| (&self.parts[Shards::part_of(parts, hash)], hash)));
    }

    /// Returns by how many bytes the tables may grow for this many more configurations.
    pub fn growth(&self, more: usize) -> usize {
        self.parts.iter().map(|part| part.growth(more.div_ceil(self.parts.len()))).sum()
    }

    /// Returns the present memory use.
    pub fn footprint(&self) -> Footprint {
        let mut sum = Footprint { configurations: 0, packed: 0, bookkeeping: 0 };
        for footprint in self.parts.iter().map(Store::footprint) {
            sum.configurations += footprint.configurations;
            sum.packed += footprint.packed;
            sum.bookkeeping += footprint.bookkeeping;
        }
        sum
    }

    /// Iterates over the ids of all records: [`TURN`] of each part in turn, which is close to the
    /// order in which they were stored.
    pub fn ids(&self) -> impl Iterator<Item = Id> {
        self.share(0, 1)
    }

    /// Iterates over one worker's share of the records, by id; the shares of all workers together
    /// have all records.
    pub fn share(&self, worker: usize, workers: usize) -> impl Iterator<Item = Id> {
        let mut next = vec![0; self.parts.len()];
        let (mut round, mut part, mut taken) = (0, 0, 0);
        std::iter::from_fn(move || {
            loop {
                let (records, at) = (&self.parts[part], next[part]);
                if taken < TURN && at < records.end() {
                    next[part] = Store::after(at as Id, pack::length(records.packed(at as Id)));
                    taken += 1;
                    if round % workers == worker {
                        return Some(Shards::id(part, at));
                    }
                    continue;
                }
                (part, taken) = (part + 1, 0);
                if part == self.parts.len() {
                    if next.iter().zip(&self.parts).all(|(&at, records)| at >= records.end()) {
                        return None;
                    }
                    (round, part) = (round + 1, 0);
                }
            }
        })
    }

    /// Returns all records of each part, one after another.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(Store::records)
    }

    /// Spreads a store of one part over [`PARTS`]. `boundaries` are record boundaries in it.
    /// Returns, for each of them, the boundaries in the parts that divide the records in the same
    /// way.
    pub fn spread<const N: usize>(&mut self, boundaries: [usize; N]) -> Result<[Vec<usize>; N], Unknown> {
        let mut places = boundaries.map(|_| vec![0; PARTS]);
        let all = &self.parts[0];
        let mut parts: Vec<Store> = (0..PARTS).map(|_| Store::new(&self.storage, 1 << BITS)).collect();
        // New ids by old ids. A predecessor is stored before its successors, so its new id is
        // known.
        let mut moved = vec![ROOT; all.end()];
        for old in self.ids() {
            let packed = all.packed(old);
            let packed = &packed[..pack::length(packed)];
            let hash = store::hash(packed);
            let part = Shards::part_of(PARTS, hash);
            let parent = all.parent(old).map_or(ROOT, |parent| moved[parent as usize]);
            if let Some(at) = parts[part].insert(packed, hash, parent)? {
                moved[old as usize] = Shards::id(part, at as usize);
            }
            for (places, &boundary) in places.iter_mut().zip(&boundaries) {
                if (old as usize) < boundary {
                    places[part] = parts[part].end();
                }
            }
        }
        self.parts = parts;
        Ok(places)
    }

    /// Replaces the content by these records, of one part or of [`PARTS`], if they are valid;
    /// `length` returns the length of the packed configuration at the start of some bytes, if there
    /// is one.
    pub fn set_records(
        &mut self,
        records: &[Vec<u8>],
        length: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<bool, Unknown> {
        let reach = match records.len() {
            1 => ROOT,
            PARTS => 1 << BITS,
            _ => return Ok(false),
        };
        let mut parts = Vec::with_capacity(records.len());
        for (part, bytes) in records.iter().enumerate() {
            let mut store = Store::new(&self.storage, reach);
            let belongs = |bytes: &[u8]| {
                let length = length(bytes)?;
                let hash = store::hash(bytes.get(..length)?);
                (Shards::part_of(records.len(), hash) == part).then_some(length)
            };
            if !store.set_records(bytes, belongs)? {
                return Ok(false);
            }
            parts.push(store);
        }
        self.parts = parts;
        Ok(self.ids().all(|id| self.parent(id).is_none_or(|parent| self.reaches(parent))))
    }

    /// Returns whether an id is within its part.
    pub fn reaches(&self, id: Id) -> bool {
        let (part, at) = self.locate(id);
        (at as usize) < part.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::pack::Packer;

    /// Builds a chain of configurations, each found from the one before.
    fn chain(store: &mut Shards, numbers: std::ops::Range<u32>, mut last: Id) -> Vec<Id> {
        let mut packer = Packer::default();
        let mut ids = Vec::new();
        for i in numbers {
            let packed = packer.pack(i % 7, &[(i / 7, 1), (i / 7 + 3, i % 3 + 1)]);
            let hash = store::hash(packed);
            assert!(!store.contains(packed, hash));
            last = store.insert(packed, hash, last).expect("there is room").expect("it is new");
            assert!(store.contains(packed, hash) && store.packed(last).starts_with(packed));
            ids.push(last);
        }
        ids
    }

    fn configurations(store: &Shards) -> Vec<Vec<u8>> {
        let bytes = |id| store.packed(id)[..pack::length(store.packed(id))].to_vec();
        let mut all: Vec<_> = store.ids().map(bytes).collect();
        all.sort();
        all
    }

    #[test]
    fn a_store_that_is_spread_holds_the_same() {
        let mut store = Shards::new(&None);
        let ids = chain(&mut store, 0..3000, ROOT);
        assert_eq!(store.ids().collect::<Vec<_>>(), ids, "one part is in order");
        let before = configurations(&store);
        let end = store.ends()[0];
        let [none, half, whole] = store.spread([0, ids[1500] as usize, end]).expect("there is room");
        assert_eq!((store.parts(), store.len()), (PARTS, 3000));
        assert_eq!(configurations(&store), before);
        assert!(none.iter().all(|&at| at == 0) && whole == store.ends());
        // Half of the configurations are before the second boundary, and so are their predecessors.
        let at = |id: Id| ((id >> BITS) as usize, (id & ((1 << BITS) - 1)) as usize);
        let early: Vec<Id> = store.ids().filter(|&id| at(id).1 < half[at(id).0]).collect();
        assert_eq!(early.len(), 1500);
        assert!(early.iter().filter_map(|&id| store.parent(id)).all(|id| early.contains(&id)));
        assert!(half.iter().all(|&at| at > 0), "every part has some");
        // The chain can be followed backwards as before, and extended.
        let last =
            store.ids().max_by_key(|&id| std::iter::successors(Some(id), |&id| store.parent(id)).count());
        let last = last.expect("there is one");
        assert_eq!(std::iter::successors(Some(last), |&id| store.parent(id)).count(), 3000);
        chain(&mut store, 3000..4000, last);
        let mut shares: Vec<Id> = (0..3).flat_map(|worker| store.share(worker, 3)).collect();
        let mut all: Vec<Id> = store.ids().collect();
        shares.sort_unstable();
        all.sort_unstable();
        assert_eq!(shares, all);
        assert!(store.share(0, 3).count() > 1000 && store.share(2, 3).count() > 1000);
        assert_eq!((store.len(), store.ids().count()), (4000, 4000));
        assert_eq!(store.footprint().configurations, 4000);
    }

    #[test]
    fn records_come_back_and_others_are_refused() {
        let length = |bytes: &[u8]| pack::checked_length(bytes, 10, 1 << 20);
        for spread in [false, true] {
            let mut store = Shards::new(&None);
            chain(&mut store, 0..500, ROOT);
            if spread {
                store.spread([]).expect("there is room");
            }
            let records: Vec<Vec<u8>> = store.records().map(<[u8]>::to_vec).collect();
            let mut back = Shards::new(&None);
            assert_eq!(back.set_records(&records, length), Ok(true));
            assert_eq!(configurations(&back), configurations(&store));
            assert!(back.ids().all(|id| back.parent(id) == store.parent(id)));
            // A predecessor out of range, too few parts, a record in the wrong part, a truncated
            // record.
            let refused = |records: &[Vec<u8>]| {
                let mut back = Shards::new(&None);
                back.set_records(records, length) == Ok(false)
            };
            let mut broken = records.clone();
            broken[0][..4].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
            assert!(refused(&broken));
            assert!(refused(&[records.clone(), records.clone()].concat()[..records.len() + 1]));
            let mut broken = records.clone();
            broken.last_mut().expect("one part at least").pop();
            assert!(refused(&broken));
            let mut broken = records.clone();
            broken.reverse();
            assert_eq!(refused(&broken), spread);
        }
    }
}
