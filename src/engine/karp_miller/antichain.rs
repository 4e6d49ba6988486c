//! The maximal labels discovered so far (STAR 3.3.2.1), indexed by what a label that covers another must have.
//!
//! Invariant: every label ever discovered is covered by a listed one, and no listed label covers another.
//!
//! What covers a label has all its local states: so it is looked for among the labels that have the rarest of them. What a label
//! covers has no others: so each listed label is *at home* in the rarest of its local states, and those at home in the local states of
//! the new label are looked at. Signatures and sizes refute most of what remains.
//!
//! Where words stand for sets, a local state may be covered by one that it is a part of ([`Steps::covers`]). Both have the same class, so
//! that all of this is done with classes instead of local states; for plain states that is the same.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::steps::Steps;
use super::tree::{Listed, NodeId, Tree};
use super::vector::{Entry, Signature};

/// A shared state and a class of local states; or [`NOWHERE`], for labels without threads.
type Key = (u32, u32);

const NOWHERE: u32 = u32::MAX;

/// The maximal labels.
#[derive(Debug, Default)]
pub struct Antichain {
    /// For each class, the labels that have it. Some may be covered by now; they do no harm, and go when the list is to grow.
    having: FxHashMap<Key, Vec<NodeId>>,
    /// Every maximal label once.
    home: FxHashMap<Key, Vec<Listed>>,
    /// The last label of each hash, since most labels that are covered are covered by themselves.
    same: FxHashMap<u64, NodeId>,
    size: usize,
    comparisons: u64,
    looked_at: u64,
}

impl Antichain {
    /// Whether some label covers this one.
    pub fn covers(
        &mut self,
        tree: &Tree,
        steps: &Steps<'_>,
        shared: u32,
        signature: Signature,
        counts: &[Entry],
    ) -> bool {
        let same = self.same.get(&hash(shared, counts)).map(|&n| tree.node(n));
        if same.is_some_and(|n| n.shared == shared && *n.counts == *counts) {
            return true;
        }
        let Some(list) = self.having.get_mut(&rarest(&self.having, steps, shared, counts)) else {
            return false;
        };
        let found = list.iter().position(|&m| {
            signature.may_be_below(tree.node(m).signature) && {
                self.comparisons += 1;
                steps.covers(tree.counts(m), counts)
            }
        });
        self.looked_at += found.map_or(list.len(), |i| i + 1) as u64;
        if let Some(i) = found {
            // What covers once covers often: keep it near the front.
            list.swap(i, i / 2);
        }
        found.is_some()
    }

    /// Lists a label that none covers, and returns the nodes whose labels it covers, which are no longer listed.
    pub fn insert(&mut self, tree: &Tree, steps: &Steps<'_>, new: NodeId) -> Vec<NodeId> {
        let node = tree.node(new);
        let mut dropped = Vec::new();
        for class in classes(steps, &node.counts) {
            let Some(list) = self.home.get_mut(&(node.shared, class)) else { continue };
            self.looked_at += list.len() as u64;
            list.retain(|m| {
                let below = m.signature.may_be_below(node.signature) && {
                    self.comparisons += 1;
                    steps.covers(&node.counts, tree.counts(m.node))
                };
                if below {
                    dropped.push(m.node);
                }
                !below
            });
        }
        self.size = self.size + 1 - dropped.len();
        self.list(tree, steps, new);
        dropped
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
        self.home.values().flatten().map(|m| m.node)
    }

    fn list(&mut self, tree: &Tree, steps: &Steps<'_>, new: NodeId) {
        let node = tree.node(new);
        let home = rarest(&self.having, steps, node.shared, &node.counts);
        self.home.entry(home).or_default().push(Listed { signature: node.signature, node: new });
        for class in classes(steps, &node.counts) {
            let list = self.having.entry((node.shared, class)).or_default();
            if class == NOWHERE {
                // Only asked whether there is any.
                list.truncate(0);
            } else if list.len() == list.capacity() {
                list.retain(|&m| !tree.node(m).dominated);
            }
            list.push(new);
        }
        self.same.insert(hash(node.shared, &node.counts), new);
    }
}

/// The classes of a label, and that of labels without threads.
fn classes(steps: &Steps<'_>, counts: &[Entry]) -> Vec<u32> {
    let mut classes: Vec<u32> = counts.iter().map(|e| steps.class(e.0)).chain([NOWHERE]).collect();
    if steps.has_sets() {
        classes.sort_unstable();
        classes.dedup();
    }
    classes
}

/// The class that the fewest labels have.
fn rarest(having: &FxHashMap<Key, Vec<NodeId>>, steps: &Steps<'_>, shared: u32, counts: &[Entry]) -> Key {
    let rarity = |class: &u32| having.get(&(shared, *class)).map_or(0, Vec::len);
    (shared, counts.iter().map(|e| steps.class(e.0)).min_by_key(rarity).unwrap_or(NOWHERE))
}

fn hash(shared: u32, counts: &[Entry]) -> u64 {
    let mut hasher = FxHasher::default();
    (shared, counts).hash(&mut hasher);
    hasher.finish()
}
