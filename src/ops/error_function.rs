//! The error function, element by element.

use dahl::prelude::*;

use crate::reference::error_function as reference;

/// `out = erf(x)`, element by element: `2 / sqrt(π)` times the integral of `exp(-t * t)` from 0 to `x`.
#[codelet(R, W, reference = reference::erf, error = ulp(1.2))]
pub fn erf<T: Real>(x: T) -> T {
    x.erf()
}
