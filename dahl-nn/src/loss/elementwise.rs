//! [`ElementwiseLoss`]: the trait of losses that compare an output with a target element by element.

use dahl::ops;
use dahl::prelude::*;

use crate::step::Step;

/// A loss of each element of an output and of a target of the same shape, with PyTorch's three reductions.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::loss::{ElementwiseLoss, SmoothL1};
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let step = Step::learning(&rt);
/// let output = rt.from_vec([3], vec![1.0_f32, 0.5, 4.0])?;
/// let target = rt.from_vec([3], vec![1.0, 0.0, 1.0])?;
/// assert_eq!(SmoothL1::default().each(&step, &output, &target)?.to_vec()?, [0.0, 0.125, 2.5]);
/// let loss = SmoothL1::default().mean(&step, &output, &target)?;
/// assert_eq!(loss.to_vec()?, [0.875]);
/// # Ok(())
/// # }
/// ```
pub trait ElementwiseLoss<T: Real> {
    /// The loss of each element, PyTorch's `reduction="none"`.
    ///
    /// # Shapes
    /// `output`, `target` and the result of one shape.
    ///
    /// # Errors
    /// If the shapes differ, and those of the operations.
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>>;

    /// The sum over all elements, PyTorch's `reduction="sum"`.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    #[track_caller]
    fn sum<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::sum_init(step, &self.each(step, output, target)?)
    }

    /// The mean over all elements, PyTorch's default.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    #[track_caller]
    fn mean<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::mean_init(step, &self.each(step, output, target)?)
    }
}
