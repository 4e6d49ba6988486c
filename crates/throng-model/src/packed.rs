//! Compact storage of configurations: a search stores very many of them, and its store is evidence
//! without a second copy.

pub mod pack;
pub mod region;
pub mod shards;
pub mod store;

use std::fmt;

use rustc_hash::FxHashMap;

use self::pack::{Packer, Unpacked};
use self::shards::Shards;
use crate::{Config, Local, Shared};

/// A set of configurations as a search stored them.
///
/// The search need not be trusted: the set is what [`Packed::iter`] lists, and [`Finder::holds`]
/// finds only stored configurations, because the table of a [`store::Store`] refers to its records
/// alone, and these are listed.
pub struct Packed {
    store: Shards,
    /// The states by number.
    shared: Vec<Shared>,
    locals: Vec<Local>,
    /// True if the set is closed only under the steps of one thread that may go first
    /// ([`crate::partial_order`]), where there is one.
    pub reduced: bool,
}

impl Packed {
    /// Returns the set of the configurations in a store over these states, all different.
    pub fn new(store: Shards, shared: Vec<Shared>, locals: Vec<Local>, reduced: bool) -> Packed {
        Packed { store, shared, locals, reduced }
    }

    /// Returns the number of configurations.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over all configurations.
    pub fn iter(&self) -> impl Iterator<Item = Config> {
        self.share(0, 1)
    }

    /// Iterates over one worker's share of the configurations; the shares of all workers together
    /// are the set.
    pub fn share(&self, worker: usize, workers: usize) -> impl Iterator<Item = Config> {
        let mut unpacked = Unpacked::default();
        self.store.share(worker, workers).map(move |id| {
            unpacked.read(self.store.packed(id));
            let threads = unpacked.entries.iter().map(|&(l, n)| (self.locals[l as usize], n));
            Config::new(self.shared[unpacked.shared as usize], threads.collect())
        })
    }

    /// Returns a way to look up configurations.
    pub fn finder(&self) -> Finder<'_> {
        let numbering = Numbering {
            shared: self.shared.iter().zip(0..).map(|(&s, id)| (s, id)).collect(),
            locals: self.locals.iter().zip(0..).map(|(&l, id)| (l, id)).collect(),
            packer: Packer::default(),
            entries: Vec::new(),
        };
        Finder { set: self, numbering, bytes: Vec::new(), sought: Vec::new() }
    }
}

/// Looks configurations up in a set.
pub struct Finder<'a> {
    set: &'a Packed,
    numbering: Numbering,
    /// Packed forms of several configurations, one after another, each with its hash and its end.
    bytes: Vec<u8>,
    sought: Vec<(u64, usize)>,
}

impl Finder<'_> {
    /// Returns whether the set holds a configuration.
    pub fn holds(&mut self, config: &Config) -> bool {
        let packed = self.numbering.pack(config);
        packed.is_some_and(|packed| self.set.store.contains(packed, store::hash(packed)))
    }

    /// Returns the first of these configurations that the set does not hold. They are looked up
    /// together, so that the processor waits for memory once and not once for each.
    pub fn first_missing(&mut self, configs: &[Config]) -> Option<usize> {
        let Finder { set, numbering, bytes, sought } = self;
        bytes.clear();
        sought.clear();
        for (i, config) in configs.iter().enumerate() {
            let Some(packed) = numbering.pack(config) else { return Some(i) };
            bytes.extend_from_slice(packed);
            sought.push((store::hash(packed), bytes.len()));
        }
        set.store.fetch(sought.iter().map(|s| s.0));
        let mut start = 0;
        sought.iter().position(|&(hash, end)| {
            let packed = &bytes[std::mem::replace(&mut start, end)..end];
            !set.store.contains(packed, hash)
        })
    }
}

/// The numbers of states, and a packer that uses them.
struct Numbering {
    shared: FxHashMap<Shared, u32>,
    locals: FxHashMap<Local, u32>,
    packer: Packer,
    entries: Vec<(u32, u32)>,
}

impl Numbering {
    /// Packs a configuration; `None` if a state has no number.
    fn pack(&mut self, config: &Config) -> Option<&[u8]> {
        self.entries.clear();
        for (l, n) in config.threads.entries() {
            self.entries.push((*self.locals.get(l)?, *n));
        }
        self.entries.sort_unstable();
        Some(self.packer.pack(*self.shared.get(&config.shared)?, &self.entries))
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Packed) -> bool {
        self.reduced == other.reduced && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed").field("len", &self.len()).field("reduced", &self.reduced).finish()
    }
}
