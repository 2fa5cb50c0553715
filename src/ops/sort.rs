//! Elements in the order of their values, with their indices: [`sort`] and [`top_k`].
//!
//! NaN counts as larger than everything, as in PyTorch. Equal elements stay in the order of their indices.

use std::cmp::Ordering;

use dahl::ndarray::{ArrayViewD, ArrayViewMutD, Axis};
use dahl::prelude::*;

use super::GatherBackward;
use super::slice::with_extent;
use crate::cpu::scratch::with_scratch;

/// The order of sorted elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(u8)]
pub enum SortOrder {
    /// From the smallest to the largest.
    Ascending,
    /// From the largest to the smallest.
    Descending,
}

/// Whether 32 bits hold an index along `axis`.
fn has_indices(shape: &[usize], axis: usize) -> bool {
    shape.get(axis).is_some_and(|&extent| u32::try_from(extent).is_ok())
}

/// `values = ` the elements of `input` in this order, along `axis`, and `indices = ` where each was.
///
/// ```
/// use dahl::ops::{SortOrder, sort_init};
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let x = arena.from_slice([4], &[2.0_f32, 3.0, 1.0, 2.0])?;
/// let (values, indices) = sort_init(&arena, &x, 0, SortOrder::Descending)?;
/// assert_eq!(values.to_vec()?, [3.0, 2.0, 2.0, 1.0]);
/// assert_eq!(indices.to_vec()?, [1, 0, 3, 2]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `input`, `values` and `indices` of one shape.
#[codelet(
    R, W, W,
    shape(values = input),
    shape(indices = input),
    check(has_indices(&input.shape(), axis)),
    cpu_only,
    gradient = sort_gradient(indices),
    reference = crate::reference::sort::sort,
    error = rounded
)]
pub fn sort<T: Element>(
    input: ArrayViewD<T>,
    values: ArrayViewMutD<T>,
    indices: ArrayViewMutD<u32>,
    axis: usize,
    order: SortOrder,
) {
    in_order(input, values, indices, axis, order);
}

fn sort_gradient<T: Real, const N: usize>(rule: SortGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    GatherBackward::under(rule.scope, rule.gradient, rule.indices, by_input, rule.axis)
}

/// `values = ` the `count` largest elements of `input`, from the largest on, along `axis`, and `indices = ` where each was.
///
/// # Shapes
/// `values` and `indices` as `input`, with extent `count` at `axis`, which is at most its extent there.
#[codelet(
    R, W, W,
    shape(values = with_extent(input.shape(), axis, count)),
    shape(indices = with_extent(input.shape(), axis, count)),
    check(has_indices(&input.shape(), axis)),
    check(count <= input.shape()[axis]),
    cpu_only,
    gradient = top_k_gradient(indices),
    reference = crate::reference::sort::top_k,
    error = rounded
)]
pub fn top_k<T: Element>(
    input: ArrayViewD<T>,
    values: ArrayViewMutD<T>,
    indices: ArrayViewMutD<u32>,
    count: usize,
    axis: usize,
) {
    assert_eq!(values.shape()[axis], count);
    in_order(input, values, indices, axis, SortOrder::Descending);
}

fn top_k_gradient<T: Real, const N: usize>(rule: TopKGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    GatherBackward::under(rule.scope, rule.gradient, rule.indices, by_input, rule.axis)
}

/// Writes the first elements of each line along `axis` in this order, and where they were: as many as the outputs hold.
fn in_order<T: Element>(
    input: ArrayViewD<'_, T>,
    mut values: ArrayViewMutD<'_, T>,
    mut indices: ArrayViewMutD<'_, u32>,
    axis: usize,
    order: SortOrder,
) {
    let (extent, count) = (input.shape()[axis], values.shape()[axis]);
    with_scratch([extent], |[line]: [&mut [T]; 1]| {
        with_scratch([extent], |[places]: [&mut [u32]; 1]| {
            let outputs = values.lanes_mut(Axis(axis)).into_iter().zip(indices.lanes_mut(Axis(axis)));
            for (input, (values, indices)) in input.lanes(Axis(axis)).into_iter().zip(outputs) {
                line.iter_mut().zip(input).for_each(|(to, from)| *to = *from);
                places.iter_mut().zip(0..).for_each(|(place, index)| *place = index);
                // No two are equal, so an unstable algorithm will do.
                let compare = |first: &u32, second: &u32| {
                    let compared = compare(line[*first as usize], line[*second as usize]);
                    let compared = if order == SortOrder::Descending { compared.reverse() } else { compared };
                    compared.then(first.cmp(second))
                };
                if 0 < count && count < extent {
                    places.select_nth_unstable_by(count - 1, compare);
                }
                places[..count].sort_unstable_by(compare);
                for ((value, index), place) in values.into_iter().zip(indices).zip(&*places) {
                    (*value, *index) = (line[*place as usize], *place);
                }
            }
        });
    });
}

/// The order of values: NaN is larger than all others, and equal to NaN.
fn compare<T: Element>(first: T, second: T) -> Ordering {
    #[allow(clippy::eq_op, reason = "NaN is what differs from itself")]
    let is_nan = |value: T| value != value;
    first.partial_cmp(&second).unwrap_or_else(|| is_nan(first).cmp(&is_nan(second)))
}
