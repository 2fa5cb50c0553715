//! [`Node`]: an expression whose operands are other nodes.

use crate::function::{Binary, Ternary, Unary};

/// A node of one [`Graph`](crate::Graph). The operands of a node have smaller ids, so the order of ids is an order of
/// evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// True or false.
    Bool,
    /// Real numbers. The owner of the graph numbers the real types that occur.
    Real(u8),
    /// An integer, or an element that is only moved: no derivative passes.
    Other,
}

/// An `f64` that is equal to another if the bits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number(u64);

impl Number {
    /// `value` as a node has it.
    pub fn new(value: f64) -> Self {
        Self(value.to_bits())
    }

    /// The number.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// An expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A variable by which the expression can be differentiated.
    Input(u16),
    /// Something of the owner's that depends on no input: an argument, a constant.
    Leaf(u16),
    /// A number, rounded to the node's type.
    Constant(Number),
    /// A value of another real type, converted to the node's type.
    Convert(NodeId),
    /// A function or an operator of one operand.
    Unary(Unary, NodeId),
    /// An integer power.
    Powi(NodeId, i32),
    /// A function or an operator of two operands.
    Binary(Binary, NodeId, NodeId),
    /// A function of three operands.
    Ternary(Ternary, NodeId, NodeId, NodeId),
    /// The second operand if the first is true, else the third.
    Select(NodeId, NodeId, NodeId),
}

impl Node {
    /// The operands, in order.
    pub fn operands(self) -> impl Iterator<Item = NodeId> {
        let operands = match self {
            Self::Input(_) | Self::Leaf(_) | Self::Constant(_) => [None; 3],
            Self::Convert(a) | Self::Unary(_, a) | Self::Powi(a, _) => [Some(a), None, None],
            Self::Binary(_, a, b) => [Some(a), Some(b), None],
            Self::Ternary(_, a, b, c) | Self::Select(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }
}
