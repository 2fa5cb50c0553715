//! Plans as pure algorithms: they take numbers, return a plan, and say how good it is.
//!
//! [`memory`] gives buffers with known lifetimes their offsets in one block.
//! [`order`](mod@order) orders tasks so that little memory is in use at one time.
//! [`pipeline`] divides a network into stages for several machines.
//! [`schedule`] says which worker runs which task of a graph when.
//!
//! Not here: arrays, tasks and devices. Who has a program computes lifetimes and sizes from it, and calls this crate.

pub mod memory;
pub mod order;
pub mod pipeline;
pub mod schedule;
