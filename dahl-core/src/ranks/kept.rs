//! [`Kept`]: what a rank keeps of what all ranks do.

/// What a rank keeps of the tasks and arrays of all ranks, whether it runs and uses them or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Submissions that the ranks have not compared yet: 40 bytes each, and the text of a call of the host. The ranks compare at the
    /// first task after 16,384 of them, so there are at most 32,768, and what the program did between two tasks: calls of the host, or
    /// the tasks of a program that was recorded.
    pub submissions: usize,
    /// The arrays in the table of copies, with their parts: those that the program has a handle of, and that were used.
    pub arrays: usize,
}
