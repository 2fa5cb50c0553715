//! Tasks on their way: how they are submitted, and what follows when they end. What they consist of in memory, and the design, is
//! the room `graph`'s.
//!
//! Not here: what a program says of a task (`submission`), where a ready one goes (`scheduler`), and how it is run (`worker`).

mod allocation;
mod draft;
mod ending;
mod external;
mod lifo_slot;
mod partition;
mod pending;
mod pinned;
mod ready;
mod recycler;
mod reduction;
mod step;
mod wait;

pub(crate) use allocation::{block_in_submission, wait_for, wait_for_bytes};
pub(crate) use draft::Draft;
pub(crate) use external::External;
pub(crate) use lifo_slot::LifoSlot;
pub(crate) use pinned::Pinned;
pub use ready::ReadyTask;
pub(crate) use recycler::Recycler;
pub(crate) use step::Step;
pub(crate) use wait::wait_for_access;
