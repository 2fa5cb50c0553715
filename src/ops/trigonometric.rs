//! Trigonometric functions, in radians, and their inverses, element by element.

use dahl::prelude::*;

/// `out = sin(x)`, element by element; NaN at infinities.
#[codelet(R, W, reference = f64::sin, error = ulp(0.6))]
pub fn sin<T: Real>(x: T) -> T {
    x.sin()
}

/// `out = cos(x)`, element by element; NaN at infinities.
#[codelet(R, W, reference = f64::cos, error = ulp(0.6))]
pub fn cos<T: Real>(x: T) -> T {
    x.cos()
}

/// `out = tan(x)`, element by element; NaN at infinities.
#[codelet(R, W, reference = f64::tan, error = ulp(0.6))]
pub fn tan<T: Real>(x: T) -> T {
    x.tan()
}

/// The arcsine, in `-π/2 ..= π/2`; NaN where `|x| > 1`.
#[codelet(R, W, reference = f64::asin, error = ulp(1.4))]
pub fn asin<T: Real>(x: T) -> T {
    x.asin()
}

/// The arccosine, in `0 ..= π`; NaN where `|x| > 1`.
#[codelet(R, W, reference = f64::acos, error = ulp(1.2))]
pub fn acos<T: Real>(x: T) -> T {
    x.acos()
}

/// The arctangent, in `-π/2 ..= π/2`.
#[codelet(R, W, reference = f64::atan, error = ulp(2))]
pub fn atan<T: Real>(x: T) -> T {
    x.atan()
}

/// The angle of the point `(x, y)`, in `-π ..= π`; the signs of zeros count, as in C.
#[codelet(R, R, W, broadcast, reference = f64::atan2, error = ulp(2.1))]
pub fn atan2<T: Real>(y: T, x: T) -> T {
    y.atan2(x)
}
