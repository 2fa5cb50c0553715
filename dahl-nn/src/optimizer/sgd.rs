//! [`Sgd`]: stochastic gradient descent.

use dahl::prelude::*;
use dahl::program::Numbers;

use super::master::{Weight, mastered};
use super::{Stateful, UpdateRule, is_factor};

/// Stochastic gradient descent with momentum and weight decay, by PyTorch's formula:
/// `velocity = momentum * velocity + gradient + weight_decay * value`, `value -= learning_rate * velocity`.
///
/// With [`nesterov`](Stateful::nesterov), `value -= learning_rate * (gradient + weight_decay * value + momentum * velocity)`.
pub type Sgd<T> = Stateful<T, SgdRule>;

/// The settings of [`Sgd`].
#[derive(Clone, Copy, Debug)]
pub struct SgdRule {
    learning_rate: f64,
    momentum: f64,
    weight_decay: f64,
    nesterov: bool,
}

impl<T: Real> Sgd<T> {
    /// Without momentum: `value -= learning_rate * gradient`, with a finite rate of at least 0.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        Self::with_rule(SgdRule { learning_rate, momentum: 0.0, weight_decay: 0.0, nesterov: false })
    }

    /// The fraction of the last step's velocity that is kept: at least 0, below 1.
    #[track_caller]
    pub fn momentum(mut self, momentum: f64) -> Self {
        let is_share = (0.0..1.0).contains(&momentum);
        self.settings.require(is_share, "Sgd: momentum", momentum, "a number from 0, below 1");
        self.rule.momentum = momentum;
        self.require_momentum();
        self
    }

    /// Steps along the gradient and the new velocity (Nesterov). It needs a momentum.
    #[track_caller]
    pub fn nesterov(mut self) -> Self {
        self.rule.nesterov = true;
        self.require_momentum();
        self
    }

    #[track_caller]
    fn require_momentum(&mut self) {
        let SgdRule { nesterov, momentum, .. } = self.rule;
        let holds = !nesterov || momentum != 0.0;
        self.settings.require(holds, "Sgd: nesterov", "momentum 0", "a momentum above 0");
    }

    /// The fraction of the value that is added to the gradient: finite, at least 0.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        let is_decay = is_factor::<T>(weight_decay);
        self.settings.require(is_decay, "Sgd: weight_decay", weight_decay, "a finite number from 0");
        self.rule.weight_decay = weight_decay;
        self
    }
}

impl UpdateRule for SgdRule {
    const LEARNING_RATE: &'static str = "Sgd: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.learning_rate
    }

    fn state_names(&self) -> &'static [&'static str] {
        if self.momentum == 0.0 { &[] } else { &["momentum_buffer"] }
    }

    fn numbers(&self, _: u64, numbers: &mut Numbers<'_>) {
        let Self { learning_rate, momentum, weight_decay, nesterov } = *self;
        numbers.push(learning_rate);
        if momentum != 0.0 {
            numbers.push(momentum);
        }
        numbers.push(weight_decay);
        if momentum != 0.0 {
            numbers.push(nesterov);
        }
    }

    fn update<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let Self { learning_rate, momentum, weight_decay, nesterov } = *self;
        match state {
            [velocity] => descend_with_momentum(
                value,
                velocity,
                gradient,
                learning_rate,
                momentum,
                weight_decay,
                nesterov,
            ),
            _ => descend(value, gradient, learning_rate, weight_decay),
        }
    }

    fn update_with_master<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        master: &mut Vector<'static, T::Compute>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let Self { learning_rate, momentum, weight_decay, nesterov } = *self;
        match state {
            [velocity] => descend_with_momentum_and_master(
                value,
                master,
                velocity,
                gradient,
                learning_rate,
                momentum,
                weight_decay,
                nesterov,
            ),
            _ => descend_with_master(value, master, gradient, learning_rate, weight_decay),
        }
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
    descend_weights(value.iter_mut(), gradient, learning_rate, weight_decay);
}

/// `velocity = momentum * velocity + gradient + weight_decay * value`, `value -= learning_rate * velocity`; with `nesterov`,
/// `value -= learning_rate * (gradient + weight_decay * value + momentum * velocity)`.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, R,
    check(value.len() == gradient.len() && value.len() == velocity.len()),
    flops = 6 * value.len(),
    cuda = crate::kernels::DESCEND_WITH_MOMENTUM
)]
pub fn descend_with_momentum<T, S>(
    value: &mut [T],
    velocity: &mut [S],
    gradient: &[T],
    learning_rate: f64,
    momentum: f64,
    weight_decay: f64,
    nesterov: bool,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let numbers = [learning_rate, momentum, weight_decay];
    descend_weights_with_momentum(value.iter_mut(), velocity, gradient, numbers, nesterov);
}

/// As [`descend`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, R,
    check(value.len() == gradient.len() && value.len() == master.len()),
    flops = 4 * value.len(),
    cuda = crate::kernels::DESCEND_WITH_MASTER
)]
pub(super) fn descend_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    gradient: &[T],
    learning_rate: f64,
    weight_decay: f64,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    descend_weights(mastered(value, master), gradient, learning_rate, weight_decay);
}

/// As [`descend_with_momentum`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == gradient.len() && value.len() == velocity.len() && value.len() == master.len()),
    flops = 6 * value.len(),
    cuda = crate::kernels::DESCEND_WITH_MOMENTUM_AND_MASTER
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes its arrays and numbers one by one")]
pub(super) fn descend_with_momentum_and_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    velocity: &mut [S],
    gradient: &[T],
    learning_rate: f64,
    momentum: f64,
    weight_decay: f64,
    nesterov: bool,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let numbers = [learning_rate, momentum, weight_decay];
    descend_weights_with_momentum(mastered(value, master), velocity, gradient, numbers, nesterov);
}

/// The formula of [`descend`].
#[inline(always)]
fn descend_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    gradient: &[T],
    learning_rate: f64,
    weight_decay: f64,
) {
    let (rate, decay) = (T::Compute::from_f64(learning_rate), T::Compute::from_f64(weight_decay));
    for (weight, gradient) in weights.zip(gradient) {
        let old = weight.value();
        weight.set(old - rate * (gradient.widen() + decay * old));
    }
}

/// The formula of [`descend_with_momentum`], with the learning rate, the momentum and the weight decay.
#[inline(always)]
fn descend_weights_with_momentum<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    velocity: &mut [T::Compute],
    gradient: &[T],
    numbers: [f64; 3],
    nesterov: bool,
) {
    let [rate, momentum, decay] = numbers.map(T::Compute::from_f64);
    for ((weight, velocity), gradient) in weights.zip(velocity).zip(gradient) {
        let old = weight.value();
        let slope = gradient.widen() + decay * old;
        *velocity = momentum * *velocity + slope;
        let direction = if nesterov { slope + momentum * *velocity } else { *velocity };
        weight.set(old - rate * direction);
    }
}
