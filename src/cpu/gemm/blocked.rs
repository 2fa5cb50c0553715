//! [`Blocked`]: products in blocks that stay in the caches.
//!
//! For a block of the depth, the right factor is packed in panels as wide as a tile. The panels stream from the L2
//! cache past a tile's rows of the left factor, which stay in the L1 cache. (The panels are those of Goto and van de
//! Geijn 2008, *Anatomy of High-Performance Matrix Multiplication*, and of BLIS. BLIS has the loop over rows inside,
//! which writes rows of the output in pieces.) For few rows packing does not pay. Then the right factor is read
//! unpacked, and a large one with the loop over rows inside ([`Reading`]).
//!
//! Each element of the output is one sum over each block of the depth, in the order of the depth, and the sum of these.
//! It does not depend on where a block of rows or columns begins, and so not on how cores share them.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, s};
use pulp::{Simd, WithSimd};

use super::pack::{pack, packed_len, rows_len, transpose};
use super::tile::{Compute, Left, OutputTile, Panel, ROWS, Scale, Tile, VECTORS};
use crate::cpu::lanes::{Lanes, MOST_LANES, has_few_registers, in_vectors};
use crate::cpu::scratch::with_scratch;

/// The most elements along the depth that a tile sums before it writes,
const DEPTH: usize = 512;
/// and for few rows whose right factor is read unpacked, once: as many streams as the processor prefetches.
const FEW_ROWS_DEPTH: usize = 8;
/// Vectors of a tile of one row whose right factor is read unpacked.
const ROW_VECTORS: usize = 8;
/// Bytes of a packed block of the right factor: a part of the second-level cache.
const RIGHT_BYTES: usize = 512 * 1024;
/// Bytes of a transposed block of the left factor.
const LEFT_BYTES: usize = 2 * 1024 * 1024;
/// A left factor with strided rows of fewer bytes is not transposed.
const STRIDED_BYTES: usize = 32 * 1024;
/// A right factor is read unpacked for products of at most so many rows, for which packing does not pay,
const PACK_ROWS: usize = 6 * ROWS;
/// and for any if it has at most so many bytes.
const PACK_BYTES: usize = 64 * 1024;
/// It is read panel by panel if panels are so many cache lines wide,
const PANEL_LINES: usize = 4;
/// and at most so many of a panel's rows are a multiple of these bytes apart. (Such rows share the sets of a
/// second-level cache, which has 8 or 16 ways. With 64 such rows packing was faster.)
const PANEL_ROWS_IN_A_SET: usize = 32;
const SETS_BYTES: usize = 128 * 1024;

/// Computes `out = alpha * a x b + beta * out`, whose rows are contiguous.
pub(super) struct Blocked<'a, C> {
    pub(super) a: ArrayView2<'a, C>,
    pub(super) b: ArrayView2<'a, C>,
    pub(super) out: ArrayViewMut2<'a, C>,
    pub(super) scale: Scale<C>,
    /// The most elements along the depth that a tile sums before it writes.
    pub(super) depth: usize,
}

/// The depth of the blocks of a product of `rows`; `across`: whether the rows of the right factor are contiguous.
pub(super) fn block_depth(rows: usize, across: bool) -> usize {
    if rows < ROWS && across { FEW_ROWS_DEPTH } else { DEPTH }
}

