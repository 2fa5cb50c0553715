//! Optimizers: the trait [`Optimizer`], and [`Sgd`].

mod sgd;

use dahl::prelude::*;

use crate::layer::Parameter;

pub use sgd::Sgd;

/// How parameters follow their gradients.
pub trait Optimizer<T: Real>: Send {
    /// Whether its settings can be. A trainer asks before the first batch.
    ///
    /// # Errors
    /// The first setting that cannot be.
    fn check_settings(&self) -> dahl::Result<()> {
        Ok(())
    }

    /// Updates parameter number `index` of the model from its gradient. Called for each parameter, in order, after
    /// each batch.
    ///
    /// # Errors
    /// As the ops it is made of.
    fn update(&mut self, index: usize, parameter: &mut Parameter<'_, T>) -> dahl::Result<()>;
}

/// An optimizer that is used again, with what it remembers: `Trainer::new(&mut model, CrossEntropy, &mut sgd)`.
impl<T: Real, O: Optimizer<T> + ?Sized> Optimizer<T> for &mut O {
    fn check_settings(&self) -> dahl::Result<()> {
        (**self).check_settings()
    }

    fn update(&mut self, index: usize, parameter: &mut Parameter<'_, T>) -> dahl::Result<()> {
        (**self).update(index, parameter)
    }
}
