//! [`Subset`]: some samples of a data set.

use dahl::prelude::*;

use super::{Dataset, Random};
use crate::error::{Error, Result};
use crate::setting;

/// Some samples of a data set, in an order of their own: what [`Dataset::take`], [`Dataset::subset`] and
/// [`Dataset::split`] return.
#[derive(Clone, Debug, PartialEq)]
pub struct Subset<D> {
    data: D,
    indices: Vec<usize>,
}

impl<D: Dataset> Subset<D> {
    pub(super) fn first(data: D, limit: usize) -> Self {
        let indices = (0..data.len().min(limit)).collect();
        Self { data, indices }
    }

    pub(super) fn of(data: D, indices: Vec<usize>) -> dahl::Result<Self> {
        require_samples(&indices, data.len())?;
        Ok(Self { data, indices })
    }

    /// The numbers that the samples have in the whole set.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }
}

impl<'d, D: Dataset> Subset<&'d D> {
    #[track_caller]
    pub(super) fn halves(data: &'d D, fraction: f64, seed: u64) -> dahl::Result<(Self, Self)> {
        let is_fraction = (0.0..=1.0).contains(&fraction);
        setting::require(is_fraction, "Dataset: split", fraction, "a fraction from 0 to 1")?;
        let mut first: Vec<usize> = (0..data.len()).collect();
        Random::new(seed, &[]).shuffle(&mut first);
        let mut second = first.split_off((data.len() as f64 * fraction).round() as usize);
        first.sort_unstable();
        second.sort_unstable();
        Ok((Self { data, indices: first }, Self { data, indices: second }))
    }
}

impl<D: Dataset> Dataset for Subset<D> {
    fn len(&self) -> usize {
        self.indices.len()
    }

    fn sample_shape(&self) -> &[usize] {
        self.data.sample_shape()
    }

    fn classes(&self) -> usize {
        self.data.classes()
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        self.data.copy_sample(self.indices[index], features);
    }

    fn label(&self, index: usize) -> u32 {
        self.data.label(self.indices[index])
    }

    fn read_sample<T: Real>(&self, index: usize, epoch: u64, features: &mut [T]) -> dahl::Result<()> {
        self.data.read_sample(self.indices[index], epoch, features)
    }
}

/// Requires that the data set, which has `samples` samples, has those of these numbers.
pub(crate) fn require_samples(indices: &[usize], samples: usize) -> Result<()> {
    match indices.iter().find(|&&index| index >= samples) {
        Some(&sample) => Err(Error::Sample { sample, samples }),
        None => Ok(()),
    }
}
