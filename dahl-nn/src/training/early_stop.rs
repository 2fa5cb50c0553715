//! [`EarlyStop`]: ends a training that no longer becomes better.

use dahl::prelude::*;

use super::history::Epoch;
use super::monitor::Monitor;
use crate::module::{Module, Values};
use crate::setting::Settings;

/// Ends a training after some epochs in a row that are no better than the best one before them.
///
/// ```
/// use dahl_nn::prelude::*;
///
/// let early_stop = EarlyStop::new(Monitor::ValidationLoss, 3).min_delta(1e-3).restore_best();
/// # drop(early_stop);
/// ```
#[derive(Clone, Debug)]
pub struct EarlyStop {
    pub(super) monitor: Monitor,
    patience: usize,
    min_delta: f64,
    restores_best: bool,
    pub(super) settings: Settings,
}

impl EarlyStop {
    /// Stops after `patience` epochs in a row, at least 1, in which the monitored result did not become better.
    #[track_caller]
    pub fn new(monitor: Monitor, patience: usize) -> Self {
        let mut settings = Settings::default();
        settings.require(patience > 0, "EarlyStop: patience", patience, "a number from 1");
        Self { monitor, patience, min_delta: 0.0, restores_best: false, settings }
    }

    /// Sets by how much more than this a better result differs from the best one, 0 by default: finite, at least 0.
    #[track_caller]
    pub fn min_delta(mut self, difference: f64) -> Self {
        let is_valid = difference >= 0.0 && difference.is_finite();
        self.settings.require(is_valid, "EarlyStop: min_delta", difference, "a finite number from 0");
        self.min_delta = difference;
        self
    }

    /// Gives the model the parameters and buffers of its best epoch when the training ends. They are kept in memory, and
    /// in checkpoints.
    pub fn restore_best(mut self) -> Self {
        self.restores_best = true;
        self
    }

    /// Looks at the results of an epoch. Returns whether the training stops.
    pub(super) fn observe<T: Real>(
        &self,
        epoch: &Epoch,
        model: &impl Module<T>,
        seen: &mut Seen<T>,
    ) -> dahl::Result<bool> {
        let value = self.monitor.value(epoch);
        if self.monitor.improves(value, seen.best, self.min_delta) {
            (seen.best, seen.waited) = (Some(value), 0);
            if self.restores_best {
                seen.best_values = Some(Values::of(model)?);
            }
        } else {
            seen.waited += 1;
        }
        Ok(seen.waited >= self.patience)
    }
}

/// What an [`EarlyStop`] has seen.
#[derive(Debug)]
pub(super) struct Seen<T> {
    pub(super) best: Option<f64>,
    /// Epochs since the best one.
    pub(super) waited: usize,
    /// The parameters and buffers of the best epoch.
    pub(super) best_values: Option<Values<T>>,
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self { best: None, waited: 0, best_values: None }
    }
}
