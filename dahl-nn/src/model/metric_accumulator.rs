//! [`MetricAccumulator`]: loss and correct predictions of one batch, which its tasks sum, and the totals of the batches
//! that have been read.

use std::collections::VecDeque;
use std::mem;

use dahl::prelude::*;

/// Loss and correct predictions of one batch. Tasks add to them; reading waits for the batch.
#[derive(Debug)]
pub(crate) struct MetricAccumulator<'a, T: Real> {
    /// The mean loss of a sample.
    pub(crate) loss: Scalar<'a, T>,
    /// The number of samples whose label is predicted.
    pub(crate) correct: Scalar<'a, u32>,
    samples: usize,
}

/// The metric accumulators of batches that are on their way, and the sum of those that were.
#[derive(Debug)]
pub(crate) struct MetricAccumulators<'a, T: Real> {
    arena: &'a Arena,
    /// The most batches that are on their way: so many that the workers stay busy, few enough that memory is bounded.
    ahead: usize,
    waiting: VecDeque<MetricAccumulator<'a, T>>,
    /// Those that have been read.
    free: Vec<MetricAccumulator<'a, T>>,
    pub(crate) sum: MetricSum,
}

impl<'a, T: Real> MetricAccumulators<'a, T> {
    pub(crate) fn new(arena: &'a Arena, ahead: usize) -> Self {
        let (waiting, free) = (VecDeque::with_capacity(ahead), Vec::with_capacity(ahead));
        Self { arena, ahead, waiting, free, sum: MetricSum::default() }
    }

    /// An accumulator for the next batch. If enough are on their way, it waits for half of them, so that it need not for the
    /// next ones: to sleep and be woken takes longer than a small batch.
    pub(crate) fn next(&mut self, samples: usize) -> dahl::Result<MetricAccumulator<'a, T>> {
        if self.waiting.len() >= self.ahead {
            let half = self.waiting.len().div_ceil(2);
            self.waiting[half - 1].loss.read()?;
            for metrics in self.waiting.drain(..half) {
                self.sum.add(&metrics)?;
                self.free.push(metrics);
            }
        }
        let mut metrics = match self.free.pop() {
            Some(metrics) => MetricAccumulator { samples, ..metrics },
            None => {
                MetricAccumulator { loss: self.arena.zeros([])?, correct: self.arena.zeros([])?, samples }
            }
        };
        metrics.loss.invalidate()?;
        metrics.correct.invalidate()?;
        Ok(metrics)
    }

    /// The batch has been submitted.
    pub(crate) fn push(&mut self, metrics: MetricAccumulator<'a, T>) -> dahl::Result<()> {
        // So that nobody waits for what adds up the parts, when the batch is long done.
        metrics.loss.finalize()?;
        metrics.correct.finalize()?;
        self.waiting.push_back(metrics);
        Ok(())
    }

    /// Waits for all batches; the next one begins a new sum.
    pub(crate) fn finish(&mut self) -> dahl::Result<MetricSum> {
        for metrics in self.waiting.drain(..) {
            self.sum.add(&metrics)?;
            self.free.push(metrics);
        }
        Ok(mem::take(&mut self.sum))
    }
}

/// The sum of the batches that have been read, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetricSum {
    loss: f64,
    pub(crate) correct: u64,
    pub(crate) samples: usize,
}

impl MetricSum {
    /// Waits for a batch and adds it.
    fn add<T: Real>(&mut self, batch: &MetricAccumulator<'_, T>) -> dahl::Result<()> {
        self.loss += batch.loss.read()?[[]].to_f64() * batch.samples as f64;
        self.correct += u64::from(batch.correct.read()?[[]]);
        self.samples += batch.samples;
        Ok(())
    }

    /// The mean loss of a sample.
    pub(crate) fn mean_loss(&self) -> f64 {
        self.loss / self.samples as f64
    }

    /// The share of samples whose label was predicted.
    pub(crate) fn accuracy(&self) -> f64 {
        self.correct as f64 / self.samples as f64
    }
}
