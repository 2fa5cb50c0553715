//! [`GraphCounts`]: the number of a device's graphs, and of what they launched (`GRAPHS.md`).

/// How many graphs there were, and what they launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphCounts {
    /// Graphs that were made executable.
    pub(crate) instantiated: u64,
    /// Those that were refused.
    pub(crate) refused: u64,
    /// Launches of graphs.
    pub(crate) replayed: u64,
    /// Kernels that they launched.
    pub(crate) kernels: u64,
    /// Nodes whose parameters were changed.
    pub(crate) updated: u64,
    /// Graphs that there are now.
    pub(crate) kept: u64,
}
