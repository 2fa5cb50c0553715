//! [`add_product`]: products of a few rows with a large factor, both `f16` or `bf16`, on machines with AVX2 or AVX-512.
//!
//! Such a product takes as long as memory needs to deliver the large factor, if its elements are widened in registers, each
//! once for several rows. Widened to memory, block by block, they would be written and read again, in twice the bytes.
//!
//! A vector register has twice as many of these elements as of sums. They are widened as a *pair* of vectors, in the order
//! of lanes that costs least ([`Half`]). Along the depth ([`Along`]) the few rows are brought to the same order, and across
//! it ([`Across`]) the sums are brought to the order of the columns.

use std::arch::x86_64::{__m128i, __m256i, _mm256_cvtph_ps, _mm512_cvtph_ps};

use dahl_core::simd::{Level, level};
use dahl_core::{ElementType, Real};
use half::{bf16, f16};
use ndarray::{ArrayView2, ArrayViewMut2};
use pulp::x86::{V3, V4};
use pulp::{Simd, WithSimd};

use super::vectors::{same_type, same_type_mut};
use crate::cpu::lanes::{Lanes, MOST_LANES, is};
use crate::cpu::row_major::{elements, row_major};
use crate::cpu::scratch::with_scratch;

/// The most rows.
const MOST_ROWS: usize = 16;
/// The most elements of a pair of vectors.
const MOST_PAIR: usize = 2 * MOST_LANES;
/// Elements along the depth that are summed before the next columns, if there are several rows: those of a few columns stay
/// in the first-level cache. A multiple of every pair.
const ALONG_DEPTH: usize = 64 * MOST_PAIR;
/// Columns that are read side by side, if they are contiguous: far apart, as in [`dot`](super::dot).
const STREAMS: usize = 4;
/// Rows of the large factor that are read side by side, if they are contiguous: as many streams as the processor prefetches.
const ACROSS_DEPTH: usize = 8;
/// Columns of these rows that stay in the first-level cache for all rows. A multiple of every pair.
const ACROSS_COLUMNS: usize = 32 * MOST_PAIR;

/// Whether [`add_product`] computes the product of these factors.
pub(super) fn fits<T: Real>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> bool {
    let element = ElementType::of::<T>();
    let large = if a.nrows() <= b.ncols() { b } else { a.reversed_axes() };
    (element.is::<f16>() || element.is::<bf16>())
        && level() >= Level::V3
        && a.nrows().min(b.ncols()) <= MOST_ROWS
        && (is_along(&large) || is_across(&large))
}

/// Whether the large factor is contiguous along the depth, and the depth fills vectors.
fn is_along<T>(large: &ArrayView2<'_, T>) -> bool {
    large.strides()[0] == 1 && large.nrows() >= MOST_PAIR
}

/// Whether the rows of the large factor are contiguous, and fill vectors.
fn is_across<T>(large: &ArrayView2<'_, T>) -> bool {
    large.strides()[1] == 1 && large.ncols() >= MOST_PAIR
}

/// `out += a x b`, if it [`fits`]; otherwise returns false and writes nothing.
pub(super) fn add_product<T: Real>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T::Compute>,
) -> bool {
    if !fits(a, b) {
        return false;
    }
    let (few, large, out) = if a.nrows() <= b.ncols() {
        (a, b, out)
    } else {
        (b.reversed_axes(), a.reversed_axes(), out.reversed_axes())
    };
    // By functions that are not generic, so that the kernels are compiled only in this crate.
    if ElementType::of::<T>().is::<f16>() {
        add_f16(same_type(few), same_type(large), same_type_mut(out));
    } else {
        add_bf16(same_type(few), same_type(large), same_type_mut(out));
    }
    true
}

fn add_f16(few: ArrayView2<'_, f16>, large: ArrayView2<'_, f16>, out: ArrayViewMut2<'_, f32>) {
    add(few, large, out);
}

fn add_bf16(few: ArrayView2<'_, bf16>, large: ArrayView2<'_, bf16>, out: ArrayViewMut2<'_, f32>) {
    add(few, large, out);
}

