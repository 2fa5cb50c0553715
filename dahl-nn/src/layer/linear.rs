//! [`Linear`]: a fully connected layer.

use dahl::ops::{self, Transposed};
use dahl::prelude::*;

use crate::module::{Init, Module, Parameter, Visit, VisitMut};
use crate::setting;
use crate::step::Step;

/// Maps the last axis: `output = input x transposed(weight) + bias`.
///
/// # Shapes
/// `input: [.., inputs]` to `[.., outputs]`; `weight: [outputs, inputs]`, `bias: [outputs]`.
#[derive(Debug)]
pub struct Linear<'m, T: Real> {
    /// `[outputs, inputs]`.
    pub weight: Parameter<'m, T>,
    /// `[outputs]`.
    pub bias: Option<Parameter<'m, T>>,
    inputs: usize,
    outputs: usize,
}

impl<'m, T: Real> Linear<'m, T> {
    /// A layer from `inputs` to `outputs` features, drawn uniformly from `-1 / sqrt(inputs) .. 1 / sqrt(inputs)` as
    /// PyTorch does.
    ///
    /// # Errors
    /// If there are no inputs or no outputs, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, inputs: usize, outputs: usize) -> dahl::Result<Self> {
        let mut layer = Self::without_bias(init, inputs, outputs)?;
        layer.bias = Some(init.uniform(&[outputs], 1.0 / (inputs as f64).sqrt())?);
        Ok(layer)
    }

    /// As [`new`](Self::new), without a bias.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn without_bias(init: &mut Init<'m>, inputs: usize, outputs: usize) -> dahl::Result<Self> {
        setting::require(inputs > 0, "Linear: inputs", inputs, "a number from 1")?;
        setting::require(outputs > 0, "Linear: outputs", outputs, "a number from 1")?;
        Self::drawn_within(init, inputs, outputs, 1.0 / (inputs as f64).sqrt())
    }

    /// A layer without a bias, whose weights are drawn uniformly from `-bound .. bound`.
    #[track_caller]
    pub(super) fn drawn_within(
        init: &mut Init<'m>,
        inputs: usize,
        outputs: usize,
        bound: f64,
    ) -> dahl::Result<Self> {
        let weight = init.uniform(&[outputs, inputs], bound)?;
        Ok(Self { weight, bias: None, inputs, outputs })
    }

    /// The number of input features.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of output features.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Maps the last axis of `input`.
    ///
    /// # Errors
    /// If its extent is not that of the inputs, and those of the operations.
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let mut shape = input.shape();
        let rows = rows_of("Linear", &shape, self.inputs)?;
        shape[N - 1] = self.outputs;
        let weight = self.weight.value.reshaped([self.outputs, self.inputs])?;
        let input = input.reshaped([rows, self.inputs])?;
        let product = ops::matmul_transposed_init(step, &*input, &*weight, Transposed::RIGHT)?;
        let Some(bias) = &self.bias else { return product.reshape(shape) };
        ops::bias_init(step, &product, &bias.value, 1)?.reshape(shape)
    }
}

/// The number of rows of an array whose last axis has `features` elements.
///
/// # Errors
/// If it has another number.
#[track_caller]
pub(crate) fn rows_of(layer: &'static str, shape: &[usize], features: usize) -> dahl::Result<usize> {
    match shape {
        [rows @ .., last] if *last == features => Ok(rows.iter().product()),
        _ => Err(dahl::Error::invalid_shape(
            layer,
            format!("the input has shape {shape:?}, but its last axis must have {features} elements"),
        )),
    }
}

impl<T: Real> Module<T> for Linear<'_, T> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        visit.module("Linear", format_args!("{} -> {}", self.inputs, self.outputs));
        visit.field("weight", &self.weight);
        if let Some(bias) = &self.bias {
            visit.field("bias", bias);
        }
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        visit.field("weight", &mut self.weight);
        if let Some(bias) = &mut self.bias {
            visit.field("bias", bias);
        }
    }
}
