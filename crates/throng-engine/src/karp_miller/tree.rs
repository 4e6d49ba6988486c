//! The nodes of the tree: labels and their origins.

use super::vector::{Entry, Signature};

/// The number of a node.
pub type NodeId = u32;

/// Stands for no parent.
pub const NONE: NodeId = u32::MAX;

/// One node.
#[derive(Debug)]
pub struct Node {
    /// The shared state of its label.
    pub shared: u32,
    /// The parent, or [`NONE`].
    pub parent: NodeId,
    /// The step that led here from the parent; for a root, the number of its initial family.
    pub step: u32,
    /// The vector of its label.
    pub counts: Box<[Entry]>,
    /// The signature of the label ([`super::steps::Steps::signature`]).
    pub signature: Signature,
    /// Its signature as a plain vector.
    pub plain: Signature,
    /// The ancestors against which it was accelerated, in this order.
    pub pumped: Box<[NodeId]>,
    /// True if some other node covers it: then its successors are not needed.
    pub dominated: bool,
}

/// All nodes.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Adds a node.
    pub fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as NodeId - 1
    }

    /// Returns a node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Returns the vector of a node.
    pub fn counts(&self, id: NodeId) -> &[Entry] {
        &self.nodes[id as usize].counts
    }

    /// Marks a node as covered by another one.
    pub fn dominate(&mut self, id: NodeId) {
        self.nodes[id as usize].dominated = true;
    }

    /// Drops the label of a node that neither the path nor the antichain needs any more.
    pub fn forget(&mut self, id: NodeId) {
        self.nodes[id as usize].counts = Box::default();
    }

    /// Returns all nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the nodes from the root to `id`.
    pub fn branch(&self, id: NodeId) -> Vec<NodeId> {
        let mut branch = vec![id];
        let mut at = self.node(id).parent;
        while at != NONE {
            branch.push(at);
            at = self.node(at).parent;
        }
        branch.reverse();
        branch
    }
}

/// A node as listed by the antichain, with the data that is compared first.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Its signature.
    pub signature: Signature,
    /// The node.
    pub node: NodeId,
}
