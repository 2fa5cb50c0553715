//! [`Error`]: why there is no order.

/// Why there is no order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A task reads the output of one that is not there.
    #[error(
        "task {task} reads the output of task {reads}: expected one of the {tasks} tasks, which count from 0"
    )]
    Unknown {
        /// The task.
        task: usize,
        /// What it reads.
        reads: usize,
        /// How many tasks there are.
        tasks: usize,
    },
    /// Tasks read each other's outputs.
    #[error("task {task} waits for itself: expected tasks without cycles")]
    Cycle {
        /// One of the tasks of the cycle.
        task: usize,
    },
    /// Sizes add up to more than numbers of 63 bits.
    #[error("the outputs are too large: expected a sum of sizes below 2^63 bytes")]
    TooLarge,
}
