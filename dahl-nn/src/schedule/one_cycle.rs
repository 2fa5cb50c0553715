//! [`OneCycle`].

use super::{Schedule, half_cosine, is_rate, line};
use crate::setting::Settings;

/// Up to a peak and far down, in one cycle (Smith and Topin 2018, [arXiv:1708.07120](https://arxiv.org/abs/1708.07120)), by
/// the formula and with the defaults of PyTorch's `OneCycleLR`, in two phases.
///
/// The rate begins at `peak / start_divisor`, reaches the peak at step `rising * steps - 1` and
/// `peak / start_divisor / end_divisor` at step `steps - 1`, each along half a cosine.
#[derive(Clone, Debug)]
pub struct OneCycle {
    peak: f64,
    steps: usize,
    rising: f64,
    start_divisor: f64,
    end_divisor: f64,
    between: fn(f64, f64, f64) -> f64,
    settings: Settings,
}

impl OneCycle {
    /// With this highest rate, finite and at least 0, and this many steps in all.
    #[track_caller]
    pub fn new(peak: f64, steps: usize) -> Self {
        let mut settings = Settings::default();
        settings.require(is_rate(peak), "OneCycle: peak", peak, "a finite number from 0");
        settings.require(steps > 0, "OneCycle: steps", steps, "a number from 1");
        let between = half_cosine;
        Self { peak, steps, rising: 0.3, start_divisor: 25.0, end_divisor: 1e4, between, settings }
    }

    /// Sets the part of the steps in which the rate rises, 0.3 by default (`pct_start`): from 0 to 1.
    #[track_caller]
    pub fn rising(mut self, part: f64) -> Self {
        let is_part = (0.0..=1.0).contains(&part);
        self.settings.require(is_part, "OneCycle: rising", part, "a number from 0 to 1");
        self.rising = part;
        self
    }

    /// Sets the peak in proportion to the first rate, 25 by default (`div_factor`): finite, above 0.
    #[track_caller]
    pub fn start_divisor(mut self, divisor: f64) -> Self {
        let is_divisor = divisor > 0.0 && divisor.is_finite();
        self.settings.require(is_divisor, "OneCycle: start_divisor", divisor, "a finite number above 0");
        self.start_divisor = divisor;
        self
    }

    /// Sets the first rate in proportion to the last one, 10000 by default (`final_div_factor`): finite, above 0.
    #[track_caller]
    pub fn end_divisor(mut self, divisor: f64) -> Self {
        let is_divisor = divisor > 0.0 && divisor.is_finite();
        self.settings.require(is_divisor, "OneCycle: end_divisor", divisor, "a finite number above 0");
        self.end_divisor = divisor;
        self
    }

    /// Goes up and down in lines, not along cosines.
    pub fn linear(mut self) -> Self {
        self.between = line;
        self
    }
}

impl Schedule for OneCycle {
    fn at(&self, step: usize) -> f64 {
        if self.settings.check().is_err() {
            return f64::NAN;
        }
        let first = self.peak / self.start_divisor;
        let last = first / self.end_divisor;
        let (top, end) = (self.rising * self.steps as f64 - 1.0, self.steps as f64 - 1.0);
        let step = step as f64;
        if step >= end {
            last
        } else if step <= top && top > 0.0 {
            (self.between)(first, self.peak, step / top)
        } else {
            (self.between)(self.peak, last, (step - top) / (end - top))
        }
    }

    fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }
}
