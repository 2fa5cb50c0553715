//! [`Adam`] and [`AdamW`].

use dahl::prelude::*;
use dahl::program::Numbers;

use super::master::{Weight, mastered};
use super::{Stateful, UpdateRule, is_factor};

/// Adam (Kingma and Ba 2015, [arXiv:1412.6980](https://arxiv.org/abs/1412.6980)), by PyTorch's formula and with its
/// defaults:
///
/// * `g = gradient + weight_decay * value`
/// * `exp_avg = beta1 * exp_avg + (1 - beta1) * g`
/// * `exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * g^2`
/// * `value -= learning_rate / (1 - beta1^step) * exp_avg / (sqrt(exp_avg_sq) / sqrt(1 - beta2^step) + eps)`
///
/// With [`amsgrad`](Stateful::amsgrad), the greatest `exp_avg_sq` so far takes its place in the last line (Reddi et al.
/// 2018, [arXiv:1904.09237](https://arxiv.org/abs/1904.09237)).
pub type Adam<T> = Stateful<T, AdamRule<false>>;

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019, [arXiv:1711.05101](https://arxiv.org/abs/1711.05101)):
/// as [`Adam`], but `g = gradient`, and `value *= 1 - learning_rate * weight_decay` comes first. The default weight decay is
/// 0.01, as in PyTorch.
pub type AdamW<T> = Stateful<T, AdamRule<true>>;

/// The settings of [`Adam`] and, if `DECOUPLED`, of [`AdamW`].
#[derive(Clone, Copy, Debug)]
pub struct AdamRule<const DECOUPLED: bool> {
    learning_rate: f64,
    betas: [f64; 2],
    eps: f64,
    weight_decay: f64,
    amsgrad: bool,
}

impl<const DECOUPLED: bool> AdamRule<DECOUPLED> {
    fn new(learning_rate: f64, weight_decay: f64) -> Self {
        Self { learning_rate, betas: [0.9, 0.999], eps: 1e-8, weight_decay, amsgrad: false }
    }

    /// The numbers of step `step`, from 1.
    fn step(&self, step: u64) -> AdamStep {
        let [beta1, beta2] = self.betas;
        let count = step as f64;
        let shrinks = if DECOUPLED { self.learning_rate * self.weight_decay } else { 0.0 };
        AdamStep {
            kept: 1.0 - shrinks,
            weight_decay: if DECOUPLED { 0.0 } else { self.weight_decay },
            beta1,
            beta2,
            step_size: self.learning_rate / (1.0 - beta1.powf(count)),
            root: (1.0 - beta2.powf(count)).sqrt(),
            eps: self.eps,
        }
    }

    /// What errors call a setting.
    const fn name(of_adam: &'static str, of_adamw: &'static str) -> &'static str {
        if DECOUPLED { of_adamw } else { of_adam }
    }
}

impl<T: Real> Adam<T> {
    /// With this learning rate: finite, at least 0. PyTorch's default is 1e-3.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        Self::with_rule(AdamRule::new(learning_rate, 0.0))
    }
}

impl<T: Real> AdamW<T> {
    /// With this learning rate: finite, at least 0. PyTorch's default is 1e-3.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        Self::with_rule(AdamRule::new(learning_rate, 0.01))
    }
}

impl<T: Real, const DECOUPLED: bool> Stateful<T, AdamRule<DECOUPLED>> {
    /// The fractions of the two averages that a step keeps, 0.9 and 0.999 by default: at least 0, below 1.
    #[track_caller]
    pub fn betas(mut self, beta1: f64, beta2: f64) -> Self {
        let betas = [beta1, beta2];
        let are_shares = betas.iter().all(|beta| (0.0..1.0).contains(beta));
        let name = AdamRule::<DECOUPLED>::name("Adam: betas", "AdamW: betas");
        self.settings.require(are_shares, name, format_args!("{betas:?}"), "numbers from 0, below 1");
        self.rule.betas = betas;
        self
    }

