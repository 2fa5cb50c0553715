//! Partition: an array seen as parts along one axis, each an array of its own.
//!
//! The parts of an array have states, and chains, of their own. Two tasks without a kernel keep whole and parts in
//! order, by the rules that all tasks follow:
//!
//! * the **split** has an access to the whole (shared for [`Parts`], exclusive for [`PartsMut`]) and an exclusive one
//!   to each part. It is submitted with the partition, and its accesses to the parts end when it has run;
//! * the **join** has an exclusive access to each part, so it runs when the last task on them is done. Then the split's
//!   access to the whole ends too, and what comes after it in the whole's chain can run.
//!
//! So nothing waits: tasks on parts queue behind the split, tasks on the whole behind the split's long access. The join
//! is submitted when the whole is used again in a way that the partition forbids (an exclusive access, or any after a
//! `PartsMut`), not when the parts are dropped: a part can be carried out of a `PartsMut` by `mem::swap`, and only the
//! borrow of the whole says for how long it is used. Shared parts cannot be carried out: [`Parts`] joins when dropped,
//! and if it is leaked, at the next exclusive access.
//!
//! A partition that has been joined is kept, with the list of its parts' handles, for the next one of the same kind,
//! which then allocates nothing.
#![allow(unsafe_code, reason = "parts alias their whole; the order of tasks keeps them apart")]

mod handles;
mod parts;
mod record;

pub use parts::{Parts, PartsMut};
pub(crate) use record::{Partition, Partitions};
