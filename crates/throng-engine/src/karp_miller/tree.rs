//! The nodes of the tree: labels, and how each came about.

use super::vector::{Entry, Signature};

/// The number of a node.
pub type NodeId = u32;

/// No parent.
pub const NONE: NodeId = u32::MAX;

/// One node.
#[derive(Debug)]
pub struct Node {
    /// The shared state of its label.
    pub shared: u32,
    /// The node it is a successor of, or [`NONE`].
    pub parent: NodeId,
    /// The step that led here from the parent; for a root, the number of its initial family.
    pub step: u32,
    /// The vector of its label.
    pub counts: Box<[Entry]>,
    /// The signature of that ([`super::steps::Steps::signature`]).
    pub signature: Signature,
    /// Its signature as a plain vector.
    pub plain: Signature,
    /// The ancestors against which it was accelerated, in this order.
    pub pumped: Box<[NodeId]>,
    /// Whether some other node covers it: then its successors are not needed.
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

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Its vector.
    pub fn counts(&self, id: NodeId) -> &[Entry] {
        &self.nodes[id as usize].counts
    }

    /// Notes that another node covers this one.
    pub fn dominate(&mut self, id: NodeId) {
        self.nodes[id as usize].dominated = true;
    }

    /// Forgets the label of a node that neither the path nor the antichain needs any more.
    pub fn forget(&mut self, id: NodeId) {
        self.nodes[id as usize].counts = Box::default();
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How many nodes there have been.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes from the root to `id`.
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

/// A node as the antichain lists it: what to look at first when comparing.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Its signature.
    pub signature: Signature,
    /// The node.
    pub node: NodeId,
}