/// `out += few x large`.
fn add<T: Half>(few: ArrayView2<'_, T>, large: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, f32>) {
    let ((rows, columns), depth) = (out.dim(), large.nrows());
    let few = row_major(&few);
    let few = elements(&few);
    let is_in_place = out.is_standard_layout();
    let lengths = [rows * padded(depth), if is_in_place { 0 } else { rows * columns }];
    with_scratch(lengths, |[wide, copied]: [&mut [f32]; 2]| match out.as_slice_mut() {
        Some(sums) => add_to(few, large, wide, sums),
        None => {
            copied.iter_mut().zip(&out).for_each(|(copied, sum)| *copied = *sum);
            add_to(few, large, wide, copied);
            out.iter_mut().zip(copied).for_each(|(sum, copied)| *sum = *copied);
        }
    });
}

/// `sums += few x large`, with rows of `wide` for those of `few`.
fn add_to<T: Half>(few: &[T], large: ArrayView2<'_, T>, wide: &mut [f32], sums: &mut [f32]) {
    if is_along(&large) {
        widening(Along { few, large, wide, sums });
    } else {
        widening(Across { few, large, wide, sums });
    }
}

/// The distance of widened rows of `depth` elements.
fn padded(depth: usize) -> usize {
    depth.next_multiple_of(MOST_PAIR)
}

/// Runs `work` with the vectors of this machine's [`level`], compiled with the instructions that widen.
#[allow(unsafe_code, reason = "target features")]
fn widening<W: WithSimd<Output = ()>>(work: W) {
    #[target_feature(enable = "avx2,bmi1,bmi2,f16c,fma,lzcnt,popcnt")]
    fn v3<W: WithSimd>(simd: V3, work: W) -> W::Output {
        work.with_simd(simd)
    }
    #[target_feature(enable = "avx2,bmi1,bmi2,f16c,fma,lzcnt,popcnt")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    fn v4<W: WithSimd>(simd: V4, work: W) -> W::Output {
        work.with_simd(simd)
    }
    // By `const`, so that levels without loops in this build are not compiled here either.
    if const { Level::V4.is_compiled() }
        && level() >= Level::V4
        && let Some(simd) = V4::try_new()
    {
        // SAFETY: the machine has the level V4, which has these features.
        return unsafe { v4(simd, work) };
    }
    if const { Level::V3.is_compiled() }
        && level() >= Level::V3
        && let Some(simd) = V3::try_new()
    {
        // SAFETY: the machine has the level V3, which has these features.
        return unsafe { v3(simd, work) };
    }
    unreachable!("`fits` asks for level V3")
}

/// An element type of 16 bits that is widened to `f32`. Only [`widening`] runs what calls these functions.
trait Half: Real<Compute = f32> {
    /// The elements as a pair of vectors, in an order of its own.
    fn widen_pair<S: Simd>(simd: S, elements: S::u16s) -> [S::f32s; 2];

    /// A pair in the order of the elements.
    fn in_order<S: Simd>(simd: S, pair: [S::f32s; 2]) -> [S::f32s; 2];
}

impl Half for bf16 {
    /// The elements at even indices, and those at odd ones: half of the bits of as many `f32`.
    #[inline(always)]
    fn widen_pair<S: Simd>(simd: S, elements: S::u16s) -> [S::f32s; 2] {
        let bits: S::u32s = bytemuck::cast(elements);
        let even = simd.wrapping_dyn_shl_u32s(bits, simd.splat_u32s(16));
        let odd = simd.and_u32s(bits, simd.splat_u32s(0xffff_0000));
        [simd.transmute_f32s_u32s(even), simd.transmute_f32s_u32s(odd)]
    }

    #[inline(always)]
    fn in_order<S: Simd>(simd: S, pair: [S::f32s; 2]) -> [S::f32s; 2] {
        let [even, odd] = pair;
        f32::zip(simd, [f32::in_order(simd, even), f32::in_order(simd, odd)])
    }
}

