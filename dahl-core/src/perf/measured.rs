//! [`Measured`]: totals of this run, from which the runtime computes its statistics.

use super::entry::ModelEntry;
use super::family::Family;
use super::models::Models;
use super::samples::Totals;
use super::statistics::Window;
use crate::codelet::Codelet;

/// The durations in this run of one kernel for one footprint on one kind of worker, without loaded ones.
pub(crate) struct Measured {
    pub(crate) codelet: &'static Codelet,
    /// `fold` and `finish` are the kernels of the runtime's own tasks of reductions.
    pub(crate) kernel: &'static str,
    /// The kind of worker.
    pub(crate) kind: String,
    /// The sums of each worker; the host's number follows the last worker's.
    pub(crate) rows: Vec<(usize, Totals)>,
    /// The median of the last durations in nanoseconds, without first calls.
    pub(crate) median_ns: Option<u64>,
}

impl Models {
    /// The durations of this run, in the order of the first tasks.
    pub(crate) fn measured(&self) -> Vec<Measured> {
        let (entries, families) = self.entries_and_families();
        let of_entries = entries.iter().filter_map(|entry| Measured::of(entry));
        of_entries.chain(families.iter().filter_map(|family| Measured::of_dropped(family))).collect()
    }
}

impl Measured {
    fn of(entry: &ModelEntry) -> Option<Self> {
        let rows: Vec<_> = entry.rows().map(|(worker, row)| (worker, row.totals())).collect();
        if rows.iter().all(|(_, totals)| totals.tasks() == 0) {
            return None;
        }
        let mut window = Window::new();
        let each = Window::share(rows.len(), super::samples::WINDOW);
        entry.rows().flat_map(|(_, row)| row.recent().take(each)).for_each(|ns| window.push(ns));
        Some(Self {
            codelet: entry.family.codelet,
            kernel: entry.family.kernel,
            kind: entry.family.kind.clone(),
            rows,
            median_ns: window.median(),
        })
    }

    /// What was measured of footprints that were dropped since.
    fn of_dropped(family: &Family) -> Option<Self> {
        let rows = family.dropped_rows();
        let (codelet, kernel, kind) = (family.codelet, family.kernel, family.kind.clone());
        (!rows.is_empty()).then_some(Self { codelet, kernel, kind, rows, median_ns: None })
    }
}
