//! Exponential functions and logarithms, element by element.
//!
//! Where an operation multiplies the result of a function of `Real`, `e` ULP of the function become up to `2e` ULP of
//! the product, whose last place may be half as large. A further rounding adds up to one ULP, the last one half.

use dahl::prelude::*;

use crate::reference::exponential as reference;

/// `out = exp(x)`, element by element.
#[codelet(R, W, parallel, reference = f64::exp, error = ulp(1.2))]
pub fn exp<T: Real>(x: T) -> T {
    x.exp()
}

/// The gradient of [`exp`] by its input: `out = gradient * output`, where `output = exp(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::exp_backward, error = rounded)]
pub fn exp_backward<T: Real>(output: T, gradient: T) -> T {
    gradient * output
}

/// `out = 2^x`, element by element.
#[codelet(R, W, reference = f64::exp2, error = ulp(1.2))]
pub fn exp2<T: Real>(x: T) -> T {
    x.exp2()
}

/// The gradient of [`exp2`] by its input: `out = gradient * output * ln(2)`, where `output = 2^x`.
// The constant and two products.
#[codelet(R, R, W, in_place = gradient, reference = reference::exp2_backward, error = ulp(2.5))]
pub fn exp2_backward<T: Real>(output: T, gradient: T) -> T {
    gradient * output * T::LN_2
}

/// `out = exp(x) - 1`, element by element, accurate near zero.
#[codelet(R, W, reference = f64::exp_m1, error = ulp(2.2))]
pub fn expm1<T: Real>(x: T) -> T {
    x.exp_m1()
}

/// The gradient of [`expm1`] by its input: `out = gradient * exp(x)`. From `x`, since the output does not distinguish
/// small powers.
#[codelet(R, R, W, in_place = gradient, reference = reference::expm1_backward, error = ulp(3))]
pub fn expm1_backward<T: Real>(x: T, gradient: T) -> T {
    gradient * x.exp()
}

/// `out = ln(x)`, element by element: minus infinity at 0, NaN below.
#[codelet(R, W, parallel, reference = f64::ln, error = ulp(0.9))]
pub fn ln<T: Real>(x: T) -> T {
    x.ln()
}

/// The gradient of [`ln`] by its input: `out = gradient / x`.
#[codelet(R, R, W, in_place = gradient, reference = reference::ln_backward, error = rounded)]
pub fn ln_backward<T: Real>(x: T, gradient: T) -> T {
    gradient / x
}

/// The logarithm to base 2, element by element: minus infinity at 0, NaN below.
#[codelet(R, W, reference = f64::log2, error = ulp(0.9))]
pub fn log2<T: Real>(x: T) -> T {
    x.log2()
}

/// The gradient of [`log2`] by its input: `out = gradient / (x * ln(2))`.
// The quotient, the constant and the product.
#[codelet(R, R, W, in_place = gradient, reference = reference::log2_backward, error = ulp(2.5))]
pub fn log2_backward<T: Real>(x: T, gradient: T) -> T {
    gradient / x * T::LOG2_E
}

/// The logarithm to base 10, element by element: minus infinity at 0, NaN below.
#[codelet(R, W, reference = f64::log10, error = ulp(0.8))]
pub fn log10<T: Real>(x: T) -> T {
    x.log10()
}

/// The gradient of [`log10`] by its input: `out = gradient / (x * ln(10))`.
// As `log2_backward`.
#[codelet(R, R, W, in_place = gradient, reference = reference::log10_backward, error = ulp(2.5))]
pub fn log10_backward<T: Real>(x: T, gradient: T) -> T {
    gradient / x * T::LOG10_E
}

/// `out = ln(1 + x)`, element by element, accurate near zero: minus infinity at -1, NaN below.
#[codelet(R, W, reference = f64::ln_1p, error = ulp(0.9))]
pub fn log1p<T: Real>(x: T) -> T {
    x.ln_1p()
}

/// The gradient of [`log1p`] by its input: `out = gradient / (1 + x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::log1p_backward, error = ulp(1.5))]
pub fn log1p_backward<T: Real>(x: T, gradient: T) -> T {
    gradient / (T::ONE + x)
}
