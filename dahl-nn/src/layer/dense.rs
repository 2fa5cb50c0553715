//! [`Dense`]: a fully connected (linear) layer.

use dahl::ops::{self, Philox, Transposed};
use dahl::prelude::*;

use super::{Backward, Forward, Layer, Parameter};
use crate::setting;

/// Maps each sample through the layer: `output = input x transposed(weight) + bias`.
///
/// # Shapes
/// Samples of `inputs` features, whatever their shape, to `[outputs]`; `weight: [outputs, inputs]`,
/// `bias: [outputs]`.
#[derive(Debug)]
pub struct Dense<'m, T: Real> {
    /// Weight and bias.
    parameters: [Parameter<'m, T>; 2],
    inputs: usize,
    output: [usize; 1],
}

impl<'m, T: Real> Dense<'m, T> {
    /// A layer from `inputs` to `outputs` features, initialised as PyTorch does, by these random numbers.
    ///
    /// # Errors
    /// If there are no inputs or no outputs, or memory cannot be allocated.
    #[track_caller]
    pub fn new(arena: &'m Arena, inputs: usize, outputs: usize, numbers: Philox) -> dahl::Result<Self> {
        setting::require(inputs > 0, "Dense: inputs", inputs, "a number from 1")?;
        setting::require(outputs > 0, "Dense: outputs", outputs, "a number from 1")?;
        let bound = 1.0 / (inputs as f64).sqrt();
        let weight = Parameter::uniform(arena, "weight", &[outputs, inputs], bound, numbers)?;
        let bias = Parameter::uniform(arena, "bias", &[outputs], bound, numbers.skip(weight.len() as u64))?;
        Ok(Self { parameters: [weight, bias], inputs, output: [outputs] })
    }
}

impl<'m, T: Real> Layer<'m, T> for Dense<'m, T> {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn detail(&self) -> String {
        format!("{}->{}", self.inputs, self.output[0])
    }

    fn output_shape(&self) -> &[usize] {
        &self.output
    }

    fn parameters(&self) -> &[Parameter<'m, T>] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [Parameter<'m, T>] {
        &mut self.parameters
    }

    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>> {
        let [weight, bias] = &self.parameters;
        let weight = weight.value.reshaped([self.output[0], self.inputs])?;
        let mut output = ops::matmul_transposed_init(step, input, &weight, Transposed::RIGHT)?;
        ops::bias_self(&mut output, &bias.value, 1)?;
        Ok(Forward::new(output))
    }

    fn backward<'s>(
        &mut self,
        step: &'s Arena,
        pass: Backward<'_, T>,
    ) -> dahl::Result<Option<Matrix<'s, T>>> {
        let shape = [self.output[0], self.inputs];
        let [weight, bias] = &mut self.parameters;
        let mut by_weight = weight.gradient.reshaped_mut(shape)?;
        ops::matmul_add_transposed(pass.gradient, pass.input, &mut by_weight, Transposed::LEFT)?;
        ops::bias_backward(pass.gradient, &mut bias.gradient, 1)?;
        if !pass.needs_input_gradient {
            return Ok(None);
        }
        let weight = weight.value.reshaped(shape)?;
        ops::matmul_init(step, pass.gradient, &weight).map(Some)
    }
}
