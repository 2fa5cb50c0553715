//! [`RmsProp`].

use dahl::prelude::*;
use dahl::program::Numbers;

use super::{Stateful, UpdateRule, is_factor};

/// RMSprop (Hinton 2012, [lecture 6](https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf)), by PyTorch's
/// formula and with its defaults:
///
/// * `g = gradient + weight_decay * value`
/// * `square_avg = alpha * square_avg + (1 - alpha) * g^2`
/// * `direction = g / (sqrt(square_avg) + eps)`
/// * `value -= learning_rate * direction`
///
/// If it is [`centered`](Stateful::centered), the root is that of `square_avg - grad_avg^2`, with
/// `grad_avg = alpha * grad_avg + (1 - alpha) * g`. With [`momentum`](Stateful::momentum), the last line is
/// `momentum_buffer = momentum * momentum_buffer + direction`, `value -= learning_rate * momentum_buffer`.
///
/// Its update runs on CPUs alone.
pub type RmsProp<T> = Stateful<T, RmsPropRule>;

/// The settings of [`RmsProp`].
#[derive(Clone, Copy, Debug)]
pub struct RmsPropRule {
    learning_rate: f64,
    alpha: f64,
    eps: f64,
    weight_decay: f64,
    momentum: f64,
    centered: bool,
}

impl<T: Real> RmsProp<T> {
    /// With this learning rate: finite, at least 0. PyTorch's default is 0.01.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        let (alpha, eps, weight_decay, momentum) = (0.99, 1e-8, 0.0, 0.0);
        Self::with_rule(RmsPropRule { learning_rate, alpha, eps, weight_decay, momentum, centered: false })
    }

    /// The fraction of the averages that a step keeps, 0.99 by default: at least 0, below 1.
    #[track_caller]
    pub fn alpha(mut self, alpha: f64) -> Self {
        let is_valid = (0.0..1.0).contains(&alpha);
        self.settings.require(is_valid, "RmsProp: alpha", alpha, "a number from 0, below 1");
        self.rule.alpha = alpha;
        self
    }

    /// What is added to the divisor, 1e-8 by default: finite, at least 0.
    #[track_caller]
    pub fn eps(mut self, eps: f64) -> Self {
        let is_valid = is_factor::<T>(eps);
        self.settings.require(is_valid, "RmsProp: eps", eps, "a finite number from 0");
        self.rule.eps = eps;
        self
    }

    /// The fraction of the value that is added to the gradient: finite, at least 0.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        let is_valid = is_factor::<T>(weight_decay);
        self.settings.require(is_valid, "RmsProp: weight_decay", weight_decay, "a finite number from 0");
        self.rule.weight_decay = weight_decay;
        self
    }

    /// The fraction of the last step's direction that is kept: at least 0, below 1.
    #[track_caller]
    pub fn momentum(mut self, momentum: f64) -> Self {
        let is_valid = (0.0..1.0).contains(&momentum);
        self.settings.require(is_valid, "RmsProp: momentum", momentum, "a number from 0, below 1");
        self.rule.momentum = momentum;
        self
    }

    /// Divides by the standard deviation of the gradient, not by the root of its mean square (Graves 2013,
    /// [arXiv:1308.0850](https://arxiv.org/abs/1308.0850)).
    pub fn centered(mut self) -> Self {
        self.rule.centered = true;
        self
    }
}

impl RmsPropRule {
    /// The numbers of a step.
    fn step(&self) -> RmsPropStep {
        let Self { learning_rate, alpha, eps, weight_decay, momentum, .. } = *self;
        RmsPropStep { learning_rate, alpha, eps, weight_decay, momentum }
    }
}

impl UpdateRule for RmsPropRule {
    const LEARNING_RATE: &'static str = "RmsProp: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.learning_rate
    }

    fn state_names(&self) -> &'static [&'static str] {
        match (self.centered, self.momentum != 0.0) {
            (false, false) => &["square_avg"],
            (false, true) => &["square_avg", "momentum_buffer"],
            (true, false) => &["square_avg", "grad_avg"],
            (true, true) => &["square_avg", "grad_avg", "momentum_buffer"],
        }
    }

    fn numbers(&self, _: u64, numbers: &mut Numbers<'_>) {
        numbers.push(self.step());
    }

    fn update<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let step = self.step();
        match (state, self.centered) {
            ([square], _) => update_by_rmsprop(value, square, gradient, step),
            ([square, buffer], false) => {
                update_by_rmsprop_with_momentum(value, square, buffer, gradient, step)
            }
            ([square, mean], true) => update_by_rmsprop_centered(value, square, mean, gradient, step),
            ([square, mean, buffer], _) => {
                update_by_rmsprop_centered_with_momentum(value, square, mean, buffer, gradient, step)
            }
            _ => unreachable!("`state_names` has one to three names"),
        }
    }
}

