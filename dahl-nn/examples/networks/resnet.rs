//! Residual networks for small images (He et al. 2016, *Deep Residual Learning for Image Recognition*, section 4.2): three
//! groups of blocks, of which the second and the third halve the image. Three blocks each make ResNet-20.

use dahl::ops::{add_init, relu_init};
use dahl::prelude::*;
use dahl_nn::prelude::*;

/// The extents of a [`ResNet`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    /// Channels of the images.
    pub(crate) channels: usize,
    /// Channels of the first group; the others have two and four times as many.
    pub(crate) width: usize,
    /// Blocks of each group.
    pub(crate) blocks: usize,
    pub(crate) classes: usize,
}

/// Two convolutions, whose result is added to their input. Convolutions have no bias, since the norms would take it away.
#[derive(Module)]
struct Residual<'m, T: Real> {
    conv1: Conv2d<'m, T>,
    norm1: BatchNorm<'m, T>,
    conv2: Conv2d<'m, T>,
    norm2: BatchNorm<'m, T>,
    /// What the input goes through if its shape is not that of the result.
    shortcut: Option<Conv2d<'m, T>>,
}

impl<'m, T: Real> Residual<'m, T> {
    fn new(init: &mut Init<'m>, inputs: usize, channels: usize, stride: usize) -> dahl::Result<Self> {
        let padded = Conv2dOptions { padding: [1; 2], ..Conv2dOptions::square(3) };
        let strided = Conv2dOptions { stride: [stride; 2], ..padded };
        let short = Conv2dOptions { stride: [stride; 2], ..Conv2dOptions::square(1) };
        let changes = stride != 1 || inputs != channels;
        Ok(Self {
            conv1: Conv2d::without_bias(init, inputs, channels, strided)?,
            norm1: BatchNorm::new(init, channels)?,
            conv2: Conv2d::without_bias(init, channels, channels, padded)?,
            norm2: BatchNorm::new(init, channels)?,
            shortcut: changes.then(|| Conv2d::without_bias(init, inputs, channels, short)).transpose()?,
        })
    }

    fn forward<'s>(&self, step: &'s Step<'_>, x: &Tensor<'_, T>) -> dahl::Result<Tensor<'s, T>> {
        let out = relu_init(step, &self.norm1.forward(step, &self.conv1.forward(step, x)?)?)?;
        let out = self.norm2.forward(step, &self.conv2.forward(step, &out)?)?;
        let sum = match &self.shortcut {
            Some(shortcut) => add_init(step, &out, &shortcut.forward(step, x)?)?,
            None => add_init(step, &out, x)?,
        };
        relu_init(step, &sum)
    }
}

/// The network.
#[derive(Module)]
pub(crate) struct ResNet<'m, T: Real> {
    conv: Conv2d<'m, T>,
    norm: BatchNorm<'m, T>,
    blocks: Vec<Residual<'m, T>>,
    output: Linear<'m, T>,
}

impl<'m, T: Real> ResNet<'m, T> {
    /// A network with random weights.
    pub(crate) fn new(init: &mut Init<'m>, extents: Extents) -> dahl::Result<Self> {
        let Extents { channels, width, blocks, classes } = extents;
        let padded = Conv2dOptions { padding: [1; 2], ..Conv2dOptions::square(3) };
        let conv = Conv2d::without_bias(init, channels, width, padded)?;
        let norm = BatchNorm::new(init, width)?;
        let mut all = Vec::new();
        let mut inputs = width;
        for (group, channels) in [width, 2 * width, 4 * width].into_iter().enumerate() {
            for block in 0..blocks {
                let stride = if group > 0 && block == 0 { 2 } else { 1 };
                all.push(Residual::new(init, inputs, channels, stride)?);
                inputs = channels;
            }
        }
        Ok(Self { conv, norm, blocks: all, output: Linear::new(init, inputs, classes)? })
    }

    /// The scores of the classes, `[batch, classes]`, for `[batch, channels, rows, cols]`.
    pub(crate) fn forward<'s>(&self, step: &'s Step<'_>, x: &Tensor<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let mut x = relu_init(step, &self.norm.forward(step, &self.conv.forward(step, x)?)?)?;
        for block in &self.blocks {
            x = block.forward(step, &x)?;
        }
        let means = AdaptiveAvgPool::new([1; 2]).forward(step, &x)?;
        self.output.forward(step, &Flatten.forward(means)?)
    }
}
