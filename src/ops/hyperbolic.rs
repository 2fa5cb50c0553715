//! Hyperbolic functions and their inverses, element by element.

use dahl::prelude::*;

use crate::reference::hyperbolic as reference;

/// `out = sinh(x)`, element by element.
#[codelet(R, W, reference = f64::sinh, error = ulp(1.8))]
pub fn sinh<T: Real>(x: T) -> T {
    x.sinh()
}

/// `out = cosh(x)`, element by element.
#[codelet(R, W, reference = f64::cosh, error = ulp(1.6))]
pub fn cosh<T: Real>(x: T) -> T {
    x.cosh()
}

/// `out = tanh(x)`, element by element.
#[codelet(R, W, reference = f64::tanh, error = ulp(1.5))]
pub fn tanh<T: Real>(x: T) -> T {
    x.tanh()
}

/// The inverse of [`sinh`], element by element.
#[codelet(R, W, reference = reference::asinh, error = ulp(1.8))]
pub fn asinh<T: Real>(x: T) -> T {
    x.asinh()
}

/// The inverse of [`cosh`], not negative; NaN below 1.
#[codelet(R, W, reference = reference::acosh, error = ulp(2))]
pub fn acosh<T: Real>(x: T) -> T {
    x.acosh()
}

/// The inverse of [`tanh`], element by element: infinite at ±1, NaN beyond.
#[codelet(R, W, reference = reference::atanh, error = ulp(2.1))]
pub fn atanh<T: Real>(x: T) -> T {
    x.atanh()
}
