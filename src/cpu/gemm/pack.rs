//! Packs factors in the order in which [`tile`](super::tile) reads them: [`pack`] for the right one, [`transpose`] for
//! a left one whose rows are strided.

use ndarray::ArrayView2;
use pulp::Simd;

use super::tile::Left;
use crate::cpu::lanes::{Lanes, MOST_LANES, copy, with_lanes};

/// The length of the buffer that [`pack`] needs.
pub(super) fn packed_len(columns: usize, depth: usize, width: usize) -> usize {
    columns.next_multiple_of(width) * depth
}

/// Packs a matrix in panels of `width` columns. The last one may have fewer; zeros fill its last vector.
///
/// # Shapes
/// `matrix: [depth, columns]`, `panels: [columns / width, depth, width]`.
#[inline(always)]
pub(super) fn pack<C: Lanes, S: Simd>(simd: S, matrix: ArrayView2<'_, C>, width: usize, panels: &mut [C]) {
    let (depth, columns) = matrix.dim();
    if depth == 0 {
        return;
    }
    if matrix.strides()[1] == 1 {
        // Row by row, in the order of the matrix, which may be far in memory; the panels are near.
        for (number, from) in matrix.rows().into_iter().enumerate() {
            let from = from.to_slice().expect("elements of a row lie side by side");
            for (panel, from) in panels.chunks_exact_mut(depth * width).zip(from.chunks(width)) {
                let to = &mut panel[number * width..][..width];
                let filled = from.len().next_multiple_of(C::lanes::<S>());
                copy(simd, from, &mut to[..from.len()]);
                to[from.len()..filled].fill(C::ZERO);
            }
        }
        return;
    }
    for (panel, first) in panels.chunks_exact_mut(depth * width).zip((0..columns).step_by(width)) {
        let count = width.min(columns - first);
        let filled = count.next_multiple_of(C::lanes::<S>());
        if matrix.strides()[0] == 1 {
            let column =
                |number: usize| matrix.column(first + number).to_slice().expect("elements lie side by side");
            squares(simd, column, [count, depth], panel, width);
            if count < filled {
                panel.chunks_exact_mut(width).for_each(|to| to[count..filled].fill(C::ZERO));
            }
        } else {
            for (from, to) in matrix.rows().into_iter().zip(panel.chunks_exact_mut(width)) {
                to.fill(C::ZERO);
                to.iter_mut().zip(from.iter().skip(first)).for_each(|(to, &from)| *to = from);
            }
        }
    }
}

/// The distance of the rows that [`transpose`] writes: not a power of two, since such rows would share a set of the
/// cache.
fn row_len(depth: usize) -> usize {
    depth.next_multiple_of(MOST_LANES) + MOST_LANES
}

/// The length of the buffer that [`transpose`] needs.
pub(super) fn rows_len(rows: usize, depth: usize) -> usize {
    rows * row_len(depth)
}

/// Copies a matrix to `buffer`, so that its rows are contiguous.
#[inline(always)]
pub(super) fn transpose<C: Lanes, S: Simd>(simd: S, matrix: ArrayView2<'_, C>, buffer: &mut [C]) -> Left<C> {
    let (rows, depth) = matrix.dim();
    let row_len = row_len(depth);
    let buffer = &mut buffer[..rows * row_len];
    if matrix.strides()[0] == 1 {
        let column = |number: usize| matrix.column(number).to_slice().expect("elements lie side by side");
        squares(simd, column, [depth, rows], buffer, row_len);
    } else {
        for (from, to) in matrix.rows().into_iter().zip(buffer.chunks_exact_mut(row_len)) {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
        }
    }
    Left { first: buffer.as_ptr(), strides: [row_len as isize, 1], depth }
}

/// `to[i * stride + j] = line(j)[i]` for `lines` of `length` elements, in squares of vectors.
#[inline(always)]
fn squares<'a, C: Lanes, S: Simd>(
    simd: S,
    line: impl Fn(usize) -> &'a [C],
    [lines, length]: [usize; 2],
    to: &mut [C],
    stride: usize,
) {
    let lanes = C::lanes::<S>();
    let (whole_lines, whole) = (lines / lanes * lanes, length / lanes * lanes);
    for group in (0..whole_lines).step_by(lanes) {
        with_lanes!(C, S, N => {
            let mut lines = [[].as_slice(); N];
            for (number, to) in lines.iter_mut().enumerate() {
                *to = C::vectors::<S>(&line(group + number)[..whole]).0;
            }
            transpose_lines(simd, lines, &mut to[group..], stride);
        });
    }
    for number in 0..lines {
        let done = if number < whole_lines { whole } else { 0 };
        for (place, &value) in line(number).iter().enumerate().take(length).skip(done) {
            to[place * stride + number] = value;
        }
    }
}

/// `to[i * stride + j] = lines[j][i]` for `N` lines of equally many vectors, of `N` elements each.
#[inline(always)]
fn transpose_lines<C: Lanes, S: Simd, const N: usize>(
    simd: S,
    lines: [&[C::Vector<S>]; N],
    to: &mut [C],
    stride: usize,
) {
    for number in 0..lines[0].len() {
        let mut square = [C::splat(simd, C::ZERO); N];
        for (vector, line) in square.iter_mut().zip(lines) {
            *vector = line[number];
        }
        for (place, vector) in C::transpose(simd, square).into_iter().enumerate() {
            let to = &mut to[(number * N + place) * stride..][..N];
            C::vectors_mut::<S>(to).0[0] = vector;
        }
    }
}
