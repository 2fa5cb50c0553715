//! [`Sgd`]: stochastic gradient descent.

use dahl::prelude::*;

use super::Optimizer;
use crate::module::{Name, Parameter};
use crate::setting::Settings;

/// Stochastic gradient descent with momentum and weight decay, by PyTorch's formula:
/// `velocity = momentum * velocity + gradient + weight_decay * value`, `value -= learning_rate * velocity`.
#[derive(Debug)]
pub struct Sgd<T: Real> {
    learning_rate: f64,
    momentum: f64,
    weight_decay: f64,
    settings: Settings,
    /// One for each parameter, created with its first update.
    velocities: Vec<Vector<'static, T>>,
}

/// An invalid setting is returned as an error by the next call that can fail, usually `fit`, with the line that set it.
impl<T: Real> Sgd<T> {
    /// Without momentum: `value -= learning_rate * gradient`, with a finite rate of at least 0.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        let mut settings = Settings::default();
        let is_rate = is_factor::<T>(learning_rate);
        settings.require(is_rate, "Sgd: learning_rate", learning_rate, "a finite number from 0");
        Self { learning_rate, momentum: 0.0, weight_decay: 0.0, settings, velocities: Vec::new() }
    }

    /// The fraction of the last step's velocity that is kept: at least 0, below 1.
    #[track_caller]
    pub fn momentum(mut self, momentum: f64) -> Self {
        let is_share = (0.0..1.0).contains(&momentum);
        self.settings.require(is_share, "Sgd: momentum", momentum, "a number from 0, below 1");
        self.momentum = momentum;
        self
    }

    /// The fraction of the value that is added to the gradient: finite, at least 0.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        let is_decay = is_factor::<T>(weight_decay);
        self.settings.require(is_decay, "Sgd: weight_decay", weight_decay, "a finite number from 0");
        self.weight_decay = weight_decay;
        self
    }
}

/// Whether the number is at least 0 and finite in the compute type.
fn is_factor<T: Real>(number: f64) -> bool {
    number >= 0.0 && T::Compute::from_f64(number).is_finite()
}

impl<T: Real> Optimizer<T> for Sgd<T> {
    fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }

    fn update(&mut self, index: usize, _: &Name<'_>, parameter: &mut Parameter<'_, T>) -> dahl::Result<()> {
        self.settings.check()?;
        let Self { learning_rate, momentum, weight_decay, velocities, .. } = self;
        let Parameter { value, gradient, .. } = parameter;
        if *momentum == 0.0 {
            return descend(value, gradient, *learning_rate, *weight_decay);
        }
        while velocities.len() <= index {
            velocities.push(value.zeros_like()?);
        }
        if velocities[index].shape() != value.shape() {
            velocities[index] = value.zeros_like()?;
        }
        descend_with_momentum(
            value,
            &mut velocities[index],
            gradient,
            *learning_rate,
            *momentum,
            *weight_decay,
        )
    }
}

/// `value -= learning_rate * (gradient + weight_decay * value)`.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, R,
    check(value.len() == gradient.len()),
    flops = 4 * value.len(),
    cuda = crate::kernels::DESCEND
)]
pub fn descend<T: Real>(value: &mut [T], gradient: &[T], learning_rate: f64, weight_decay: f64) {
    let (rate, decay) = (T::Compute::from_f64(learning_rate), T::Compute::from_f64(weight_decay));
    for (value, gradient) in value.iter_mut().zip(gradient) {
        let old = value.widen();
        *value = T::narrow(old - rate * (gradient.widen() + decay * old));
    }
}

/// `velocity = momentum * velocity + gradient + weight_decay * value`, `value -= learning_rate * velocity`.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, R,
    check(value.len() == gradient.len() && value.len() == velocity.len()),
    flops = 6 * value.len(),
    cuda = crate::kernels::DESCEND_WITH_MOMENTUM
)]
pub fn descend_with_momentum<T: Real>(
    value: &mut [T],
    velocity: &mut [T],
    gradient: &[T],
    learning_rate: f64,
    momentum: f64,
    weight_decay: f64,
) {
    let (rate, momentum) = (T::Compute::from_f64(learning_rate), T::Compute::from_f64(momentum));
    let decay = T::Compute::from_f64(weight_decay);
    for ((value, velocity), gradient) in value.iter_mut().zip(velocity).zip(gradient) {
        let old = value.widen();
        let new_velocity = momentum * velocity.widen() + (gradient.widen() + decay * old);
        *velocity = T::narrow(new_velocity);
        *value = T::narrow(old - rate * new_velocity);
    }
}
