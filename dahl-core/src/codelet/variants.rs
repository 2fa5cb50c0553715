//! [`Variants`]: everything that one declaration gives, behind one interface. `#[codelet]` implements it.
//!
//! It is how code that knows no operation calls one: the comparison of element types (`testing`) runs every variant on
//! arrays that it made itself.

use super::{Codelet, Kernel, Operands};
use crate::arena::Arena;
use crate::array::AnyArray;
use crate::element::Real;
use crate::error::Result;
use crate::task::Task;

/// The variants of a codelet for given types of its arrays and arguments.
///
/// `Arrays` is the tuple of all data parameters but `SCRATCH` as `Array<'static, T, N>`, in the order of the
/// declaration, and `Arguments` the tuple of its plain arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not take `{Arrays}` and `{Arguments}`",
    note = "the arrays and arguments are those of the declaration, in its order, without `SCRATCH`"
)]
pub trait Variants<Arrays, Arguments> {
    /// The descriptor that the runtime gets.
    fn descriptor() -> &'static Codelet;

    /// The task of `op`.
    fn task(arrays: &mut Arrays, arguments: Arguments) -> Task<'_>;

    /// The task of `op_self`, if there is one. The output in `arrays` stays out of it.
    fn task_self(arrays: &mut Arrays, arguments: Arguments) -> Option<Task<'_>> {
        let _ = (arrays, arguments);
        None
    }

    /// Calls `op_init`, if there is one. `made` gets each output, with its place in `Arrays`.
    fn init(
        arena: &Arena,
        arrays: &Arrays,
        arguments: Arguments,
        made: &mut dyn FnMut(usize, &dyn AnyArray),
    ) -> Option<Result<()>> {
        let _ = (arena, arrays, arguments, made);
        None
    }

    /// What the declaration says of its exactness.
    fn numerics() -> Numerics;

    /// The declared body, with `P` in place of every type parameter, if their bounds allow it and there is no reference.
    fn declaration<P: Real>() -> Option<Kernel> {
        None
    }
}

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
        terms: fn(&mut Operands<'_>) -> f64,
        /// `error = sum(n = EXPR, terms = PATH)`: like a reference; it computes for each element the sum of the terms'
        /// absolute values, from the data as they are. Without it the reference does, on the absolute values of the inputs.
        magnitude: Option<Kernel>,
    },
}
