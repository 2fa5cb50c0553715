//! [`attention_masked`]: [`attention`](super::attention()) with a mask; and its gradients.

use dahl::ndarray::{ArrayView3, ArrayView4, ArrayViewMut3, ArrayViewMut4};
use dahl::prelude::*;
use dahl::{Result, Scope};

use super::AttentionGeometry;
use super::attention::{agree, attend_on, output_shape, without_width};
use super::attention_backward::attend_backward_on;
use super::attention_gradients::Gradients;
use crate::cpu::gemm::Cores;

/// Whether there is a mask of the queries and keys of each sample, or one for all.
fn masks(mask: [usize; 3], query: [usize; 4], key: [usize; 4]) -> bool {
    (mask[0] == 1 || mask[0] == query[0]) && mask[1..] == [query[2], key[2]]
}

/// The codelets, with an element type of its own for the logarithms: [`Real::Compute`] in the functions below.
mod declared {
    use super::*;

    /// [`attention`](super::super::attention()) of the keys where `mask` is not 0.
    ///
    /// # Shapes
    /// As for [`attention`](super::super::attention()), and `mask: [batch, tokens, keys]`, or `[1, tokens, keys]`.
    #[codelet(
        R, R, R, R, W, W,
        shape(out = output_shape(query.shape(), value.shape())),
        shape(log_sum_exp = without_width(query.shape())),
        check(agree(query.shape(), key.shape(), value.shape())),
        check(masks(mask.shape(), query.shape(), key.shape())),
        check(geometry.scale.is_finite()),
        flops = 2 * query.len() * key.shape()[2] + 2 * out.len() * key.shape()[2],
        parallel = attention_masked_on_cores,
        cuda = crate::kernels::ATTENTION_MASKED,
        gradient = attention_masked_gradient(query, key, value, mask, out, log_sum_exp),
        reference = crate::reference::attention::attention_masked,
        error = sum(
            n = key.shape()[2] + key.shape()[3] + 32,
            terms = crate::reference::attention::attention_masked_terms
        )
    )]
    pub fn attention_masked<T: Real, L: Real>(
        query: ArrayView4<T>,
        key: ArrayView4<T>,
        value: ArrayView4<T>,
        mask: ArrayView3<u8>,
        out: ArrayViewMut4<T>,
        log_sum_exp: ArrayViewMut3<L>,
        geometry: AttentionGeometry,
    ) {
        attend_on(Cores::One, [query, key, value], Some(mask), out, log_sum_exp, geometry);
    }

    /// [`attention_masked`] on several cores, which share the heads.
    fn attention_masked_on_cores<T: Real, L: Real>(
        query: ArrayView4<T>,
        key: ArrayView4<T>,
        value: ArrayView4<T>,
        mask: ArrayView3<u8>,
        out: ArrayViewMut4<T>,
        log_sum_exp: ArrayViewMut3<L>,
        geometry: AttentionGeometry,
    ) {
        attend_on(Cores::Pool, [query, key, value], Some(mask), out, log_sum_exp, geometry);
    }

    fn attention_masked_gradient<T: Real, L: Real>(rule: AttentionMaskedGradient<'_, T, L>) -> Result<()> {
        let AttentionMaskedGradient { query, key, value, mask, out, log_sum_exp, geometry, scope, .. } = rule;
        let gradients = Gradients {
            inputs: [query, key, value],
            mask: Some(mask),
            results: (out, log_sum_exp),
            by_results: (rule.gradient_out, rule.gradient_log_sum_exp),
            geometry,
        };
        gradients.write(scope, [rule.by_query, rule.by_key, rule.by_value])
    }
}

pub use declared::AttentionMasked;

/// [`attention`](super::attention()) of the keys where `mask` is not 0. With
/// [`AttentionGeometry::causal`], a query sees the keys that both let it see.
///
/// A query that sees no key gets zeros, and minus infinity as its logarithm; hidden keys have no part in results and gradients,
/// whatever they hold. A mask such as the padding of sequences comes from
/// [`less`](super::less()) and its like.
///
/// # Shapes
/// As for [`attention`](super::attention()), and `mask: [batch, tokens, keys]`, or `[1, tokens, keys]`.
///
/// # Errors
/// If the shapes do not agree, or the scale is not finite.
#[track_caller]
pub fn attention_masked<T: Real>(
    query: &Array<'_, T, 4>,
    key: &Array<'_, T, 4>,
    value: &Array<'_, T, 4>,
    mask: &Array<'_, u8, 3>,
    out: &mut Array<'_, T, 4>,
    log_sum_exp: &mut Array<'_, T::Compute, 3>,
    geometry: AttentionGeometry,
) -> Result<()> {
    declared::attention_masked(query, key, value, mask, out, log_sum_exp, geometry)
}

