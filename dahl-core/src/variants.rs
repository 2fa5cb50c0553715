//! [`Variants`]: everything that one declaration generates, behind one trait. `#[codelet]` implements it.
//!
//! Through it, code that knows no operation calls one: the comparison of element types (`testing`) runs every variant
//! on arrays of its own.

use crate::arena::Arena;
use crate::array::AnyArray;
use crate::codelet::{Codelet, Kernel, Numerics};
use crate::element::Real;
use crate::error::Result;
use crate::submission::Task;
use crate::tape::Gradient;

/// The variants of a codelet for given types of its arrays and arguments.
///
/// `Arrays` is the tuple of all data parameters except `SCRATCH` as `Array<'static, T, N>`, in the order of the
/// declaration, and `Arguments` the tuple of its plain arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not take `{Arrays}` and `{Arguments}`",
    note = "the arrays and arguments are those of the declaration, in its order, without `SCRATCH`"
)]
pub trait Variants<Arrays, Arguments> {
    /// The descriptor for the runtime.
    fn descriptor() -> &'static Codelet;

    /// The task of `op`.
    fn task(arrays: &mut Arrays, arguments: Arguments) -> Task<'_>;

    /// The task of `op_self`, if it exists. It does not use the output in `arrays`.
    fn task_self(arrays: &mut Arrays, arguments: Arguments) -> Option<Task<'_>> {
        let _ = (arrays, arguments);
        None
    }

    /// Calls `op_init`, if it exists. `made` receives each output, with its index in `Arrays`.
    fn init(
        arena: &Arena,
        arrays: &Arrays,
        arguments: Arguments,
        made: &mut dyn FnMut(usize, &dyn AnyArray),
    ) -> Option<Result<()>> {
        let _ = (arena, arrays, arguments, made);
        None
    }

    /// The accuracy of the declaration.
    fn numerics() -> Numerics;

    /// What a tape knows of the gradient, if the declaration says what that is.
    fn gradient() -> Option<&'static Gradient> {
        None
    }

    /// The declared body, with `P` in place of every type parameter, if their bounds allow it, and if it is a map or there is
    /// no reference.
    fn declaration<P: Real>() -> Option<Kernel> {
        None
    }
}
