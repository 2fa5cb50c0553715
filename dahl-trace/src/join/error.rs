//! The reasons why traces cannot be joined.

/// Why the traces of several ranks could not be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// There is none.
    #[error("there is no trace to join; give the traces of all ranks of a run")]
    None,
    /// A trace is not that of one of several ranks.
    #[error("a trace of `{program}` is not that of one of several ranks; it needs no joining")]
    NoRank {
        /// The program that wrote it.
        program: String,
    },
    /// Traces are of different numbers of ranks.
    #[error(
        "the first trace is of a run on {ranks} ranks, but that of rank {rank} is of one on {others}; give the traces of one run"
    )]
    OtherRanks {
        /// The number of ranks that the first one says.
        ranks: u32,
        /// The rank of the other one.
        rank: u32,
        /// The number of ranks that the other one says.
        others: u32,
    },
    /// Traces are of different programs.
    #[error(
        "the first trace is of `{program}`, but that of rank {rank} is of `{other}`, or only one of them is in virtual time; give the traces of one run"
    )]
    OtherRun {
        /// The program of the first one.
        program: String,
        /// The rank of the other one.
        rank: u32,
        /// Its program.
        other: String,
    },
    /// There are two traces of a rank.
    #[error("there are two traces of rank {rank}; give the traces of one run, without those of earlier ones")]
    Twice {
        /// The rank.
        rank: u32,
    },
    /// Traces are missing.
    #[error("the traces of ranks {missing:?} of {ranks} are missing; give those of all ranks")]
    Missing {
        /// Their ranks.
        missing: Vec<u32>,
        /// The number of ranks.
        ranks: u32,
    },
    /// There are more workers than a file can have.
    #[error(
        "all ranks together have {workers} workers, and a trace has at most {most}; join fewer workers for each rank"
    )]
    Workers {
        /// The number of workers, with the host of each rank.
        workers: usize,
        /// The largest number.
        most: usize,
    },
    /// A task depends on itself.
    #[error("task {task} comes after itself, by way of others: the traces are not of one run")]
    Cycle {
        /// The number of the task.
        task: u64,
    },
}