    /// What is added to the divisor, 1e-8 by default: finite, at least 0.
    #[track_caller]
    pub fn eps(mut self, eps: f64) -> Self {
        let name = AdamRule::<DECOUPLED>::name("Adam: eps", "AdamW: eps");
        self.settings.require(is_factor::<T>(eps), name, eps, "a finite number from 0");
        self.rule.eps = eps;
        self
    }

    /// The weight decay: finite, at least 0.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        let name = AdamRule::<DECOUPLED>::name("Adam: weight_decay", "AdamW: weight_decay");
        self.settings.require(is_factor::<T>(weight_decay), name, weight_decay, "a finite number from 0");
        self.rule.weight_decay = weight_decay;
        self
    }

    /// Divides by the root of the greatest average of squares so far, not by that of the last one.
    pub fn amsgrad(mut self) -> Self {
        self.rule.amsgrad = true;
        self
    }
}

impl<const DECOUPLED: bool> UpdateRule for AdamRule<DECOUPLED> {
    const LEARNING_RATE: &'static str = Self::name("Adam: learning_rate", "AdamW: learning_rate");

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.learning_rate
    }

    fn state_names(&self) -> &'static [&'static str] {
        if self.amsgrad { &["exp_avg", "exp_avg_sq", "max_exp_avg_sq"] } else { &["exp_avg", "exp_avg_sq"] }
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
        let adam_step = self.step(step);
        match state {
            [mean, square] => update_by_adam(value, mean, square, gradient, adam_step),
            [mean, square, largest] => {
                update_by_adam_amsgrad(value, mean, square, largest, gradient, adam_step)
            }
            _ => unreachable!("`state_names` has two or three names"),
        }
    }

    fn update_with_master<T: Real>(
        &self,
        step: u64,
        value: &mut Vector<'_, T>,
        master: &mut Vector<'static, T::Compute>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let adam_step = self.step(step);
        match state {
            [mean, square] => update_by_adam_with_master(value, master, mean, square, gradient, adam_step),
            [mean, square, largest] => {
                update_by_adam_amsgrad_with_master(value, master, mean, square, largest, gradient, adam_step)
            }
            _ => unreachable!("`state_names` has two or three names"),
        }
    }
}

/// The numbers of one step of Adam.
#[derive(Clone, Copy, Debug, PartialEq, Argument)]
#[repr(C)]
pub(super) struct AdamStep {
    /// What the value is multiplied by first: decoupled weight decay.
    pub kept: f64,
    /// The fraction of the value that is added to the gradient.
    pub weight_decay: f64,
    /// The fraction of the average of gradients that is kept.
    pub beta1: f64,
    /// The fraction of the average of squares that is kept.
    pub beta2: f64,
    /// `learning_rate / (1 - beta1^step)`.
    pub step_size: f64,
    /// `sqrt(1 - beta2^step)`.
    pub root: f64,
    /// What is added to the divisor.
    pub eps: f64,
}

/// The numbers of a step in the compute type.
struct Adaptive<S> {
    kept: S,
    weight_decay: S,
    beta2: S,
    /// `1 - beta1` and `1 - beta2`.
    news: [S; 2],
    step_size: S,
    root: S,
    eps: S,
}

impl<S: Real<Compute = S>> Adaptive<S> {
    #[inline(always)]
    fn new(step: AdamStep) -> Self {
        Self {
            kept: S::from_f64(step.kept),
            weight_decay: S::from_f64(step.weight_decay),
            beta2: S::from_f64(step.beta2),
            news: [S::from_f64(1.0 - step.beta1), S::from_f64(1.0 - step.beta2)],
            step_size: S::from_f64(step.step_size),
            root: S::from_f64(step.root),
            eps: S::from_f64(step.eps),
        }
    }

