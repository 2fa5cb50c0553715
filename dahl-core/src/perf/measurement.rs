//! [`Measurement`]: what was measured of one task.

/// The measurement of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// The duration of the kernel.
    pub time_ns: u64,
    /// Bytes that it moved, if known.
    pub bytes: Option<u64>,
    /// The energy that it consumed, in joules, if known.
    pub energy_joules: Option<f64>,
}
