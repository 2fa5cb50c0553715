//! [`Gradients`]: how the rules of [`attention`](super::attention()) and [`attention_masked`](super::attention_masked())
//! compute its gradients.

use dahl::prelude::*;
use dahl::{Result, RuleScope};

use super::attention_backward::attention_backward;
use super::attention_masked::attention_masked_backward;
use super::{
    AttentionGeometry, Transposed, matmul_batched_init, matmul_batched_transposed_init, scale_init,
    select_init, softmax_backward_init, softmax_init,
};

/// What gradients of attention are computed from.
pub(super) struct Gradients<'a, 'm, T: Real, L: Real> {
    /// Query, key and value.
    pub(super) inputs: [&'a Array<'m, T, 4>; 3],
    pub(super) mask: Option<&'a Array<'m, u8, 3>>,
    /// The output, and the logarithms of the sums of exponentials.
    pub(super) results: (&'a Array<'m, T, 4>, &'a Array<'m, L, 3>),
    /// The gradients by them.
    pub(super) by_results: (Option<&'a Array<'m, T, 4>>, Option<&'a Array<'m, L, 3>>),
    pub(super) geometry: AttentionGeometry,
}

impl<T: Real, L: Real> Gradients<'_, '_, T, L> {
    /// Writes the gradients by query, key and value: by one task, or, where an outer tape remembers them, by operations that
    /// have gradients.
    pub(super) fn write<'r>(
        &self,
        scope: &'r RuleScope<'r>,
        by: [Option<&'r mut Array<'r, T, 4>>; 3],
    ) -> Result<()> {
        if let (true, (Some(gradient), None)) = (scope.is_remembered(), self.by_results) {
            return self.by_products(scope, gradient, by);
        }
        let arena = scope.detached();
        let (out, log_sum_exp) = self.results;
        let (zeros, zero_sums);
        let gradient = match self.by_results.0 {
            Some(gradient) => gradient,
            None => {
                zeros = arena.zeros(out.shape())?;
                &zeros
            }
        };
        let gradient_sums = match self.by_results.1 {
            Some(gradient) => gradient,
            None => {
                zero_sums = arena.zeros(log_sum_exp.shape())?;
                &zero_sums
            }
        };
        // One task computes all three, also those that nobody wants.
        let [query, key, value] = self.inputs;
        let mut unwanted = [None, None, None];
        let [by_query, by_key, by_value] = {
            let [first, second, third] = &mut unwanted;
            let [by_query, by_key, by_value] = by;
            let lend =
                |by, unwanted, like: &Array<'_, T, 4>| lend(by, unwanted, || arena.zeros(like.shape()));
            [lend(by_query, first, query)?, lend(by_key, second, key)?, lend(by_value, third, value)?]
        };
        match self.mask {
            None => attention_backward(
                query,
                key,
                value,
                out,
                log_sum_exp,
                gradient,
                gradient_sums,
                by_query,
                by_key,
                by_value,
                self.geometry,
            ),
            Some(mask) => attention_masked_backward(
                query,
                key,
                value,
                mask,
                out,
                log_sum_exp,
                gradient,
                gradient_sums,
                by_query,
                by_key,
                by_value,
                self.geometry,
            ),
        }
    }

    /// The gradients as products with the matrix of all probabilities. Heads that share a key are one matrix of rows.
    fn by_products<'r>(
        &self,
        scope: &'r RuleScope<'r>,
        gradient: &Array<'_, T, 4>,
        [by_query, by_key, by_value]: [Option<&'r mut Array<'r, T, 4>>; 3],
    ) -> Result<()> {
        let [query, key, value] = self.inputs;
        let [batch, heads, tokens, width] = query.shape();
        let [_, kv_heads, keys, value_width] = value.shape();
        let (matrices, rows) = (batch * kv_heads, heads / kv_heads.max(1) * tokens);
        let (q, k) = (query.reshaped([matrices, rows, width])?, key.reshaped([matrices, keys, width])?);
        let v = value.reshaped([matrices, keys, value_width])?;
        let gradient = gradient.reshaped([matrices, rows, value_width])?;

        let scale = T::from_f64(self.geometry.scale);
        let scores = matmul_batched_transposed_init(scope, &q, &k, Transposed::RIGHT)?;
        let scores = scale_init(scope, &scores, scale)?;
        let probabilities = self.probabilities(scope, scores.reshape([batch, heads, tokens, keys])?)?;
        let probabilities = probabilities.reshape([matrices, rows, keys])?;
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

    /// The softmax of the scores of the keys that a query sees, and zeros.
    fn probabilities<'r>(
        &self,
        scope: &'r RuleScope<'r>,
        mut scores: Array<'r, T, 4>,
    ) -> Result<Array<'r, T, 4>> {
        let arena = scope.detached();
        let [_, _, tokens, keys] = scores.shape();
        let mut masks = Vec::new();
        if self.geometry.causal {
            let of_query = |i: usize| (0..keys).map(move |j| u8::from(j + tokens <= keys + i));
            masks.push(arena.from_vec([1, 1, tokens, keys], (0..tokens).flat_map(of_query).collect())?);
        }
        let given = self.mask.map(|mask| mask.reshaped([mask.shape()[0], 1, tokens, keys])).transpose()?;
        let masks = || masks.iter().chain(given.as_deref());
        let hidden = arena.filled([1; 4], T::NEG_INFINITY)?;
        for mask in masks() {
            scores = select_init(scope, mask, &scores, &hidden)?;
        }
        let mut probabilities = softmax_init(scope, &scores, 3)?;
        let zero = arena.zeros([1; 4])?;
        for mask in masks() {
            // Those of a query that sees nothing are NaN until here.
            probabilities = select_init(scope, mask, &probabilities, &zero)?;
        }
        Ok(probabilities)
    }
}

/// What is `given`, or else `made` by `make`.
fn lend<'s, A>(
    given: Option<&'s mut A>,
    made: &'s mut Option<A>,
    make: impl FnOnce() -> Result<A>,
) -> Result<&'s mut A> {
    Ok(match given {
        Some(given) => given,
        None => made.insert(make()?),
    })
}
