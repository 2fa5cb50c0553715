//! Losses that are quadratic near zero and linear far from it.

pub(crate) fn huber(x: f64, y: f64, delta: f64) -> f64 {
    let size = (x - y).abs();
    if size < delta { size.powi(2) / 2.0 } else { delta * (size - delta / 2.0) }
}

pub(crate) fn smooth_l1(x: f64, y: f64, beta: f64) -> f64 {
    let size = (x - y).abs();
    if size < beta { size.powi(2) / (2.0 * beta) } else { size - beta / 2.0 }
}