impl<'a, C: Lanes> Blocked<'a, C> {
    pub(super) fn run(self) {
        let [rows, columns, depth] = [self.out.nrows(), self.out.ncols(), self.a.ncols()];
        assert!(self.out.strides()[1] == 1 || columns <= 1);
        assert!(self.a.nrows() == rows && self.b.dim() == (depth, columns));
        let depth = depth.div_ceil(depth.div_ceil(self.depth).max(1)).max(1);
        let bytes = depth * size_of::<C>();
        let transposes = self.a.strides()[1] != 1 && rows * bytes > STRIDED_BYTES;
        let reading = self.reading(depth);
        let rows = if transposes { (LEFT_BYTES / bytes).next_multiple_of(ROWS).min(rows) } else { rows };
        let most_width = VECTORS * MOST_LANES;
        let block = (RIGHT_BYTES / bytes).next_multiple_of(most_width).min(columns);
        let [columns, packed] = match reading {
            Reading::Unpacked(_) => [columns, columns.min(most_width)],
            Reading::PanelBlocked(_) | Reading::Packed => [block, block],
        };
        let lengths =
            [if transposes { rows_len(rows, depth) } else { 0 }, packed_len(packed, depth, most_width)];
        with_scratch(lengths, |[left, right]: [&mut [C]; 2]| {
            in_vectors(InBlocks { product: self, reading, sizes: [rows, columns, depth], left, right });
        });
    }

    fn reading(&self, depth: usize) -> Reading<'a, C> {
        let Some(elements) = self.b.to_slice() else { return Reading::Packed };
        let (rows, bytes) = (self.out.nrows(), size_of_val(elements));
        let is_near = rows < ROWS || bytes <= if rows <= PACK_ROWS { RIGHT_BYTES } else { PACK_BYTES };
        if is_near {
            Reading::Unpacked(elements)
        } else if rows <= PACK_ROWS
            && rows_in_a_set(self.b.ncols() * size_of::<C>(), depth) <= PANEL_ROWS_IN_A_SET
        {
            Reading::PanelBlocked(elements)
        } else {
            Reading::Packed
        }
    }
}

/// How many of `depth` rows, so many bytes from each to the next, are a multiple of [`SETS_BYTES`] apart.
fn rows_in_a_set(row_bytes: usize, depth: usize) -> usize {
    let power_of_two = 1 << row_bytes.trailing_zeros().min(SETS_BYTES.trailing_zeros());
    depth.div_ceil(SETS_BYTES / power_of_two)
}

/// How the right factor is read.
#[derive(Clone, Copy)]
enum Reading<'a, C> {
    /// From a copy, in panels.
    Packed,
    /// Unpacked: it stays in a cache for all rows, or it is read once.
    Unpacked(&'a [C]),
    /// Unpacked, panel by panel, each by all rows, while the next panel is prefetched: the whole factor would leave the
    /// caches before the next rows read it. (Where panels are narrow it is packed.)
    PanelBlocked(&'a [C]),
}

/// A product with the sizes of its blocks and its buffers.
struct InBlocks<'a, 'b, C> {
    product: Blocked<'a, C>,
    reading: Reading<'a, C>,
    /// Rows, columns and depth of a block.
    sizes: [usize; 3],
    left: &'b mut [C],
    right: &'b mut [C],
}

impl<C: Lanes> WithSimd for InBlocks<'_, '_, C> {
    type Output = ();

    #[allow(unsafe_code, reason = "several tiles of one matrix are written through one pointer")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { product, reading, sizes: [rows, columns, deep], left: transposed, right: packed } = self;
        let Blocked { a, b, mut out, scale, .. } = product;
        let ([all_rows, all], depth) = ([out.nrows(), out.ncols()], a.ncols());
        let width = width::<C, S>();
        let (unpacked, columns, panel_blocked) = match reading {
            Reading::PanelBlocked(elements) if width >= PANEL_LINES * Panel::<C>::CACHE_LINE => {
                (Some(elements), width, true)
            }
            Reading::PanelBlocked(_) | Reading::Packed => (None, columns, false),
            Reading::Unpacked(elements) => (Some(elements), columns, false),
        };
        let [row_stride, a_strides] = [out.strides(), a.strides()];
        let (row_stride, a_strides) = (row_stride[0], [a_strides[0], a_strides[1]]);
        let (first_a, first) = (a.as_ptr(), out.as_mut_ptr());
        for begin in (0..depth.max(1)).step_by(deep) {
            let depths = begin..depth.min(begin + deep);
            let scale = if begin == 0 { scale } else { Scale { beta: C::ONE, ..scale } };
            for row in (0..all_rows).step_by(rows) {
                let rows = row..all_rows.min(row + rows);
                let left = if transposed.is_empty() {
                    let ahead = row as isize * a_strides[0] + begin as isize * a_strides[1];
                    Left { first: first_a.wrapping_offset(ahead), strides: a_strides, depth: depths.len() }
                } else {
                    transpose(simd, a.slice(s![rows.clone(), depths.clone()]), transposed)
                };
                for column in (0..all).step_by(columns) {
                    let end = all.min(column + columns);
                    // The columns of an unpacked factor that do not fill a tile are packed.
                    let from =
                        if unpacked.is_some() { read_in_place::<C, S>(all).max(column) } else { column };
                    if from < end {
                        pack(simd, b.slice(s![depths.clone(), from..end]), width, packed);
                    }
                    let unpacked = unpacked.map(|elements| InPlace {
                        elements: elements.get(begin * all + column..depths.end * all).unwrap_or_default(),
                        stride: all,
                        columns: from - column,
                        prefetches_next: panel_blocked && end < all,
                    });
                    let right = Right { unpacked, packed, depth: depths.len() };
                    let ahead = row as isize * row_stride + column as isize;
                    let output =
                        OutputTile { first: first.wrapping_offset(ahead), row_stride, columns: end - column };
                    // SAFETY: the rows `rows` and the depths `depths` are of `a`, or copied from there, and the rows
                    // and columns of `output` are of `out`, which is borrowed mutably and whose rows are contiguous.
                    unsafe { block::<C, S>(simd, left, rows.len(), right, output, scale) };
                }
            }
        }
    }
}