impl Half for f16 {
    #[allow(unsafe_code, reason = "calls instructions that the type of the vectors proves")]
    #[inline(always)]
    fn widen_pair<S: Simd>(_: S, elements: S::u16s) -> [S::f32s; 2] {
        if is::<S, V4>() {
            let [first, second]: [__m256i; 2] = bytemuck::cast(elements);
            // SAFETY: `S` is `V4`, and its value proves AVX-512.
            let first = unsafe { _mm512_cvtph_ps(first) };
            // SAFETY: as above.
            let second = unsafe { _mm512_cvtph_ps(second) };
            [bytemuck::cast(first), bytemuck::cast(second)]
        } else {
            let [first, second]: [__m128i; 2] = bytemuck::cast(elements);
            // SAFETY: it requires F16C, a feature of level V3, which `widening` has found.
            let first = unsafe { _mm256_cvtph_ps(first) };
            // SAFETY: as above.
            let second = unsafe { _mm256_cvtph_ps(second) };
            [bytemuck::cast(first), bytemuck::cast(second)]
        }
    }

    #[inline(always)]
    fn in_order<S: Simd>(_: S, pair: [S::f32s; 2]) -> [S::f32s; 2] {
        pair
    }
}

/// The elements of a pair.
#[inline(always)]
fn pair_len<S: Simd>() -> usize {
    2 * f32::lanes::<S>()
}

/// The elements in vectors of pairs; what does not fill one is left out.
#[inline(always)]
fn pairs<T: Half, S: Simd>(elements: &[T]) -> &[S::u16s] {
    S::as_simd_u16s(bytemuck::cast_slice(elements)).0
}

/// The first pair of the elements, with zeros after them if they do not fill it.
#[inline(always)]
fn first_pair<T: Half, S: Simd>(elements: &[T]) -> S::u16s {
    if let Some(pair) = pairs::<T, S>(elements).first() {
        return *pair;
    }
    let mut filled = [T::ZERO; MOST_PAIR];
    filled[..elements.len()].copy_from_slice(elements);
    pairs::<T, S>(&filled)[0]
}

/// `sums += few x large`, with sums in the lanes of vectors along the depth.
///
/// # Shapes
/// `few: [rows, depth]`; `large: [depth, columns]`, each column contiguous; `wide: [rows, padded(depth)]`;
/// `sums: [rows, columns]`.
struct Along<'a, T> {
    few: &'a [T],
    large: ArrayView2<'a, T>,
    wide: &'a mut [f32],
    sums: &'a mut [f32],
}

impl<T: Half> WithSimd for Along<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { few, large, wide, sums } = self;
        let (depth, columns) = large.dim();
        for (few, wide) in few.chunks_exact(depth).zip(wide.chunks_exact_mut(padded(depth))) {
            let wide = S::as_mut_simd_f32s(wide).0.as_chunks_mut::<2>().0;
            for (few, wide) in few.chunks(pair_len::<S>()).zip(wide) {
                *wide = T::widen_pair(simd, first_pair::<T, S>(few));
            }
        }
        let rows = sums.len() / columns;
        let step = if rows == 1 { depth } else { ALONG_DEPTH };
        let apart = columns / STREAMS;
        for begin in (0..depth).step_by(step) {
            let block = BlockAlong { large, wide, depths: [begin, depth.min(begin + step)] };
            for column in 0..apart {
                block.columns::<S, STREAMS>(simd, [column, apart], sums);
            }
            for column in STREAMS * apart..columns {
                block.columns::<S, 1>(simd, [column, 1], sums);
            }
        }
    }
}

/// A block of the depth of [`Along`].
struct BlockAlong<'a, T> {
    large: ArrayView2<'a, T>,
    wide: &'a [f32],
    depths: [usize; 2],
}

