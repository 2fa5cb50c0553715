//! [`FeedForward`]: two linear maps with an activation between them.

use dahl::prelude::*;

use super::{TransformerActivation, TransformerOptions};
use crate::layer::{Dropout, Linear};
use crate::module::{Init, Module};
use crate::step::Step;

/// `linear2(dropout(activation(linear1(x))))`, for each token (Vaswani et al. 2017, section 3.3).
///
/// # Shapes
/// `[batch, tokens, width]` to the same.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct FeedForward<'m, T: Real> {
    /// From a token's features to those between the maps.
    pub linear1: Linear<'m, T>,
    /// Back to a token's features.
    pub linear2: Linear<'m, T>,
    #[module(skip)]
    activation: TransformerActivation,
    #[module(skip)]
    dropout: Dropout,
}

impl<'m, T: Real> FeedForward<'m, T> {
    /// The maps of a layer with these settings.
    ///
    /// # Errors
    /// If there are no features, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, options: TransformerOptions) -> dahl::Result<Self> {
        Ok(Self {
            linear1: options.linear(init, options.width, options.feed_forward)?,
            linear2: options.linear(init, options.feed_forward, options.width)?,
            activation: options.activation,
            dropout: Dropout::new(options.dropout),
        })
    }

    /// Maps each token.
    ///
    /// # Errors
    /// If the tokens have another width, and those of the operations.
    #[track_caller]
    pub fn forward<'s>(&self, step: &'s Step<'_>, x: &Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>> {
        let wide = self.activation.forward(step, &self.linear1.forward(step, x)?)?;
        self.linear2.forward(step, &self.dropout.forward_owned(step, wide)?)
    }
}
