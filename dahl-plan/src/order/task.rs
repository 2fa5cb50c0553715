//! [`Task`], [`Options`] and [`Order`]: what goes in and comes out.

/// A task: what it reads, and the memory that it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The tasks whose outputs it reads. One that is named twice counts once.
    pub reads: Vec<usize>,
    /// The bytes of its output, which live from its start until its last reader has ended.
    pub output: u64,
    /// The bytes of temporary memory, which live while it runs.
    pub temporary: u64,
    /// Whether its output is a result, which lives to the end.
    pub is_result: bool,
}

/// How much effort [`order`](super::order()) makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most partial orders that the heuristic keeps at each length. At least one.
    pub beam: usize,
    /// The most sets of tasks that the exact search looks at. Each takes a bit per task, and some 100 bytes.
    pub states: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { beam: 64, states: 200_000 }
    }
}

/// An order of tasks, and what is proven of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The tasks, in the order in which they run, one at a time.
    pub tasks: Vec<usize>,
    /// The most bytes that live at one time.
    pub peak: u64,
    /// Bytes that live at some time in every order. This is proven.
    pub lower_bound: u64,
    /// Whether no order has a lower peak: whether `peak` is `lower_bound`.
    pub optimal: bool,
}
