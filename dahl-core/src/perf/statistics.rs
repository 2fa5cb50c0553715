//! [`Window`]: recent durations, and robust estimates of their centre and spread.

/// The most durations that an estimate is based on.
const CAPACITY: usize = 256;

/// The ratio of the standard deviation to the median absolute deviation of a normal distribution.
const DEVIATIONS: f64 = 1.4826;

/// Recent durations in nanoseconds.
pub(super) struct Window {
    ns: [u64; CAPACITY],
    len: usize,
}

impl Window {
    pub(super) fn new() -> Self {
        Self { ns: [0; CAPACITY], len: 0 }
    }

    /// How many durations of each of `rows` rows fit, at most `most`.
    pub(super) fn share(rows: usize, most: usize) -> usize {
        (CAPACITY / rows.max(1)).clamp(1, most)
    }

    /// Adds a duration, unless it is full.
    pub(super) fn push(&mut self, ns: u64) {
        if let Some(place) = self.ns.get_mut(self.len) {
            *place = ns;
            self.len += 1;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The lower median: of two durations the shorter, so that one outlier of two does not count.
    pub(super) fn median(&mut self) -> Option<u64> {
        let middle = self.len.checked_sub(1)? / 2;
        Some(*self.ns[..self.len].select_nth_unstable(middle).1)
    }

    /// The median, and the median absolute deviation from it, scaled to the standard deviation of a normal
    /// distribution.
    pub(super) fn median_and_spread(mut self) -> Option<(f64, f64)> {
        let median = self.median()?;
        for ns in &mut self.ns[..self.len] {
            *ns = ns.abs_diff(median);
        }
        Some((median as f64, DEVIATIONS * self.median()? as f64))
    }
}
