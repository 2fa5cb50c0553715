//! [`MetricAccumulator`]: loss and correct predictions of one batch, which its tasks sum, and the totals of the batches
//! that have been read.

use std::collections::VecDeque;
use std::mem;

use dahl::ops;
use dahl::prelude::*;

/// Loss and correct predictions of one batch. Tasks add to them; reading them waits for the batch.
#[derive(Debug)]
pub(crate) struct MetricAccumulator<'a, T: Real> {
    /// The mean loss of a sample.
    pub(crate) loss: Scalar<'a, T>,
    /// The number of samples whose label is predicted.
    pub(crate) correct: Scalar<'a, u32>,
    samples: usize,
}

impl<T: Real> MetricAccumulator<'_, T> {
    /// Adds the loss of a part of the batch.
    pub(crate) fn add(&mut self, loss: &Scalar<'_, T>) -> dahl::Result<()> {
        ops::sum(&*loss.reshaped([1])?, &mut self.loss)
    }
}

/// The metric accumulators of batches in flight, and the sum of the completed ones.
#[derive(Debug)]
pub(crate) struct MetricAccumulators<'a, T: Real> {
    arena: &'a Arena,
    /// The most batches in flight: enough to keep the workers busy, few enough to bound memory.
    ahead: usize,
    waiting: VecDeque<MetricAccumulator<'a, T>>,
    /// Accumulators that have been read, for reuse.
    free: Vec<MetricAccumulator<'a, T>>,
    pub(crate) sum: MetricSum,
}

impl<'a, T: Real> MetricAccumulators<'a, T> {
    pub(crate) fn new(arena: &'a Arena, ahead: usize) -> Self {
        let (waiting, free) = (VecDeque::with_capacity(ahead), Vec::with_capacity(ahead));
        Self { arena, ahead, waiting, free, sum: MetricSum::default() }
    }

    /// An accumulator for the next batch. If enough are in flight, it waits for half of them, so that the next calls
    /// need not wait: parking and waking a thread takes longer than a small batch.
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

    /// Registers a batch that has been submitted.
    pub(crate) fn push(&mut self, metrics: MetricAccumulator<'a, T>) -> dahl::Result<()> {
        // Combines the partial sums now: read later, they would make this thread wait, though the batch is long done.
        metrics.loss.finalize()?;
        metrics.correct.finalize()?;
        self.waiting.push_back(metrics);
        Ok(())
    }

    /// Waits for all batches.
    pub(crate) fn wait(&mut self) -> dahl::Result<()> {
        for metrics in self.waiting.drain(..) {
            self.sum.add(&metrics)?;
            self.free.push(metrics);
        }
        Ok(())
    }

    /// Waits for all batches, and starts a new sum.
    pub(crate) fn finish(&mut self) -> dahl::Result<MetricSum> {
        self.wait()?;
        Ok(mem::take(&mut self.sum))
    }
}

/// The sum over the batches that have been read, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetricSum {
    /// The sum of the losses of the samples.
    pub(crate) loss: f64,
    pub(crate) correct: u64,
    pub(crate) samples: usize,
}

impl MetricSum {
    /// Waits for a batch and adds its results.
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

    /// The fraction of samples whose label was predicted.
    pub(crate) fn accuracy(&self) -> f64 {
        self.correct as f64 / self.samples as f64
    }
}
