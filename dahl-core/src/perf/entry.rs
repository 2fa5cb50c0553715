//! [`ModelEntry`]: the measurements of one footprint of a kernel on a kind of worker.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

use super::estimate::{Basis, Estimate};
use super::family::Family;
use super::samples::{Samples, Totals, WINDOW};
use super::statistics::Window;
use super::work::Work;
use crate::footprint;
use crate::sync::Mutex;

/// The number of durations before there is an estimate: in virtual time, where all are alike; and in real time.
pub(super) const REQUIRED_VIRTUAL: u64 = 1;
pub(super) const REQUIRED: u64 = 2;

/// How many durations are required before there is an estimate, and which ones count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The required number of durations, without first calls.
    pub(super) required: u64,
    /// Whether the first call of each worker is kept separately. In a simulation it is like any other.
    pub(super) is_first_apart: bool,
    /// Whether tasks are measured anew.
    pub(super) calibrates: bool,
}

/// The median of the first durations is updated after each, ...
const EACH: u64 = 8;
/// ... then after every so many, since that takes some 300 ns, ...
const EVERY: u64 = 8;
/// ... and eventually after more of them if tasks are short, so that its cost is small relative to theirs.
const EVERY_SHORT: u64 = 512;
const SHORT_NS: u64 = 4000;

/// Durations from other runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Earlier {
    pub(super) totals: Totals,
    /// The last ones in nanoseconds, the newest first.
    pub(super) recent: Vec<u64>,
}

/// The durations of this run that are not saved.
pub(super) struct Unsaved {
    pub(super) measured: Earlier,
    /// Whether they replace the stored ones.
    pub(super) replaces: bool,
    /// The sums of the run, and the durations of each worker.
    totals: Totals,
    counts: Vec<(usize, u64)>,
}

/// The model of one footprint of a kernel on a kind of worker.
#[derive(Debug)]
pub(super) struct ModelEntry {
    pub(super) family: Arc<Family>,
    pub(super) footprint: Vec<Vec<usize>>,
    pub(super) work: Work,
    /// Empty while calibrating.
    earlier: Earlier,
    rules: Rules,
    /// The durations of each worker, and finally of the host.
    rows: Box<[OnceLock<Box<Samples>>]>,
    /// The median in nanoseconds, plus one; 0 if there are too few durations.
    median: AtomicU64,
    /// The number of durations when the median was computed.
    samples: AtomicU64,
    /// The value of the family's curve in nanoseconds, plus one; 0 if there is none.
    extrapolated: AtomicU64,
    /// The number of the family's changes at that time.
    extrapolated_at: AtomicU64,
    /// The saved part of the sums.
    saved: Mutex<Totals>,
    /// Whether it was asked or added to since the table was last full.
    is_used: AtomicBool,
}

impl ModelEntry {
    pub(super) fn new(
        family: Arc<Family>,
        footprint: Vec<Vec<usize>>,
        work: Work,
        earlier: Earlier,
        workers: usize,
        rules: Rules,
    ) -> Self {
        let entry = Self {
            family,
            footprint,
            work,
            earlier,
            rules,
            rows: (0..=workers).map(|_| OnceLock::new()).collect(),
            median: AtomicU64::new(0),
            samples: AtomicU64::new(0),
            extrapolated: AtomicU64::new(0),
            extrapolated_at: AtomicU64::new(0),
            saved: Mutex::default(),
            is_used: AtomicBool::new(true),
        };
        entry.refresh();
        entry
    }

    /// Adds a duration of worker `worker`; only that worker calls it.
    pub(super) fn add(&self, worker: usize, ns: u64) {
        let expected = self.estimate();
        self.family.errors_of(worker).add(expected, ns);
        let row = self.rows[worker].get_or_init(|| Box::new(Samples::new()));
        let count = row.add(ns, self.rules.is_first_apart);
        let every = if ns < SHORT_NS && count > EVERY_SHORT { EVERY_SHORT } else { EVERY };
        if (1..=EACH).contains(&count) || count.is_multiple_of(every) {
            self.refresh();
        }
    }

    /// Computes the median again.
    fn refresh(&self) {
        let samples = self.samples_now();
        if samples < self.rules.required {
            return;
        }
        let Some(median) = self.window().median() else { return };
        let was_unknown = self.median.swap(median.saturating_add(1), Ordering::Release) == 0;
        self.samples.store(samples, Ordering::Release);
        if was_unknown || samples.is_power_of_two() {
            self.family.change();
        }
    }

