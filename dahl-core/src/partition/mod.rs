//! Partition: an array seen as parts along one axis, each an array of its own.
//!
//! The parts of an array have states, and chains, of their own. Two tasks without a kernel keep whole and parts in
//! order, by the rules that all tasks follow:
//!
//! * the **split** has an access to the whole (shared for [`Parts`], exclusive for [`PartsMut`]) and an exclusive one
//!   to each part. It is submitted with the partition, and its accesses to the parts end when it has run;
//! * the **join** has an exclusive access to each part, so it runs when the last task on them is done.
//!
//! What comes after the partition in the whole's chain waits for the join. For that the split of a `PartsMut` keeps its
//! access to the whole until the join has run. That of [`Parts`] ends at once, since the whole can be read meanwhile for
//! any length of time, and the join has a shared access to the whole instead: it is submitted before any exclusive one.
//!
//! So nothing waits: tasks on parts queue behind the split, tasks on the whole behind the split or the join. The join
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

pub use parts::{Parts, PartsMut};
