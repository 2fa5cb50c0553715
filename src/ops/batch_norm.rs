//! Normalisation of channels over a batch: [`batch_norm`] for training, [`batch_norm_inference`] with statistics that
//! are given (Ioffe and Szegedy 2015, *Batch Normalization: Accelerating Deep Network Training by Reducing Internal
//! Covariate Shift*, algorithms 1 and 2).

use dahl::ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD};
use dahl::prelude::*;

use super::normalised::{Backward, Normalised};
use super::{add_init, bias_backward_init, mul_init, scale_init, sub_init};
use crate::cpu::gemm::Cores;
use crate::cpu::planes::{Over, Sets};
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::scratch::with_scratch;
use crate::reference::batch_norm as reference;

/// The number of channels of `[batch, channels, ..]`.
pub(super) fn channels<const N: usize>(shape: [usize; N]) -> usize {
    shape.get(1).copied().unwrap_or(0)
}

/// The shape of an array of rank `N` that has one element for each channel.
fn by_channel<const N: usize>(channels: usize) -> [usize; N] {
    std::array::from_fn(|axis| if axis == 1 { channels } else { 1 })
}

/// `out = (input - mean) / sqrt(variance + epsilon) * weight + bias`, with the mean and the variance of each channel
/// over the batch, which are outputs too.
///
/// The variance is the biased one, of two passes over the input. Sums have a fixed order, and an error that grows with
/// the logarithm of the number of their terms. The squares of deviations must be finite in the compute type. Without
/// elements the statistics are NaN.
///
/// # Shapes
/// `input` and `out: [batch, channels, ..]`, all others `[channels]`.
#[codelet(
    R, R, R, W, W, W,
    cuda = crate::kernels::BATCH_NORM,
    shape(out = input),
    shape(mean = [channels(input.shape())]),
    shape(variance = [channels(input.shape())]),
    check(input.shape().len() >= 2),
    check(weight.shape() == [channels(input.shape())]),
    check(bias.shape() == [channels(input.shape())]),
    flops = 9 * input.len(),
    parallel = batch_norm_on_cores,
    gradient = batch_norm_gradient(input, weight)
)]
pub fn batch_norm<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMutD<T>,
    mean: ArrayViewMut1<T>,
    variance: ArrayViewMut1<T>,
    epsilon: T,
) {
    normalise(Cores::One, [weight, bias], input, epsilon, out, [mean, variance]);
}

/// [`batch_norm`] on several cores.
fn batch_norm_on_cores<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMutD<T>,
    mean: ArrayViewMut1<T>,
    variance: ArrayViewMut1<T>,
    epsilon: T,
) {
    normalise(Cores::Pool, [weight, bias], input, epsilon, out, [mean, variance]);
}

fn normalise<T: Real>(
    cores: Cores,
    [weight, bias]: [ArrayView1<T>; 2],
    input: ArrayViewD<T>,
    epsilon: T,
    out: ArrayViewMutD<T>,
    [mean, variance]: [ArrayViewMut1<T>; 2],
) {
    let sets = Sets::of(input.shape(), Over::Batch);
    let (input, weight, bias) = (row_major(&input), row_major(&weight), row_major(&bias));
    let (input, affine) = (elements(&input), [elements(&weight), elements(&bias)]);
    with_scratch([sets.count(); 3], |[means, rests, variances]: [&mut [T::Compute]; 3]| {
        sets.statistics(cores, input, [&mut *means, &mut *rests, &mut *variances]);
        write(out, |out| {
            sets.normalise(cores, input, affine, [means, rests, variances], epsilon.widen(), out)
        });
        means.iter_mut().zip(rests).for_each(|(mean, rest)| *mean += *rest);
        write(mean, |mean| T::narrow_slice(means, mean));
        write(variance, |variance| T::narrow_slice(variances, variance));
    });
}

fn batch_norm_gradient<T: Real, const N: usize>(rule: BatchNormGradient<'_, T, N>) -> dahl::Result<()> {
    let BatchNormGradient { input, weight, gradient_out, gradient_mean, gradient_variance, scope, .. } = rule;
    let by = match gradient_out {
        Some(gradient) => Some(batch_norm_backward_init(scope, input, weight, gradient, rule.epsilon)?),
        None => None,
    };
    let (of_input, of_weight, of_bias) = match by {
        Some((of_input, of_weight, of_bias)) => (Some(of_input), Some(of_weight), Some(of_bias)),
        None => (None, None, None),
    };
    if let Some(by_input) = rule.by_input {
        let count = input.len() as f64 / weight.len() as f64;
        let share = T::from_f64(1.0 / count);
        let mut sum = match of_input {
            Some(of_input) => of_input,
            None => scope.detached().zeros(input.shape())?,
        };
        if let Some(gradient) = gradient_mean {
            let each = scale_init(scope, gradient, share)?;
            sum = add_init(scope, &sum, &*each.reshaped(by_channel(weight.len()))?)?;
        }
        if let Some(gradient) = gradient_variance {
            let mean = scale_init(scope, &bias_backward_init(scope, input, 1)?, share)?;
            let centred = sub_init(scope, input, &*mean.reshaped(by_channel(weight.len()))?)?;
            let each = scale_init(scope, gradient, T::from_f64(2.0 / count))?;
            let product = mul_init(scope, &centred, &*each.reshaped(by_channel(weight.len()))?)?;
            sum = add_init(scope, &sum, &product)?;
        }
        *by_input = sum;
    }
    for (by, of) in [(rule.by_weight, of_weight), (rule.by_bias, of_bias)] {
        if let Some(by) = by {
            *by = match of {
                Some(of) => of,
                None => scope.detached().zeros(weight.shape())?,
            };
        }
    }
    Ok(())
}

