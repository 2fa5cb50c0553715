//! [`product`] and [`add_product`]: products of `bf16` by the instruction that multiplies pairs of them and adds to
//! `f32` (AVX512-BF16).
//!
//! As in [`blocked`](super::blocked), with pairs of elements that follow each other in the depth in place of elements:
//! a tile of sums stays in registers, and the right factor is packed in panels as wide as a tile. The left factor is
//! packed in pairs unless it has that order already. If the depth is odd, the last pair has a zero. Sums that are
//! rounded go to memory as `f32` only between two blocks of the depth.

use std::arch::x86_64::{
    __m256bh, __m256i, __m512, __m512bh, _mm256_mask_storeu_epi16, _mm512_add_ps, _mm512_cvtneps_pbh,
    _mm512_dpbf16_ps, _mm512_loadu_si512, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps, _mm512_set1_epi32,
    _mm512_setzero_ps,
};

use half::bf16;
use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::tile::{Left, OutputTile};
use crate::cpu::bf16_dot::{self, Pair, are_exact, in_pairs, is_supported};
use crate::cpu::scratch::with_scratch;

/// The most rows of a tile.
const ROWS: usize = 6;
/// The most vectors of columns of a tile.
const VECTORS: usize = 4;
/// Sums in a vector.
const LANES: usize = 16;
/// Columns of a tile.
const WIDTH: usize = VECTORS * LANES;
/// The most pairs along the depth that a tile sums before it writes.
const PAIRS: usize = 512;
/// Bytes of a packed block of the right factor: a part of the second-level cache.
const RIGHT_BYTES: usize = 512 * 1024;
/// Rows of the left factor that are packed at a time. The sums of as many rows and columns are buffered between two
/// blocks of the depth.
const EXTENT: usize = 1024;

/// Whether products of these elements, and sums of the products, are [exact](are_exact) but for rounding.
pub(super) fn is_exact(matrix: ArrayView2<'_, bf16>) -> bool {
    let matrix = if matrix.strides()[1] == 1 { matrix } else { matrix.reversed_axes() };
    matrix.rows().into_iter().all(|row| match row.to_slice() {
        Some(row) => are_exact(row),
        None => row.iter().all(|&element| bf16_dot::is_exact(element)),
    })
}

/// Where the sums of a block of the depth are written; row and column numbers are the same in both places.
#[derive(Clone, Copy)]
struct Target {
    sums: OutputTile<f32>,
    /// Whether they are added to the values there.
    adds: bool,
    /// Where the rounded sums are written after the last block of the depth; `sums` is not written then.
    rounded: Option<OutputTile<bf16>>,
}

impl Target {
    /// The target of `columns` columns from number `column` on, in the rows from number `row` on.
    #[inline(always)]
    fn part(self, row: usize, column: usize, columns: usize) -> Self {
        let sums = self.sums.part(row, column, columns);
        Self { sums, rounded: self.rounded.map(|rounded| rounded.part(row, column, columns)), ..self }
    }
}

/// Blocks of the depth, of equally many pairs except for the last one: how many, and how many pairs.
fn blocks_of(depth: usize) -> (usize, usize) {
    let blocks = depth.div_ceil(2 * PAIRS);
    (blocks, depth.div_ceil(2 * blocks.max(1)))
}

