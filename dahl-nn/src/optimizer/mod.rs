//! Optimizers: the trait [`Optimizer`], and those that there are. Each is a name of [`Stateful`], with an [`UpdateRule`]
//! of its own; one task updates a parameter. What else is done with gradients and parameters between two steps is here
//! too: clipping ([`clip_gradient_norm`]), the scale of the loss ([`LossScaler`]) and averages ([`WeightAverage`]).
//!
//! Not here: learning rates that change (`schedule`), and files (`checkpoint`).

mod adadelta;
mod adagrad;
mod adam;
mod average;
mod clip;
mod lamb;
mod lion;
mod loss_scaler;
mod master;
mod rmsprop;
mod rmsprop_update;
mod sgd;
mod stateful;
mod update_rule;

use dahl::prelude::*;
use dahl::program::{Bindings, Slots};

use crate::module::{Module, Name, Parameter};
use crate::setting;

pub use adadelta::{Adadelta, AdadeltaRule};
pub use adagrad::{Adagrad, AdagradRule};
pub use adam::{Adam, AdamRule, AdamW};
pub(crate) use average::OF_AVERAGE;
pub use average::WeightAverage;
pub use clip::{GradientNorm, clip_gradient_norm, clip_gradient_value};
pub use lamb::{Lamb, LambRule};
pub use lion::{Lion, LionRule};
pub use loss_scaler::LossScaler;
pub(crate) use loss_scaler::ScalerState;
pub use rmsprop::{RmsProp, RmsPropRule};
pub use sgd::{Sgd, SgdRule};
pub use stateful::Stateful;
pub use update_rule::{ParameterState, UpdateRule};

use stateful::is_factor;

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

    /// Sets the learning rate of the next steps: what a trainer does with a schedule.
    ///
    /// # Errors
    /// If the optimizer has no learning rate: the default.
    #[track_caller]
    fn use_learning_rate(&mut self, rate: f64) -> dahl::Result<()> {
        let expected = "an optimizer that implements `use_learning_rate`, for a schedule";
        Err(setting::wrong("learning rate", rate, expected).into())
    }

    /// A step begins: [`update`](Self::update) will be called for each parameter.
    fn begin(&mut self) {}

    /// Updates parameter number `index` of the model, which has this name, from its gradient.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn update(&mut self, index: usize, name: &Name<'_>, parameter: &mut Parameter<'_, T>)
    -> dahl::Result<()>;

    /// Makes what it keeps for parameter number `index` of the model, unless it is there: a program that updates the
    /// parameter cannot make it. The default does nothing.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    fn prepare_parameter(
        &mut self,
        index: usize,
        name: &Name<'_>,
        parameter: &Parameter<'_, T>,
    ) -> dahl::Result<()> {
        let _ = (index, name, parameter);
        Ok(())
    }

    /// Adds what it keeps, and the numbers of the next step, to the arguments of a program, and returns true: then a trainer
    /// replays its steps. The default returns false.
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) -> bool {
        let _ = bindings;
        false
    }

    /// A recording was refused in which it may have updated parameters: nothing was computed, so it counts no step since it was
    /// [bound](Self::bind). The default does nothing.
    fn refused(&mut self) {}

    /// A program has been replayed, whose tasks took the numbers of these slots. The default does nothing.
    fn replayed(&mut self, slots: &Slots) {
        let _ = slots;
    }

    /// What it keeps for each parameter that it has updated: a checkpoint saves it. The default is nothing.
    fn states(&self) -> Vec<&ParameterState<T>> {
        Vec::new()
    }

    /// The names of the arrays that it keeps for the parameter of this name. The default is none.
    fn state_names(&self, parameter: &str) -> Vec<&'static str> {
        let _ = parameter;
        Vec::new()
    }

    /// Replaces what it keeps by what a checkpoint has: for each parameter of a model, in their order, its state, if it was
    /// updated before. The default does nothing.
    fn set_states(&mut self, states: Vec<Option<ParameterState<T>>>) {
        drop(states);
    }
}

/// An optimizer that keeps its state for further trainers: `Trainer::new(&mut model, CrossEntropy, &mut sgd)`.
impl<T: Real, O: Optimizer<T> + ?Sized> Optimizer<T> for &mut O {
    fn check_settings(&self) -> dahl::Result<()> {
        (**self).check_settings()
    }

    fn use_learning_rate(&mut self, rate: f64) -> dahl::Result<()> {
        (**self).use_learning_rate(rate)
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

    fn prepare_parameter(
        &mut self,
        index: usize,
        name: &Name<'_>,
        parameter: &Parameter<'_, T>,
    ) -> dahl::Result<()> {
        (**self).prepare_parameter(index, name, parameter)
    }

    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) -> bool {
        (**self).bind(bindings)
    }

    fn refused(&mut self) {
        (**self).refused();
    }

    fn replayed(&mut self, slots: &Slots) {
        (**self).replayed(slots);
    }

    fn states(&self) -> Vec<&ParameterState<T>> {
        (**self).states()
    }

    fn state_names(&self, parameter: &str) -> Vec<&'static str> {
        (**self).state_names(parameter)
    }

    fn set_states(&mut self, states: Vec<Option<ParameterState<T>>>) {
        (**self).set_states(states);
    }
}
