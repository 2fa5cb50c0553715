//! Arithmetic.

pub(crate) fn add(x: f64, y: f64) -> f64 {
    x + y
}

pub(crate) fn sub(x: f64, y: f64) -> f64 {
    x - y
}

pub(crate) fn mul(x: f64, y: f64) -> f64 {
    x * y
}

pub(crate) fn div(x: f64, y: f64) -> f64 {
    x / y
}

pub(crate) fn axpy(x: f64, y: f64, alpha: f64) -> f64 {
    alpha.mul_add(x, y)
}

pub(crate) fn neg(x: f64) -> f64 {
    -x
}

pub(crate) fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

pub(crate) fn abs_backward(x: f64, gradient: f64) -> f64 {
    match x.partial_cmp(&0.0) {
        Some(order) if order.is_eq() => 0.0,
        Some(order) => f64::from(order as i8) * gradient,
        None => f64::NAN,
    }
}

pub(crate) fn square(x: f64) -> f64 {
    x.powi(2)
}

pub(crate) fn square_backward(x: f64, gradient: f64) -> f64 {
    x * gradient * 2.0
}

pub(crate) fn recip_backward(output: f64, gradient: f64) -> f64 {
    -gradient * output.powi(2)
}

pub(crate) fn sqrt_backward(output: f64, gradient: f64) -> f64 {
    gradient / (2.0 * output)
}

pub(crate) fn power_backward_base(x: f64, y: f64, gradient: f64) -> f64 {
    if y == 0.0 { 0.0 } else { gradient * (y * (x.powf(y) / x)) }
}

pub(crate) fn power_backward_exponent(output: f64, x: f64, gradient: f64) -> f64 {
    if x == 0.0 && output.is_finite() { 0.0 } else { output * x.ln() * gradient }
}

pub(crate) fn power_value_backward(x: f64, gradient: f64, exponent: f64) -> f64 {
    if exponent == 0.0 { 0.0 } else { x.powf(exponent - 1.0) * exponent * gradient }
}
