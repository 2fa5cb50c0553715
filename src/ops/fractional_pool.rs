//! [`fractional_max_pool`]: the maxima of windows at random distances (Graham 2014, *Fractional Max-Pooling*).

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use super::geometry::{spatial, with_spatial};
use super::pool::{is_countable, max_pool_backward_init};
use super::random::Philox;
use crate::cpu::philox::uniform_pair;
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::windows::with_windows;

/// Whether so many windows of this size fit side by side, and overlap by at most all but one element.
fn fits<const D: usize>(input: &[usize], size: [usize; D], extents: [usize; D]) -> bool {
    is_countable::<D>(input)
        && (0..D).all(|axis| {
            let needed = size[axis].checked_add(extents[axis]);
            size[axis] > 0 && extents[axis] > 0 && needed.is_some_and(|needed| needed <= input[axis + 2] + 1)
        })
}

/// The first element of a window: distances are 1 or 2 numbers whose mean is `alpha`; the last window ends at the end.
fn start(input: usize, size: usize, count: usize, uniform: f64, position: usize) -> usize {
    if position + 1 == count {
        return input - size;
    }
    let alpha = (input - size) as f64 / (count - 1) as f64;
    ((position as f64 + uniform) * alpha) as usize - (uniform * alpha) as usize
}

/// [`max_pool`](super::max_pool) to the spatial `extents` by windows of `size` whose distances are random, of two
/// successive numbers, with other distances in each channel of each sample, as PyTorch's.
///
/// The windows of a channel depend on `numbers` and on the place of the channel in the batch alone: axis `a` of channel
/// `c` of sample `n` uses the number `(n * channels + c) * axes + a`.
///
/// # Shapes
/// `input: [batch, channels, ..spatial]` with one to three spatial axes, `out` and
/// `index: [batch, channels, ..extents]`, where `size + extents - 1` is at most `spatial`.
#[codelet(
    R, W, W,
    cuda = crate::kernels::FRACTIONAL_MAX_POOL,
    shape(out = with_spatial(input.shape(), extents)),
    shape(index = with_spatial(input.shape(), extents)),
    check(fits(&input.shape(), size, extents)),
    flops = out.len() * size.iter().product::<usize>(),
    gradient = fractional_max_pool_gradient(index),
    reference = crate::reference::pool::fractional_max_pool,
    error = rounded
)]
pub fn fractional_max_pool<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    index: ArrayViewMutD<u32>,
    size: [usize; D],
    extents: [usize; D],
    numbers: Philox,
) {
    let from = spatial::<D>(input.shape());
    let (len, positions) = (from.iter().product(), extents.iter().product());
    let input = row_major(&input);
    let input = elements(&input);
    write(out, |out| {
        write(index, |index| {
            let outs = out.chunks_exact_mut(positions).zip(index.chunks_exact_mut(positions));
            for (plane, (input, (out, index))) in input.chunks_exact(len).zip(outs).enumerate() {
                let uniform = |axis: usize| {
                    let number = numbers.offset.wrapping_add((plane * D + axis) as u64);
                    uniform_pair(numbers.seed, number / 2)[(number % 2) as usize]
                };
                let uniforms: [f64; D] = std::array::from_fn(uniform);
                let span = |axis: usize, position: usize| {
                    [
                        start(from[axis], size[axis], extents[axis], uniforms[axis], position),
                        size[axis],
                        1,
                        size[axis],
                    ]
                };
                with_windows(&from, &extents, span, |windows| windows.max(input, out, index));
            }
        });
    });
}

fn fractional_max_pool_gradient<T: Real, const D: usize, const N: usize>(
    rule: FractionalMaxPoolGradient<'_, T, D, N>,
) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let extents = spatial::<D>(&by_input.shape());
    *by_input = max_pool_backward_init(rule.scope, rule.gradient, rule.index, extents)?;
    Ok(())
}
