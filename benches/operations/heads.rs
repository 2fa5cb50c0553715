//! What surrounds attention: features divided among heads, and rotary positions.

use dahl::Result;
use dahl::ops::{self, Heads, RotaryPositions};
use dahl::prelude::*;

use crate::clock::{Clock, Measured};
use crate::request::Request;

/// Extents: batch, heads, tokens, width. Backward: joins them.
pub(crate) fn heads<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, heads, tokens, width] = request.extents();
    let shape = [batch, heads, tokens, width];
    let mut features = clock.numbers::<T, 3>([batch, tokens, 3 * heads * width])?;
    let [mut query, mut key, mut value] =
        [clock.numbers::<T, 4>(shape)?, clock.numbers(shape)?, clock.numbers(shape)?];
    if request.direction == "forward" {
        return clock.calls_and_copies(|| {
            ops::split_heads(&features, &mut query, &mut key, &mut value, Heads::new(heads))
        });
    }
    clock.calls_and_copies(|| ops::join_heads(&query, &key, &value, &mut features))
}

/// Extents: batch, heads, tokens, width.
pub(crate) fn rotary<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let shape = request.extents::<4>();
    let (input, mut out) = (clock.numbers::<T, 4>(shape)?, clock.rt.zeros::<T, 4>(shape)?);
    let positions = RotaryPositions::default();
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::rotary(&input, &mut out, positions));
    }
    clock.calls_and_copies(|| ops::rotary_backward(&input, &mut out, positions))
}
