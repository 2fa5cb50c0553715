//! [`Conv2d`]: a two-dimensional convolution with a bias.

use dahl::ops::{self, Conv2dGeometry, Conv2dPoolGeometry, Philox};
use dahl::prelude::*;

use super::{Backward, Epilogue, Forward, Layer, Parameter, flat, images};
use crate::setting::{self, listed};

/// How a [`Conv2d`] moves over the image; `[rows, cols]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv2dOptions {
    /// The kernel's extents.
    pub kernel: [usize; 2],
    /// The stride.
    pub stride: [usize; 2],
    /// Zeros around the image.
    pub padding: [usize; 2],
}

impl Conv2dOptions {
    /// A square kernel with stride 1, without padding.
    pub fn square(size: usize) -> Self {
        Self { kernel: [size; 2], stride: [1; 2], padding: [0; 2] }
    }
}

/// Maps each image through filters: `output = conv2d(input, weight) + bias`.
///
/// With stride 1 it fuses a [`Relu`](super::Relu) that follows, and a [`MaxPool2d`](super::MaxPool2d) that follows
/// that: all three are one task then.
///
/// # Shapes
/// Samples `[in_channels, rows, cols]` to `[out_channels, (rows + 2 padding - kernel) / stride + 1, ..]`;
/// `weight: [out_channels, in_channels, kernel rows, kernel cols]`, `bias: [out_channels]`.
#[derive(Debug)]
pub struct Conv2d<'m, T: Real> {
    /// Weight and bias.
    parameters: [Parameter<'m, T>; 2],
    input: [usize; 3],
    output: [usize; 3],
    options: Conv2dOptions,
    /// Whether it fuses ReLU.
    relu: bool,
    /// The extent of the pooling windows that it fuses, if any.
    pool: Option<usize>,
}

impl<'m, T: Real> Conv2d<'m, T> {
    /// A layer of `filters` filters for samples of shape `input`, initialised as PyTorch does, by these random numbers.
    ///
    /// # Errors
    /// If there are no filters, the kernel is empty or does not fit the padded image, the stride is 0, or memory cannot
    /// be allocated.
    #[track_caller]
    pub fn new(
        arena: &'m Arena,
        input: [usize; 3],
        filters: usize,
        options: Conv2dOptions,
        numbers: Philox,
    ) -> dahl::Result<Self> {
        let Conv2dOptions { kernel, stride, padding } = options;
        let extents = "extents from 1";
        setting::require(filters > 0, "Conv2d: filters", filters, "a number from 1")?;
        setting::require(!kernel.contains(&0), "Conv2d: kernel", listed(&kernel), extents)?;
        setting::require(!stride.contains(&0), "Conv2d: stride", listed(&stride), extents)?;
        let positions = |axis: usize| {
            let padded = padding[axis].checked_mul(2)?.checked_add(input[axis + 1])?;
            Some(padded.checked_sub(kernel[axis])? / stride[axis] + 1)
        };
        let (Some(rows), Some(cols)) = (positions(0), positions(1)) else {
            let value = format!("{kernel:?} on images of {input:?} with padding {padding:?}");
            return Err(
                setting::wrong("Conv2d: kernel", value, "a kernel that fits the padded images").into()
            );
        };
        let shape = [filters, input[0], kernel[0], kernel[1]];
        let fan_in: f64 = shape[1..].iter().map(|&extent| extent as f64).product();
        let bound = 1.0 / fan_in.max(1.0).sqrt();
        let weight = Parameter::uniform(arena, "weight", &shape, bound, numbers)?;
        let after = numbers.skip(weight.len() as u64);
        let bias = Parameter::uniform(arena, "bias", &[filters], bound, after)?;
        let output = [filters, rows, cols];
        Ok(Self { parameters: [weight, bias], input, output, options, relu: false, pool: None })
    }

    /// The shape of a sample's output, with the fused layers.
    fn pooled(&self) -> [usize; 3] {
        let [channels, rows, cols] = self.output;
        let size = self.pool.unwrap_or(1);
        [channels, rows / size, cols / size]
    }

    fn weight_shape(&self) -> [usize; 4] {
        let [rows, cols] = self.options.kernel;
        [self.output[0], self.input[0], rows, cols]
    }
}