/// [`attention_masked`] into new arrays of `scope`: `out` and `log_sum_exp`.
///
/// # Errors
/// As for [`attention_masked`], or if memory cannot be allocated.
#[track_caller]
pub fn attention_masked_init<'m, T: Real>(
    scope: &'m impl Scope<AttentionMasked>,
    query: &Array<'_, T, 4>,
    key: &Array<'_, T, 4>,
    value: &Array<'_, T, 4>,
    mask: &Array<'_, u8, 3>,
    geometry: AttentionGeometry,
) -> Result<(Array<'m, T, 4>, Array<'m, T::Compute, 3>)> {
    declared::attention_masked_init(scope, query, key, value, mask, geometry)
}

/// The gradients of [`attention_masked`] by its query, key and value, as
/// [`attention_backward`](super::attention_backward()).
///
/// # Shapes
/// As for [`attention_backward`](super::attention_backward()), and the mask of [`attention_masked`].
#[codelet(
    R, R, R, R, R, R, R, R, W, W, W,
    shape(by_query = query),
    shape(by_key = key),
    shape(by_value = value),
    check(agree(query.shape(), key.shape(), value.shape())),
    check(masks(mask.shape(), query.shape(), key.shape())),
    check(out.shape() == output_shape(query.shape(), value.shape())),
    check(gradient.shape() == out.shape()),
    check(log_sum_exp.shape() == without_width(query.shape())),
    check(gradient_log_sum_exp.shape() == log_sum_exp.shape()),
    check(geometry.scale.is_finite()),
    flops = 6 * query.len() * key.shape()[2] + 4 * out.len() * key.shape()[2],
    parallel = attention_masked_backward_on_cores,
    cuda = crate::kernels::ATTENTION_MASKED_BACKWARD,
    reference = crate::reference::attention::attention_masked_backward,
    error = sum(
        n = (query.shape()[1] / key.shape()[1].max(1)) * query.shape()[2]
            + key.shape()[2] + key.shape()[3] + value.shape()[3] + 32,
        terms = crate::reference::attention::attention_masked_backward_terms
    )
)]
pub fn attention_masked_backward<T: Real, L: Real>(
    query: ArrayView4<T>,
    key: ArrayView4<T>,
    value: ArrayView4<T>,
    mask: ArrayView3<u8>,
    out: ArrayView4<T>,
    log_sum_exp: ArrayView3<L>,
    gradient: ArrayView4<T>,
    gradient_log_sum_exp: ArrayView3<L>,
    by_query: ArrayViewMut4<T>,
    by_key: ArrayViewMut4<T>,
    by_value: ArrayViewMut4<T>,
    geometry: AttentionGeometry,
) {
    let (by, sums) = ([by_query, by_key, by_value], [log_sum_exp, gradient_log_sum_exp]);
    attend_backward_on(Cores::One, [query, key, value], Some(mask), [out, gradient], sums, by, geometry);
}

/// [`attention_masked_backward`] on several cores, which share the keys and values.
#[allow(clippy::too_many_arguments, reason = "they are those of the codelet")]
fn attention_masked_backward_on_cores<T: Real, L: Real>(
    query: ArrayView4<T>,
    key: ArrayView4<T>,
    value: ArrayView4<T>,
    mask: ArrayView3<u8>,
    out: ArrayView4<T>,
    log_sum_exp: ArrayView3<L>,
    gradient: ArrayView4<T>,
    gradient_log_sum_exp: ArrayView3<L>,
    by_query: ArrayViewMut4<T>,
    by_key: ArrayViewMut4<T>,
    by_value: ArrayViewMut4<T>,
    geometry: AttentionGeometry,
) {
    let (by, sums) = ([by_query, by_key, by_value], [log_sum_exp, gradient_log_sum_exp]);
    attend_backward_on(Cores::Pool, [query, key, value], Some(mask), [out, gradient], sums, by, geometry);
}
