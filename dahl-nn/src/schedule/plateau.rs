//! [`Plateau`].

use super::is_rate;
use crate::error::Result;
use crate::setting::{self, Settings};

/// Reduces the rate when a metric stops improving, by the rules and with the defaults of PyTorch's `ReduceLROnPlateau`.
///
/// A metric is better than the best so far if it is below `best * (1 - threshold)`. After more than
/// [`patience`](Self::patience) metrics in a row that are not, the rate is multiplied by [`factor`](Self::factor).
///
/// ```
/// use dahl_nn::prelude::*;
///
/// let mut plateau = Plateau::new(0.1).patience(1);
/// let rates = [1.0, 0.5, 0.5, 0.5].map(|loss| plateau.observe(loss));
/// assert_eq!(rates, [0.1, 0.1, 0.1, 0.1 * 0.1]);
/// ```
#[derive(Clone, Debug)]
pub struct Plateau {
    rate: f64,
    factor: f64,
    patience: usize,
    threshold: f64,
    is_absolute: bool,
    maximizes: bool,
    cooldown: usize,
    minimum: f64,
    eps: f64,
    best: Option<f64>,
    bad: usize,
    cooling: usize,
    settings: Settings,
}

impl Plateau {
    /// From this rate: finite, at least 0.
    #[track_caller]
    pub fn new(initial: f64) -> Self {
        let mut settings = Settings::default();
        settings.require(is_rate(initial), "Plateau: initial", initial, "a finite number from 0");
        Self {
            rate: initial,
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            is_absolute: false,
            maximizes: false,
            cooldown: 0,
            minimum: 0.0,
            eps: 1e-8,
            best: None,
            bad: 0,
            cooling: 0,
            settings,
        }
    }

    /// Sets by what the rate is multiplied, 0.1 by default: at least 0, below 1.
    #[track_caller]
    pub fn factor(mut self, factor: f64) -> Self {
        let falls = (0.0..1.0).contains(&factor);
        self.settings.require(falls, "Plateau: factor", factor, "a number from 0, below 1");
        self.factor = factor;
        self
    }

    /// Sets how many metrics in a row may be no better, 10 by default.
    pub fn patience(mut self, metrics: usize) -> Self {
        self.patience = metrics;
        self
    }

    /// Sets by which part of the best metric a better one differs, 1e-4 by default: finite, at least 0.
    #[track_caller]
    pub fn threshold(mut self, part: f64) -> Self {
        self.settings.require(is_rate(part), "Plateau: threshold", part, "a finite number from 0");
        (self.threshold, self.is_absolute) = (part, false);
        self
    }

    /// Sets by how much a better metric differs from the best one: finite, at least 0.
    #[track_caller]
    pub fn absolute_threshold(mut self, difference: f64) -> Self {
        let is_valid = is_rate(difference);
        self.settings.require(is_valid, "Plateau: threshold", difference, "a finite number from 0");
        (self.threshold, self.is_absolute) = (difference, true);
        self
    }

    /// Takes larger metrics as better: for an accuracy.
    pub fn maximize(mut self) -> Self {
        self.maximizes = true;
        self
    }

    /// Sets how many metrics are not counted as bad after the rate was reduced, 0 by default.
    pub fn cooldown(mut self, metrics: usize) -> Self {
        self.cooldown = metrics;
        self
    }

    /// Sets the lowest rate, 0 by default: finite, at least 0.
    #[track_caller]
    pub fn minimum(mut self, rate: f64) -> Self {
        self.settings.require(is_rate(rate), "Plateau: minimum", rate, "a finite number from 0");
        self.minimum = rate;
        self
    }

    /// Sets the smallest difference by which the rate is reduced, 1e-8 by default: finite, at least 0.
    #[track_caller]
    pub fn eps(mut self, difference: f64) -> Self {
        self.settings.require(is_rate(difference), "Plateau: eps", difference, "a finite number from 0");
        self.eps = difference;
        self
    }

    /// Takes the next metric, usually the loss of an epoch, and returns the rate from now on. Not a number, which an
    /// optimizer refuses, if a setting is invalid.
    pub fn observe(&mut self, metric: f64) -> f64 {
        if self.settings.check().is_err() {
            return f64::NAN;
        }
        if self.is_better(metric) {
            self.best = Some(metric);
            self.bad = 0;
        } else {
            self.bad += 1;
        }
        if self.cooling > 0 {
            self.cooling -= 1;
            self.bad = 0;
        }
        if self.bad > self.patience {
            let reduced = (self.rate * self.factor).max(self.minimum);
            if self.rate - reduced > self.eps {
                self.rate = reduced;
            }
            self.cooling = self.cooldown;
            self.bad = 0;
        }
        self.rate
    }

    /// The rate.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The first invalid setting, with the line that set it.
    pub fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }

    /// What it has seen, as text for a checkpoint: bits of numbers.
    pub(crate) fn state(&self) -> String {
        let best = self.best.map_or_else(|| "none".to_owned(), |best| format!("{:016x}", best.to_bits()));
        format!("{:016x} {best} {} {}", self.rate.to_bits(), self.bad, self.cooling)
    }

    /// Takes what [`state`](Self::state) has returned.
    pub(crate) fn set_state(&mut self, state: &str) -> Result<()> {
        let number = |word: &str| u64::from_str_radix(word, 16).ok().map(f64::from_bits);
        let parse = || {
            let [rate, best, bad, cooling] = state.split(' ').collect::<Vec<_>>().try_into().ok()?;
            let best = if best == "none" { None } else { Some(number(best)?) };
            Some((number(rate)?, best, bad.parse().ok()?, cooling.parse().ok()?))
        };
        let expected = "a state that a `Plateau` has saved";
        let Some((rate, best, bad, cooling)) = parse() else {
            return Err(setting::wrong("Plateau: state", state, expected));
        };
        (self.rate, self.best, self.bad, self.cooling) = (rate, best, bad, cooling);
        Ok(())
    }

    fn is_better(&self, metric: f64) -> bool {
        let worst = if self.maximizes { f64::NEG_INFINITY } else { f64::INFINITY };
        let best = self.best.unwrap_or(worst);
        match (self.maximizes, self.is_absolute) {
            (false, false) => metric < best * (1.0 - self.threshold),
            (false, true) => metric < best - self.threshold,
            (true, false) => metric > best * (1.0 + self.threshold),
            (true, true) => metric > best + self.threshold,
        }
    }
}
