//! [`F1`]: precision and recall of each class in one number.

use super::{ConfusionMatrix, ratio};

/// The F1 score, the harmonic mean of precision and recall: `2 * right / (predicted + labelled)` of a class, which was
/// predicted rightly `right` times, predicted `predicted` times, and the label `labelled` times.
///
/// scikit-learn's `f1_score` with `labels=range(classes)` and `zero_division=0`: a class that was neither predicted nor a
/// label has a score of 0, and counts in the macro average.
///
/// ```
/// use dahl_nn::metric::F1;
///
/// let mut f1 = F1::new(2);
/// f1.update(&[0, 1, 1], &[0, 0, 1])?; // predictions, labels
/// assert_eq!(f1.per_class(), [2.0 / 3.0, 2.0 / 3.0]);
/// # Ok::<(), dahl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct F1 {
    matrix: ConfusionMatrix,
}

impl F1 {
    /// The scores of so many classes.
    pub fn new(classes: usize) -> Self {
        Self { matrix: ConfusionMatrix::new(classes) }
    }

    /// Adds predicted classes and their labels.
    ///
    /// # Errors
    /// If there are not as many predictions as labels, or one is no class. Then none is added.
    pub fn update(&mut self, predictions: &[u32], labels: &[u32]) -> dahl::Result<()> {
        self.matrix.update(predictions, labels)
    }

    /// The score of each class: `average=None`.
    pub fn per_class(&self) -> Vec<f64> {
        let score = |[right, predicted, labelled]: [u64; 3]| ratio(2 * right, predicted + labelled);
        self.matrix.totals().into_iter().map(|totals| score(totals).unwrap_or(0.0)).collect()
    }

    /// The mean of the classes' scores: `average="macro"`. None without predictions.
    pub fn macro_average(&self) -> Option<f64> {
        let scores = self.per_class();
        self.micro_average().map(|_| scores.iter().sum::<f64>() / scores.len() as f64)
    }

    /// The score of the sums over all classes: `average="micro"`. Since each sample has one label and one prediction, it
    /// is the accuracy. None without predictions.
    pub fn micro_average(&self) -> Option<f64> {
        let totals = self.matrix.totals();
        let sum = |which: usize| totals.iter().map(|totals| totals[which]).sum::<u64>();
        ratio(2 * sum(0), sum(1) + sum(2))
    }
}
