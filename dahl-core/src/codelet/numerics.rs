//! [`Numerics`]: what a declaration says about the accuracy of its results.

use super::{Kernel, WorkInputs};

/// The accuracy of a declaration: the options `reference` and `error`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Numerics {
    /// For each data parameter, including `SCRATCH`: whether its element type is a type parameter, which is `f64` in
    /// the reference.
    pub generic: &'static [bool],
    /// Whether the declaration is in map form.
    pub is_map: bool,
    /// `reference = PATH`: independent code in `f64`. It has the declaration's parameters, with `f64` for each type
    /// parameter, and the task's own arguments.
    pub reference: Option<Kernel>,
    /// `error = CLASS`.
    pub error: Option<ErrorClass>,
}

impl Numerics {
    /// For a declaration without these options.
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

/// The bound of the errors of a codelet's results: the option `error`.
#[derive(Debug, Clone, Copy)]
pub enum ErrorClass {
    /// `error = rounded`: the nearest number of the element type.
    Rounded,
    /// `error = ulp(N)`: `N` units in the last place of the compute type, and half a unit of the element type if that
    /// is narrower.
    Ulp(f64),
    /// `error = sum(n = EXPR)`: a sum of `n` terms in the compute type, rounded once to the element type.
    Sum {
        /// The number of terms of one element of the result.
        terms: fn(&mut WorkInputs<'_>) -> f64,
        /// `error = sum(n = EXPR, terms = PATH)`: like a reference, but computes for each element the sum of the terms'
        /// absolute values, from the data as they are. Without it the reference computes that sum, from the absolute
        /// values of the inputs.
        magnitude: Option<Kernel>,
    },
}