impl<T: Half> BlockAlong<'_, T> {
    /// Adds `N` columns: number `column`, and every one that is `apart` from the one before.
    #[inline(always)]
    fn columns<S: Simd, const N: usize>(&self, simd: S, columns: [usize; 2], sums: &mut [f32]) {
        let rows = sums.len() / self.large.ncols();
        if rows == 1 {
            return self.tile::<S, 1, N, 2>(simd, 0, columns, sums);
        }
        for row in (0..rows / 2 * 2).step_by(2) {
            self.tile::<S, 2, N, 1>(simd, row, columns, sums);
        }
        if rows % 2 == 1 {
            self.tile::<S, 1, N, 1>(simd, rows - 1, columns, sums);
        }
    }

    /// Adds `R` rows and `N` columns, which are as in [`columns`](Self::columns). The vectors of a pair are added to `V`
    /// vectors of sums: as many as there are registers for.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const N: usize, const V: usize>(
        &self,
        simd: S,
        row: usize,
        [column, apart]: [usize; 2],
        sums: &mut [f32],
    ) {
        let Self { large, wide, depths: [begin, end] } = self;
        let (depth, columns) = large.dim();
        let whole = (end - begin) / pair_len::<S>();
        let rows: [&[[S::f32s; 2]]; R] = std::array::from_fn(|number| {
            let row = &wide[(row + number) * padded(depth) + begin..][..padded(end - begin)];
            S::as_simd_f32s(row).0.as_chunks::<2>().0
        });
        let lines: [&[T]; N] = std::array::from_fn(|number| {
            let line = large.column(column + number * apart).to_slice().expect("elements lie side by side");
            &line[*begin..*end]
        });
        let (whole_rows, vectors) =
            (rows.map(|row| &row[..whole]), lines.map(|line| &pairs::<T, S>(line)[..whole]));
        let mut totals = [[[f32::splat(simd, 0.0); V]; N]; R];
        for place in 0..whole {
            for (number, vectors) in vectors.iter().enumerate() {
                let wide = T::widen_pair(simd, vectors[place]);
                for (totals, row) in totals.iter_mut().zip(whole_rows) {
                    add_pair(simd, row[place], wide, &mut totals[number]);
                }
            }
        }
        if whole * pair_len::<S>() < end - begin {
            for (number, line) in lines.iter().enumerate() {
                let wide = T::widen_pair(simd, first_pair::<T, S>(&line[whole * pair_len::<S>()..]));
                for (totals, row) in totals.iter_mut().zip(rows) {
                    add_pair(simd, row[whole], wide, &mut totals[number]);
                }
            }
        }
        for (number, totals) in totals.into_iter().enumerate() {
            for (place, vectors) in totals.into_iter().enumerate() {
                let mut total = vectors[0];
                for &vector in &vectors[1..] {
                    total = f32::add_lanes(simd, total, vector);
                }
                sums[(row + number) * columns + column + place * apart] += <f32 as Lanes>::sum(simd, total);
            }
        }
    }
}

/// `totals += a * b`.
#[inline(always)]
fn add_pair<S: Simd, const V: usize>(simd: S, a: [S::f32s; 2], b: [S::f32s; 2], totals: &mut [S::f32s; V]) {
    for place in 0..2 {
        totals[place % V] = f32::multiply_add(simd, a[place], b[place], totals[place % V]);
    }
}

/// `sums += few x large`, with the sums of neighbouring columns in the lanes of vectors.
///
/// # Shapes
/// `few: [rows, depth]`; `large: [depth, columns]`, each row contiguous; `wide: [rows, depth]`, and more behind;
/// `sums: [rows, columns]`.
struct Across<'a, T> {
    few: &'a [T],
    large: ArrayView2<'a, T>,
    wide: &'a mut [f32],
    sums: &'a mut [f32],
}

impl<T: Half> WithSimd for Across<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { few, large, wide, sums } = self;
        let (depth, columns) = large.dim();
        for (few, wide) in few.iter().zip(&mut *wide) {
            *wide = few.widen();
        }
        let whole = columns / pair_len::<S>() * pair_len::<S>();
        for begin in (0..depth).step_by(ACROSS_DEPTH) {
            let mut lines = [[].as_slice(); ACROSS_DEPTH];
            let lines = &mut lines[..ACROSS_DEPTH.min(depth - begin)];
            for (number, line) in lines.iter_mut().enumerate() {
                *line = large.row(begin + number).to_slice().expect("elements of a row lie side by side");
            }
            let block = BlockAcross { lines, wide: &wide[begin..], depth, columns };
            for column in (0..whole).step_by(ACROSS_COLUMNS) {
                block.rows(simd, [column, whole.min(column + ACROSS_COLUMNS)], sums);
            }
            block.rest(simd, whole, sums);
        }
    }
}

/// A block of the depth of [`Across`].
struct BlockAcross<'a, T> {
    /// The rows of the large factor.
    lines: &'a [&'a [T]],
    /// The few rows, from this block on, whose distance is `depth`.
    wide: &'a [f32],
    depth: usize,
    /// The distance of rows of the sums.
    columns: usize,
}

