//! What an expression consists of, in an order of evaluation.

use std::collections::BTreeSet;

use crate::graph::Graph;
use crate::node::{Node, NodeId};

/// A node of an expression, with the number of places that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The node.
    pub id: NodeId,
    /// How many operands of the expression it is; the root counts as one more.
    pub uses: usize,
}

impl Graph {
    /// The nodes of the expression `root`, each after its operands.
    pub fn schedule(&self, root: NodeId) -> Vec<Scheduled> {
        let nodes = self.reached(root);
        let mut uses = vec![0; nodes.len()];
        let place = |id: NodeId| nodes.binary_search(&id).expect("operands are reached");
        for id in &nodes {
            self.node(*id).operands().for_each(|operand| uses[place(operand)] += 1);
        }
        uses[place(root)] += 1;
        nodes.iter().zip(uses).map(|(&id, uses)| Scheduled { id, uses }).collect()
    }

    /// The indices of the inputs in the expression `root`, ascending.
    pub fn mentions(&self, root: NodeId) -> Vec<u16> {
        let inputs = self.reached(root).into_iter().filter_map(|id| match self.node(id) {
            Node::Input(index) => Some(index),
            _ => None,
        });
        inputs.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The nodes of the expression `root`, ascending: each after its operands.
    pub(crate) fn reached(&self, root: NodeId) -> Vec<NodeId> {
        let (mut reached, mut open) = (BTreeSet::from([root]), vec![root]);
        while let Some(id) = open.pop() {
            open.extend(self.node(id).operands().filter(|operand| reached.insert(*operand)));
        }
        reached.into_iter().collect()
    }
}
