//! Checkpoints: a model and its optimizer in one file, from which a run goes on with the same bits (with dropout: if it also sets the seeds that were drawn).
//!
//! The file is a safetensors file. The model's tensors have their own names, as in [`Module::save`]. The optimizer's arrays
//! are `optimizer.{array}.{parameter}`, for example `optimizer.exp_avg.hidden.weight`. How often a parameter was updated is
//! in the metadata, as `optimizer.step.{parameter}`. An average of the parameters, if there is one, is
//! `weight_average.{parameter}`, with the numbers of its updates in the metadata.
//!
//! A [`Trainer`](crate::Trainer) that writes [`Checkpoints`](crate::training::Checkpoints) adds how far it is.

use std::path::Path;

use dahl::prelude::*;

use crate::error::Result;
use crate::module::{Member, Module, TensorFile, Tensors, Values, Visit};
use crate::optimizer::{OF_AVERAGE, Optimizer, ParameterState, WeightAverage};

/// Saves a model, and what an optimizer keeps for its parameters. Waits for both. A reader finds either the old or the new
/// file, complete, as with [`Module::save`].
///
/// Settings, such as the learning rate, are not saved: the program has them. Nor are random numbers: a program with dropout
/// saves [`Runtime::seeds_drawn`] and calls [`Runtime::set_seeds_drawn`] when it goes on.
///
/// # Errors
/// If a task that an array depends on failed, or the file cannot be written.
#[track_caller]
pub fn save_checkpoint<T: Real>(
    path: impl AsRef<Path>,
    model: &impl Module<T>,
    optimizer: &impl Optimizer<T>,
) -> dahl::Result<()> {
    Ok(tensors(model, optimizer)?.save(path.as_ref())?)
}

/// Loads what [`save_checkpoint`] saved into a model of the same parameters and an optimizer of the same kind, whose state is
/// replaced. If anything in the file does not match, neither is changed. Further content of a checkpoint, of a
/// [`Trainer`](crate::Trainer) or an average, is left out.
///
/// # Errors
/// If the file cannot be read, or does not match: the error names the tensor and what was expected.
pub fn load_checkpoint<T: Real>(
    path: impl AsRef<Path>,
    model: &mut impl Module<T>,
    optimizer: &mut impl Optimizer<T>,
) -> dahl::Result<()> {
    let file = TensorFile::read(path.as_ref())?;
    Content::read(&file, model, optimizer)?.write_to(model, optimizer)
}

/// As [`save_checkpoint`], with an average of the model's parameters.
///
/// # Errors
/// As [`save_checkpoint`], and if the average is one of other parameters.
#[track_caller]
pub fn save_checkpoint_with_average<T: Real>(
    path: impl AsRef<Path>,
    model: &impl Module<T>,
    optimizer: &impl Optimizer<T>,
    average: &WeightAverage<T>,
) -> dahl::Result<()> {
    let mut tensors = tensors(model, optimizer)?;
    average.add_to(&mut tensors, model)?;
    Ok(tensors.save(path.as_ref())?)
}

/// As [`load_checkpoint`], with the average that [`save_checkpoint_with_average`] saved: its next updates give the bits that they
/// would have given then. Its settings are the program's.
///
/// # Errors
/// As [`load_checkpoint`], and if the file has no average.
pub fn load_checkpoint_with_average<T: Real>(
    path: impl AsRef<Path>,
    model: &mut impl Module<T>,
    optimizer: &mut impl Optimizer<T>,
    average: &mut WeightAverage<T>,
) -> dahl::Result<()> {
    let file = TensorFile::read(path.as_ref())?;
    let stored = WeightAverage::read(&file, model)?;
    Content::read(&file, model, optimizer)?.write_to(model, optimizer)?;
    average.set(stored);
    Ok(())
}

/// Where a trainer's own tensors are.
pub(crate) const OF_TRAINER: &str = "trainer";

/// A model and what an optimizer keeps for it, as what will be a file. Waits for both.
#[track_caller]
pub(crate) fn tensors<T: Real>(
    model: &impl Module<T>,
    optimizer: &impl Optimizer<T>,
) -> dahl::Result<Tensors> {
    let mut tensors = Tensors::default();
    tensors.add_module(model)?;
    for state in optimizer.states() {
        for (array_name, array) in state.array_names.iter().zip(&state.arrays) {
            tensors.add(tensor_name(array_name, &state.name), &state.shape, array)?;
        }
        tensors.note(&step_key(&state.name), state.steps.to_string());
    }
    Ok(tensors)
}

/// What a file has for a model and an optimizer, when all of it matches.
pub(crate) struct Content<T: Real> {
    values: Values<T>,
    states: Vec<Option<ParameterState<T>>>,
}

impl<T: Real> Content<T> {
    pub(crate) fn read(
        file: &TensorFile,
        model: &impl Module<T>,
        optimizer: &impl Optimizer<T>,
    ) -> dahl::Result<Self> {
        let values = file.values_of(model)?;
        let (mut states, mut names, mut result) = (Vec::new(), Vec::new(), Ok(()));
        Visit::all(model, &mut |name, member| {
            if let (Member::Parameter(parameter), Ok(())) = (member, &result) {
                let name = name.to_string();
                let array_names = optimizer.state_names(&name);
                match read_state(file, name, &parameter.shape, &parameter.value, &array_names) {
                    Ok(state) => {
                        let of_state = state.iter().flat_map(|ParameterState { name, .. }| {
                            array_names.iter().map(|array_name| tensor_name(array_name, name))
                        });
                        names.extend(of_state);
                        states.push(state);
                    }
                    Err(error) => result = Err(error),
                }
            }
        });
        result?;
        let is_further = |name: &str| [OF_TRAINER, OF_AVERAGE].iter().any(|start| is_within(start, name));
        file.require_no_other(|name| {
            values.contains(name) || names.iter().any(|known| known == name) || is_further(name)
        })?;
        Ok(Self { values, states })
    }

    /// Writes the values to the model, and gives the states to the optimizer.
    pub(crate) fn write_to(
        self,
        model: &mut impl Module<T>,
        optimizer: &mut impl Optimizer<T>,
    ) -> dahl::Result<()> {
        self.values.write_to(model)?;
        optimizer.set_states(self.states);
        Ok(())
    }
}

/// The state of a parameter, if it was ever updated.
fn read_state<T: Real>(
    file: &TensorFile,
    name: String,
    shape: &[usize],
    value: &Vector<'_, T>,
    array_names: &[&'static str],
) -> dahl::Result<Option<ParameterState<T>>> {
    let Some(noted) = file.noted(&step_key(&name)) else { return Ok(None) };
    let steps = noted.parse().map_err(|_| {
        file.mismatch(&name, "a number of steps in the metadata".to_owned(), format!("`{noted}`"))
    })?;
    let mut arrays = Vec::new();
    for array_name in array_names {
        let elements: Result<Vec<T::Compute>> = file.elements(&tensor_name(array_name, &name), shape);
        let mut array = value.zeros_of(value.shape())?;
        array.write()?.iter_mut().zip(elements?).for_each(|(to, from)| *to = from);
        arrays.push(array);
    }
    Ok(Some(ParameterState { name, shape: shape.to_vec(), steps, array_names: array_names.to_vec(), arrays }))
}

/// Whether this is `PREFIX.REST`.
fn is_within(prefix: &str, name: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'))
}

fn tensor_name(array_name: &str, parameter: &str) -> String {
    format!("optimizer.{array_name}.{parameter}")
}

fn step_key(parameter: &str) -> String {
    format!("optimizer.step.{parameter}")
}
