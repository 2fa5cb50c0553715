//! [`Tally`]: loss and hits of one batch, which its tasks add up; and the sum of those that have been read.

use std::collections::VecDeque;
use std::mem;

use dahl::prelude::*;

/// Loss and hits of one batch. Tasks add to them; reading waits for the batch.
#[derive(Debug)]
pub(crate) struct Tally<'a, T: Real> {
    /// The mean loss of a sample.
    pub(crate) loss: Scalar<'a, T>,
    /// The number of samples whose label is predicted.
    pub(crate) correct: Scalar<'a, u32>,
    samples: usize,
}

/// The tallies of batches that are on their way, and the sum of those that were.
#[derive(Debug)]
pub(crate) struct Tallies<'a, T: Real> {
    arena: &'a Arena,
    /// The most batches that are on their way: so many that the workers stay busy, few enough that memory is bounded.
    ahead: usize,
    waiting: VecDeque<Tally<'a, T>>,
    /// Those that have been read.
    free: Vec<Tally<'a, T>>,
    pub(crate) sum: TallySum,
}

impl<'a, T: Real> Tallies<'a, T> {
    pub(crate) fn new(arena: &'a Arena, ahead: usize) -> Self {
        let (waiting, free) = (VecDeque::with_capacity(ahead), Vec::with_capacity(ahead));
        Self { arena, ahead, waiting, free, sum: TallySum::default() }
    }

    /// A tally for the next batch. If enough are on their way, it waits for half of them, so that it need not for the
    /// next ones: to sleep and be woken takes longer than a small batch.
    pub(crate) fn next(&mut self, samples: usize) -> dahl::Result<Tally<'a, T>> {
        if self.waiting.len() >= self.ahead {
            let half = self.waiting.len().div_ceil(2);
            self.waiting[half - 1].loss.read()?;
            for tally in self.waiting.drain(..half) {
                self.sum.add(&tally)?;
                self.free.push(tally);
            }
        }
        let mut tally = match self.free.pop() {
            Some(tally) => Tally { samples, ..tally },
            None => Tally { loss: self.arena.zeros([])?, correct: self.arena.zeros([])?, samples },
        };
        tally.loss.invalidate()?;
        tally.correct.invalidate()?;
        Ok(tally)
    }

    /// The batch has been submitted.
    pub(crate) fn push(&mut self, tally: Tally<'a, T>) -> dahl::Result<()> {
        // So that nobody waits for what adds up the parts, when the batch is long done.
        tally.loss.finalize()?;
        tally.correct.finalize()?;
        self.waiting.push_back(tally);
        Ok(())
    }

    /// Waits for all batches; the next one begins a new sum.
    pub(crate) fn finish(&mut self) -> dahl::Result<TallySum> {
        for tally in self.waiting.drain(..) {
            self.sum.add(&tally)?;
            self.free.push(tally);
        }
        Ok(mem::take(&mut self.sum))
    }
}

/// The sum of the batches that have been read, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TallySum {
    loss: f64,
    pub(crate) correct: u64,
    pub(crate) samples: usize,
}

impl TallySum {
    /// Waits for a batch and adds it.
    fn add<T: Real>(&mut self, batch: &Tally<'_, T>) -> dahl::Result<()> {
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
