//! [`GroupNorm`] and [`InstanceNorm`]: normalisation of groups of channels of each sample.

use dahl::ops;
use dahl::prelude::*;

use crate::module::{Init, Initializer, Module, Parameter};
use crate::setting;
use crate::step::Step;

/// `(x - mean) / sqrt(variance + epsilon) * weight + bias`, where mean and biased variance are those of a group of channels
/// of one sample (Wu and He 2018, *Group Normalization*). Weight and bias are for each channel.
///
/// # Shapes
/// The output as the input, `[batch, channels, ..]`; `weight` and `bias: [channels]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct GroupNorm<'m, T: Real> {
    /// `[channels]`.
    pub weight: Parameter<'m, T>,
    /// `[channels]`.
    pub bias: Parameter<'m, T>,
    groups: usize,
    epsilon: f64,
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
        Ok(Self { weight, bias, groups, epsilon: 1e-5 })
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
        let epsilon = T::from_f64(self.epsilon);
        ops::group_norm_init(step, input, &self.weight.value, &self.bias.value, self.groups, epsilon)
    }
}

/// `(x - mean) / sqrt(variance + epsilon)`, where mean and biased variance are those of a channel of one sample (Ulyanov,
/// Vedaldi and Lempitsky 2016, *Instance Normalization*). Without weights, as PyTorch's by default; with weights it is a
/// [`GroupNorm`] of as many groups as channels.
///
/// # Shapes
/// The output as the input, `[batch, channels, ..]`.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct InstanceNorm {
    epsilon: f64,
}

impl InstanceNorm {
    /// A layer with an epsilon of 1e-5.
    pub fn new() -> Self {
        Self { epsilon: 1e-5 }
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
