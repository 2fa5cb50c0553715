//! Metrics: how good predictions are, from labels and predictions on the host, batch by batch.
//!
//! Each metric has `update`, which adds a batch, and methods for the value of all batches so far. What has no value yet,
//! such as the accuracy of no prediction, is `None`. Conventions are those of scikit-learn, function by function as each
//! type says.
//!
//! Not here: losses (`loss`), and the accuracy of a model on a data set (`sequential::Evaluation`).

mod accuracy;
mod confusion_matrix;
mod f1;
mod perplexity;
mod top_k_accuracy;

pub use accuracy::Accuracy;
pub use confusion_matrix::ConfusionMatrix;
pub use f1::F1;
pub use perplexity::Perplexity;
pub use top_k_accuracy::TopKAccuracy;

use crate::error::{Error, Result};

/// Requires a label for each prediction.
fn require_pairs(metric: &'static str, predictions: usize, labels: usize) -> Result<()> {
    if predictions == labels { Ok(()) } else { Err(Error::Predictions { metric, predictions, labels }) }
}

/// Requires classes below the number of classes.
fn require_classes(metric: &'static str, values: &[u32], classes: usize) -> Result<()> {
    match values.iter().find(|&&class| class as usize >= classes) {
        Some(&class) => Err(Error::Class { metric, class, classes }),
        None => Ok(()),
    }
}

/// The rows of scores, one for each label, of as many classes as there are.
fn rows<'s, T>(
    metric: &'static str,
    scores: &'s [T],
    labels: &[u32],
) -> Result<impl Iterator<Item = &'s [T]>> {
    let classes = scores.len().checked_div(labels.len()).unwrap_or(0);
    if classes * labels.len() != scores.len() {
        return Err(Error::Scores { metric, scores: scores.len(), labels: labels.len() });
    }
    require_classes(metric, labels, classes)?;
    Ok(scores.chunks_exact(classes.max(1)))
}

/// The quotient, if there is one.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
