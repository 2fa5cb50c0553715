//! [`Conv2d`]: a two-dimensional convolution.

use dahl::ops::{self, Conv2dGeometry, Conv2dPoolGeometry};
use dahl::prelude::*;

use crate::module::{Init, Module, Parameter};
use crate::setting::{self, listed};
use crate::step::Step;

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

/// Maps each image through filters: `output = conv2d(input, weight) + bias`, with or without the bias.
///
/// # Shapes
/// `[batch, in_channels, rows, cols]` to `[batch, out_channels, (rows + 2 padding - kernel) / stride + 1, ..]`;
/// `weight: [out_channels, in_channels, kernel rows, kernel cols]`, `bias: [out_channels]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct Conv2d<'m, T: Real> {
    /// `[out_channels, in_channels, kernel rows, kernel cols]`.
    pub weight: Parameter<'m, T>,
    /// `[out_channels]`, if there is one.
    pub bias: Option<Parameter<'m, T>>,
    #[module(skip)]
    channels: [usize; 2],
    #[module(skip)]
    options: Conv2dOptions,
}

impl<'m, T: Real> Conv2d<'m, T> {
    /// A layer from `in_channels` to `out_channels` channels, drawn as PyTorch does: uniformly from `-bound .. bound`,
    /// where `bound = 1 / sqrt(in_channels * kernel elements)`.
    ///
    /// # Errors
    /// If there are no channels, the kernel is empty, the stride is 0, or memory cannot be allocated.
    #[track_caller]
    pub fn new(
        init: &mut Init<'m>,
        in_channels: usize,
        out_channels: usize,
        options: Conv2dOptions,
    ) -> dahl::Result<Self> {
        let mut layer = Self::without_bias(init, in_channels, out_channels, options)?;
        layer.bias = Some(init.uniform(&[out_channels], bound(layer.weight_shape()))?);
        Ok(layer)
    }

    /// As [`new`](Self::new), without a bias, such as before a norm, which takes it away.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn without_bias(
        init: &mut Init<'m>,
        in_channels: usize,
        out_channels: usize,
        options: Conv2dOptions,
    ) -> dahl::Result<Self> {
        let Conv2dOptions { kernel, stride, .. } = options;
        let extents = "extents from 1";
        setting::require(in_channels > 0, "Conv2d: in_channels", in_channels, "a number from 1")?;
        setting::require(out_channels > 0, "Conv2d: out_channels", out_channels, "a number from 1")?;
        setting::require(!kernel.contains(&0), "Conv2d: kernel", listed(&kernel), extents)?;
        setting::require(!stride.contains(&0), "Conv2d: stride", listed(&stride), extents)?;
        let shape = [out_channels, in_channels, kernel[0], kernel[1]];
        let weight = init.uniform(&shape, bound(shape))?;
        Ok(Self { weight, bias: None, channels: [out_channels, in_channels], options })
    }

    /// The settings.
    pub fn options(&self) -> Conv2dOptions {
        self.options
    }

    /// The extents of the output for images of these extents; none if the kernel does not fit.
    pub fn output_extents(&self, [rows, cols]: [usize; 2]) -> Option<[usize; 2]> {
        let Conv2dOptions { kernel, stride, padding } = self.options;
        let along = |axis: usize, extent: usize| {
            let padded = padding[axis].checked_mul(2)?.checked_add(extent)?;
            Some(padded.checked_sub(kernel[axis])? / stride[axis] + 1)
        };
        Some([along(0, rows)?, along(1, cols)?])
    }

    fn weight_shape(&self) -> [usize; 4] {
        let ([outputs, inputs], [rows, cols]) = (self.channels, self.options.kernel);
        [outputs, inputs, rows, cols]
    }

    /// Maps a batch of images.
    ///
    /// # Errors
    /// If the images do not have the layer's channels or the kernel does not fit, and those of the operations.
    #[track_caller]
    pub fn forward<'s>(&self, step: &'s Step<'_>, images: &Tensor<'_, T>) -> dahl::Result<Tensor<'s, T>> {
        let Conv2dOptions { stride, padding, .. } = self.options;
        let weight = self.weight.value.reshaped(self.weight_shape())?;
        let output = ops::conv2d_init(step, images, &*weight, Conv2dGeometry { stride, padding })?;
        let Some(bias) = &self.bias else { return Ok(output) };
        ops::bias_init(step, &output, &bias.value, 1)
    }

    /// As [`forward`](Self::forward), then ReLU: one task if the stride is 1 and there is a bias.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    #[track_caller]
    pub fn forward_relu<'s>(
        &self,
        step: &'s Step<'_>,
        images: &Tensor<'_, T>,
    ) -> dahl::Result<Tensor<'s, T>> {
        let Some(bias) = self.fused_bias() else {
            return ops::relu_init(step, &self.forward(step, images)?);
        };
        let weight = self.weight.value.reshaped(self.weight_shape())?;
        ops::conv2d_relu_init(step, images, &*weight, &bias.value, self.options.padding)
    }

    /// As [`forward_relu`](Self::forward_relu), then the maximum over windows of `size` by `size` that do not overlap: one
    /// task if the stride is 1 and there is a bias.
    ///
    /// # Errors
    /// As [`forward`](Self::forward), and if the window does not fit.
    #[track_caller]
    pub fn forward_relu_max_pool<'s>(
        &self,
        step: &'s Step<'_>,
        images: &Tensor<'_, T>,
        size: usize,
    ) -> dahl::Result<Tensor<'s, T>> {
        let Some(bias) = self.fused_bias() else {
            let output = self.forward_relu(step, images)?;
            return Ok(ops::max_pool2d_init(step, &output, ops::Pool2dGeometry::new([size; 2]))?.0);
        };
        let weight = self.weight.value.reshaped(self.weight_shape())?;
        let geometry = Conv2dPoolGeometry::new([size; 2]).padding(self.options.padding);
        let (output, _) = ops::conv2d_relu_max_pool2d_init(step, images, &*weight, &bias.value, geometry)?;
        Ok(output)
    }

    /// The bias, if the operations apply that do several steps in one task: with stride 1 and a bias.
    fn fused_bias(&self) -> Option<&Parameter<'m, T>> {
        self.bias.as_ref().filter(|_| self.options.stride == [1; 2])
    }
}

/// The bound of the random numbers that a weight of this shape and its bias start with.
fn bound(weight: [usize; 4]) -> f64 {
    let fan_in: f64 = weight[1..].iter().map(|&extent| extent as f64).product();
    1.0 / fan_in.sqrt()
}
