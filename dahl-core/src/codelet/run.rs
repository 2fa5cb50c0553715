//! [`Run`]: a sequence of elements that is contiguous in every parameter of a map.
#![allow(unsafe_code, reason = "cuts strided and stretched operands into contiguous runs")]

use std::marker::PhantomData;
use std::slice;

use arrayvec::ArrayVec;
use rayon::prelude::*;

use super::views::{Line, Operand};
use crate::element::Element;
use crate::shape::MAX_RANK;

/// Elements of a run whose operands are gathered or broadcast: a multiple of every vector's width, and few enough that
/// the copies of all operands stay in the first-level cache.
const TILE: usize = 256;
/// Bytes of the largest element that is gathered; larger ones have shorter runs.
const TILE_BYTES: usize = TILE * 8;

/// Elements of a run in a parallel map: few enough that several cores can share a small array, many enough that the
/// cost per run is small.
const RUN: usize = 16 * 1024;

/// The most parameters of a map without a heap allocation.
const FEW: usize = 8;

/// A run: contiguous elements of every parameter of a map, equally many of each. Taken one parameter at a time.
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
    let mut few = ArrayVec::<*mut u8, FEW>::new();
    let mut many = Vec::new();
    let first =
        |operand: &Operand| operand.pointer.wrapping_add(operand.layout.offset * operand.element.size_bytes);
    let pointers: &mut [*mut u8] = if operands.len() <= FEW {
        few.extend(operands.iter().map(first));
        &mut few
    } else {
        many.extend(operands.iter().map(first));
        &mut many
    };
    let extents = output.layout.extents();
    if operands.iter().all(|operand| operand.layout.is_contiguous() && operand.layout.extents() == extents) {
        let len = output.layout.len();
        f(&mut Run { operands, pointers, len, next: 0, data: PhantomData });
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { for_each_tile(operands, pointers, extents, f) };
}

/// [`for_each`] on several cores: contiguous operands of one shape are divided into runs of [`RUN`] elements, which the
/// threads of the rayon pool process. Other operands are processed on this thread.
///
/// # Safety
/// As for [`for_each`].
pub(super) unsafe fn for_each_in_parallel(operands: &[Operand], f: &(dyn Fn(&mut Run<'_>) + Sync)) {
    let Some(output) = operands.iter().rev().find(|operand| operand.writes) else { return };
    let (extents, len) = (output.layout.extents(), output.layout.len());
    let is_like_output =
        |operand: &Operand| operand.layout.is_contiguous() && operand.layout.extents() == extents;
    if len <= RUN || !operands.iter().all(is_like_output) {
        // SAFETY: guaranteed by the caller.
        return unsafe { for_each(operands, &mut |run| f(run)) };
    }
    let shared = Shared(operands);
    (0..len.div_ceil(RUN)).into_par_iter().for_each(|run| {
        let operands = shared.operands();
        let begin = run * RUN;
        let first = |operand: &Operand| {
            operand.pointer.wrapping_add((operand.layout.offset + begin) * operand.element.size_bytes)
        };
        let mut few = ArrayVec::<*mut u8, FEW>::new();
        let mut many = Vec::new();
        let pointers: &[*mut u8] = if operands.len() <= FEW {
            few.extend(operands.iter().map(first));
            &few
        } else {
            many.extend(operands.iter().map(first));
            &many
        };
        f(&mut Run { operands, pointers, len: RUN.min(len - begin), next: 0, data: PhantomData });
    });
}

/// Operands of which threads access disjoint elements.
struct Shared<'a>(&'a [Operand]);

// SAFETY: `for_each_in_parallel` gives each run to one thread, no two runs have an element in common, and elements are
// `Send` and `Sync`. The list itself is only read.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    fn operands(&self) -> &'a [Operand] {
        self.0
    }
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
    let mut extents: ArrayVec<usize, MAX_RANK> = extents.iter().copied().collect();
    let mut strides: Vec<ArrayVec<usize, MAX_RANK>> =
        operands.iter().map(|operand| byte_strides(operand, &extents)).collect();
    merge_axes(&mut extents, &mut strides);
    let row_len = extents.pop().unwrap_or(1);
    let row_strides: Vec<usize> = operands
        .iter()
        .zip(&mut strides)
        .map(|(operand, strides)| strides.pop().unwrap_or(operand.element.size_bytes))
        .collect();
    let widest = operands.iter().map(|operand| operand.element.size_bytes).max().unwrap_or(1);
    let copies =
        operands.iter().zip(&row_strides).any(|(operand, &stride)| stride != operand.element.size_bytes);
    let tile = if copies { (TILE_BYTES / widest).max(1) } else { row_len.max(1) };
    let mut buffers: Vec<Vec<Line>> = operands
        .iter()
        .zip(&row_strides)
        .map(|(operand, &stride)| {
            let size = operand.element.size_bytes;
            if stride == size {
                Vec::new()
            } else {
                vec![Line::default(); (tile * size).div_ceil(size_of::<Line>())]
            }
        })
        .collect();
    let place = |index: usize, row: usize, begin: usize| {
        let (mut rest, mut offset) = (row, begin * row_strides[index]);
        for axis in (0..extents.len()).rev() {
            offset += (rest % extents[axis]) * strides[index][axis];
            rest /= extents[axis];
        }
        starts[index].wrapping_add(offset)
    };
    let mut pointers = starts.to_vec();
    let rows: usize = extents.iter().product();
    for row in 0..rows {
        for (begin, len) in (0..row_len).step_by(tile).map(|begin| (begin, tile.min(row_len - begin))) {
            for (index, operand) in operands.iter().enumerate() {
                let place = place(index, row, begin);
                let size = operand.element.size_bytes;
                pointers[index] = place;
                if row_strides[index] != size {
                    pointers[index] = buffers[index].as_mut_ptr().cast();
                    if operand.reads {
                        // SAFETY: V: `len` elements from `place` on may be read; the buffer holds a tile.
                        unsafe { gather(place, row_strides[index], size, len, pointers[index]) };
                    }
                }
            }
            f(&mut Run { operands, pointers: &pointers, len, next: 0, data: PhantomData });
            for (index, operand) in operands.iter().enumerate() {
                let size = operand.element.size_bytes;
                if operand.writes && row_strides[index] != size {
                    let place = place(index, row, begin);
                    // SAFETY: V: `len` elements from `place` on may be written; the run's views are gone.
                    unsafe { scatter(buffers[index].as_ptr().cast(), place, row_strides[index], size, len) };
                }
            }
        }
    }
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
