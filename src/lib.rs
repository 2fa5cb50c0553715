//! Numerical operations written once and run as a task graph: typed codelets, a runtime, and the ops of a neural
//! network.
//!
//! [`#[codelet]`](macro@codelet) makes an operation of a function; [`Runtime`] runs it; [`ops`] has those that a
//! network needs, each declared as a user's would be. This package names the operations; the runtime under it is
//! `dahl_core`, re-exported here, and networks are `dahl_nn`.

// So that the package's own ops name it as a user's do.
extern crate self as dahl;

pub use dahl_core::*;
pub use dahl_macros::{Argument, codelet};
/// Comparing an op's numbers with what they should be, in `cargo test`: the crate `dahl-testing`.
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
