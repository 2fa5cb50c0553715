//! [`Flatten`]: turns images into rows of features.

use dahl::ops;
use dahl::prelude::*;

use super::{Backward, Forward, Layer};

/// Makes each sample a row of features. Batches are matrices already, so only the shape that the next layer sees
/// changes.
#[derive(Debug)]
pub struct Flatten {
    output: [usize; 1],
}

impl Flatten {
    /// A layer for samples of this shape.
    pub fn new(shape: &[usize]) -> Self {
        // Samples of so many features that their number is none are refused by what has parameters for them, or memory.
        Self { output: [shape.iter().fold(1, |len: usize, &extent| len.saturating_mul(extent))] }
    }
}

impl<'m, T: Real> Layer<'m, T> for Flatten {
    fn name(&self) -> &'static str {
        "flatten"
    }

    fn output_shape(&self) -> &[usize] {
        &self.output
    }

    fn is_identity(&self) -> bool {
        true
    }

    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>> {
        ops::copy_init(step, input).map(Forward::new)
    }

    fn backward<'s>(
        &mut self,
        step: &'s Arena,
        pass: Backward<'_, T>,
    ) -> dahl::Result<Option<Matrix<'s, T>>> {
        ops::copy_init(step, pass.gradient).map(Some)
    }
}
