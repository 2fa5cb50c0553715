//! [`Softmax`], [`LogSoftmax`] and [`Softmin`]: scores as probabilities, or as their logarithms.

use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::step::Step;

/// `exp(x)` divided by its sum along an axis: probabilities of scores.
///
/// # Shapes
/// The output as the input, with any other axes.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct Softmax {
    axis: usize,
}

impl Softmax {
    /// Along this axis of the input; the axis of the batch is 0.
    pub const fn new(axis: usize) -> Self {
        Self { axis }
    }

    /// The probabilities of scores.
    ///
    /// # Errors
    /// If there is no such axis, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::softmax_init(step, input, self.axis)
    }
}

/// `x - ln(sum of exp(x))` along an axis: the logarithms of [`Softmax`], which [`Nll`](crate::loss::Nll) and
/// [`KlDiv`](crate::loss::KlDiv) take.
///
/// # Shapes
/// The output as the input, with any other axes.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct LogSoftmax {
    axis: usize,
}

impl LogSoftmax {
    /// Along this axis of the input; the axis of the batch is 0.
    pub const fn new(axis: usize) -> Self {
        Self { axis }
    }

    /// The logarithms of the probabilities of scores.
    ///
    /// # Errors
    /// If there is no such axis, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::log_softmax_init(step, input, self.axis)
    }
}

/// `exp(-x)` divided by its sum along an axis: the smallest score is the most probable one.
///
/// # Shapes
/// The output as the input, with any other axes.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct Softmin {
    axis: usize,
}

impl Softmin {
    /// Along this axis of the input; the axis of the batch is 0.
    pub const fn new(axis: usize) -> Self {
        Self { axis }
    }

    /// The probabilities of scores.
    ///
    /// # Errors
    /// If there is no such axis, and those of the operations.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::softmax_init(step, &ops::neg_init(step, input)?, self.axis)
    }
}
