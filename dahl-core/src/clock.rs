//! [`Clock`]: the only source of time.

use std::time::Instant;

/// The time since the runtime was built. Schedulers, models and traces read time here and nowhere else, so that it
/// can also be virtual.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Nanoseconds since the runtime was built.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}
