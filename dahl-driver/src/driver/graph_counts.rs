//! [`GraphCounts`]: the number of a device's graphs, and of what they launched (`GRAPHS.md`).

/// How many graphs there were, and what they launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphCounts {
    /// Graphs that were made executable.
    pub instantiated: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Launches of graphs.
    pub replayed: u64,
    /// Kernels that they launched, without those of bodies.
    pub kernels: u64,
    /// Nodes whose parameters were changed.
    pub updated: u64,
    /// Graphs that there are now.
    pub kept: u64,
}
