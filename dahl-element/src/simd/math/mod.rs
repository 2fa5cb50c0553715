//! Elementary functions of `f32` and `f64`, written so that a loop over them vectorises.
//!
//! A loop vectorises if its body has no branch and no call. So each function is one sequence of operations for all
//! arguments: where a scalar library branches, both sides are computed and the result is selected; integers are taken
//! from the bits of numbers; there are no tables. Multiplication and addition round separately: a fused operation would
//! be a call of libm below x86-64-v3, and would make the results of the levels differ if it replaced the two.
//!
//! What a function means, and its error, is said at [`Real`](crate::element::Real); here is how it is computed. Not
//! here: half precision, which computes in `f32`.

mod error_function;
mod exponential;
mod hyperbolic;
mod inverse_trigonometric;
mod logarithm;
mod polynomial;
mod power;
mod rounding;
mod scale;
mod trigonometric;

pub(crate) use error_function::ErrorFunction;
pub(crate) use exponential::Exponential;
pub(crate) use hyperbolic::Hyperbolic;
pub(crate) use inverse_trigonometric::InverseTrigonometric;
pub(crate) use logarithm::Logarithm;
pub(crate) use power::Power;
pub(crate) use rounding::Rounding;
pub(crate) use trigonometric::Trigonometric;
