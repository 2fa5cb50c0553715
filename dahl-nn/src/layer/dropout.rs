//! [`Dropout`]: sets random elements to zero in training.

use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::setting::Settings;
use crate::step::Step;

/// In training, sets each element to 0 with a probability, and divides the others by one less the probability; otherwise
/// the output is the input (Srivastava et al. 2014, *Dropout*).
///
/// The random numbers are those of the step. The mask is not stored: the reverse pass draws it again.
#[derive(Clone, Debug, Module)]
#[module(crate = crate)]
pub struct Dropout {
    probability: f64,
    #[module(skip)]
    settings: Settings,
}

impl Dropout {
    /// A layer with this probability: at least 0, below 1. An invalid one is an error of [`forward`](Self::forward), with
    /// the line that set it.
    #[track_caller]
    pub fn new(probability: f64) -> Self {
        let mut settings = Settings::default();
        let is_share = (0.0..1.0).contains(&probability);
        settings.require(is_share, "Dropout: probability", probability, "a number from 0, below 1");
        Self { probability, settings }
    }

    /// The error of an invalid probability.
    pub(crate) fn check(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }

    /// Drops random elements of an array of any shape, if the step is training.
    ///
    /// # Errors
    /// If the probability is invalid, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        self.settings.check()?;
        if !step.is_training() || self.probability == 0.0 {
            return ops::copy_init(step, input);
        }
        ops::dropout_init(step, input, self.probability, step.numbers(input.len()))
    }

    /// As [`forward`](Self::forward), for an array of the same step: without a copy if nothing is dropped.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    #[track_caller]
    pub fn forward_owned<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: Array<'s, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        self.settings.check()?;
        if step.is_training() && self.probability != 0.0 { self.forward(step, &input) } else { Ok(input) }
    }
}