/// `out = a x b`, rounded once, for matrices that are [exact](is_exact).
///
/// # Panics
/// If the machine lacks the instruction, or the shapes do not agree.
#[allow(unsafe_code, reason = "tiles of one matrix are written through one pointer")]
pub(super) fn product(a: ArrayView2<'_, bf16>, b: ArrayView2<'_, bf16>, mut out: ArrayViewMut2<'_, bf16>) {
    let ((rows, columns), depth) = (out.dim(), a.ncols());
    assert!(out.strides()[1] == 1 || columns <= 1);
    let (blocks, _) = blocks_of(depth);
    if blocks == 0 {
        return out.fill(bf16::ZERO);
    }
    // With one block no sum is buffered, and the right factor is packed once for all columns.
    let extents = [rows.min(EXTENT), if blocks == 1 { columns } else { columns.min(EXTENT) }];
    let sums_len = if blocks == 1 { 0 } else { extents[0] * extents[1] };
    with_scratch([sums_len], |[sums]: [&mut [f32]; 1]| {
        for row in (0..rows).step_by(extents[0].max(1)) {
            let rows = row..rows.min(row + extents[0]);
            for column in (0..columns).step_by(extents[1].max(1)) {
                let columns = column..columns.min(column + extents[1]);
                let mut out = out.slice_mut(s![rows.clone(), columns.clone()]);
                let row_stride = out.strides()[0];
                let rounded = OutputTile { first: out.as_mut_ptr(), row_stride, columns: columns.len() };
                let row_stride = columns.len() as isize;
                let sums = OutputTile { first: sums.as_mut_ptr(), row_stride, columns: columns.len() };
                let target = Target { sums, adds: false, rounded: Some(rounded) };
                // SAFETY: `rounded` has the elements of a part of `out`, and `sums`, if there is more than one block, as many
                // of a buffer; both are borrowed mutably.
                unsafe { multiply(a.slice(s![rows.clone(), ..]), b.slice(s![.., columns]), target) };
            }
        }
    });
}

/// `out += a x b`, for matrices that are [exact](is_exact).
///
/// # Panics
/// If the machine lacks the instruction, or the shapes do not agree.
#[allow(unsafe_code, reason = "tiles of one matrix are written through one pointer")]
pub(super) fn add_product(a: ArrayView2<'_, bf16>, b: ArrayView2<'_, bf16>, mut out: ArrayViewMut2<'_, f32>) {
    assert_eq!(out.dim(), (a.nrows(), b.ncols()));
    assert!(out.strides()[1] == 1 || out.ncols() <= 1);
    let sums = OutputTile { first: out.as_mut_ptr(), row_stride: out.strides()[0], columns: out.ncols() };
    // SAFETY: `sums` has the elements of `out`, which is borrowed mutably.
    unsafe { multiply(a, b, Target { sums, adds: true, rounded: None }) };
}

/// Computes the product, to `target`.
///
/// # Panics
/// If the machine lacks the instruction, or the shapes do not agree.
///
/// # Safety
/// The elements of `target`, as many rows as `a` has and as many columns as `b`, are valid for reads and writes, and
/// nothing else accesses them meanwhile. Those of its sums need not exist if all of the depth is one block and the sums
/// are rounded.
#[allow(
    unsafe_code,
    reason = "target features, and tiles of one matrix that are written through one pointer"
)]
unsafe fn multiply(a: ArrayView2<'_, bf16>, b: ArrayView2<'_, bf16>, target: Target) {
    let (rows, depth, columns) = (a.nrows(), a.ncols(), b.ncols());
    assert!(is_supported() && b.nrows() == depth && target.sums.columns == columns);
    if rows == 0 || columns == 0 || depth == 0 {
        return;
    }
    let (_, pairs) = blocks_of(depth);
    let block_columns = (RIGHT_BYTES / (4 * pairs)).next_multiple_of(WIDTH).min(columns);
    let lengths = [rows * pairs, block_columns.next_multiple_of(WIDTH) * pairs];
    with_scratch(lengths, |[left, right]: [&mut [Pair]; 2]| {
        for begin in (0..depth).step_by(2 * pairs) {
            let depths = begin..depth.min(begin + 2 * pairs);
            let pairs = depths.len().div_ceil(2);
            let left = left_in_pairs(a.slice(s![.., depths.clone()]), left);
            let rounded = target.rounded.filter(|_| depths.end == depth);
            let target = Target { adds: target.adds || begin > 0, rounded, ..target };
            for column in (0..columns).step_by(block_columns) {
                let end = columns.min(column + block_columns);
                let b = b.slice(s![depths.clone(), column..end]);
                // SAFETY: the machine has the instruction, as asserted.
                unsafe { pack(b, right) };
                let right = &right[..(end - column).next_multiple_of(WIDTH) * pairs];
                // SAFETY: the machine has the instruction, as asserted. `left` has `rows` rows of `pairs`; the caller
                // guarantees the columns of the target.
                unsafe { block(left, rows, right, target.part(0, column, end - column)) };
            }
        }
    });
}

