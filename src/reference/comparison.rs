//! Comparison and selection, by the order that `partial_cmp` gives.

use std::cmp::Ordering;

pub(crate) fn equal(x: f64, y: f64) -> u8 {
    u8::from(x.partial_cmp(&y) == Some(Ordering::Equal))
}

pub(crate) fn not_equal(x: f64, y: f64) -> u8 {
    1 - equal(x, y)
}

pub(crate) fn less(x: f64, y: f64) -> u8 {
    u8::from(x.partial_cmp(&y) == Some(Ordering::Less))
}

pub(crate) fn less_equal(x: f64, y: f64) -> u8 {
    less(x, y) + equal(x, y)
}

pub(crate) fn greater(x: f64, y: f64) -> u8 {
    less(y, x)
}

pub(crate) fn greater_equal(x: f64, y: f64) -> u8 {
    less_equal(y, x)
}

pub(crate) fn logical_and(x: u8, y: u8) -> u8 {
    [x, y].into_iter().all(|mask| mask != 0).into()
}

pub(crate) fn select(mask: u8, x: f64, y: f64) -> f64 {
    match mask {
        0 => y,
        _ => x,
    }
}

pub(crate) fn maximum(x: f64, y: f64) -> f64 {
    // The total order has -0 below +0.
    match x.total_cmp(&y) {
        _ if x.is_nan() || y.is_nan() => f64::NAN,
        Ordering::Less => y,
        _ => x,
    }
}

pub(crate) fn minimum(x: f64, y: f64) -> f64 {
    -maximum(-x, -y)
}

pub(crate) fn clip(x: f64, low: f64, high: f64) -> f64 {
    minimum(maximum(x, low), high)
}
