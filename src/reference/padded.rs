//! Padding: each element of the result is found by its index.

use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, IxDyn};

use super::sum::Sum;
use crate::ops::PadMode;

pub(crate) fn pad<const A: usize>(
    input: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    before: [usize; A],
    _after: [usize; A],
    value: f64,
) {
    for (mut at, out) in out.indexed_iter_mut() {
        (0..A).for_each(|axis| at[axis] = at[axis].wrapping_sub(before[axis]));
        *out = input.get(at).copied().unwrap_or(value);
    }
}

/// The place of the element that is at an index of the result: the same one step of a walk over the input further on,
/// which turns back, stays or begins again at its ends.
fn source<const A: usize>(shape: &[usize], mut at: IxDyn, before: [usize; A], mode: PadMode) -> IxDyn {
    for axis in 0..A {
        let (last, mut place) = (shape[axis] as i64 - 1, at[axis] as i64 - before[axis] as i64);
        if mode == PadMode::Replicate {
            place = place.clamp(0, last);
        }
        while place < 0 || place > last {
            let nearest = if place < 0 { 0 } else { last };
            place = match mode {
                PadMode::Reflect => nearest - (place - nearest),
                _ if place < 0 => place + last + 1,
                _ => place - last - 1,
            };
        }
        at[axis] = place as usize;
    }
    at
}

pub(crate) fn pad_copies<const A: usize>(
    input: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    before: [usize; A],
    _after: [usize; A],
    mode: PadMode,
) {
    out.indexed_iter_mut().for_each(|(at, out)| *out = input[source(input.shape(), at, before, mode)]);
}

pub(crate) fn pad_copies_backward<const A: usize>(
    gradient: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    before: [usize; A],
    _after: [usize; A],
    mode: PadMode,
) {
    let mut sums = ArrayD::from_elem(out.raw_dim(), Sum::default());
    gradient
        .indexed_iter()
        .for_each(|(at, gradient)| sums[source(out.shape(), at, before, mode)].add(*gradient));
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}
