//! Elements at given indices along an axis: [`gather`], [`index_select`], and their gradients, which scatter:
//! [`scatter_add`].
//!
//! An index that is not below the extent fails the task, with a message that names it.
//! [`gather_rows`](super::gather_rows) gathers whole rows, such as the samples of a batch.

use dahl::ndarray::{ArrayView1, ArrayViewD, ArrayViewMutD, Axis, Slice};
use dahl::prelude::*;
use dahl::simd;

use super::slice::with_extent;
use crate::cpu::compensated::{add, settle};
use crate::cpu::scratch::with_scratch;

/// Whether `index` fits `input`: no longer along the other axes.
fn reaches<const N: usize>(input: [usize; N], index: [usize; N], axis: usize) -> bool {
    axis < N && (0..N).all(|other| other == axis || index[other] <= input[other])
}

/// `index` as an index along an axis of `extent`.
///
/// # Panics
/// If it is out of range; the task fails with the panic's message.
#[inline(always)]
fn place(index: u32, position: usize, axis: usize, extent: usize) -> usize {
    let place = index as usize;
    assert!(place < extent, "index {index} at {position} of axis {axis} is not below the extent {extent}");
    place
}

/// `out[i, .., j] = input[i, .., index[i, .., j], .., j]`: replaces the index along `axis` by `index`, and keeps the
/// others, as PyTorch's `gather`.
///
/// # Shapes
/// `index`: of the rank of `input`, and no longer along the axes other than `axis`; `out` as `index`.
#[codelet(
    R, R, W,
    shape(out = index),
    check(reaches(input.shape(), index.shape(), axis)),
    cuda = crate::kernels::GATHER,
    gradient = gather_gradient(index),
    reference = crate::reference::moved::gather,
    error = rounded
)]
pub fn gather<T: Element>(
    input: ArrayViewD<T>,
    index: ArrayViewD<u32>,
    mut out: ArrayViewMutD<T>,
    axis: usize,
) {
    let extent = input.shape()[axis];
    let input = input.slice_each_axis(|other| within(other.axis, axis, extent, index.shape()));
    let lanes = out.lanes_mut(Axis(axis)).into_iter().zip(index.lanes(Axis(axis)));
    for ((mut out, index), input) in lanes.zip(input.lanes(Axis(axis))) {
        for (position, (out, &index)) in out.iter_mut().zip(index).enumerate() {
            *out = input[place(index, position, axis, extent)];
        }
    }
}

fn gather_gradient<T: Real, const N: usize>(rule: GatherGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    GatherBackward::under(rule.scope, rule.gradient, rule.index, by_input, rule.axis)
}

/// All of `axis`; of another axis, the extent of `index`.
fn within(other: Axis, axis: usize, extent: usize, index: &[usize]) -> Slice {
    Slice::from(0..if other.index() == axis { extent } else { index[other.index()] })
}

/// Adds to `out` the gradient of [`gather`] by its input: adds each element of `gradient` at the position that it was
/// gathered from, as PyTorch's `scatter_add`. Sums are compensated, however often an index occurs.
///
/// # Shapes
/// `index` and `gradient` as the output of [`gather`], `out` as its input.
#[codelet(
    R, R, REDUX,
    check(gradient.shape() == index.shape()),
    check(reaches(out.shape(), index.shape(), axis)),
    flops = gradient.len(),
    cuda = crate::kernels::GATHER_BACKWARD,
    gradient = gather_backward_gradient(index),
    reference = crate::reference::scattered::gather_backward,
    error = sum(n = gradient.shape()[axis] + 1)
)]
pub fn gather_backward<T: Real>(
    gradient: ArrayViewD<T>,
    index: ArrayViewD<u32>,
    mut out: ArrayViewMutD<T::Compute>,
    axis: usize,
) {
    let extent = out.shape()[axis];
    with_errors(&mut out, |out, errors| {
        let slices = |other: dahl::ndarray::AxisDescription| within(other.axis, axis, extent, index.shape());
        let mut out = out.slice_each_axis_mut(slices);
        let mut errors = errors.slice_each_axis_mut(slices);
        let sums = out.lanes_mut(Axis(axis)).into_iter().zip(errors.lanes_mut(Axis(axis)));
        let terms = gradient.lanes(Axis(axis)).into_iter().zip(index.lanes(Axis(axis)));
        for ((mut sums, mut errors), (gradient, index)) in sums.zip(terms) {
            for (position, (gradient, &index)) in gradient.iter().zip(index).enumerate() {
                let place = place(index, position, axis, extent);
                add(&mut sums[place], &mut errors[place], gradient.widen());
            }
        }
    });
}

