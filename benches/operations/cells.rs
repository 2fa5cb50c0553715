//! Steps of recurrent cells without their matrix products.

use dahl::Result;
use dahl::ops;
use dahl::prelude::*;

use crate::clock::{Clock, Measured};
use crate::request::Request;

/// Extents: samples, the state's width. Backward: all gradients.
pub(crate) fn lstm_cell<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [samples, width] = request.extents();
    let (rt, shape) = (clock.rt, [samples, width]);
    let (gates, cell) = (clock.numbers::<T, 2>([samples, 4 * width])?, clock.numbers::<T, 2>(shape)?);
    let [mut hidden, mut next] = [rt.zeros::<T, 2>(shape)?, rt.zeros(shape)?];
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::lstm_cell(&gates, &cell, &mut hidden, &mut next));
    }
    ops::lstm_cell(&gates, &cell, &mut hidden, &mut next)?;
    let (by_hidden, by_next) = (clock.numbers::<T, 2>(shape)?, clock.numbers::<T, 2>(shape)?);
    let mut by_gates = rt.zeros::<T, 2>([samples, 4 * width])?;
    clock.calls_and_copies(|| {
        ops::lstm_cell_backward(&gates, &cell, &next, &by_hidden, &by_next, &mut by_gates, &mut hidden)
    })
}

/// As [`lstm_cell`].
pub(crate) fn gru_cell<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [samples, width] = request.extents();
    let (rt, shape, of_gates) = (clock.rt, [samples, width], [samples, 3 * width]);
    let [of_input, of_hidden] = [clock.numbers::<T, 2>(of_gates)?, clock.numbers(of_gates)?];
    let (hidden, mut out) = (clock.numbers::<T, 2>(shape)?, rt.zeros::<T, 2>(shape)?);
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::gru_cell(&of_input, &of_hidden, &hidden, &mut out));
    }
    let gradient = clock.numbers::<T, 2>(shape)?;
    let [mut by_input, mut by_gates] = [rt.zeros::<T, 2>(of_gates)?, rt.zeros(of_gates)?];
    clock.calls_and_copies(|| {
        ops::gru_cell_backward(
            &of_input,
            &of_hidden,
            &hidden,
            &gradient,
            &mut by_input,
            &mut by_gates,
            &mut out,
        )
    })
}
