//! Optimizers: the trait [`Optimizer`], and [`Sgd`].

mod sgd;

use dahl::prelude::*;

use crate::module::{Module, Name, Parameter};

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

    /// Updates every parameter of a model that is not frozen from its gradient.
    ///
    /// # Errors
    /// The first invalid setting, and those of the operations.
    fn step(&mut self, model: &mut impl Module<T>) -> dahl::Result<()>
    where
        Self: Sized,
    {
        self.check_settings()?;
        self.begin();
        let mut index = 0;
        model.for_each_parameter(|name, parameter| {
            index += 1;
            if parameter.frozen { Ok(()) } else { self.update(index - 1, name, parameter) }
        })
    }

    /// A step begins: [`update`](Self::update) will be called for each parameter.
    fn begin(&mut self) {}

    /// Updates parameter number `index` of the model, which has this name, from its gradient.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn update(&mut self, index: usize, name: &Name<'_>, parameter: &mut Parameter<'_, T>)
    -> dahl::Result<()>;
}

/// An optimizer that keeps its state for further trainers: `Trainer::new(&mut model, CrossEntropy, &mut sgd)`.
impl<T: Real, O: Optimizer<T> + ?Sized> Optimizer<T> for &mut O {
    fn check_settings(&self) -> dahl::Result<()> {
        (**self).check_settings()
    }

    fn begin(&mut self) {
        (**self).begin();
    }

    fn update(
        &mut self,
        index: usize,
        name: &Name<'_>,
        parameter: &mut Parameter<'_, T>,
    ) -> dahl::Result<()> {
        (**self).update(index, name, parameter)
    }
}
