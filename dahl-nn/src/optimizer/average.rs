//! [`WeightAverage`]: averages of a model's parameters over the steps.

use dahl::ops;
use dahl::prelude::*;

use crate::error::Result;
use crate::module::{Member, Module, Name, Parameter, TensorFile, Tensors, Visit, write};
use crate::setting::Settings;

/// An average of each parameter over the steps, which often generalises better than the last values. As PyTorch's
/// `torch.optim.swa_utils.AveragedModel`: the first update copies the parameters. Averages are in the compute type.
///
/// Buffers are not averaged.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let mut model = Linear::<f32>::new(&mut Init::new(&arena, 1), 2, 1)?;
/// let mut average = WeightAverage::exponential(0.999);
/// average.update(&model)?; // after each step
/// let weights = average.lend_to(&mut model, |model| model.weight.value.to_vec())?;
/// assert_eq!(weights, model.weight.value.to_vec()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WeightAverage<T: Real> {
    /// The fraction that an update keeps, of an exponential average.
    decay: Option<f64>,
    /// How many calls of `update` come before the first one that counts.
    after: u64,
    /// Each so many of the others count.
    every: u64,
    calls: u64,
    updates: u64,
    /// By the number of the parameter.
    averages: Vec<Vector<'static, T::Compute>>,
    settings: Settings,
}

impl<T: Real> WeightAverage<T> {
    /// An exponential moving average: `average = decay * average + (1 - decay) * value`, with a decay of at least 0 and at
    /// most 1.
    #[track_caller]
    pub fn exponential(decay: f64) -> Self {
        let mut settings = Settings::default();
        let is_share = (0.0..=1.0).contains(&decay);
        settings.require(is_share, "WeightAverage: decay", decay, "a number from 0 to 1");
        Self { decay: Some(decay), settings, ..Self::mean() }
    }

    /// The mean of all updates: stochastic weight averaging (Izmailov et al. 2018,
    /// [arXiv:1803.05407](https://arxiv.org/abs/1803.05407)).
    pub fn mean() -> Self {
        let settings = Settings::default();
        Self { decay: None, after: 0, every: 1, calls: 0, updates: 0, averages: Vec::new(), settings }
    }

    /// Leaves out the first `calls` of [`update`](Self::update): stochastic weight averaging begins late in a training.
    pub fn after(mut self, calls: u64) -> Self {
        self.after = calls;
        self
    }

    /// Takes each `calls`-th call of [`update`](Self::update) alone, of those that are not left out: at the ends of epochs, if it
    /// is called after each step and an epoch has so many.
    #[track_caller]
    pub fn every(mut self, calls: u64) -> Self {
        self.settings.require(calls > 0, "WeightAverage: every", calls, "a number from 1");
        self.every = calls;
        self
    }

    /// How often it was updated.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// The error of the first invalid setting.
    pub(crate) fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }

    /// Adds the parameters of the model, which are those of the earlier updates. Waits for nothing. A
    /// [`Trainer`](crate::Trainer) calls it after each step ([`average`](crate::Trainer::average)).
    ///
    /// # Errors
    /// If the model has other parameters than before, or a setting is invalid. And those of the tasks.
    pub fn update(&mut self, model: &impl Module<T>) -> dahl::Result<()> {
        self.settings.check()?;
        let counted = (self.calls + 1).saturating_sub(self.after);
        if counted == 0 || !counted.is_multiple_of(self.every) {
            self.calls += 1;
            return Ok(());
        }
        self.require_count(model)?;
        let weight = match self.decay {
            _ if self.updates == 0 => 1.0,
            Some(decay) => 1.0 - decay,
            None => 1.0 / (self.updates + 1) as f64,
        };
        let (mut index, mut result) = (0, Ok(()));
        Visit::all(model, &mut |_, member| {
            if let (Member::Parameter(parameter), Ok(())) = (member, &result) {
                result = self.add(index, parameter, weight);
                index += 1;
            }
        });
        result?;
        (self.calls, self.updates) = (self.calls + 1, self.updates + 1);
        Ok(())
    }

    /// Requires that a model has as many parameters as were averaged, if any were.
    fn require_count(&self, model: &impl Module<T>) -> Result<()> {
        let (mut found, averaged) = (0, self.averages.len());
        Visit::all(model, &mut |_, member| found += usize::from(matches!(member, Member::Parameter(_))));
        if self.updates == 0 || found == averaged {
            return Ok(());
        }
        let fact = format!("the model has {found} parameters, and there are averages of {averaged}");
        Err(dahl::Error::invalid_shape("WeightAverage", fact).into())
    }

    fn add(&mut self, index: usize, parameter: &Parameter<'_, T>, weight: f64) -> dahl::Result<()> {
        if self.averages.len() == index && self.updates == 0 {
            self.averages.push(parameter.value.zeros_of(parameter.value.shape())?);
        }
        require_average(&self.averages, index, parameter.len())?;
        blend(&mut self.averages[index], &parameter.value, weight)
    }

    /// Replaces the parameters of a model by their averages. Waits for nothing.
    ///
    /// # Errors
    /// If the model has other parameters than those that were averaged. And those of the tasks.
    pub fn copy_to(&self, model: &mut impl Module<T>) -> dahl::Result<()> {
        self.require_all(model)?;
        let mut averages = self.averages.iter();
        model.for_each_parameter(|_, parameter| match averages.next() {
            Some(average) => round_to(average, &mut parameter.value),
            None => Ok(()),
        })
    }

    /// Calls `f` with the model while its parameters are their averages, and returns what `f` returns. Then the parameters
    /// are what they were.
    ///
    /// # Errors
    /// Those of [`copy_to`](Self::copy_to), and that of `f`.
    pub fn lend_to<M: Module<T>, R>(
        &self,
        model: &mut M,
        f: impl FnOnce(&mut M) -> dahl::Result<R>,
    ) -> dahl::Result<R> {
        self.require_all(model)?;
        let mut values = Vec::new();
        model.for_each_parameter(|_, parameter| {
            let mut value = parameter.value.zeros_like()?;
            ops::copy(&parameter.value, &mut value)?;
            values.push(value);
            Ok(())
        })?;
        let result = self.copy_to(model).and_then(|()| f(model));
        let mut values = values.iter();
        model.for_each_parameter(|_, parameter| match values.next() {
            Some(value) => ops::copy(value, &mut parameter.value),
            None => Ok(()),
        })?;
        result
    }

    fn require_all(&self, model: &mut impl Module<T>) -> dahl::Result<()> {
        self.settings.check()?;
        self.require_count(model)?;
        let mut index = 0;
        model.for_each_parameter(|_, parameter| {
            index += 1;
            Ok(require_average(&self.averages, index - 1, parameter.len())?)
        })
    }
}

