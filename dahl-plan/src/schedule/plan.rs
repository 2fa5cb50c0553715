//! [`Plan`], [`Objective`] and [`Options`]: what is asked, and what comes out.

/// What is to be least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The time until the last task has ended.
    Time,
    /// The energy of tasks, transfers and idle workers until the last task has ended.
    Energy {
        /// The most nanoseconds until then.
        deadline: Option<u64>,
    },
}

/// How much effort the search makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most schedules of some of the tasks that the exact search looks at. A processor takes some 100,000 to a million
    /// of them in a second.
    pub states: u64,
    /// The most schedules of some of the tasks that are remembered. Each takes some 100 bytes to a kilobyte.
    pub remembered: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { states: 10_000_000, remembered: 1_000_000 }
    }
}

/// Where and when a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The task.
    pub task: usize,
    /// Its worker.
    pub worker: usize,
    /// Its start.
    pub start: u64,
    /// Its end.
    pub end: u64,
}

/// A schedule, and what is proven of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// All tasks, in the order of their starts.
    pub placements: Vec<Placement>,
    /// When the last task ends.
    pub nanoseconds: u64,
    /// The energy of tasks, transfers and idle workers until then.
    pub picojoules: u64,
    /// What no schedule goes below: nanoseconds or picojoules, by the objective. This is proven.
    pub lower_bound: u64,
    /// Whether no schedule is better.
    pub optimal: bool,
    /// The schedules of some of the tasks that the exact search looked at.
    pub states: u64,
}

/// The schedules of which none is better than another in both time and energy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Front {
    /// From the fastest to the one with the least energy.
    pub plans: Vec<Plan>,
    /// Whether each is proven, and that there are no others.
    pub complete: bool,
}
