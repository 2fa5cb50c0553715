//! Copies an expression to another graph, whose owner may number inputs, leaves and types otherwise.

use std::collections::HashMap;

use crate::graph::Graph;
use crate::node::{Node, NodeId, Type};

impl Graph {
    /// The expression `root` of the graph `from` as an expression of this graph. `atom` gives the node in place of each
    /// input, leaf and constant, and `ty` the type in place of a type. None if one of them gives none.
    pub fn copy(
        &mut self,
        from: &Self,
        root: NodeId,
        mut atom: impl FnMut(&mut Self, Node, Type) -> Option<NodeId>,
        ty: impl Fn(Type) -> Option<Type>,
    ) -> Option<NodeId> {
        let mut copied: HashMap<NodeId, NodeId> = HashMap::new();
        for id in from.reached(root) {
            let node = from.node(id);
            let new_type = ty(from.ty(id))?;
            let new = match node {
                Node::Input(_) | Node::Leaf(_) | Node::Constant(_) => atom(self, node, new_type)?,
                _ => self.apply(node, new_type, |operand| copied[&operand]),
            };
            copied.insert(id, new);
        }
        Some(copied[&root])
    }

    /// The function of `node` applied to other operands, simplified. `ty` is the type of the result if it is a conversion.
    ///
    /// # Panics
    /// If the node has no operands.
    pub(crate) fn apply(&mut self, node: Node, ty: Type, of: impl Fn(NodeId) -> NodeId) -> NodeId {
        match node {
            Node::Input(_) | Node::Leaf(_) | Node::Constant(_) => panic!("{node:?} has no operands"),
            Node::Convert(a) => self.convert(of(a), ty),
            Node::Unary(function, a) => self.unary(function, of(a)),
            Node::Powi(a, exponent) => self.powi(of(a), exponent),
            Node::Binary(function, a, b) => self.binary(function, of(a), of(b)),
            Node::Ternary(function, a, b, c) => self.ternary(function, of(a), of(b), of(c)),
            Node::Select(condition, a, b) => self.select(of(condition), of(a), of(b)),
        }
    }
}
