//! [`Graph`]: the table of nodes, in which equal expressions are one node.

use std::collections::HashMap;

use crate::function::{Binary, Unary};
use crate::node::{Node, NodeId, Number, Type};

/// Expressions that share their parts.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<(Node, Type)>,
    known: HashMap<(Node, Type), NodeId>,
}

impl Graph {
    /// A graph without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The node of this id.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize].0
    }

    /// The type of the value.
    pub fn ty(&self, id: NodeId) -> Type {
        self.nodes[id.0 as usize].1
    }

    /// The input of this index, of this type.
    pub fn input(&mut self, index: u16, ty: Type) -> NodeId {
        self.intern(Node::Input(index), ty)
    }

    /// The owner's leaf of this index, of this type.
    pub fn leaf(&mut self, index: u16, ty: Type) -> NodeId {
        self.intern(Node::Leaf(index), ty)
    }

    /// A number of a real type.
    pub fn constant(&mut self, value: f64, ty: Type) -> NodeId {
        self.intern(Node::Constant(Number::new(value)), ty)
    }

    /// The node, if the graph has it.
    pub fn find(&self, node: Node, ty: Type) -> Option<NodeId> {
        self.known.get(&(node, ty)).copied()
    }

    /// The number of a constant.
    pub fn number(&self, id: NodeId) -> Option<f64> {
        match self.node(id) {
            Node::Constant(number) => Some(number.value()),
            _ => None,
        }
    }

    /// Whether the node is this constant.
    pub(crate) fn is(&self, id: NodeId, value: f64) -> bool {
        self.number(id) == Some(value)
    }

    /// The node, without simplification.
    pub(crate) fn intern(&mut self, node: Node, ty: Type) -> NodeId {
        let next = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        let id = *self.known.entry((node, ty)).or_insert(next);
        if id == next {
            self.nodes.push((node, ty));
        }
        id
    }

    /// The type of a function's result.
    pub(crate) fn unary_type(&self, function: Unary, operand: NodeId) -> Type {
        if function.is_predicate() { Type::Bool } else { self.ty(operand) }
    }

    /// The type of an operator's or a function's result.
    pub(crate) fn binary_type(&self, function: Binary, left: NodeId) -> Type {
        let is_bool = function.is_comparison() || matches!(function, Binary::And | Binary::Or);
        if is_bool { Type::Bool } else { self.ty(left) }
    }
}
