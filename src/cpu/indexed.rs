//! Arrays whose elements are those of another array at an index that is found along each axis alone: [`gather`], and
//! its adjoint [`scatter_add`].
//!
//! An index function gives the index in the other array, from the axis and the index in the first.

use bytemuck::cast_slice_mut;
use dahl_core::{Element, Real};

use super::compute::computes_in_itself;
use super::scratch::with_scratch;

/// `out[i, .., j] = input[index(0, i), .., index(last, j)]`.
///
/// # Shapes
/// `input` and `out` have the extents given, at least one.
#[inline(always)]
pub(crate) fn gather<T: Element>(
    input: &[T],
    [from, to]: [&[usize]; 2],
    out: &mut [T],
    index: impl Fn(usize, usize) -> usize + Copy,
) {
    with_last(to, index, |last| {
        each_line(from, to, index, |line, at| {
            let line = &input[line * from[from.len() - 1]..];
            let outs = &mut out[at * last.len()..][..last.len()];
            outs.iter_mut().zip(last).for_each(|(out, &index)| *out = line[index]);
        });
    });
}

/// `out[index(0, i), .., index(last, j)] += gradient[i, .., j]`, from zeros, in the compute type and in row-major
/// order.
///
/// # Shapes
/// `gradient` as the output of [`gather`], `out` as its input.
#[inline(always)]
pub(crate) fn scatter_add<T: Real>(
    gradient: &[T],
    [from, to]: [&[usize]; 2],
    out: &mut [T],
    index: impl Fn(usize, usize) -> usize + Copy,
) {
    let in_place = computes_in_itself::<T>();
    with_scratch([if in_place { 0 } else { out.len() }], |[wide]: [&mut [T::Compute]; 1]| {
        let sums: &mut [T::Compute] = if in_place { cast_slice_mut(&mut *out) } else { &mut *wide };
        sums.fill(T::Compute::ZERO);
        with_last(to, index, |last| {
            each_line(from, to, index, |line, at| {
                let sums = &mut sums[line * from[from.len() - 1]..];
                let gradient = &gradient[at * last.len()..][..last.len()];
                gradient.iter().zip(last).for_each(|(gradient, &index)| sums[index] += gradient.widen());
            });
        });
        if !in_place {
            T::narrow_slice(wide, out);
        }
    });
}

/// Calls `f` with the indices along the last axis.
#[inline(always)]
fn with_last(to: &[usize], index: impl Fn(usize, usize) -> usize, f: impl FnOnce(&[usize])) {
    let axis = to.len() - 1;
    with_scratch([to[axis]], |[last]: [&mut [usize]; 1]| {
        last.iter_mut().enumerate().for_each(|(position, to)| *to = index(axis, position));
        f(last);
    });
}

/// Calls `f` with the number of a line of `from`, and that of the line of `to` that it belongs to, for each of the
/// latter.
#[inline(always)]
fn each_line(
    from: &[usize],
    to: &[usize],
    index: impl Fn(usize, usize) -> usize,
    mut f: impl FnMut(usize, usize),
) {
    let outer = to.len() - 1;
    let lines: usize = to[..outer].iter().product();
    for at in 0..lines {
        let (mut rest, mut line, mut step) = (at, 0, 1);
        for axis in (0..outer).rev() {
            line += index(axis, rest % to[axis]) * step;
            step *= from[axis];
            rest /= to[axis];
        }
        f(line, at);
    }
}
