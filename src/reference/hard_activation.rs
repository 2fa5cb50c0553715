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

pub(crate) fn hard_tanh(x: f64) -> f64 {
    x.clamp(-1.0, 1.0)
}
