//! [`add_product`]: products of a few rows with a large factor, both `f16` or `bf16`, on machines with AVX2 or AVX-512.
//!
//! Such a product takes as long as memory needs to deliver the large factor, if its elements are widened in registers, each
//! once for several rows. Widened to memory, block by block, they would be written and read again, in twice the bytes.
//!
//! A vector register has twice as many of these elements as of sums. They are widened as a *pair* of vectors, in the order
//! of lanes that costs least ([`Half`]). Along the depth ([`Along`]) the few rows are brought to the same order, and across
//! it ([`Across`]) the sums are brought to the order of the columns.

mod across;
mod along;

use std::arch::x86_64::{__m128i, __m256i, _mm256_cvtph_ps, _mm512_cvtph_ps};

use dahl_core::simd::{Level, level};
use dahl_core::{ElementType, Real};
use half::{bf16, f16};
use ndarray::{ArrayView2, ArrayViewMut2};
use pulp::x86::{V3, V4};
use pulp::{Simd, WithSimd};

use across::Across;
use along::Along;

use super::vectors::{same_type, same_type_mut};
use crate::cpu::lanes::{Lanes, MOST_LANES, is};
use crate::cpu::row_major::{elements, row_major};
use crate::cpu::scratch::with_scratch;

/// The most rows.
const MOST_ROWS: usize = 16;
/// The most elements of a pair of vectors.
const MOST_PAIR: usize = 2 * MOST_LANES;

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

/// `out += a x b`, of factors that [fit](fits).
pub(super) fn add_product<T: Real>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T::Compute>,
) {
    if out.is_empty() {
        return;
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
    let is_along = is_along(&large);
    let sum = Sum { few, large, wide, sums };
    if is_along {
        widening(Along(sum));
    } else {
        widening(Across(sum));
    }
}

/// A product that is added: `sums += few x large`.
///
/// # Shapes
/// `few: [rows, depth]`; `large: [depth, columns]`; `wide` has room for the few rows, widened; `sums: [rows, columns]`.
struct Sum<'a, T> {
    few: &'a [T],
    large: ArrayView2<'a, T>,
    wide: &'a mut [f32],
    sums: &'a mut [f32],
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