/// What an average is in a checkpoint: the tensors `weight_average.{parameter}`, in the compute type, and how often it was
/// updated.
impl<T: Real> WeightAverage<T> {
    /// Adds the average to what will be a file. Waits for it.
    #[track_caller]
    pub(crate) fn add_to(&self, tensors: &mut Tensors, model: &impl Module<T>) -> dahl::Result<()> {
        self.require_count(model)?;
        tensors.note(CALLS, self.calls.to_string());
        tensors.note(UPDATES, self.updates.to_string());
        let (mut averages, mut result) = (self.averages.iter().enumerate(), Ok(()));
        Visit::all(model, &mut |name, member| {
            if let (Member::Parameter(parameter), Ok(())) = (member, &result)
                && let Some((index, average)) = averages.next()
            {
                result = require_average(&self.averages, index, parameter.len())
                    .map_err(Into::into)
                    .and_then(|()| tensors.add(tensor_name(name), &parameter.shape, average));
            }
        });
        result
    }

    /// What a file has for the average of a model's parameters.
    ///
    /// # Errors
    /// If it has none, or the average of other parameters.
    pub(crate) fn read(file: &TensorFile, model: &impl Module<T>) -> dahl::Result<StoredAverage<T>> {
        let count = |key: &str| -> Result<u64> {
            let found = file.noted(key).unwrap_or("none");
            let wrong = |_| file.mismatch(key, "a number in the metadata".to_owned(), format!("`{found}`"));
            found.parse().map_err(wrong)
        };
        let (calls, updates) = (count(CALLS)?, count(UPDATES)?);
        let (mut averages, mut result) = (Vec::new(), Ok(()));
        Visit::all(model, &mut |name, member| {
            if let (Member::Parameter(parameter), Ok(()), true) = (member, &result, updates > 0) {
                let read = || -> dahl::Result<_> {
                    let elements = file.elements(&tensor_name(name), &parameter.shape)?;
                    let mut average = parameter.value.zeros_of(parameter.value.shape())?;
                    write(&mut average, &elements)?;
                    Ok(average)
                };
                result = read().map(|average| averages.push(average));
            }
        });
        result?;
        Ok(StoredAverage { calls, updates, averages })
    }

    /// Goes on from a checkpoint.
    pub(crate) fn set(&mut self, stored: StoredAverage<T>) {
        (self.calls, self.updates, self.averages) = (stored.calls, stored.updates, stored.averages);
    }
}

/// An average that a file has.
#[derive(Debug)]
pub(crate) struct StoredAverage<T: Real> {
    calls: u64,
    updates: u64,
    averages: Vec<Vector<'static, T::Compute>>,
}

/// Where averages are in files.
pub(crate) const OF_AVERAGE: &str = "weight_average";
const CALLS: &str = "weight_average.calls";
const UPDATES: &str = "weight_average.updates";

fn tensor_name(parameter: &Name<'_>) -> String {
    format!("{OF_AVERAGE}.{parameter}")
}

/// Requires that parameter number `index` has an average of `len` elements.
fn require_average<S: Real>(averages: &[Vector<'static, S>], index: usize, len: usize) -> Result<()> {
    let found = averages.get(index).map(Array::len);
    if found == Some(len) {
        return Ok(());
    }
    let fact = match found {
        Some(found) => format!("parameter {index} has {len} elements, and its average {found}"),
        None => format!("parameter {index} has no average: call `update` first, with this model"),
    };
    Err(dahl::Error::invalid_shape("WeightAverage", fact).into())
}

/// `average += weight * (value - average)`.
///
/// # Shapes
/// All `[elements]`.
#[codelet(RW, R, check(average.len() == value.len()), flops = 3 * value.len(), cuda = crate::kernels::BLEND)]
pub fn blend<T, S>(average: &mut [S], value: &[T], weight: f64)
where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    let weight = S::from_f64(weight);
    for (average, value) in average.iter_mut().zip(value) {
        *average += weight * (value.widen() - *average);
    }
}

/// `value = average`, rounded.
///
/// # Shapes
/// All `[elements]`.
#[codelet(R, W, check(average.len() == value.len()), cuda = crate::kernels::ROUND_TO)]
pub fn round_to<T, S>(average: &[S], value: &mut [T])
where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    for (average, value) in average.iter().zip(value) {
        *value = T::narrow(*average);
    }
}
