//! The gradients of [`softmax`](super::softmax()) and [`log_softmax`](super::log_softmax), from their outputs.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD, Axis};
use dahl::prelude::*;
use dahl::simd;

use crate::cpu::scratch::with_scratch;

/// The gradient of [`softmax`](super::softmax()) by its input:
/// `out[i] = output[i] * (gradient[i] - sum of output[j] * gradient[j])`, along `axis`.
///
/// # Shapes
/// `output` (that of [`softmax`](super::softmax())), `gradient` and `out` of one shape.
#[codelet(
    R, R, W,
    shape(out = output),
    check(axis < output.shape().len() && gradient.shape() == output.shape()),
    flops = 4 * output.len(),
    cuda = crate::kernels::SOFTMAX_BACKWARD,
    reference = crate::reference::softmax::softmax_backward,
    error = sum(n = output.shape()[axis] + 4, terms = crate::reference::softmax::softmax_backward_terms)
)]
pub fn softmax_backward<T: Real>(
    output: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
) {
    for_each_lane(output, gradient, out, axis, |outputs, gradients| {
        let sum = simd::dot(outputs, gradients);
        for (output, gradient) in outputs.iter_mut().zip(gradients) {
            *output *= *gradient - sum;
        }
    });
}

/// The gradient of [`log_softmax`](super::log_softmax) by its input:
/// `out[i] = gradient[i] - exp(output[i]) * sum of gradient[j]`, along `axis`.
///
/// # Shapes
/// `output` (that of [`log_softmax`](super::log_softmax)), `gradient` and `out` of one shape.
#[codelet(
    R, R, W,
    shape(out = output),
    check(axis < output.shape().len() && gradient.shape() == output.shape()),
    flops = 4 * output.len(),
    cuda = crate::kernels::LOG_SOFTMAX_BACKWARD,
    reference = crate::reference::softmax::log_softmax_backward,
    error = sum(n = output.shape()[axis] + 8, terms = crate::reference::softmax::log_softmax_backward_terms)
)]
pub fn log_softmax_backward<T: Real>(
    output: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
) {
    for_each_lane(output, gradient, out, axis, |outputs, gradients| {
        let sum = simd::sum(gradients);
        for (output, gradient) in outputs.iter_mut().zip(gradients) {
            *output = *gradient - output.exp() * sum;
        }
    });
}

/// Calls `f` with each line of `output` and of `gradient` along `axis`, widened; writes what it leaves in the first to
/// `out`.
#[inline(always)]
fn for_each_lane<T: Real>(
    output: ArrayViewD<'_, T>,
    gradient: ArrayViewD<'_, T>,
    mut out: ArrayViewMutD<'_, T>,
    axis: usize,
    f: impl Fn(&mut [T::Compute], &mut [T::Compute]),
) {
    let extent = out.shape()[axis];
    with_scratch([extent, extent], |[outputs, gradients]: [&mut [T::Compute]; 2]| {
        let inputs = output.lanes(Axis(axis)).into_iter().zip(gradient.lanes(Axis(axis)));
        for ((output, gradient), mut out) in inputs.zip(out.lanes_mut(Axis(axis))) {
            outputs.iter_mut().zip(output).for_each(|(to, from)| *to = from.widen());
            gradients.iter_mut().zip(gradient).for_each(|(to, from)| *to = from.widen());
            f(outputs, gradients);
            out.iter_mut().zip(&*outputs).for_each(|(to, from)| *to = T::narrow(*from));
        }
    });
}
