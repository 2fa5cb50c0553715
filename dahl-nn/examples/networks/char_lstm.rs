//! A long short-term memory that predicts the next token.

use dahl::ops::{Philox, uniform};
use dahl::prelude::*;
use dahl_nn::prelude::*;

/// The extents of a [`CharLstm`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    /// Tokens that there are.
    pub(crate) vocabulary: usize,
    /// Features of a token.
    pub(crate) features: usize,
    /// Features of a state.
    pub(crate) width: usize,
    pub(crate) layers: usize,
}

/// The model.
#[derive(Module)]
pub(crate) struct CharLstm<'m, T: Real> {
    tokens: Embedding<'m, T>,
    lstm: Lstm<'m, T>,
    output: Linear<'m, T>,
}

impl<'m, T: Real> CharLstm<'m, T> {
    /// A model with random weights.
    pub(crate) fn new(init: &mut Init<'m>, extents: Extents) -> dahl::Result<Self> {
        let Extents { vocabulary, features, width, layers } = extents;
        Ok(Self {
            tokens: Embedding::new(init, vocabulary, features)?,
            lstm: Lstm::new(init, features, width, layers)?,
            output: Linear::new(init, width, vocabulary)?,
        })
    }

    /// The scores of the next token after each token, `[batch, tokens, vocabulary]`, for `[batch, tokens]`.
    pub(crate) fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        tokens: &Matrix<'_, u32>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        self.output.forward(step, &self.lstm.forward(step, &self.tokens.forward(step, tokens)?)?)
    }
}

/// Continues `prompt` by `count` tokens, each drawn by its score over the `temperature`, and calls `see` with each. The model sees the
/// last `window` tokens.
pub(crate) fn generate<T: Real>(
    rt: &Runtime,
    model: &CharLstm<'_, T>,
    prompt: &[u32],
    [count, window]: [usize; 2],
    temperature: f64,
    mut see: impl FnMut(u32),
) -> dahl::Result<()> {
    let mut tokens = prompt.to_vec();
    let mut draws: Vector<f64> = rt.zeros([count])?;
    uniform(&mut draws, 0.0, 1.0, Philox::new(rt.next_seed()))?;
    for draw in draws.to_vec()? {
        let last = &tokens[tokens.len().saturating_sub(window)..];
        let input = rt.from_vec([1, last.len()], last.to_vec())?;
        let scores = model.evaluate(rt, |step, model| {
            let scores = model.forward(step, &input)?;
            let vocabulary = scores.shape()[2];
            Ok(scores.to_vec()?.split_off((last.len() - 1) * vocabulary))
        })?;
        let best = scores.iter().map(|score| score.to_f64()).fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> =
            scores.iter().map(|score| ((score.to_f64() - best) / temperature).exp()).collect();
        let mut left = draw * powers.iter().sum::<f64>();
        let drawn = powers.iter().position(|power| {
            left -= power;
            left < 0.0
        });
        let token = drawn.unwrap_or(powers.len() - 1) as u32;
        tokens.push(token);
        see(token);
    }
    Ok(())
}
