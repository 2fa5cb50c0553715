//! [`ConfusionMatrix`]: how often each class is predicted for each label.

use std::fmt;

use super::{require_classes, require_pairs};

/// How often each class is predicted for each label: scikit-learn's `confusion_matrix`. Rows are labels, columns are
/// predictions.
///
/// ```
/// use dahl_nn::metric::ConfusionMatrix;
///
/// let mut matrix = ConfusionMatrix::new(2);
/// matrix.update(&[0, 1, 1], &[0, 0, 1])?; // predictions, labels
/// assert_eq!(matrix.rows().collect::<Vec<_>>(), [[1, 1], [0, 1]]);
/// # Ok::<(), dahl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfusionMatrix {
    classes: usize,
    counts: Vec<u64>,
}

impl ConfusionMatrix {
    /// A matrix of so many classes, without predictions.
    pub fn new(classes: usize) -> Self {
        Self { classes, counts: vec![0; classes * classes] }
    }

    /// Adds predicted classes and their labels.
    ///
    /// # Errors
    /// If there are not as many predictions as labels, or one is no class. Then none is added.
    pub fn update(&mut self, predictions: &[u32], labels: &[u32]) -> dahl::Result<()> {
        require_pairs("ConfusionMatrix", predictions.len(), labels.len())?;
        require_classes("ConfusionMatrix", predictions, self.classes)?;
        require_classes("ConfusionMatrix", labels, self.classes)?;
        for (&prediction, &label) in predictions.iter().zip(labels) {
            self.counts[label as usize * self.classes + prediction as usize] += 1;
        }
        Ok(())
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// How often class `prediction` was predicted for label `label`.
    ///
    /// # Panics
    /// If one is no class.
    pub fn count(&self, label: u32, prediction: u32) -> u64 {
        let (label, prediction) = (label as usize, prediction as usize);
        assert!(
            label < self.classes && prediction < self.classes,
            "ConfusionMatrix: no class {}: there are {}",
            label.max(prediction),
            self.classes
        );
        self.counts[label * self.classes + prediction]
    }

    /// The counts of each label, by prediction.
    pub fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks_exact(self.classes.max(1))
    }

    /// For each class: how often it was predicted rightly, was predicted, and was the label.
    pub(super) fn totals(&self) -> Vec<[u64; 3]> {
        let total = |class: usize| {
            let predicted = self.rows().map(|row| row[class]).sum();
            let row = &self.counts[class * self.classes..][..self.classes];
            [row[class], predicted, row.iter().sum()]
        };
        (0..self.classes).map(total).collect()
    }
}

/// A line for each label.
impl fmt::Display for ConfusionMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |number: &u64| number.to_string().len();
        let width = self.counts.iter().map(digits).max().unwrap_or(1);
        for row in self.rows() {
            let counts: Vec<String> = row.iter().map(|count| format!("{count:>width$}")).collect();
            writeln!(f, "{}", counts.join(" "))?;
        }
        Ok(())
    }
}