    /// Updates both averages.
    #[inline(always)]
    fn average(&self, value: S, gradient: S, mean: &mut S, square: &mut S) {
        let slope = gradient + self.weight_decay * value;
        *mean += self.news[0] * (slope - *mean);
        *square = self.beta2 * *square + self.news[1] * slope * slope;
    }

    /// The new value.
    #[inline(always)]
    fn moved(&self, value: S, mean: S, square: S) -> S {
        value * self.kept - self.step_size * (mean / (square.sqrt() / self.root + self.eps))
    }
}

/// A step of [`Adam`] or [`AdamW`].
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == mean.len() && value.len() == square.len() && value.len() == gradient.len()),
    flops = 16 * value.len(),
    cuda = crate::kernels::UPDATE_BY_ADAM
)]
pub(super) fn update_by_adam<T, S>(
    value: &mut [T],
    mean: &mut [S],
    square: &mut [S],
    gradient: &[T],
    step: AdamStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    adam_weights(value.iter_mut(), mean, square, gradient, step);
}

/// A step of [`Adam`] or [`AdamW`] that divides by the root of the largest average of squares so far.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, R,
    check(value.len() == mean.len() && value.len() == square.len() && value.len() == gradient.len()),
    check(value.len() == largest.len()),
    flops = 17 * value.len(),
    cuda = crate::kernels::UPDATE_BY_ADAM_AMSGRAD
)]
pub(super) fn update_by_adam_amsgrad<T, S>(
    value: &mut [T],
    mean: &mut [S],
    square: &mut [S],
    largest: &mut [S],
    gradient: &[T],
    step: AdamStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    amsgrad_weights(value.iter_mut(), mean, square, largest, gradient, step);
}

/// As [`update_by_adam`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == mean.len() && value.len() == square.len()),
    check(value.len() == gradient.len()),
    flops = 16 * value.len(),
    cuda = crate::kernels::UPDATE_BY_ADAM_WITH_MASTER
)]
pub(super) fn update_by_adam_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    mean: &mut [S],
    square: &mut [S],
    gradient: &[T],
    step: AdamStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    adam_weights(mastered(value, master), mean, square, gradient, step);
}

/// As [`update_by_adam_amsgrad`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == mean.len() && value.len() == square.len()),
    check(value.len() == largest.len() && value.len() == gradient.len()),
    flops = 17 * value.len(),
    cuda = crate::kernels::UPDATE_BY_ADAM_AMSGRAD_WITH_MASTER
)]
pub(super) fn update_by_adam_amsgrad_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    mean: &mut [S],
    square: &mut [S],
    largest: &mut [S],
    gradient: &[T],
    step: AdamStep,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    amsgrad_weights(mastered(value, master), mean, square, largest, gradient, step);
}

/// The formula of [`update_by_adam`].
#[inline(always)]
fn adam_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    mean: &mut [T::Compute],
    square: &mut [T::Compute],
    gradient: &[T],
    step: AdamStep,
) {
    let adaptive = Adaptive::<T::Compute>::new(step);
    for (((weight, mean), square), gradient) in weights.zip(mean).zip(square).zip(gradient) {
        let old = weight.value();
        adaptive.average(old, gradient.widen(), mean, square);
        weight.set(adaptive.moved(old, *mean, *square));
    }
}

/// The formula of [`update_by_adam_amsgrad`].
#[inline(always)]
fn amsgrad_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    mean: &mut [T::Compute],
    square: &mut [T::Compute],
    largest: &mut [T::Compute],
    gradient: &[T],
    step: AdamStep,
) {
    let adaptive = Adaptive::<T::Compute>::new(step);
    for ((((weight, mean), square), largest), gradient) in
        weights.zip(mean).zip(square).zip(largest).zip(gradient)
    {
        let old = weight.value();
        adaptive.average(old, gradient.widen(), mean, square);
        // Not a number stays one.
        let is_kept = largest.is_nan() || *largest > *square;
        *largest = if is_kept { *largest } else { *square };
        weight.set(adaptive.moved(old, *mean, *largest));
    }
}
