//! Attention whose weights are stored, so that some of them can be set to 0.

use dahl::ops::{self, AttentionGeometry, Transposed};
use dahl::prelude::*;

use super::super::Dropout;
use super::mask::earlier;
use crate::step::Step;

/// `dropout(softmax(query x transposed(key) * scale)) x value`, of the keys where `visible` is not 0.
///
/// # Shapes
/// As for [`dahl::ops::attention_masked`].
#[track_caller]
pub(super) fn attention<'s, T: Real>(
    step: &'s Step<'_>,
    [query, key, value]: [&Array<'_, T, 4>; 3],
    visible: Option<&Array<'_, u8, 3>>,
    geometry: AttentionGeometry,
    dropout: &Dropout,
) -> dahl::Result<Array<'s, T, 4>> {
    let [batch, heads, tokens, width] = query.shape();
    let (keys, value_width) = (key.shape()[2], value.shape()[3]);
    let (key, value) = (of_each_query(step, key, heads)?, of_each_query(step, value, heads)?);
    let query = ops::scale_init(step, query, T::from_f64(geometry.scale))?;
    let query = query.reshape([batch * heads, tokens, width])?;
    let scores = ops::matmul_batched_transposed_init(step, &query, &key, Transposed::RIGHT)?;
    let scores = scores.reshape([batch, heads, tokens, keys])?;
    let weights = match seen(step, visible, [tokens, keys], geometry.causal)? {
        None => ops::softmax_init(step, &scores, 3)?,
        Some(seen) => {
            let samples = seen.shape()[0];
            let seen = seen.reshape([samples, 1, tokens, keys])?;
            let lowest = step.detached().from_slice([1; 4], &[T::NEG_INFINITY])?;
            let scores = ops::select_init(step, &seen, &scores, &lowest)?;
            // A query that sees no key has no numbers here.
            let weights = ops::softmax_init(step, &scores, 3)?;
            ops::select_init(step, &seen, &weights, &step.detached().zeros([1; 4])?)?
        }
    };
    let weights = dropout.forward(step, &weights)?.reshape([batch * heads, tokens, keys])?;
    ops::matmul_batched_init(step, &weights, &value)?.reshape([batch, heads, tokens, value_width])
}

/// Keys or values, `[batch * heads, keys, width]`: those that several heads share, once for each.
#[track_caller]
fn of_each_query<'s, T: Real>(
    step: &'s Step<'_>,
    x: &Array<'_, T, 4>,
    heads: usize,
) -> dahl::Result<Array<'s, T, 3>> {
    let [batch, shared, keys, width] = x.shape();
    let x = x.reshaped([batch * shared, keys, width])?;
    ops::tile_init(step, &*x, 1, heads / shared)?.reshape([batch * heads, keys, width])
}

/// The keys that each query sees, `[batch or 1, tokens, keys]`; nothing if it sees all.
#[track_caller]
fn seen<'s>(
    step: &'s Step<'_>,
    visible: Option<&Array<'_, u8, 3>>,
    extents: [usize; 2],
    is_causal: bool,
) -> dahl::Result<Option<Array<'s, u8, 3>>> {
    let earlier = is_causal.then(|| earlier(step, extents)).transpose()?;
    Ok(match (visible, earlier) {
        (None, earlier) => earlier,
        (Some(visible), None) => Some(ops::copy_init(step.detached(), visible)?),
        (Some(visible), Some(earlier)) => Some(ops::logical_and_init(step.detached(), visible, &earlier)?),
    })
}
