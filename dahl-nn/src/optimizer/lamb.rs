//! [`Lamb`].

use dahl::prelude::*;
use dahl::program::Numbers;

use super::master::{Weight, mastered};
use super::{Stateful, UpdateRule, is_factor};

/// LAMB (You et al. 2019, [arXiv:1904.00962](https://arxiv.org/abs/1904.00962), algorithm 2), for large batches: the step of
/// each parameter is in proportion to the norm of its value.
///
/// * `exp_avg = beta1 * exp_avg + (1 - beta1) * gradient`
/// * `exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * gradient^2`
/// * `direction = exp_avg / (1 - beta1^step) / (sqrt(exp_avg_sq / (1 - beta2^step)) + eps) + weight_decay * value`
/// * `value -= learning_rate * norm(value) / norm(direction) * direction`
///
/// The ratio of the norms is 1 where one of them is 0. Its update runs on CPUs alone.
pub type Lamb<T> = Stateful<T, LambRule>;

/// The settings of [`Lamb`].
#[derive(Clone, Copy, Debug)]
pub struct LambRule {
    learning_rate: f64,
    betas: [f64; 2],
    eps: f64,
    weight_decay: f64,
}

impl<T: Real> Lamb<T> {
    /// With this learning rate: finite, at least 0.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        Self::with_rule(LambRule { learning_rate, betas: [0.9, 0.999], eps: 1e-6, weight_decay: 0.0 })
    }

    /// The fractions of the two averages, 0.9 and 0.999 by default: at least 0, below 1.
    #[track_caller]
    pub fn betas(mut self, beta1: f64, beta2: f64) -> Self {
        let betas = [beta1, beta2];
        let are_shares = betas.iter().all(|beta| (0.0..1.0).contains(beta));
        self.settings.require(
            are_shares,
            "Lamb: betas",
            format_args!("{betas:?}"),
            "numbers from 0, below 1",
        );
        self.rule.betas = betas;
        self
    }

    /// What is added to the divisor, 1e-6 by default: finite, at least 0.
    #[track_caller]
    pub fn eps(mut self, eps: f64) -> Self {
        let is_valid = is_factor::<T>(eps);
        self.settings.require(is_valid, "Lamb: eps", eps, "a finite number from 0");
        self.rule.eps = eps;
        self
    }

    /// The fraction of the value that is added to the direction: finite, at least 0.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        let is_valid = is_factor::<T>(weight_decay);
        self.settings.require(is_valid, "Lamb: weight_decay", weight_decay, "a finite number from 0");
        self.rule.weight_decay = weight_decay;
        self
    }
}

impl LambRule {
    /// The numbers of step `step`, from 1.
    fn step(&self, step: u64) -> LambStep {
        let Self { learning_rate, betas: [beta1, beta2], eps, weight_decay } = *self;
        let corrections = [beta1, beta2].map(|beta| 1.0 / (1.0 - beta.powf(step as f64)));
        LambStep { learning_rate, beta1, beta2, eps, weight_decay, corrections }
    }
}

impl UpdateRule for LambRule {
    const LEARNING_RATE: &'static str = "Lamb: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.learning_rate
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["exp_avg", "exp_avg_sq"]
    }

    fn numbers(&self, step: u64, numbers: &mut Numbers<'_>) {
        numbers.push(self.step(step));
    }

    fn update<T: Real>(
        &self,
        step: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let [mean, square] = state else { unreachable!("`state_names` has two names") };
        update_by_lamb(value, mean, square, gradient, self.step(step))
    }

    fn update_with_master<T: Real>(
        &self,
        step: u64,
        value: &mut Vector<'_, T>,
        master: &mut Vector<'static, T::Compute>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let [mean, square] = state else { unreachable!("`state_names` has two names") };
        update_by_lamb_with_master(value, master, mean, square, gradient, self.step(step))
    }
}

