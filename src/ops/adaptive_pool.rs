//! Pooling to given extents, by windows that divide the input as evenly as they can: [`adaptive_max_pool`],
//! [`adaptive_avg_pool`], and its gradient.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use super::geometry::{spatial, with_spatial};
use super::pool::{is_countable, max_pool_backward_init};
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::windows::{Windows, with_windows};

/// Whether an input can be pooled to these extents, none of which is 0.
fn divides<const D: usize>(input: &[usize], extents: [usize; D]) -> bool {
    is_countable::<D>(input)
        && input[2..].iter().zip(extents).all(|(&input, output)| {
            input > 0
                && output > 0
                && (output.checked_add(1)).is_some_and(|end| end.checked_mul(input).is_some())
        })
}

/// Calls `f` with the windows of an input of these spatial extents.
#[inline(always)]
fn with<const D: usize>(input: [usize; D], extents: [usize; D], f: impl FnOnce(Windows<'_>)) {
    let span = |axis: usize, position: usize| {
        let (input, output) = (input[axis], extents[axis]);
        let first = position * input / output;
        let count = ((position + 1) * input).div_ceil(output) - first;
        [first, count, 1, count]
    };
    with_windows(&input, &extents, span, f);
}

/// [`max_pool`](super::max_pool) to the spatial `extents`: the window at position `p` has the elements from
/// `p * spatial / extents`, rounded down, to `(p + 1) * spatial / extents`, rounded up, along each axis.
///
/// # Shapes
/// `input: [batch, channels, ..spatial]` with one to three spatial axes, `out` and
/// `index: [batch, channels, ..extents]`.
#[codelet(
    R, W, W,
    cuda = crate::kernels::ADAPTIVE_MAX_POOL,
    shape(out = with_spatial(input.shape(), extents)),
    shape(index = with_spatial(input.shape(), extents)),
    check(divides(&input.shape(), extents)),
    flops = input.len(),
    gradient = adaptive_max_pool_gradient(index),
    reference = crate::reference::pool::adaptive_max_pool,
    error = rounded
)]
pub fn adaptive_max_pool<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    index: ArrayViewMutD<u32>,
    extents: [usize; D],
) {
    with(spatial(input.shape()), extents, |windows| {
        let input = row_major(&input);
        write(out, |out| write(index, |index| windows.max(elements(&input), out, index)));
    });
}

fn adaptive_max_pool_gradient<T: Real, const D: usize, const N: usize>(
    rule: AdaptiveMaxPoolGradient<'_, T, D, N>,
) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let extents = spatial::<D>(&by_input.shape());
    *by_input = max_pool_backward_init(rule.scope, rule.gradient, rule.index, extents)?;
    Ok(())
}

/// The means over the windows of [`adaptive_max_pool`].
///
/// # Shapes
/// As for [`adaptive_max_pool`].
#[codelet(
    R, W,
    cuda = crate::kernels::ADAPTIVE_AVG_POOL,
    shape(out = with_spatial(input.shape(), extents)),
    check(divides(&input.shape(), extents)),
    flops = input.len(),
    gradient = adjoint(adaptive_avg_pool_backward),
    reference = crate::reference::pool::adaptive_avg_pool,
    error = sum(n = input.len() / (input.shape()[0] * input.shape()[1]).max(1) + 1)
)]
pub fn adaptive_avg_pool<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    extents: [usize; D],
) {
    with(spatial(input.shape()), extents, |windows| {
        let input = row_major(&input);
        write(out, |out| windows.mean(elements(&input), out));
    });
}

/// The gradient of [`adaptive_avg_pool`] by its input.
///
/// # Shapes
/// `gradient` as the output of [`adaptive_avg_pool`], `out` as its input.
#[codelet(
    R, W,
    cuda = crate::kernels::ADAPTIVE_AVG_POOL_BACKWARD,
    check(divides(&out.shape(), extents)),
    check(gradient.shape() == with_spatial(out.shape(), extents)),
    flops = out.len(),
    gradient = adjoint(adaptive_avg_pool),
    reference = crate::reference::pool::adaptive_avg_pool_backward,
    error = sum(n = gradient.len() / (gradient.shape()[0] * gradient.shape()[1]).max(1) + 1)
)]
pub fn adaptive_avg_pool_backward<T: Real, const D: usize>(
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    extents: [usize; D],
) {
    with(spatial(out.shape()), extents, |windows| {
        let gradient = row_major(&gradient);
        write(out, |out| windows.mean_backward(elements(&gradient), out));
    });
}
