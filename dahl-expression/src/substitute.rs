//! Replaces a node of an expression.

use std::collections::HashMap;

use crate::graph::Graph;
use crate::node::{Node, NodeId};

impl Graph {
    /// The expression `root` with `to` in place of `from`, which has the same type.
    pub fn substitute(&mut self, root: NodeId, from: NodeId, to: NodeId) -> NodeId {
        let mut changed: HashMap<NodeId, NodeId> = HashMap::new();
        for id in self.reached(root) {
            let new = match self.node(id) {
                _ if id == from => to,
                Node::Input(_) | Node::Leaf(_) | Node::Constant(_) => id,
                node => self.apply(node, self.ty(id), |operand| changed[&operand]),
            };
            changed.insert(id, new);
        }
        changed[&root]
    }
}
