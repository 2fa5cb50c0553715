//! The task graph in memory: the states of arrays, the records of tasks, and the links that order accesses to an array.
//! `README.md`, beside this file, describes the design, `REPLICAS.md` that of the replicas of arrays.
//!
//! These types refer to each other: a record's accesses point to arrays, an array keeps its [`Host`], and the host has the
//! slabs of both. What they call above is behind the traits [`Dispatch`] and [`Engine`].
//!
//! Not here: what happens when a link becomes ready (`task`), and the handles that programs hold (`array`).

mod access;
mod buffer;
mod callback;
mod chain;
mod commute_lock;
mod condition;
mod content;
mod countdown;
mod device_program;
mod device_transfers;
mod eviction;
mod failures;
mod fetch;
mod fetch_error;
mod handed_over;
mod home;
mod host;
mod log;
mod part;
mod partition;
mod prepare;
mod record;
mod reduction;
mod region;
mod replay;
mod replicas;
mod saves;
mod state;
mod waiter;

pub(crate) use access::Access;
pub(crate) use callback::{Callback, Outcome};
pub(crate) use chain::{Events, Link};
pub(crate) use commute_lock::LockWaiter;
pub(crate) use content::Content;
pub(crate) use device_program::{DeviceFlow, DeviceProgram, DeviceStep, Fill, Source};
pub(crate) use home::Origin;
pub(crate) use host::{Dispatch, Engine, Host, HostParts};
pub(crate) use log::{Entries, Log, SlotCursor, span};
pub use log::{Initial, LoggedArray, LoggedPartition, LoggedStep, PartOf};
pub(crate) use partition::{Lengths, Owned, Partition, PartitionKey, Partitions};
pub(crate) use record::{Begin, Party, Recipient, Record, Submitted};
pub use reduction::LEAF_LEN;
pub(crate) use reduction::{Contribution, Reductions, Tree};
pub use region::{Flow, LoggedFlow, LoggedRegion};
pub(crate) use replay::{Bodies, Keeps, Node, Replay, Running};
pub(crate) use state::ArrayState;
pub(crate) use waiter::Waiter;
