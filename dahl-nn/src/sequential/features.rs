//! The layers of features: [`Dense`], [`Rectifier`] and [`Flatten`].

use dahl::ops;
use dahl::prelude::*;

use super::layer::{Epilogue, Layer};
use crate::layer::Linear;
use crate::module::{Init, Module};
use crate::setting;
use crate::step::Step;

/// A [`Linear`] layer.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub(super) struct Dense<'m, T: Real> {
    #[module(flatten)]
    linear: Linear<'m, T>,
    output: [usize; 1],
}

impl<'m, T: Real> Dense<'m, T> {
    #[track_caller]
    pub(super) fn new(init: &mut Init<'m>, inputs: usize, outputs: usize) -> dahl::Result<Self> {
        setting::require(inputs > 0, "Dense: inputs", inputs, "a number from 1")?;
        setting::require(outputs > 0, "Dense: outputs", outputs, "a number from 1")?;
        Ok(Self { linear: Linear::new(init, inputs, outputs)?, output: [outputs] })
    }
}

impl<T: Real> Layer<T> for Dense<'_, T> {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn detail(&self) -> String {
        format!("{}->{}", self.linear.inputs(), self.linear.outputs())
    }

    fn output_shape(&self) -> &[usize] {
        &self.output
    }

    fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        self.linear.forward(step, input)
    }
}

/// The rectified linear unit, for samples of one shape.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub(super) struct Rectifier {
    shape: Vec<usize>,
}

impl Rectifier {
    pub(super) fn new(shape: &[usize]) -> Self {
        Self { shape: shape.to_vec() }
    }
}

impl<T: Real> Layer<T> for Rectifier {
    fn name(&self) -> &'static str {
        "relu"
    }

    fn output_shape(&self) -> &[usize] {
        &self.shape
    }

    fn epilogue(&self) -> Option<Epilogue> {
        Some(Epilogue::Relu)
    }

    fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        ops::relu_init(step, input)
    }
}

/// Makes each sample a row of features. Batches are matrices already, so only the shape that the next layer sees changes.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub(super) struct Flatten {
    output: [usize; 1],
}

impl Flatten {
    pub(super) fn new(shape: &[usize]) -> Self {
        // Samples of so many features that their number is none are refused by what has parameters for them, or memory.
        Self { output: [shape.iter().fold(1, |len: usize, &extent| len.saturating_mul(extent))] }
    }
}

impl<T: Real> Layer<T> for Flatten {
    fn name(&self) -> &'static str {
        "flatten"
    }

    fn output_shape(&self) -> &[usize] {
        &self.output
    }

    fn is_identity(&self) -> bool {
        true
    }

    fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        ops::copy_init(step, input)
    }
}
