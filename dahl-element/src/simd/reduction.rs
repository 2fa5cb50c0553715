//! Reductions over a slice, in vectors and with a fixed order of operations: [`sum`], [`dot`], [`max`], [`min`].
//!
//! # The tree
//!
//! A slice is cut into blocks of 1,024 elements. In a block, lane `i` of 32 adds the elements `i`, `i + 32`,
//! `i + 64`, .. from left to right (at most 32 of them), and the lanes are added pairwise: 16 + 16, 8 + 8, .. . The
//! sums of the blocks are added pairwise too, as a binary counter carries: two sums of equally many blocks become
//! one, and at the end what is left is added from the smallest to the largest. Lanes start at `-0.0`, which adds nothing,
//! and lanes that a short last block does not reach keep what they have.
//!
//! The shape depends on the length alone, not on the width of the vectors, so the result is the same on every
//! [`Level`](super::Level). The error is at most about `(36 + log2(n / 1024)) * u * sum |x|`, with `u` the unit
//! roundoff of the compute type (Higham, *Accuracy and Stability of Numerical Algorithms*, section 4.2); that of a
//! loop that adds one by one is `n * u * sum |x|`.

use std::array;

use super::conversion::widen;
use super::level::{At, Loop, Vectorised, dispatch, dispatch_loop};
use super::rows::{LANES, add_products, add_rows};
use super::stream::{PAGE_BYTES, pages_in_turn};
use crate::element::{Element, Real};

/// Elements of a block of [`sum`] and [`dot`]: what these give for a power of two of blocks is one node of the tree of
/// any longer slice in which they begin at a multiple of their number.
pub const BLOCK: usize = 1024;
/// The most blocks of a page that are summed separately: for elements of one byte.
const MOST_IN_PAGE: usize = 4;

/// The sum of `values`, accumulated in the compute type by the tree described in this module; `-0.0` if there are none.
///
/// ```
/// use dahl_element::simd::sum;
///
/// assert_eq!(sum(&vec![1.0_f32; 20_000_000]), 20_000_000.0); // one by one it stops at 16,777,216
/// ```
pub fn sum<T: Real>(values: &[T]) -> T::Compute {
    dispatch_loop(SumOf { values, in_turn: pages_in_turn() > 1 })
}

/// The sum of the products `a[i] * b[i]`, computed and accumulated in the compute type by the same tree as [`sum`].
///
/// # Panics
/// If the lengths differ.
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T::Compute {
    assert_eq!(a.len(), b.len(), "dot: a has {} elements but b has {}", a.len(), b.len());
    dispatch_loop(Dot(a, b))
}

/// The largest of `values`; NaN if one of them is NaN, [`Element::LOWEST`] if there are none.
pub fn max<T: Element>(values: &[T]) -> T {
    dispatch(MaxOf(values))
}

/// The smallest of `values`; NaN if one of them is NaN, [`Element::HIGHEST`] if there are none.
pub fn min<T: Element>(values: &[T]) -> T {
    dispatch(MinOf(values))
}

struct SumOf<'a, T> {
    values: &'a [T],
    /// Whether several pages are read alternately, if there are registers for their lanes.
    in_turn: bool,
}

impl<T: Real> Loop for SumOf<'_, T> {
    type Output = T::Compute;

    #[inline(always)]
    fn run<const LEVEL: u8>(self, at: At<LEVEL>) -> T::Compute {
        if self.values.len() <= BLOCK {
            return block_sum(at, self.values); // a tree of one block: making it would take longer than a short sum
        }
        let mut tree = Tree::new();
        let (mut blocks, rest) = self.values.as_chunks::<BLOCK>();
        if At::<LEVEL>::HAS_V4 && self.in_turn {
            blocks = take_groups::<T, 8, LEVEL>(at, blocks, &mut tree);
            blocks = take_groups::<T, 4, LEVEL>(at, blocks, &mut tree);
        }
        for block in blocks {
            tree.push(block_sum(at, block));
        }
        tree.finish((!rest.is_empty()).then(|| block_sum(at, rest)))
    }
}

/// Adds groups of blocks on so many pages to the tree; returns the remaining blocks.
#[inline(always)]
fn take_groups<'a, T: Real, const PAGES: usize, const LEVEL: u8>(
    at: At<LEVEL>,
    mut blocks: &'a [[T; BLOCK]],
    tree: &mut Tree<T::Compute>,
) -> &'a [[T; BLOCK]] {
    // A page may have several blocks (two for `f16`): a group then has that many times more.
    let apart = (PAGE_BYTES / size_of::<[T; BLOCK]>().max(1)).clamp(1, MOST_IN_PAGE);
    while blocks.len() >= PAGES * apart {
        let (group, others) = blocks.split_at(PAGES * apart);
        let mut sums = [[T::Compute::ZERO; PAGES]; MOST_IN_PAGE];
        for (first, sums) in sums[..apart].iter_mut().enumerate() {
            *sums = block_sums(at, array::from_fn(|page| &group[first + page * apart]));
        }
        for index in 0..PAGES * apart {
            tree.push(sums[index % apart][index / apart]);
        }
        blocks = others;
    }
    blocks
}

/// [`block_sum`] of blocks on different pages.
#[inline(always)]
fn block_sums<T: Real, const PAGES: usize, const LEVEL: u8>(
    at: At<LEVEL>,
    blocks: [&[T; BLOCK]; PAGES],
) -> [T::Compute; PAGES] {
    let mut lanes = [[T::Compute::ZERO; LANES]; PAGES];
    add_rows(at, blocks.map(|block| block.as_chunks::<LANES>().0), &mut lanes);
    array::from_fn(|page| add_lanes(&lanes[page]))
}

