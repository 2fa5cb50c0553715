//! Names for the variables of derived maps.

use std::collections::HashSet;

use dahl_expression::{Binary, Graph, Node, NodeId, Unary};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};

/// The names that are in use.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Notes all names in `tokens`.
    pub(super) fn take(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => drop(self.0.insert(name.to_string())),
                TokenTree::Group(group) => self.take(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// `name`, with a number where it is in use.
    pub(super) fn fresh(&mut self, name: &str) -> Ident {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
        let fresh = candidates.find(|name| self.0.insert(name.clone())).expect("there are many numbers");
        Ident::new(&fresh, Span::call_site())
    }
}

/// A name for the value of a node that the user has not named.
pub(super) fn of_node(graph: &Graph, id: NodeId) -> &'static str {
    match graph.node(id) {
        Node::Input(_) | Node::Leaf(_) | Node::Constant(_) => "value",
        Node::Convert(_) => "converted",
        Node::Unary(Unary::Neg, _) => "negative",
        Node::Unary(Unary::Not, _) => "opposite",
        Node::Unary(function, _) => function.name(),
        Node::Powi(..) => "power",
        Node::Binary(function, left, right) => match function {
            Binary::Add => "sum",
            Binary::Sub => "difference",
            Binary::Mul if left == right => "square",
            Binary::Mul => "product",
            Binary::Div => "quotient",
            Binary::Rem => "remainder",
            Binary::BitAnd | Binary::BitOr | Binary::BitXor => "bits",
            Binary::And | Binary::Or => "condition",
            Binary::Equal => "is_equal",
            Binary::NotEqual => "is_different",
            Binary::Less | Binary::LessEqual => "is_less",
            Binary::Greater | Binary::GreaterEqual => "is_greater",
            function => function.name(),
        },
        Node::Ternary(function, ..) => function.name(),
        Node::Select(..) => "selected",
    }
}
