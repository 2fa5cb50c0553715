//! Causal attention.

use dahl::Result;
use dahl::ops::{self, AttentionGeometry};
use dahl::prelude::*;

use crate::clock::{Clock, Measured};
use crate::request::Request;

/// Extents: batch, heads, tokens, width.
pub(crate) fn attention<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, heads, tokens, width] = request.extents();
    let (rt, shape) = (clock.rt, [batch, heads, tokens, width]);
    let [query, key, value] = [clock.numbers::<T, 4>(shape)?, clock.numbers(shape)?, clock.numbers(shape)?];
    let geometry = AttentionGeometry::new(1.0 / (width as f64).sqrt()).causal();
    let mut out = rt.zeros(shape)?;
    let mut log_sum_exp = rt.zeros([batch, heads, tokens])?;
    if request.direction == "forward" {
        return clock.calls(|| ops::attention(&query, &key, &value, &mut out, &mut log_sum_exp, geometry));
    }
    ops::attention(&query, &key, &value, &mut out, &mut log_sum_exp, geometry)?;
    let (gradient, by_sums) = (clock.numbers::<T, 4>(shape)?, rt.zeros([batch, heads, tokens])?);
    let [mut by_query, mut by_key, mut by_value] = [rt.zeros(shape)?, rt.zeros(shape)?, rt.zeros(shape)?];
    clock.calls(|| {
        ops::attention_backward(
            &query,
            &key,
            &value,
            &out,
            &log_sum_exp,
            &gradient,
            &by_sums,
            &mut by_query,
            &mut by_key,
            &mut by_value,
            geometry,
        )
    })
}
