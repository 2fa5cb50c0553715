//! Tests of the crate, in one program.

mod memory;
mod order;
mod pipeline;
mod schedule;
