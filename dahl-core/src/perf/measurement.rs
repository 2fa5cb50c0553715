//! [`Measurement`]: what was measured of one task.

/// What was measured of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// How long the kernel ran.
    pub time_ns: u64,
    /// Bytes that it moved, if known.
    pub bytes: Option<u64>,
    /// Energy that it took, in joules, if known.
    pub energy_joules: Option<f64>,
}
