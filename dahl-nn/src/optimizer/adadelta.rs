//! [`Adadelta`].

use dahl::prelude::*;
use dahl::program::Numbers;

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
    let (rate, decay) = (S::from_f64(step.learning_rate), S::from_f64(step.weight_decay));
    let (rho, new, eps) = (S::from_f64(step.rho), S::from_f64(1.0 - step.rho), S::from_f64(step.eps));
    for (((value, square), moved), gradient) in value.iter_mut().zip(square).zip(moved).zip(gradient) {
        let old = value.widen();
        let slope = gradient.widen() + decay * old;
        *square = rho * *square + new * slope * slope;
        let delta = (*moved + eps).sqrt() / (*square + eps).sqrt() * slope;
        *moved = rho * *moved + new * delta * delta;
        *value = T::narrow(old - rate * delta);
    }
}
