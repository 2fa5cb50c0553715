//! Arrays as row-major slices: [`elements`] to read and [`write`], and the extents of an array before, along and after
//! an axis ([`around`]).
//!
//! Whole arrays and parts along their first axis are row-major already. Other parts are packed and unpacked.

use dahl_core::simd::{PastCaches, past_caches};
use dahl_core::{Element, Real, simd};
use ndarray::{ArrayView, ArrayViewMut, Dimension};

use super::gemm::Cores;
use super::scratch::{Temporary, with_scratch};
use super::shared_rows::share_rows;

/// The elements of an array in row-major order: in place, or a copy in temporary memory.
pub(crate) enum RowMajor<'a, T: Element> {
    InPlace(&'a [T]),
    Copied(Temporary<T>),
}

/// The elements of `array` in row-major order.
pub(crate) fn row_major<'a, T: Element, D: Dimension>(array: &'a ArrayView<'_, T, D>) -> RowMajor<'a, T> {
    match array.as_slice() {
        Some(elements) => RowMajor::InPlace(elements),
        None => RowMajor::Copied(Temporary::collect(array.len(), array.iter().copied())),
    }
}

/// The elements that [`row_major`] has found.
#[inline(always)]
pub(crate) fn elements<'a, T: Element>(array: &'a RowMajor<'_, T>) -> &'a [T] {
    match array {
        RowMajor::InPlace(elements) => elements,
        RowMajor::Copied(elements) => elements,
    }
}

/// Calls `f` with the elements of `out` in row-major order, with their old values, to be overwritten.
#[inline(always)]
pub(crate) fn write<T: Element, D: Dimension>(mut out: ArrayViewMut<'_, T, D>, f: impl FnOnce(&mut [T])) {
    let mut packed = if out.is_standard_layout() {
        None
    } else {
        Some(Temporary::collect(out.len(), out.iter().copied()))
    };
    let elements = match &mut packed {
        Some(packed) => &mut **packed,
        None => out.as_slice_mut().expect("an array of standard layout is a slice"),
    };
    // The only call, so that `f` is inlined and compiled for the instruction level of its caller.
    f(elements);
    if let Some(packed) = packed {
        out.iter_mut().zip(&*packed).for_each(|(out, element)| *out = *element);
    }
}

/// `shape` as `[before, extent, after]`: the product of the extents before `axis`, its own, and of those after it.
pub(crate) fn around(shape: &[usize], axis: usize) -> [usize; 3] {
    [shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product()]
}

/// For each axis of an array, how many elements its next index is away, in row-major order.
pub(crate) fn row_major_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Rows that are added one after the other. Their sums are added pairwise, so the error is that of `ROWS + log2(rows /
/// ROWS)` additions, not of `rows`.
const ROWS: usize = 64;

/// `sums[b, a] += sum over i of values[b, i, a]`, with `[before, extent, after]` the extents of `values`.
pub(crate) fn add_sums<T: Real>(values: &[T], [before, extent, after]: [usize; 3], sums: &mut [T::Compute]) {
    assert!(values.len() == before * extent * after && sums.len() == before * after);
    if values.is_empty() {
    } else if after == 1 {
        for (sum, row) in sums.iter_mut().zip(values.chunks_exact(extent)) {
            *sum += simd::sum(row);
        }
    } else if extent == 1 {
        simd::dispatch(AddRows { rows: values, sums });
    } else {
        // As in `simd::sum`: a binary counter of sums, `tree[level]` of `2^level` times `ROWS` rows.
        let groups = extent.div_ceil(ROWS);
        let levels = groups.ilog2() as usize + 1;
        with_scratch([after, levels * after], |[partial, tree]: [&mut [T::Compute]; 2]| {
            for (sums, block) in sums.chunks_exact_mut(after).zip(values.chunks_exact(extent * after)) {
                for (group, rows) in block.chunks(ROWS * after).enumerate() {
                    let (first, rest) = rows.split_at(after);
                    T::widen_slice(first, partial);
                    simd::dispatch(AddRows { rows: rest, sums: partial });
                    let carries = group.trailing_ones() as usize;
                    simd::dispatch(AddRows { rows: &tree[..carries * after], sums: partial });
                    tree[carries * after..][..after].copy_from_slice(partial);
                }
                partial.fill(-T::Compute::ZERO);
                for level in (0..levels).filter(|level| groups >> level & 1 == 1) {
                    simd::dispatch(AddRows { rows: &tree[level * after..][..after], sums: partial });
                }
                simd::dispatch(AddRows { rows: partial, sums });
            }
        });
    }
}