/// `out[i, .., index[i, .., j], .., k] += values[i, .., j, .., k]`: adds each element of `values` at the index along `axis`
/// that `index` says, as PyTorch's `scatter_add_`. Sums are compensated, however often an index occurs; the tasks of several
/// calls add up, as a reduction. This is [`gather_backward`], whose gradient by `values` is [`gather`].
///
/// ```
/// use dahl::ops::scatter_add;
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let values = rt.from_vec([3], vec![1.0_f32, 2.0, 3.0])?;
/// let index = rt.from_vec([3], vec![1, 0, 1])?;
/// let mut out = rt.zeros([2])?;
/// scatter_add(&values, &index, &mut out, 0)?;
/// assert_eq!(out.to_vec()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `values` and `index` of one shape, which is no longer than `out` along the axes other than `axis`.
///
/// # Errors
/// If the shapes do not agree.
#[track_caller]
pub fn scatter_add<T: Real, const N: usize>(
    values: &Array<'_, T, N>,
    index: &Array<'_, u32, N>,
    out: &mut Array<'_, T, N>,
    axis: usize,
) -> dahl::Result<()> {
    gather_backward(values, index, out, axis)
}

fn gather_backward_gradient<T: Real, const N: usize>(
    rule: GatherBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let Some(by_gradient) = rule.by_gradient else { return Ok(()) };
    *by_gradient = gather_init(rule.scope, rule.gradient_out, rule.index, rule.axis)?;
    Ok(())
}

/// `out[.., i, ..] = input[.., indices[i], ..]`, along `axis`, as PyTorch's `index_select`.
///
/// # Shapes
/// `indices: [count]`, `out` as `input`, with extent `count` at `axis`.
#[codelet(
    R, R, W,
    shape(out = with_extent(input.shape(), axis, indices.len())),
    check(axis < input.shape().len()),
    cuda = crate::kernels::INDEX_SELECT,
    gradient = index_select_gradient(indices),
    reference = crate::reference::moved::index_select,
    error = rounded
)]
pub fn index_select<T: Element>(
    input: ArrayViewD<T>,
    indices: ArrayView1<u32>,
    mut out: ArrayViewMutD<T>,
    axis: usize,
) {
    let extent = input.shape()[axis];
    for (position, (mut out, &index)) in out.axis_iter_mut(Axis(axis)).zip(indices).enumerate() {
        out.assign(&input.index_axis(Axis(axis), place(index, position, axis, extent)));
    }
}

fn index_select_gradient<T: Real, const N: usize>(rule: IndexSelectGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    rule.scope.sum(by_input);
    IndexSelectBackward::under(rule.scope, rule.gradient, rule.indices, by_input, rule.axis)
}

