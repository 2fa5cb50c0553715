//! The operations of [`RmsProp`](super::RmsProp): with momentum or without, centered or not, with a master copy or without.

use dahl::prelude::*;

use super::master::{Weight, mastered};

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

/// A step of [`RmsProp`](super::RmsProp).
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
    rmsprop_weights(value.iter_mut(), square, gradient, step);
}

/// A step of [`RmsProp`](super::RmsProp) with momentum.
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
    momentum_weights(value.iter_mut(), square, buffer, gradient, step);
}

/// A step of centered [`RmsProp`](super::RmsProp).
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
    centered_weights(value.iter_mut(), square, mean, gradient, step);
}

/// A step of centered [`RmsProp`](super::RmsProp) with momentum.
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
    centered_momentum_weights(value.iter_mut(), square, mean, buffer, gradient, step);
}

/// As [`update_by_rmsprop`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == square.len() && value.len() == gradient.len()),
    flops = 11 * value.len(),
    cpu_only
)]
pub(super) fn update_by_rmsprop_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    square: &mut [S],
    gradient: &[T],
    step: RmsPropStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    rmsprop_weights(mastered(value, master), square, gradient, step);
}

/// As [`update_by_rmsprop_with_momentum`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == square.len() && value.len() == buffer.len()),
    check(value.len() == gradient.len()),
    flops = 13 * value.len(),
    cpu_only
)]
pub(super) fn update_by_rmsprop_with_momentum_and_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    square: &mut [S],
    buffer: &mut [S],
    gradient: &[T],
    step: RmsPropStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    momentum_weights(mastered(value, master), square, buffer, gradient, step);
}

/// As [`update_by_rmsprop_centered`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == square.len() && value.len() == mean.len()),
    check(value.len() == gradient.len()),
    flops = 16 * value.len(),
    cpu_only
)]
pub(super) fn update_by_rmsprop_centered_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    square: &mut [S],
    mean: &mut [S],
    gradient: &[T],
    step: RmsPropStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    centered_weights(mastered(value, master), square, mean, gradient, step);
}

/// As [`update_by_rmsprop_centered_with_momentum`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == square.len() && value.len() == mean.len()),
    check(value.len() == buffer.len() && value.len() == gradient.len()),
    flops = 18 * value.len(),
    cpu_only
)]
pub(super) fn update_by_rmsprop_centered_with_momentum_and_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    square: &mut [S],
    mean: &mut [S],
    buffer: &mut [S],
    gradient: &[T],
    step: RmsPropStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    centered_momentum_weights(mastered(value, master), square, mean, buffer, gradient, step);
}

/// The formula of [`update_by_rmsprop`].
#[inline(always)]
fn rmsprop_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    square: &mut [T::Compute],
    gradient: &[T],
    step: RmsPropStep,
) {
    let scaled = Scaled::<T::Compute>::new(step);
    for ((weight, square), gradient) in weights.zip(square).zip(gradient) {
        let old = weight.value();
        let slope = gradient.widen() + scaled.decay * old;
        let direction = scaled.direction(slope, square);
        weight.set(old - scaled.rate * direction);
    }
}

/// The formula of [`update_by_rmsprop_with_momentum`].
#[inline(always)]
fn momentum_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    square: &mut [T::Compute],
    buffer: &mut [T::Compute],
    gradient: &[T],
    step: RmsPropStep,
) {
    let scaled = Scaled::<T::Compute>::new(step);
    for (((weight, square), buffer), gradient) in weights.zip(square).zip(buffer).zip(gradient) {
        let old = weight.value();
        let slope = gradient.widen() + scaled.decay * old;
        let direction = scaled.direction(slope, square);
        weight.set(old - scaled.rate * scaled.kept(direction, buffer));
    }
}

/// The formula of [`update_by_rmsprop_centered`].
#[inline(always)]
fn centered_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    square: &mut [T::Compute],
    mean: &mut [T::Compute],
    gradient: &[T],
    step: RmsPropStep,
) {
    let scaled = Scaled::<T::Compute>::new(step);
    for (((weight, square), mean), gradient) in weights.zip(square).zip(mean).zip(gradient) {
        let old = weight.value();
        let slope = gradient.widen() + scaled.decay * old;
        let direction = scaled.centered_direction(slope, square, mean);
        weight.set(old - scaled.rate * direction);
    }
}

/// The formula of [`update_by_rmsprop_centered_with_momentum`].
#[inline(always)]
fn centered_momentum_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    square: &mut [T::Compute],
    mean: &mut [T::Compute],
    buffer: &mut [T::Compute],
    gradient: &[T],
    step: RmsPropStep,
) {
    let scaled = Scaled::<T::Compute>::new(step);
    for ((((weight, square), mean), buffer), gradient) in
        weights.zip(square).zip(mean).zip(buffer).zip(gradient)
    {
        let old = weight.value();
        let slope = gradient.widen() + scaled.decay * old;
        let direction = scaled.centered_direction(slope, square, mean);
        weight.set(old - scaled.rate * scaled.kept(direction, buffer));
    }
}
