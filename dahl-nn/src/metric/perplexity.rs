//! [`Perplexity`]: how many tokens a language model hesitates between.

use dahl::prelude::*;

use super::rows;

/// The perplexity of a language model: `exp` of the mean cross-entropy of a token, so `exp(log_loss)` by scikit-learn's
/// `log_loss`, and what torchmetrics calls `Perplexity`. A model that gives each of `n` tokens the same probability has
/// the perplexity `n`.
///
/// Jelinek, Mercer, Bahl, Baker 1977, "Perplexity: a measure of the difficulty of speech recognition tasks".
///
/// ```
/// use dahl_nn::metric::Perplexity;
///
/// let mut perplexity = Perplexity::default();
/// perplexity.update(&[0.0_f32; 8], &[3, 0])?; // two tokens, four to choose from
/// assert_eq!(perplexity.value(), Some(4.0));
/// # Ok::<(), dahl::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Perplexity {
    /// The sum of the tokens' cross-entropies, in nats.
    sum: f64,
    tokens: u64,
}

impl Perplexity {
    /// Adds the scores (logits) of all tokens of the vocabulary, one place of the text after the other, and the tokens
    /// that are there.
    ///
    /// # Shapes
    /// `scores: [batch, vocabulary]`, `labels: [batch]`.
    ///
    /// # Errors
    /// If the scores are not those of as many places as there are labels, or a label is not in the vocabulary.
    pub fn update<T: Real>(&mut self, scores: &[T], labels: &[u32]) -> dahl::Result<()> {
        for (scores, &label) in rows("Perplexity", scores, labels)?.zip(labels) {
            let scores = || scores.iter().map(|score| score.to_f64());
            let highest = scores().fold(f64::NEG_INFINITY, f64::max);
            // Subtracting the highest keeps the exponentials finite.
            let sum: f64 = scores().map(|score| (score - highest).exp()).sum();
            let of_label = scores().nth(label as usize).unwrap_or(f64::NAN);
            self.sum += sum.ln() + highest - of_label;
        }
        self.tokens += labels.len() as u64;
        Ok(())
    }

    /// Adds the mean cross-entropy of so many tokens, in nats, as a loss has computed it.
    pub fn update_mean(&mut self, cross_entropy: f64, tokens: usize) {
        self.sum += cross_entropy * tokens as f64;
        self.tokens += tokens as u64;
    }

    /// The perplexity of all tokens so far.
    pub fn value(&self) -> Option<f64> {
        (self.tokens > 0).then(|| (self.sum / self.tokens as f64).exp())
    }
}
