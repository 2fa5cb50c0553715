//! [`Numerics`]: what a declaration says about the accuracy of its results.

use super::{Kernel, WorkInputs};

/// What a declaration says of its exactness: the options `reference` and `error`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Numerics {
    /// For each data parameter, `SCRATCH` among them: whether its element type is a type parameter, so that the
    /// reference has `f64` in its place.
    pub generic: &'static [bool],
    /// Whether the declaration is in map form.
    pub is_map: bool,
    /// `reference = PATH`: independent code in `f64`. It takes the declaration's parameters, `f64` for each type
    /// parameter, and the task's own arguments.
    pub reference: Option<Kernel>,
    /// `error = CLASS`.
    pub error: Option<ErrorClass>,
}

impl Numerics {
    /// Of a declaration that says nothing.
    pub const fn new(generic: &'static [bool], is_map: bool) -> Self {
        Self { generic, is_map, reference: None, error: None }
    }

    /// Sets the reference.
    pub const fn reference(mut self, reference: Kernel) -> Self {
        self.reference = Some(reference);
        self
    }

    /// Sets the error class.
    pub const fn error(mut self, error: ErrorClass) -> Self {
        self.error = Some(error);
        self
    }
}

/// How far a codelet's results may lie from the exact ones: the option `error`.
#[derive(Debug, Clone, Copy)]
pub enum ErrorClass {
    /// `error = rounded`: the nearest number of the element type.
    Rounded,
    /// `error = ulp(N)`: as many units in the last place of the compute type, and half a unit of the element type where
    /// that is narrower.
    Ulp(f64),
    /// `error = sum(n = EXPR)`: a sum of `n` terms in the compute type, rounded once to the element type.
    Sum {
        /// The number of terms of one element of the result.
        terms: fn(&mut WorkInputs<'_>) -> f64,
        /// `error = sum(n = EXPR, terms = PATH)`: like a reference; it computes for each element the sum of the terms'
        /// absolute values, from the data as they are. Without it the reference does, on the absolute values of the inputs.
        magnitude: Option<Kernel>,
    },
}
