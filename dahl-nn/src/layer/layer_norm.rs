//! [`LayerNorm`] and [`RmsNorm`]: normalisation of the features of each sample.

use dahl::ops;
use dahl::prelude::*;

use super::affine::Affine;
use crate::module::{Init, Initializer, Module, Parameter};
use crate::setting;
use crate::step::Step;

/// What is added to the variance, as in PyTorch's `LayerNorm`; its `RMSNorm` adds the machine's epsilon instead.
const EPSILON: f64 = 1e-5;

/// `(x - mean) / sqrt(variance + epsilon) * weight + bias`, where mean and biased variance are those of the last axis (Ba,
/// Kiros and Hinton 2016, *Layer Normalization*).
///
/// # Shapes
/// The output as the input, `[.., features]`; `weight` and `bias: [features]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct LayerNorm<'m, T: Real> {
    /// `[features]`, if there is one.
    pub weight: Option<Parameter<'m, T>>,
    /// `[features]`, if there is one.
    pub bias: Option<Parameter<'m, T>>,
    #[module(skip)]
    features: usize,
    #[module(skip)]
    epsilon: f64,
}

impl<'m, T: Real> LayerNorm<'m, T> {
    /// A layer for `features` features, with weights of 1, biases of 0, and an epsilon of 1e-5.
    ///
    /// # Errors
    /// If there are no features, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, features: usize) -> dahl::Result<Self> {
        setting::require(features > 0, "LayerNorm: features", features, "a number from 1")?;
        let weight = init.parameter(&[features], Initializer::Constant(1.0))?;
        let bias = init.parameter(&[features], Initializer::Constant(0.0))?;
        Ok(Self { weight: Some(weight), bias: Some(bias), features, epsilon: EPSILON })
    }

    /// Takes the bias away, as PyTorch's `bias=False`.
    pub fn without_bias(mut self) -> Self {
        self.bias = None;
        self
    }

    /// Takes the weight and the bias away, as PyTorch's `elementwise_affine=False`.
    pub fn without_weight(mut self) -> Self {
        (self.weight, self.bias) = (None, None);
        self
    }

    /// Sets what is added to the variance. A number that is not above 0 is an error of [`forward`](Self::forward).
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Normalises the last axis.
    ///
    /// # Errors
    /// If the last axis does not have the layer's features, and those of the operation.
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let weight = Affine::new(step, self.weight.as_ref(), self.features, T::ONE)?;
        let bias = Affine::new(step, self.bias.as_ref(), self.features, T::ZERO)?;
        ops::layer_norm_init(step, input, &weight, &bias, self.epsilon)
    }
}

/// `x / sqrt(mean of x^2 + epsilon) * weight`, over the last axis (Zhang and Sennrich 2019, *Root Mean Square Layer
/// Normalization*).
///
/// # Shapes
/// The output as the input, `[.., features]`; `weight: [features]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct RmsNorm<'m, T: Real> {
    /// `[features]`, if there is one.
    pub weight: Option<Parameter<'m, T>>,
    #[module(skip)]
    features: usize,
    #[module(skip)]
    epsilon: f64,
}

impl<'m, T: Real> RmsNorm<'m, T> {
    /// A layer for `features` features, with weights of 1 and an epsilon of 1e-5.
    ///
    /// # Errors
    /// If there are no features, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, features: usize) -> dahl::Result<Self> {
        setting::require(features > 0, "RmsNorm: features", features, "a number from 1")?;
        let weight = init.parameter(&[features], Initializer::Constant(1.0))?;
        Ok(Self { weight: Some(weight), features, epsilon: EPSILON })
    }

    /// Takes the weight away, as PyTorch's `elementwise_affine=False`.
    pub fn without_weight(mut self) -> Self {
        self.weight = None;
        self
    }

    /// Sets what is added to the mean square. A number that is not above 0 is an error of [`forward`](Self::forward).
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Normalises the last axis.
    ///
    /// # Errors
    /// If the last axis does not have the layer's features, and those of the operation.
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let weight = Affine::new(step, self.weight.as_ref(), self.features, T::ONE)?;
        ops::rms_norm_init(step, input, &weight, self.epsilon)
    }
}
