//! [`RmsProp`].

use dahl::prelude::*;
use dahl::program::Numbers;

use super::rmsprop_update::*;
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

    fn update_with_master<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        master: &mut Vector<'static, T::Compute>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let step = self.step();
        match (state, self.centered) {
            ([square], _) => update_by_rmsprop_with_master(value, master, square, gradient, step),
            ([square, buffer], false) => {
                update_by_rmsprop_with_momentum_and_master(value, master, square, buffer, gradient, step)
            }
            ([square, mean], true) => {
                update_by_rmsprop_centered_with_master(value, master, square, mean, gradient, step)
            }
            ([square, mean, buffer], _) => update_by_rmsprop_centered_with_momentum_and_master(
                value, master, square, mean, buffer, gradient, step,
            ),
            _ => unreachable!("`state_names` has one to three names"),
        }
    }
}
