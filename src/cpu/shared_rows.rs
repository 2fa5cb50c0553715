//! [`share_rows`]: an output of rows that the cores share, each of which is computed from the same rows of the inputs.

use std::ops::Range;

use dahl_core::rayon::prelude::*;

use super::gemm::Cores;

/// About how many elements a core computes at a time: enough that it pays to ask for the next ones.
const PART: usize = 64 * 1024;

/// Calls `f` with all rows, or, on several cores, with parts of them that depend on the shape alone: their numbers, and
/// their elements of `out`, `extent` for each row. So many elements of the inputs belong to a row of `out`: `cost`.
#[inline(always)]
pub(crate) fn share_rows<T: Send>(
    cores: Cores,
    [extent, cost]: [usize; 2],
    out: &mut [T],
    f: impl Fn(Range<usize>, &mut [T]) + Sync,
) {
    if out.is_empty() {
        return;
    }
    let rows = out.len() / extent;
    match cores {
        Cores::One => f(0..rows, out),
        Cores::Pool => {
            let of_part = (PART / cost.max(1)).max(1);
            let parts = out.par_chunks_mut(of_part * extent).enumerate();
            parts.for_each(|(part, out)| f(part * of_part..rows.min((part + 1) * of_part), out));
        }
    }
}
