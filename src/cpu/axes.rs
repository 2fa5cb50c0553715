//! [`permute`]: copies an array with its axes in another order, in tiles of cache lines.
//!
//! Axes that stay neighbours are one axis. If rows stay rows, they are copied. Otherwise the axis along which the input is
//! contiguous and the one along which the output is make a matrix, which is transposed, for each index of the other axes. A
//! tile has as many rows and columns as a cache line has elements: each line is read, or written, whole while it is in the
//! first-level cache, even if all lines of a tile compete for the same places there. Elements of four and eight bytes are
//! transposed in vectors.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use dahl_core::Element;
use dahl_core::simd::{Vectorised, dispatch};
use pulp::{Simd, WithSimd};

use super::lanes::{Lanes, in_vectors, with_lanes};
use super::scratch::with_scratch;

/// The most axes of an array.
const MOST: usize = 8;
/// Bytes of a cache line.
const LINE_BYTES: usize = 64;
/// Tiles of a block along each axis: so many lines of a page are used before the next block.
const BLOCK: usize = 4;

/// An axis of the output: its extent, and how far the next index is in the input and in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Axis {
    extent: usize,
    from: usize,
    to: usize,
}

/// Some axes, from the outermost of the output on.
#[derive(Clone, Copy, Debug)]
struct Axes {
    all: [Axis; MOST],
    count: usize,
}

impl Axes {
    /// Those of the output whose axis `i` is axis `order[i]` of an input of `shape`. Axes of extent 1 are left out, and those
    /// that follow each other in both arrays are one.
    fn of(shape: &[usize], order: &[usize]) -> Self {
        assert!(shape.len() == order.len() && shape.len() <= MOST, "{} of {} axes", order.len(), shape.len());
        let mut axes = Self { all: [Axis::default(); MOST], count: 0 };
        let mut to = 1;
        // From the innermost on; the order is reversed below.
        for &axis in order.iter().rev() {
            let (extent, from) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
            if extent == 1 {
                continue;
            }
            let inner = axes.all[..axes.count].last_mut();
            match inner {
                Some(inner) if from == inner.from * inner.extent => inner.extent *= extent,
                _ => {
                    axes.all[axes.count] = Axis { extent, from, to };
                    axes.count += 1;
                }
            }
            to *= extent;
        }
        axes.all[..axes.count].reverse();
        axes
    }

    fn as_slice(&self) -> &[Axis] {
        &self.all[..self.count]
    }

    /// Without axis number `index`.
    fn without(mut self, index: usize) -> Self {
        self.all.copy_within(index + 1..self.count, index);
        self.count -= 1;
        self
    }

    /// The first element of the input and of the output for each index of these axes.
    fn each(self) -> impl Iterator<Item = [usize; 2]> {
        let count: usize = self.as_slice().iter().map(|axis| axis.extent).product();
        let (mut index, mut place) = ([0; MOST], [0; 2]);
        (0..count).map(move |_| {
            let current = place;
            for (index, axis) in index[..self.count].iter_mut().zip(self.as_slice()).rev() {
                (*index, place) = (*index + 1, [place[0] + axis.from, place[1] + axis.to]);
                if *index < axis.extent {
                    break;
                }
                (*index, place) = (0, [place[0] - axis.extent * axis.from, place[1] - axis.extent * axis.to]);
            }
            current
        })
    }
}

/// Writes `input`, of `shape`, to `out` with its axes in this order: axis `i` of `out` is axis `order[i]` of `input`.
pub(crate) fn permute<T: Element>(input: &[T], shape: &[usize], order: &[usize], out: &mut [T]) {
    assert_eq!(input.len(), shape.iter().product::<usize>(), "the elements of {shape:?}");
    assert_eq!(input.len(), out.len());
    if input.is_empty() {
        return;
    }
    let axes = Axes::of(shape, order);
    let Some((inner, _)) = axes.as_slice().split_last() else { return out.copy_from_slice(input) };
    let outer = axes.without(axes.count - 1);
    if inner.from == 1 {
        for [from, to] in outer.each() {
            out[to..][..inner.extent].copy_from_slice(&input[from..][..inner.extent]);
        }
        return;
    }
    let contiguous = outer.as_slice().iter().position(|axis| axis.from == 1);
    let contiguous = contiguous.expect("the input's innermost axis of more than one element");
    let matrix = Matrix { columns: outer.all[contiguous], rows: *inner };
    let each = outer.without(contiguous);
    match [size_of::<T>(), align_of::<T>()] {
        [4, 4] => {
            in_vectors(Transpose::<f32> { matrix, each, from: cast_slice(input), to: cast_slice_mut(out) })
        }
        [8, 8] => {
            in_vectors(Transpose::<f64> { matrix, each, from: cast_slice(input), to: cast_slice_mut(out) })
        }
        _ => dispatch(ElementByElement { matrix, each, from: input, to: out }),
    }
}

/// A matrix whose rows are contiguous in the input, and whose columns are in the output.
#[derive(Clone, Copy)]
struct Matrix {
    /// Along which the input is contiguous.
    columns: Axis,
    /// Along which the output is contiguous.
    rows: Axis,
}

