//! Expressions as text: `input 0 real0; exp 0; * 0 1` is `x * exp(x)`.
//!
//! A node an item: the function, then the numbers of the items that are its operands. The last item is the expression.

use std::fmt::{self, Write as _};

use crate::function::{Binary, Ternary, Unary};
use crate::graph::Graph;
use crate::node::{Node, NodeId, Number, Type};

impl Graph {
    /// The expression `root` as text.
    pub fn to_text(&self, root: NodeId) -> String {
        let nodes = self.reached(root);
        let place = |id: NodeId| nodes.binary_search(&id).expect("operands are reached");
        let mut text = String::new();
        for (index, &id) in nodes.iter().enumerate() {
            let (node, ty) = (self.node(id), self.ty(id));
            let separator = if index == 0 { "" } else { "; " };
            let written = match node {
                Node::Input(index) => write!(text, "{separator}input {index} {ty}"),
                Node::Leaf(index) => write!(text, "{separator}leaf {index} {ty}"),
                Node::Constant(number) => write!(text, "{separator}number {:?} {ty}", number.value()),
                Node::Convert(a) => write!(text, "{separator}convert {} {ty}", place(a)),
                Node::Powi(a, exponent) => write!(text, "{separator}powi {} {exponent}", place(a)),
                Node::Unary(function, _) => write!(text, "{separator}{}", function.name()),
                Node::Binary(function, ..) => write!(text, "{separator}{}", function.name()),
                Node::Ternary(function, ..) => write!(text, "{separator}{}", function.name()),
                Node::Select(..) => write!(text, "{separator}if"),
            };
            written.expect("a string grows");
            if !matches!(node, Node::Convert(_) | Node::Powi(..)) {
                for operand in node.operands() {
                    write!(text, " {}", place(operand)).expect("a string grows");
                }
            }
        }
        text
    }

    /// The expression that `text` describes; none if it describes none. Nothing is simplified.
    pub fn of_text(&mut self, text: &str) -> Option<NodeId> {
        let mut items: Vec<NodeId> = Vec::new();
        for item in text.split("; ") {
            let words: Vec<&str> = item.split(' ').collect();
            let (&name, operands) = words.split_first()?;
            let at = |word: &&str| items.get(word.parse::<usize>().ok()?).copied();
            let id = match (name, operands) {
                ("input", [index, ty]) => self.input(index.parse().ok()?, Type::of_text(ty)?),
                ("leaf", [index, ty]) => self.leaf(index.parse().ok()?, Type::of_text(ty)?),
                ("number", [number, ty]) => {
                    self.intern(Node::Constant(Number::new(number.parse().ok()?)), Type::of_text(ty)?)
                }
                ("convert", [a, ty]) => self.intern(Node::Convert(at(a)?), Type::of_text(ty)?),
                ("powi", [a, exponent]) => {
                    let a = at(a)?;
                    self.intern(Node::Powi(a, exponent.parse().ok()?), self.ty(a))
                }
                ("if", [condition, a, b]) => {
                    let (condition, a, b) = (at(condition)?, at(a)?, at(b)?);
                    self.intern(Node::Select(condition, a, b), self.ty(a))
                }
                (_, [a]) => {
                    let function = *Unary::ALL.iter().find(|function| function.name() == name)?;
                    let a = at(a)?;
                    self.intern(Node::Unary(function, a), self.unary_type(function, a))
                }
                (_, [a, b]) => {
                    let function = *Binary::ALL.iter().find(|function| function.name() == name)?;
                    let (a, b) = (at(a)?, at(b)?);
                    self.intern(Node::Binary(function, a, b), self.binary_type(function, a))
                }
                (_, [a, b, c]) => {
                    let function = *Ternary::ALL.iter().find(|function| function.name() == name)?;
                    let (a, b, c) = (at(a)?, at(b)?, at(c)?);
                    self.intern(Node::Ternary(function, a, b, c), self.ty(a))
                }
                _ => return None,
            };
            items.push(id);
        }
        items.last().copied()
    }
}

/// `bool`, `other`, or `real0` for the real type of number 0.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Other => f.write_str("other"),
            Self::Real(number) => write!(f, "real{number}"),
        }
    }
}

impl Type {
    fn of_text(text: &str) -> Option<Self> {
        match text {
            "bool" => Some(Self::Bool),
            "other" => Some(Self::Other),
            _ => text.strip_prefix("real")?.parse().ok().map(Self::Real),
        }
    }
}
