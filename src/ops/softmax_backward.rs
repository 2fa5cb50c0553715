//! The gradients of [`softmax`](super::softmax()) and [`log_softmax`](super::log_softmax), from their outputs.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD, Axis};
use dahl::prelude::*;
use dahl::simd;

use super::{exp_init, mul_init, neg_init, sub_init, sum_axis_init};
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
    rows(axis),
    flops = 4 * output.len(),
    cuda = crate::kernels::SOFTMAX_BACKWARD,
    gradient = softmax_backward_gradient(output, gradient),
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

fn softmax_backward_gradient<T: Real, const N: usize>(
    rule: SoftmaxBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let SoftmaxBackwardGradient { output, gradient, gradient_out, by_output, by_gradient, axis, scope } =
        rule;
    if let Some(by_output) = by_output {
        // gradient_out * (gradient - sum of output * gradient) - gradient * sum of output * gradient_out
        let mean = sum_axis_init(scope, &mul_init(scope, output, gradient)?, axis)?;
        let first = mul_init(scope, gradient_out, &sub_init(scope, gradient, &mean)?)?;
        let mean = sum_axis_init(scope, &mul_init(scope, output, gradient_out)?, axis)?;
        *by_output = sub_init(scope, &first, &mul_init(scope, gradient, &mean)?)?;
    }
    if let Some(by_gradient) = by_gradient {
        *by_gradient = softmax_backward_init(scope, output, gradient_out, axis)?;
    }
    Ok(())
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
    rows(axis),
    flops = 4 * output.len(),
    cuda = crate::kernels::LOG_SOFTMAX_BACKWARD,
    gradient = log_softmax_backward_gradient(output, gradient),
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

fn log_softmax_backward_gradient<T: Real, const N: usize>(
    rule: LogSoftmaxBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let LogSoftmaxBackwardGradient { output, gradient, gradient_out, by_output, by_gradient, axis, scope } =
        rule;
    // exp(output) * gradient_out
    let weighted = mul_init(scope, &exp_init(scope, output)?, gradient_out)?;
    if let Some(by_output) = by_output {
        *by_output = neg_init(scope, &mul_init(scope, &weighted, &sum_axis_init(scope, gradient, axis)?)?)?;
    }
    if let Some(by_gradient) = by_gradient {
        *by_gradient = sub_init(scope, gradient_out, &sum_axis_init(scope, &weighted, axis)?)?;
    }
    Ok(())
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
