//! [`WeightAverage`]: averages of a model's parameters over the steps.

use dahl::ops;
use dahl::prelude::*;

use crate::error::Result;
use crate::module::{Member, Module, Parameter, Visit};
use crate::setting::Settings;

/// An average of each parameter over the steps, which often generalises better than the last values. As PyTorch's
/// `torch.optim.swa_utils.AveragedModel`: the first update copies the parameters. Averages are in the compute type.
///
/// Buffers are not averaged. The tasks run on CPUs alone.
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
        Self { decay: Some(decay), updates: 0, averages: Vec::new(), settings }
    }

    /// The mean of all updates: stochastic weight averaging (Izmailov et al. 2018,
    /// [arXiv:1803.05407](https://arxiv.org/abs/1803.05407)).
    pub fn mean() -> Self {
        Self { decay: None, updates: 0, averages: Vec::new(), settings: Settings::default() }
    }

    /// How often it was updated.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Adds the parameters of the model, which are those of the earlier updates. Waits for nothing.
    ///
    /// # Errors
    /// If the model has other parameters than before, or the decay is invalid. And those of the tasks.
    pub fn update(&mut self, model: &impl Module<T>) -> dahl::Result<()> {
        self.settings.check()?;
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
        self.updates += 1;
        Ok(())
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
        let mut index = 0;
        model.for_each_parameter(|_, parameter| {
            index += 1;
            Ok(require_average(&self.averages, index - 1, parameter.len())?)
        })
    }
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
#[codelet(RW, R, check(average.len() == value.len()), flops = 3 * value.len(), cpu_only)]
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
#[codelet(R, W, check(average.len() == value.len()), cpu_only)]
pub fn round_to<T, S>(average: &[S], value: &mut [T])
where
    T: Real<Compute = S>,
    S: Real<Compute = S>,
{
    for (average, value) in average.iter().zip(value) {
        *value = T::narrow(*average);
    }
}
