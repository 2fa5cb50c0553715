//! Tasks after their submission, and the drafts that are submitted. `graph` has their records, and describes the design.
//!
//! Not here: the interface by which a program submits (`submission`), where a ready task goes (`scheduler`), and how it runs
//! (`worker`).

mod allocation;
mod commuting;
mod draft;
mod ending;
mod external;
mod lifo_slot;
mod message;
mod over_ranks;
mod partition;
mod pending;
mod pinned;
mod ready;
mod recycler;
mod reduction;
mod replay;
mod step;
mod transfer_wait;
mod wait;

pub(crate) use allocation::{block_in_submission, wait_for, wait_for_bytes};
pub(crate) use draft::Draft;
pub(crate) use external::{External, while_beginning};
pub(crate) use lifo_slot::LifoSlot;
pub(crate) use message::drop_copy;
pub(crate) use over_ranks::{runs_here, send_to, set_sharded};
pub(crate) use pinned::Pinned;
pub use ready::ReadyTask;
pub(crate) use recycler::Recycler;
pub(crate) use replay::{begin as begin_replay, end as end_replay, release as release_array};
pub(crate) use step::Step;
pub(crate) use transfer_wait::TransferWait;
pub(crate) use wait::wait_for_access;
