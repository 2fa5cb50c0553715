//! Plans: where the arrays of a program are, before it runs.

mod memory;

pub use memory::MemoryPlan;
pub(crate) use memory::Sharing;
