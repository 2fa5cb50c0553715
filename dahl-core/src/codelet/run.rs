//! [`Run`]: a sequence of elements that is contiguous in every parameter of a map.
#![allow(unsafe_code, reason = "cuts strided and stretched operands into contiguous runs")]

use std::cell::Cell;
use std::marker::PhantomData;
use std::slice;

use arrayvec::ArrayVec;

use super::operand::Operand;
use super::views::Line;
use crate::element::Element;
use crate::shape::MAX_RANK;

/// Elements of a run whose operands are gathered or broadcast: a multiple of every vector's width, and few enough that
/// the copies of all operands stay in the first-level cache.
const TILE: usize = 256;
/// Bytes of the largest element that is gathered; larger ones have shorter runs.
const TILE_BYTES: usize = TILE * 8;

/// As many parameters as a map is likely to have; the pointers of more are in the thread's [`MANY`].
const FEW: usize = 8;

/// What [`for_each_tile`] needs besides its operands. A thread keeps it from map to map, so that maps allocate nothing
/// once it is large enough.
#[derive(Default)]
struct TileWorkspace {
    /// The strides of each operand along the output's axes, in bytes.
    strides: Vec<ArrayVec<usize, MAX_RANK>>,
    /// Those along the last axis.
    row_strides: Vec<usize>,
    /// Where the elements of the current run are.
    pointers: Vec<*mut u8>,
    /// A contiguous tile of each operand, as long as the longest.
    tiles: Vec<Line>,
}

thread_local! {
    // Both are taken out while they are in use: a map that runs within another one on this thread finds empty ones.
    static TILE_WORKSPACE: Cell<TileWorkspace> = Cell::default();
    static MANY: Cell<Vec<*mut u8>> = const { Cell::new(Vec::new()) };
}

/// Calls `f` with the address of the element of each operand that lies `begin` elements after its first in memory.
fn with_pointers(operands: &[Operand], begin: usize, f: impl FnOnce(&[*mut u8])) {
    let pointers = operands.iter().map(|operand| {
        operand.pointer.wrapping_add((operand.layout.offset + begin) * operand.element.size_bytes)
    });
    if operands.len() <= FEW {
        return f(&pointers.collect::<ArrayVec<_, FEW>>());
    }
    let mut many = MANY.take();
    many.clear();
    many.extend(pointers);
    f(&many);
    MANY.set(many);
}

/// A stretch of elements of every parameter of a map: as many of each, contiguous. Taken one parameter at a time.
pub struct Run<'a> {
    operands: &'a [Operand],
    pointers: &'a [*mut u8],
    len: usize,
    next: usize,
    data: PhantomData<&'a mut u8>,
}

impl<'a> Run<'a> {
    fn take<T: Element>(&mut self, writes: bool) -> *mut T {
        let index = self.next;
        self.next += 1;
        let operand = &self.operands[index];
        assert!(
            operand.element.is::<T>(),
            "parameter {index} holds {}, not {}",
            operand.element.name,
            T::NAME
        );
        assert!(operand.writes || !writes, "parameter {index} is read only");
        self.pointers[index].cast()
    }

    /// The elements of the next parameter.
    ///
    /// # Panics
    /// If there is no such parameter, or its element type is another.
    pub fn slice<T: Element>(&mut self) -> &'a [T] {
        let start = self.take::<T>(false);
        // SAFETY: `for_each` made the run: `len` initialised elements from here on, which nothing writes for 'a.
        unsafe { slice::from_raw_parts(start, self.len) }
    }

    /// The elements of the next parameter, mutably.
    ///
    /// # Panics
    /// If there is no such parameter, it is read only, or its element type is another.
    pub fn slice_mut<T: Element>(&mut self) -> &'a mut [T] {
        let start = self.take::<T>(true);
        // SAFETY: as in `slice`; and nothing else reads them: each parameter of a run is taken once.
        unsafe { slice::from_raw_parts_mut(start, self.len) }
    }
}

