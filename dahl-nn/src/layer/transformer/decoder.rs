//! [`TransformerDecoderLayer`] and [`TransformerDecoder`].

use dahl::prelude::*;

use super::{FeedForward, TransformerOptions, added};
use crate::layer::{AttentionMask, Dropout, LayerNorm, MultiHeadAttention};
use crate::module::{Init, Module};
use crate::step::Step;

/// Attention among the target's tokens, attention to the `memory` that an encoder made of the source, and a
/// [`FeedForward`], each added to its input, with a norm as in a
/// [`TransformerEncoderLayer`](super::TransformerEncoderLayer).
///
/// # Shapes
/// `target: [batch, tokens, width]`, `memory: [batch, source tokens, width]`; the result as `target`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct TransformerDecoderLayer<'m, T: Real> {
    /// The attention among the target's tokens.
    pub self_attn: MultiHeadAttention<'m, T>,
    /// The attention to the memory.
    pub multihead_attn: MultiHeadAttention<'m, T>,
    /// The linear maps, `linear1` and `linear2`.
    #[module(flatten)]
    pub feed_forward: FeedForward<'m, T>,
    /// The norm of the attention among the target's tokens.
    pub norm1: LayerNorm<'m, T>,
    /// The norm of the attention to the memory.
    pub norm2: LayerNorm<'m, T>,
    /// The norm of the linear maps.
    pub norm3: LayerNorm<'m, T>,
    #[module(skip)]
    dropout: Dropout,
    norm_first: bool,
}

impl<'m, T: Real> TransformerDecoderLayer<'m, T> {
    /// A layer with these settings.
    ///
    /// # Errors
    /// As [`TransformerEncoderLayer::new`](super::TransformerEncoderLayer::new).
    #[track_caller]
    pub fn new(init: &mut Init<'m>, options: TransformerOptions) -> dahl::Result<Self> {
        Ok(Self {
            self_attn: options.attention(init)?,
            multihead_attn: options.attention(init)?,
            feed_forward: FeedForward::new(init, options)?,
            norm1: options.norm(init)?,
            norm2: options.norm(init)?,
            norm3: options.norm(init)?,
            dropout: Dropout::new(options.dropout),
            norm_first: options.norm_first,
        })
    }

    /// Maps the target's tokens. `target_mask` says which of them each sees, usually the earlier ones
    /// ([`AttentionMask::causal`]), and `memory_mask` which tokens of the memory.
    ///
    /// # Errors
    /// If a setting is invalid, tokens have another width, the batches differ, a mask is for other tokens, and those of the
    /// operations.
    #[track_caller]
    pub fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        target: &Array<'_, T, 3>,
        memory: &Array<'_, T, 3>,
        target_mask: AttentionMask<'_>,
        memory_mask: AttentionMask<'_>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let x = added(step, target, &self.norm1, self.norm_first, |x| {
            self.dropout.forward_owned(step, self.self_attn.forward_masked(step, x, target_mask)?)
        })?;
        let x = added(step, &x, &self.norm2, self.norm_first, |x| {
            let seen = self.multihead_attn.forward_cross(step, x, memory, memory, memory_mask)?;
            self.dropout.forward_owned(step, seen)
        })?;
        added(step, &x, &self.norm3, self.norm_first, |x| {
            self.dropout.forward_owned(step, self.feed_forward.forward(step, x)?)
        })
    }
}

/// Several [`TransformerDecoderLayer`]s, one after the other, and a norm after the last one, if any.
///
/// # Shapes
/// As for [`TransformerDecoderLayer`].
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct TransformerDecoder<'m, T: Real> {
    /// The layers.
    pub layers: Vec<TransformerDecoderLayer<'m, T>>,
    /// The norm after the last layer.
    pub norm: Option<LayerNorm<'m, T>>,
}

impl<'m, T: Real> TransformerDecoder<'m, T> {
    /// `count` layers with these settings, without a norm after the last one.
    ///
    /// # Errors
    /// As [`TransformerDecoderLayer::new`].
    #[track_caller]
    pub fn new(init: &mut Init<'m>, options: TransformerOptions, count: usize) -> dahl::Result<Self> {
        let mut layers = Vec::with_capacity(count);
        for _ in 0..count {
            layers.push(TransformerDecoderLayer::new(init, options)?);
        }
        Ok(Self { layers, norm: None })
    }

    /// Adds a norm after the last layer.
    pub fn norm(mut self, norm: LayerNorm<'m, T>) -> Self {
        self.norm = Some(norm);
        self
    }

    /// Maps the target's tokens through the layers, with the same memory and masks in each.
    ///
    /// # Errors
    /// As [`TransformerDecoderLayer::forward`].
    #[track_caller]
    pub fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        target: &Array<'_, T, 3>,
        memory: &Array<'_, T, 3>,
        target_mask: AttentionMask<'_>,
        memory_mask: AttentionMask<'_>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        super::stacked(step, target, &self.layers, self.norm.as_ref(), |layer, x| {
            layer.forward(step, x, memory, target_mask, memory_mask)
        })
    }
}