/// An array of eight axes has no more groups of neighbouring axes with others between.
const MOST_GROUPS: usize = 4;

/// `sums[k] += sum over s of values[k, s]`, where `values` has this shape, `s` are places along the axes of which `is_summed`
/// says so, and `k` those along the others.
///
/// Neighbouring axes are summed as one, and groups of them one after the other, from the last on, in the compute type.
pub(crate) fn add_sums_along<T: Real>(
    values: &[T],
    shape: &[usize],
    is_summed: impl Fn(usize) -> bool,
    sums: &mut [T::Compute],
) {
    let (mut groups, mut count) = ([[1, 1, values.len()]; MOST_GROUPS], 0);
    let (mut end, mut after) = (shape.len(), 1);
    while end > 0 {
        let first = end - (0..end).rev().take_while(|&axis| is_summed(axis)).count();
        if first == end {
            end -= 1;
            after *= shape[end];
        } else {
            groups[count] = [shape[..first].iter().product(), shape[first..end].iter().product(), after];
            (count, end) = (count + 1, first);
        }
    }
    // Of no axes, the sums are the values.
    add_group_sums(values, &groups[..count.max(1)], sums);
}

/// Adds the sums along the middle of the first of `groups`, each `[before, extent, after]`, then along that of the next one.
fn add_group_sums<T: Real>(values: &[T], groups: &[[usize; 3]], sums: &mut [T::Compute]) {
    let (&group, rest) = groups.split_first().expect("there is a group");
    if rest.is_empty() {
        return add_sums(values, group, sums);
    }
    let [before, _, after] = group;
    with_scratch([before * after], |[partial]: [&mut [T::Compute]; 1]| {
        partial.fill(-T::Compute::ZERO);
        add_sums(values, group, partial);
        add_group_sums(partial, rest, sums);
    });
}

/// `sums[i] += sum over rows of rows[row, i]`, one row after the other.
struct AddRows<'a, T: Real> {
    rows: &'a [T],
    sums: &'a mut [T::Compute],
}

impl<T: Real> simd::Vectorised for AddRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for row in self.rows.chunks_exact(self.sums.len()) {
            for (sum, value) in self.sums.iter_mut().zip(row) {
                *sum += value.widen();
            }
        }
    }
}

/// Lines of elements that [`fold_lanes`] copies together, so that a cache line is read once.
const LANES: usize = 16;

/// `out[b, a] = f(values[b, .., a])`, with `[before, extent, after]` the extents of `values`.
#[inline(always)]
pub(crate) fn fold_lanes<T: Element, U>(
    values: &[T],
    [before, extent, after]: [usize; 3],
    out: &mut [U],
    f: impl Fn(&[T]) -> U,
) {
    assert!(values.len() == before * extent * after && out.len() == before * after);
    with_scratch([if after == 1 { 0 } else { extent * LANES.min(after) }], |[packed]: [&mut [T]; 1]| {
        for (block, out) in out.chunks_exact_mut(after.max(1)).enumerate() {
            let values = &values[block * extent * after..][..extent * after];
            for (group, out) in out.chunks_mut(LANES).enumerate() {
                let lanes = if after == 1 {
                    values
                } else {
                    for (i, row) in values.chunks_exact(after).enumerate() {
                        for (lane, &value) in row[group * LANES..].iter().take(out.len()).enumerate() {
                            packed[lane * extent + i] = value;
                        }
                    }
                    &*packed
                };
                for (lane, out) in out.iter_mut().enumerate() {
                    *out = f(&lanes[lane * extent..][..extent]);
                }
            }
        }
    });
}

/// About how many elements [`map_lanes`] processes at a time.
const GROUP: usize = 1024;

