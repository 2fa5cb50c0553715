//! Rotations of pairs of elements by angles that grow with the position.

use ndarray::{ArrayViewD, ArrayViewMutD, Axis};

use crate::ops::RotaryPositions;

pub(crate) fn rotary(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, positions: RotaryPositions) {
    each(input, out, positions, |[first, second], angle| {
        [first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin()]
    });
}

pub(crate) fn rotary_backward(
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    positions: RotaryPositions,
) {
    each(gradient, out, positions, |[first, second], angle| {
        [first * angle.cos() + second * angle.sin(), second * angle.cos() - first * angle.sin()]
    });
}

/// The magnitudes of both elements of a pair: an error of the angle makes one of their products.
pub(crate) fn rotary_terms(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    positions: RotaryPositions,
) {
    each(input, out, positions, |[first, second], _| [first.abs() + second.abs(); 2]);
}

/// Replaces each pair by `f(pair, angle)`.
fn each(
    input: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    positions: RotaryPositions,
    f: impl Fn([f64; 2], f64) -> [f64; 2],
) {
    let last = Axis(input.ndim() - 1);
    let tokens = input.shape()[input.ndim() - 2];
    let rows = input.lanes(last).into_iter().zip(out.lanes_mut(last));
    for (number, (row, mut out)) in rows.enumerate() {
        let (position, half) = ((positions.offset + number % tokens) as f64, row.len() / 2);
        for i in 0..half {
            let angle = position * positions.base.powf(-2.0 * i as f64 / row.len() as f64);
            [out[i], out[half + i]] = f([row[i], row[half + i]], angle);
        }
    }
}
