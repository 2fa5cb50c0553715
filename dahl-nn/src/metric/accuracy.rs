//! [`Accuracy`]: the fraction of right predictions.

use super::{ratio, require_pairs};

/// The fraction of predictions that are the label: scikit-learn's `accuracy_score`.
///
/// ```
/// use dahl_nn::metric::Accuracy;
///
/// let mut accuracy = Accuracy::default();
/// accuracy.update(&[0, 2, 1], &[0, 1, 1])?;
/// accuracy.update(&[3], &[3])?;
/// assert_eq!(accuracy.value(), Some(0.75));
/// # Ok::<(), dahl::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accuracy {
    correct: u64,
    total: u64,
}

impl Accuracy {
    /// Adds predicted classes and their labels.
    ///
    /// # Errors
    /// If there are not as many predictions as labels.
    pub fn update(&mut self, predictions: &[u32], labels: &[u32]) -> dahl::Result<()> {
        require_pairs("Accuracy", predictions.len(), labels.len())?;
        self.correct +=
            predictions.iter().zip(labels).filter(|(prediction, label)| prediction == label).count() as u64;
        self.total += labels.len() as u64;
        Ok(())
    }

    /// The accuracy of all predictions so far.
    pub fn value(&self) -> Option<f64> {
        ratio(self.correct, self.total)
    }
}
