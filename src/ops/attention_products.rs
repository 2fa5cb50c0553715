//! The gradients of [`attention`](super::attention()) as products with the matrix of all probabilities: operations that
//! can be differentiated again.

use dahl::prelude::*;
use dahl::{Result, RuleScope};

use super::{
    AttentionGeometry, Transposed, add_init, matmul_batched_init, matmul_batched_transposed_init, mul_init,
    scale_init, softmax_backward_init, softmax_init,
};

/// Puts the gradients by query, key and value in place of those that are wanted. Heads that share a key are one matrix of
/// rows.
pub(super) fn by_products<'r, T: Real>(
    scope: &'r RuleScope<'r>,
    [query, key, value]: [&Array<'_, T, 4>; 3],
    gradient: &Array<'_, T, 4>,
    [by_query, by_key, by_value]: [Option<&mut Array<'r, T, 4>>; 3],
    geometry: AttentionGeometry,
) -> Result<()> {
    let [batch, heads, tokens, width] = query.shape();
    let [_, kv_heads, keys, value_width] = value.shape();
    let (matrices, rows) = (batch * kv_heads, heads / kv_heads.max(1) * tokens);
    let (q, k) = (query.reshaped([matrices, rows, width])?, key.reshaped([matrices, keys, width])?);
    let v = value.reshaped([matrices, keys, value_width])?;
    let gradient = gradient.reshaped([matrices, rows, value_width])?;

    let scale = T::from_f64(geometry.scale);
    let scores =
        scale_init(scope, &matmul_batched_transposed_init(scope, &q, &k, Transposed::RIGHT)?, scale)?;
    let probabilities = if geometry.causal {
        let is_visible = |i: usize, j: usize| j + tokens <= keys + i % tokens;
        let sees_any = |i: usize| is_visible(i, 0);
        let of_each = |f: &dyn Fn(usize, usize) -> T| {
            let elements = (0..rows).flat_map(|i| (0..keys).map(move |j| f(i, j)));
            scope.detached().from_vec([1, rows, keys], elements.collect())
        };
        // A query that sees nothing has the probabilities of one that sees all, times zeros: not NaN.
        let hidden =
            of_each(&|i, j| if is_visible(i, j) || !sees_any(i) { T::ZERO } else { T::NEG_INFINITY })?;
        let seen = of_each(&|i, j| if is_visible(i, j) { T::ONE } else { T::ZERO })?;
        mul_init(scope, &softmax_init(scope, &add_init(scope, &scores, &hidden)?, 2)?, &seen)?
    } else {
        softmax_init(scope, &scores, 2)?
    };

    if let Some(by_value) = by_value {
        let product = matmul_batched_transposed_init(scope, &probabilities, &gradient, Transposed::LEFT)?;
        *by_value = product.reshape(value.shape())?;
    }
    if by_query.is_none() && by_key.is_none() {
        return Ok(());
    }
    let slopes = matmul_batched_transposed_init(scope, &gradient, &v, Transposed::RIGHT)?;
    let slopes = scale_init(scope, &softmax_backward_init(scope, &probabilities, &slopes, 2)?, scale)?;
    if let Some(by_query) = by_query {
        *by_query = matmul_batched_init(scope, &slopes, &k)?.reshape(query.shape())?;
    }
    if let Some(by_key) = by_key {
        let product = matmul_batched_transposed_init(scope, &slopes, &q, Transposed::LEFT)?;
        *by_key = product.reshape(key.shape())?;
    }
    Ok(())
}
