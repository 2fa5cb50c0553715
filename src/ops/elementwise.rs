//! Functions of one element, or of one element of each of several arrays.
//!
//! Those of two arrays stretch an extent of 1, as NumPy does.

use dahl::prelude::*;

/// `out = x + y`, element by element.
#[codelet(R, R, W, broadcast)]
pub fn add<T: Real>(x: T, y: T) -> T {
    x + y
}

/// `out = x - y`, element by element.
#[codelet(R, R, W, broadcast)]
pub fn sub<T: Real>(x: T, y: T) -> T {
    x - y
}

/// `out = x * y`, element by element.
#[codelet(R, R, W, broadcast)]
pub fn mul<T: Real>(x: T, y: T) -> T {
    x * y
}

/// `out = x / y`, element by element.
#[codelet(R, R, W, broadcast)]
pub fn div<T: Real>(x: T, y: T) -> T {
    x / y
}

/// `out = factor * x`, element by element.
#[codelet(R, W)]
pub fn scale<T: Real>(x: T, factor: T) -> T {
    factor * x
}

/// `out = x + value`, element by element.
#[codelet(R, W)]
pub fn add_value<T: Real>(x: T, value: T) -> T {
    x + value
}

/// `out = alpha * x + y`, element by element; `axpy_self` adds to `y`, as in BLAS.
#[codelet(R, R, W, in_place = y)]
pub fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    alpha * x + y
}

/// `out = exp(x)`, element by element.
#[codelet(R, W)]
pub fn exp<T: Real>(x: T) -> T {
    x.exp()
}

/// `out = ln(x)`, element by element: minus infinity at 0, NaN below.
#[codelet(R, W)]
pub fn ln<T: Real>(x: T) -> T {
    x.ln()
}

/// `out = sqrt(x)`, element by element: NaN below 0.
#[codelet(R, W)]
pub fn sqrt<T: Real>(x: T) -> T {
    x.sqrt()
}

/// `out = tanh(x)`, element by element.
#[codelet(R, W)]
pub fn tanh<T: Real>(x: T) -> T {
    x.tanh()
}

/// The gradient of [`tanh`] by its input: `out = gradient * (1 - output * output)`, where `output = tanh(x)`.
#[codelet(R, R, W, in_place = gradient)]
pub fn tanh_backward<T: Real>(output: T, gradient: T) -> T {
    gradient * (T::ONE - output * output)
}

/// The logistic function, `out = 1 / (1 + exp(-x))`, element by element.
#[codelet(R, W)]
pub fn sigmoid<T: Real>(x: T) -> T {
    T::ONE / (T::ONE + (-x).exp())
}

/// The gradient of [`sigmoid`] by its input: `out = gradient * output * (1 - output)`, where `output = sigmoid(x)`.
#[codelet(R, R, W, in_place = gradient)]
pub fn sigmoid_backward<T: Real>(output: T, gradient: T) -> T {
    gradient * output * (T::ONE - output)
}

/// `out = max(x, 0)`, element by element; NaN stays NaN.
#[codelet(R, W)]
pub fn relu<T: Real>(x: T) -> T {
    x.max(T::ZERO)
}

/// The gradient of [`relu`] by its input: `out = gradient` where `x > 0`, else 0. `x` may be the input or the output of
/// the forward op. Where `x` is NaN, the gradient passes, as in PyTorch.
#[codelet(R, R, W, in_place = gradient)]
pub fn relu_backward<T: Real>(x: T, gradient: T) -> T {
    if x <= T::ZERO { T::ZERO } else { gradient }
}
