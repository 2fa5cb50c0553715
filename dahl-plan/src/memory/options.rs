//! [`Options`]: the capacity, the alignment and the effort.

/// What [`allocate`](super::allocate) has to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The bytes that there are. `None` asks for the least peak.
    pub capacity: Option<u64>,
    /// Offsets are multiples of it, and sizes are rounded up to multiples of it. Any number from 1.
    pub alignment: u64,
    /// The most steps of the exact search. A step is one look at one buffer; a processor takes some 10^8 to 10^9 of them
    /// in a second. With 0 steps the result is that of the heuristics.
    pub steps: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { capacity: None, alignment: 1, steps: 1_000_000_000 }
    }
}
