//! [`Estimate`]: how long a task is expected to run.

/// How long a task is expected to run on a kind of worker, without transfers, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// The duration in nanoseconds.
    pub ns: u64,
    /// How many durations with the same footprint have been measured, first calls left out.
    pub samples: u64,
    /// Where it comes from.
    pub basis: Basis,
}

/// Where an estimate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// The median of recent durations with the same footprint.
    Measured,
    /// A curve through the durations with other footprints.
    Extrapolated,
}
