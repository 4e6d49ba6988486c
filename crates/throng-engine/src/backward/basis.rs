//! Minimal elements of an upward-closed set.
//!
//! Elements are grouped by shared state; two are compared only if their sizes and a 64-bit
//! signature of the classes of their threads fit, which excludes nearly all pairs.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use throng_model::{Config, Model, Shared};

/// A set of configurations none of which surely covers another.
pub struct Basis<'a> {
    model: &'a dyn Model,
    groups: IndexMap<Shared, Vec<Element>, FxBuildHasher>,
    len: usize,
}

struct Element {
    config: Config,
    node: usize,
    size: u32,
    signature: u64,
}

impl<'a> Basis<'a> {
    /// Creates the empty set.
    pub fn new(model: &'a dyn Model) -> Basis<'a> {
        Basis { model, groups: IndexMap::default(), len: 0 }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether every concrete configuration of `config` is above some element.
    pub fn is_above(&self, config: &Config) -> bool {
        let (size, signature) = (config.threads.size(), self.signature(config));
        let covers = |e: &Element| {
            e.size <= size && e.signature & !signature == 0 && config.surely_covers(&e.config, self.model)
        };
        if self.model.is_exact() {
            return self.groups.get(&config.shared).is_some_and(|group| group.iter().any(covers));
        }
        let wider = self.groups.iter().filter(|g| self.model.within_shared(config.shared, *g.0));
        wider.flat_map(|g| g.1).any(covers)
    }

    /// Removes the element of a node.
    pub fn remove(&mut self, config: &Config, node: usize) {
        if let Some(group) = self.groups.get_mut(&config.shared)
            && let Some(i) = group.iter().position(|e| e.node == node)
        {
            group.swap_remove(i);
            self.len -= 1;
        }
    }

    /// Adds an element that is above no other, removes those above it, and returns their nodes.
    pub fn insert(&mut self, config: &Config, node: usize) -> Vec<usize> {
        let element = Element {
            size: config.threads.size(),
            signature: self.signature(config),
            config: config.clone(),
            node,
        };
        let mut removed = Vec::new();
        let model = self.model;
        let is_above = |e: &Element| {
            element.size <= e.size
                && element.signature & !e.signature == 0
                && e.config.surely_covers(&element.config, model)
        };
        let mut sweep = |group: &mut Vec<Element>| {
            group.retain(|e| {
                let above = is_above(e);
                if above {
                    removed.push(e.node);
                }
                !above
            });
        };
        if model.is_exact() {
            self.groups.get_mut(&config.shared).into_iter().for_each(&mut sweep);
        } else {
            let narrower = self.groups.iter_mut().filter(|g| model.within_shared(*g.0, config.shared));
            narrower.for_each(|g| sweep(g.1));
        }
        self.len = self.len + 1 - removed.len();
        self.groups.entry(config.shared).or_default().push(element);
        removed
    }

    /// Returns the elements.
    pub fn into_elements(self) -> Vec<Config> {
        self.groups.into_values().flatten().map(|e| e.config).collect()
    }

    fn signature(&self, config: &Config) -> u64 {
        config.threads.entries().iter().fold(0, |bits, &(l, _)| {
            let class = self.model.local_class(l).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bits | 1 << (class >> 58)
        })
    }
}
