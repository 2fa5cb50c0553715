//! The tasks of a saved program.

use dahl::program::{ListedAccess, ListedTask, Listing};

use super::{Recorded, RecordedAccess, RecordedTask};

impl Recorded {
    /// The tasks of a saved program. They are numbered from 0.
    ///
    /// # Errors
    /// If it has a branch or a loop.
    pub(super) fn of_listing(listing: &Listing) -> Result<Self, String> {
        let access = |access: &ListedAccess| RecordedAccess {
            array: access.array as u64,
            bytes: access.bytes as u64,
            reads: access.reads,
            writes: access.writes,
        };
        let task = |(number, task): (usize, ListedTask)| RecordedTask {
            number: number as u64,
            speed: task.codelet.clone(),
            codelet: task.codelet,
            footprint: task.footprint,
            flops: task.flops,
            bytes: task.bytes,
            arrays: task.arrays.iter().map(access).collect(),
            priority: task.priority,
            is_submission: false,
            after: task.after,
        };
        let tasks = listing.listed_tasks()?.into_iter().enumerate().map(task).collect();
        Ok(Self { tasks, trace: None })
    }
}