impl Matrix {
    /// Copies the element at some rows and columns, one by one.
    #[inline(always)]
    fn copy<T: Copy>(&self, from: &[T], to: &mut [T], rows: Range<usize>, columns: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        for column in columns {
            let to = &mut to[column * self.columns.to..][rows.clone()];
            let from = from[rows.start * self.rows.from + column..].iter().step_by(self.rows.from);
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
    }

    /// How many of the rows and the columns make whole tiles of this side.
    fn whole(&self, side: usize) -> [usize; 2] {
        [self.rows, self.columns].map(|axis| axis.extent / side * side)
    }
}

/// The first row and the first column of each tile, block by block.
#[inline(always)]
fn tiles([rows, columns]: [usize; 2], side: usize) -> impl Iterator<Item = [usize; 2]> {
    let block = BLOCK * side;
    let blocks = (0..columns)
        .step_by(block)
        .flat_map(move |column| (0..rows).step_by(block).map(move |row| [row, column]));
    blocks.flat_map(move |[first_row, first_column]| {
        (first_column..columns.min(first_column + block)).step_by(side).flat_map(move |column| {
            (first_row..rows.min(first_row + block)).step_by(side).map(move |row| [row, column])
        })
    })
}

/// Transposes in vectors. Elements are moved as numbers of the same size, which keeps their bits.
struct Transpose<'a, C> {
    matrix: Matrix,
    each: Axes,
    from: &'a [C],
    to: &'a mut [C],
}

impl<C: Lanes> WithSimd for Transpose<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_lanes!(C, S, N => self.run::<S, N>(simd));
    }
}

impl<C: Lanes> Transpose<'_, C> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(self, simd: S) {
        let Self { matrix, each, from, to } = self;
        let side = LINE_BYTES / size_of::<C>();
        let [rows, columns] = matrix.whole(side);
        for [first, first_to] in each.each() {
            let (from, to) = (&from[first..], &mut to[first_to..]);
            for [row, column] in tiles([rows, columns], side) {
                for column in (column..column + side).step_by(N) {
                    for row in (row..row + side).step_by(N) {
                        square::<C, S, N>(simd, &matrix, from, to, [row, column]);
                    }
                }
            }
            matrix.copy(from, to, rows..matrix.rows.extent, 0..columns);
            matrix.copy(from, to, 0..matrix.rows.extent, columns..matrix.columns.extent);
        }
    }
}

/// Transposes a square of vectors.
#[inline(always)]
fn square<C: Lanes, S: Simd, const N: usize>(
    simd: S,
    matrix: &Matrix,
    from: &[C],
    to: &mut [C],
    [row, column]: [usize; 2],
) {
    // Loops, not closures: a closure that is not inlined is compiled without the machine's vectors.
    let mut square = [C::splat(simd, C::ZERO); N];
    for (index, vector) in square.iter_mut().enumerate() {
        let elements = &from[(row + index) * matrix.rows.from + column..][..N];
        *vector = C::vectors::<S>(elements).0[0];
    }
    let square = C::transpose(simd, square);
    for (index, vector) in square.into_iter().enumerate() {
        let elements = &mut to[(column + index) * matrix.columns.to + row..][..N];
        C::vectors_mut::<S>(elements).0[0] = vector;
    }
}

/// The same for elements of other sizes.
struct ElementByElement<'a, T> {
    matrix: Matrix,
    each: Axes,
    from: &'a [T],
    to: &'a mut [T],
}

impl<T: Element> Vectorised for ElementByElement<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { matrix, each, from, to } = self;
        let side = (LINE_BYTES / size_of::<T>().max(1)).max(1);
        let extents = [matrix.rows.extent, matrix.columns.extent];
        with_scratch([side * side], |[tile]: [&mut [T]; 1]| {
            for [first, first_to] in each.each() {
                let (from, to) = (&from[first..], &mut to[first_to..]);
                for first in tiles(extents, side) {
                    // The input's lines are read whole before others take their places in the cache.
                    let [rows, columns] =
                        [0, 1].map(|axis| first[axis]..extents[axis].min(first[axis] + side));
                    for (row, line) in rows.clone().zip(tile.chunks_exact_mut(side)) {
                        let elements = &from[row * matrix.rows.from + columns.start..][..columns.len()];
                        line[..columns.len()].copy_from_slice(elements);
                    }
                    for (index, column) in columns.enumerate() {
                        let to = &mut to[column * matrix.columns.to..][rows.clone()];
                        let elements = tile[index..].iter().step_by(side);
                        to.iter_mut().zip(elements).for_each(|(to, from)| *to = *from);
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every order of the axes, element by element.
    fn check<T: Element>(shape: &[usize], element: impl Fn(usize) -> T) {
        let input: Vec<T> = (0..shape.iter().product::<usize>()).map(element).collect();
        let axes = shape.len();
        for number in 0..axes.pow(axes as u32) {
            let order: Vec<usize> = (0..axes).map(|place| number / axes.pow(place as u32) % axes).collect();
            if (0..axes).any(|axis| !order.contains(&axis)) {
                continue;
            }
            let mut out = vec![T::LOWEST; input.len()];
            permute(&input, shape, &order, &mut out);
            let view = ndarray::ArrayViewD::from_shape(shape, &input).unwrap();
            let permuted = view.permuted_axes(order.clone());
            assert!(permuted.iter().eq(&out), "{shape:?} {order:?}");
        }
    }

    #[test]
    fn every_order_of_axes_of_every_size_of_element() {
        for shape in
            [&[5][..], &[1, 1], &[40, 70], &[33, 16], &[3, 130, 35], &[17, 1, 64, 5], &[2, 3, 33, 18, 4]]
        {
            check(shape, |i| i as u8);
            check(shape, |i| half::f16::from_bits(i as u16));
            check(shape, |i| i as u32);
            check(shape, |i| i as f64);
        }
        check::<f32>(&[0, 4], |i| i as f32);
    }

    #[test]
    fn axes_that_stay_neighbours_are_one() {
        let axes = Axes::of(&[2, 3, 1, 4, 5], &[3, 4, 0, 2, 1]);
        let expected = [Axis { extent: 20, from: 1, to: 6 }, Axis { extent: 6, from: 20, to: 1 }];
        assert_eq!(axes.as_slice(), expected);
    }
}
