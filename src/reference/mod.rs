//! What the ops are compared with in tests: the same functions in `f64`, written plainly and independently of the kernels.
//!
//! A declaration names its reference: `reference = PATH`. Where a sum is taken, it is compensated, so that it is better than
//! that of the `f64` kernel.

pub(crate) mod activation;
pub(crate) mod arithmetic;
pub(crate) mod comparison;
pub(crate) mod error_function;
pub(crate) mod exponential;
pub(crate) mod hard_activation;
pub(crate) mod hyperbolic;
pub(crate) mod regression;
pub(crate) mod trigonometric;