/// The numbers of one step of RMSprop.
#[derive(Clone, Copy, Debug, PartialEq, Argument)]
#[repr(C)]
pub(super) struct RmsPropStep {
    /// The learning rate.
    pub learning_rate: f64,
    /// The fraction of the averages that is kept.
    pub alpha: f64,
    /// What is added to the divisor.
    pub eps: f64,
    /// The fraction of the value that is added to the gradient.
    pub weight_decay: f64,
    /// The fraction of the last direction that is kept.
    pub momentum: f64,
}

/// The numbers of a step in the compute type.
struct Scaled<S> {
    rate: S,
    alpha: S,
    /// `1 - alpha`.
    new: S,
    eps: S,
    decay: S,
    momentum: S,
}

impl<S: Real<Compute = S>> Scaled<S> {
    #[inline(always)]
    fn new(step: RmsPropStep) -> Self {
        Self {
            rate: S::from_f64(step.learning_rate),
            alpha: S::from_f64(step.alpha),
            new: S::from_f64(1.0 - step.alpha),
            eps: S::from_f64(step.eps),
            decay: S::from_f64(step.weight_decay),
            momentum: S::from_f64(step.momentum),
        }
    }

    /// Updates the average of squares, and returns the direction.
    #[inline(always)]
    fn direction(&self, slope: S, square: &mut S) -> S {
        *square = self.alpha * *square + self.new * slope * slope;
        slope / (square.sqrt() + self.eps)
    }

    /// Updates both averages, and returns the direction.
    #[inline(always)]
    fn centered_direction(&self, slope: S, square: &mut S, mean: &mut S) -> S {
        *square = self.alpha * *square + self.new * slope * slope;
        *mean += self.new * (slope - *mean);
        slope / ((*square - *mean * *mean).sqrt() + self.eps)
    }

    /// Updates the buffer, which is the direction then.
    #[inline(always)]
    fn kept(&self, direction: S, buffer: &mut S) -> S {
        *buffer = self.momentum * *buffer + direction;
        *buffer
    }
}

/// A step of [`RmsProp`].
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, R,
    check(value.len() == square.len() && value.len() == gradient.len()),
    flops = 11 * value.len(),
    cpu_only
)]
pub(super) fn update_by_rmsprop<T, S>(value: &mut [T], square: &mut [S], gradient: &[T], step: RmsPropStep)
where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let scaled = Scaled::<S>::new(step);
    for ((value, square), gradient) in value.iter_mut().zip(square).zip(gradient) {
        let old = value.widen();
        let direction = scaled.direction(gradient.widen() + scaled.decay * old, square);
        *value = T::narrow(old - scaled.rate * direction);
    }
}

/// A step of [`RmsProp`] with momentum.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == square.len() && value.len() == buffer.len() && value.len() == gradient.len()),
    flops = 13 * value.len(),
    cpu_only
)]
pub(super) fn update_by_rmsprop_with_momentum<T, S>(
    value: &mut [T],
    square: &mut [S],
    buffer: &mut [S],
    gradient: &[T],
    step: RmsPropStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let scaled = Scaled::<S>::new(step);
    for (((value, square), buffer), gradient) in value.iter_mut().zip(square).zip(buffer).zip(gradient) {
        let old = value.widen();
        let direction = scaled.direction(gradient.widen() + scaled.decay * old, square);
        *value = T::narrow(old - scaled.rate * scaled.kept(direction, buffer));
    }
}

/// A step of centered [`RmsProp`].
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == square.len() && value.len() == mean.len() && value.len() == gradient.len()),
    flops = 16 * value.len(),
    cpu_only
)]
pub(super) fn update_by_rmsprop_centered<T, S>(
    value: &mut [T],
    square: &mut [S],
    mean: &mut [S],
    gradient: &[T],
    step: RmsPropStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let scaled = Scaled::<S>::new(step);
    for (((value, square), mean), gradient) in value.iter_mut().zip(square).zip(mean).zip(gradient) {
        let old = value.widen();
        let direction = scaled.centered_direction(gradient.widen() + scaled.decay * old, square, mean);
        *value = T::narrow(old - scaled.rate * direction);
    }
}

/// A step of centered [`RmsProp`] with momentum.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, R,
    check(value.len() == square.len() && value.len() == mean.len() && value.len() == gradient.len()),
    check(value.len() == buffer.len()),
    flops = 18 * value.len(),
    cpu_only
)]
pub(super) fn update_by_rmsprop_centered_with_momentum<T, S>(
    value: &mut [T],
    square: &mut [S],
    mean: &mut [S],
    buffer: &mut [S],
    gradient: &[T],
    step: RmsPropStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let scaled = Scaled::<S>::new(step);
    let arrays = value.iter_mut().zip(square).zip(mean).zip(buffer).zip(gradient);
    for ((((value, square), mean), buffer), gradient) in arrays {
        let old = value.widen();
        let direction = scaled.centered_direction(gradient.widen() + scaled.decay * old, square, mean);
        *value = T::narrow(old - scaled.rate * scaled.kept(direction, buffer));
    }
}
