//! [`Tally`]: loss and hits of one batch, which its tasks add up; and the sum of those that have been read.

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

impl<'a, T: Real> Tally<'a, T> {
    pub(crate) fn new(arena: &'a Arena, samples: usize) -> dahl::Result<Self> {
        Ok(Self { loss: arena.zeros([])?, correct: arena.zeros([])?, samples })
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
    pub(crate) fn add<T: Real>(&mut self, batch: Option<Tally<'_, T>>) -> dahl::Result<()> {
        let Some(Tally { loss, correct, samples }) = batch else { return Ok(()) };
        self.loss += loss.read()?[[]].to_f64() * samples as f64;
        self.correct += u64::from(correct.read()?[[]]);
        self.samples += samples;
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