struct Dot<'a, T>(&'a [T], &'a [T]);

impl<T: Real> Loop for Dot<'_, T> {
    type Output = T::Compute;

    #[inline(always)]
    fn run<const LEVEL: u8>(self, at: At<LEVEL>) -> T::Compute {
        let Self(a, b) = self;
        if a.len() <= BLOCK {
            return block_dot(at, a, b);
        }
        let mut tree = Tree::new();
        let (a_blocks, a_rest) = a.as_chunks::<BLOCK>();
        let (b_blocks, b_rest) = b.as_chunks::<BLOCK>();
        for (a, b) in a_blocks.iter().zip(b_blocks) {
            tree.push(block_dot(at, a, b));
        }
        tree.finish((!a_rest.is_empty()).then(|| block_dot(at, a_rest, b_rest)))
    }
}

/// The sum of the products of at most [`BLOCK`] elements, added as by [`block_sum`].
#[inline(always)]
fn block_dot<T: Real, const LEVEL: u8>(at: At<LEVEL>, a: &[T], b: &[T]) -> T::Compute {
    let ((a_rows, a_rest), (b_rows, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [T::Compute::ZERO; LANES];
    add_products(at, a_rows, b_rows, &mut lanes);
    for ((lane, a), b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane += widen(at, *a) * widen(at, *b);
    }
    add_lanes(&lanes)
}

/// The sum of at most [`BLOCK`] elements: lanes, then pairs of lanes.
#[inline(always)]
fn block_sum<T: Real, const LEVEL: u8>(at: At<LEVEL>, block: &[T]) -> T::Compute {
    let (rows, rest) = block.as_chunks::<LANES>();
    let mut lanes = [[T::Compute::ZERO; LANES]];
    add_rows(at, [rows], &mut lanes);
    for (lane, x) in lanes[0].iter_mut().zip(rest) {
        *lane += widen(at, *x);
    }
    add_lanes(&lanes[0])
}

/// The sum of the lanes, by halves.
///
/// Not inlined: otherwise its pairs make the compiler choose vectors of two for the loop that fills the lanes.
#[inline(never)]
fn add_lanes<C: Real>(lanes: &[C; LANES]) -> C {
    fold_lanes(*lanes, |a, b| a + b)
}

/// Combines lane `i` with lane `i + LANES / 2`, and so on by halves.
#[inline(always)]
fn fold_lanes<T: Copy>(mut lanes: [T; LANES], combine: impl Fn(T, T) -> T) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = combine(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Sums of full blocks, added like the carries of a binary counter: `sums[k]` is that of `2^k` blocks.
struct Tree<C> {
    sums: [C; usize::BITS as usize],
    blocks: usize,
}

impl<C: Real> Tree<C> {
    #[inline(always)]
    fn new() -> Self {
        Self { sums: [-C::ZERO; usize::BITS as usize], blocks: 0 }
    }

    #[inline(always)]
    fn push(&mut self, mut sum: C) {
        let carries = self.blocks.trailing_ones() as usize;
        for earlier in &self.sums[..carries] {
            sum = *earlier + sum;
        }
        self.sums[carries] = sum;
        self.blocks += 1;
    }

    /// Adds the remaining sums, from the smallest subtree (`last`, a partial block) to the largest.
    #[inline(always)]
    fn finish(self, last: Option<C>) -> C {
        let mut total = last.unwrap_or(-C::ZERO);
        let mut blocks = self.blocks;
        while blocks > 0 {
            total = self.sums[blocks.trailing_zeros() as usize] + total;
            blocks &= blocks - 1;
        }
        total
    }
}

struct MaxOf<'a, T>(&'a [T]);

impl<T: Element> Vectorised for MaxOf<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        extreme(self.0, T::LOWEST, T::maximum)
    }
}

struct MinOf<'a, T>(&'a [T]);

impl<T: Element> Vectorised for MinOf<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        extreme(self.0, T::HIGHEST, T::minimum)
    }
}

/// Combines all elements by `choose`, which is exact, so its order does not matter.
#[inline(always)]
fn extreme<T: Copy>(values: &[T], identity: T, choose: impl Fn(T, T) -> T + Copy) -> T {
    let mut lanes = [identity; LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    for row in rows {
        for (lane, x) in lanes.iter_mut().zip(row) {
            *lane = choose(*lane, *x);
        }
    }
    let mut last = [identity; LANES];
    last[..rest.len()].copy_from_slice(rest);
    for (lane, x) in lanes.iter_mut().zip(last) {
        *lane = choose(*lane, x);
    }
    fold_lanes(lanes, choose)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    #[test]
    fn pages_in_turn_give_the_same_bits() {
        fn lengths<T: Real>() {
            let values: Vec<T> =
                (0..40_000).map(|i| T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0)).collect();
            for len in [0, 1023, 1024, 4096, 8191, 8192, 16_384, 20_481, 40_000] {
                let values = &values[..len];
                let [one, several] =
                    [false, true].map(|in_turn| dispatch_loop(SumOf { values, in_turn }).to_f64().to_bits());
                assert_eq!(one, several, "{len} {}", T::NAME);
            }
        }
        lengths::<f16>();
        lengths::<bf16>();
        lengths::<f32>();
        lengths::<f64>();
    }
}