/// Calls `f` with the lines of elements along the middle axis of `[before, extent, after]`, widened, and writes what
/// `f` leaves there to `out`. `f` gets several lines at a time, one after the other, so that loops over short lines
/// vectorise too.
#[inline(always)]
pub(crate) fn map_lanes<T: Real>(
    input: &[T],
    [before, extent, after]: [usize; 3],
    out: &mut [T],
    mut f: impl FnMut(&mut [T::Compute]),
) {
    assert!(input.len() == before * extent * after && out.len() == input.len());
    if input.is_empty() {
        return;
    }
    let (lanes, group) = (before * after, (GROUP / extent).max(1));
    let start = |lane: usize| lane / after * extent * after + lane % after;
    with_scratch([group.min(lanes) * extent], |[buffer]: [&mut [T::Compute]; 1]| {
        for first in (0..lanes).step_by(group) {
            let covered = first..lanes.min(first + group);
            let buffer = &mut buffer[..covered.len() * extent];
            if after == 1 {
                T::widen_slice(&input[first * extent..][..buffer.len()], buffer);
            } else {
                for (lane, to) in covered.clone().zip(buffer.chunks_exact_mut(extent)) {
                    for (to, from) in to.iter_mut().zip(input[start(lane)..].iter().step_by(after)) {
                        *to = from.widen();
                    }
                }
            }
            f(buffer); // at one place only, so that it is inlined and compiled for the level of its caller
            if after == 1 {
                T::narrow_slice(buffer, &mut out[first * extent..][..buffer.len()]);
            } else {
                for (lane, from) in covered.zip(buffer.chunks_exact(extent)) {
                    for (to, from) in out[start(lane)..].iter_mut().step_by(after).zip(from) {
                        *to = T::narrow(*from);
                    }
                }
            }
        }
    });
}

/// A function of lines of elements, which [`map_lanes_on`] maps.
pub(crate) trait MapOfLanes: Copy + Sync {
    /// Replaces lines of `extent` elements, one after the other, by their results.
    fn map<C: Real<Compute = C>>(self, lanes: &mut [C], extent: usize);
}

/// [`map_lanes`] on one core, or on several, which share lines that lie side by side.
pub(crate) fn map_lanes_on<T: Real>(
    cores: Cores,
    input: &[T],
    extents: [usize; 3],
    out: &mut [T],
    map: impl MapOfLanes,
) {
    let [before, extent, after] = extents;
    let whole_bytes = size_of_val(out);
    if after == 1 {
        assert!(input.len() == before * extent && out.len() == input.len());
        return share_rows(cores, [extent; 2], out, |rows, out| {
            let input = &input[rows.start * extent..rows.end * extent];
            past_caches(out, whole_bytes, |out| simd::dispatch(MapRows { input, extent, out, map }));
        });
    }
    share_rows(cores, [extent * after; 2], out, |blocks, out| {
        let input = &input[blocks.start * extent * after..blocks.end * extent * after];
        simd::dispatch(MapLanes { input, extents: [blocks.len(), extent, after], out, map });
    });
}

/// [`map_lanes_on`] of lines whose elements lie side by side.
struct MapRows<'a, 'o, T, M> {
    input: &'a [T],
    extent: usize,
    out: &'a mut PastCaches<'o, T>,
    map: M,
}

impl<T: Real, M: MapOfLanes> simd::Vectorised for MapRows<'_, '_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { input, extent, out, map } = self;
        let group = (GROUP / extent).max(1) * extent;
        with_scratch([group.min(input.len())], |[buffer]: [&mut [T::Compute]; 1]| {
            for lanes in input.chunks(group) {
                let buffer = &mut buffer[..lanes.len()];
                T::widen_slice(lanes, buffer);
                map.map(buffer, extent);
                out.narrow(buffer);
            }
        });
    }
}

/// [`map_lanes`] of some blocks.
struct MapLanes<'a, T, M> {
    input: &'a [T],
    extents: [usize; 3],
    out: &'a mut [T],
    map: M,
}

impl<T: Real, M: MapOfLanes> simd::Vectorised for MapLanes<'_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { input, extents, out, map } = self;
        map_lanes(input, extents, out, |lanes| map.map(lanes, extents[1]));
    }
}
