//! [`Embedding`]: a learned vector for each token.

use dahl::ops::{self, Transposed};
use dahl::prelude::*;

use super::linear::rows_of;
use crate::module::{Init, Initializer, Module, Parameter};
use crate::setting;
use crate::step::Step;

/// A learned vector for each of `count` tokens: `output[.., i, :] = weight[tokens[.., i], :]`.
///
/// # Shapes
/// `tokens: [batch, tokens]` to `[batch, tokens, width]`; `weight: [count, width]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct Embedding<'m, T: Real> {
    /// `[count, width]`.
    pub weight: Parameter<'m, T>,
    #[module(skip)]
    shape: [usize; 2],
    /// The token whose vector is not learned, if any.
    #[module(skip)]
    padding: Option<usize>,
}

impl<'m, T: Real> Embedding<'m, T> {
    /// Vectors of `width` numbers for `count` tokens, drawn from the standard normal distribution as PyTorch does.
    ///
    /// # Errors
    /// If there are no tokens or no numbers, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, count: usize, width: usize) -> dahl::Result<Self> {
        setting::require(count > 0, "Embedding: count", count, "a number from 1")?;
        setting::require(width > 0, "Embedding: width", width, "a number from 1")?;
        let weight = init.parameter(&[count, width], Initializer::Normal { deviation: 1.0 })?;
        Ok(Self { weight, shape: [count, width], padding: None })
    }

    /// As [`new`](Self::new), where the token `padding` has a vector of zeros, which is not learned; PyTorch's `padding_idx`.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if there is no such token.
    #[track_caller]
    pub fn with_padding(
        init: &mut Init<'m>,
        count: usize,
        width: usize,
        padding: usize,
    ) -> dahl::Result<Self> {
        let value = format!("{padding} of {count} tokens");
        setting::require(padding < count, "Embedding: padding", value, "a token below their number")?;
        let mut layer = Self::new(init, count, width)?;
        layer.weight.value.write()?.iter_mut().skip(padding * width).take(width).for_each(|x| *x = T::ZERO);
        layer.padding = Some(padding);
        Ok(layer)
    }

    /// The vectors of a batch of sequences.
    ///
    /// # Errors
    /// Those of the operation. A token that is not below `count` fails the task.
    #[track_caller]
    pub fn forward<'s>(&self, step: &'s Step<'_>, tokens: &Matrix<'_, u32>) -> dahl::Result<Array<'s, T, 3>> {
        let [batch, count] = tokens.shape();
        let flat = self.of_each(step, &*tokens.flattened()?)?;
        flat.reshape([batch, count, self.shape[1]])
    }

    /// The vectors of some tokens.
    ///
    /// # Shapes
    /// `tokens: [count]` to `[count, width]`.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    #[track_caller]
    pub fn of_each<'s>(&self, step: &'s Step<'_>, tokens: &Vector<'_, u32>) -> dahl::Result<Matrix<'s, T>> {
        let weight = self.weight.value.reshaped(self.shape)?;
        let vectors = ops::index_select_init(step, &*weight, tokens, 0)?;
        let Some(padding) = self.padding else { return Ok(vectors) };
        let constant = ops::index_select_init(step.detached(), &*weight, tokens, 0)?;
        ops::select_init(step, &self.are_learned(step, tokens, padding)?, &vectors, &constant)
    }

    /// `[count, 1]`: 0 for the token `padding`, else 1.
    #[track_caller]
    fn are_learned<'s>(
        &self,
        step: &'s Step<'_>,
        tokens: &Vector<'_, u32>,
        padding: usize,
    ) -> dahl::Result<Matrix<'s, u8>> {
        let arena = step.detached();
        let numbers: Vector<'_, f64> = ops::cast_init(arena, tokens)?;
        let padding = arena.filled([1], padding as f64)?;
        ops::not_equal_init(arena, &numbers, &padding)?.reshape([tokens.len(), 1])
    }

    /// `x[.., i, :] + weight[i, :]`: adds a learned vector for each position of a sequence.
    ///
    /// # Shapes
    /// `x` and the result: `[batch, tokens, width]`.
    ///
    /// # Errors
    /// If there are more positions than vectors, and those of the operations.
    #[track_caller]
    pub fn add_positions<'s>(&self, step: &'s Step<'_>, x: Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>> {
        self.add_positions_from(step, x, 0)
    }

    /// As [`add_positions`](Self::add_positions), where `first` is the position of the first token: for sequences that
    /// arrive in parts.
    ///
    /// # Errors
    /// As [`add_positions`](Self::add_positions).
    #[track_caller]
    pub fn add_positions_from<'s>(
        &self,
        step: &'s Step<'_>,
        x: Array<'_, T, 3>,
        first: usize,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let [_, tokens, _] = x.shape();
        let weight = self.weight.value.reshaped(self.shape)?;
        let positions = ops::slice_init(step, &*weight, 0, first, tokens)?;
        ops::add_init(step, &x, &positions.reshape([1, tokens, self.shape[1]])?)
    }

    /// The scores of all tokens, with the vectors as the weights of a linear layer without bias: the output layer of
    /// models that share them (Press and Wolf 2017, *Using the Output Embedding to Improve Language Models*).
    ///
    /// # Shapes
    /// `x: [.., width]` to `[.., count]`.
    ///
    /// # Errors
    /// If the last axis is not as wide as the vectors, and those of the operations.
    #[track_caller]
    pub fn scores<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let [count, width] = self.shape;
        let mut shape = x.shape();
        let rows = rows_of("Embedding", &shape, width)?;
        shape[N - 1] = count;
        let weight = self.weight.value.reshaped(self.shape)?;
        let x = x.reshaped([rows, width])?;
        ops::matmul_transposed_init(step, &*x, &*weight, Transposed::RIGHT)?.reshape(shape)
    }
}