/// Adds to `out` the gradient of [`index_select`] by its input: adds each slice of `gradient` at the position that it
/// was taken from. Sums are compensated, however often an index occurs.
///
/// # Shapes
/// `gradient` as the output of [`index_select`], `indices: [count]`, `out` as its input.
#[codelet(
    R, R, REDUX,
    check(axis < out.shape().len()),
    check(gradient.shape() == with_extent(out.shape(), axis, indices.len())),
    flops = gradient.len(),
    cuda = crate::kernels::INDEX_SELECT_BACKWARD,
    gradient = index_select_backward_gradient(indices),
    reference = crate::reference::scattered::index_select_backward,
    error = sum(n = indices.len() + 1)
)]
pub fn index_select_backward<T: Real>(
    gradient: ArrayViewD<T>,
    indices: ArrayView1<u32>,
    mut out: ArrayViewMutD<T::Compute>,
    axis: usize,
) {
    let extent = out.shape()[axis];
    let slice_len = gradient.len() / indices.len().max(1);
    with_scratch([extent + 1, indices.len()], |[ends, positions]: [&mut [usize]; 2]| {
        sort_by_place(ends, positions, indices, axis);
        with_scratch([slice_len], |[errors]: [&mut [T::Compute]; 1]| {
            let mut begin = 0;
            for (place, &end) in ends[..extent].iter().enumerate() {
                let positions = &positions[std::mem::replace(&mut begin, end)..end];
                if positions.is_empty() {
                    continue;
                }
                let mut sums = out.index_axis_mut(Axis(axis), place);
                errors.fill(T::Compute::ZERO);
                for &position in positions {
                    let gradient = gradient.index_axis(Axis(axis), position);
                    match (sums.as_slice_mut(), gradient.as_slice()) {
                        (Some(sums), Some(gradient)) => simd::dispatch(AddSlice { sums, errors, gradient }),
                        _ => {
                            for ((sum, error), gradient) in sums.iter_mut().zip(&mut *errors).zip(&gradient) {
                                add(sum, error, gradient.widen());
                            }
                        }
                    }
                }
                sums.iter_mut().zip(&*errors).for_each(|(sum, &error)| settle(sum, error));
            }
        });
    });
}

/// Sorts the positions of `indices` by the place that they have: those of place `p` are `positions[ends[p - 1]..ends[p]]`, in
/// their order. (A counting sort.)
fn sort_by_place(ends: &mut [usize], positions: &mut [usize], indices: ArrayView1<'_, u32>, axis: usize) {
    let extent = ends.len() - 1;
    ends.fill(0);
    for (position, &index) in indices.iter().enumerate() {
        ends[place(index, position, axis, extent) + 1] += 1;
    }
    for place in 0..extent {
        ends[place + 1] += ends[place];
    }
    // Each count becomes the begin of its place, and, position by position, its end.
    for (position, &index) in indices.iter().enumerate() {
        let next = &mut ends[index as usize];
        positions[*next] = position;
        *next += 1;
    }
}

/// Adds a slice of the gradient to the sums of its place, and the rounding errors to theirs.
struct AddSlice<'a, T: Real> {
    sums: &'a mut [T::Compute],
    errors: &'a mut [T::Compute],
    gradient: &'a [T],
}

impl<T: Real> simd::Vectorised for AddSlice<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((sum, error), gradient) in self.sums.iter_mut().zip(self.errors).zip(self.gradient) {
            add(sum, error, gradient.widen());
        }
    }
}

fn index_select_backward_gradient<T: Real, const N: usize>(
    rule: IndexSelectBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let Some(by_gradient) = rule.by_gradient else { return Ok(()) };
    *by_gradient = index_select_init(rule.scope, rule.gradient_out, rule.indices, rule.axis)?;
    Ok(())
}

/// Calls `f` with `sums` and with zeros of the same shape for the rounding errors, and then adds the errors to the
/// sums.
#[inline(always)]
fn with_errors<C: Real<Compute = C>>(
    sums: &mut ArrayViewMutD<'_, C>,
    f: impl FnOnce(&mut ArrayViewMutD<'_, C>, &mut ArrayViewMutD<'_, C>),
) {
    with_scratch([sums.len()], |[errors]: [&mut [C]; 1]| {
        errors.fill(C::ZERO);
        let mut errors = ArrayViewMutD::from_shape(sums.raw_dim(), errors).expect("as many errors as sums");
        f(sums, &mut errors);
        sums.zip_mut_with(&errors, |sum, &error| settle(sum, error));
    });
}
