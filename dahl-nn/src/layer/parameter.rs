//! [`Parameter`]: an array that a layer learns.

use dahl::ops::{self, Philox};
use dahl::prelude::*;

use crate::setting;

/// A parameter that a layer learns, and the gradient of the loss by it, flat: the elements of `shape` in row-major
/// order.
#[derive(Debug)]
pub struct Parameter<'m, T: Real> {
    /// The name within its layer, as PyTorch's: `weight`, `bias`.
    pub name: &'static str,
    /// The shape, as PyTorch's.
    pub shape: Vec<usize>,
    /// The value.
    pub value: Vector<'m, T>,
    /// The gradient of the loss by the value, summed over the batch.
    pub gradient: Vector<'m, T>,
}

impl<'m, T: Real> Parameter<'m, T> {
    /// A parameter drawn uniformly from `-bound..bound` with these random numbers.
    ///
    /// PyTorch's default for convolutions and dense layers is a bound of `1 / sqrt(fan_in)`, where `fan_in` is the
    /// number of inputs of one output (Kaiming uniform with `a = sqrt(5)`; He et al. 2015, section 2.2).
    ///
    /// # Errors
    /// If the bound is negative or not finite, the shape has too many elements, or the memory cannot be had.
    #[track_caller]
    pub fn uniform(
        arena: &'m Arena,
        name: &'static str,
        shape: &[usize],
        bound: f64,
        numbers: Philox,
    ) -> dahl::Result<Self> {
        let is_bound = bound >= 0.0 && bound.is_finite();
        setting::require(is_bound, "Parameter: bound", bound, "a finite number from 0")?;
        let len = shape.iter().try_fold(1_usize, |len, &extent| len.checked_mul(extent));
        let Some(len) = len else {
            return Err(dahl::Error::invalid_shape(
                "Parameter",
                format!("the shape {shape:?} has more elements than there are addresses"),
            ));
        };
        let mut value = arena.zeros([len])?;
        ops::uniform(&mut value, -bound, bound, numbers)?;
        Ok(Self { name, shape: shape.to_vec(), value, gradient: arena.zeros([len])? })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }
}
