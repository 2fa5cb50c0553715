//! [`Init`]: where a module's parameters are made, and the random numbers that they are drawn with.

use dahl::ops::{self, Philox};
use dahl::prelude::*;

use super::parameter::element_count;
use super::{Initializer, Parameter};
use crate::setting;

/// Makes the parameters of modules: in an arena, with the random numbers of a seed. Parameters that are made in the same
/// order with the same seed have the same values.
#[derive(Debug)]
pub struct Init<'m> {
    arena: &'m Arena,
    numbers: Philox,
}

impl<'m> Init<'m> {
    /// Parameters will live in `arena`, and are drawn with the random numbers of `seed`.
    pub fn new(arena: &'m Arena, seed: u64) -> Self {
        Self { arena, numbers: Philox::new(seed) }
    }

    /// The arena.
    pub fn arena(&self) -> &'m Arena {
        self.arena
    }

    /// The next `count` random numbers.
    pub(crate) fn numbers(&mut self, count: usize) -> Philox {
        let numbers = self.numbers;
        self.numbers = numbers.skip(count as u64);
        numbers
    }

    /// A parameter of this shape, with values from an initializer.
    ///
    /// # Errors
    /// If the initializer has an invalid setting or does not fit the shape, or memory cannot be allocated.
    #[track_caller]
    pub fn parameter<T: Real>(
        &mut self,
        shape: &[usize],
        initializer: Initializer,
    ) -> dahl::Result<Parameter<'m, T>> {
        let value = self.arena.zeros([element_count(shape)?])?;
        let mut parameter = Parameter::new(self.arena, shape, value)?;
        self.fill(&mut parameter, initializer)?;
        Ok(parameter)
    }

    /// A parameter of this shape with these values, in row-major order.
    ///
    /// # Errors
    /// If there are more or fewer values than the shape has elements, or memory cannot be allocated.
    #[track_caller]
    pub fn values<T: Real>(&mut self, shape: &[usize], values: &[T]) -> dahl::Result<Parameter<'m, T>> {
        Parameter::new(self.arena, shape, self.arena.from_slice([values.len()], values)?)
    }

    /// A parameter drawn uniformly from `-bound .. bound`, as those of PyTorch's linear layers and convolutions: their
    /// bound is `1 / sqrt(inputs of one output)`.
    ///
    /// # Errors
    /// If the bound is negative or not finite, the shape has too many elements, or memory cannot be allocated.
    #[track_caller]
    pub fn uniform<T: Real>(&mut self, shape: &[usize], bound: f64) -> dahl::Result<Parameter<'m, T>> {
        self.parameter(shape, Initializer::Uniform { bound })
    }

    /// Gives a parameter new values.
    ///
    /// # Errors
    /// As [`parameter`](Self::parameter).
    #[track_caller]
    pub fn fill<T: Real>(
        &mut self,
        parameter: &mut Parameter<'_, T>,
        initializer: Initializer,
    ) -> dahl::Result<()> {
        let (fan_in, fan_out) = fans(&parameter.shape);
        let len = parameter.len();
        let value = &mut parameter.value;
        match initializer {
            Initializer::Constant(constant) => ops::fill(value, T::from_f64(constant)),
            Initializer::Uniform { bound } => uniform(value, bound, self.numbers(len)),
            Initializer::Normal { deviation } => normal(value, deviation, self.numbers(len)),
            Initializer::KaimingUniform { gain } => {
                uniform(value, gain * (3.0 / fan_in).sqrt(), self.numbers(len))
            }
            Initializer::KaimingNormal { gain } => normal(value, gain / fan_in.sqrt(), self.numbers(len)),
            Initializer::XavierUniform { gain } => {
                uniform(value, gain * (6.0 / (fan_in + fan_out)).sqrt(), self.numbers(len))
            }
            Initializer::XavierNormal { gain } => {
                normal(value, gain * (2.0 / (fan_in + fan_out)).sqrt(), self.numbers(len))
            }
            Initializer::TruncatedNormal { deviation, bound } => {
                let values =
                    super::initializer::truncated_normal(self.arena, len, deviation, bound, self.numbers)?;
                self.numbers = self.numbers.skip(len as u64);
                write(value, &values)
            }
            Initializer::Orthogonal { gain } => {
                let rows = parameter.shape.first().copied().unwrap_or(1);
                let values = super::initializer::orthogonal(self.arena, rows, len, gain, self.numbers)?;
                self.numbers = self.numbers.skip(len as u64);
                write(value, &values)
            }
        }
    }
}

#[track_caller]
fn uniform<T: Real>(value: &mut Vector<'_, T>, bound: f64, numbers: Philox) -> dahl::Result<()> {
    let is_bound = bound >= 0.0 && bound.is_finite();
    setting::require(is_bound, "Initializer: bound", bound, "a finite number from 0")?;
    ops::uniform(value, -bound, bound, numbers)
}

#[track_caller]
fn normal<T: Real>(value: &mut Vector<'_, T>, deviation: f64, numbers: Philox) -> dahl::Result<()> {
    let is_deviation = deviation >= 0.0 && deviation.is_finite();
    setting::require(is_deviation, "Initializer: deviation", deviation, "a finite number from 0")?;
    ops::normal(value, 0.0, deviation, numbers)
}

/// The inputs of one output, and the outputs of one input, of a parameter of this shape: `[outputs, inputs, ..kernel]`.
fn fans(shape: &[usize]) -> (f64, f64) {
    let product = |extents: &[usize]| extents.iter().map(|&extent| extent as f64).product::<f64>();
    let kernel = product(shape.get(2..).unwrap_or(&[]));
    let outputs = shape.first().copied().unwrap_or(1) as f64;
    let inputs = shape.get(1).copied().unwrap_or(1) as f64;
    ((inputs * kernel).max(1.0), (outputs * kernel).max(1.0))
}

fn write<T: Real>(value: &mut Vector<'_, T>, values: &[f64]) -> dahl::Result<()> {
    value.write()?.iter_mut().zip(values).for_each(|(to, from)| *to = T::from_f64(*from));
    Ok(())
}
