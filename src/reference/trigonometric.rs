//! Gradients of trigonometric functions and their inverses.

pub(crate) fn sin_backward(x: f64, gradient: f64) -> f64 {
    x.cos() * gradient
}

pub(crate) fn cos_backward(x: f64, gradient: f64) -> f64 {
    -x.sin() * gradient
}

pub(crate) fn tan_backward(output: f64, gradient: f64) -> f64 {
    output.mul_add(output, 1.0) * gradient
}

pub(crate) fn asin_backward(x: f64, gradient: f64) -> f64 {
    // 1 - x * x with one rounding.
    gradient / (-x).mul_add(x, 1.0).sqrt()
}

pub(crate) fn acos_backward(x: f64, gradient: f64) -> f64 {
    -asin_backward(x, gradient)
}

pub(crate) fn atan_backward(x: f64, gradient: f64) -> f64 {
    let length = x.hypot(1.0);
    gradient / length / length
}

pub(crate) fn atan2_backward_y(y: f64, x: f64, gradient: f64) -> f64 {
    gradient * (x / x.mul_add(x, y * y))
}

pub(crate) fn atan2_backward_x(y: f64, x: f64, gradient: f64) -> f64 {
    -gradient * (y / x.mul_add(x, y * y))
}
