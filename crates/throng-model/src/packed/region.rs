//! Memory of a store: on the heap, or mapped, for example from a file.

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::verdict::Unknown;

/// A resizable block of bytes.
pub trait Mapping: Send + Sync + Debug {
    /// Returns all bytes.
    fn bytes(&self) -> &[u8];

    /// Returns all bytes, for writing.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Resizes it to this many bytes. The present content stays as far as it fits; added bytes are
    /// arbitrary.
    ///
    /// All bytes must be writable: lack of space is an error here, with a message, not a fault
    /// later.
    fn resize(&mut self, bytes: usize) -> Result<(), String>;
}

/// Creates mappings.
pub trait Mappings: Send + Sync + Debug {
    /// Creates an empty mapping.
    fn create(&self) -> Result<Box<dyn Mapping>, String>;
}

/// Where new regions are created; `None` for the heap.
pub type Storage = Option<Arc<dyn Mappings>>;

/// The bytes of a store.
#[derive(Debug)]
pub(super) enum Region {
    /// On the heap.
    Heap(Vec<u8>),
    /// Empty so far; a mapping is created when needed.
    Planned(Arc<dyn Mappings>),
    /// The first `used` bytes of a mapping.
    Mapped { mapping: Box<dyn Mapping>, used: usize },
}

/// Minimum growth of a mapping in bytes, so that it grows seldom.
const LEAST_GROWTH: usize = 64 << 10;

impl Default for Region {
    fn default() -> Region {
        Region::Heap(Vec::new())
    }
}

impl Region {
    /// Creates an empty region.
    pub(super) fn new(storage: &Storage) -> Region {
        storage.as_ref().map_or_else(Region::default, |mappings| Region::Planned(mappings.clone()))
    }

    /// Creates the mapping if one is planned.
    fn settle(&mut self) -> Result<(), Unknown> {
        if let Region::Planned(mappings) = self {
            *self = Region::Mapped { mapping: mappings.create().map_err(no_room)?, used: 0 };
        }
        Ok(())
    }

    /// Drops the bytes and keeps the memory.
    pub(super) fn clear(&mut self) {
        match self {
            Region::Heap(bytes) => bytes.clear(),
            Region::Planned(_) => {}
            Region::Mapped { used, .. } => *used = 0,
        }
    }

    /// Replaces the content by `length` bytes of one value. On the heap, the old bytes are freed
    /// first.
    pub(super) fn refill(&mut self, length: usize, byte: u8) -> Result<(), Unknown> {
        self.settle()?;
        match self {
            Region::Planned(_) => {}
            Region::Heap(bytes) => {
                *bytes = Vec::new();
                *bytes = vec![byte; length];
            }
            Region::Mapped { mapping, used } => {
                if mapping.bytes().len() < length {
                    mapping.resize(length).map_err(no_room)?;
                }
                *used = length;
                mapping.bytes_mut()[..length].fill(byte);
            }
        }
        Ok(())
    }

    /// Appends these bytes in order.
    #[inline]
    pub(super) fn append(&mut self, more: [&[u8]; 3]) -> Result<(), Unknown> {
        if let Region::Heap(bytes) = self {
            more.iter().for_each(|more| bytes.extend_from_slice(more));
            return Ok(());
        }
        self.settle()?;
        if let Region::Mapped { mapping, used } = self {
            let (there, wanted) =
                (mapping.bytes().len(), *used + more.iter().map(|more| more.len()).sum::<usize>());
            if wanted > there {
                mapping.resize(wanted.max(there + (there / 2).max(LEAST_GROWTH))).map_err(no_room)?;
            }
            let mut free = &mut mapping.bytes_mut()[*used..wanted];
            for more in more {
                let (here, rest) = free.split_at_mut(more.len());
                here.copy_from_slice(more);
                free = rest;
            }
            *used = wanted;
        }
        Ok(())
    }

    /// Returns the allocated bytes.
    pub(super) fn capacity(&self) -> usize {
        match self {
            Region::Heap(bytes) => bytes.capacity(),
            Region::Planned(_) => 0,
            Region::Mapped { mapping, .. } => mapping.bytes().len(),
        }
    }
}

impl Deref for Region {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Region::Heap(bytes) => bytes,
            Region::Planned(_) => &[],
            Region::Mapped { mapping, used } => &mapping.bytes()[..*used],
        }
    }
}

impl DerefMut for Region {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Region::Heap(bytes) => bytes,
            Region::Planned(_) => &mut [],
            Region::Mapped { mapping, used } => &mut mapping.bytes_mut()[..*used],
        }
    }
}

fn no_room(why: String) -> Unknown {
    Unknown::Inconclusive(format!("the store of configurations cannot grow: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::pack::Packer;
    use crate::packed::shards::Shards;
    use crate::packed::store::{ROOT, hash};

    /// Mappings of at most this many bytes.
    #[derive(Debug)]
    struct AtMost(usize);

    #[derive(Debug)]
    struct Bytes(Vec<u8>, usize);

    impl Mappings for AtMost {
        fn create(&self) -> Result<Box<dyn Mapping>, String> {
            if self.0 == 0 { Err("no file".into()) } else { Ok(Box::new(Bytes(Vec::new(), self.0))) }
        }
    }

    impl Mapping for Bytes {
        fn bytes(&self) -> &[u8] {
            &self.0
        }

        fn bytes_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }

        fn resize(&mut self, bytes: usize) -> Result<(), String> {
            if bytes > self.1 {
                return Err("the disk is full".into());
            }
            // Added bytes are arbitrary.
            self.0.resize(bytes, 0xa5);
            Ok(())
        }
    }

    fn fill(store: &mut Shards, numbers: std::ops::Range<u32>) -> Result<(), Unknown> {
        let mut packer = Packer::default();
        for i in numbers {
            let packed = packer.pack(i % 7, &[(i / 7, 1), (i / 7 + 3, i % 3 + 1)]);
            store.insert(packed, hash(packed), ROOT)?;
        }
        Ok(())
    }

    #[test]
    fn mapped_or_not_a_store_holds_the_same() {
        let mut mapped = Shards::new(&Some(Arc::new(AtMost(usize::MAX))));
        let mut heap = Shards::new(&None);
        for store in [&mut mapped, &mut heap] {
            fill(store, 0..20_000).expect("there is room");
            store.spread([]).expect("there is room");
            fill(store, 10_000..40_000).expect("there is room");
        }
        assert_eq!((mapped.len(), heap.len()), (40_000, 40_000));
        assert!(mapped.records().eq(heap.records()));
        mapped.clear();
        assert!(mapped.is_empty() && mapped.ids().next().is_none());
        fill(&mut mapped, 0..10).expect("there is room");
        assert_eq!(mapped.len(), 10);
    }

    #[test]
    fn a_store_that_cannot_grow_says_so() {
        let words = |failed: Result<(), Unknown>| match failed {
            Err(Unknown::Inconclusive(why)) => why,
            other => panic!("{other:?}"),
        };
        let mut none = Shards::new(&Some(Arc::new(AtMost(0))));
        assert_eq!(words(fill(&mut none, 0..1)), "the store of configurations cannot grow: no file");
        let mut small = Shards::new(&Some(Arc::new(AtMost(100_000))));
        let why = words(fill(&mut small, 0..100_000));
        assert_eq!(why, "the store of configurations cannot grow: the disk is full");
        // Everything stored before is still there.
        let kept = small.len();
        assert!(kept > 1000 && small.ids().count() == kept);
    }
}
