//! [`add_product`]: products of `bf16` in AMX tile registers, which are multiplied as matrices ([`tiles`]).
//!
//! Both factors are copied in the order in which tiles are loaded, with zeros behind their last rows, columns and
//! pairs: the left one in strips of [`BLOCK`] rows, the right one in panels of [`BLOCK`] columns, each for [`DEPTH`] of
//! the depth, so that a panel stays in the L1 cache while the strips stream past it.

use half::bf16;
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2, s};

use super::bf16::interleave;
use crate::cpu::bf16_dot::{Pair, are_exact, are_exact_sums};
use crate::cpu::scratch::with_scratch;
use crate::cpu::tiles::{self, BLOCK, Left, Right, SIDE, Step, Sums, Tiles};

/// Elements along the depth that are multiplied before sums are written: an even number.
const DEPTH: usize = 512;
/// Rows, and columns, that are packed at a time: the strips stay in the second-level cache while each panel is
/// multiplied.
const EXTENT: usize = 1024;
/// Elements of a tile along the depth.
const STEP: usize = 2 * SIDE;

/// Whether tiles are faster than vectors of pairs: if few of their elements would be zeros.
pub(super) fn are_worthwhile(rows: usize, depth: usize, columns: usize) -> bool {
    tiles::are_there() && rows >= SIDE / 2 && depth >= SIDE && columns >= SIDE / 2
}

