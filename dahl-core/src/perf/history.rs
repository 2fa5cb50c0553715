//! [`History`]: the recorded durations of performance models, for users.

use super::entry::{ModelEntry, REQUIRED, REQUIRED_VIRTUAL};
use super::regression::Curve;
use super::samples::Totals;
use super::work::Work;

/// The number and the durations of a kernel's runs with one footprint. Times exclude the first call of each worker,
/// which [`first_us`](Self::first_us) covers, unless there was no other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct History {
    /// The codelet's name.
    pub codelet: String,
    /// The codelet's module.
    pub module: String,
    /// The hash of its declaration.
    pub declaration: u64,
    /// The kernel's name; `fold` and `finish` are those of the runtime's own tasks of reductions.
    pub kernel: String,
    /// The kind of worker: `cpu`, or a device's name.
    pub worker_kind: String,
    /// The element types of its data parameters.
    pub elements: Vec<String>,
    /// The extents of its arrays.
    pub footprint: Vec<Vec<usize>>,
    /// The number of tasks, in this run and in loaded ones.
    pub count: u64,
    /// Median of the last durations in microseconds.
    pub median_us: f64,
    /// The spread of the last durations in microseconds: their median absolute deviation times 1.4826, which is the
    /// standard deviation of a normal distribution.
    pub spread_us: f64,
    /// The number of first calls of a worker in a run. None in virtual time.
    pub first_calls: u64,
    /// The mean duration of the first calls, one for each worker and run, in microseconds. None in virtual time, where
    /// they are like all others.
    pub first_us: Option<f64>,
    /// Mean duration in microseconds.
    pub mean_us: f64,
    /// Standard deviation of the duration in microseconds.
    pub deviation_us: f64,
    /// Shortest duration in microseconds.
    pub min_us: f64,
    /// Longest duration in microseconds.
    pub max_us: f64,
    /// Floating-point operations of one task, if declared.
    pub flops: Option<f64>,
    /// Bytes that one task moves: as declared, otherwise those of its arrays.
    pub bytes: f64,
}

/// The durations of one worker: a row of a [`History`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkerHistory {
    /// The number of the worker; none for the host, when it helps.
    pub worker: Option<usize>,
    /// Its durations in this run.
    pub history: History,
}

impl History {
    /// The size of a task, for comparing footprints: `flops`, or `bytes` if `flops` is not declared.
    pub fn size(&self) -> f64 {
        Work { flops: self.flops, bytes: self.bytes }.size()
    }

    /// Whether there are enough durations for the median to be the prediction.
    pub fn is_expected(&self) -> bool {
        let required = if self.first_calls == 0 { REQUIRED_VIRTUAL } else { REQUIRED };
        self.count - self.first_calls >= required
    }

    /// The durations of all workers and of earlier runs; none if there are none.
    pub(super) fn of_all(entry: &ModelEntry) -> Option<Self> {
        Self::new(entry, entry.totals(), entry.median_and_spread_ns())
    }

    /// The durations of each worker.
    pub(super) fn of_workers(entry: &ModelEntry, workers: usize) -> impl Iterator<Item = WorkerHistory> {
        entry.rows().filter_map(move |(worker, row)| {
            let history = Self::new(entry, row.totals(), row.median_and_spread_ns())?;
            Some(WorkerHistory { worker: Some(worker).filter(|&worker| worker < workers), history })
        })
    }

    fn new(entry: &ModelEntry, totals: Totals, median_and_spread_ns: Option<(f64, f64)>) -> Option<Self> {
        let family = &entry.family;
        if totals.tasks() == 0 {
            return None;
        }
        let first_ns = totals.first_mean_ns();
        let only_ns = first_ns.unwrap_or(0.0);
        let (mean_ns, deviation_ns) = totals.mean_and_deviation_ns().unwrap_or((only_ns, 0.0));
        let (median_ns, spread_ns) = median_and_spread_ns.unwrap_or((only_ns, 0.0));
        let (min_ns, max_ns) =
            if totals.count > 0 { (totals.min_ns, totals.max_ns) } else { (only_ns, only_ns) };
        Some(Self {
            codelet: family.codelet.name.to_owned(),
            module: family.codelet.module.to_owned(),
            declaration: family.codelet.declaration,
            kernel: family.kernel.to_owned(),
            worker_kind: family.kind.clone(),
            elements: family.elements().map(str::to_owned).collect(),
            footprint: entry.footprint.clone(),
            count: totals.tasks(),
            median_us: median_ns / 1e3,
            spread_us: spread_ns / 1e3,
            first_calls: totals.first_calls,
            first_us: first_ns.map(|ns| ns / 1e3),
            mean_us: mean_ns / 1e3,
            deviation_us: deviation_ns / 1e3,
            min_us: min_ns / 1e3,
            max_us: max_ns / 1e3,
            flops: entry.work.flops,
            bytes: entry.work.bytes,
        })
    }
}

impl Curve {
    /// The curve through the medians of histories that differ only in the footprint, if there is one: it needs 4 sizes,
    /// and must not miss half of them by more than 30 %.
    pub fn through<'h>(histories: impl IntoIterator<Item = &'h History>) -> Option<Self> {
        let is_expected = |history: &&History| history.is_expected();
        let points = histories.into_iter().filter(is_expected);
        Self::fit(&points.map(|history| (history.size(), history.median_us * 1e3)).collect::<Vec<_>>())
    }
}