    fn samples_now(&self) -> u64 {
        self.earlier.totals.count + self.rows().map(|(_, row)| row.count()).sum::<u64>()
    }

    /// The last durations of all workers, and if they are few, those of earlier runs.
    fn window(&self) -> Window {
        let mut window = Window::new();
        let each = Window::share(self.rows().count(), WINDOW);
        for (_, row) in self.rows() {
            row.recent().take(each).for_each(|ns| window.push(ns));
        }
        let few = WINDOW.saturating_sub(window.len());
        self.earlier.recent.iter().take(few).for_each(|&ns| window.push(ns));
        window
    }

    /// Whether it was used since this was last called, and how many durations it has.
    pub(super) fn take_uses(&self) -> (bool, u64) {
        (self.is_used.swap(false, Ordering::Relaxed), self.samples_now())
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let rows = self.rows().count() * size_of::<Samples>() + size_of_val(&*self.rows);
        let recent = self.earlier.recent.capacity() * size_of::<u64>();
        size_of::<Self>() + rows + recent + footprint::bytes(&self.footprint)
    }

    /// The durations of each worker; the host has the last number.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &Samples)> {
        self.rows.iter().enumerate().filter_map(|(worker, row)| Some((worker, row.get()?.as_ref())))
    }

    /// The predicted duration of a task.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
        if let Some(ns) = self.median.load(Ordering::Acquire).checked_sub(1) {
            let samples = self.samples.load(Ordering::Acquire);
            return Some(Estimate { ns, samples, basis: Basis::Measured });
        }
        if self.rules.calibrates {
            return None;
        }
        let changes = self.family.changes();
        if self.extrapolated_at.load(Ordering::Acquire) != changes {
            let ns = self.family.curve().and_then(|curve| curve.at(self.work.size()));
            self.extrapolated.store(ns.map_or(0, |ns| ns.saturating_add(1)), Ordering::Release);
            self.extrapolated_at.store(changes, Ordering::Release);
        }
        let ns = self.extrapolated.load(Ordering::Acquire).checked_sub(1)?;
        Some(Estimate { ns, samples: 0, basis: Basis::Extrapolated })
    }

    /// Its size and its median in nanoseconds, if there is one.
    pub(super) fn point(&self) -> Option<(f64, f64)> {
        let ns = self.median.load(Ordering::Acquire).checked_sub(1)?;
        Some((self.work.size(), ns as f64))
    }

    /// The median and the spread of the last durations in nanoseconds.
    pub(super) fn median_and_spread_ns(&self) -> Option<(f64, f64)> {
        self.window().median_and_spread()
    }

    /// The sums of this run.
    fn own_totals(&self) -> Totals {
        self.rows().fold(Totals::default(), |totals, (_, row)| totals.plus(row.totals()))
    }

    /// All sums.
    pub(super) fn totals(&self) -> Totals {
        self.earlier.totals.plus(self.own_totals())
    }

    /// The durations that are not saved, if any.
    pub(super) fn unsaved(&self) -> Option<Unsaved> {
        let saved = *self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let rows: Vec<_> = self.rows().map(|(worker, row)| (worker, row.totals())).collect();
        let totals = rows.iter().fold(Totals::default(), |totals, (_, row)| totals.plus(*row));
        let new = totals.since(saved);
        if new.tasks() == 0 {
            return None;
        }
        let recent = self.rows().zip(&rows).flat_map(|((_, row), (_, seen))| row.unsaved(seen.count));
        Some(Unsaved {
            measured: Earlier { totals: new, recent: recent.take(WINDOW).collect() },
            replaces: self.rules.calibrates && saved.tasks() == 0,
            totals,
            counts: rows.iter().map(|&(worker, row)| (worker, row.count)).collect(),
        })
    }

    /// Records that these have been saved.
    pub(super) fn note_saved(&self, unsaved: &Unsaved) {
        *self.saved.lock().unwrap_or_else(PoisonError::into_inner) = unsaved.totals;
        for &(worker, count) in &unsaved.counts {
            if let Some(row) = self.rows[worker].get() {
                row.note_saved(count);
            }
        }
    }
}
