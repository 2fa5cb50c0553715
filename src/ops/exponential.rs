//! Exponential functions and logarithms, element by element.
//!
//! Where an operation multiplies the result of a function of `Real`, `e` ULP of the function become up to `2e` ULP of
//! the product, whose last place may be half as large. A further rounding adds up to one ULP, the last one half.

use dahl::prelude::*;

/// `out = exp(x)`, element by element.
#[codelet(R, W, reference = f64::exp, error = ulp(1.2))]
pub fn exp<T: Real>(x: T) -> T {
    x.exp()
}

/// `out = 2^x`, element by element.
#[codelet(R, W, reference = f64::exp2, error = ulp(1.2))]
pub fn exp2<T: Real>(x: T) -> T {
    x.exp2()
}

/// `out = exp(x) - 1`, element by element, accurate near zero.
#[codelet(R, W, reference = f64::exp_m1, error = ulp(2.2))]
pub fn expm1<T: Real>(x: T) -> T {
    x.exp_m1()
}

/// `out = ln(x)`, element by element: minus infinity at 0, NaN below.
#[codelet(R, W, reference = f64::ln, error = ulp(0.9))]
pub fn ln<T: Real>(x: T) -> T {
    x.ln()
}

/// The logarithm to base 2, element by element: minus infinity at 0, NaN below.
#[codelet(R, W, reference = f64::log2, error = ulp(0.9))]
pub fn log2<T: Real>(x: T) -> T {
    x.log2()
}

/// The logarithm to base 10, element by element: minus infinity at 0, NaN below.
#[codelet(R, W, reference = f64::log10, error = ulp(0.8))]
pub fn log10<T: Real>(x: T) -> T {
    x.log10()
}

/// `out = ln(1 + x)`, element by element, accurate near zero: minus infinity at -1, NaN below.
#[codelet(R, W, reference = f64::ln_1p, error = ulp(0.9))]
pub fn log1p<T: Real>(x: T) -> T {
    x.ln_1p()
}
