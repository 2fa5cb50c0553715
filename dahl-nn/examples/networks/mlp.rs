//! A network of two linear maps, with batch normalisation and dropout between them.

use dahl::ops::relu_init;
use dahl::prelude::*;
use dahl_nn::prelude::*;

/// The extents of an [`Mlp`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    pub(crate) inputs: usize,
    /// Features between the maps.
    pub(crate) width: usize,
    pub(crate) classes: usize,
}

/// The network.
#[derive(Module)]
pub(crate) struct Mlp<'m, T: Real> {
    input: Linear<'m, T>,
    norm: BatchNorm<'m, T>,
    dropout: Dropout,
    output: Linear<'m, T>,
}

impl<'m, T: Real> Mlp<'m, T> {
    /// A network with random weights.
    pub(crate) fn new(init: &mut Init<'m>, extents: Extents, dropout: f64) -> dahl::Result<Self> {
        Ok(Self {
            input: Linear::new(init, extents.inputs, extents.width)?,
            norm: BatchNorm::new(init, extents.width)?,
            dropout: Dropout::new(dropout),
            output: Linear::new(init, extents.width, extents.classes)?,
        })
    }

    /// The scores of the classes, `[batch, classes]`, for `[batch, inputs]`.
    pub(crate) fn forward<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let hidden = relu_init(step, &self.norm.forward(step, &self.input.forward(step, x)?)?)?;
        self.output.forward(step, &self.dropout.forward_owned(step, hidden)?)
    }
}
