//! [`one_hot`]: turns labels into rows with a single one.

use dahl::ndarray::{ArrayView1, ArrayViewMut2};
use dahl::prelude::*;

use super::label::{Label, class_of};

/// `out[i, j] = 1` if `labels[i] == j`, else 0. A label that is not below `classes` fails the task.
///
/// # Shapes
/// `labels: [batch]`, `out: [batch, classes]`.
#[codelet(
    R, W,
    shape(out = [labels.len(), classes]),
    cuda = crate::kernels::ONE_HOT,
    gradient = none,
    reference = crate::reference::moved::one_hot,
    error = rounded
)]
pub fn one_hot<L: Label + Element, T: Real>(
    labels: ArrayView1<L>,
    mut out: ArrayViewMut2<T>,
    classes: usize,
) {
    out.fill(T::ZERO);
    for (row, &label) in labels.iter().enumerate() {
        out[[row, class_of(label, row, classes)]] = T::ONE;
    }
}
