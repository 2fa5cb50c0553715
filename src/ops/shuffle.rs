//! Seeded shuffling: a [`permutation`], and rows in its order ([`gather_rows`]).

use dahl::ndarray::{ArrayView1, ArrayViewD, ArrayViewMutD, Axis};
use dahl::prelude::*;

use crate::cpu::philox::index_below;

/// Fills `out` with the numbers below its length in an order that depends on `seed` and the length alone, every
/// order as likely as any other.
///
/// Fisher and Yates's shuffle (Knuth, *The Art of Computer Programming* 2, section 3.4.2, algorithm P) with numbers of
/// Philox4x32-10.
#[codelet(W, gradient = none, cuda = crate::kernels::PERMUTATION)]
pub fn permutation(out: &mut [u32], seed: u64) {
    for (index, out) in (0..).zip(out.iter_mut()) {
        *out = index;
    }
    for last in (1..out.len()).rev() {
        out.swap(last, index_below(last + 1, seed, last as u64));
    }
}

/// `shape` with `rows` for its first extent.
fn with_rows<const N: usize>(mut shape: [usize; N], rows: usize) -> [usize; N] {
    if let Some(extent) = shape.first_mut() {
        *extent = rows;
    }
    shape
}

/// `out[i] = input[indices[i]]`, along the first axis: with a [`permutation`], the rows of `input` shuffled. An index
/// that is not below `input`'s first extent fails the task.
///
/// # Shapes
/// `input: [rows, ..]`, `indices: [out rows]`, `out: [out rows, ..]`.
#[codelet(
    R, R, W,
    shape(out = with_rows(input.shape(), indices.len())),
    check(!input.shape().is_empty()),
    cuda = crate::kernels::GATHER_ROWS,
    gradient = gather_rows_gradient(indices),
    reference = crate::reference::moved::gather_rows,
    error = rounded
)]
pub fn gather_rows<T: Element>(input: ArrayViewD<T>, indices: ArrayView1<u32>, mut out: ArrayViewMutD<T>) {
    let rows = input.shape()[0];
    for (mut out, &index) in out.outer_iter_mut().zip(indices) {
        assert!((index as usize) < rows, "index {index} is not below {rows} rows");
        out.assign(&input.index_axis(Axis(0), index as usize));
    }
}

fn gather_rows_gradient<T: Real, const N: usize>(rule: GatherRowsGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    super::IndexSelectBackward::under(rule.scope, rule.gradient, rule.indices, by_input, 0)
}
