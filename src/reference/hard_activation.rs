//! Piecewise linear activation functions.

pub(crate) fn hard_sigmoid(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x <= -3.0 {
        0.0
    } else if x >= 3.0 {
        1.0
    } else {
        (x + 3.0) / 6.0
    }
}

pub(crate) fn hard_swish(x: f64) -> f64 {
    x * hard_sigmoid(x)
}

pub(crate) fn hard_tanh(x: f64, low: f64, high: f64) -> f64 {
    x.clamp(low, high)
}

pub(crate) fn relu6(x: f64) -> f64 {
    let above = if x <= 0.0 { 0.0 } else { x };
    if above > 6.0 { 6.0 } else { above }
}

pub(crate) fn threshold(x: f64, limit: f64, value: f64) -> f64 {
    if x > limit || x.is_nan() { x } else { value }
}

pub(crate) fn hard_shrink(x: f64, threshold: f64) -> f64 {
    if x > threshold || x < -threshold || x.is_nan() { x } else { 0.0 }
}

pub(crate) fn soft_shrink(x: f64, threshold: f64) -> f64 {
    match x.abs() - threshold {
        size if size <= 0.0 => 0.0,
        size => size.copysign(x),
    }
}
