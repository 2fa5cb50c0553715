//! [`bias`]: adds a vector along an axis; and its gradient.

use dahl::ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD};
use dahl::prelude::*;
use dahl::simd;

use crate::cpu::compute::computes_in_itself;
use crate::cpu::row_major::{add_sums, around, elements, row_major, write};
use crate::cpu::scratch::with_scratch;

/// `out = input + bias`, where `bias[i]` is added to everything at index `i` of `axis`: axis 1 for images and for
/// matrices of samples.
///
/// # Shapes
/// `input: [.., extent, ..]` with `extent` at `axis`, `bias: [extent]`, `out` as `input`.
#[codelet(
    R, R, W,
    shape(out = input),
    check(axis < input.shape().len() && input.shape()[axis] == bias.len()),
    in_place_kernel = bias_over,
    rows(axis, whole = [bias]),
    flops = input.len(),
    cuda = crate::kernels::BIAS,
    gradient = bias_gradient(),
    reference = crate::reference::bias::bias,
    error = rounded
)]
pub fn bias<T: Real>(input: ArrayViewD<T>, bias: ArrayView1<T>, out: ArrayViewMutD<T>, axis: usize) {
    let [_, extent, after] = around(input.shape(), axis);
    let (input, bias) = (row_major(&input), row_major(&bias));
    let (input, bias) = (elements(&input), elements(&bias));
    write(out, |out| {
        if out.is_empty() {
            return;
        }
        if !computes_in_itself::<T>() {
            out.copy_from_slice(input);
            return add_widened(out, bias, after);
        }
        for (input, out) in input.chunks_exact(extent * after).zip(out.chunks_exact_mut(extent * after)) {
            if after == 1 {
                for ((out, input), bias) in out.iter_mut().zip(input).zip(bias) {
                    *out = T::narrow(input.widen() + bias.widen());
                }
                continue;
            }
            for ((input, out), bias) in input.chunks_exact(after).zip(out.chunks_exact_mut(after)).zip(bias) {
                let bias = bias.widen();
                for (out, input) in out.iter_mut().zip(input) {
                    *out = T::narrow(input.widen() + bias);
                }
            }
        }
    });
}

fn bias_gradient<T: Real, const N: usize>(rule: BiasGradient<'_, T, N>) -> dahl::Result<()> {
    if let Some(by_input) = rule.by_input {
        *by_input = rule.scope.same(rule.gradient)?;
    }
    if let Some(by_bias) = rule.by_bias {
        if rule.scope.sum(by_bias) {
            bias_backward(rule.gradient, by_bias, rule.axis)?;
        } else {
            *by_bias = bias_backward_init(rule.scope, rule.gradient, rule.axis)?;
        }
    }
    Ok(())
}

/// [`bias`] in place.
#[inline(always)]
fn bias_over<T: Real>(target: ArrayViewMutD<'_, T>, bias: ArrayView1<'_, T>, axis: usize) {
    let [_, extent, after] = around(target.shape(), axis);
    let bias = row_major(&bias);
    let bias = elements(&bias);
    write(target, |target| {
        if target.is_empty() {
            return;
        }
        if !computes_in_itself::<T>() {
            return add_widened(target, bias, after);
        }
        for block in target.chunks_exact_mut(extent * after) {
            if after == 1 {
                for (element, bias) in block.iter_mut().zip(bias) {
                    *element = T::narrow(element.widen() + bias.widen());
                }
                continue;
            }
            for (run, bias) in block.chunks_exact_mut(after).zip(bias) {
                let bias = bias.widen();
                for element in run {
                    *element = T::narrow(element.widen() + bias);
                }
            }
        }
    });
}

/// About how many elements are widened at a time; they stay in the first-level cache.
const WIDENED: usize = 1024;

/// Adds `bias[i]` to everything at index `i` of the middle axis of `[.., extent, after]`, in the compute type. Neither
/// is empty.
fn add_widened<T: Real>(target: &mut [T], bias: &[T], after: usize) {
    // The elements of a row have different biases; those of a longer line have one bias.
    let line = if after == 1 { bias.len() } else { after };
    let lines = (WIDENED / line).max(1);
    with_scratch([bias.len(), line * lines], |[wide_bias, wide]: [&mut [T::Compute]; 2]| {
        T::widen_slice(bias, wide_bias);
        for (block, target) in target.chunks_mut(line * lines).enumerate() {
            let wide = &mut wide[..target.len()];
            T::widen_slice(target, wide);
            for (index, line) in wide.chunks_exact_mut(line).enumerate() {
                if after == 1 {
                    for (element, bias) in line.iter_mut().zip(&*wide_bias) {
                        *element += *bias;
                    }
                } else {
                    let bias = wide_bias[(block * lines + index) % wide_bias.len()];
                    for element in line {
                        *element += bias;
                    }
                }
            }
            T::narrow_slice(wide, target);
        }
    });
}

/// The gradient of [`bias`] by its vector: adds to `out[i]` the sum of everything at index `i` of `axis`.
///
/// # Shapes
/// `gradient: [.., extent, ..]` with `extent` at `axis`, `out: [extent]`.
#[codelet(
    R, REDUX,
    shape(out = [gradient.shape().get(axis).copied().unwrap_or(0)]),
    check(axis < gradient.shape().len()),
    flops = gradient.len(),
    cuda = crate::kernels::BIAS_BACKWARD,
    gradient = bias_backward_gradient(),
    reference = crate::reference::bias::bias_backward,
    error = sum(n = gradient.len() / out.len().max(1) + 1)
)]
pub fn bias_backward<T: Real>(gradient: ArrayViewD<T>, out: ArrayViewMut1<T::Compute>, axis: usize) {
    let [before, extent, after] = around(gradient.shape(), axis);
    let gradient = row_major(&gradient);
    let gradient = elements(&gradient);
    write(out, |out| {
        if after == 1 {
            add_sums(gradient, [1, before, extent], out);
        } else if !gradient.is_empty() {
            with_scratch([before * extent], |[sums]: [&mut [T::Compute]; 1]| {
                for (sum, run) in sums.iter_mut().zip(gradient.chunks_exact(after)) {
                    *sum = simd::sum(run);
                }
                add_sums(sums, [1, before, extent], out);
            });
        }
    });
}

fn bias_backward_gradient<T: Real, const N: usize>(rule: BiasBackwardGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_gradient) = rule.by_gradient else { return Ok(()) };
    let mut shape = [1; N];
    shape[rule.axis] = rule.gradient_out.len();
    let zeros = rule.scope.detached().zeros(by_gradient.shape())?;
    *by_gradient = super::add_init(rule.scope, &zeros, &*rule.gradient_out.reshaped(shape)?)?;
    Ok(())
}
