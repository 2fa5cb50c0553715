//! Runs expressions that are known as data: an interpreter, as one codelet for each expression and types of elements.
//!
//! Derived maps are compiled, and their own derivatives are not: these are made from the expression of a derived map when
//! somebody wants them, and run here. An expression comes as text, from code that `#[codelet]` wrote. It becomes a
//! `Program`, whose derivatives are programs again. A program for given types of elements is an `Interpreter`, which has a
//! codelet. Its kernel goes through its arrays tile by tile, and through the `Steps` of the program for each tile.
//! [`Derivatives`] has the interpreters of a map's derivatives, for `tape`.
//!
//! Programs and interpreters live for ever. There are as many as distinct expressions: whoever asks for one again gets
//! the same.
//!
//! Not here: which derivative is wanted, and by which array (`tape`); the algebra (the crate `dahl-expression`).

mod derivatives;
mod interpreter;
mod operand;
mod program;
mod steps;
mod tile;

#[cfg(test)]
mod tests;

pub(crate) use derivatives::By;
pub use derivatives::{Derivatives, no_leaves};
