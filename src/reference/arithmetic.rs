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

pub(crate) fn square(x: f64) -> f64 {
    x.powi(2)
}
