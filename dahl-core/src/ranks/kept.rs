//! [`Kept`]: what a rank keeps of what all ranks do.

use super::note::Note;

/// What a rank keeps of the tasks and arrays of all ranks, whether it runs and uses them or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Submissions that the ranks have not compared yet: [`SUBMISSION_BYTES`](Self::SUBMISSION_BYTES) each, and the text of a call of
    /// the host. The ranks compare at the first task after [`ROUND`](Self::ROUND) of them, so there are at most twice as many, and
    /// what the program did between two tasks: calls of the host, or the tasks of a program that was recorded.
    pub submissions: usize,
    /// The arrays in the table of copies, with their parts: those that the program has a handle of, and that were used.
    pub arrays: usize,
}

impl Kept {
    /// The submissions of a round that no meeting ends: few enough to keep, and so many that a rank rarely waits for others. A rank
    /// is at most two rounds ahead of another.
    pub const ROUND: usize = 1 << 14;

    /// The bytes that a rank keeps of a submission, without the text of a call of the host.
    pub const SUBMISSION_BYTES: usize = size_of::<Note>();
}

// There is one for each task of all ranks.
const _: () = assert!(Kept::SUBMISSION_BYTES <= 40);
