//! [`Affine`]: the weight or the bias of a norm, or the number in its place.

use std::ops::Deref;

use dahl::prelude::*;

use crate::module::Parameter;
use crate::step::Step;

/// A number for each feature: a parameter, or one number for all.
#[derive(Debug)]
pub(super) enum Affine<'a, T: Real> {
    Learned(&'a Vector<'a, T>),
    Constant(Vector<'a, T>),
}

impl<'a, T: Real> Affine<'a, T> {
    /// The values of `parameter`, or `constant` for each of so many features.
    #[track_caller]
    pub(super) fn new(
        step: &'a Step<'_>,
        parameter: Option<&'a Parameter<'_, T>>,
        features: usize,
        constant: T,
    ) -> dahl::Result<Self> {
        match parameter {
            Some(parameter) => Ok(Self::Learned(&parameter.value)),
            None => Ok(Self::Constant(step.detached().filled([features], constant)?)),
        }
    }
}

impl<'a, T: Real> Deref for Affine<'a, T> {
    type Target = Vector<'a, T>;

    fn deref(&self) -> &Vector<'a, T> {
        match self {
            Self::Learned(values) => values,
            Self::Constant(values) => values,
        }
    }
}
