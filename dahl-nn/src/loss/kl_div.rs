//! [`KlDiv`]: the Kullback-Leibler divergence.

use dahl::ops;
use dahl::prelude::*;

use super::ElementwiseLoss;
use crate::setting;
use crate::step::Step;

/// `target * (ln(target) - output)`, where `output` is the logarithm of a probability; PyTorch's `KLDivLoss`.
///
/// [`mean`](ElementwiseLoss::mean) divides by the number of elements, as PyTorch's default does; the divergence of
/// distributions along the last axis is [`batch_mean`](Self::batch_mean).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KlDiv {
    /// Whether the target is the logarithm of a probability too; no by default. The loss is
    /// `exp(target) * (target - output)` then.
    pub log_target: bool,
}

impl KlDiv {
    /// The sum over all elements, divided by the extent of the first axis: PyTorch's `reduction="batchmean"`.
    ///
    /// # Errors
    /// If there is no first axis, and as [`each`](ElementwiseLoss::each).
    #[track_caller]
    pub fn batch_mean<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Scalar<'s, T>> {
        let Some(&batch) = output.shape().first() else {
            return Err(setting::wrong("rank of the output", 0, "at least 1").into());
        };
        let sum = self.sum(step, output, target)?;
        ops::scale_init(step, &sum, T::from_f64(1.0 / batch as f64))
    }
}

impl<T: Real> ElementwiseLoss<T> for KlDiv {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        if self.log_target {
            ops::kl_divergence_of_logarithms_init(step, output, target)
        } else {
            ops::kl_divergence_init(step, output, target)
        }
    }
}
