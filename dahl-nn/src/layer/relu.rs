//! [`Relu`]: the rectified linear unit.

use dahl::ops;
use dahl::prelude::*;

use super::{Backward, Epilogue, Forward, Layer};

/// `output = max(input, 0)`, element by element; NaN stays NaN.
#[derive(Debug)]
pub struct Relu {
    shape: Vec<usize>,
}

impl Relu {
    /// A layer for samples of this shape.
    pub fn new(shape: &[usize]) -> Self {
        Self { shape: shape.to_vec() }
    }
}

impl<'m, T: Real> Layer<'m, T> for Relu {
    fn name(&self) -> &'static str {
        "relu"
    }

    fn output_shape(&self) -> &[usize] {
        &self.shape
    }

    fn epilogue(&self) -> Option<Epilogue> {
        Some(Epilogue::Relu)
    }

    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>> {
        ops::relu_init(step, input).map(Forward::new)
    }

    fn backward<'s>(
        &mut self,
        step: &'s Arena,
        pass: Backward<'_, T>,
    ) -> dahl::Result<Option<Matrix<'s, T>>> {
        if !pass.needs_input_gradient {
            return Ok(None);
        }
        ops::relu_backward_init(step, pass.input, pass.gradient).map(Some)
    }
}
