//! Normalisation of groups of channels of each sample: [`group_norm`] (Wu and He 2018, *Group Normalization*).
//!
//! With as many groups as channels it is instance normalisation, with one group layer normalisation over all but the
//! batch.

use dahl::ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD};
use dahl::prelude::*;

use super::batch_norm::{channels, differentiate};
use super::normalised::{Backward, Normalised};
use crate::cpu::gemm::Cores;
use crate::cpu::planes::{Over, Sets};
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::scratch::with_scratch;

/// Whether the channels are divided into groups of one size.
fn divides<const N: usize>(shape: [usize; N], groups: usize) -> bool {
    N >= 2 && groups > 0 && shape[1].is_multiple_of(groups)
}

fn sets(shape: &[usize], groups: usize) -> Sets {
    Sets::of(shape, Over::Channels(shape[1] / groups))
}

/// `out = (input - mean) / sqrt(variance + epsilon) * weight + bias`, with the mean and the variance of each of
/// `groups` groups of adjacent channels of each sample, and a weight and a bias for each channel.
///
/// The variance is the biased one, with the accuracy of that of [`batch_norm`](super::batch_norm()).
///
/// # Shapes
/// `input` and `out: [batch, channels, ..]`, `weight` and `bias: [channels]`.
#[codelet(
    R, R, R, W,
    cuda = crate::kernels::GROUP_NORM,
    shape(out = input),
    check(divides(input.shape(), groups)),
    check(weight.shape() == [channels(input.shape())]),
    check(bias.shape() == [channels(input.shape())]),
    flops = 9 * input.len(),
    parallel = group_norm_on_cores,
    gradient = group_norm_gradient(input, weight)
)]
pub fn group_norm<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMutD<T>,
    groups: usize,
    epsilon: T,
) {
    normalise(Cores::One, sets(input.shape(), groups), input, [weight, bias], out, epsilon);
}

/// [`group_norm`] on several cores.
fn group_norm_on_cores<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMutD<T>,
    groups: usize,
    epsilon: T,
) {
    normalise(Cores::Pool, sets(input.shape(), groups), input, [weight, bias], out, epsilon);
}

fn normalise<T: Real>(
    cores: Cores,
    sets: Sets,
    input: ArrayViewD<T>,
    [weight, bias]: [ArrayView1<T>; 2],
    out: ArrayViewMutD<T>,
    epsilon: T,
) {
    let (input, weight, bias) = (row_major(&input), row_major(&weight), row_major(&bias));
    let (input, affine) = (elements(&input), [elements(&weight), elements(&bias)]);
    with_scratch([sets.count(); 3], |[means, rests, variances]: [&mut [T::Compute]; 3]| {
        sets.statistics(cores, input, [&mut *means, &mut *rests, &mut *variances]);
        write(out, |out| {
            sets.normalise(cores, input, affine, [means, rests, variances], epsilon.widen(), out)
        });
    });
}

fn group_norm_gradient<T: Real, const N: usize>(rule: GroupNormGradient<'_, T, N>) -> dahl::Result<()> {
    let GroupNormGradient { input, weight, gradient, groups, epsilon, scope, .. } = rule;
    let (of_input, of_weight, of_bias) =
        group_norm_backward_init(scope, input, weight, gradient, groups, epsilon)?;
    if let Some(by_input) = rule.by_input {
        *by_input = of_input;
    }
    if let Some(by_weight) = rule.by_weight {
        *by_weight = of_weight;
    }
    if let Some(by_bias) = rule.by_bias {
        *by_bias = of_bias;
    }
    Ok(())
}

/// The gradients of [`group_norm`] by its input, its weight and its bias, from the gradient by its output.
///
/// The statistics are computed again, in the compute type.
///
/// # Shapes
/// As for [`group_norm`]: `gradient` and `by_input` as `input`, `by_weight` and `by_bias` as `weight`.
#[codelet(
    R, R, R, W, W, W,
    cuda = crate::kernels::GROUP_NORM_BACKWARD,
    shape(by_input = input),
    shape(by_weight = weight),
    shape(by_bias = weight),
    check(divides(input.shape(), groups)),
    check(weight.shape() == [channels(input.shape())]),
    check(gradient.shape() == input.shape()),
    flops = 18 * input.len(),
    parallel = group_norm_backward_on_cores,
    gradient = group_norm_backward_gradient(input, weight, gradient)
)]
pub fn group_norm_backward<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    gradient: ArrayViewD<T>,
    by_input: ArrayViewMutD<T>,
    by_weight: ArrayViewMut1<T>,
    by_bias: ArrayViewMut1<T>,
    groups: usize,
    epsilon: T,
) {
    let sets = sets(input.shape(), groups);
    differentiate(Cores::One, sets, [input, gradient], weight, by_input, [by_weight, by_bias], epsilon);
}

/// [`group_norm_backward`] on several cores.
#[allow(clippy::too_many_arguments, reason = "those of the operation")]
fn group_norm_backward_on_cores<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    gradient: ArrayViewD<T>,
    by_input: ArrayViewMutD<T>,
    by_weight: ArrayViewMut1<T>,
    by_bias: ArrayViewMut1<T>,
    groups: usize,
    epsilon: T,
) {
    let sets = sets(input.shape(), groups);
    differentiate(Cores::Pool, sets, [input, gradient], weight, by_input, [by_weight, by_bias], epsilon);
}

fn group_norm_backward_gradient<T: Real, const N: usize>(
    rule: GroupNormBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let given = Backward {
        input: rule.input,
        weight: rule.weight,
        gradient: rule.gradient,
        by_input: rule.gradient_by_input,
        by_weight: rule.gradient_by_weight,
        by_bias: rule.gradient_by_bias,
    };
    let normalised = Normalised::over_groups(rule.input.shape(), rule.groups);
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
