//! [`Adadelta`].

use dahl::prelude::*;
use dahl::program::Numbers;

use super::master::{Weight, mastered};
use super::{Stateful, UpdateRule, is_factor};

/// Adadelta (Zeiler 2012, [arXiv:1212.5701](https://arxiv.org/abs/1212.5701)), by PyTorch's formula and with its defaults:
///
/// * `g = gradient + weight_decay * value`
/// * `square_avg = rho * square_avg + (1 - rho) * g^2`
/// * `delta = sqrt(acc_delta + eps) / sqrt(square_avg + eps) * g`
/// * `acc_delta = rho * acc_delta + (1 - rho) * delta^2`
/// * `value -= learning_rate * delta`
///
/// Its update runs on CPUs alone.
pub type Adadelta<T> = Stateful<T, AdadeltaRule>;

/// The settings of [`Adadelta`].
#[derive(Clone, Copy, Debug)]
pub struct AdadeltaRule {
    learning_rate: f64,
    rho: f64,
    eps: f64,
    weight_decay: f64,
}

impl<T: Real> Adadelta<T> {
    /// With this learning rate: finite, at least 0. PyTorch's default is 1.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        Self::with_rule(AdadeltaRule { learning_rate, rho: 0.9, eps: 1e-6, weight_decay: 0.0 })
    }

    /// The fraction of the averages that a step keeps, 0.9 by default: at least 0, below 1.
    #[track_caller]
    pub fn rho(mut self, rho: f64) -> Self {
        let is_valid = (0.0..1.0).contains(&rho);
        self.settings.require(is_valid, "Adadelta: rho", rho, "a number from 0, below 1");
        self.rule.rho = rho;
        self
    }

    /// What is added under the roots, 1e-6 by default: finite, at least 0.
    #[track_caller]
    pub fn eps(mut self, eps: f64) -> Self {
        let is_valid = is_factor::<T>(eps);
        self.settings.require(is_valid, "Adadelta: eps", eps, "a finite number from 0");
        self.rule.eps = eps;
        self
    }

    /// The fraction of the value that is added to the gradient: finite, at least 0.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        let is_valid = is_factor::<T>(weight_decay);
        self.settings.require(is_valid, "Adadelta: weight_decay", weight_decay, "a finite number from 0");
        self.rule.weight_decay = weight_decay;
        self
    }
}

impl UpdateRule for AdadeltaRule {
    const LEARNING_RATE: &'static str = "Adadelta: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.learning_rate
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["square_avg", "acc_delta"]
    }

    fn numbers(&self, _: u64, numbers: &mut Numbers<'_>) {
        let Self { learning_rate, rho, eps, weight_decay } = *self;
        numbers.push(AdadeltaStep { learning_rate, rho, eps, weight_decay });
    }

    fn update<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let Self { learning_rate, rho, eps, weight_decay } = *self;
        let [square, moved] = state else { unreachable!("`state_names` has two names") };
        update_by_adadelta(
            value,
            square,
            moved,
            gradient,
            AdadeltaStep { learning_rate, rho, eps, weight_decay },
        )
    }

    fn update_with_master<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        master: &mut Vector<'static, T::Compute>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let Self { learning_rate, rho, eps, weight_decay } = *self;
        let [square, moved] = state else { unreachable!("`state_names` has two names") };
        let step = AdadeltaStep { learning_rate, rho, eps, weight_decay };
        update_by_adadelta_with_master(value, master, square, moved, gradient, step)
    }
}

/// The numbers of one step of Adadelta.
#[derive(Clone, Copy, Debug, PartialEq, Argument)]
#[repr(C)]
pub(super) struct AdadeltaStep {
    /// The learning rate.
    pub learning_rate: f64,
    /// The fraction of the averages that is kept.
    pub rho: f64,
    /// What is added under the roots.
    pub eps: f64,
    /// The fraction of the value that is added to the gradient.
    pub weight_decay: f64,
}

/// A step of [`Adadelta`].
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == square.len() && value.len() == moved.len() && value.len() == gradient.len()),
    flops = 18 * value.len(),
    cpu_only
)]
pub(super) fn update_by_adadelta<T, S>(
    value: &mut [T],
    square: &mut [S],
    moved: &mut [S],
    gradient: &[T],
    step: AdadeltaStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    adadelta_weights(value.iter_mut(), square, moved, gradient, step);
}

/// As [`update_by_adadelta`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == square.len() && value.len() == moved.len()),
    check(value.len() == gradient.len()),
    flops = 18 * value.len(),
    cpu_only
)]
pub(super) fn update_by_adadelta_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    square: &mut [S],
    moved: &mut [S],
    gradient: &[T],
    step: AdadeltaStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    adadelta_weights(mastered(value, master), square, moved, gradient, step);
}

/// The formula of [`update_by_adadelta`].
#[inline(always)]
fn adadelta_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    square: &mut [T::Compute],
    moved: &mut [T::Compute],
    gradient: &[T],
    step: AdadeltaStep,
) {
    let [rate, decay] = [step.learning_rate, step.weight_decay].map(T::Compute::from_f64);
    let [rho, new, eps] = [step.rho, 1.0 - step.rho, step.eps].map(T::Compute::from_f64);
    for (((weight, square), moved), gradient) in weights.zip(square).zip(moved).zip(gradient) {
        let old = weight.value();
        let slope = gradient.widen() + decay * old;
        *square = rho * *square + new * slope * slope;
        let delta = (*moved + eps).sqrt() / (*square + eps).sqrt() * slope;
        *moved = rho * *moved + new * delta * delta;
        weight.set(old - rate * delta);
    }
}
