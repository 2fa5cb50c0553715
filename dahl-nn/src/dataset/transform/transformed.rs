//! [`Transformed`]: a data set whose samples a transform changes.

use dahl::prelude::*;

use super::Transform;
use crate::dataset::{Dataset, Random};

/// A data set whose samples a transform changes: what [`Dataset::transformed`] returns.
///
/// The random numbers of a sample depend only on the seed, the epoch and the number of the sample. So the result does
/// not depend on the threads that read samples, and every epoch sees others.
#[derive(Clone, Debug, PartialEq)]
pub struct Transformed<D, F> {
    data: D,
    transform: F,
    shape: Vec<usize>,
    seed: u64,
}

impl<D: Dataset, F: Transform> Transformed<D, F> {
    pub(in crate::dataset) fn new(data: D, transform: F, seed: u64) -> dahl::Result<Self> {
        let shape = transform.shape(data.sample_shape())?;
        Ok(Self { data, transform, shape, seed })
    }
}

impl<D: Dataset, F: Transform> Dataset for Transformed<D, F> {
    fn len(&self) -> usize {
        self.data.len()
    }

    fn sample_shape(&self) -> &[usize] {
        &self.shape
    }

    fn classes(&self) -> usize {
        self.data.classes()
    }

    /// Writes the features of sample `index` in epoch 0.
    ///
    /// # Panics
    /// If [`read_sample`](Dataset::read_sample) returns an error.
    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        if let Err(error) = self.read_sample(index, 0, features) {
            panic!("{error}");
        }
    }

    fn label(&self, index: usize) -> u32 {
        self.data.label(index)
    }

    fn read_sample<T: Real>(&self, index: usize, epoch: u64, features: &mut [T]) -> dahl::Result<()> {
        let shape = self.data.sample_shape();
        let mut sample = vec![T::ZERO; shape.iter().product()];
        self.data.read_sample(index, epoch, &mut sample)?;
        let mut random = Random::new(self.seed, &[epoch, index as u64]);
        self.transform.apply(shape, &mut sample, &mut random)?;
        features.copy_from_slice(&sample);
        Ok(())
    }
}
