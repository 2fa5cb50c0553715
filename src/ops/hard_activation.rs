//! Piecewise linear activation functions. Conventions, also at kinks, are PyTorch's.

use dahl::prelude::*;

use crate::reference::hard_activation as reference;

/// `out = min(max(x + 3, 0), 6) / 6`, element by element: 0 up to -3, 1 from 3 on.
#[codelet(R, W, reference = reference::hard_sigmoid, error = ulp(1.5))]
pub fn hard_sigmoid<T: Real>(x: T) -> T {
    (x + T::from_f64(3.0)).clamp(T::ZERO, T::from_f64(6.0)) / T::from_f64(6.0)
}

/// The gradient of [`hard_sigmoid`] by its input: `out = gradient / 6` where `-3 < x < 3`, else 0.
#[codelet(R, R, W, in_place = gradient, reference = reference::hard_sigmoid_backward, error = rounded)]
pub fn hard_sigmoid_backward<T: Real>(x: T, gradient: T) -> T {
    if x.abs() < T::from_f64(3.0) { gradient / T::from_f64(6.0) } else { T::ZERO }
}

/// `out = x * hard_sigmoid(x)`, element by element; NaN at minus infinity, as in PyTorch.
#[codelet(R, W, reference = reference::hard_swish, error = ulp(2.5))]
pub fn hard_swish<T: Real>(x: T) -> T {
    x * ((x + T::from_f64(3.0)).clamp(T::ZERO, T::from_f64(6.0)) / T::from_f64(6.0))
}

/// The gradient of [`hard_swish`] by its input: `out = 0` up to -3, `gradient * (2 * x + 3) / 6` between, and `gradient` from 3
/// on.
#[codelet(R, R, W, in_place = gradient, reference = reference::hard_swish_backward, error = ulp(2.5))]
pub fn hard_swish_backward<T: Real>(x: T, gradient: T) -> T {
    let three = T::from_f64(3.0);
    if x <= -three {
        T::ZERO
    } else if x < three {
        gradient * ((x + x + three) / T::from_f64(6.0))
    } else {
        gradient
    }
}

/// `out = min(max(x, -1), 1)`, element by element; NaN stays NaN.
#[codelet(R, W, reference = reference::hard_tanh, error = rounded)]
pub fn hard_tanh<T: Real>(x: T) -> T {
    x.clamp(-T::ONE, T::ONE)
}

/// The gradient of [`hard_tanh`] by its input: `out = gradient` where `-1 < x < 1`, else 0; where `x` is NaN, the gradient
/// passes.
#[codelet(R, R, W, in_place = gradient, reference = reference::hard_tanh_backward, error = rounded)]
pub fn hard_tanh_backward<T: Real>(x: T, gradient: T) -> T {
    if x.abs() >= T::ONE { T::ZERO } else { gradient }
}
