//! [`BatchNorm`]: normalisation of each channel over a batch.

use dahl::ops;
use dahl::prelude::*;

use super::affine::Affine;
use crate::module::{Buffer, Init, Initializer, Module, Parameter};
use crate::setting::{self, Settings};
use crate::step::Step;

/// `(x - mean) / sqrt(variance + epsilon) * weight + bias`, for each channel (Ioffe and Szegedy 2015, *Batch Normalization*).
/// In training, mean and biased variance are those of the batch, and running statistics follow them; otherwise they are the
/// running ones. PyTorch's `BatchNorm1d`, `2d` and `3d`, with its names and defaults.
///
/// # Shapes
/// The output as the input, `[batch, channels, ..]`; `weight`, `bias`, `running_mean` and `running_var: [channels]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct BatchNorm<'m, T: Real> {
    /// `[channels]`, if there is one.
    pub weight: Option<Parameter<'m, T>>,
    /// `[channels]`, if there is one.
    pub bias: Option<Parameter<'m, T>>,
    /// The running mean.
    pub running_mean: Buffer<T>,
    /// The running variance, unbiased.
    pub running_var: Buffer<T>,
    #[module(skip)]
    channels: usize,
    epsilon: f64,
    momentum: f64,
    #[module(skip)]
    settings: Settings,
}

impl<'m, T: Real> BatchNorm<'m, T> {
    /// A layer for `channels` channels: weights and running variances of 1, biases and running means of 0, an epsilon of
    /// 1e-5, a momentum of 0.1.
    ///
    /// # Errors
    /// If there are no channels, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, channels: usize) -> dahl::Result<Self> {
        setting::require(channels > 0, "BatchNorm: channels", channels, "a number from 1")?;
        let weight: Parameter<'m, T> = init.parameter(&[channels], Initializer::Constant(1.0))?;
        let bias = init.parameter(&[channels], Initializer::Constant(0.0))?;
        let mut ones = weight.value.zeros_like()?;
        ops::fill(&mut ones, T::ONE)?;
        let (running_mean, running_var) = (Buffer::new(weight.value.zeros_like()?)?, Buffer::new(ones)?);
        let (weight, bias, settings) = (Some(weight), Some(bias), Settings::default());
        Ok(Self { weight, bias, running_mean, running_var, channels, epsilon: 1e-5, momentum: 0.1, settings })
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
        let is_epsilon = epsilon >= 0.0 && epsilon.is_finite();
        self.settings.require(is_epsilon, "BatchNorm: epsilon", epsilon, "a finite number from 0");
        self.epsilon = epsilon;
        self
    }

    /// Sets the share of a batch in the running statistics, from 0 to 1. An invalid one is an error of
    /// [`forward`](Self::forward).
    #[track_caller]
    pub fn momentum(mut self, momentum: f64) -> Self {
        let is_share = (0.0..=1.0).contains(&momentum);
        self.settings.require(is_share, "BatchNorm: momentum", momentum, "a number from 0 to 1");
        self.momentum = momentum;
        self
    }

    /// Normalises a batch.
    ///
    /// # Errors
    /// If the input does not have the layer's channels, if a channel has less than two elements in training, and those of
    /// the operations.
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        self.settings.check()?;
        let channels = self.channels;
        if N < 2 || input.shape()[1] != channels {
            let fact =
                format!("the input has shape {:?}, but the layer is for {channels} channels", input.shape());
            return Err(dahl::Error::invalid_shape("BatchNorm", fact));
        }
        let epsilon = T::from_f64(self.epsilon);
        let weight = Affine::new(step, self.weight.as_ref(), channels, T::ONE)?;
        let bias = Affine::new(step, self.bias.as_ref(), channels, T::ZERO)?;
        if !step.is_training() {
            let mut shape = [1; N];
            shape[1] = channels;
            let (mean, variance) = (self.running_mean.value(), self.running_var.value());
            return ops::batch_norm_inference_init(
                step,
                input,
                &*weight.reshaped(shape)?,
                &*bias.reshaped(shape)?,
                &*mean.reshaped(shape)?,
                &*variance.reshaped(shape)?,
                epsilon,
            );
        }
        let count = input.len() / channels;
        if count < 2 {
            let fact = format!("in training each channel needs two elements, but has {count}");
            return Err(dahl::Error::invalid_shape("BatchNorm", fact));
        }
        let (output, mean, variance) = ops::batch_norm_init(step, input, &weight, &bias, epsilon)?;
        let unbiased = count as f64 / (count - 1) as f64;
        for (running, batch, share) in [
            (&self.running_mean, &mean, self.momentum),
            (&self.running_var, &variance, self.momentum * unbiased),
        ] {
            let mut running = running.value();
            ops::scale_self(&mut running, T::from_f64(1.0 - self.momentum))?;
            ops::axpy_self(batch, &mut running, T::from_f64(share))?;
        }
        Ok(output)
    }
}
