//! [`Adagrad`].

use dahl::prelude::*;
use dahl::program::Numbers;

use super::master::{Weight, mastered};
use super::{Stateful, UpdateRule, is_factor};

/// Adagrad (Duchi et al. 2011, [JMLR 12](https://jmlr.org/papers/v12/duchi11a.html)), by PyTorch's formula and with its
/// defaults:
///
/// * `g = gradient + weight_decay * value`
/// * `sum += g^2`
/// * `value -= learning_rate / (1 + (step - 1) * lr_decay) * g / (sqrt(sum) + eps)`
///
/// Its update runs on CPUs alone.
pub type Adagrad<T> = Stateful<T, AdagradRule>;

/// The settings of [`Adagrad`].
#[derive(Clone, Copy, Debug)]
pub struct AdagradRule {
    learning_rate: f64,
    lr_decay: f64,
    weight_decay: f64,
    initial_accumulator_value: f64,
    eps: f64,
}

impl<T: Real> Adagrad<T> {
    /// With this learning rate: finite, at least 0. PyTorch's default is 0.01.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        let (lr_decay, weight_decay, initial_accumulator_value, eps) = (0.0, 0.0, 0.0, 1e-10);
        Self::with_rule(AdagradRule { learning_rate, lr_decay, weight_decay, initial_accumulator_value, eps })
    }

    /// How fast the learning rate falls: finite, at least 0.
    #[track_caller]
    pub fn lr_decay(mut self, lr_decay: f64) -> Self {
        let is_valid = is_factor::<T>(lr_decay);
        self.settings.require(is_valid, "Adagrad: lr_decay", lr_decay, "a finite number from 0");
        self.rule.lr_decay = lr_decay;
        self
    }

    /// The fraction of the value that is added to the gradient: finite, at least 0.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        let is_valid = is_factor::<T>(weight_decay);
        self.settings.require(is_valid, "Adagrad: weight_decay", weight_decay, "a finite number from 0");
        self.rule.weight_decay = weight_decay;
        self
    }

    /// What the sums of squares are at first: finite, at least 0.
    #[track_caller]
    pub fn initial_accumulator_value(mut self, initial_accumulator_value: f64) -> Self {
        let is_valid = is_factor::<T>(initial_accumulator_value);
        self.settings.require(
            is_valid,
            "Adagrad: initial_accumulator_value",
            initial_accumulator_value,
            "a finite number from 0",
        );
        self.rule.initial_accumulator_value = initial_accumulator_value;
        self
    }

    /// What is added to the divisor, 1e-10 by default: finite, at least 0.
    #[track_caller]
    pub fn eps(mut self, eps: f64) -> Self {
        let is_valid = is_factor::<T>(eps);
        self.settings.require(is_valid, "Adagrad: eps", eps, "a finite number from 0");
        self.rule.eps = eps;
        self
    }
}

impl AdagradRule {
    /// The learning rate of step `step`, from 1.
    fn rate(&self, step: u64) -> f64 {
        self.learning_rate / (1.0 + (step - 1) as f64 * self.lr_decay)
    }
}

impl UpdateRule for AdagradRule {
    const LEARNING_RATE: &'static str = "Adagrad: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.learning_rate
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["sum"]
    }

    fn initial_state(&self) -> f64 {
        self.initial_accumulator_value
    }

    fn numbers(&self, step: u64, numbers: &mut Numbers<'_>) {
        numbers.push(self.rate(step));
        numbers.push(self.weight_decay);
        numbers.push(self.eps);
    }

    fn update<T: Real>(
        &self,
        step: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let [sum] = state else { unreachable!("`state_names` has one name") };
        update_by_adagrad(value, sum, gradient, self.rate(step), self.weight_decay, self.eps)
    }

    fn update_with_master<T: Real>(
        &self,
        step: u64,
        value: &mut Vector<'_, T>,
        master: &mut Vector<'static, T::Compute>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let [sum] = state else { unreachable!("`state_names` has one name") };
        let (rate, weight_decay, eps) = (self.rate(step), self.weight_decay, self.eps);
        update_by_adagrad_with_master(value, master, sum, gradient, rate, weight_decay, eps)
    }
}

/// A step of [`Adagrad`], with the decayed learning rate.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, R,
    check(value.len() == sum.len() && value.len() == gradient.len()),
    flops = 9 * value.len(),
    cpu_only
)]
pub(super) fn update_by_adagrad<T, S>(
    value: &mut [T],
    sum: &mut [S],
    gradient: &[T],
    learning_rate: f64,
    weight_decay: f64,
    eps: f64,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    adagrad_weights(value.iter_mut(), sum, gradient, learning_rate, weight_decay, eps);
}

/// As [`update_by_adagrad`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == sum.len() && value.len() == gradient.len()),
    flops = 9 * value.len(),
    cpu_only
)]
pub(super) fn update_by_adagrad_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    sum: &mut [S],
    gradient: &[T],
    learning_rate: f64,
    weight_decay: f64,
    eps: f64,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    adagrad_weights(mastered(value, master), sum, gradient, learning_rate, weight_decay, eps);
}

/// The formula of [`update_by_adagrad`].
#[inline(always)]
fn adagrad_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    sum: &mut [T::Compute],
    gradient: &[T],
    learning_rate: f64,
    weight_decay: f64,
    eps: f64,
) {
    let [rate, decay, eps] = [learning_rate, weight_decay, eps].map(T::Compute::from_f64);
    for ((weight, sum), gradient) in weights.zip(sum).zip(gradient) {
        let old = weight.value();
        let slope = gradient.widen() + decay * old;
        *sum += slope * slope;
        weight.set(old - rate * (slope / (sum.sqrt() + eps)));
    }
}
