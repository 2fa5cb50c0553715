//! [`Clock`]: the only source of time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The time since the runtime was built, real or virtual. Schedulers, models and traces read time here and nowhere else.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    Real {
        origin: Instant,
    },
    /// Nanoseconds, set by a simulation.
    Virtual {
        now_ns: Arc<AtomicU64>,
    },
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self(Source::Real { origin: Instant::now() })
    }

    /// A clock that moves when it is [set](Self::set).
    pub(crate) fn start_virtual() -> Self {
        Self(Source::Virtual { now_ns: Arc::default() })
    }

    /// Nanoseconds since the runtime was built.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match &self.0 {
            Source::Real { origin } => origin.elapsed().as_nanos() as u64,
            Source::Virtual { now_ns } => now_ns.load(Ordering::Acquire),
        }
    }

    /// Whether time is that of a simulation.
    pub fn is_virtual(&self) -> bool {
        matches!(self.0, Source::Virtual { .. })
    }

    /// Moves a virtual clock on to `time_ns`; it never goes back.
    pub(crate) fn set(&self, time_ns: u64) {
        match &self.0 {
            Source::Real { .. } => unreachable!("a real clock is not set"),
            Source::Virtual { now_ns } => {
                now_ns.fetch_max(time_ns, Ordering::AcqRel);
            }
        }
    }
}
