//! Two convolutions with pooling and two linear maps, as LeNet has them (LeCun et al. 1998, *Gradient-Based Learning Applied
//! to Document Recognition*), with ReLU and the maxima of windows.

use dahl::ops::relu_init;
use dahl::prelude::*;
use dahl_nn::prelude::*;

/// The network.
#[derive(Module)]
pub(crate) struct LeNet<'m, T: Real> {
    conv1: Conv2d<'m, T>,
    conv2: Conv2d<'m, T>,
    fc1: Linear<'m, T>,
    fc2: Linear<'m, T>,
}

impl<'m, T: Real> LeNet<'m, T> {
    /// A network for grey images of `pixels` by `pixels`, with `width` features between the linear maps.
    pub(crate) fn new(
        init: &mut Init<'m>,
        pixels: usize,
        width: usize,
        classes: usize,
    ) -> dahl::Result<Self> {
        let padded = Conv2dOptions { padding: [2; 2], ..Conv2dOptions::square(5) };
        let left = (pixels / 2 - 4) / 2;
        Ok(Self {
            conv1: Conv2d::new(init, 1, 6, padded)?,
            conv2: Conv2d::new(init, 6, 16, Conv2dOptions::square(5))?,
            fc1: Linear::new(init, 16 * left * left, width)?,
            fc2: Linear::new(init, width, classes)?,
        })
    }

    /// The scores of the classes, `[batch, classes]`, for `[batch, 1, pixels, pixels]`.
    pub(crate) fn forward<'s>(&self, step: &'s Step<'_>, x: &Tensor<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let x = self.conv1.forward_relu_max_pool(step, x, 2)?;
        let x = Flatten.forward(self.conv2.forward_relu_max_pool(step, &x, 2)?)?;
        self.fc2.forward(step, &relu_init(step, &self.fc1.forward(step, &x)?)?)
    }
}
