//! [`Family`]: entries that differ in the footprint alone, so that some predict others.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, Weak};

use super::entry::ModelEntry;
use super::prediction::Errors;
use super::regression::Curve;
use super::samples::Totals;
use crate::codelet::Codelet;
use crate::sync::Mutex;

/// A kernel of a codelet on a kind of worker.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) codelet: &'static Codelet,
    pub(super) kernel: &'static str,
    pub(super) kind: String,
    /// Its footprints.
    entries: Mutex<HashMap<Vec<Vec<usize>>, Weak<ModelEntry>>>,
    /// What is left of those that were dropped.
    dropped: Mutex<Dropped>,
    /// Counts what could change the curve; from 1.
    changes: AtomicU64,
    /// The curve, and the number of changes at that time.
    curve: Mutex<(u64, Option<Curve>)>,
    /// The prediction errors of each worker, and finally of the host. Each has one writer.
    errors: Box<[OnceLock<Box<Errors>>]>,
}

/// What is left of footprints that were dropped because there were too many.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    /// Sizes and durations in nanoseconds, for the curve: as many of each order of size as there is room for.
    points: Vec<(f64, f64)>,
    /// The sums of this run of each worker, and of the host behind the last.
    rows: BTreeMap<usize, Totals>,
}

/// The points of dropped footprints that a family keeps; when there are more, every other goes.
const MOST_POINTS: usize = 512;

impl Family {
    pub(super) fn new(codelet: &'static Codelet, kernel: &'static str, kind: &str, workers: usize) -> Self {
        Self {
            codelet,
            kernel,
            kind: kind.to_owned(),
            entries: Mutex::default(),
            dropped: Mutex::default(),
            changes: AtomicU64::new(1),
            curve: Mutex::new((0, None)),
            errors: (0..=workers).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Whether it is for this codelet, kernel and kind of worker, possibly at other addresses.
    pub(super) fn is_of(&self, codelet: &Codelet, kernel: &str, kind: &str) -> bool {
        let (own, other) = (self.codelet, codelet);
        (self.kernel, self.kind.as_str()) == (kernel, kind)
            && (own.module, own.name, own.declaration) == (other.module, other.name, other.declaration)
            && self.elements().eq(elements(other))
    }

    /// The element types of the codelet's data parameters.
    pub(super) fn elements(&self) -> impl Iterator<Item = &'static str> {
        elements(self.codelet)
    }

    pub(super) fn add(&self, entry: &Arc<ModelEntry>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(entry.footprint.clone(), Arc::downgrade(entry));
        drop(entries);
        if entry.point().is_some() {
            self.change();
        }
    }

    /// The entry of a footprint, if there is one.
    pub(super) fn entry_of(&self, footprint: &[Vec<usize>]) -> Option<Arc<ModelEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).get(footprint)?.upgrade()
    }

    /// Drops an entry of its own. The curve and the sums keep what it said.
    pub(super) fn drop_entry(&self, entry: &ModelEntry) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).remove(&entry.footprint);
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        for (worker, row) in entry.rows() {
            let totals = dropped.rows.entry(worker).or_default();
            *totals = totals.plus(row.totals());
        }
        dropped.points.extend(entry.point());
        if dropped.points.len() > MOST_POINTS {
            dropped.points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut number = 0;
            dropped.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    /// The sums of this run of the entries that were dropped, for each worker.
    pub(super) fn dropped_rows(&self) -> Vec<(usize, Totals)> {
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.rows.iter().map(|(&worker, &totals)| (worker, totals)).collect()
    }

    /// Notes that an entry's estimate has changed.
    pub(super) fn change(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The curve through the entries' estimates, if there is one.
    pub(super) fn curve(&self) -> Option<Curve> {
        let changes = self.changes();
        let mut curve = self.curve.lock().unwrap_or_else(PoisonError::into_inner);
        // One more of many points changes little, and fitting reads them all.
        if changes > curve.0 + curve.0 / 16 {
            let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            let mut points: Vec<_> =
                entries.values().filter_map(Weak::upgrade).filter_map(|entry| entry.point()).collect();
            drop(entries);
            points.extend(&self.dropped.lock().unwrap_or_else(PoisonError::into_inner).points);
            *curve = (changes, Curve::fit(&points));
        }
        curve.1
    }

    /// The errors that worker `worker` records.
    pub(super) fn errors_of(&self, worker: usize) -> &Errors {
        self.errors[worker].get_or_init(Box::default)
    }

    /// The errors of all workers.
    pub(super) fn errors(&self) -> impl Iterator<Item = &Errors> {
        self.errors.iter().filter_map(OnceLock::get).map(Box::as_ref)
    }
}

fn elements(codelet: &Codelet) -> impl Iterator<Item = &'static str> {
    codelet.parameters.iter().map(|parameter| parameter.element.name)
}
