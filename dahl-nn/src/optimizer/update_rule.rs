//! [`UpdateRule`]: the formula of an optimizer, and [`ParameterState`]: the arrays that it keeps for a parameter.

use std::fmt;

use dahl::prelude::*;
use dahl::program::Numbers;

#[cfg(doc)]
use super::Stateful;
use crate::setting;

/// The formula of an optimizer: how a task updates one parameter from its gradient and from the arrays that the optimizer
/// keeps for it.
///
/// [`Stateful`] does the rest: it creates the arrays, counts the steps, and finds the settings of the parameter's group.
pub trait UpdateRule: Copy + fmt::Debug + Send + 'static {
    /// What errors call the learning rate: `"AdamW: learning_rate"`.
    const LEARNING_RATE: &'static str;

    /// The learning rate.
    fn learning_rate(&mut self) -> &mut f64;

    /// The names of the arrays that are kept for each parameter, as PyTorch's: `["exp_avg", "exp_avg_sq"]`.
    fn state_names(&self) -> &'static [&'static str];

    /// What the elements of these arrays are at first.
    fn initial_state(&self) -> f64 {
        0.0
    }

    /// Adds the plain arguments of the tasks that [`update`](Self::update) submits, in order. A program that is replayed has
    /// other ones in each step, without another recording: so which operation `update` submits may depend on the names of the
    /// arrays, and not on these numbers. A rule that adds none is recorded anew for each step and setting.
    fn numbers(&self, _step: u64, _numbers: &mut Numbers<'_>) {}

    /// Submits the task of the parameter's update number `step`, from 1. There is an array for each of
    /// [`state_names`](Self::state_names).
    ///
    /// # Errors
    /// Those of the task.
    fn update<T: Real>(
        &self,
        step: u64,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()>;

    /// As [`update`](Self::update), of a parameter with a [master copy](Stateful::master_weights): reads the value from the
    /// master copy where the parameter is its rounded value, else from the parameter, and writes both. The default is an error.
    ///
    /// # Errors
    /// Those of the task.
    fn update_with_master<T: Real>(
        &self,
        step: u64,
        value: &mut Vector<'_, T>,
        master: &mut Vector<'static, T::Compute>,
        gradient: &Vector<'_, T>,
        state: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        let _ = (step, value, master, gradient, state);
        let expected = "a rule that implements `update_with_master`, for master copies";
        Err(setting::wrong("master_weights", true, expected).into())
    }
}

/// What an optimizer keeps for one parameter.
#[derive(Debug)]
pub struct ParameterState<T: Real> {
    /// The parameter's name.
    pub name: String,
    /// The parameter's shape.
    pub shape: Vec<usize>,
    /// How often it was updated.
    pub steps: u64,
    /// The names of the arrays.
    pub array_names: Vec<&'static str>,
    /// The arrays, with as many elements as the parameter, in the compute type: `f32` for `f16` and `bf16`. The last one is
    /// the master copy, if there is one.
    pub arrays: Vec<Vector<'static, T::Compute>>,
}

/// The name of the array that is a master copy.
const MASTER: &str = "master";

impl<T: Real> ParameterState<T> {
    /// The names of the arrays: those of a rule, and then that of the master copy if there is one.
    pub(super) fn names(
        of_rule: &'static [&'static str],
        has_master: bool,
    ) -> impl Iterator<Item = &'static str> {
        of_rule.iter().copied().chain(has_master.then_some(MASTER))
    }

    /// Submits the next update by a rule.
    pub(super) fn update(
        &mut self,
        rule: &impl UpdateRule,
        value: &mut Vector<'_, T>,
        gradient: &Vector<'_, T>,
    ) -> dahl::Result<()> {
        let has_master = self.array_names.last() == Some(&MASTER);
        match self.arrays.split_last_mut().filter(|_| has_master) {
            Some((master, state)) => rule.update_with_master(self.steps + 1, value, master, gradient, state),
            None => rule.update(self.steps + 1, value, gradient, &mut self.arrays),
        }
    }
}
