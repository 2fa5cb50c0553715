//! [`RandomErasing`]: images with a rectangle of zeros.

use dahl::prelude::*;

use super::{Transform, image};
use crate::dataset::Random;
use crate::setting::Settings;

/// The area of the rectangle, as a fraction of the image's.
const AREA: [f64; 2] = [0.02, 0.33];

/// The logarithm of the least ratio of rows to columns; that of the greatest is its negative.
const LOG_RATIO: f64 = -1.203_972_804_325_936; // ln 0.3

/// Rectangles that are drawn until one fits into the image.
const ATTEMPTS: usize = 10;

/// Sets a random rectangle of an image to zero, with a probability of one half: from 2 % to 33 % of its area, with a ratio
/// of rows to columns from 0.3 to 1 / 0.3. If none of ten such rectangles fits, the image stays.
///
/// Zhong, Zheng, Kang, Li, Yang 2017, "Random Erasing Data Augmentation", arXiv:1708.04896, algorithm 1; the ratio is
/// drawn by its logarithm, as in torchvision.
///
/// # Shapes
/// `[channels, rows, cols]` stays.
#[derive(Clone, Debug)]
pub struct RandomErasing {
    probability: f64,
    settings: Settings,
}

impl RandomErasing {
    /// Erases a part of every second image on average.
    pub fn new() -> Self {
        Self { probability: 0.5, settings: Settings::default() }
    }

    /// Sets the probability that a part of an image is erased.
    #[track_caller]
    pub fn probability(mut self, probability: f64) -> Self {
        let is_probability = (0.0..=1.0).contains(&probability);
        let setting = "RandomErasing: probability";
        self.settings.require(is_probability, setting, probability, "a number from 0 to 1");
        self.probability = probability;
        self
    }
}

impl Default for RandomErasing {
    fn default() -> Self {
        Self::new()
    }
}

impl Transform for RandomErasing {
    fn shape(&self, shape: &[usize]) -> dahl::Result<Vec<usize>> {
        self.settings.check()?;
        Ok(image("RandomErasing", shape)?.to_vec())
    }

    fn apply<T: Real>(
        &self,
        shape: &[usize],
        features: &mut Vec<T>,
        random: &mut Random,
    ) -> dahl::Result<()> {
        let [channels, rows, cols] = image("RandomErasing", shape)?;
        if !random.happens(self.probability) {
            return Ok(());
        }
        for _ in 0..ATTEMPTS {
            let area = (rows * cols) as f64 * (AREA[0] + (AREA[1] - AREA[0]) * random.unit());
            let ratio = (LOG_RATIO * (1.0 - 2.0 * random.unit())).exp();
            let (height, width) = ((area * ratio).sqrt().round(), (area / ratio).sqrt().round());
            let (height, width) = (height as usize, width as usize);
            if height < rows && width < cols {
                let (top, left) = (random.below(rows - height + 1), random.below(cols - width + 1));
                for channel in 0..channels {
                    for row in top..top + height {
                        let start = (channel * rows + row) * cols + left;
                        features[start..start + width].fill(T::ZERO);
                    }
                }
                return Ok(());
            }
        }
        Ok(())
    }
}
