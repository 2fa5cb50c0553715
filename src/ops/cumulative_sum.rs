//! [`cumulative_sum`]: the sums of the elements so far along an axis, and its gradient.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use crate::cpu::compensated::{add, settle};
use crate::cpu::row_major::{around, elements, row_major, write};
use crate::cpu::scratch::with_scratch;

/// `out[i] = input[0] + .. + input[i]`, along `axis`. Sums are compensated, however long the axis is.
///
/// ```
/// use dahl::ops::cumulative_sum_init;
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let x = arena.from_slice([2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(cumulative_sum_init(&arena, &x, 1)?.to_vec()?, [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `input` and `out` of one shape.
#[codelet(
    R, W,
    shape(out = input),
    check(axis < input.shape().len()),
    flops = input.len(),
    cuda = crate::kernels::CUMULATIVE_SUM,
    gradient = adjoint(cumulative_sum_backward),
    reference = crate::reference::cumulative_sum::cumulative_sum,
    error = sum(n = input.shape()[axis])
)]
pub fn cumulative_sum<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    write(out, |out| sum_on_the_way(elements(&input), out, extents, |i, _| i));
}

/// The gradient of [`cumulative_sum`] by its input: `out[i] = gradient[i] + .. + gradient[extent - 1]`, along `axis`.
///
/// # Shapes
/// `gradient` and `out` of one shape.
#[codelet(
    R, W,
    shape(out = gradient),
    check(axis < gradient.shape().len()),
    flops = gradient.len(),
    cuda = crate::kernels::CUMULATIVE_SUM_BACKWARD,
    gradient = adjoint(cumulative_sum),
    reference = crate::reference::cumulative_sum::cumulative_sum_backward,
    error = sum(n = gradient.shape()[axis])
)]
pub fn cumulative_sum_backward<T: Real>(gradient: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    let extents = around(gradient.shape(), axis);
    let gradient = row_major(&gradient);
    write(out, |out| sum_on_the_way(elements(&gradient), out, extents, |i, extent| extent - 1 - i));
}

/// Writes the sums so far along the middle of `[before, extent, after]`; step `i` is at the place that `place` says.
#[inline(always)]
fn sum_on_the_way<T: Real>(
    input: &[T],
    out: &mut [T],
    [before, extent, after]: [usize; 3],
    place: impl Fn(usize, usize) -> usize,
) {
    with_scratch([after; 2], |[sums, errors]: [&mut [T::Compute]; 2]| {
        for block in 0..before {
            sums.fill(T::Compute::ZERO);
            errors.fill(T::Compute::ZERO);
            for step in 0..extent {
                let first = (block * extent + place(step, extent)) * after;
                let states = sums.iter_mut().zip(errors.iter_mut());
                for ((out, input), (sum, error)) in out[first..].iter_mut().zip(&input[first..]).zip(states) {
                    add(sum, error, input.widen());
                    let mut settled = *sum;
                    settle(&mut settled, *error);
                    *out = T::narrow(settled);
                }
            }
        }
    });
}