impl<'m, T: Real> Layer<'m, T> for Conv2d<'m, T> {
    fn name(&self) -> &'static str {
        "conv2d"
    }

    fn detail(&self) -> String {
        let Conv2dOptions { kernel: [rows, cols], stride, padding } = self.options;
        let mut text = format!("{}->{}, {rows}x{cols}", self.input[0], self.output[0]);
        if stride != [1; 2] {
            text += &format!(", stride {}x{}", stride[0], stride[1]);
        }
        if padding != [0; 2] {
            text += &format!(", padding {}x{}", padding[0], padding[1]);
        }
        text
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

    fn fuse(&mut self, next: Epilogue) -> bool {
        match next {
            Epilogue::Relu if !self.relu && self.options.stride == [1; 2] => self.relu = true,
            Epilogue::MaxPool2d { size } if self.relu && self.pool.is_none() => self.pool = Some(size),
            _ => return false,
        }
        true
    }

    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>> {
        let Conv2dOptions { stride, padding, .. } = self.options;
        let input = input.reshaped(images(input.shape()[0], self.input))?;
        let [weight, bias] = &self.parameters;
        let weight = weight.value.reshaped(self.weight_shape())?;
        let bias = &bias.value;
        if let Some(size) = self.pool {
            let (output, argmax) = ops::conv2d_relu_max_pool2d_init(
                step,
                &input,
                &weight,
                bias,
                Conv2dPoolGeometry::new([size; 2]).padding(padding),
            )?;
            return Ok(Forward { output: flat(output)?, argmax: Some(flat(argmax)?) });
        }
        let output = if self.relu {
            ops::conv2d_relu_init(step, &input, &weight, bias, padding)?
        } else {
            let mut output = ops::conv2d_init(step, &input, &weight, Conv2dGeometry { stride, padding })?;
            ops::bias_self(&mut output, bias, 1)?;
            output
        };
        Ok(Forward::new(flat(output)?))
    }

    fn backward<'s>(
        &mut self,
        step: &'s Arena,
        pass: Backward<'_, T>,
    ) -> dahl::Result<Option<Matrix<'s, T>>> {
        let Conv2dOptions { stride, padding, .. } = self.options;
        let batch = pass.input.shape()[0];
        let input = pass.input.reshaped(images(batch, self.input))?;
        let pooled = images(batch, self.pooled());
        let (gradient, output) = (pass.gradient.reshaped(pooled)?, pass.forward.output.reshaped(pooled)?);
        let weight_shape = self.weight_shape();
        let [weight, bias] = &mut self.parameters;
        let (mut by_weight, by_bias) = (weight.gradient.reshaped_mut(weight_shape)?, &mut bias.gradient);
        let made = match (self.pool, &pass.forward.argmax) {
            (Some(size), Some(argmax)) => {
                let argmax = argmax.reshaped(pooled)?;
                if !pass.needs_input_gradient {
                    ops::conv2d_relu_max_pool2d_backward(
                        &input,
                        &gradient,
                        &output,
                        &argmax,
                        &mut by_weight,
                        by_bias,
                        Conv2dPoolGeometry::new([size; 2]).padding(padding),
                    )?;
                    return Ok(None);
                }
                let mut by_sums = step.zeros(images(batch, self.output))?;
                ops::bias_relu_max_pool2d_backward(&gradient, &output, &argmax, &mut by_sums, by_bias)?;
                Some(by_sums)
            }
            _ if self.relu => {
                if !pass.needs_input_gradient {
                    ops::conv2d_relu_backward(&input, &gradient, &output, &mut by_weight, by_bias, padding)?;
                    return Ok(None);
                }
                let by_sums = ops::relu_backward_init(step, &output, &gradient)?;
                ops::bias_backward(&by_sums, by_bias, 1)?;
                Some(by_sums)
            }
            _ => {
                ops::bias_backward(&gradient, by_bias, 1)?;
                None
            }
        };
        let by_sums = made.as_ref().unwrap_or(&gradient);
        ops::conv2d_backward_filters(&input, by_sums, &mut by_weight, Conv2dGeometry { stride, padding })?;
        if !pass.needs_input_gradient {
            return Ok(None);
        }
        let weight = weight.value.reshaped(weight_shape)?;
        let mut by_input = step.zeros(images(batch, self.input))?;
        ops::conv2d_backward_input(by_sums, &weight, &mut by_input, Conv2dGeometry { stride, padding })?;
        flat(by_input).map(Some)
    }
}
