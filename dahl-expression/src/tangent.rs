//! Derivatives of expressions, in forward mode: from the inputs to the root, by the chain rule.

use std::collections::HashMap;

use crate::function::{Binary, Ternary};
use crate::graph::Graph;
use crate::node::{Node, NodeId, Type};

/// The derivatives of the operands of a node; none is 0.
pub(crate) type Tangent = Option<NodeId>;

impl Graph {
    /// The derivative of the expression `root` by an input, as an expression of this graph; none if it is 0 everywhere.
    ///
    /// A selection stays a selection: where a side is not taken, its derivative is not computed with. README.md lists the
    /// values where there is no derivative.
    pub fn tangent(&mut self, root: NodeId, input: u16) -> Option<NodeId> {
        let mut tangents: HashMap<NodeId, NodeId> = HashMap::new();
        for id in self.reached(root) {
            if let Type::Real(_) = self.ty(id)
                && let Some(tangent) = self.tangent_of(id, input, &tangents)
                && !self.is(tangent, 0.0)
            {
                tangents.insert(id, tangent);
            }
        }
        tangents.get(&root).copied()
    }

    fn tangent_of(&mut self, id: NodeId, input: u16, tangents: &HashMap<NodeId, NodeId>) -> Tangent {
        let of = |operand: NodeId| tangents.get(&operand).copied();
        match self.node(id) {
            Node::Input(index) => (index == input).then(|| self.constant(1.0, self.ty(id))),
            Node::Leaf(_) | Node::Constant(_) => None,
            Node::Convert(a) => of(a).map(|tangent| self.convert(tangent, self.ty(id))),
            Node::Unary(function, a) => {
                let tangent = of(a)?;
                self.unary_rule(function, id, a, tangent)
            }
            Node::Powi(a, exponent) => {
                let tangent = of(a)?;
                let derivative = self.powi_rule(id, a, exponent);
                Some(self.binary(Binary::Mul, derivative, tangent))
            }
            Node::Binary(function, a, b) => match (of(a), of(b)) {
                (None, None) => None,
                tangents => self.binary_rule(function, id, (a, b), tangents),
            },
            Node::Ternary(function, a, b, c) => match [of(a), of(b), of(c)] {
                [None, None, None] => None,
                tangents => match function {
                    Ternary::Clamp => Some(self.clamp_rule([a, b, c], tangents)),
                    Ternary::MulAdd => {
                        let product = self.product_rule((a, b), (tangents[0], tangents[1]));
                        self.added(product, tangents[2])
                    }
                },
            },
            Node::Select(condition, a, b) => match (of(a), of(b)) {
                (None, None) => None,
                (then, otherwise) => {
                    let [then, otherwise] = [then, otherwise].map(|side| self.or_zero(side, self.ty(id)));
                    Some(self.select(condition, then, otherwise))
                }
            },
        }
    }

    /// The tangent, or the constant 0.
    pub(crate) fn or_zero(&mut self, tangent: Tangent, ty: Type) -> NodeId {
        tangent.unwrap_or_else(|| self.constant(0.0, ty))
    }

    /// The sum of two tangents.
    pub(crate) fn added(&mut self, a: Tangent, b: Tangent) -> Tangent {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.binary(Binary::Add, a, b)),
            (one, other) => one.or(other),
        }
    }

    /// The tangent of `a * b`.
    pub(crate) fn product_rule(
        &mut self,
        (a, b): (NodeId, NodeId),
        (by_a, by_b): (Tangent, Tangent),
    ) -> Tangent {
        let left = by_a.map(|tangent| self.binary(Binary::Mul, tangent, b));
        let right = by_b.map(|tangent| self.binary(Binary::Mul, a, tangent));
        self.added(left, right)
    }
}
