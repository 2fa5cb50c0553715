//! [`PRelu`] and [`RRelu`]: rectifiers whose slopes below 0 are learned, or drawn.

use dahl::ops;
use dahl::prelude::*;

use crate::module::{Init, Initializer, Module, Parameter};
use crate::setting::{self, Settings};
use crate::step::Step;

/// `x` above 0, `slope * x` below, with a slope that is learned: one, or one for each channel (He et al. 2015, *Delving deep
/// into rectifiers*).
///
/// # Shapes
/// `[batch, channels, ..]` to the same; of one slope, any. `weight: [channels]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct PRelu<'m, T: Real> {
    /// The slopes.
    pub weight: Parameter<'m, T>,
}

impl<'m, T: Real> PRelu<'m, T> {
    /// A slope for each of so many channels, or one for all elements if that is 1. They begin with 0.25, as in PyTorch.
    ///
    /// # Errors
    /// If there are no channels, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, channels: usize) -> dahl::Result<Self> {
        setting::require(channels > 0, "PRelu: channels", channels, "a number from 1")?;
        Ok(Self { weight: init.parameter(&[channels], Initializer::Constant(0.25))? })
    }

    /// Applies it to each element.
    ///
    /// # Errors
    /// If the input has other channels, and those of the operation.
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let channels = self.weight.len();
        let mut shape = [1; N];
        if channels > 1 {
            if input.shape().get(1) != Some(&channels) {
                let fact = format!("the input {:?} has no {channels} channels at axis 1", input.shape());
                return Err(dahl::Error::invalid_shape("PRelu", fact));
            }
            shape[1] = channels;
        }
        ops::prelu_init(step, input, &*self.weight.value.reshaped(shape)?)
    }
}

/// `x` above 0, `slope * x` below: in training with a slope for each element, drawn uniformly from `lower .. upper`, else with
/// their mean (Xu et al. 2015, *Empirical evaluation of rectified activations*).
#[derive(Clone, Debug, Module)]
#[module(crate = crate)]
pub struct RRelu {
    lower: f64,
    upper: f64,
    #[module(skip)]
    settings: Settings,
}

impl Default for RRelu {
    /// PyTorch's slopes, from 1/8 to 1/3.
    fn default() -> Self {
        Self::new(1.0 / 8.0, 1.0 / 3.0)
    }
}

impl RRelu {
    /// With slopes from `lower` to `upper`, which is no less. Invalid ones are an error of [`forward`](Self::forward), with the
    /// line that set them.
    #[track_caller]
    pub fn new(lower: f64, upper: f64) -> Self {
        let mut settings = Settings::default();
        let is_range = lower <= upper && (upper - lower).is_finite();
        let value = format!("{lower} .. {upper}");
        settings.require(is_range, "RRelu: slopes", value, "finite numbers, the lower one first");
        Self { lower, upper, settings }
    }

    /// Applies it to each element.
    ///
    /// # Errors
    /// If the slopes are invalid, and those of the operations.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        self.settings.check()?;
        if !step.is_training() {
            return ops::leaky_relu_init(step, input, (self.lower + self.upper) / 2.0);
        }
        let mut slopes = step.detached().zeros(input.shape())?;
        ops::uniform(&mut slopes, self.lower, self.upper, step.numbers(input.len()))?;
        ops::prelu_init(step, input, &slopes)
    }
}
