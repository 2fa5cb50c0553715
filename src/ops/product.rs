//! Products of all elements or along an axis: [`product`], [`product_axis`], and their gradients.
//!
//! A product has an exponent of its own, so it overflows or underflows only if its value does. In PyTorch and NumPy,
//! intermediate products overflow and underflow. Each factor costs one rounding.

use dahl::ndarray::{ArrayView0, ArrayViewD, ArrayViewMut0, ArrayViewMutD};
use dahl::prelude::*;

use super::reduce::reduced;
use crate::cpu::row_major::{around, elements, fold_lanes, map_lanes, row_major, write};
use crate::cpu::scaled;

/// `out = ` the product of all elements; 1 if there are none.
///
/// # Shapes
/// `input`: any, `out: []`.
#[codelet(
    R, W,
    shape(out = []),
    flops = input.len(),
    cuda = crate::kernels::PRODUCT,
    gradient = product_gradient(input),
    reference = crate::reference::product::product,
    error = sum(n = input.len())
)]
pub fn product<T: Real>(input: &[T], mut out: ArrayViewMut0<T>) {
    out[[]] = T::narrow(scaled::product(input.iter().map(|value| value.widen())).value());
}

fn product_gradient<T: Real, const N: usize>(rule: ProductGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    product_backward(rule.input, rule.gradient, by_input)
}

/// `out = ` the products along `axis`; 1 if its extent is 0.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`.
#[codelet(
    R, W,
    shape(out = reduced(input.shape(), axis)),
    check(axis < input.shape().len()),
    flops = input.len(),
    cuda = crate::kernels::PRODUCT_AXIS,
    gradient = product_axis_gradient(input),
    reference = crate::reference::product::product_axis,
    error = sum(n = input.shape()[axis])
)]
pub fn product_axis<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    write(out, |out| {
        fold_lanes(elements(&input), extents, out, |lane| {
            T::narrow(scaled::product(lane.iter().map(|value| value.widen())).value())
        });
    });
}

fn product_axis_gradient<T: Real, const N: usize>(rule: ProductAxisGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    product_axis_backward(rule.input, rule.gradient, by_input, rule.axis)
}

/// The gradient of [`product`] by its input: `out[i] = gradient * product of input[j], j != i`, also where elements
/// are 0.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient: []`.
#[codelet(
    R, R, W,
    shape(out = input),
    flops = 4 * input.len(),
    cuda = crate::kernels::PRODUCT_BACKWARD,
    reference = crate::reference::product::product_backward,
    error = sum(n = input.len() + 1)
)]
pub fn product_backward<T: Real>(input: &[T], gradient: ArrayView0<T>, out: &mut [T]) {
    let extents = [1, input.len(), 1];
    map_lanes(input, extents, out, |lane| scaled::products_of_others(lane, gradient[[]].widen()));
}

/// The gradient of [`product_axis`] by its input: `out[i] = gradient * product of input[j], j != i`, along `axis`.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient` the same with extent 1 at `axis`.
#[codelet(
    R, R, W,
    shape(out = input),
    check(axis < input.shape().len()),
    check(gradient.shape() == reduced(input.shape(), axis)),
    flops = 4 * input.len(),
    cuda = crate::kernels::PRODUCT_AXIS_BACKWARD,
    reference = crate::reference::product::product_axis_backward,
    error = sum(n = input.shape()[axis] + 1)
)]
pub fn product_axis_backward<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    let mut gradients = gradient.iter();
    write(out, |out| {
        map_lanes(elements(&input), extents, out, |lanes| {
            for (lane, gradient) in lanes.chunks_exact_mut(extents[1]).zip(&mut gradients) {
                scaled::products_of_others(lane, gradient.widen());
            }
        });
    });
}
