//! Hyperbolic functions and their inverses, element by element.

use dahl::prelude::*;

use crate::reference::hyperbolic as reference;

/// `out = sinh(x)`, element by element.
#[codelet(R, W, reference = f64::sinh, error = ulp(1.8))]
pub fn sinh<T: Real>(x: T) -> T {
    x.sinh()
}

/// The gradient of [`sinh`] by its input: `out = gradient * cosh(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::sinh_backward, error = ulp(4))]
pub fn sinh_backward<T: Real>(x: T, gradient: T) -> T {
    gradient * x.cosh()
}

/// `out = cosh(x)`, element by element.
#[codelet(R, W, reference = f64::cosh, error = ulp(1.6))]
pub fn cosh<T: Real>(x: T) -> T {
    x.cosh()
}

/// The gradient of [`cosh`] by its input: `out = gradient * sinh(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::cosh_backward, error = ulp(4.5))]
pub fn cosh_backward<T: Real>(x: T, gradient: T) -> T {
    gradient * x.sinh()
}

/// `out = tanh(x)`, element by element.
#[codelet(R, W, parallel, reference = f64::tanh, error = ulp(1.5))]
pub fn tanh<T: Real>(x: T) -> T {
    x.tanh()
}

/// The gradient of [`tanh`] by its input: `out = gradient * (1 - output) * (1 + output)`, where `output = tanh(x)`.
///
/// The factored form loses nothing near ±1, as `1 - output * output` does.
#[codelet(R, R, W, in_place = gradient, parallel, reference = reference::tanh_backward, error = ulp(3.5))]
pub fn tanh_backward<T: Real>(output: T, gradient: T) -> T {
    gradient * ((T::ONE - output) * (T::ONE + output))
}

/// The inverse of [`sinh`], element by element.
#[codelet(R, W, reference = reference::asinh, error = ulp(1.8))]
pub fn asinh<T: Real>(x: T) -> T {
    x.asinh()
}

/// The gradient of [`asinh`] by its input: `out = gradient / sqrt(1 + x * x)`, without overflow of the square.
#[codelet(R, R, W, in_place = gradient, reference = reference::asinh_backward, error = ulp(3))]
pub fn asinh_backward<T: Real>(x: T, gradient: T) -> T {
    gradient / x.hypot(T::ONE)
}

/// The inverse of [`cosh`], not negative; NaN below 1.
#[codelet(R, W, reference = reference::acosh, error = ulp(2))]
pub fn acosh<T: Real>(x: T) -> T {
    x.acosh()
}

/// The gradient of [`acosh`] by its input: `out = gradient / sqrt(x * x - 1)`, without overflow of the square; infinite at 1,
/// NaN below.
// Two roots of rounded numbers, their product, the quotient.
#[codelet(R, R, W, in_place = gradient, reference = reference::acosh_backward, error = ulp(4.5))]
pub fn acosh_backward<T: Real>(x: T, gradient: T) -> T {
    gradient / ((x - T::ONE).sqrt() * (x + T::ONE).sqrt())
}

/// The inverse of [`tanh`], element by element: infinite at ±1, NaN beyond.
#[codelet(R, W, reference = reference::atanh, error = ulp(2.1))]
pub fn atanh<T: Real>(x: T) -> T {
    x.atanh()
}

/// The gradient of [`atanh`] by its input: `out = gradient / ((1 - x) * (1 + x))`; infinite at ±1.
#[codelet(R, R, W, in_place = gradient, reference = reference::atanh_backward, error = ulp(3.5))]
pub fn atanh_backward<T: Real>(x: T, gradient: T) -> T {
    gradient / ((T::ONE - x) * (T::ONE + x))
}
