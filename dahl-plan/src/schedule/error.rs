//! [`Error`]: why there is no schedule.

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number refers to what is not there.
    #[error("{what} {index} is referred to, but there are {count}, which count from 0")]
    Unknown {
        /// Task, kind or node.
        what: &'static str,
        /// The number.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A task waits for its own output.
    #[error("task {task} ({name}) waits for itself: expected tasks without cycles")]
    Cycle {
        /// A task of the cycle, or one that waits for it.
        task: usize,
        /// Its name.
        name: String,
    },
    /// No worker can run a task.
    #[error("no worker can run task {task} ({name}): expected a cost for the kind of one of the workers")]
    NoWorker {
        /// The task.
        task: usize,
        /// Its name.
        name: String,
    },
    /// Times, energies or sizes add up to more than numbers of 62 bits.
    #[error("the {what} add up to 2^62 {unit} or more: expected smaller costs")]
    TooLarge {
        /// Times, energies or sizes.
        what: &'static str,
        /// Their unit.
        unit: &'static str,
    },
    /// There are more nodes or different workers than bits in a number.
    #[error("the machine has {nodes} nodes and {types} different workers: expected at most 64 of each")]
    TooMany {
        /// The nodes.
        nodes: usize,
        /// The workers that differ in kind, node or idle power.
        types: usize,
    },
    /// A bandwidth is not above 0.
    #[error("the link from node {from} to node {to} has no bandwidth above 0")]
    Bandwidth {
        /// The node that it leaves.
        from: usize,
        /// The node that it reaches.
        to: usize,
    },
    /// It is proven that there is no schedule.
    #[error("there is no schedule: none keeps to {limit}; this is proven")]
    Infeasible {
        /// The deadline or the memory.
        limit: String,
    },
    /// The search ended without a schedule and without a proof.
    #[error(
        "no schedule was found that keeps to {limit}, and that there is none is not proven: search longer"
    )]
    Undecided {
        /// The deadline or the memory.
        limit: String,
    },
}
