//! [`Samples`]: one worker's measurements of one kernel and footprint.

use std::sync::atomic::{AtomicU64, Ordering};

use super::statistics::Window;

/// The number of recent durations that are kept.
pub(super) const WINDOW: usize = 32;

/// Not measured yet.
const NONE: u64 = u64::MAX;

/// Durations of one worker, kernel and footprint. Only that worker writes; any thread reads.
#[derive(Debug)]
pub(super) struct Samples {
    /// The first call, if it is kept separately.
    first_ns: AtomicU64,
    count: AtomicU64,
    sum_ns: AtomicU64,
    /// Sum of squares, as the bits of an `f64`.
    squares: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    /// The last durations; number `i` is at `i % WINDOW`.
    recent: [AtomicU64; WINDOW],
    /// How many of them have been saved.
    saved: AtomicU64,
}

/// Sums over many durations, in nanoseconds, which can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    /// First calls of workers, which the other fields exclude.
    pub(crate) first_calls: u64,
    pub(crate) first_ns: f64,
    pub(crate) count: u64,
    pub(crate) sum_ns: f64,
    pub(crate) squares: f64,
    /// Undefined if there are none.
    pub(crate) min_ns: f64,
    pub(crate) max_ns: f64,
}

impl Samples {
    pub(super) fn new() -> Self {
        Self {
            first_ns: AtomicU64::new(NONE),
            count: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            squares: AtomicU64::new(0),
            min_ns: AtomicU64::new(NONE),
            max_ns: AtomicU64::new(0),
            recent: [const { AtomicU64::new(0) }; WINDOW],
            saved: AtomicU64::new(0),
        }
    }

    /// Adds a duration. Returns the number of durations, without a first call that is kept separately.
    pub(super) fn add(&self, ns: u64, is_first_apart: bool) -> u64 {
        if is_first_apart && self.first_ns.load(Ordering::Relaxed) == NONE {
            self.first_ns.store(ns.min(NONE - 1), Ordering::Release);
            return 0;
        }
        let count = self.count.load(Ordering::Relaxed);
        self.recent[count as usize % WINDOW].store(ns, Ordering::Relaxed);
        self.sum_ns.store(self.sum_ns.load(Ordering::Relaxed).saturating_add(ns), Ordering::Relaxed);
        let squares = f64::from_bits(self.squares.load(Ordering::Relaxed)) + (ns as f64) * (ns as f64);
        self.squares.store(squares.to_bits(), Ordering::Relaxed);
        self.min_ns.store(self.min_ns.load(Ordering::Relaxed).min(ns), Ordering::Relaxed);
        self.max_ns.store(self.max_ns.load(Ordering::Relaxed).max(ns), Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Release);
        count + 1
    }

    /// The number of durations, without the first call.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    pub(super) fn totals(&self) -> Totals {
        let count = self.count();
        let first_ns = Some(self.first_ns.load(Ordering::Acquire)).filter(|&ns| ns != NONE);
        Totals {
            first_calls: u64::from(first_ns.is_some()),
            first_ns: first_ns.unwrap_or(0) as f64,
            count,
            sum_ns: self.sum_ns.load(Ordering::Relaxed) as f64,
            squares: f64::from_bits(self.squares.load(Ordering::Relaxed)),
            min_ns: self.min_ns.load(Ordering::Relaxed) as f64,
            max_ns: self.max_ns.load(Ordering::Relaxed) as f64,
        }
    }

    /// The last durations, the newest first.
    pub(super) fn recent(&self) -> impl Iterator<Item = u64> {
        let count = self.count();
        (count.saturating_sub(WINDOW as u64)..count)
            .rev()
            .map(|number| self.recent[number as usize % WINDOW].load(Ordering::Relaxed))
    }

    /// The median and the spread of the last durations in nanoseconds.
    pub(super) fn median_and_spread_ns(&self) -> Option<(f64, f64)> {
        let mut window = Window::new();
        self.recent().for_each(|ns| window.push(ns));
        window.median_and_spread()
    }

    /// The last durations of the first `count` that have not been saved, the newest first.
    pub(super) fn unsaved(&self, count: u64) -> impl Iterator<Item = u64> {
        let newer = (self.count() - count) as usize;
        let unsaved = (count - self.saved.load(Ordering::Relaxed)) as usize;
        self.recent().skip(newer).take(unsaved)
    }

    /// Records that the first `count` have been saved. One thread saves at a time.
    pub(super) fn note_saved(&self, count: u64) {
        self.saved.store(count, Ordering::Relaxed);
    }
}

impl Totals {
    pub(crate) fn plus(self, other: Self) -> Self {
        let (min_ns, max_ns) = match (self.count, other.count) {
            (_, 0) => (self.min_ns, self.max_ns),
            (0, _) => (other.min_ns, other.max_ns),
            _ => (self.min_ns.min(other.min_ns), self.max_ns.max(other.max_ns)),
        };
        Self {
            first_calls: self.first_calls + other.first_calls,
            first_ns: self.first_ns + other.first_ns,
            count: self.count + other.count,
            sum_ns: self.sum_ns + other.sum_ns,
            squares: self.squares + other.squares,
            min_ns,
            max_ns,
        }
    }

    /// The difference from `earlier` sums. The extremes are those of all.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            first_calls: self.first_calls - earlier.first_calls,
            first_ns: self.first_ns - earlier.first_ns,
            count: self.count - earlier.count,
            sum_ns: self.sum_ns - earlier.sum_ns,
            squares: self.squares - earlier.squares,
            ..self
        }
    }

    /// The number of all tasks, including first calls.
    pub(crate) fn tasks(&self) -> u64 {
        self.first_calls + self.count
    }

    pub(super) fn first_mean_ns(&self) -> Option<f64> {
        (self.first_calls > 0).then(|| self.first_ns / self.first_calls as f64)
    }

    /// The mean and the standard deviation, without first calls.
    pub(super) fn mean_and_deviation_ns(&self) -> Option<(f64, f64)> {
        if self.count == 0 {
            return None;
        }
        let count = self.count as f64;
        let mean = self.sum_ns / count;
        Some((mean, (self.squares / count - mean * mean).max(0.0).sqrt()))
    }
}