/// The gradients of [`batch_norm`] by its input, its weight and its bias, from the gradient by its output `out`.
///
/// The statistics are computed again, in the compute type.
///
/// # Shapes
/// As for [`batch_norm`]: `gradient` and `by_input` as `input`, `by_weight` and `by_bias` as `weight`.
#[codelet(
    R, R, R, W, W, W,
    cuda = crate::kernels::BATCH_NORM_BACKWARD,
    shape(by_input = input),
    shape(by_weight = weight),
    shape(by_bias = weight),
    check(input.shape().len() >= 2),
    check(weight.shape() == [channels(input.shape())]),
    check(gradient.shape() == input.shape()),
    flops = 18 * input.len(),
    parallel = batch_norm_backward_on_cores,
    gradient = batch_norm_backward_gradient(input, weight, gradient)
)]
pub fn batch_norm_backward<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    gradient: ArrayViewD<T>,
    by_input: ArrayViewMutD<T>,
    by_weight: ArrayViewMut1<T>,
    by_bias: ArrayViewMut1<T>,
    epsilon: T,
) {
    let sets = Sets::of(input.shape(), Over::Batch);
    differentiate(Cores::One, sets, [input, gradient], weight, by_input, [by_weight, by_bias], epsilon);
}

/// [`batch_norm_backward`] on several cores.
fn batch_norm_backward_on_cores<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    gradient: ArrayViewD<T>,
    by_input: ArrayViewMutD<T>,
    by_weight: ArrayViewMut1<T>,
    by_bias: ArrayViewMut1<T>,
    epsilon: T,
) {
    let sets = Sets::of(input.shape(), Over::Batch);
    differentiate(Cores::Pool, sets, [input, gradient], weight, by_input, [by_weight, by_bias], epsilon);
}

/// The gradients of the normalisation of these sets: by the input, the weight and the bias.
pub(super) fn differentiate<T: Real>(
    cores: Cores,
    sets: Sets,
    [input, gradient]: [ArrayViewD<T>; 2],
    weight: ArrayView1<T>,
    by_input: ArrayViewMutD<T>,
    [by_weight, by_bias]: [ArrayViewMut1<T>; 2],
    epsilon: T,
) {
    let (input, weight, gradient) = (row_major(&input), row_major(&weight), row_major(&gradient));
    let given = [elements(&input), elements(&weight), elements(&gradient)];
    write(by_weight, |by_weight| {
        write(by_bias, |by_bias| {
            write(by_input, |by_input| {
                sets.backward(cores, given, epsilon.widen(), [by_input, by_weight, by_bias]);
            });
        });
    });
}

fn batch_norm_backward_gradient<T: Real, const N: usize>(
    rule: BatchNormBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let given = Backward {
        input: rule.input,
        weight: rule.weight,
        gradient: rule.gradient,
        by_input: rule.gradient_by_input,
        by_weight: rule.gradient_by_weight,
        by_bias: rule.gradient_by_bias,
    };
    let normalised = Normalised::over_batch(rule.input.shape());
    let (of_input, of_weight, of_gradient) = normalised.gradients(rule.scope, given, rule.epsilon)?;
    if let Some(by_input) = rule.by_input {
        *by_input = of_input;
    }
    if let Some(by_weight) = rule.by_weight {
        *by_weight = of_weight;
    }
    if let Some(by_gradient) = rule.by_gradient {
        *by_gradient = of_gradient;
    }
    Ok(())
}

/// [`batch_norm`] with a mean and a variance that are given, such as running means of those of batches:
/// `out = (input - mean) / sqrt(variance + epsilon) * weight + bias`.
///
/// # Shapes
/// All of one rank, with the shape of `out` where they are not 1: `input: [batch, channels, ..]`, all others
/// `[1, channels, 1, ..]`.
#[codelet(
    R, R, R, R, R, W,
    broadcast,
    reference = reference::batch_norm_inference,
    error = sum(n = 8, terms = reference::batch_norm_inference_terms)
)]
pub fn batch_norm_inference<T: Real>(input: T, weight: T, bias: T, mean: T, variance: T, epsilon: T) -> T {
    (input - mean) / (variance + epsilon).sqrt() * weight + bias
}
