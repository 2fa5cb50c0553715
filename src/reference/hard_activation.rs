//! Piecewise linear activation functions, and their gradients.

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

pub(crate) fn hard_sigmoid_backward(x: f64, gradient: f64) -> f64 {
    if -3.0 < x && x < 3.0 { gradient / 6.0 } else { 0.0 }
}

pub(crate) fn hard_swish(x: f64) -> f64 {
    x * hard_sigmoid(x)
}

pub(crate) fn hard_swish_backward(x: f64, gradient: f64) -> f64 {
    match x {
        x if x <= -3.0 => 0.0,
        x if x < 3.0 => gradient * 2.0_f64.mul_add(x, 3.0) / 6.0,
        _ => gradient,
    }
}

pub(crate) fn hard_tanh(x: f64) -> f64 {
    x.clamp(-1.0, 1.0)
}

pub(crate) fn hard_tanh_backward(x: f64, gradient: f64) -> f64 {
    if x <= -1.0 || x >= 1.0 { 0.0 } else { gradient }
}
