//! The maximal labels discovered so far, by shared state (STAR 3.3.2.1).
//!
//! Invariant: every label ever discovered is covered by a listed one, and no listed label covers another.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::tree::{Listed, NodeId, Tree};
use super::vector::{Entry, Signature, covers};

/// The maximal labels.
#[derive(Debug, Default)]
pub struct Antichain {
    by_shared: Vec<Vec<Listed>>,
    /// Listed labels by their hash, since most labels that are covered are covered by themselves; the last one of each hash.
    same: FxHashMap<u64, NodeId>,
    size: usize,
    comparisons: u64,
    looked_at: u64,
}

impl Antichain {
    /// Whether some label covers this one.
    pub fn covers(&mut self, tree: &Tree, shared: u32, signature: Signature, counts: &[Entry]) -> bool {
        let Some(list) = self.by_shared.get_mut(shared as usize) else { return false };
        let same = self.same.get(&hash(shared, counts)).map(|&n| tree.node(n));
        if same.is_some_and(|n| n.shared == shared && *n.counts == *counts) {
            return true;
        }
        let above = |m: &Listed| {
            signature.may_be_below(m.signature) && {
                self.comparisons += 1;
                covers(tree.counts(m.node), counts)
            }
        };
        let found = list.iter().position(above);
        self.looked_at += found.map_or(list.len(), |i| i + 1) as u64;
        if let Some(i) = found {
            // What covers once covers often: keep it near the front.
            list.swap(i, i / 2);
        }
        found.is_some()
    }

    /// Lists a label that none covers; shows the nodes whose labels it covers, which are no longer listed, to `dropped`.
    pub fn insert(
        &mut self,
        tree: &Tree,
        shared: u32,
        new: Listed,
        counts: &[Entry],
        mut dropped: impl FnMut(NodeId),
    ) {
        if self.by_shared.len() <= shared as usize {
            self.by_shared.resize_with(shared as usize + 1, Vec::new);
        }
        let list = &mut self.by_shared[shared as usize];
        let before = list.len();
        self.looked_at += before as u64;
        list.retain(|m| {
            let below = m.signature.may_be_below(new.signature) && {
                self.comparisons += 1;
                covers(counts, tree.counts(m.node))
            };
            if below {
                dropped(m.node);
            }
            !below
        });
        list.push(new);
        self.same.insert(hash(shared, counts), new.node);
        self.size = self.size + list.len() - before;
    }

    /// How many labels are listed.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many pairs of labels were compared in full.
    pub fn comparisons(&self) -> u64 {
        self.comparisons
    }

    /// How many labels were looked at, compared or not.
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// The nodes listed.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.by_shared.iter().flatten().map(|m| m.node)
    }
}

fn hash(shared: u32, counts: &[Entry]) -> u64 {
    let mut hasher = FxHasher::default();
    (shared, counts).hash(&mut hasher);
    hasher.finish()
}
