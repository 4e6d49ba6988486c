//! The path from the root to the node being explored, and accelerations against it (STAR 3.3.3).
//!
//! An ancestor that covers an earlier one can be skipped: the earlier one is smaller, so
//! accelerating against it gives ω at least wherever the later one would. Conversely, no node of
//! the path covers a *later* one: that would have been dropped when it was discovered. So the
//! minimal ancestors are those that cover none before them; along the path this set only grows, and
//! backtracking removes nodes from its end.

use rustc_hash::FxHashMap;

use super::tree::{Listed, NONE, NodeId, Tree};
use super::vector::{Entry, Signature, count, covers};
use throng_model::OMEGA;

/// Nodes by shared state, from the root down.
type Lists = Vec<Vec<Listed>>;

/// The path.
#[derive(Debug, Default)]
pub struct Path {
    nodes: Vec<OnPath>,
    minimal: Lists,
    /// All nodes by shared state, if they are needed.
    all: Option<Lists>,
    /// True to accelerate against all ancestors, not only the minimal ones.
    ask_all: bool,
    /// The position of each node on the path.
    depth: FxHashMap<NodeId, usize>,
}

#[derive(Debug)]
struct OnPath {
    node: NodeId,
    shared: u32,
    minimal: bool,
}

impl Path {
    /// Creates an empty path that accelerates against all ancestors or only the minimal ones, and
    /// can look up labels if `can_find`.
    pub fn new(ask_all: bool, can_find: bool) -> Path {
        Path { ask_all, all: (ask_all || can_find).then(Vec::new), ..Path::default() }
    }

    /// Appends a node.
    pub fn push(&mut self, tree: &Tree, node: NodeId) {
        let n = tree.node(node);
        let new = Listed { signature: n.plain, node };
        let list = list(&mut self.minimal, n.shared);
        let below = |a: &Listed| a.is_below(tree, new.signature, &n.counts);
        let minimal = !list.iter().any(below);
        if minimal {
            list.push(new);
        }
        if let Some(all) = &mut self.all {
            self::list(all, n.shared).push(new);
        }
        self.depth.insert(node, self.nodes.len());
        self.nodes.push(OnPath { node, shared: n.shared, minimal });
    }

    /// Removes and returns the last node.
    pub fn pop(&mut self) -> Option<NodeId> {
        let OnPath { node, shared, minimal } = self.nodes.pop()?;
        if minimal {
            self.minimal[shared as usize].pop();
        }
        if let Some(all) = &mut self.all {
            all[shared as usize].pop();
        }
        self.depth.remove(&node);
        Some(node)
    }

    /// Changes the path to the one from the root to `node`.
    pub fn switch(&mut self, tree: &Tree, node: NodeId) {
        let mut missing = vec![node];
        let mut at = tree.node(node).parent;
        while at != NONE && !self.depth.contains_key(&at) {
            missing.push(at);
            at = tree.node(at).parent;
        }
        let keep = self.depth.get(&at).map_or(0, |d| d + 1);
        while self.nodes.len() > keep {
            self.pop();
        }
        missing.into_iter().rev().for_each(|n| self.push(tree, n));
    }

    /// Puts ω wherever `counts`, a successor of the last node, has more threads than an ancestor
    /// that it covers, until nothing changes. Appends these ancestors to `pumped`.
    pub fn accelerate(
        &self,
        tree: &Tree,
        shared: u32,
        signature: &mut Signature,
        counts: &mut [Entry],
        pumped: &mut Vec<NodeId>,
    ) {
        let lists = if self.ask_all { self.all.as_ref() } else { None }.unwrap_or(&self.minimal);
        let Some(ancestors) = lists.get(shared as usize) else { return };
        let mut again = true;
        while again {
            again = false;
            let mut rest = ancestors.iter();
            // Signatures refute nearly all ancestors, so the loop over them does nothing else.
            loop {
                let now = *signature;
                let Some(ancestor) = rest.find(|a| a.is_below(tree, now, counts)) else { break };
                if pump(tree.counts(ancestor.node), counts) {
                    pumped.push(ancestor.node);
                    *signature = Signature::of(counts);
                    again = true;
                }
            }
        }
    }

    /// Returns whether some node of the path has exactly this label.
    pub fn has(&self, tree: &Tree, shared: u32, counts: &[Entry]) -> bool {
        let list = self.all.as_ref().and_then(|all| all.get(shared as usize));
        list.is_some_and(|list| list.iter().any(|a| tree.counts(a.node) == counts))
    }

    /// Returns whether a node is on the path.
    pub fn contains(&self, node: NodeId) -> bool {
        self.depth.contains_key(&node)
    }

    /// Returns the number of nodes on the path.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
}

/// Puts ω wherever `counts` has more threads than `below`. Returns whether that changed anything.
pub fn pump(below: &[Entry], counts: &mut [Entry]) -> bool {
    let mut changed = false;
    for entry in counts.iter_mut().filter(|e| e.1 != OMEGA) {
        if count(below, entry.0) < entry.1 {
            entry.1 = OMEGA;
            changed = true;
        }
    }
    changed
}

impl Listed {
    /// Returns whether `counts` covers the label of this node, which has the same shared state.
    fn is_below(&self, tree: &Tree, signature: Signature, counts: &[Entry]) -> bool {
        self.signature.may_be_below(signature) && covers(counts, tree.counts(self.node))
    }
}

fn list(lists: &mut Lists, shared: u32) -> &mut Vec<Listed> {
    if lists.len() <= shared as usize {
        lists.resize_with(shared as usize + 1, Vec::new);
    }
    &mut lists[shared as usize]
}
