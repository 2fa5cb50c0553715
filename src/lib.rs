//! Numerical operations that are written once and run as a task graph: typed codelets, a runtime, and the operations of
//! neural networks.
//!
//! [`#[codelet]`](macro@codelet) turns a function into an operation. [`Runtime`] runs it. [`ops`] has the operations
//! that networks need, each declared as a user's would be. This crate re-exports the runtime, `dahl_core`. Networks are
//! in `dahl_nn`.

// So that this crate's own operations name it as a user's do.
extern crate self as dahl;

pub use dahl_core::*;
pub use dahl_macros::{Argument, codelet};
/// Compares an operation's numbers with what they should be, in `cargo test`: the crate `dahl-testing`.
#[cfg(feature = "testing")]
pub use dahl_testing as testing;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use dahl_testing::{__numerics_operands, numerics};

pub mod blas;
mod cpu;
pub mod ops;
pub mod prelude;
mod reference;

dahl::include_kernels!();

/// The program in the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The program in the page on tasks, as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/tasks.md")]
struct Tasks;

/// The example in the page on schedulers, as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/schedulers.md")]
struct Schedulers;
