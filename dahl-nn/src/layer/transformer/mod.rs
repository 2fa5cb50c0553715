//! The transformer of Vaswani et al. 2017, *Attention Is All You Need*: layers of attention and of a network of two linear
//! maps, each added to its input, for an encoder, a decoder, and both together.
//!
//! Names and defaults are PyTorch's. Batches come first, as with its `batch_first`.

mod decoder;
mod encoder;
mod feed_forward;
mod options;

use dahl::ops;
use dahl::prelude::*;

pub use decoder::{TransformerDecoder, TransformerDecoderLayer};
pub use encoder::{TransformerEncoder, TransformerEncoderLayer};
pub use feed_forward::FeedForward;
pub use options::{TransformerActivation, TransformerOptions};

use super::{AttentionMask, LayerNorm};
use crate::module::{Init, Initializer, Module};
use crate::step::Step;

/// An encoder, and a decoder that also sees its output; PyTorch's `nn.Transformer`.
///
/// # Shapes
/// `source: [batch, source tokens, width]`, `target: [batch, tokens, width]`; the result as `target`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct Transformer<'m, T: Real> {
    /// Of the source.
    pub encoder: TransformerEncoder<'m, T>,
    /// Of the target.
    pub decoder: TransformerDecoder<'m, T>,
}

/// The masks of a [`Transformer`]: nothing is hidden by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransformerMasks<'a> {
    /// What source tokens see of the source.
    pub source: AttentionMask<'a>,
    /// What target tokens see of the target.
    pub target: AttentionMask<'a>,
    /// What target tokens see of the source.
    pub memory: AttentionMask<'a>,
}

impl<'m, T: Real> Transformer<'m, T> {
    /// A transformer of so many layers, with a norm after the last ones. Weights are drawn by Xavier's uniform formula, as in
    /// PyTorch.
    ///
    /// # Errors
    /// As [`TransformerEncoderLayer::new`].
    #[track_caller]
    pub fn new(
        init: &mut Init<'m>,
        options: TransformerOptions,
        encoder_layers: usize,
        decoder_layers: usize,
    ) -> dahl::Result<Self> {
        let encoder = TransformerEncoder::new(init, options, encoder_layers)?.norm(options.norm(init)?);
        let decoder = TransformerDecoder::new(init, options, decoder_layers)?.norm(options.norm(init)?);
        let mut transformer = Self { encoder, decoder };
        transformer.for_each_parameter(|_, parameter| match parameter.shape.len() {
            2 => init.fill(parameter, Initializer::XavierUniform { gain: 1.0 }),
            _ => Ok(()),
        })?;
        Ok(transformer)
    }

    /// Maps targets, which see their source.
    ///
    /// # Errors
    /// If the widths or the batches differ, and those of the operations.
    #[track_caller]
    pub fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        source: &Array<'_, T, 3>,
        target: &Array<'_, T, 3>,
        masks: TransformerMasks<'_>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let memory = self.encoder.forward(step, source, masks.source)?;
        self.decoder.forward(step, target, &memory, masks.target, masks.memory)
    }
}

/// Adds the result of a part of a layer to its input: the input is normalised for the part, or else the sum.
#[track_caller]
fn added<'s, T: Real>(
    step: &'s Step<'_>,
    x: &Array<'_, T, 3>,
    norm: &LayerNorm<'_, T>,
    norm_first: bool,
    part: impl FnOnce(&Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>>,
) -> dahl::Result<Array<'s, T, 3>> {
    if norm_first {
        let out = part(&norm.forward(step, x)?)?;
        return ops::add_init(step, x, &out);
    }
    norm.forward(step, &ops::add_init(step, x, &part(x)?)?)
}

/// Maps tokens through layers, and through the norm after the last one.
#[track_caller]
fn stacked<'s, T: Real, L>(
    step: &'s Step<'_>,
    x: &Array<'_, T, 3>,
    layers: &[L],
    norm: Option<&LayerNorm<'_, T>>,
    forward: impl Fn(&L, &Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>>,
) -> dahl::Result<Array<'s, T, 3>> {
    let mut last = None;
    for layer in layers {
        last = Some(forward(layer, last.as_ref().unwrap_or(x))?);
    }
    match (norm, last) {
        (Some(norm), last) => norm.forward(step, last.as_ref().unwrap_or(x)),
        (None, Some(last)) => Ok(last),
        (None, None) => ops::copy_init(step, x),
    }
}
