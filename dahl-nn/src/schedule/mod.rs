//! Learning rates as functions of the step's number: the trait [`Schedule`], and those that there are, by PyTorch's formulas.
//!
//! A schedule is a pure function, so that a run that goes on from a checkpoint needs nothing but the number of its step.
//! [`Plateau`] alone has state: it looks at a metric.
//!
//! ```
//! use dahl_nn::prelude::*;
//!
//! let schedule = Cosine::new(1e-2, 200).warmup(10).minimum(1e-3);
//! assert_eq!([0, 5, 10, 200].map(|step| schedule.at(step)), [0.0, 5e-3, 1e-2, 1e-3]);
//! ```

mod cosine;
mod cosine_restarts;
mod decay;
mod lambda;
mod one_cycle;
mod plateau;
mod warmup;

pub use cosine::Cosine;
pub use cosine_restarts::CosineRestarts;
pub use decay::{ExponentialDecay, StepDecay};
pub use lambda::Lambda;
pub use one_cycle::OneCycle;
pub use plateau::Plateau;

/// A learning rate for each step: `optimizer.set_learning_rate(schedule.at(step))`.
pub trait Schedule {
    /// The learning rate of this step, from 0. Not a number, which an optimizer refuses, if a setting is invalid.
    fn at(&self, step: usize) -> f64;

    /// Checks the settings.
    ///
    /// # Errors
    /// The first invalid setting, with the line that set it.
    fn check_settings(&self) -> dahl::Result<()> {
        Ok(())
    }
}

/// From `start` to `end` by half a cosine: `end + (start - end) * (1 + cos(pi * part)) / 2`, which is exact at both ends.
fn half_cosine(start: f64, end: f64, part: f64) -> f64 {
    let of_start = (1.0 + (std::f64::consts::PI * part).cos()) / 2.0;
    start * of_start + end * (1.0 - of_start)
}

/// From `start` to `end` in a line.
fn line(start: f64, end: f64, part: f64) -> f64 {
    start * (1.0 - part) + end * part
}

/// Whether the number is a learning rate: finite, at least 0.
fn is_rate(number: f64) -> bool {
    number >= 0.0 && number.is_finite()
}
