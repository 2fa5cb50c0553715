//! Trigonometric functions, in radians, and their inverses, element by element.

use dahl::prelude::*;

use crate::reference::trigonometric as reference;

/// `out = sin(x)`, element by element; NaN at infinities.
#[codelet(R, W, parallel, reference = f64::sin, error = ulp(0.6))]
pub fn sin<T: Real>(x: T) -> T {
    x.sin()
}

/// The gradient of [`sin`] by its input: `out = gradient * cos(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::sin_backward, error = ulp(2))]
pub fn sin_backward<T: Real>(x: T, gradient: T) -> T {
    gradient * x.cos()
}

/// `out = cos(x)`, element by element; NaN at infinities.
#[codelet(R, W, parallel, reference = f64::cos, error = ulp(0.6))]
pub fn cos<T: Real>(x: T) -> T {
    x.cos()
}

/// The gradient of [`cos`] by its input: `out = -gradient * sin(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::cos_backward, error = ulp(2))]
pub fn cos_backward<T: Real>(x: T, gradient: T) -> T {
    -(gradient * x.sin())
}

/// `out = tan(x)`, element by element; NaN at infinities.
#[codelet(R, W, reference = f64::tan, error = ulp(0.6))]
pub fn tan<T: Real>(x: T) -> T {
    x.tan()
}

/// The gradient of [`tan`] by its input: `out = gradient * (1 + output * output)`, where `output = tan(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::tan_backward, error = ulp(2.5))]
pub fn tan_backward<T: Real>(output: T, gradient: T) -> T {
    gradient * (T::ONE + output * output)
}

/// The arcsine, in `-π/2 ..= π/2`; NaN where `|x| > 1`.
#[codelet(R, W, reference = f64::asin, error = ulp(1.4))]
pub fn asin<T: Real>(x: T) -> T {
    x.asin()
}

/// The gradient of [`asin`] by its input: `out = gradient / sqrt(1 - x * x)`; infinite at ±1, NaN beyond.
// Three roundings under the root, which halves their error; then the root and the quotient.
#[codelet(R, R, W, in_place = gradient, reference = reference::asin_backward, error = ulp(3))]
pub fn asin_backward<T: Real>(x: T, gradient: T) -> T {
    gradient / ((T::ONE - x) * (T::ONE + x)).sqrt()
}

/// The arccosine, in `0 ..= π`; NaN where `|x| > 1`.
#[codelet(R, W, reference = f64::acos, error = ulp(1.2))]
pub fn acos<T: Real>(x: T) -> T {
    x.acos()
}

/// The gradient of [`acos`] by its input: `out = -gradient / sqrt(1 - x * x)`; infinite at ±1, NaN beyond.
// As `asin_backward`.
#[codelet(R, R, W, in_place = gradient, reference = reference::acos_backward, error = ulp(3))]
pub fn acos_backward<T: Real>(x: T, gradient: T) -> T {
    -gradient / ((T::ONE - x) * (T::ONE + x)).sqrt()
}

/// The arctangent, in `-π/2 ..= π/2`.
#[codelet(R, W, reference = f64::atan, error = ulp(2))]
pub fn atan<T: Real>(x: T) -> T {
    x.atan()
}

/// The gradient of [`atan`] by its input: `out = gradient / (1 + x * x)`, without overflow of the square.
// Where |x| > 1: two quotients, the sum, and its small term.
#[codelet(R, R, W, in_place = gradient, reference = reference::atan_backward, error = ulp(3))]
pub fn atan_backward<T: Real>(x: T, gradient: T) -> T {
    if x.abs() > T::ONE { gradient / x / (x + x.recip()) } else { gradient / (T::ONE + x * x) }
}

/// The angle of the point `(x, y)`, in `-π ..= π`; the signs of zeros count, as in C.
#[codelet(R, R, W, broadcast, reference = f64::atan2, error = ulp(2.1))]
pub fn atan2<T: Real>(y: T, x: T) -> T {
    y.atan2(x)
}

/// The gradient of [`atan2`] by `y`: `out = gradient * x / (x * x + y * y)`; NaN at the origin.
// hypot is off by 1.2 ulp and divides twice; then two quotients and a product.
#[codelet(R, R, R, W, in_place = gradient, reference = reference::atan2_backward_y, error = ulp(7.5))]
pub fn atan2_backward_y<T: Real>(y: T, x: T, gradient: T) -> T {
    let radius = x.hypot(y);
    gradient * (x / radius / radius)
}

/// The gradient of [`atan2`] by `x`: `out = -gradient * y / (x * x + y * y)`; NaN at the origin.
// As `atan2_backward_y`.
#[codelet(R, R, R, W, in_place = gradient, reference = reference::atan2_backward_x, error = ulp(7.5))]
pub fn atan2_backward_x<T: Real>(y: T, x: T, gradient: T) -> T {
    let radius = x.hypot(y);
    -(gradient * (y / radius / radius))
}