/// `out += a x b`, in blocks of [`EXTENT`] rows and columns. From the first depth of a block whose elements, or the
/// sums before it, are not [exact](are_exact), `otherwise` computes the rest.
///
/// # Panics
/// If the machine has no tiles, the shapes do not agree, or the rows of `out` are not contiguous.
pub(super) fn add_product(
    a: ArrayView2<'_, bf16>,
    b: ArrayView2<'_, bf16>,
    mut out: ArrayViewMut2<'_, f32>,
    otherwise: impl Fn(ArrayView2<'_, bf16>, ArrayView2<'_, bf16>, ArrayViewMut2<'_, f32>),
) {
    let ((rows, columns), depth) = (out.dim(), a.ncols());
    assert!(a.nrows() == rows && b.dim() == (depth, columns));
    assert!(out.strides()[1] == 1);
    for row in (0..rows).step_by(EXTENT) {
        let rows = row..rows.min(row + EXTENT);
        for column in (0..columns).step_by(EXTENT) {
            let columns = column..columns.min(column + EXTENT);
            let (a, b) = (a.slice(s![rows.clone(), ..]), b.slice(s![.., columns.clone()]));
            add_block(a, b, out.slice_mut(s![rows.clone(), columns]), &otherwise);
        }
    }
}

/// [`add_product`] of one block.
fn add_block(
    a: ArrayView2<'_, bf16>,
    b: ArrayView2<'_, bf16>,
    mut out: ArrayViewMut2<'_, f32>,
    otherwise: impl Fn(ArrayView2<'_, bf16>, ArrayView2<'_, bf16>, ArrayViewMut2<'_, f32>),
) {
    let ((rows, columns), depth) = (out.dim(), a.ncols());
    let mut is_exact =
        out.rows().into_iter().all(|row| are_exact_sums(row.to_slice().expect("elements side by side")));
    let steps = depth.min(DEPTH).div_ceil(STEP);
    let lengths = [rows, columns].map(|extent| extent.next_multiple_of(BLOCK) * steps * SIDE);
    with_scratch(lengths, |[left, right]: [&mut [Pair]; 2]| {
        for begin in (0..depth).step_by(DEPTH) {
            let depths = begin..depth.min(begin + DEPTH);
            let steps = depths.len().div_ceil(STEP);
            let (a, b) = (a.slice(s![.., depths.clone()]), b.slice(s![depths, ..]));
            let left = &mut left[..rows.next_multiple_of(BLOCK) * steps * SIDE];
            let right = &mut right[..columns.next_multiple_of(BLOCK) * steps * SIDE];
            is_exact = is_exact
                && Tiles::with(|tiles| {
                    pack_left(tiles, a, left);
                    pack_right(tiles, b, right);
                    let is_exact = are_exact(left.as_flattened()) && are_exact(right.as_flattened());
                    if is_exact {
                        add_packed(tiles, left, right, steps, out.view_mut());
                    }
                    is_exact
                });
            if !is_exact {
                otherwise(a, b, out.view_mut());
            }
        }
    });
}

/// Copies the left factor.
///
/// # Shapes
/// `a: [rows, depth]`, `strips: [rows / BLOCK, depth / STEP, BLOCK, SIDE]`.
fn pack_left(tiles: &Tiles, a: ArrayView2<'_, bf16>, strips: &mut [Pair]) {
    let (rows, depth) = a.dim();
    let steps = depth.div_ceil(STEP);
    let strips = strips.as_chunks_mut::<SIDE>().0.chunks_exact_mut(steps * BLOCK);
    for (first, strip) in (0..rows).step_by(BLOCK).zip(strips) {
        let rows = first..rows.min(first + BLOCK);
        for (begin, tile) in (0..depth).step_by(STEP).zip(strip.chunks_exact_mut(BLOCK)) {
            let a = a.slice(s![rows.clone(), begin..depth.min(begin + STEP)]);
            if a.strides()[0] == 1 && a.strides()[1] != 1 {
                // Contiguous columns: copied as rows of pairs, and then transposed.
                let (halves, _) = tile.as_chunks_mut::<SIDE>();
                for (part, tile) in halves.iter_mut().enumerate() {
                    let rows = (part * SIDE).min(a.nrows())..((part + 1) * SIDE).min(a.nrows());
                    let lines = a.slice(s![rows, ..]).reversed_axes();
                    interleave(lines, SIDE, tile.as_flattened_mut());
                    tile[lines.nrows().div_ceil(2)..].fill([[bf16::ZERO; 2]; SIDE]);
                    tiles.transpose(tile);
                }
                continue;
            }
            for (row, to) in a.rows().into_iter().zip(&mut *tile) {
                copy(row, to.as_flattened_mut());
            }
            tile[a.nrows()..].fill([[bf16::ZERO; 2]; SIDE]);
        }
    }
}

/// Copies elements, and zeros behind them.
#[inline(always)]
fn copy(from: ArrayView1<'_, bf16>, to: &mut [bf16]) {
    match from.to_slice() {
        Some(from) => to[..from.len()].copy_from_slice(from),
        None => to.iter_mut().zip(from).for_each(|(to, &from)| *to = from),
    }
    to[from.len()..].fill(bf16::ZERO);
}

/// Copies the right factor.
///
/// # Shapes
/// `b: [depth, columns]`, `panels: [columns / BLOCK, depth / 2, BLOCK]`, where the depth is a multiple of [`STEP`].
fn pack_right(tiles: &Tiles, b: ArrayView2<'_, bf16>, panels: &mut [Pair]) {
    let (depth, columns) = b.dim();
    let pairs = depth.div_ceil(STEP) * SIDE;
    for (first, panel) in (0..columns).step_by(BLOCK).zip(panels.chunks_exact_mut(pairs * BLOCK)) {
        let b = b.slice(s![.., first..columns.min(first + BLOCK)]);
        if b.strides()[1] == 1 || b.ncols() == 1 && b.strides()[0] != 1 {
            interleave(b, BLOCK, panel);
            panel[depth.div_ceil(2) * BLOCK..].fill([bf16::ZERO; 2]);
            continue;
        }
        // Contiguous columns, or strided in both directions: transposed tile by tile.
        let (lines, _) = panel.as_chunks_mut::<BLOCK>();
        for (begin, lines) in (0..depth).step_by(STEP).zip(lines.chunks_exact_mut(SIDE)) {
            let b = b.slice(s![begin..depth.min(begin + STEP), ..]);
            for part in 0..BLOCK / SIDE {
                let mut tile = [[[bf16::ZERO; 2]; SIDE]; SIDE];
                for (column, to) in b.columns().into_iter().skip(part * SIDE).zip(&mut tile) {
                    copy(column, to.as_flattened_mut());
                }
                tiles.transpose(&mut tile);
                for (line, tile) in lines.iter_mut().zip(&tile) {
                    line[part * SIDE..][..SIDE].copy_from_slice(tile);
                }
            }
        }
    }
}

/// Adds the product of packed factors.
#[allow(unsafe_code, reason = "blocks of one matrix are written through one pointer")]
fn add_packed(tiles: &Tiles, left: &[Pair], right: &[Pair], steps: usize, mut out: ArrayViewMut2<'_, f32>) {
    let (rows, columns) = out.dim();
    let len = steps * SIDE * BLOCK; // of a strip, and of a panel
    assert!(left.len() == rows.div_ceil(BLOCK) * len && right.len() == columns.div_ceil(BLOCK) * len);
    let bytes = |pairs: usize| pairs * size_of::<Pair>();
    let mut of_step = [Step { left: 0, right: 0 }; DEPTH / STEP];
    for (index, step) in of_step.iter_mut().enumerate() {
        *step = Step { left: bytes(index * BLOCK * SIDE), right: bytes(index * SIDE * BLOCK) };
    }
    let mut edge = [[0.0_f32; BLOCK]; BLOCK];
    for (panel, right) in right.chunks_exact(len).enumerate() {
        for (strip, left) in left.chunks_exact(len).enumerate() {
            let block = [(strip, rows), (panel, columns)]
                .map(|(block, end)| block * BLOCK..end.min((block + 1) * BLOCK));
            let [rows, columns] = block;
            let mut out = out.slice_mut(s![rows, columns]);
            let count = if out.nrows() <= SIDE { SIDE } else { BLOCK };
            let left = Left { first: left.as_ptr(), row_bytes: bytes(SIDE), rows: count };
            let right = Right { first: right.as_ptr(), row_bytes: bytes(BLOCK) };
            let is_whole = out.dim() == (count, BLOCK);
            let sums = if is_whole {
                let row_bytes = (out.strides()[0] as usize).wrapping_mul(size_of::<f32>());
                Sums { first: out.as_mut_ptr(), row_bytes }
            } else {
                for (to, from) in edge.iter_mut().zip(out.rows()) {
                    to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
                }
                Sums { first: edge.as_mut_ptr().cast(), row_bytes: BLOCK * size_of::<f32>() }
            };
            // SAFETY:
            // - strip and panel have `len` pairs: for each of `steps` steps, at most as many as `of_step` has, a tile
            //   or two of rows of `SIDE` pairs, and `SIDE` rows of `BLOCK` pairs, at the given distances.
            // - `sums` has `count` rows of `BLOCK` elements: a block of `out`, which is borrowed mutably and whose rows
            //   are contiguous, at any distance; or `edge`.
            unsafe { tiles.add_products(left, right, &of_step[..steps], sums.as_initial(), sums) };
            if !is_whole {
                for (from, mut to) in edge.iter().zip(out.rows_mut()) {
                    to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
                }
            }
        }
    }
}
