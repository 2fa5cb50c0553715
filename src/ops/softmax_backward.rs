//! The gradients of [`softmax`](super::softmax()) and [`log_softmax`](super::log_softmax), from their outputs.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD, Axis};
use dahl::prelude::*;
use dahl::simd;

use super::{exp_init, mul_init, neg_init, sub_init, sum_axis_init};
use crate::cpu::gemm::Cores;
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::scratch::with_scratch;
use crate::cpu::shared_rows::share_rows;

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
    parallel = softmax_backward_on_cores,
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
    lanes_on(Cores::One, [output, gradient], out, axis, OfSoftmax);
}

/// [`softmax_backward`] on several cores, which share the lanes if these lie side by side.
fn softmax_backward_on_cores<T: Real>(
    output: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
) {
    lanes_on(Cores::Pool, [output, gradient], out, axis, OfSoftmax);
}

#[derive(Clone, Copy)]
struct OfSoftmax;

impl Lane for OfSoftmax {
    #[inline(always)]
    fn map<C: Real<Compute = C>>(self, outputs: &mut [C], gradients: &[C]) {
        let sum = simd::dot(&*outputs, gradients);
        for (output, gradient) in outputs.iter_mut().zip(gradients) {
            *output *= *gradient - sum;
        }
    }
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
    parallel = log_softmax_backward_on_cores,
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
    lanes_on(Cores::One, [output, gradient], out, axis, OfLogSoftmax);
}

/// [`log_softmax_backward`] on several cores, which share the lanes if these lie side by side.
fn log_softmax_backward_on_cores<T: Real>(
    output: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
) {
    lanes_on(Cores::Pool, [output, gradient], out, axis, OfLogSoftmax);
}

#[derive(Clone, Copy)]
struct OfLogSoftmax;

impl Lane for OfLogSoftmax {
    #[inline(always)]
    fn map<C: Real<Compute = C>>(self, outputs: &mut [C], gradients: &[C]) {
        let sum = simd::sum(gradients);
        for (output, gradient) in outputs.iter_mut().zip(gradients) {
            *output = *gradient - output.exp() * sum;
        }
    }
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

/// A gradient along one line.
trait Lane: Copy + Sync {
    /// Replaces the outputs of a line by the gradient by its inputs.
    fn map<C: Real<Compute = C>>(self, outputs: &mut [C], gradients: &[C]);
}

/// Writes the gradient along each line along `axis`, of the outputs and the gradients by them. Several cores share the lines,
/// if they lie side by side.
fn lanes_on<T: Real>(
    cores: Cores,
    inputs: [ArrayViewD<'_, T>; 2],
    mut out: ArrayViewMutD<'_, T>,
    axis: usize,
    map: impl Lane,
) {
    let extent = out.shape()[axis];
    if out.shape()[axis + 1..].iter().all(|&after| after == 1) {
        let inputs = inputs.each_ref().map(row_major);
        let inputs = inputs.each_ref().map(elements);
        let whole_bytes = out.len() * size_of::<T>();
        return write(out, |out| {
            share_rows(cores, [extent; 2], out, |rows, out| {
                let inputs = inputs.map(|input| &input[rows.start * extent..rows.end * extent]);
                simd::past_caches(out, whole_bytes, |out| simd::dispatch(Rows { inputs, extent, out, map }));
            });
        });
    }
    let [output, gradient] = inputs;
    with_scratch([extent, extent], |[outputs, gradients]: [&mut [T::Compute]; 2]| {
        let inputs = output.lanes(Axis(axis)).into_iter().zip(gradient.lanes(Axis(axis)));
        for ((output, gradient), mut out) in inputs.zip(out.lanes_mut(Axis(axis))) {
            outputs.iter_mut().zip(output).for_each(|(to, from)| *to = from.widen());
            gradients.iter_mut().zip(gradient).for_each(|(to, from)| *to = from.widen());
            map.map(outputs, gradients);
            out.iter_mut().zip(&*outputs).for_each(|(to, from)| *to = T::narrow(*from));
        }
    });
}

/// The gradient along lines whose elements lie side by side.
struct Rows<'a, 'o, T, M> {
    inputs: [&'a [T]; 2],
    extent: usize,
    out: &'a mut simd::PastCaches<'o, T>,
    map: M,
}

impl<T: Real, M: Lane> simd::Vectorised for Rows<'_, '_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { inputs: [output, gradient], extent, out, map } = self;
        with_scratch([extent, extent], |[outputs, gradients]: [&mut [T::Compute]; 2]| {
            for (output, gradient) in output.chunks_exact(extent).zip(gradient.chunks_exact(extent)) {
                T::widen_slice(output, outputs);
                T::widen_slice(gradient, gradients);
                map.map(outputs, gradients);
                out.narrow(outputs);
            }
        });
    }
}
