//! [`StepDecay`] and [`ExponentialDecay`].

use super::{Schedule, is_rate};
use crate::setting::Settings;

/// Multiplies the rate by `factor` after each `every` steps, as PyTorch's `StepLR`: `initial * factor^floor(step / every)`.
#[derive(Clone, Debug)]
pub struct StepDecay {
    initial: f64,
    every: usize,
    factor: f64,
    settings: Settings,
}

impl StepDecay {
    /// From this rate, multiplied by 0.1 after each `every` steps. The rate is finite, and at least 0.
    #[track_caller]
    pub fn new(initial: f64, every: usize) -> Self {
        let mut settings = Settings::default();
        settings.require(is_rate(initial), "StepDecay: initial", initial, "a finite number from 0");
        settings.require(every > 0, "StepDecay: every", every, "a number from 1");
        Self { initial, every, factor: 0.1, settings }
    }

    /// Sets the factor, 0.1 by default: finite, at least 0.
    #[track_caller]
    pub fn factor(mut self, factor: f64) -> Self {
        self.settings.require(is_rate(factor), "StepDecay: factor", factor, "a finite number from 0");
        self.factor = factor;
        self
    }
}

impl Schedule for StepDecay {
    fn at(&self, step: usize) -> f64 {
        if self.settings.check().is_err() {
            return f64::NAN;
        }
        self.initial * self.factor.powf((step / self.every) as f64)
    }

    fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }
}

/// Multiplies the rate by `factor` after each step, as PyTorch's `ExponentialLR`: `initial * factor^step`.
#[derive(Clone, Debug)]
pub struct ExponentialDecay {
    initial: f64,
    factor: f64,
    settings: Settings,
}

impl ExponentialDecay {
    /// From this rate, by this factor. Both are finite, and at least 0.
    #[track_caller]
    pub fn new(initial: f64, factor: f64) -> Self {
        let mut settings = Settings::default();
        settings.require(is_rate(initial), "ExponentialDecay: initial", initial, "a finite number from 0");
        settings.require(is_rate(factor), "ExponentialDecay: factor", factor, "a finite number from 0");
        Self { initial, factor, settings }
    }
}

impl Schedule for ExponentialDecay {
    fn at(&self, step: usize) -> f64 {
        if self.settings.check().is_err() {
            return f64::NAN;
        }
        self.initial * self.factor.powf(step as f64)
    }

    fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }
}
