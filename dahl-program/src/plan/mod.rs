//! Plans: in which order a program runs, and where its arrays are, before it runs.

mod demand;
mod low_order;
mod memory;
mod recomputation;

pub(crate) use demand::{Demand, Described};
pub use low_order::Effort;
pub(crate) use memory::Sharing;
pub use memory::{MemoryPlan, PlannedArray};
pub(crate) use recomputation::{least_bytes, recompute};
