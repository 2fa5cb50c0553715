//! [`TopKAccuracy`]: the fraction of labels among the classes with the highest scores.

use std::cmp::Ordering;

use dahl::prelude::*;

use super::{ratio, rows};
use crate::setting::Settings;

/// The fraction of labels that are among the `k` classes with the highest scores: scikit-learn's
/// `top_k_accuracy_score`. Of classes with the same score, those with a higher number come first, as there. NaN is above
/// all numbers, as NumPy sorts it.
#[derive(Clone, Debug)]
pub struct TopKAccuracy {
    k: usize,
    correct: u64,
    total: u64,
    settings: Settings,
}

impl TopKAccuracy {
    /// The accuracy by the `k` best classes. With `k = 0` it is an error to update.
    #[track_caller]
    pub fn new(k: usize) -> Self {
        let mut settings = Settings::default();
        settings.require(k > 0, "TopKAccuracy: k", k, "a number from 1");
        Self { k, correct: 0, total: 0, settings }
    }

    /// Adds the scores of all classes, higher for likelier ones, one sample after the other; and the labels.
    ///
    /// # Shapes
    /// `scores: [batch, classes]`, `labels: [batch]`.
    ///
    /// # Errors
    /// If `k` is 0, or the scores are not those of as many samples as there are labels, or a label is no class.
    pub fn update<T: Real>(&mut self, scores: &[T], labels: &[u32]) -> dahl::Result<()> {
        self.settings.check()?;
        for (scores, &label) in rows("TopKAccuracy", scores, labels)?.zip(labels) {
            let label = label as usize;
            let is_before = |&(class, &score): &(usize, &T)| match compare(score, scores[label]) {
                Ordering::Greater => true,
                Ordering::Equal => class > label,
                Ordering::Less => false,
            };
            self.correct += u64::from(scores.iter().enumerate().filter(is_before).count() < self.k);
        }
        self.total += labels.len() as u64;
        Ok(())
    }

    /// The accuracy of all samples so far.
    pub fn value(&self) -> Option<f64> {
        ratio(self.correct, self.total)
    }
}

/// The order of NumPy: NaN is above all numbers, and equal to itself.
fn compare<T: Real>(a: T, b: T) -> Ordering {
    let (a, b) = (a.to_f64(), b.to_f64());
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}