/// The columns of a block that are read unpacked.
#[derive(Clone, Copy)]
struct InPlace<'a, C> {
    elements: &'a [C],
    /// The distance of rows.
    stride: usize,
    columns: usize,
    /// Whether tiles prefetch the next panel. The block is one panel then.
    prefetches_next: bool,
}

impl<'a, C> InPlace<'a, C> {
    #[inline(always)]
    fn panel(&self, column: usize) -> Panel<'a, C> {
        Panel::new(self.elements.get(column..).unwrap_or_default(), self.stride)
    }
}

/// A block of the right factor.
#[derive(Clone, Copy)]
struct Right<'a, C> {
    unpacked: Option<InPlace<'a, C>>,
    /// The packed panels: all, or the last one.
    packed: &'a [C],
    depth: usize,
}

impl<'a, C: Copy> Right<'a, C> {
    /// The panel of `width` columns from `column` on.
    #[inline(always)]
    fn panel(&self, column: usize, width: usize, share: &Share) -> Panel<'a, C> {
        match self.unpacked {
            Some(unpacked) if column < unpacked.columns => {
                let panel = unpacked.panel(column);
                if unpacked.prefetches_next { panel.prefetching(share.of::<C>(width)) } else { panel }
            }
            Some(_) => Panel::new(self.packed, width),
            None => Panel::new(&self.packed[column * self.depth..][..width * self.depth], width),
        }
    }

    /// The panel of a tile of one row from `column` on, if all its columns are read unpacked.
    #[inline(always)]
    fn row_panel(&self, column: usize, width: usize) -> Option<Panel<'a, C>> {
        let unpacked = self.unpacked?;
        (column + width <= unpacked.columns).then(|| unpacked.panel(column))
    }
}

/// The rows of a line of tiles, and all rows.
struct Share {
    rows: Range<usize>,
    all: usize,
}

impl Share {
    /// The range of elements that these rows prefetch, from each row of the panel on: the same fraction of the next
    /// panel's row, which is `width` elements ahead, as these rows are of all, in whole cache lines.
    #[inline(always)]
    fn of<C>(&self, width: usize) -> Range<usize> {
        let line = Panel::<C>::CACHE_LINE;
        let element = |row: usize| width + width / line * row / self.all * line;
        element(self.rows.start)..element(self.rows.end)
    }
}

