//! Partitions: an array seen as parts along one axis, each of which is an array of its own.
//!
//! The parts of an array have states, and chains, of their own. Two tasks without a kernel keep whole and parts in
//! order, by the rules that all tasks follow:
//!
//! * the **split** has an access to the whole (shared for [`Parts`], exclusive for [`PartsMut`]) and an exclusive one
//!   to each part. Opening the partition submits it. Its accesses to the parts end when it has run.
//! * the **join** has an exclusive access to each part, so it runs when the last task on them is done.
//!
//! What comes after the partition in the whole's chain waits for the join. For that, the split of a `PartsMut` keeps
//! its access to the whole until the join has run. The split of [`Parts`] ends at once, because the whole remains
//! readable. Its join has a shared access to the whole instead, and is submitted before any exclusive one.
//!
//! So no thread waits: tasks on parts queue behind the split, tasks on the whole behind the split or the join. The join
//! is submitted when the whole is used again in a way that the partition forbids (an exclusive access, or any access
//! after a `PartsMut`). It is not submitted when the parts are dropped: `mem::swap` can move a part out of a
//! `PartsMut`, and only the borrow of the whole bounds its use. Shared parts cannot be moved out. [`Parts`] joins when
//! it is dropped, or if it is leaked, at the next exclusive access.
//!
//! A split or a join whose elements are on CUDA devices runs when these have come home, and no thread waits for that:
//! `README.md`, beside this file.
//!
//! A joined partition is kept, with the list of its parts' handles, for the next one of the same kind, which then
//! allocates nothing.
#![allow(unsafe_code, reason = "parts alias their whole; the order of tasks keeps them apart")]

mod handles;
mod parts;

pub use parts::{Parts, PartsMut};
