//! Rows that belong together: [`segment_sum`] adds the rows of each segment, [`segment_softmax`] normalises them. The segment
//! of a row is a number, and rows are in no particular order. In a graph, a row is an edge and its segment the node where
//! the edge ends.
//!
//! A segment that is not below the number of segments fails the task, with a message that names it.

use dahl::ndarray::{ArrayView1, ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use super::slice::with_extent;
use crate::cpu::compensated::{add, settle};
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::scratch::with_scratch;

/// The range of a segment's elements, where each has `width`.
///
/// # Panics
/// If there is no such segment; the task fails with the panic's message.
#[inline(always)]
fn range(segment: u32, row: usize, count: usize, width: usize) -> std::ops::Range<usize> {
    let place = segment as usize;
    assert!(place < count, "segment {segment} of row {row} is not below the number of segments, {count}");
    place * width..(place + 1) * width
}

/// The elements of a row.
fn width(shape: &[usize]) -> usize {
    shape[1..].iter().product()
}

/// `out[s, ..] = ` the sum of `input[i, ..]` over the rows `i` with `segments[i] == s`; 0 if there are none. Sums are
/// compensated, however many rows a segment has.
///
/// ```
/// use dahl::ops::segment_sum_init;
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let rows = rt.from_vec([3, 2], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let segments = rt.from_vec([3], vec![1_u32, 0, 1])?;
/// assert_eq!(segment_sum_init(&arena, &rows, &segments, 2)?.to_vec()?, [3.0, 4.0, 6.0, 8.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `input: [rows, ..]`, `segments: [rows]`, `out: [count, ..]`.
#[codelet(
    R, R, W,
    cuda = crate::kernels::SEGMENT_SUM,
    shape(out = with_extent(input.shape(), 0, count)),
    check(input.shape().first() == Some(&segments.len())),
    flops = input.len(),
    gradient = segment_sum_gradient(segments),
    reference = crate::reference::segment::segment_sum,
    error = sum(n = segments.len() + 1)
)]
pub fn segment_sum<T: Real>(
    input: ArrayViewD<T>,
    segments: ArrayView1<u32>,
    out: ArrayViewMutD<T>,
    count: usize,
) {
    let (width, len) = (width(input.shape()), out.len());
    let input = row_major(&input);
    let input = elements(&input);
    write(out, |out| {
        with_scratch([len; 2], |[sums, errors]: [&mut [T::Compute]; 2]| {
            sums.fill(T::Compute::ZERO);
            errors.fill(T::Compute::ZERO);
            for (row, &segment) in segments.iter().enumerate() {
                let range = range(segment, row, count, width);
                let terms = &input[row * width..(row + 1) * width];
                let sums = sums[range.clone()].iter_mut().zip(&mut errors[range]);
                for ((sum, error), term) in sums.zip(terms) {
                    add(sum, error, term.widen());
                }
            }
            sums.iter_mut().zip(&*errors).for_each(|(sum, &error)| settle(sum, error));
            T::narrow_slice(sums, out);
        });
    });
}

fn segment_sum_gradient<T: Real, const N: usize>(rule: SegmentSumGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = super::index_select_init(rule.scope, rule.gradient, rule.segments, 0)?;
    Ok(())
}

/// `out[i, ..] = exp(input[i, ..]) / ` the sum of `exp(input[j, ..])` over the rows `j` of the segment of `i`, element by
/// element: [`softmax`](super::softmax) over each segment. The largest element of the segment is subtracted first, so that
/// nothing overflows.
///
/// # Shapes
/// `input: [rows, ..]`, `segments: [rows]` with numbers below `count`, `out` as `input`.
#[codelet(
    R, R, W,
    cuda = crate::kernels::SEGMENT_SOFTMAX,
    shape(out = input),
    check(input.shape().first() == Some(&segments.len())),
    flops = 5 * input.len(),
    gradient = segment_softmax_gradient(segments, out),
    reference = crate::reference::segment::segment_softmax,
    error = sum(n = segments.len() + 16, terms = crate::reference::segment::segment_softmax_terms)
)]
pub fn segment_softmax<T: Real>(
    input: ArrayViewD<T>,
    segments: ArrayView1<u32>,
    out: ArrayViewMutD<T>,
    count: usize,
) {
    let width = width(input.shape());
    let input = row_major(&input);
    let input = elements(&input);
    let rows = |row: usize| row * width..(row + 1) * width;
    write(out, |out| {
        with_scratch(
            [count * width, count * width, out.len()],
            |[largest, sums, powers]: [&mut [T::Compute]; 3]| {
                largest.fill(T::Compute::NEG_INFINITY);
                for (row, &segment) in segments.iter().enumerate() {
                    let largest = &mut largest[range(segment, row, count, width)];
                    largest
                        .iter_mut()
                        .zip(&input[rows(row)])
                        .for_each(|(largest, x)| *largest = largest.max(x.widen()));
                }
                sums.fill(T::Compute::ZERO);
                for (row, &segment) in segments.iter().enumerate() {
                    let range = range(segment, row, count, width);
                    let terms = powers[rows(row)].iter_mut().zip(&input[rows(row)]);
                    let sums = sums[range.clone()].iter_mut().zip(&largest[range]);
                    for ((power, x), (sum, &largest)) in terms.zip(sums) {
                        *power = (x.widen() - largest).exp();
                        *sum += *power;
                    }
                }
                for (row, &segment) in segments.iter().enumerate() {
                    let sums = &sums[range(segment, row, count, width)];
                    powers[rows(row)].iter_mut().zip(sums).for_each(|(power, &sum)| *power /= sum);
                }
                T::narrow_slice(powers, out);
            },
        );
    });
}

