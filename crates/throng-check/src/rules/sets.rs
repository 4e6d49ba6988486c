//! Sets of configurations, with a membership test for configurations that may be sets themselves.
//!
//! A configuration is in a closed set if it is a member, in a downward set if it is below a member,
//! and in a basis if it is above one. Where states are sets, each concrete configuration must be in
//! the set, so it suffices that the whole is within a member, or that each of its parts is
//! ([`Parts`]). Comparisons are expensive, so members are indexed by keys that rule out most of
//! them.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::cubes::Parts;
use throng_model::{Config, Model};

/// The required relation of a configuration to a member.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Same,
    Below,
    Above,
}

/// A set of configurations.
pub(super) struct Set<'a> {
    model: &'a dyn Model,
    order: Order,
    members: FxHashSet<&'a Config>,
    /// Members by key, with their classes; a configuration is compared with those of its own key.
    near: FxHashMap<u64, Vec<(u64, &'a Config)>>,
    parts: Parts<'a>,
}

impl<'a> Set<'a> {
    pub(super) fn new(model: &'a dyn Model, members: &'a [Config], order: Order) -> Set<'a> {
        let mut set = Set {
            model,
            order,
            members: FxHashSet::default(),
            near: FxHashMap::default(),
            parts: Parts::new(model, || {
                let locals = members.iter().flat_map(|c| c.threads.entries().iter().map(|e| e.0));
                (members.iter().map(|c| c.shared).collect(), locals.collect())
            }),
        };
        set.members.extend(members);
        if order != Order::Same || !model.is_exact() {
            for config in members {
                let classes = set.classes(config);
                set.near.entry(set.key(config)).or_default().push((classes, config));
            }
        }
        set
    }

    /// Returns whether all of `config` is in the set.
    pub(super) fn holds(&self, config: &Config) -> bool {
        self.holds_or(config, &|_| false)
    }

    /// Returns whether each part of `config` is in the set, or satisfies `otherwise`.
    pub(super) fn holds_or(&self, config: &Config, otherwise: &dyn Fn(&Config) -> bool) -> bool {
        self.members.contains(config)
            || self.parts.pass(config, &mut |part| self.has(part) || otherwise(part))
    }

    fn has(&self, config: &Config) -> bool {
        let (mine, model) = (self.classes(config), self.model);
        let compares = |&&(theirs, member): &&(u64, &Config)| match self.order {
            Order::Same => mine == theirs && config.is_within(member, model),
            Order::Below => mine & !theirs == 0 && config.is_below(member, model),
            Order::Above => theirs & !mine == 0 && config.surely_covers(member, model),
        };
        self.near.get(&self.key(config)).is_some_and(|near| near.iter().any(|e| compares(&e)))
    }

    /// Returns a bit for every class of local states in the configuration; classes may share a bit.
    fn classes(&self, config: &Config) -> u64 {
        let bit = |l| 1 << (self.model.local_class(l).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
        config.threads.entries().iter().fold(0, |bits, e| bits | bit(e.0))
    }

    /// Returns a key that is the same for all configurations in relation: a hash of the number of
    /// threads in each class if counts must be the same, else the shared state if that is one
    /// state.
    fn key(&self, config: &Config) -> u64 {
        let hasher = BuildHasherDefault::<FxHasher>::default();
        match self.order {
            Order::Same => {
                let one = |&(l, n): &(_, u32)| {
                    hasher.hash_one(self.model.local_class(l)).wrapping_mul(u64::from(n))
                };
                config.threads.entries().iter().map(one).fold(0, u64::wrapping_add)
            }
            _ if self.model.is_exact() => config.shared.0,
            _ => 0,
        }
    }
}
