//! [`CosineRestarts`].

use super::warmup::Warmup;
use super::{Schedule, half_cosine, is_rate};
use crate::setting::Settings;

/// A warm-up, then half a cosine down to the minimum again and again, each `multiplier` times as long as the one before
/// (Loshchilov and Hutter 2017, [arXiv:1608.03983](https://arxiv.org/abs/1608.03983)), as PyTorch's
/// `CosineAnnealingWarmRestarts`.
#[derive(Clone, Debug)]
pub struct CosineRestarts {
    peak: f64,
    period: usize,
    multiplier: usize,
    warmup: Warmup,
    minimum: f64,
    settings: Settings,
}

impl CosineRestarts {
    /// From this rate to 0 in the first `period` steps, then again. The rate is finite, and at least 0.
    #[track_caller]
    pub fn new(peak: f64, period: usize) -> Self {
        let mut settings = Settings::default();
        settings.require(is_rate(peak), "CosineRestarts: peak", peak, "a finite number from 0");
        settings.require(period > 0, "CosineRestarts: period", period, "a number from 1");
        Self { peak, period, multiplier: 1, warmup: Warmup::default(), minimum: 0.0, settings }
    }

    /// Sets how much longer each period is than the one before, 1 by default: at least 1.
    #[track_caller]
    pub fn multiplier(mut self, multiplier: usize) -> Self {
        let is_valid = multiplier > 0;
        self.settings.require(is_valid, "CosineRestarts: multiplier", multiplier, "a number from 1");
        self.multiplier = multiplier;
        self
    }

    /// Begins with this many steps in which the rate rises in a line, from 0 to the peak. They are before the first period.
    pub fn warmup(mut self, steps: usize) -> Self {
        self.warmup.steps = steps;
        self
    }

    /// Sets what part of the peak the rate of the first step of the warm-up is, 0 by default, as `start_factor` of PyTorch's
    /// `LinearLR`: from 0 to 1.
    #[track_caller]
    pub fn warmup_from(mut self, factor: f64) -> Self {
        let is_part = (0.0..=1.0).contains(&factor);
        self.settings.require(is_part, "CosineRestarts: warmup_from", factor, "a number from 0 to 1");
        self.warmup.from = factor;
        self
    }

    /// Sets the lowest rate, 0 by default: finite, at least 0.
    #[track_caller]
    pub fn minimum(mut self, rate: f64) -> Self {
        self.settings.require(is_rate(rate), "CosineRestarts: minimum", rate, "a finite number from 0");
        self.minimum = rate;
        self
    }
}

impl Schedule for CosineRestarts {
    fn at(&self, step: usize) -> f64 {
        if self.settings.check().is_err() {
            return f64::NAN;
        }
        let Self { peak, period, multiplier, warmup, minimum, .. } = *self;
        warmup.at(step, peak).unwrap_or_else(|| {
            let (mut since, mut period) = (step - warmup.steps, period);
            if multiplier == 1 {
                since %= period;
            }
            while since >= period {
                since -= period;
                period = period.saturating_mul(multiplier);
            }
            half_cosine(peak, minimum, since as f64 / period as f64)
        })
    }

    fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }
}