/// Divides `operands` into runs. The last one that is written determines the extents; the others are broadcast to them.
///
/// Not generic in `f`, and neither is the code below: there is a kernel for each operation, element type and variant,
/// and this is more code than most of those have.
///
/// # Safety
/// Invariant V of [`Operand`] holds, and no views of these operands exist.
pub(super) unsafe fn for_each(operands: &[Operand], f: &mut dyn FnMut(&mut Run<'_>)) {
    let Some(output) = operands.iter().rev().find(|operand| operand.writes) else { return };
    let extents = output.layout.extents();
    let is_like_output =
        |operand: &Operand| operand.layout.is_contiguous() && operand.layout.extents() == extents;
    with_pointers(operands, 0, |pointers| {
        if operands.iter().all(is_like_output) {
            let len = output.layout.len();
            return f(&mut Run { operands, pointers, len, next: 0, data: PhantomData });
        }
        // SAFETY: the caller's.
        unsafe { for_each_tile(operands, pointers, extents, f) };
    });
}

/// The strides of an operand, in bytes, along the output's axes: 0 where it is broadcast.
fn byte_strides(operand: &Operand, extents: &[usize]) -> ArrayVec<usize, MAX_RANK> {
    let size = operand.element.size_bytes;
    let axes = operand.layout.extents().iter().zip(operand.layout.strides()).zip(extents);
    axes.map(|((&own, stride), &extent)| if own == 1 && extent != 1 { 0 } else { stride as usize * size })
        .collect()
}

/// The general case of [`for_each`]: tiles along the last axis, with copies where an operand is not contiguous there.
///
/// # Safety
/// As for [`for_each`]; `starts` are the operands' first elements.
unsafe fn for_each_tile(
    operands: &[Operand],
    starts: &[*mut u8],
    extents: &[usize],
    f: &mut dyn FnMut(&mut Run<'_>),
) {
    let mut workspace = TILE_WORKSPACE.take();
    let TileWorkspace { strides, row_strides, pointers, tiles } = &mut workspace;
    let mut extents: ArrayVec<usize, MAX_RANK> = extents.iter().copied().collect();
    strides.clear();
    strides.extend(operands.iter().map(|operand| byte_strides(operand, &extents)));
    merge_axes(&mut extents, strides);
    let row_len = extents.pop().unwrap_or(1);
    row_strides.clear();
    row_strides.extend(
        operands
            .iter()
            .zip(&mut *strides)
            .map(|(operand, strides)| strides.pop().unwrap_or(operand.element.size_bytes)),
    );
    let widest = operands.iter().map(|operand| operand.element.size_bytes).max().unwrap_or(1);
    let copies =
        operands.iter().zip(&*row_strides).any(|(operand, &stride)| stride != operand.element.size_bytes);
    let tile = if copies { (TILE_BYTES / widest).min(row_len) } else { row_len }.max(1);
    let tile_lines = (tile * widest).div_ceil(size_of::<Line>());
    // Zeros are a valid value of every element type; what another map has left here need not be one.
    tiles.clear();
    tiles.resize(if copies { operands.len() * tile_lines } else { 0 }, Line::default());
    let tiles = tiles.as_mut_ptr();
    let tile_of = |index: usize| tiles.wrapping_add(index * tile_lines).cast::<u8>();
    let place = |index: usize, row: usize, begin: usize| {
        let (mut rest, mut offset) = (row, begin * row_strides[index]);
        for axis in (0..extents.len()).rev() {
            offset += (rest % extents[axis]) * strides[index][axis];
            rest /= extents[axis];
        }
        starts[index].wrapping_add(offset)
    };
    pointers.clear();
    pointers.extend_from_slice(starts);
    let rows: usize = extents.iter().product();
    for row in 0..rows {
        for (begin, len) in (0..row_len).step_by(tile).map(|begin| (begin, tile.min(row_len - begin))) {
            for (index, operand) in operands.iter().enumerate() {
                let place = place(index, row, begin);
                let size = operand.element.size_bytes;
                pointers[index] = place;
                if row_strides[index] != size {
                    pointers[index] = tile_of(index);
                    if operand.reads {
                        // SAFETY: V: `len` elements from `place` on may be read; `tiles` has a tile for each operand.
                        unsafe { gather(place, row_strides[index], size, len, pointers[index]) };
                    }
                }
            }
            f(&mut Run { operands, pointers, len, next: 0, data: PhantomData });
            for (index, operand) in operands.iter().enumerate() {
                let size = operand.element.size_bytes;
                if operand.writes && row_strides[index] != size {
                    let place = place(index, row, begin);
                    // SAFETY: V: `len` elements from `place` on may be written; the run's views are gone.
                    unsafe { scatter(tile_of(index), place, row_strides[index], size, len) };
                }
            }
        }
    }
    TILE_WORKSPACE.set(workspace);
}

/// Merges neighbouring axes that are contiguous with each other in every operand.
fn merge_axes(extents: &mut ArrayVec<usize, MAX_RANK>, strides: &mut [ArrayVec<usize, MAX_RANK>]) {
    for axis in (1..extents.len()).rev() {
        let inner = extents[axis];
        if strides.iter().all(|strides| strides[axis - 1] == strides[axis] * inner) {
            extents[axis - 1] *= inner;
            extents.remove(axis);
            for strides in strides.iter_mut() {
                strides[axis - 1] = strides[axis];
                strides.remove(axis);
            }
        }
    }
}

/// Copies `len` elements of `size` bytes, `stride` bytes apart, to `to`, contiguously.
///
/// # Safety
/// The elements may be read, `to` may be written, and they do not overlap.
pub(crate) unsafe fn gather(from: *const u8, stride: usize, size: usize, len: usize, to: *mut u8) {
    for i in 0..len {
        let (from, to) = (from.wrapping_add(i * stride), to.wrapping_add(i * size));
        // SAFETY: guaranteed by the caller: element `i` of each side.
        unsafe { copy_element(from, to, size) };
    }
}

/// Copies `len` contiguous elements of `size` bytes from `from` to addresses `stride` bytes apart.
///
/// # Safety
/// `from` may be read, the destinations may be written, and they do not overlap.
pub(crate) unsafe fn scatter(from: *const u8, to: *mut u8, stride: usize, size: usize, len: usize) {
    for i in 0..len {
        let (from, to) = (from.wrapping_add(i * size), to.wrapping_add(i * stride));
        // SAFETY: guaranteed by the caller: element `i` of each side.
        unsafe { copy_element(from, to, size) };
    }
}

/// Copies one element; the sizes of the usual types become one load and one store.
///
/// # Safety
/// `from` may be read and `to` written, `size` bytes each, and they do not overlap.
#[inline(always)]
unsafe fn copy_element(from: *const u8, to: *mut u8, size: usize) {
    macro_rules! copy {
        ($bytes:literal) => {
            // SAFETY: guaranteed by the caller; `size` is this constant here.
            unsafe { std::ptr::copy_nonoverlapping(from, to, $bytes) }
        };
    }
    match size {
        1 => copy!(1),
        2 => copy!(2),
        4 => copy!(4),
        8 => copy!(8),
        // SAFETY: guaranteed by the caller.
        _ => unsafe { std::ptr::copy_nonoverlapping(from, to, size) },
    }
}
