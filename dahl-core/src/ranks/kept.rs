//! [`Kept`]: what a rank keeps of what all ranks do.

/// What a rank keeps of the tasks and arrays of all ranks, whether it runs and uses them or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Submissions that the ranks have not compared yet, of 40 bytes each. There are at most as many as 32,768, and few more: calls between
    /// tasks count too.
    pub submissions: usize,
    /// The arrays in the table of copies: those that the program has a handle of, and that were used.
    pub arrays: usize,
}
