//! [`Cosine`].

use super::warmup::Warmup;
use super::{Schedule, half_cosine, is_rate};
use crate::setting::Settings;

/// A warm-up, then half a cosine down to the minimum (Loshchilov and Hutter 2017,
/// [arXiv:1608.03983](https://arxiv.org/abs/1608.03983)), as PyTorch's `SequentialLR` of `LinearLR` and `CosineAnnealingLR`:
///
/// `minimum + (peak - minimum) * (1 + cos(pi * (step - warmup) / (steps - warmup))) / 2`
///
/// After its steps the rate is the minimum.
#[derive(Clone, Debug)]
pub struct Cosine {
    peak: f64,
    steps: usize,
    warmup: Warmup,
    minimum: f64,
    settings: Settings,
}

impl Cosine {
    /// From this rate to 0 in this many steps, the warm-up included. The rate is finite, and at least 0.
    #[track_caller]
    pub fn new(peak: f64, steps: usize) -> Self {
        let mut settings = Settings::default();
        settings.require(is_rate(peak), "Cosine: peak", peak, "a finite number from 0");
        settings.require(steps > 0, "Cosine: steps", steps, "a number from 1");
        Self { peak, steps, warmup: Warmup::default(), minimum: 0.0, settings }
    }

    /// Begins with this many steps in which the rate rises in a line, from 0 to the peak. They are part of all steps, and fewer.
    #[track_caller]
    pub fn warmup(mut self, steps: usize) -> Self {
        self.warmup.steps = steps;
        let are_fewer = steps < self.steps;
        self.settings.require(are_fewer, "Cosine: warmup", steps, "fewer steps than in all");
        self
    }

    /// Sets what part of the peak the rate of the first step of the warm-up is, 0 by default, as `start_factor` of PyTorch's
    /// `LinearLR`: from 0 to 1.
    #[track_caller]
    pub fn warmup_from(mut self, factor: f64) -> Self {
        let is_part = (0.0..=1.0).contains(&factor);
        self.settings.require(is_part, "Cosine: warmup_from", factor, "a number from 0 to 1");
        self.warmup.from = factor;
        self
    }

    /// Sets the lowest rate, 0 by default: finite, at least 0.
    #[track_caller]
    pub fn minimum(mut self, rate: f64) -> Self {
        self.settings.require(is_rate(rate), "Cosine: minimum", rate, "a finite number from 0");
        self.minimum = rate;
        self
    }
}

impl Schedule for Cosine {
    fn at(&self, step: usize) -> f64 {
        if self.settings.check().is_err() {
            return f64::NAN;
        }
        let Self { peak, steps, warmup, minimum, .. } = *self;
        if step >= steps {
            return minimum;
        }
        warmup.at(step, peak).unwrap_or_else(|| {
            let part = (step - warmup.steps) as f64 / (steps - warmup.steps) as f64;
            half_cosine(peak, minimum, part)
        })
    }

    fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }
}
