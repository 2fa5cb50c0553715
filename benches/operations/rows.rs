//! Operations on rows, and on each element: what they should take is the memory's time.

use dahl::Result;
use dahl::ops::{self, LossReduction, Philox};
use dahl::prelude::*;

use crate::clock::{Clock, Measured};
use crate::request::Request;

const EPSILON: f64 = 1e-5;

/// Extents: rows, and the elements of a row. Backward: all gradients.
pub(crate) fn layer_norm<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [rows, extent] = request.extents();
    let input = clock.numbers::<T, 2>([rows, extent])?;
    let (weight, bias) = (clock.numbers::<T, 1>([extent])?, clock.numbers::<T, 1>([extent])?);
    let mut out = clock.rt.zeros::<T, 2>([rows, extent])?;
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::layer_norm(&input, &weight, &bias, &mut out, EPSILON));
    }
    let gradient = clock.numbers::<T, 2>([rows, extent])?;
    let (mut by_weight, mut by_bias) = (clock.rt.zeros::<T, 1>([extent])?, clock.rt.zeros::<T, 1>([extent])?);
    clock.calls_and_copies(|| {
        ops::layer_norm_backward_input(&input, &weight, &gradient, &mut out, EPSILON)?;
        ops::layer_norm_backward_weight(&input, &gradient, &mut by_weight, EPSILON)?;
        ops::bias_backward(&gradient, &mut by_bias, 1)
    })
}

/// As [`layer_norm`].
pub(crate) fn rms_norm<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [rows, extent] = request.extents();
    let (input, weight) = (clock.numbers::<T, 2>([rows, extent])?, clock.numbers::<T, 1>([extent])?);
    let mut out = clock.rt.zeros::<T, 2>([rows, extent])?;
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::rms_norm(&input, &weight, &mut out, EPSILON));
    }
    let (gradient, mut by_weight) =
        (clock.numbers::<T, 2>([rows, extent])?, clock.rt.zeros::<T, 1>([extent])?);
    clock.calls_and_copies(|| {
        ops::rms_norm_backward_input(&input, &weight, &gradient, &mut out, EPSILON)?;
        ops::rms_norm_backward_weight(&input, &gradient, &mut by_weight, EPSILON)
    })
}

/// Extents: rows, and the elements of a row.
pub(crate) fn softmax<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let shape = request.extents::<2>();
    let input = clock.numbers::<T, 2>(shape)?;
    let mut out = clock.rt.zeros::<T, 2>(shape)?;
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::softmax(&input, &mut out, 1));
    }
    ops::softmax(&input, &mut out, 1)?;
    let mut by_input = clock.rt.zeros::<T, 2>(shape)?;
    clock.calls_and_copies(|| ops::softmax_backward(&out, &input, &mut by_input, 1))
}

/// Extent: elements.
pub(crate) fn gelu<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let shape = request.extents::<1>();
    let (input, mut out) = (clock.numbers::<T, 1>(shape)?, clock.rt.zeros::<T, 1>(shape)?);
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::gelu(&input, &mut out));
    }
    let gradient = clock.numbers::<T, 1>(shape)?;
    clock.calls_and_copies(|| ops::gelu_backward(&input, &gradient, &mut out))
}

/// Extents: batch, rows, columns, width. The rows and the columns change places.
pub(crate) fn permute<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, rows, columns, width] = request.extents();
    let input = clock.numbers::<T, 4>([batch, rows, columns, width])?;
    let mut out = clock.rt.zeros::<T, 4>([batch, columns, rows, width])?;
    clock.calls_and_copies(|| ops::permute(&input, &mut out, [0, 2, 1, 3]))
}

/// Extents: samples, classes.
pub(crate) fn cross_entropy<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [samples, classes] = request.extents();
    let logits = clock.numbers::<T, 2>([samples, classes])?;
    let labels = clock.indices(samples, classes)?;
    let factor = 1.0 / samples as f64;
    if request.direction == "forward" {
        let mut loss = clock.rt.zeros::<T, 0>([])?;
        return clock.calls_and_copies(|| ops::cross_entropy(&logits, &labels, &mut loss, factor));
    }
    let mut out = clock.rt.zeros::<T, 2>([samples, classes])?;
    clock.calls_and_copies(|| ops::cross_entropy_backward(&logits, &labels, &mut out, factor))
}

/// As [`cross_entropy`], the mean with weights of the classes, label smoothing and an ignored label.
pub(crate) fn cross_entropy_weighted<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [samples, classes] = request.extents();
    let logits = clock.numbers::<T, 2>([samples, classes])?;
    let weights = clock.rt.from_vec([classes], vec![T::from_f64(0.75); classes])?;
    let labels = clock.indices(samples, classes)?;
    let (smoothing, ignored, reduction) = (0.1, 0, LossReduction::Mean);
    if request.direction == "forward" {
        let mut loss = clock.rt.zeros::<T, 0>([])?;
        return clock.calls_and_copies(|| {
            ops::cross_entropy_weighted(
                &logits, &labels, &weights, &mut loss, smoothing, ignored, reduction, 1.0,
            )
        });
    }
    let mut out = clock.rt.zeros::<T, 2>([samples, classes])?;
    clock.calls_and_copies(|| {
        ops::cross_entropy_weighted_backward(
            &logits, &labels, &weights, &mut out, smoothing, ignored, reduction, 1.0,
        )
    })
}

/// Extent: elements, of which a tenth becomes 0.
pub(crate) fn dropout<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let shape = request.extents::<1>();
    let (input, mut out) = (clock.numbers::<T, 1>(shape)?, clock.rt.zeros::<T, 1>(shape)?);
    clock.calls_and_copies(|| ops::dropout(&input, &mut out, 0.1, Philox::new(42)))
}

/// Extents: rows, and the elements of a row, along which sums are.
pub(crate) fn cumulative_sum<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let shape = request.extents::<2>();
    let (input, mut out) = (clock.numbers::<T, 2>(shape)?, clock.rt.zeros::<T, 2>(shape)?);
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::cumulative_sum(&input, &mut out, 1));
    }
    clock.calls_and_copies(|| ops::cumulative_sum_backward(&input, &mut out, 1))
}
