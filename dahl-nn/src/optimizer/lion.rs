//! [`Lion`].

use dahl::prelude::*;
use dahl::program::Numbers;

use super::master::{Weight, mastered};
use super::{Stateful, UpdateRule, is_factor};

/// Lion (Chen et al. 2023, [arXiv:2302.06675](https://arxiv.org/abs/2302.06675), algorithm 2):
///
/// * `direction = sign(beta1 * exp_avg + (1 - beta1) * gradient)`
/// * `exp_avg = beta2 * exp_avg + (1 - beta2) * gradient`
/// * `value -= learning_rate * (direction + weight_decay * value)`
///
/// The sign of 0 is 0. Its update runs on CPUs alone.
pub type Lion<T> = Stateful<T, LionRule>;

/// The settings of [`Lion`].
#[derive(Clone, Copy, Debug)]
pub struct LionRule {
    learning_rate: f64,
    betas: [f64; 2],
    weight_decay: f64,
}

impl<T: Real> Lion<T> {
    /// With this learning rate: finite, at least 0. The paper's is 1e-4, a third to a tenth of AdamW's.
    #[track_caller]
    pub fn new(learning_rate: f64) -> Self {
        Self::with_rule(LionRule { learning_rate, betas: [0.9, 0.99], weight_decay: 0.0 })
    }

    /// The fractions of the two averages, 0.9 and 0.99 by default: at least 0, below 1.
    #[track_caller]
    pub fn betas(mut self, beta1: f64, beta2: f64) -> Self {
        let betas = [beta1, beta2];
        let are_shares = betas.iter().all(|beta| (0.0..1.0).contains(beta));
        self.settings.require(
            are_shares,
            "Lion: betas",
            format_args!("{betas:?}"),
            "numbers from 0, below 1",
        );
        self.rule.betas = betas;
        self
    }

    /// The decoupled weight decay: finite, at least 0.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        let is_valid = is_factor::<T>(weight_decay);
        self.settings.require(is_valid, "Lion: weight_decay", weight_decay, "a finite number from 0");
        self.rule.weight_decay = weight_decay;
        self
    }
}

impl UpdateRule for LionRule {
    const LEARNING_RATE: &'static str = "Lion: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.learning_rate
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["exp_avg"]
    }

    fn numbers(&self, _: u64, numbers: &mut Numbers<'_>) {
        let Self { learning_rate, betas, weight_decay } = *self;
        numbers.push(learning_rate);
        numbers.push(betas);
        numbers.push(weight_decay);
    }

    fn update<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let Self { learning_rate, betas, weight_decay } = *self;
        let [mean] = state else { unreachable!("`state_names` has one name") };
        update_by_lion(value, mean, gradient, learning_rate, betas, weight_decay)
    }

    fn update_with_master<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        master: &mut Vector<'static, T::Compute>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let Self { learning_rate, betas, weight_decay } = *self;
        let [mean] = state else { unreachable!("`state_names` has one name") };
        update_by_lion_with_master(value, master, mean, gradient, learning_rate, betas, weight_decay)
    }
}

/// A step of [`Lion`].
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, R,
    check(value.len() == mean.len() && value.len() == gradient.len()),
    flops = 11 * value.len(),
    cpu_only
)]
pub(super) fn update_by_lion<T, S>(
    value: &mut [T],
    mean: &mut [S],
    gradient: &[T],
    learning_rate: f64,
    betas: [f64; 2],
    weight_decay: f64,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    lion_weights(value.iter_mut(), mean, gradient, learning_rate, betas, weight_decay);
}

/// As [`update_by_lion`], with a master copy of the value.
///
/// # Shapes
/// All `[elements]`.
#[codelet(
    RW, RW, RW, R,
    check(value.len() == master.len() && value.len() == mean.len() && value.len() == gradient.len()),
    flops = 11 * value.len(),
    cpu_only
)]
pub(super) fn update_by_lion_with_master<T, S>(
    value: &mut [T],
    master: &mut [S],
    mean: &mut [S],
    gradient: &[T],
    learning_rate: f64,
    betas: [f64; 2],
    weight_decay: f64,
) where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    lion_weights(mastered(value, master), mean, gradient, learning_rate, betas, weight_decay);
}

/// The formula of [`update_by_lion`].
#[inline(always)]
fn lion_weights<T: Real>(
    weights: impl Iterator<Item = impl Weight<T::Compute>>,
    mean: &mut [T::Compute],
    gradient: &[T],
    learning_rate: f64,
    betas: [f64; 2],
    weight_decay: f64,
) {
    let [rate, decay] = [learning_rate, weight_decay].map(T::Compute::from_f64);
    let (olds, news) = (betas.map(T::Compute::from_f64), betas.map(|beta| T::Compute::from_f64(1.0 - beta)));
    for ((weight, mean), gradient) in weights.zip(mean).zip(gradient) {
        let (old, slope) = (weight.value(), gradient.widen());
        let mixed = olds[0] * *mean + news[0] * slope;
        let direction =
            if mixed == T::Compute::ZERO { T::Compute::ZERO } else { T::Compute::ONE.copysign(mixed) };
        // Not a number stays one.
        let direction = if mixed.is_nan() { mixed } else { direction };
        *mean = olds[1] * *mean + news[1] * slope;
        weight.set(old - rate * (direction + decay * old));
    }
}
