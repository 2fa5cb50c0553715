//! [`share_rows`], [`share_two`] and [`share_parts`]: an output that the cores share, in rows or in parts, each of which is computed from the same
//! rows or parts of the inputs.

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

/// [`share_rows`] of two outputs with one element for each row.
pub(crate) fn share_two<T: Send>(
    cores: Cores,
    cost: usize,
    [first, second]: [&mut [T]; 2],
    f: impl Fn(Range<usize>, [&mut [T]; 2]) + Sync,
) {
    let rows = first.len();
    match cores {
        Cores::One => f(0..rows, [first, second]),
        Cores::Pool => {
            let of_part = (PART / cost.max(1)).max(1);
            let parts = first.par_chunks_mut(of_part).zip(second.par_chunks_mut(of_part)).enumerate();
            parts.for_each(|(part, (first, second))| {
                f(part * of_part..rows.min((part + 1) * of_part), [first, second]);
            });
        }
    }
}

/// Calls `f` with each part of two inputs and of `out`, of these lengths. Several cores share the parts.
pub(crate) fn share_parts<A: Sync, B: Send>(
    cores: Cores,
    [(first, first_len), (second, second_len)]: [(&[A], usize); 2],
    (out, len): (&mut [B], usize),
    f: impl Fn([&[A]; 2], &mut [B]) + Sync,
) {
    if cores == Cores::Pool {
        let inputs = first.par_chunks(first_len).zip(second.par_chunks(second_len));
        inputs.zip(out.par_chunks_mut(len)).for_each(|((first, second), out)| f([first, second], out));
    } else {
        let inputs = first.chunks(first_len).zip(second.chunks(second_len));
        inputs.zip(out.chunks_mut(len)).for_each(|((first, second), out)| f([first, second], out));
    }
}
