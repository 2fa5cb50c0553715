//! The five programs of `docs/measurements/passes.md`: steps of networks, and blocks of them.

use dahl::Result;
use dahl::ops::{
    log_softmax_init, mean_squared_error_init, mul_init, relu_init, scale_init, sub_init, sum_init,
};
use dahl::prelude::*;
use dahl_nn::layer::{BatchNorm, LayerNorm, Linear, MultiHeadAttention};
use dahl_nn::module::Init;
use dahl_nn::optimizer::{Adam, Stateful, UpdateRule};
use dahl_nn::prelude::*;

/// Two layers, with a norm between them or without.
#[derive(Module)]
pub(crate) struct Mlp<'m, T: Real> {
    first: Linear<'m, T>,
    norm: Option<BatchNorm<'m, T>>,
    second: Linear<'m, T>,
}

impl<'m, T: Real> Mlp<'m, T> {
    /// One of these widths.
    pub(crate) fn new(arena: &'m Arena, [inputs, hidden, outputs]: [usize; 3], norm: bool) -> Result<Self> {
        let mut init = Init::new(arena, 7);
        Ok(Self {
            first: Linear::new(&mut init, inputs, hidden)?,
            norm: norm.then(|| BatchNorm::new(&mut init, hidden)).transpose()?,
            second: Linear::new(&mut init, hidden, outputs)?,
        })
    }

    fn forward<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, T>) -> Result<Matrix<'s, T>> {
        let hidden = self.first.forward(step, x)?;
        let hidden = match &self.norm {
            Some(norm) => norm.forward(step, &hidden)?,
            None => hidden,
        };
        self.second.forward(step, &relu_init(step, &hidden)?)
    }
}

/// A training step of a multilayer perceptron.
#[program]
pub(crate) fn mlp_step<'s, R: UpdateRule>(
    step: &'s Step<'_>,
    x: &Matrix<'_, f32>,
    y: &Matrix<'_, f32>,
    model: &mut Mlp<'_, f32>,
    optimizer: &mut Stateful<f32, R>,
) -> Result<Scalar<'s, f32>> {
    model.for_each_parameter(|_, parameter| parameter.gradient.invalidate())?;
    let loss = mean_squared_error_init(step, &model.forward(step, x)?, y, 1.0 / x.len() as f64)?;
    step.accumulate(&loss, model)?;
    optimizer.step(model)?;
    scale_init(step, &loss, 1.0)
}

/// The cross entropy of `0.5 x` to the probabilities `y`, in single operations, and its gradient by `x`.
#[program]
pub(crate) fn cross_entropy<'s>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, f32>,
    y: &Matrix<'_, f32>,
) -> Result<(Scalar<'s, f32>, Matrix<'s, f32>)> {
    let logarithms = log_softmax_init(scope, &scale_init(scope, x, 0.5)?, 1)?;
    let loss = sum_init(scope, &mul_init(scope, &logarithms, y)?)?;
    let shares = dahl::ops::softmax_init(scope, &scale_init(scope, x, 0.5)?, 1)?;
    let gradient = scale_init(scope, &sub_init(scope, &shares, y)?, 0.5)?;
    Ok((loss, gradient))
}

/// A block of a transformer without attention: `x + second(relu(first(norm(x))))`.
#[derive(Module)]
pub(crate) struct Block<'m, T: Real> {
    norm: LayerNorm<'m, T>,
    first: Linear<'m, T>,
    second: Linear<'m, T>,
    attention: Option<MultiHeadAttention<'m, T>>,
}

impl<'m, T: Real> Block<'m, T> {
    /// One of this width, with attention before the layers or without.
    pub(crate) fn new(arena: &'m Arena, width: usize, heads: Option<usize>) -> Result<Self> {
        let mut init = Init::new(arena, 3);
        Ok(Self {
            norm: LayerNorm::new(&mut init, width)?,
            first: Linear::new(&mut init, width, 4 * width)?,
            second: Linear::new(&mut init, 4 * width, width)?,
            attention: heads.map(|heads| MultiHeadAttention::new(&mut init, width, heads)).transpose()?,
        })
    }

    fn forward<'s>(&self, step: &'s Step<'_>, x: &Array<'_, T, 3>) -> Result<Array<'s, T, 3>> {
        let normal = self.norm.forward(step, x)?;
        let seen = match &self.attention {
            Some(attention) => attention.forward(step, &normal)?,
            None => normal,
        };
        let hidden = dahl::ops::gelu_init(step, &self.first.forward(step, &seen)?)?;
        dahl::ops::add_init(step, x, &self.second.forward(step, &hidden)?)
    }
}

/// A step of a block by its mean squared error, without an update.
#[program]
pub(crate) fn block_step<'s>(
    step: &'s Step<'_>,
    x: &Array<'_, f32, 3>,
    y: &Array<'_, f32, 3>,
    model: &mut Block<'_, f32>,
) -> Result<Scalar<'s, f32>> {
    model.for_each_parameter(|_, parameter| parameter.gradient.invalidate())?;
    let loss = mean_squared_error_init(step, &model.forward(step, x)?, y, 1.0 / x.len() as f64)?;
    step.accumulate(&loss, model)?;
    scale_init(step, &loss, 1.0)
}

/// Several blocks, one after the other.
#[derive(Module)]
pub(crate) struct Deep<'m, T: Real> {
    blocks: Vec<Block<'m, T>>,
}

impl<'m, T: Real> Deep<'m, T> {
    /// So many blocks of this width, with attention.
    pub(crate) fn new(arena: &'m Arena, blocks: usize, width: usize) -> Result<Self> {
        let blocks = (0..blocks).map(|_| Block::new(arena, width, Some(4)));
        Ok(Self { blocks: blocks.collect::<Result<_>>()? })
    }
}

/// A step of several blocks by their mean squared error, without an update.
#[program]
pub(crate) fn deep_step<'s>(
    step: &'s Step<'_>,
    x: &Array<'_, f32, 3>,
    y: &Array<'_, f32, 3>,
    model: &mut Deep<'_, f32>,
) -> Result<Scalar<'s, f32>> {
    model.for_each_parameter(|_, parameter| parameter.gradient.invalidate())?;
    let (first, others) = model.blocks.split_first().expect("there are blocks");
    let mut last = first.forward(step, x)?;
    for block in others {
        last = block.forward(step, &last)?;
    }
    let loss = mean_squared_error_init(step, &last, y, 1.0 / x.len() as f64)?;
    step.accumulate(&loss, model)?;
    scale_init(step, &loss, 1.0)
}

/// An optimizer of the steps.
pub(crate) fn adam(model: &mut Mlp<'_, f32>) -> Result<Adam<f32>> {
    let mut adam = Adam::new(1e-3);
    adam.prepare(model)?;
    Ok(adam)
}

/// Another one.
pub(crate) fn sgd(model: &mut Mlp<'_, f32>) -> Result<Sgd<f32>> {
    let mut sgd = Sgd::new(1e-3);
    sgd.prepare(model)?;
    Ok(sgd)
}
