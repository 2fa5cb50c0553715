//! [`TransformerEncoderLayer`] and [`TransformerEncoder`].

use dahl::prelude::*;

use super::{FeedForward, TransformerOptions, added};
use crate::layer::{AttentionMask, Dropout, LayerNorm, MultiHeadAttention};
use crate::module::{Init, Module};
use crate::step::Step;

/// Attention and a [`FeedForward`], each added to its input:
///
/// * `x = norm1(x + self_attn(x))`, `x = norm2(x + linear2(activation(linear1(x))))`,
/// * or with [`TransformerOptions::norm_first`] `x = x + self_attn(norm1(x))`,
///   `x = x + linear2(activation(linear1(norm2(x))))`.
///
/// # Shapes
/// `[batch, tokens, width]` to the same.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct TransformerEncoderLayer<'m, T: Real> {
    /// The attention.
    pub self_attn: MultiHeadAttention<'m, T>,
    /// The linear maps, `linear1` and `linear2`.
    #[module(flatten)]
    pub feed_forward: FeedForward<'m, T>,
    /// The norm of the attention.
    pub norm1: LayerNorm<'m, T>,
    /// The norm of the linear maps.
    pub norm2: LayerNorm<'m, T>,
    #[module(skip)]
    dropout: Dropout,
    norm_first: bool,
}

impl<'m, T: Real> TransformerEncoderLayer<'m, T> {
    /// A layer with these settings.
    ///
    /// # Errors
    /// If there are no heads or features, the width is no multiple of the heads, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, options: TransformerOptions) -> dahl::Result<Self> {
        Ok(Self {
            self_attn: options.attention(init)?,
            feed_forward: FeedForward::new(init, options)?,
            norm1: options.norm(init)?,
            norm2: options.norm(init)?,
            dropout: Dropout::new(options.dropout),
            norm_first: options.norm_first,
        })
    }

    /// Maps tokens, of which each sees those that the mask lets it see.
    ///
    /// # Errors
    /// If a setting is invalid, the tokens have another width, the mask is for other tokens, and those of the operations.
    #[track_caller]
    pub fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        mask: AttentionMask<'_>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let x = added(step, x, &self.norm1, self.norm_first, |x| {
            self.dropout.forward_owned(step, self.self_attn.forward_masked(step, x, mask)?)
        })?;
        added(step, &x, &self.norm2, self.norm_first, |x| {
            self.dropout.forward_owned(step, self.feed_forward.forward(step, x)?)
        })
    }
}

/// Several [`TransformerEncoderLayer`]s, one after the other, and a norm after the last one, if any.
///
/// # Shapes
/// `[batch, tokens, width]` to the same.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct TransformerEncoder<'m, T: Real> {
    /// The layers.
    pub layers: Vec<TransformerEncoderLayer<'m, T>>,
    /// The norm after the last layer.
    pub norm: Option<LayerNorm<'m, T>>,
}

impl<'m, T: Real> TransformerEncoder<'m, T> {
    /// `count` layers with these settings, without a norm after the last one.
    ///
    /// # Errors
    /// As [`TransformerEncoderLayer::new`].
    #[track_caller]
    pub fn new(init: &mut Init<'m>, options: TransformerOptions, count: usize) -> dahl::Result<Self> {
        let mut layers = Vec::with_capacity(count);
        for _ in 0..count {
            layers.push(TransformerEncoderLayer::new(init, options)?);
        }
        Ok(Self { layers, norm: None })
    }

    /// Adds a norm after the last layer.
    pub fn norm(mut self, norm: LayerNorm<'m, T>) -> Self {
        self.norm = Some(norm);
        self
    }

    /// Maps tokens through the layers, with the same mask in each.
    ///
    /// # Errors
    /// As [`TransformerEncoderLayer::forward`].
    #[track_caller]
    pub fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        mask: AttentionMask<'_>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        super::stacked(step, x, &self.layers, self.norm.as_ref(), |layer, x| layer.forward(step, x, mask))
    }
}