/// The rows of a matrix in pairs: in place if they consist of contiguous, whole pairs, else copied to `buffer`.
fn left_in_pairs(a: ArrayView2<'_, bf16>, buffer: &mut [Pair]) -> Left<Pair> {
    let (rows, depth) = a.dim();
    let pairs = depth.div_ceil(2);
    if a.strides()[1] == 1 && depth % 2 == 0 && a.strides()[0] % 2 == 0 {
        return Left { first: a.as_ptr().cast(), strides: [a.strides()[0] / 2, 1], depth: pairs };
    }
    let buffer = &mut buffer[..rows * pairs];
    if a.strides()[0] == 1 {
        interleave(a.reversed_axes(), rows, buffer);
        return Left { first: buffer.as_ptr(), strides: [1, rows as isize], depth: pairs };
    }
    for (from, to) in a.rows().into_iter().zip(buffer.chunks_exact_mut(pairs)) {
        along(from.iter().copied(), to.iter_mut());
    }
    Left { first: buffer.as_ptr(), strides: [pairs as isize, 1], depth: pairs }
}

/// Writes elements in pairs, with a zero after an odd number of them.
#[inline(always)]
fn along<'a>(mut from: impl Iterator<Item = bf16>, to: impl Iterator<Item = &'a mut Pair>) {
    for to in to {
        *to = [from.next().unwrap_or(bf16::ZERO), from.next().unwrap_or(bf16::ZERO)];
    }
}

/// `to[i, j] = [matrix[2 i, j], matrix[2 i + 1, j]]`, with rows of `width`, and zeros after the columns of `matrix`,
/// whose rows are contiguous.
///
/// # Panics
/// If the machine lacks the instruction.
#[allow(unsafe_code, reason = "target features")]
pub(super) fn interleave(matrix: ArrayView2<'_, bf16>, width: usize, to: &mut [Pair]) {
    assert!(is_supported());
    // SAFETY: a machine with the instruction has these features.
    unsafe { interleave_in_vectors(matrix, width, to) };
}

/// [`interleave`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
fn interleave_in_vectors(matrix: ArrayView2<'_, bf16>, width: usize, to: &mut [Pair]) {
    let (depth, columns) = matrix.dim();
    let line = |row: usize| matrix.row(row).to_slice().expect("elements of a row lie side by side");
    for (pair, to) in to.chunks_exact_mut(width).take(depth.div_ceil(2)).enumerate() {
        let even = line(2 * pair);
        if 2 * pair + 1 < depth {
            bf16_dot::interleave(even, line(2 * pair + 1), to);
        } else {
            to.iter_mut().zip(even).for_each(|(to, &even)| *to = [even, bf16::ZERO]);
        }
        to[columns..].fill([bf16::ZERO; 2]);
    }
}

/// Packs a block of the right factor.
///
/// # Shapes
/// `b: [depth, columns]`, `panels: [columns / WIDTH, pairs, WIDTH]`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
fn pack(b: ArrayView2<'_, bf16>, panels: &mut [Pair]) {
    let (depth, columns) = b.dim();
    let pairs = depth.div_ceil(2);
    for (first, panel) in (0..columns).step_by(WIDTH).zip(panels.chunks_exact_mut(pairs * WIDTH)) {
        let b = b.slice(s![.., first..columns.min(first + WIDTH)]);
        if b.strides()[1] == 1 {
            interleave_in_vectors(b, WIDTH, panel);
        } else {
            if b.ncols() < WIDTH {
                panel.fill([bf16::ZERO; 2]);
            }
            for (number, column) in b.columns().into_iter().enumerate() {
                let to = panel[number..].iter_mut().step_by(WIDTH);
                match column.to_slice() {
                    Some(column) => along(column.iter().copied(), to),
                    None => along(column.iter().copied(), to),
                }
            }
        }
    }
}

