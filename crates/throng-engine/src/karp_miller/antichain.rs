//! The maximal labels discovered so far (STAR 3.3.2.1), indexed by local states that a covering
//! label must have.
//!
//! Invariant: every label ever discovered is covered by a listed one, and no listed label covers
//! another.
//!
//! A label that covers another has all its local states, so it is among the labels that have the
//! rarest of them. A covered label has no other local states: so each listed label is *at home* in
//! the rarest of its local states, and only the labels at home in the local states of the new label
//! are compared. Signatures and sizes refute most of the remaining pairs.
//!
//! Where states stand for sets, a local state may be covered by one that it is a part of
//! ([`Steps::covers`]): then labels with these are compared, too.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::steps::Steps;
use super::tree::{Listed, NodeId, Tree};
use super::vector::{Entry, Signature};

/// A shared state and a local state; or [`NOWHERE`], for labels without threads.
type Key = (u32, u32);

const NOWHERE: u32 = u32::MAX;

/// The maximal labels.
#[derive(Debug, Default)]
pub struct Antichain {
    /// For each local state, the labels that have it. Some may be covered by now; they do no harm,
    /// and are removed when the list would grow.
    having: FxHashMap<Key, Vec<NodeId>>,
    /// Every maximal label once.
    home: FxHashMap<Key, Vec<Listed>>,
    /// The last label with each hash: most covered labels are covered by an equal one.
    same: FxHashMap<u64, NodeId>,
    size: usize,
    comparisons: u64,
    looked_at: u64,
}

impl Antichain {
    /// Returns whether some label covers this one.
    pub fn covers(
        &mut self,
        tree: &Tree,
        steps: &Steps,
        shared: u32,
        signature: Signature,
        counts: &[Entry],
    ) -> bool {
        let same = self.same.get(&hash(shared, counts)).map(|&n| tree.node(n));
        if same.is_some_and(|n| n.shared == shared && *n.counts == *counts) {
            return true;
        }
        // A label that covers this one has the rarest of its local states, or one that this is a
        // part of.
        let l = rarest(&self.having, steps, shared, counts);
        if l == NOWHERE {
            return self.having.contains_key(&(shared, NOWHERE));
        }
        [l].iter().chain(steps.above(l)).any(|&l| self.covers_at((shared, l), tree, steps, signature, counts))
    }

    /// Returns whether some label with this local state covers the given one.
    fn covers_at(
        &mut self,
        key: Key,
        tree: &Tree,
        steps: &Steps,
        signature: Signature,
        counts: &[Entry],
    ) -> bool {
        let Some(list) = self.having.get_mut(&key) else { return false };
        let found = list.iter().position(|&m| {
            signature.may_be_below(tree.node(m).signature) && {
                self.comparisons += 1;
                steps.covers(tree.counts(m), counts)
            }
        });
        self.looked_at += found.map_or(list.len(), |i| i + 1) as u64;
        if let Some(i) = found {
            // A label that covers once covers often, so it moves to the front.
            list.swap(i, i / 2);
        }
        found.is_some()
    }

    /// Lists a label that no other covers. Returns the nodes whose labels it covers, which are no
    /// longer listed.
    pub fn insert(&mut self, tree: &Tree, steps: &Steps, new: NodeId) -> Vec<NodeId> {
        let node = tree.node(new);
        let mut dropped = Vec::new();
        let locals = node.counts.iter().map(|e| e.0);
        for l in locals.flat_map(|l| [l].into_iter().chain(steps.below(l).iter().copied())).chain([NOWHERE]) {
            let Some(list) = self.home.get_mut(&(node.shared, l)) else { continue };
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

    /// Returns the number of listed labels.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of pairs of labels that were compared in full.
    pub fn comparisons(&self) -> u64 {
        self.comparisons
    }

    /// Returns the number of labels that were considered, compared or not.
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// Returns the listed nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.home.values().flatten().map(|m| m.node)
    }

    /// Restores the antichain of an earlier process: the nodes of the tree that no other dominates,
    /// and its statistics.
    pub fn of_earlier(tree: &Tree, steps: &Steps, comparisons: u64, looked_at: u64) -> Antichain {
        let mut antichain = Antichain { comparisons, looked_at, ..Antichain::default() };
        for (node, _) in tree.nodes().iter().enumerate().filter(|(_, n)| !n.dominated) {
            antichain.list(tree, steps, node as NodeId);
            antichain.size += 1;
        }
        antichain
    }

    fn list(&mut self, tree: &Tree, steps: &Steps, new: NodeId) {
        let node = tree.node(new);
        let home = rarest(&self.having, steps, node.shared, &node.counts);
        self.home
            .entry((node.shared, home))
            .or_default()
            .push(Listed { signature: node.signature, node: new });
        for l in node.counts.iter().map(|e| e.0).chain([NOWHERE]) {
            let list = self.having.entry((node.shared, l)).or_default();
            if l == NOWHERE {
                // One is enough: every label covers one without threads.
                list.truncate(0);
            } else if list.len() == list.capacity() {
                list.retain(|&m| !tree.node(m).dominated);
            }
            list.push(new);
        }
        self.same.insert(hash(node.shared, &node.counts), new);
    }
}

/// Returns the local state that the fewest labels have, counting those that it is a part of.
fn rarest(having: &FxHashMap<Key, Vec<NodeId>>, steps: &Steps, shared: u32, counts: &[Entry]) -> u32 {
    let many = |l: u32| having.get(&(shared, l)).map_or(0, Vec::len);
    let rarity = |l: &u32| many(*l) + steps.above(*l).iter().map(|&l| many(l)).sum::<usize>();
    counts.iter().map(|e| e.0).min_by_key(rarity).unwrap_or(NOWHERE)
}

fn hash(shared: u32, counts: &[Entry]) -> u64 {
    let mut hasher = FxHasher::default();
    (shared, counts).hash(&mut hasher);
    hasher.finish()
}
