//! [`Sampler`]: the samples of an epoch, and their order.

use crate::dataset::Random;

/// Chooses the samples of an epoch and their order.
pub trait Sampler: Send + Sync {
    /// The numbers of the samples that epoch `epoch`, from 0, has, of a data set with `samples` samples. A sample may be
    /// there several times, or not at all.
    ///
    /// # Errors
    /// If it cannot choose among so many samples.
    fn order(&self, samples: usize, epoch: u64) -> dahl::Result<Vec<usize>>;
}

/// Every sample once, in the order of the data set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequentialSampler;

impl Sampler for SequentialSampler {
    fn order(&self, samples: usize, _: u64) -> dahl::Result<Vec<usize>> {
        Ok((0..samples).collect())
    }
}

/// Every sample once, in a random order, another one each epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomSampler {
    seed: u64,
}

impl RandomSampler {
    /// The orders of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl Sampler for RandomSampler {
    fn order(&self, samples: usize, epoch: u64) -> dahl::Result<Vec<usize>> {
        let mut order: Vec<usize> = (0..samples).collect();
        Random::new(self.seed, &[epoch]).shuffle(&mut order);
        Ok(order)
    }
}
