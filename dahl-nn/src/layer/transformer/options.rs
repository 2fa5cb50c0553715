//! [`TransformerOptions`]: the settings of the layers of a transformer.

use dahl::ops;
use dahl::prelude::*;

use crate::layer::{LayerNorm, Linear, MultiHeadAttention};
use crate::module::Init;
use crate::step::Step;

/// The settings of the layers of a transformer; the defaults are PyTorch's.
///
/// ```
/// use dahl_nn::layer::{TransformerActivation, TransformerOptions};
///
/// let options = TransformerOptions::new(64, 4).feed_forward(256).norm_first().activation(TransformerActivation::Gelu);
/// assert_eq!((options.feed_forward, options.dropout), (256, 0.1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransformerOptions {
    /// The features of a token.
    pub width: usize,
    /// The heads of each attention.
    pub heads: usize,
    /// The features between the two linear maps.
    pub feed_forward: usize,
    /// The probability of all dropouts: of the weights of attention, between the linear maps, and before each sum.
    pub dropout: f64,
    /// What is between the linear maps.
    pub activation: TransformerActivation,
    /// Whether the input of each part is normalised, and not the sum.
    pub norm_first: bool,
    /// What norms add to the variance.
    pub epsilon: f64,
    /// Whether attention, linear maps and norms have biases.
    pub bias: bool,
}

impl TransformerOptions {
    /// Layers for tokens of `width` features with so many heads, 2,048 features between the linear maps, a dropout of 0.1,
    /// ReLU, norms after each sum, an epsilon of 1e-5, and biases.
    pub const fn new(width: usize, heads: usize) -> Self {
        Self {
            width,
            heads,
            feed_forward: 2048,
            dropout: 0.1,
            activation: TransformerActivation::Relu,
            norm_first: false,
            epsilon: 1e-5,
            bias: true,
        }
    }

    /// Sets the features between the linear maps.
    pub const fn feed_forward(mut self, features: usize) -> Self {
        self.feed_forward = features;
        self
    }

    /// Sets the probability of all dropouts: at least 0, below 1.
    pub const fn dropout(mut self, probability: f64) -> Self {
        self.dropout = probability;
        self
    }

    /// Sets what is between the linear maps.
    pub const fn activation(mut self, activation: TransformerActivation) -> Self {
        self.activation = activation;
        self
    }

    /// Normalises the input of each part, and not the sum (Xiong et al. 2020, *On Layer Normalization in the Transformer
    /// Architecture*).
    pub const fn norm_first(mut self) -> Self {
        self.norm_first = true;
        self
    }

    /// Sets what norms add to the variance.
    pub const fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Attention, linear maps and norms without biases, as PyTorch's `bias=False`.
    pub const fn without_bias(mut self) -> Self {
        self.bias = false;
        self
    }

    /// A norm of tokens with these settings.
    #[track_caller]
    pub(super) fn norm<'m, T: Real>(&self, init: &mut Init<'m>) -> dahl::Result<LayerNorm<'m, T>> {
        let norm = LayerNorm::new(init, self.width)?.epsilon(self.epsilon);
        Ok(if self.bias { norm } else { norm.without_bias() })
    }

    /// An attention with these settings.
    #[track_caller]
    pub(super) fn attention<'m, T: Real>(
        &self,
        init: &mut Init<'m>,
    ) -> dahl::Result<MultiHeadAttention<'m, T>> {
        let attention = MultiHeadAttention::new(init, self.width, self.heads)?.dropout(self.dropout);
        Ok(if self.bias { attention } else { attention.without_bias() })
    }

    /// A linear map, with a bias if there are biases.
    #[track_caller]
    pub(super) fn linear<'m, T: Real>(
        &self,
        init: &mut Init<'m>,
        inputs: usize,
        outputs: usize,
    ) -> dahl::Result<Linear<'m, T>> {
        if self.bias {
            Linear::new(init, inputs, outputs)
        } else {
            Linear::without_bias(init, inputs, outputs)
        }
    }
}

/// The activation of a [`FeedForward`](super::FeedForward).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransformerActivation {
    /// `max(x, 0)`.
    #[default]
    Relu,
    /// `x` times the standard normal distribution function of `x`.
    Gelu,
    /// The approximation of GELU by a hyperbolic tangent.
    GeluTanh,
    /// `x * sigmoid(x)`.
    Silu,
}

impl TransformerActivation {
    #[track_caller]
    pub(super) fn forward<'s, T: Real>(
        self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        match self {
            Self::Relu => ops::relu_init(step, x),
            Self::Gelu => ops::gelu_init(step, x),
            Self::GeluTanh => ops::gelu_tanh_init(step, x),
            Self::Silu => ops::silu_init(step, x),
        }
    }
}