/// Columns of a tile.
#[inline(always)]
fn width<C: Lanes, S: Simd>() -> usize {
    C::lanes::<S>() * if has_few_registers::<S>() { VECTORS / 2 } else { VECTORS }
}

/// The number of columns that are read unpacked: all if they fill whole vectors, else those of whole tiles.
#[inline(always)]
fn read_in_place<C: Lanes, S: Simd>(columns: usize) -> usize {
    if columns.is_multiple_of(C::lanes::<S>()) {
        columns
    } else {
        columns / width::<C, S>() * width::<C, S>()
    }
}

/// Computes the product of rows and columns of a block.
///
/// # Safety
/// The elements of `rows` rows of `left` are valid for reads, and those of `output` for reads and writes; nothing else
/// writes the former or accesses the latter meanwhile.
#[allow(unsafe_code, reason = "several tiles of one matrix are written through one pointer")]
#[allow(clippy::multiple_unsafe_ops_per_block, reason = "one of them is called")]
#[inline(always)]
unsafe fn block<C: Lanes, S: Simd>(
    simd: S,
    left: Left<C>,
    rows: usize,
    right: Right<'_, C>,
    output: OutputTile<C>,
    scale: Scale<C>,
) {
    let mut row = 0;
    while row < rows {
        let left = left.below(row);
        let output =
            OutputTile { first: output.first.wrapping_offset(row as isize * output.row_stride), ..output };
        let share = |count| Share { rows: row..row + count, all: rows };
        // SAFETY: at least as many of the rows that the caller guarantees are left as a line of tiles has.
        row += unsafe {
            match rows - row {
                1 => line::<C, S, 1>(simd, left, right, output, scale, &share(1)),
                2 | 3 => line::<C, S, 2>(simd, left, right, output, scale, &share(2)),
                4 | 5 => line::<C, S, 4>(simd, left, right, output, scale, &share(4)),
                _ => line::<C, S, ROWS>(simd, left, right, output, scale, &share(ROWS)),
            }
        };
    }
}

/// Computes the tiles of `R` rows. Returns `R`.
///
/// # Safety
/// As for [`block`], with `R` rows.
#[allow(unsafe_code, reason = "several tiles of one matrix are written through one pointer")]
#[inline(always)]
unsafe fn line<C: Lanes, S: Simd, const R: usize>(
    simd: S,
    left: Left<C>,
    right: Right<'_, C>,
    output: OutputTile<C>,
    scale: Scale<C>,
    share: &Share,
) -> usize {
    let (width, row_width) = (width::<C, S>(), ROW_VECTORS * C::lanes::<S>());
    let mut column = 0;
    while column < output.columns {
        let rest = OutputTile { first: output.first.wrapping_add(column), ..output };
        if const { R == 1 }
            && row_width <= output.columns - column
            && let Some(b) = right.row_panel(column, row_width)
        {
            // SAFETY: the caller guarantees a row, and the columns are among its columns.
            let tile =
                unsafe { Tile::<C, 1>::new(left, b, OutputTile { columns: row_width, ..rest }, scale) };
            S::vectorize(simd, Compute::<C, 1, ROW_VECTORS>(tile));
            column += row_width;
            continue;
        }
        let b = right.panel(column, width, share);
        let columns = width.min(output.columns - column);
        let output = OutputTile { columns, ..rest };
        // SAFETY: the caller guarantees `R` rows, and the columns are among their columns.
        let tile = unsafe { Tile::<C, R>::new(left, b, output, scale) };
        match columns.div_ceil(C::lanes::<S>()) {
            1 => S::vectorize(simd, Compute::<C, R, 1>(tile)),
            2 => S::vectorize(simd, Compute::<C, R, 2>(tile)),
            3 if const { !has_few_registers::<S>() } => S::vectorize(simd, Compute::<C, R, 3>(tile)),
            _ if const { !has_few_registers::<S>() } => S::vectorize(simd, Compute::<C, R, 4>(tile)),
            _ => unreachable!("a tile is two vectors wide"),
        }
        column += columns;
    }
    R
}
