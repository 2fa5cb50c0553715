#![doc = include_str!("../README.md")]
//!
//! Modules: `node` has the kinds of nodes, `function` the functions and operators, `graph` the table of nodes, `simplify`
//! the constructors, `tangent` the derivatives (`rule` those of single functions), `order` the order of evaluation and
//! what an expression mentions, `substitute` the replacement of a node, `copy` expressions of another graph, `text`
//! expressions as text, `evaluate` the values in f64.

mod copy;
mod error_function;
mod evaluate;
mod function;
mod graph;
mod node;
mod order;
mod rule;
mod simplify;
mod substitute;
mod tangent;
mod text;

pub use function::{Binary, Ternary, Unary};
pub use graph::Graph;
pub use node::{Node, NodeId, Number, Type};
pub use order::Scheduled;
