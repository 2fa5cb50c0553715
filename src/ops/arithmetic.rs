//! Arithmetic, element by element, on one array or two.
//!
//! Operations on two arrays broadcast an extent of 1, as NumPy does.

use dahl::prelude::*;

use crate::reference::arithmetic as reference;

/// `out = x + y`, element by element.
#[codelet(R, R, W, broadcast, reference = reference::add, error = rounded)]
pub fn add<T: Real>(x: T, y: T) -> T {
    x + y
}

/// `out = x - y`, element by element.
#[codelet(R, R, W, broadcast, reference = reference::sub, error = rounded)]
pub fn sub<T: Real>(x: T, y: T) -> T {
    x - y
}

/// `out = x * y`, element by element.
#[codelet(R, R, W, broadcast, reference = reference::mul, error = rounded)]
pub fn mul<T: Real>(x: T, y: T) -> T {
    x * y
}

/// `out = x / y`, element by element.
#[codelet(R, R, W, broadcast, reference = reference::div, error = rounded)]
pub fn div<T: Real>(x: T, y: T) -> T {
    x / y
}

/// `out = factor * x`, element by element.
#[codelet(R, W, reference = reference::mul, error = rounded)]
pub fn scale<T: Real>(x: T, factor: T) -> T {
    factor * x
}

/// `out = x + value`, element by element.
#[codelet(R, W, reference = reference::add, error = rounded)]
pub fn add_value<T: Real>(x: T, value: T) -> T {
    x + value
}

/// `out = alpha * x + y`, element by element; `axpy_self` adds to `y`, as in BLAS.
#[codelet(R, R, W, in_place = y, reference = reference::axpy, error = sum(n = 2))]
pub fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    alpha * x + y
}

/// `out = -x`, element by element.
#[codelet(R, W, reference = reference::neg, error = rounded)]
pub fn neg<T: Real>(x: T) -> T {
    -x
}

/// `out = |x|`, element by element.
#[codelet(R, W, reference = f64::abs, error = rounded)]
pub fn abs<T: Real>(x: T) -> T {
    x.abs()
}

/// The gradient of [`abs`] by its input: `out = gradient` where `x > 0`, `-gradient` where `x < 0`, 0 where `x` is 0; NaN
/// where `x` is NaN.
#[codelet(R, R, W, in_place = gradient, reference = reference::abs_backward, error = rounded)]
pub fn abs_backward<T: Real>(x: T, gradient: T) -> T {
    if x > T::ZERO {
        gradient
    } else if x < T::ZERO {
        -gradient
    } else if x.is_nan() {
        x
    } else {
        T::ZERO
    }
}

/// `out = 1` where `x > 0`, `-1` where `x < 0`, 0 where `x` is 0 of either sign; NaN for NaN, as in NumPy.
#[codelet(R, W, reference = reference::sign, error = rounded)]
pub fn sign<T: Real>(x: T) -> T {
    if x > T::ZERO {
        T::ONE
    } else if x < T::ZERO {
        -T::ONE
    } else if x.is_nan() {
        x
    } else {
        T::ZERO
    }
}

/// `out = x * x`, element by element.
#[codelet(R, W, reference = reference::square, error = rounded)]
pub fn square<T: Real>(x: T) -> T {
    x * x
}

/// The gradient of [`square`] by its input: `out = 2 * x * gradient`.
#[codelet(R, R, W, in_place = gradient, reference = reference::square_backward, error = ulp(1))]
pub fn square_backward<T: Real>(x: T, gradient: T) -> T {
    // Doubling is exact, unless the product was subnormal.
    let product = x * gradient;
    product + product
}

/// `out = 1 / x`, element by element.
#[codelet(R, W, reference = f64::recip, error = rounded)]
pub fn recip<T: Real>(x: T) -> T {
    x.recip()
}

/// The gradient of [`recip`] by its input: `out = -gradient * output * output`, where `output = 1 / x`.
#[codelet(R, R, W, in_place = gradient, reference = reference::recip_backward, error = ulp(1.5))]
pub fn recip_backward<T: Real>(output: T, gradient: T) -> T {
    -(gradient * output * output)
}

/// `out = sqrt(x)`, element by element: NaN below 0.
#[codelet(R, W, reference = f64::sqrt, error = rounded)]
pub fn sqrt<T: Real>(x: T) -> T {
    x.sqrt()
}

/// The gradient of [`sqrt`] by its input: `out = gradient / (2 * output)`, where `output = sqrt(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::sqrt_backward, error = rounded)]
pub fn sqrt_backward<T: Real>(output: T, gradient: T) -> T {
    gradient / (output + output)
}

/// `out = x^y`, element by element: NaN where `x < 0` and `y` is no integer; 1 where `y` is 0, even if `x` is NaN, as in C.
#[codelet(R, R, W, broadcast, reference = f64::powf, error = ulp(1.1))]
pub fn power<T: Real>(x: T, y: T) -> T {
    x.powf(y)
}

/// The gradient of [`power`] by its base: `out = gradient * y * x^(y - 1)`; 0 where `y` is 0.
///
/// The exponent `y - 1` is rounded: the error grows by up to `|ln(x)|` units in the last place.
// powf is off by 1.1 ulp, which is 2.2 of the result where the last places differ; two products, and the exponent.
#[codelet(R, R, R, W, in_place = gradient, reference = reference::power_backward_base, error = ulp(6))]
pub fn power_backward_base<T: Real>(x: T, y: T, gradient: T) -> T {
    if y == T::ZERO { T::ZERO } else { gradient * (y * x.powf(y - T::ONE)) }
}

/// The gradient of [`power`] by its exponent: `out = gradient * output * ln(x)`, where `output = x^y`; 0 where the base `x`
/// and the exponent are such that `output` is finite at `x = 0`.
#[codelet(R, R, R, W, in_place = gradient, reference = reference::power_backward_exponent, error = ulp(3.5))]
pub fn power_backward_exponent<T: Real>(output: T, x: T, gradient: T) -> T {
    if x == T::ZERO && output.is_finite() { T::ZERO } else { gradient * output * x.ln() }
}

/// `out = x^exponent`, element by element: as [`power`].
#[codelet(R, W, reference = f64::powf, error = ulp(1.1))]
pub fn power_value<T: Real>(x: T, exponent: T) -> T {
    x.powf(exponent)
}

/// The gradient of [`power_value`] by its input: `out = gradient * exponent * x^(exponent - 1)`; 0 where the exponent is 0.
// As `power_backward_base`.
#[codelet(R, R, W, in_place = gradient, reference = reference::power_value_backward, error = ulp(6))]
pub fn power_value_backward<T: Real>(x: T, gradient: T, exponent: T) -> T {
    if exponent == T::ZERO { T::ZERO } else { gradient * (exponent * x.powf(exponent - T::ONE)) }
}