impl<T: Half> BlockAcross<'_, T> {
    /// Adds these columns, which are whole pairs, of all rows.
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, columns: [usize; 2], sums: &mut [f32]) {
        let rows = sums.len() / self.columns;
        let mut row = 0;
        while row < rows {
            row += match rows - row {
                1 => self.line::<S, 1, 4>(simd, row, columns, sums),
                2 | 3 => self.line::<S, 2, 2>(simd, row, columns, sums),
                _ => self.line::<S, 4, 1>(simd, row, columns, sums),
            };
        }
    }

    /// Adds these columns of `R` rows, `P` pairs at a time. Returns `R`.
    #[inline(always)]
    fn line<S: Simd, const R: usize, const P: usize>(
        &self,
        simd: S,
        row: usize,
        [mut column, end]: [usize; 2],
        sums: &mut [f32],
    ) -> usize {
        let rows: [&[f32]; R] = std::array::from_fn(|number| &self.wide[(row + number) * self.depth..]);
        let sums = &mut sums[row * self.columns..];
        while column + P * pair_len::<S>() <= end {
            tile::<T, S, R, P>(simd, rows, self.lines, column, &mut sums[column..], self.columns);
            column += P * pair_len::<S>();
        }
        while column < end {
            tile::<T, S, R, 1>(simd, rows, self.lines, column, &mut sums[column..], self.columns);
            column += pair_len::<S>();
        }
        R
    }

    /// Adds the columns from number `column` on, fewer than a pair has, of all rows.
    #[inline(always)]
    fn rest<S: Simd>(&self, simd: S, column: usize, sums: &mut [f32]) {
        let count = self.columns - column;
        if count == 0 {
            return;
        }
        let mut filled = [[T::ZERO; MOST_PAIR]; ACROSS_DEPTH];
        for (filled, line) in filled.iter_mut().zip(self.lines) {
            filled[..count].copy_from_slice(&line[column..]);
        }
        let lines = filled.each_ref().map(|line| line.as_slice());
        let wide = self.wide.chunks(self.depth);
        for (sums, wide) in sums.chunks_exact_mut(self.columns).zip(wide) {
            let mut all = [0.0; MOST_PAIR];
            all[..count].copy_from_slice(&sums[column..]);
            tile::<T, S, 1, 1>(simd, [wide], &lines[..self.lines.len()], 0, &mut all, MOST_PAIR);
            sums[column..].copy_from_slice(&all[..count]);
        }
    }
}

/// Adds `R` rows and `P` pairs of columns: those of `lines` from number `column` on, and the first ones of `sums`, whose
/// rows are `stride` apart.
#[inline(always)]
fn tile<T: Half, S: Simd, const R: usize, const P: usize>(
    simd: S,
    rows: [&[f32]; R],
    lines: &[&[T]],
    column: usize,
    sums: &mut [f32],
    stride: usize,
) {
    let len = P * pair_len::<S>();
    // Loops, not closures: those are not always inlined, and then compiled without vectors.
    let mut totals = [[[f32::splat(simd, 0.0); 2]; P]; R];
    for (place, line) in lines.iter().enumerate() {
        let vectors = pairs::<T, S>(&line[column..][..len]);
        let mut factors = [f32::splat(simd, 0.0); R];
        for (factor, row) in factors.iter_mut().zip(rows) {
            *factor = f32::splat(simd, row[place]);
        }
        for pair in 0..P {
            let wide = T::widen_pair(simd, vectors[pair]);
            for (totals, &factor) in totals.iter_mut().zip(&factors) {
                for (total, wide) in totals[pair].iter_mut().zip(wide) {
                    *total = f32::multiply_add(simd, factor, wide, *total);
                }
            }
        }
    }
    for (row, totals) in totals.into_iter().enumerate() {
        let sums = S::as_mut_simd_f32s(&mut sums[row * stride..][..len]).0.as_chunks_mut::<2>().0;
        for (sums, totals) in sums.iter_mut().zip(totals) {
            for (sum, total) in sums.iter_mut().zip(T::in_order(simd, totals)) {
                *sum = f32::add_lanes(simd, *sum, total);
            }
        }
    }
}
