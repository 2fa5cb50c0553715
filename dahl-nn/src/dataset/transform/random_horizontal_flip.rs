//! [`RandomHorizontalFlip`]: mirrored images.

use dahl::prelude::*;

use super::{Transform, image};
use crate::dataset::Random;
use crate::setting::Settings;

/// Mirrors an image, left to right, with a probability of one half.
///
/// # Shapes
/// `[channels, rows, cols]` stays.
#[derive(Clone, Debug)]
pub struct RandomHorizontalFlip {
    probability: f64,
    settings: Settings,
}

impl RandomHorizontalFlip {
    /// Mirrors every second image on average.
    pub fn new() -> Self {
        Self { probability: 0.5, settings: Settings::default() }
    }

    /// Sets the probability that an image is mirrored.
    #[track_caller]
    pub fn probability(mut self, probability: f64) -> Self {
        let is_probability = (0.0..=1.0).contains(&probability);
        let setting = "RandomHorizontalFlip: probability";
        self.settings.require(is_probability, setting, probability, "a number from 0 to 1");
        self.probability = probability;
        self
    }
}

impl Default for RandomHorizontalFlip {
    fn default() -> Self {
        Self::new()
    }
}

impl Transform for RandomHorizontalFlip {
    fn shape(&self, shape: &[usize]) -> dahl::Result<Vec<usize>> {
        self.settings.check()?;
        Ok(image("RandomHorizontalFlip", shape)?.to_vec())
    }

    fn apply<T: Real>(
        &self,
        shape: &[usize],
        features: &mut Vec<T>,
        random: &mut Random,
    ) -> dahl::Result<()> {
        let [_, _, cols] = image("RandomHorizontalFlip", shape)?;
        if random.happens(self.probability) {
            features.chunks_exact_mut(cols.max(1)).for_each(<[T]>::reverse);
        }
        Ok(())
    }
}