/// The numbers of one step of LAMB.
#[derive(Clone, Copy, Debug, PartialEq, Argument)]
#[repr(C)]
pub(super) struct LambStep {
    /// The learning rate.
    pub learning_rate: f64,
    /// The fraction of the average of gradients that is kept.
    pub beta1: f64,
    /// The fraction of the average of squares that is kept.
    pub beta2: f64,
    /// What is added to the divisor.
    pub eps: f64,
    /// The fraction of the value that is added to the direction.
    pub weight_decay: f64,
    /// `1 / (1 - beta^step)` for both.
    pub corrections: [f64; 2],
}

/// A step of [`Lamb`].
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == mean.len() && value.len() == square.len() && value.len() == gradient.len()),
    flops = 28 * value.len(),
    cpu_only
)]
pub(super) fn update_by_lamb<T, S>(
    value: &mut [T],
    mean: &mut [S],
    square: &mut [S],
    gradient: &[T],
    step: LambStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let ratio = lamb_ratio(value.iter_mut(), mean, square, gradient, step);
    lamb_weights(value.iter_mut(), mean, square, step, ratio);
}

/// As [`update_by_lamb`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == mean.len() && value.len() == square.len()),
    check(value.len() == gradient.len()),
    flops = 28 * value.len(),
    cpu_only
)]
pub(super) fn update_by_lamb_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    mean: &mut [S],
    square: &mut [S],
    gradient: &[T],
    step: LambStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let ratio = lamb_ratio(mastered(value, master), mean, square, gradient, step);
    lamb_weights(mastered(value, master), mean, square, step, ratio);
}

/// Updates both averages, and returns the ratio of the norms.
#[inline(always)]
fn lamb_ratio<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    mean: &mut [T::Compute],
    square: &mut [T::Compute],
    gradient: &[T],
    step: LambStep,
) -> f64 {
    let [beta1, beta2] = [step.beta1, step.beta2].map(T::Compute::from_f64);
    let news = [step.beta1, step.beta2].map(|beta| T::Compute::from_f64(1.0 - beta));
    let direction = LambDirection::new(step);
    let (mut of_values, mut of_directions) = (0.0, 0.0);
    for (((weight, mean), square), gradient) in weights.zip(mean).zip(square).zip(gradient) {
        let (old, slope) = (weight.value(), gradient.widen());
        *mean = beta1 * *mean + news[0] * slope;
        *square = beta2 * *square + news[1] * slope * slope;
        of_values += old.to_f64() * old.to_f64();
        let direction = direction.of(old, *mean, *square).to_f64();
        of_directions += direction * direction;
    }
    let are_above_0 = of_values > 0.0 && of_directions > 0.0;
    if are_above_0 { of_values.sqrt() / of_directions.sqrt() } else { 1.0 }
}

/// Steps along the direction, with the averages of this step.
#[inline(always)]
fn lamb_weights<S: Real<Compute = S>>(
    weights: impl Iterator<Item = impl Weight<S>>,
    mean: &[S],
    square: &[S],
    step: LambStep,
    ratio: f64,
) {
    let (rate, direction) = (S::from_f64(step.learning_rate * ratio), LambDirection::new(step));
    for ((weight, mean), square) in weights.zip(mean).zip(square) {
        let old = weight.value();
        weight.set(old - rate * direction.of(old, *mean, *square));
    }
}

/// The numbers of the direction, in the compute type.
struct LambDirection<S> {
    eps: S,
    decay: S,
    corrections: [S; 2],
}

impl<S: Real<Compute = S>> LambDirection<S> {
    #[inline(always)]
    fn new(step: LambStep) -> Self {
        let corrections = step.corrections.map(S::from_f64);
        Self { eps: S::from_f64(step.eps), decay: S::from_f64(step.weight_decay), corrections }
    }

    /// The direction of one element.
    #[inline(always)]
    fn of(&self, value: S, mean: S, square: S) -> S {
        self.corrections[0] * mean / ((self.corrections[1] * square).sqrt() + self.eps) + self.decay * value
    }
}
