//! Optimizers: the trait [`Optimizer`], and [`Sgd`].

mod sgd;

use dahl::prelude::*;

use crate::layer::Parameter;

pub use sgd::Sgd;

/// An optimizer: updates parameters from their gradients.
pub trait Optimizer<T: Real>: Send {
    /// Checks the settings. A trainer calls it before the first batch.
    ///
    /// # Errors
    /// The first invalid setting.
    fn check_settings(&self) -> dahl::Result<()> {
        Ok(())
    }

    /// Updates parameter number `index` of the model from its gradient. Called for each parameter, in order, after
    /// each batch.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn update(&mut self, index: usize, parameter: &mut Parameter<'_, T>) -> dahl::Result<()>;
}

/// An optimizer that keeps its state for further trainers: `Trainer::new(&mut model, CrossEntropy, &mut sgd)`.
impl<T: Real, O: Optimizer<T> + ?Sized> Optimizer<T> for &mut O {
    fn check_settings(&self) -> dahl::Result<()> {
        (**self).check_settings()
    }

    fn update(&mut self, index: usize, parameter: &mut Parameter<'_, T>) -> dahl::Result<()> {
        (**self).update(index, parameter)
    }
}
