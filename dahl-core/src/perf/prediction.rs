//! [`PredictionErrors`]: how much predicted durations differed from measured ones.

use std::sync::atomic::{AtomicU64, Ordering};

use super::estimate::{Basis, Estimate};

/// The errors of predicted durations, relative to the measured ones.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PredictionErrors {
    /// Over all codelets.
    pub overall: PredictionError,
    /// For each codelet, in the order of their first task.
    pub codelets: Vec<CodeletPredictionError>,
}

/// The prediction error for the tasks of one codelet.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CodeletPredictionError {
    /// The codelet's name.
    pub codelet: String,
    /// The codelet's module.
    pub module: String,
    /// Its error.
    pub error: PredictionError,
}

/// Relative errors of predicted durations: `|predicted - measured| / measured`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PredictionError {
    /// The number of tasks whose prediction was based on their own footprint.
    pub count: u64,
    /// The median of their errors: 0.1 is 10 %. None without such tasks.
    pub median: Option<f64>,
    /// The ninth decile of their errors.
    pub ninth_decile: Option<f64>,
    /// The number of tasks whose prediction was based on other footprints.
    pub extrapolated: u64,
    /// The median of their errors.
    pub extrapolated_median: Option<f64>,
    /// The number of tasks without a prediction, such as the first ones.
    pub unexpected: u64,
}

/// A bin for errors below 2^-13, then eight for each power of two, the last for all beyond.
const BINS: usize = 160;
/// The bits of an `f32` that a bin ignores: its exponent and three more bits remain.
const FINER: u32 = 20;
/// The bin of 2^-13.
const FIRST: u32 = (127 - 13) << 3;

/// The errors of one worker.
#[derive(Debug)]
pub(super) struct Errors {
    measured: Histogram,
    extrapolated: Histogram,
    unexpected: AtomicU64,
}

#[derive(Debug)]
struct Histogram {
    bins: [AtomicU64; BINS],
}

impl Default for Errors {
    fn default() -> Self {
        Self { measured: Histogram::new(), extrapolated: Histogram::new(), unexpected: AtomicU64::new(0) }
    }
}

impl Errors {
    /// Records the prediction for a task and its duration; one thread calls it.
    pub(super) fn add(&self, expected: Option<Estimate>, taken_ns: u64) {
        let Some(expected) = expected else { return count_up(&self.unexpected) };
        let error = expected.ns.abs_diff(taken_ns) as f64 / taken_ns.max(1) as f64;
        match expected.basis {
            Basis::Measured => self.measured.add(error),
            Basis::Extrapolated => self.extrapolated.add(error),
        }
    }
}

/// Increments a counter that only this thread writes.
fn count_up(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

impl Histogram {
    fn new() -> Self {
        Self { bins: [const { AtomicU64::new(0) }; BINS] }
    }

    fn add(&self, error: f64) {
        let bin = ((error as f32).to_bits() >> FINER).saturating_sub(FIRST - 1) as usize;
        count_up(&self.bins[bin.min(BINS - 1)]);
    }
}

/// The sum of several workers' histograms.
#[derive(Clone, Copy)]
pub(super) struct ErrorSum {
    measured: [u64; BINS],
    extrapolated: [u64; BINS],
    unexpected: u64,
}

impl ErrorSum {
    pub(super) fn new() -> Self {
        Self { measured: [0; BINS], extrapolated: [0; BINS], unexpected: 0 }
    }

    pub(super) fn add(&mut self, errors: &Errors) {
        for (sums, histogram) in
            [(&mut self.measured, &errors.measured), (&mut self.extrapolated, &errors.extrapolated)]
        {
            for (sum, bin) in sums.iter_mut().zip(&histogram.bins) {
                *sum += bin.load(Ordering::Relaxed);
            }
        }
        self.unexpected += errors.unexpected.load(Ordering::Relaxed);
    }

    pub(super) fn error(&self) -> PredictionError {
        PredictionError {
            count: self.measured.iter().sum(),
            median: quantile(&self.measured, 0.5),
            ninth_decile: quantile(&self.measured, 0.9),
            extrapolated: self.extrapolated.iter().sum(),
            extrapolated_median: quantile(&self.extrapolated, 0.5),
            unexpected: self.unexpected,
        }
    }
}

/// The quantile `part` of the errors, to a bin's width.
fn quantile(bins: &[u64; BINS], part: f64) -> Option<f64> {
    let count: u64 = bins.iter().sum();
    let rank = (count as f64 * part).ceil().max(1.0) as u64;
    let mut seen = 0;
    let bin = bins.iter().position(|&in_bin| {
        seen += in_bin;
        seen >= rank
    })?;
    // In the middle of the bin; an error in the first bin is negligible.
    let bits = (FIRST - 1 + bin as u32) << FINER | 1 << (FINER - 1);
    Some(if bin == 0 { 0.0 } else { f64::from(f32::from_bits(bits)) })
}
