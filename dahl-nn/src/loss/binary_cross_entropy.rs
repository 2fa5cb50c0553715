//! Binary cross-entropy: [`Bce`] of probabilities, [`BceWithLogits`] of logits.

use dahl::ops;
use dahl::prelude::*;

use super::ElementwiseLoss;
use crate::step::Step;

/// `-(target * ln(output) + (1 - target) * ln(1 - output))`, with logarithms of at least -100; PyTorch's `BCELoss`.
///
/// The output is a probability. [`BceWithLogits`] is more accurate than a sigmoid and this. A `weight` of each element,
/// PyTorch's option, is a product with the result of [`each`](ElementwiseLoss::each).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bce;

impl<T: Real> ElementwiseLoss<T> for Bce {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::binary_cross_entropy_init(step, output, target)
    }
}

/// `max(output, 0) - output * target + ln(1 + exp(-|output|))`, the binary cross-entropy of `sigmoid(output)` and
/// target; PyTorch's `BCEWithLogitsLoss`.
///
/// A `weight` of each element, PyTorch's option, is a product with the result of [`each`](ElementwiseLoss::each).
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::loss::{BceWithLogits, ElementwiseLoss};
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let step = Step::learning(&rt);
/// let logits = rt.from_vec([2, 1], vec![0.0_f64, 800.0])?;
/// let target = rt.from_vec([2, 1], vec![1.0, 0.0])?;
/// let each = BceWithLogits.each(&step, &logits, &target)?;
/// assert_eq!(each.to_vec()?, [2.0_f64.ln(), 800.0]);
/// let positive = rt.from_vec([1], vec![3.0])?;
/// let each = BceWithLogits.pos_weight(&positive).each(&step, &logits, &target)?;
/// assert_eq!(each.to_vec()?, [3.0 * 2.0_f64.ln(), 800.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BceWithLogits;

impl BceWithLogits {
    /// Multiplies the term of the positive target by a weight for each class, PyTorch's `pos_weight`.
    ///
    /// # Shapes
    /// `weight: [classes]`, for outputs `[.., classes]`.
    pub fn pos_weight<'w, T: Real>(self, weight: &'w Vector<'w, T>) -> PositiveWeight<'w, T> {
        PositiveWeight { weight }
    }
}

impl<T: Real> ElementwiseLoss<T> for BceWithLogits {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::binary_cross_entropy_with_logits_init(step, output, target)
    }
}

/// [`BceWithLogits`] with a weight of the positive targets:
/// `(1 - target) * output + (1 + (weight - 1) * target) * ln(1 + exp(-output))`.
#[derive(Clone, Copy, Debug)]
pub struct PositiveWeight<'w, T: Real> {
    weight: &'w Vector<'w, T>,
}

impl<T: Real> ElementwiseLoss<T> for PositiveWeight<'_, T> {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let shape = output.shape();
        let wrong = |fact| dahl::Error::invalid_shape("BceWithLogits", fact);
        if target.shape() != shape {
            return Err(wrong(format!("the output has shape {shape:?}, the target {:?}", target.shape())));
        }
        let mut last = [1; N];
        match (last.last_mut(), shape.last()) {
            (Some(last), Some(&classes)) if classes == self.weight.len() => *last = classes,
            _ => {
                let fact = format!("the output has shape {shape:?}, pos_weight {:?}", self.weight.shape());
                return Err(wrong(fact));
            }
        }
        let weight = self.weight.reshaped(last)?;
        ops::binary_cross_entropy_with_logits_weighted_init(step, output, target, &*weight)
    }
}