fn segment_softmax_gradient<T: Real, const N: usize>(
    rule: SegmentSoftmaxGradient<'_, T, N>,
) -> dahl::Result<()> {
    let SegmentSoftmaxGradient { segments, out, gradient, scope, by_input, count, .. } = rule;
    let Some(by_input) = by_input else { return Ok(()) };
    *by_input = segment_softmax_backward_init(scope, out, gradient, segments, count)?;
    Ok(())
}

/// The gradient of [`segment_softmax`] by its input:
/// `output[i, ..]` times (`gradient[i, ..]` minus the sum of `output[j, ..] * gradient[j, ..]` over the rows `j` of the
/// segment of `i`).
///
/// # Shapes
/// `output` (that of [`segment_softmax`]), `gradient` and `out` of one shape, `segments: [rows]` with numbers below `count`.
#[codelet(
    R, R, R, W,
    cuda = crate::kernels::SEGMENT_SOFTMAX_BACKWARD,
    shape(out = output),
    check(gradient.shape() == output.shape()),
    check(output.shape().first() == Some(&segments.len())),
    flops = 4 * output.len(),
    gradient = segment_softmax_backward_gradient(output, gradient, segments),
    reference = crate::reference::segment::segment_softmax_backward,
    error = sum(n = segments.len() + 4, terms = crate::reference::segment::segment_softmax_backward_terms)
)]
pub fn segment_softmax_backward<T: Real>(
    output: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    segments: ArrayView1<u32>,
    out: ArrayViewMutD<T>,
    count: usize,
) {
    let width = width(output.shape());
    let (output, gradient) = (row_major(&output), row_major(&gradient));
    let (output, gradient) = (elements(&output), elements(&gradient));
    let rows = |row: usize| row * width..(row + 1) * width;
    write(out, |out| {
        with_scratch([count * width], |[sums]: [&mut [T::Compute]; 1]| {
            sums.fill(T::Compute::ZERO);
            for (row, &segment) in segments.iter().enumerate() {
                let terms = output[rows(row)].iter().zip(&gradient[rows(row)]);
                let sums = sums[range(segment, row, count, width)].iter_mut();
                sums.zip(terms)
                    .for_each(|(sum, (output, gradient))| *sum += output.widen() * gradient.widen());
            }
            for (row, &segment) in segments.iter().enumerate() {
                let terms = output[rows(row)].iter().zip(&gradient[rows(row)]);
                let sums = &sums[range(segment, row, count, width)];
                for (out, ((output, gradient), &sum)) in out[rows(row)].iter_mut().zip(terms.zip(sums)) {
                    let (output, gradient) = (output.widen(), gradient.widen());
                    let difference = gradient - sum;
                    // It may overflow where the products do not.
                    let by_products = || output * gradient - output * sum;
                    *out =
                        T::narrow(if difference.is_finite() { output * difference } else { by_products() });
                }
            }
        });
    });
}

fn segment_softmax_backward_gradient<T: Real, const N: usize>(
    rule: SegmentSoftmaxBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let SegmentSoftmaxBackwardGradient {
        output,
        gradient,
        segments,
        gradient_out,
        scope,
        by_output,
        by_gradient,
        count,
        ..
    } = rule;
    if let Some(by_output) = by_output {
        // gradient_out * (gradient - sum of output * gradient) - gradient * sum of output * gradient_out
        let products = super::mul_init(scope, output, gradient)?;
        let sums = segment_sum_init(scope, &products, segments, count)?;
        let sums = super::index_select_init(scope, &sums, segments, 0)?;
        let first = super::mul_init(scope, gradient_out, &super::sub_init(scope, gradient, &sums)?)?;
        let products = super::mul_init(scope, output, gradient_out)?;
        let sums = segment_sum_init(scope, &products, segments, count)?;
        let sums = super::index_select_init(scope, &sums, segments, 0)?;
        *by_output = super::sub_init(scope, &first, &super::mul_init(scope, gradient, &sums)?)?;
    }
    if let Some(by_gradient) = by_gradient {
        *by_gradient = segment_softmax_backward_init(scope, output, gradient_out, segments, count)?;
    }
    Ok(())
}
