//! The gradients of the backward passes of [`batch_norm`](super::batch_norm()) and [`group_norm`](super::group_norm()),
//! by operations of their own gradients.

use dahl::prelude::*;
use dahl::{Result, RuleScope};

use super::{add_init, add_value_init, mul_init, power_value_init, scale_init, sub_init, sum_axes_init};

/// Arrays `[batch, groups, channels of a group, plane]`, and the axes of the elements that are normalised together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normalised {
    shape: [usize; 4],
    axes: [usize; 2],
}

/// What a backward pass got: its inputs, and the gradients by its results.
#[derive(Clone, Copy)]
pub(super) struct Backward<'a, T: Real, const N: usize> {
    pub(super) input: &'a Array<'a, T, N>,
    pub(super) weight: &'a Array<'a, T, 1>,
    pub(super) gradient: &'a Array<'a, T, N>,
    pub(super) by_input: Option<&'a Array<'a, T, N>>,
    pub(super) by_weight: Option<&'a Array<'a, T, 1>>,
    pub(super) by_bias: Option<&'a Array<'a, T, 1>>,
}

/// The gradients by the input, the weight and the gradient of a backward pass.
pub(super) type Gradients<'r, T, const N: usize> = (Array<'r, T, N>, Array<'r, T, 1>, Array<'r, T, N>);

impl Normalised {
    /// Channels over a batch.
    pub(super) fn over_batch<const N: usize>(shape: [usize; N]) -> Self {
        Self { shape: [shape[0], shape[1], 1, shape[2..].iter().product()], axes: [0, 3] }
    }

    /// Groups of channels of a sample.
    pub(super) fn over_groups<const N: usize>(shape: [usize; N], groups: usize) -> Self {
        Self { shape: [shape[0], groups, shape[1] / groups, shape[2..].iter().product()], axes: [2, 3] }
    }

    /// The shape of weights and biases.
    fn channels(&self) -> [usize; 4] {
        [1, self.shape[1], self.shape[2], 1]
    }

    /// The means over the elements that are normalised together.
    fn mean<'r, T: Real>(
        &self,
        scope: &'r RuleScope<'_>,
        values: &Array<'_, T, 4>,
    ) -> Result<Array<'r, T, 4>> {
        let [first, second] = self.axes;
        let count = (self.shape[first] * self.shape[second]) as f64;
        scale_init(scope, &sum_axes_init(scope, values, self.axes)?, T::from_f64(1.0 / count))
    }

    /// What `values` have neither of a constant nor of the normalised input:
    /// `values - mean of values - normalised * mean of values * normalised`.
    fn project<'r, T: Real>(
        &self,
        scope: &'r RuleScope<'_>,
        values: &Array<'_, T, 4>,
        normalised: &Array<'_, T, 4>,
    ) -> Result<Array<'r, T, 4>> {
        let moment = self.mean(scope, &mul_init(scope, values, normalised)?)?;
        let centred = sub_init(scope, values, &self.mean(scope, values)?)?;
        sub_init(scope, &centred, &mul_init(scope, normalised, &moment)?)
    }

    /// The gradients of a backward pass.
    ///
    /// With `x` the normalised input, `r = 1 / sqrt(variance + epsilon)` and `p` the projection, which is its own
    /// adjoint, the pass is `by_input = r p(weight * gradient)`, `by_weight = sum of gradient * x`,
    /// `by_bias = sum of gradient`. `x` and `r` depend on the input: the gradient by `x` passes `r p`, and that of `r`
    /// by the input is `-r^2 x / count`.
    pub(super) fn gradients<'r, T: Real, const N: usize>(
        &self,
        scope: &'r RuleScope<'_>,
        given: Backward<'_, T, N>,
        epsilon: T,
    ) -> Result<Gradients<'r, T, N>> {
        let input = &*given.input.reshaped(self.shape)?;
        let weight = &*given.weight.reshaped(self.channels())?;
        let gradient = &*given.gradient.reshaped(self.shape)?;
        let centred = sub_init(scope, input, &self.mean(scope, input)?)?;
        let variance = self.mean(scope, &mul_init(scope, &centred, &centred)?)?;
        let inverse =
            power_value_init(scope, &add_value_init(scope, &variance, epsilon)?, T::from_f64(-0.5))?;
        let normalised = mul_init(scope, &centred, &inverse)?;
        let zeros = |shape| scope.detached().zeros(shape);

        let mut by_normalised = zeros(self.shape)?;
        let mut of_input = zeros(self.shape)?;
        let mut of_weight = zeros(self.channels())?;
        let mut of_gradient = zeros(self.shape)?;
        if let Some(by_input) = given.by_input {
            let by_input = &*by_input.reshaped(self.shape)?;
            let weighted = mul_init(scope, weight, gradient)?;
            let moment = self.mean(scope, &mul_init(scope, &weighted, &normalised)?)?;
            let other = self.mean(scope, &mul_init(scope, by_input, &normalised)?)?;
            let both =
                add_init(scope, &mul_init(scope, by_input, &moment)?, &mul_init(scope, &weighted, &other)?)?;
            by_normalised = sub_init(scope, &by_normalised, &mul_init(scope, &both, &inverse)?)?;

            let projected = self.project(scope, by_input, &normalised)?;
            let along = self.mean(scope, &mul_init(scope, &projected, &weighted)?)?;
            let along = mul_init(scope, &along, &mul_init(scope, &inverse, &inverse)?)?;
            of_input = sub_init(scope, &of_input, &mul_init(scope, &normalised, &along)?)?;

            let projected = mul_init(scope, &projected, &inverse)?;
            of_weight = sum_axes_init(scope, &mul_init(scope, &projected, gradient)?, [0, 3])?;
            of_gradient = mul_init(scope, &projected, weight)?;
        }
        if let Some(by_weight) = given.by_weight {
            let by_weight = &*by_weight.reshaped(self.channels())?;
            by_normalised = add_init(scope, &by_normalised, &mul_init(scope, gradient, by_weight)?)?;
            of_gradient = add_init(scope, &of_gradient, &mul_init(scope, &normalised, by_weight)?)?;
        }
        if let Some(by_bias) = given.by_bias {
            of_gradient = add_init(scope, &of_gradient, &*by_bias.reshaped(self.channels())?)?;
        }
        let projected = self.project(scope, &by_normalised, &normalised)?;
        of_input = add_init(scope, &of_input, &mul_init(scope, &projected, &inverse)?)?;
        let shape = given.input.shape();
        Ok((of_input.reshape(shape)?, of_weight.reshape(given.weight.shape())?, of_gradient.reshape(shape)?))
    }
}
