//! [`Estimate`]: how long a task is expected to run.

/// The predicted duration of a task on a kind of worker, without transfers, and its basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// The duration in nanoseconds.
    pub ns: u64,
    /// The number of measured durations with the same footprint, without first calls.
    pub samples: u64,
    /// Its basis.
    pub basis: Basis,
}

/// The basis of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// The median of recent durations with the same footprint.
    Measured,
    /// A curve through the durations with other footprints.
    Extrapolated,
}
