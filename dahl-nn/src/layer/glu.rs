//! [`Glu`]: half of the features, gated by the other half.

use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::step::Step;

/// `a * sigmoid(b)`, where `a` and `b` are the halves of the input along an axis (Dauphin et al. 2017, *Language modeling with
/// gated convolutional networks*).
///
/// # Shapes
/// The output as the input, with half of the axis.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct Glu {
    axis: usize,
}

impl Glu {
    /// Along this axis of the input; the axis of the batch is 0.
    pub const fn new(axis: usize) -> Self {
        Self { axis }
    }

    /// Gates the first half by the second.
    ///
    /// # Errors
    /// If there is no such axis, or its extent is odd. And those of the operations.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let extent = input.shape().get(self.axis).copied();
        let Some(half) = extent.filter(|extent| extent.is_multiple_of(2)).map(|extent| extent / 2) else {
            let fact = format!("axis {} of the input {:?} has no two halves", self.axis, input.shape());
            return Err(dahl::Error::invalid_shape("Glu", fact));
        };
        let halves = ops::split_init(step, input, self.axis, &[half, half])?;
        ops::glu_init(step, &halves[0], &halves[1])
    }
}
