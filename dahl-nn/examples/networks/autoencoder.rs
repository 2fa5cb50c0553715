//! A convolutional autoencoder: two convolutions that make images smaller, and two transposed ones that make them large
//! again.

use dahl::ops::{ConvolutionGeometry, relu_init, sigmoid_init};
use dahl::prelude::*;
use dahl_nn::prelude::*;

/// The network, for grey images whose extents are multiples of 4.
#[derive(Module)]
pub(crate) struct Autoencoder<'m, T: Real> {
    encode1: Conv2d<'m, T>,
    encode2: Conv2d<'m, T>,
    decode1: ConvTranspose2d<'m, T>,
    decode2: ConvTranspose2d<'m, T>,
}

impl<'m, T: Real> Autoencoder<'m, T> {
    /// A network with random weights: `width` channels after the first convolution, `code` after the second.
    pub(crate) fn new(init: &mut Init<'m>, width: usize, code: usize) -> dahl::Result<Self> {
        let down = Conv2dOptions { stride: [2; 2], padding: [1; 2], ..Conv2dOptions::square(3) };
        let up = ConvolutionGeometry::default().stride([2; 2]).padding([1; 2]);
        Ok(Self {
            encode1: Conv2d::new(init, 1, width, down)?,
            encode2: Conv2d::new(init, width, code, down)?,
            decode1: ConvTranspose2d::new(init, code, width, [3; 2], up)?.output_padding([1; 2]),
            decode2: ConvTranspose2d::new(init, width, 1, [3; 2], up)?.output_padding([1; 2]),
        })
    }

    /// Images from 0 to 1 like the given ones, `[batch, 1, rows, cols]`.
    pub(crate) fn forward<'s>(&self, step: &'s Step<'_>, x: &Tensor<'_, T>) -> dahl::Result<Tensor<'s, T>> {
        let code = self.encode2.forward_relu(step, &self.encode1.forward_relu(step, x)?)?;
        let x = relu_init(step, &self.decode1.forward(step, &code)?)?;
        sigmoid_init(step, &self.decode2.forward(step, &x)?)
    }
}
