//! [`GroupNorm`] and [`InstanceNorm`]: normalisation of groups of channels of each sample.

use dahl::ops;
use dahl::prelude::*;

use super::affine::Affine;
use crate::module::{Init, Initializer, Module, Parameter};
use crate::setting::{self, Settings};
use crate::step::Step;

/// `(x - mean) / sqrt(variance + epsilon) * weight + bias`, where mean and biased variance are those of a group of channels
/// of one sample (Wu and He 2018, *Group Normalization*). Weight and bias are for each channel.
///
/// # Shapes
/// The output as the input, `[batch, channels, ..]`; `weight` and `bias: [channels]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct GroupNorm<'m, T: Real> {
    /// `[channels]`, if there is one.
    pub weight: Option<Parameter<'m, T>>,
    /// `[channels]`, if there is one.
    pub bias: Option<Parameter<'m, T>>,
    groups: usize,
    #[module(skip)]
    channels: usize,
    epsilon: f64,
    #[module(skip)]
    settings: Settings,
}

/// Requires a number that can be added to a variance.
#[track_caller]
fn require_epsilon(settings: &mut Settings, setting: &'static str, epsilon: f64) {
    settings.require(epsilon >= 0.0 && epsilon.is_finite(), setting, epsilon, "a finite number from 0");
}

impl<'m, T: Real> GroupNorm<'m, T> {
    /// A layer for `channels` channels in `groups` groups, with weights of 1, biases of 0, and an epsilon of 1e-5.
    ///
    /// # Errors
    /// If there are no channels, the groups do not divide them, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, groups: usize, channels: usize) -> dahl::Result<Self> {
        setting::require(channels > 0, "GroupNorm: channels", channels, "a number from 1")?;
        let divides = groups > 0 && channels.is_multiple_of(groups);
        let value = format!("{groups} for {channels} channels");
        setting::require(divides, "GroupNorm: groups", value, "a divisor of the channels")?;
        let weight = init.parameter(&[channels], Initializer::Constant(1.0))?;
        let bias = init.parameter(&[channels], Initializer::Constant(0.0))?;
        let settings = Settings::default();
        Ok(Self { weight: Some(weight), bias: Some(bias), groups, channels, epsilon: 1e-5, settings })
    }

    /// Takes the weight and the bias away, as PyTorch's `affine=False`.
    pub fn without_weight(mut self) -> Self {
        (self.weight, self.bias) = (None, None);
        self
    }

    /// Sets what is added to the variance: a finite number from 0. An invalid one is an error of
    /// [`forward`](Self::forward).
    #[track_caller]
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        require_epsilon(&mut self.settings, "GroupNorm: epsilon", epsilon);
        self.epsilon = epsilon;
        self
    }

    /// Normalises each sample.
    ///
    /// # Errors
    /// If the input does not have the layer's channels, and those of the operation.
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        self.settings.check()?;
        let weight = Affine::new(step, self.weight.as_ref(), self.channels, T::ONE)?;
        let bias = Affine::new(step, self.bias.as_ref(), self.channels, T::ZERO)?;
        ops::group_norm_init(step, input, &weight, &bias, self.groups, T::from_f64(self.epsilon))
    }
}

/// `(x - mean) / sqrt(variance + epsilon)`, where mean and biased variance are those of a channel of one sample (Ulyanov,
/// Vedaldi and Lempitsky 2016, *Instance Normalization*). Without weights, as PyTorch's by default; with weights it is a
/// [`GroupNorm`] of as many groups as channels.
///
/// # Shapes
/// The output as the input, `[batch, channels, ..]`.
#[derive(Clone, Debug, Module)]
#[module(crate = crate)]
pub struct InstanceNorm {
    epsilon: f64,
    #[module(skip)]
    settings: Settings,
}

impl InstanceNorm {
    /// A layer with an epsilon of 1e-5.
    pub fn new() -> Self {
        Self { epsilon: 1e-5, settings: Settings::default() }
    }

    /// Sets what is added to the variance: a finite number from 0. An invalid one is an error of
    /// [`forward`](Self::forward).
    #[track_caller]
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        require_epsilon(&mut self.settings, "InstanceNorm: epsilon", epsilon);
        self.epsilon = epsilon;
        self
    }

    /// Normalises each channel of each sample.
    ///
    /// # Errors
    /// If the input has no channels, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        self.settings.check()?;
        let channels = input.shape().get(1).copied().unwrap_or(0);
        let (ones, zeros) = (step.detached().filled([channels], T::ONE)?, step.detached().zeros([channels])?);
        ops::group_norm_init(step, input, &ones, &zeros, channels, T::from_f64(self.epsilon))
    }
}

impl Default for InstanceNorm {
    fn default() -> Self {
        Self::new()
    }
}
