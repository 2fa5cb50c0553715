//! [`Lambda`].

use std::fmt;

use super::{Schedule, is_rate};
use crate::setting::Settings;

/// The initial rate times a function of the step, as PyTorch's `LambdaLR`.
///
/// ```
/// use dahl_nn::prelude::*;
///
/// let schedule = Lambda::new(0.1, |step| 1.0 / (1 + step) as f64);
/// assert_eq!(schedule.at(3), 0.025);
/// ```
#[derive(Clone)]
pub struct Lambda<F> {
    initial: f64,
    factor: F,
    settings: Settings,
}

impl<F: Fn(usize) -> f64> Lambda<F> {
    /// `initial * factor(step)`. The initial rate is finite, and at least 0.
    #[track_caller]
    pub fn new(initial: f64, factor: F) -> Self {
        let mut settings = Settings::default();
        settings.require(is_rate(initial), "Lambda: initial", initial, "a finite number from 0");
        Self { initial, factor, settings }
    }
}

impl<F: Fn(usize) -> f64> Schedule for Lambda<F> {
    fn at(&self, step: usize) -> f64 {
        if self.settings.check().is_err() {
            return f64::NAN;
        }
        self.initial * (self.factor)(step)
    }

    fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }
}

impl<F> fmt::Debug for Lambda<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lambda").field("initial", &self.initial).finish_non_exhaustive()
    }
}
