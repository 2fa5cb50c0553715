//! [`Clock`]: the only source of time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The time since the runtime was built, real or virtual. Schedulers, models and traces only read time here.
///
/// Real time is the timestamp counter of an x86-64 processor if Linux uses it as its clock source, since it is then
/// constant and synchronised across cores; otherwise it is the system's monotonic clock. Reading that takes twice as
/// long, and each task reads time twice. The first clock of a process calibrates the counter: usually in a millisecond,
/// on a busy machine in up to 0.2 s, to some hundred-thousandths.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    Counter {
        counter: quanta::Clock,
        origin: u64,
    },
    System {
        origin: Instant,
    },
    /// Nanoseconds, set by the simulation.
    Virtual {
        now_ns: Arc<AtomicU64>,
    },
}

/// Whether the system uses the processor's counter as its clock source.
fn is_counter_trusted() -> bool {
    const USED: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(target_arch = "x86_64") && std::fs::read_to_string(USED).is_ok_and(|used| used.trim() == "tsc")
}

impl Clock {
    pub(crate) fn start() -> Self {
        if !is_counter_trusted() {
            return Self(Source::System { origin: Instant::now() });
        }
        let counter = quanta::Clock::new();
        let origin = counter.raw();
        Self(Source::Counter { counter, origin })
    }

    /// A clock that advances when it is [set](Self::set).
    pub(crate) fn start_virtual() -> Self {
        Self(Source::Virtual { now_ns: Arc::default() })
    }

    /// Nanoseconds since the runtime was built. A thread that has observed an effect of another thread after that one
    /// read the time reads no earlier time.
    #[inline]
    #[allow(unsafe_code, reason = "an instruction that every processor of the kind has")]
    pub fn now_ns(&self) -> u64 {
        // A processor may read its counter before earlier instructions of the program, unless a fence orders them.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: it requires SSE2, which every x86-64 processor has, and accesses nothing.
        unsafe {
            std::arch::x86_64::_mm_lfence();
        }
        self.tick_ns()
    }

    /// As [`now_ns`](Self::now_ns), without an order relative to other threads: it may be earlier than preceding
    /// instructions of the program.
    #[inline]
    pub(crate) fn tick_ns(&self) -> u64 {
        match &self.0 {
            Source::Counter { counter, origin } => counter.delta_as_nanos(*origin, counter.raw()),
            Source::System { origin } => origin.elapsed().as_nanos() as u64,
            Source::Virtual { now_ns } => now_ns.load(Ordering::Acquire),
        }
    }

    /// Nanoseconds from a reading to now; 0 if that was another thread's [tick](Self::tick_ns) that is later.
    #[inline]
    pub(crate) fn ns_since(&self, begin_ns: u64) -> u64 {
        self.now_ns().saturating_sub(begin_ns)
    }

    /// Whether this is the time of a simulation.
    pub fn is_virtual(&self) -> bool {
        matches!(self.0, Source::Virtual { .. })
    }

    /// Advances a virtual clock to `time_ns`; it never goes back.
    pub(crate) fn set(&self, time_ns: u64) {
        match &self.0 {
            Source::Counter { .. } | Source::System { .. } => unreachable!("a real clock is not set"),
            Source::Virtual { now_ns } => {
                now_ns.fetch_max(time_ns, Ordering::AcqRel);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Instant;

    use super::Clock;

    #[test]
    fn it_agrees_with_the_systems_clock() {
        let (instant, clock) = (Instant::now(), Clock::start());
        let before = instant.elapsed();
        while instant.elapsed().as_millis() < 20 {}
        // Between two readings of the other clock, whatever happens between them.
        let least = instant.elapsed() - before;
        let seen = clock.now_ns() as f64;
        let most = instant.elapsed();
        assert!(seen > 0.99 * least.as_nanos() as f64, "{seen} ns of at least {least:?}");
        assert!(seen < 1.01 * most.as_nanos() as f64, "{seen} ns of at most {most:?}");
    }

    #[test]
    fn whoever_has_seen_a_time_reads_no_earlier_one() {
        let (clock, latest) = (Clock::start(), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let seen = latest.load(Ordering::Acquire);
                        let now = clock.now_ns();
                        assert!(now >= seen, "{now} after {seen}");
                        latest.fetch_max(now, Ordering::AcqRel);
                    }
                });
            }
        });
    }
}
