//! The error function, element by element.

use dahl::prelude::*;

use crate::reference::error_function as reference;

/// `out = erf(x)`, element by element: `2 / sqrt(π)` times the integral of `exp(-t * t)` from 0 to `x`.
#[codelet(R, W, parallel, reference = reference::erf, error = ulp(1.2))]
pub fn erf<T: Real>(x: T) -> T {
    x.erf()
}

/// The gradient of [`erf`] by its input: `out = gradient * 2 / sqrt(π) * exp(-x * x)`.
///
/// The rounding error of the square is computed and compensated, since the square would multiply it.
// exp is off by 1.2 ulp, 2.4 ulp of a product; then the constant, the correction, three products.
#[codelet(R, R, W, in_place = gradient, reference = reference::erf_backward, error = ulp(6))]
pub fn erf_backward<T: Real>(x: T, gradient: T) -> T {
    // Farther out the result is 0.
    let x = x.abs().min(T::from_f64(40.0));
    let square = x * x;
    let lost = x.mul_add(x, -square);
    let power = (-square).exp();
    gradient * (T::FRAC_2_SQRT_PI * (power - power * lost))
}