/// Computes the product of rows and a packed block of columns.
///
/// # Safety
/// `rows` rows of `left` are valid for reads, and those of `target` for reads and writes; nothing else writes the
/// former or accesses the latter meanwhile.
#[allow(unsafe_code, reason = "tiles of one matrix are written through one pointer")]
#[allow(clippy::multiple_unsafe_ops_per_block, reason = "one of them is called")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
unsafe fn block(left: Left<Pair>, rows: usize, right: &[Pair], target: Target) {
    let panel_len = left.depth * WIDTH;
    let block_columns = target.sums.columns;
    let mut row = 0;
    while row < rows {
        let left = left.below(row);
        let count = match rows - row {
            1 => 1,
            2 | 3 => 2,
            4 | 5 => 4,
            _ => ROWS,
        };
        for (panel, column) in right.chunks_exact(panel_len).zip((0..block_columns).step_by(WIDTH)) {
            let columns = WIDTH.min(block_columns - column);
            let target = target.part(row, column, columns);
            // SAFETY: the caller guarantees the rows from `row` on, which are at least as many as the tile has.
            unsafe {
                match (count, columns.div_ceil(LANES)) {
                    (1, _) => tile::<1, VECTORS>(left, panel, target),
                    (2, _) => tile::<2, VECTORS>(left, panel, target),
                    (4, _) => tile::<4, VECTORS>(left, panel, target),
                    (_, 1) => tile::<ROWS, 1>(left, panel, target),
                    (_, 2) => tile::<ROWS, 2>(left, panel, target),
                    _ => tile::<ROWS, VECTORS>(left, panel, target),
                }
            }
        }
        row += count;
    }
}

/// Computes the product of `R` rows and `V` vectors of columns.
///
/// # Safety
/// As for [`block`], with `R` rows.
#[allow(unsafe_code, reason = "tiles of one matrix are written through one pointer")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
unsafe fn tile<const R: usize, const V: usize>(left: Left<Pair>, right: &[Pair], target: Target) {
    const { assert!(V <= VECTORS) };
    let [row_stride, depth_stride] = left.strides;
    let mut sums = [[_mm512_setzero_ps(); V]; R];
    let mut first = left.first.cast::<i32>();
    let (lines, _) = right.as_chunks::<WIDTH>();
    for line in &lines[..left.depth] {
        let vectors: [__m512bh; V] = std::array::from_fn(|vector| {
            // SAFETY: `vector` is below `V`, and a line has `VECTORS` vectors, at least `V`.
            in_pairs(unsafe { _mm512_loadu_si512(line.as_ptr().wrapping_add(vector * LANES).cast()) })
        });
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: `row` is below `R`, and `first` is in the first row of `left`, which the caller guarantees.
            let pair = unsafe { first.wrapping_offset(row as isize * row_stride).read_unaligned() };
            let pair = in_pairs(_mm512_set1_epi32(pair));
            for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                *sum = _mm512_dpbf16_ps(*sum, pair, vector);
            }
        }
        first = first.wrapping_offset(depth_stride);
    }
    for (row, sums) in sums.iter().enumerate() {
        for (vector, &sum) in sums.iter().enumerate() {
            let columns = target.sums.columns.saturating_sub(vector * LANES).min(LANES);
            // SAFETY: the caller guarantees the elements of `target`, which include those read and written here.
            unsafe { put(sum, target.part(row, vector * LANES, columns)) };
        }
    }
}

/// Writes a vector of sums to the columns of the target, at most as many as it has lanes, in its first row.
///
/// # Safety
/// They are valid for reads and writes.
#[allow(unsafe_code, reason = "takes pointers")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
unsafe fn put(mut sum: __m512, target: Target) {
    let Target { sums, adds, rounded } = target;
    // A full mask costs no more than none.
    let mask = ((1_u32 << sums.columns) - 1) as u16;
    if adds {
        // SAFETY: the mask selects the elements that exist.
        sum = _mm512_add_ps(unsafe { _mm512_maskz_loadu_ps(mask, sums.first) }, sum);
    }
    if let Some(rounded) = rounded {
        // The instruction flushes subnormal numbers to zero; sums of exact products are never subnormal.
        let bits = bits_of(_mm512_cvtneps_pbh(sum));
        // SAFETY: as above.
        unsafe { _mm256_mask_storeu_epi16(rounded.first.cast(), mask, bits) };
    } else {
        // SAFETY: as above.
        unsafe { _mm512_mask_storeu_ps(sums.first, mask, sum) };
    }
}

/// The same bits, as the type that a store takes.
#[allow(unsafe_code, reason = "there is no safe conversion")]
#[inline(always)]
fn bits_of(vector: __m256bh) -> __m256i {
    // SAFETY: both are 32 bytes, and any of their bits are valid.
    unsafe { std::mem::transmute(vector) }
}
