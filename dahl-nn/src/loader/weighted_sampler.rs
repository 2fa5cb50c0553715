//! [`WeightedSampler`]: random samples, some likelier than others.

use std::collections::BTreeMap;
use std::panic::Location;

use super::Sampler;
use crate::dataset::{Dataset, Random};
use crate::error::Error;
use crate::setting::Settings;

/// Random samples with probabilities in proportion to weights: for classes with different numbers of samples.
#[derive(Clone, Debug)]
pub struct WeightedSampler {
    weights: Vec<f64>,
    count: usize,
    seed: u64,
    replacement: bool,
    settings: Settings,
    /// The line that made it.
    location: &'static Location<'static>,
}

impl WeightedSampler {
    /// Draws `count` samples each epoch by their weights, one weight for each sample of the data set. A sample may be
    /// drawn several times, unless [`replacement`](Self::replacement) says otherwise. An invalid setting is returned as
    /// an error when an epoch begins.
    #[track_caller]
    pub fn new(weights: impl Into<Vec<f64>>, count: usize, seed: u64) -> Self {
        let weights = weights.into();
        let mut settings = Settings::default();
        let total: f64 = weights.iter().sum();
        let are_weights = weights.iter().all(|&weight| weight >= 0.0) && total > 0.0 && total.is_finite();
        let value = format!("{} numbers whose sum is {total}", weights.len());
        let expected = "finite numbers from 0, and one that is greater";
        settings.require(are_weights, "WeightedSampler: weights", value, expected);
        Self { weights, count, seed, replacement: true, settings, location: Location::caller() }
    }

    /// Draws as many samples as the data set has, every class with the same probability.
    #[track_caller]
    pub fn balanced(data: &impl Dataset, seed: u64) -> Self {
        let labels: Vec<u32> = (0..data.len()).map(|index| data.label(index)).collect();
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for &label in &labels {
            *counts.entry(label).or_default() += 1;
        }
        let weights: Vec<f64> = labels.iter().map(|label| 1.0 / counts[label] as f64).collect();
        Self::new(weights, data.len(), seed)
    }

    /// Sets whether a sample may be drawn again: by default it may. Without, each next sample is drawn among those that
    /// are left.
    pub fn replacement(mut self, replacement: bool) -> Self {
        self.replacement = replacement;
        self
    }

    /// Each number is the first whose sum of weights, up to it, is above a random part of the total.
    fn with_replacement(&self, random: &mut Random) -> Vec<usize> {
        let sums: Vec<f64> = self
            .weights
            .iter()
            .scan(0.0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(0.0);
        // The product may be rounded up to the total.
        let last = self.weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0);
        let draw = |_| {
            let part = random.unit() * total;
            sums.partition_point(|&sum| sum <= part).min(last)
        };
        (0..self.count).map(draw).collect()
    }

    /// Efraimidis, Spirakis 2006, "Weighted random sampling with a reservoir": the greatest of the keys `u^(1/weight)`,
    /// here by their logarithms.
    fn without_replacement(&self, random: &mut Random) -> Vec<usize> {
        let mut keys: Vec<(f64, usize)> = Vec::new();
        for (index, &weight) in self.weights.iter().enumerate() {
            let key = (1.0 - random.unit()).ln() / weight;
            if weight > 0.0 {
                keys.push((key, index));
            }
        }
        keys.sort_by(|a, b| b.0.total_cmp(&a.0));
        keys.into_iter().map(|(_, index)| index).take(self.count).collect()
    }
}

impl Sampler for WeightedSampler {
    fn order(&self, samples: usize, epoch: u64) -> dahl::Result<Vec<usize>> {
        self.settings.check()?;
        let wrong = |setting, value: String, expected| {
            Err(Error::Setting { setting, value, expected, location: self.location }.into())
        };
        if self.weights.len() != samples {
            let value = format!("{} numbers for {samples} samples", self.weights.len());
            return wrong("WeightedSampler: weights", value, "a weight for each sample");
        }
        let mut random = Random::new(self.seed, &[epoch]);
        if self.replacement {
            return Ok(self.with_replacement(&mut random));
        }
        if self.count > self.weights.iter().filter(|&&weight| weight > 0.0).count() {
            let expected = "at most the number of samples with a weight above 0, without replacement";
            return wrong("WeightedSampler: count", self.count.to_string(), expected);
        }
        Ok(self.without_replacement(&mut random))
    }
}
