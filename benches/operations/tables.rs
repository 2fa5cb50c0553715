//! Operations on parameters: an optimizer's step, rows of a table, and the table's gradient; and on rows that belong together.

use dahl::Result;
use dahl::ops;
use dahl::prelude::*;
use dahl_nn::prelude::*;

use crate::clock::{Clock, Measured};
use crate::request::Request;

/// A model of one parameter.
#[derive(Module)]
struct Parameters<'m, T: Real> {
    weight: Parameter<'m, T>,
}

/// Extent: elements.
pub(crate) fn adamw<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [elements] = request.extents();
    let arena = clock.rt.arena();
    let value = arena.from_vec([elements], vec![T::from_f64(0.5); elements])?;
    let mut model = Parameters { weight: Parameter::new(&arena, &[elements], value)? };
    model.weight.gradient = clock.numbers::<T, 1>([elements])?;
    let mut adamw = AdamW::<T>::new(1e-3);
    clock.calls_and_copies(|| adamw.step(&mut model))
}

/// Extents: the table's rows, their width, and how many are taken. Backward: the gradient of a table that begins with zeros.
pub(crate) fn embedding<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [count, width, tokens] = request.extents();
    let indices = clock.indices(tokens, count)?;
    let mut rows = clock.numbers::<T, 2>([tokens, width])?;
    let mut table = clock.numbers::<T, 2>([count, width])?;
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::index_select(&table, &indices, &mut rows, 0));
    }
    clock.calls_and_copies(|| {
        ops::fill(&mut table, T::ZERO)?;
        ops::index_select_backward(&rows, &indices, &mut table, 0)
    })
}

/// Extents: segments, the width of a row, rows.
pub(crate) fn segment_sum<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [count, width, rows] = request.extents();
    let (input, segments) = (clock.numbers::<T, 2>([rows, width])?, clock.indices(rows, count)?);
    let mut sums = clock.rt.zeros::<T, 2>([count, width])?;
    clock.calls_and_copies(|| ops::segment_sum(&input, &segments, &mut sums, count))
}

/// As [`segment_sum`].
pub(crate) fn segment_softmax<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [count, width, rows] = request.extents();
    let (input, segments) = (clock.numbers::<T, 2>([rows, width])?, clock.indices(rows, count)?);
    let mut out = clock.rt.zeros::<T, 2>([rows, width])?;
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::segment_softmax(&input, &segments, &mut out, count));
    }
    ops::segment_softmax(&input, &segments, &mut out, count)?;
    let mut by_input = clock.rt.zeros::<T, 2>([rows, width])?;
    clock.calls_and_copies(|| ops::segment_softmax_backward(&out, &input, &segments, &mut by_input, count))
}
