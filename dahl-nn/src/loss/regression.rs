//! Losses of predicted numbers: [`Mse`], [`L1`], [`Huber`] and [`SmoothL1`].

use dahl::ops;
use dahl::prelude::*;

use super::ElementwiseLoss;
use crate::step::Step;

/// One over the number of elements.
fn share<T: Real, const N: usize>(array: &Array<'_, T, N>) -> f64 {
    1.0 / array.len() as f64
}

/// The squared error, `(output - target)^2`; PyTorch's `MSELoss`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mse;

impl<T: Real> ElementwiseLoss<T> for Mse {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::squared_error_init(step, output, target)
    }

    #[track_caller]
    fn sum<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::mean_squared_error_init(step, output, target, 1.0)
    }

    #[track_caller]
    fn mean<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::mean_squared_error_init(step, output, target, share(output))
    }
}

/// The absolute error, `|output - target|`; PyTorch's `L1Loss`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct L1;

impl<T: Real> ElementwiseLoss<T> for L1 {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::absolute_error_init(step, output, target)
    }

    #[track_caller]
    fn sum<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::mean_absolute_error_init(step, output, target, 1.0)
    }

    #[track_caller]
    fn mean<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::mean_absolute_error_init(step, output, target, share(output))
    }
}

/// With `d = output - target`: `d^2 / 2` where `|d| < delta`, else `delta * (|d| - delta / 2)`; PyTorch's `HuberLoss`
/// (Huber 1964).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Huber {
    /// Where it becomes linear; above 0, 1 by default.
    pub delta: f64,
}

impl Default for Huber {
    fn default() -> Self {
        Self { delta: 1.0 }
    }
}

impl<T: Real> ElementwiseLoss<T> for Huber {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::huber_init(step, output, target, self.delta)
    }
}

/// With `d = output - target`: `d^2 / (2 beta)` where `|d| < beta`, else `|d| - beta / 2`; PyTorch's `SmoothL1Loss`
/// (Girshick 2015, *Fast R-CNN*).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothL1 {
    /// Where it becomes linear; from 0, 1 by default.
    pub beta: f64,
}

impl Default for SmoothL1 {
    fn default() -> Self {
        Self { beta: 1.0 }
    }
}

impl<T: Real> ElementwiseLoss<T> for SmoothL1 {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::smooth_l1_init(step, output, target, self.beta)
    }
}
