//! Configurations in few bytes: how a search stores very many of them, and how what it stored is evidence without a second copy.

pub mod pack;
pub mod store;

use std::fmt;

use rustc_hash::FxHashMap;

use self::pack::{Packer, Unpacked};
use self::store::{Id, Store};
use crate::{Config, Local, Shared};

/// A set of configurations as a search stored them.
///
/// Nothing about the search has to be believed: the set is what [`Packed::iter`] lists, and [`Finder::holds`] finds only what was stored, because a [`Store`] is filled by
/// [`Store::insert`] alone.
pub struct Packed {
    store: Store,
    /// The states by their numbers.
    shared: Vec<Shared>,
    locals: Vec<Local>,
    /// Closed only under the steps of a thread that may go first ([`crate::partial_order`]) where there is one.
    pub reduced: bool,
}

impl Packed {
    /// The configurations of a store over these states, all different.
    pub fn new(store: Store, shared: Vec<Shared>, locals: Vec<Local>, reduced: bool) -> Packed {
        Packed { store, shared, locals, reduced }
    }

    /// How many configurations there are.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every configuration, in the order in which they were stored.
    pub fn iter(&self) -> impl Iterator<Item = Config> {
        let (mut at, mut unpacked) = (0, Unpacked::default());
        std::iter::from_fn(move || {
            if at >= self.store.end() {
                return None;
            }
            let length = unpacked.read(self.store.packed(at as Id));
            at = Store::after(at as Id, length);
            let threads = unpacked.entries.iter().map(|&(l, n)| (self.locals[l as usize], n));
            Some(Config::new(self.shared[unpacked.shared as usize], threads.collect()))
        })
    }

    /// A way to look configurations up.
    pub fn finder(&self) -> Finder<'_> {
        Finder {
            set: self,
            shared_ids: self.shared.iter().zip(0..).map(|(&s, id)| (s, id)).collect(),
            local_ids: self.locals.iter().zip(0..).map(|(&l, id)| (l, id)).collect(),
            packer: Packer::default(),
            entries: Vec::new(),
        }
    }
}

/// Looks configurations up in a set.
pub struct Finder<'a> {
    set: &'a Packed,
    /// The numbers of states.
    shared_ids: FxHashMap<Shared, u32>,
    local_ids: FxHashMap<Local, u32>,
    packer: Packer,
    entries: Vec<(u32, u32)>,
}

impl Finder<'_> {
    /// Whether the set holds a configuration.
    pub fn holds(&mut self, config: &Config) -> bool {
        let Finder { set, shared_ids, local_ids, packer, entries } = self;
        entries.clear();
        for &(l, n) in config.threads.entries() {
            let Some(&id) = local_ids.get(&l) else { return false };
            entries.push((id, n));
        }
        entries.sort_unstable();
        let Some(&shared) = shared_ids.get(&config.shared) else { return false };
        let packed = packer.pack(shared, entries);
        set.store.contains(packed, store::hash(packed))
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
