//! [`Synthetic`]: a generated data set of any shape.

use dahl::prelude::*;

use super::Dataset;
use super::random::{mix, unit};

/// A synthetic data set of any shape: each class has its pattern, and each sample is its class's pattern plus noise, so
/// that a model can learn it. It depends only on the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    shape: Vec<usize>,
    classes: usize,
    /// The number of the first sample.
    first: usize,
    samples: usize,
    seed: u64,
}

impl Synthetic {
    /// `samples` samples of this shape in `classes` classes.
    ///
    /// # Panics
    /// If there are samples but no classes.
    #[track_caller]
    pub fn new(shape: &[usize], classes: usize, samples: usize, seed: u64) -> Self {
        assert!(
            classes > 0 || samples == 0,
            "Synthetic: classes = {classes}: expected a number from 1, for {samples} samples"
        );
        Self { shape: shape.to_vec(), classes, first: 0, samples, seed }
    }

    /// The samples from number `first` on instead: others of the same classes, for validation and tests.
    pub fn starting_at(mut self, first: usize) -> Self {
        self.first = first;
        self
    }

    /// A number from 0 to 1 for feature `feature` of stream `stream`.
    fn unit(&self, stream: u64, feature: usize) -> f64 {
        unit(mix(mix(self.seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ feature as u64))
    }
}

impl Dataset for Synthetic {
    fn len(&self) -> usize {
        self.samples
    }

    fn sample_shape(&self) -> &[usize] {
        &self.shape
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        let (class, sample) = (u64::from(self.label(index)), (self.classes + self.first + index) as u64);
        for (feature, out) in features.iter_mut().enumerate() {
            *out = T::from_f64(0.7 * self.unit(class, feature) + 0.3 * self.unit(sample, feature));
        }
    }

    fn label(&self, index: usize) -> u32 {
        ((self.first + index) % self.classes) as u32
    }
}
