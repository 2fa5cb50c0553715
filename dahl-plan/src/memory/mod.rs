//! Static memory allocation: offsets in one block for buffers whose lifetimes are known.
//!
//! Two buffers that live at the same time must not share a byte. [`allocate`] looks for offsets with the least peak, or for
//! offsets below a given capacity, and says what it has proven. The problem ("dynamic storage allocation") is NP-hard.
//!
//! | part | what it does |
//! |---|---|
//! | `instance` | sizes in units, lifetimes as ranges of sections, the lower bound |
//! | `parts`, `plan` | parts of the problem that can be solved each for itself, and their solutions |
//! | `fit` | heuristics: less than a second for 100,000 buffers |
//! | `search` | the exact search at one capacity |
//! | `minimum` | the least capacity at which a search succeeds |
//!
//! The exact search is that of MiniMalloc (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
//! Machine Learning", ASPLOS 2023). `docs/plans.md` describes it and what is added here.

mod allocation;
mod buffer;
mod error;
mod fit;
mod instance;
mod minimum;
mod options;
mod parts;
mod plan;
mod search;

pub use allocation::{Allocation, allocate, allocate_until};
pub use buffer::Buffer;
pub use error::Error;
pub use options::Options;
