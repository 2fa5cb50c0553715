//! Piecewise linear activation functions. Conventions, also at kinks, are PyTorch's.
//!
//! They are branches, and not `clamp`, whose derivative is 1 also at its bounds. As in PyTorch, `hard_tanh` and `threshold`
//! compare with limits of the compute type, and `hard_shrink` and `soft_shrink` with thresholds of the element type.

use dahl::prelude::*;

use crate::reference::hard_activation as reference;

/// `out = min(max(x + 3, 0), 6) / 6`, element by element: 0 up to -3, 1 from 3 on.
#[codelet(R, W, reference = reference::hard_sigmoid, error = ulp(1.5))]
pub fn hard_sigmoid<T: Real>(x: T) -> T {
    let three = T::from_f64(3.0);
    if x.abs() < three {
        (x + three) / T::from_f64(6.0)
    } else if x > T::ZERO {
        T::ONE
    } else if x < T::ZERO {
        T::ZERO
    } else {
        T::NAN
    }
}

/// `out = x * hard_sigmoid(x)`, element by element; NaN at minus infinity, as in PyTorch.
#[codelet(R, W, reference = reference::hard_swish, error = ulp(2.5))]
pub fn hard_swish<T: Real>(x: T) -> T {
    let three = T::from_f64(3.0);
    if x <= -three {
        x * T::ZERO
    } else if x < three {
        x * ((x + three) / T::from_f64(6.0))
    } else {
        x
    }
}

/// `out = min(max(x, low), high)`, element by element; NaN stays NaN. `low` is at most `high`.
// The limits are rounded to the compute type first.
#[codelet(R, W, check(low <= high), reference = reference::hard_tanh, error = ulp(0.5))]
pub fn hard_tanh<T: Real>(x: T, low: f64, high: f64) -> T {
    let low = T::from_f64(low);
    let high = T::from_f64(high);
    if x <= low {
        low
    } else if x >= high {
        high
    } else {
        x
    }
}

/// `out = min(max(x, 0), 6)`, element by element; NaN stays NaN.
#[codelet(R, W, reference = reference::relu6, error = rounded)]
pub fn relu6<T: Real>(x: T) -> T {
    let six = T::from_f64(6.0);
    if x <= T::ZERO {
        T::ZERO
    } else if x >= six {
        six
    } else {
        x
    }
}

/// `out = x` where `x > limit`, else `value`; NaN stays NaN.
// The value is rounded to the compute type first.
#[codelet(R, W, reference = reference::threshold, error = ulp(0.5))]
pub fn threshold<T: Real>(x: T, limit: f64, value: f64) -> T {
    if x <= T::from_f64(limit) { T::from_f64(value) } else { x }
}

/// `out = x` where `|x| > threshold`, else 0; NaN stays NaN.
#[codelet(R, W, reference = reference::hard_shrink, error = rounded)]
pub fn hard_shrink<T: Real>(x: T, threshold: T) -> T {
    if x.abs() <= threshold { T::ZERO } else { x }
}

/// `out = x - threshold` where `x > threshold`, `x + threshold` where `x < -threshold`, else 0; NaN stays NaN. The threshold is
/// at least 0.
#[codelet(R, W, check(threshold >= T::ZERO), reference = reference::soft_shrink, error = rounded)]
pub fn soft_shrink<T: Real>(x: T, threshold: T) -> T {
    if x.abs() <= threshold {
        T::ZERO
    } else if x > T::ZERO {
        x - threshold
    } else {
        x + threshold
    }
}
