//! [`Monitor`]: the result of an epoch that says whether a model became better.

use super::history::Epoch;

/// A result of an epoch that is watched: by an early stop, by the best checkpoint, or by a plateau of the learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Monitor {
    /// The mean loss of a sample during the epoch: a lower one is better.
    Loss,
    /// The accuracy during the epoch: a higher one is better.
    Accuracy,
    /// The loss on the validation data: a lower one is better.
    ValidationLoss,
    /// The accuracy on the validation data: a higher one is better.
    ValidationAccuracy,
}

impl Monitor {
    /// Its value after an epoch. Not a number if the epoch does not have it.
    pub fn value(self, epoch: &Epoch) -> f64 {
        match self {
            Monitor::Loss => epoch.loss,
            Monitor::Accuracy => epoch.accuracy,
            Monitor::ValidationLoss => epoch.validation.map_or(f64::NAN, |validation| validation.loss),
            Monitor::ValidationAccuracy => {
                epoch.validation.map_or(f64::NAN, |validation| validation.accuracy)
            }
        }
    }

    /// Whether a value is better than the best one so far by more than `min_delta`. The first number is; what is not a
    /// number never is.
    pub(super) fn improves(self, value: f64, best: Option<f64>, min_delta: f64) -> bool {
        match (self, best) {
            (_, None) => !value.is_nan(),
            (Monitor::Loss | Monitor::ValidationLoss, Some(best)) => value < best - min_delta,
            (Monitor::Accuracy | Monitor::ValidationAccuracy, Some(best)) => value > best + min_delta,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Monitor;

    #[test]
    fn a_loss_falls_and_an_accuracy_rises() {
        let falls = |value, best| Monitor::Loss.improves(value, best, 0.125);
        assert!(falls(3.0, None) && falls(0.5, Some(1.0)) && !falls(0.875, Some(1.0)));
        assert!(!falls(f64::NAN, None) && !falls(f64::NAN, Some(1.0)));
        let rises = |value, best| Monitor::ValidationAccuracy.improves(value, best, 0.125);
        assert!(rises(0.0, None) && rises(0.75, Some(0.5)) && !rises(0.625, Some(0.5)));
        assert!(!rises(f64::NAN, None) && !rises(f64::NAN, Some(0.5)));
    }
}
