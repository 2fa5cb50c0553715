//! The elements of an operand with any strides: visited in row-major order, overwritten, and numbered.

use std::slice;

use crate::codelet::{Line, Operand, gather, scatter};
use crate::shape::Layout;

/// Bytes of strided elements that are gathered at a time.
const CHUNK_BYTES: usize = 4096;

/// Calls `f` with chunks of the elements in row-major order: the number of the first, and their bytes.
///
/// # Safety
/// The elements may be read.
pub(super) unsafe fn for_each_chunk(operand: &Operand, mut f: impl FnMut(usize, &[u8])) {
    let size = operand.element.size_bytes;
    let mut gathered = Vec::new();
    let mut first = 0;
    for_each_row(operand, |row, len, stride| {
        if stride == size {
            // SAFETY: guaranteed by the caller: `len` initialised elements from `row` on, contiguous.
            f(first, unsafe { slice::from_raw_parts(row, len * size) });
        } else {
            let at_once = (CHUNK_BYTES / size).max(1);
            gathered.resize((at_once * size).div_ceil(size_of::<Line>()), Line::default());
            for begin in (0..len).step_by(at_once) {
                let count = at_once.min(len - begin);
                let bytes = &mut bytemuck::cast_slice_mut(&mut gathered)[..count * size];
                // SAFETY: guaranteed by the caller: `count` elements `stride` bytes apart; `bytes` is as long.
                unsafe { gather(row.wrapping_add(begin * stride), stride, size, count, bytes.as_mut_ptr()) };
                f(first + begin, bytes);
            }
        }
        first += len;
    });
}

/// Writes `element` to every element.
///
/// # Safety
/// The elements may be written, and `element` is as long as one.
pub(super) unsafe fn fill(operand: &Operand, element: &[u8]) {
    let size = operand.element.size_bytes;
    let mut row_of_elements = Vec::new();
    for_each_row(operand, |row, len, stride| {
        if stride == size {
            // SAFETY: guaranteed by the caller: `len` initialised elements from `row` on, contiguous.
            fill_contiguous(unsafe { slice::from_raw_parts_mut(row, len * size) }, element);
        } else {
            row_of_elements.resize(len * size, 0);
            fill_contiguous(&mut row_of_elements, element);
            // SAFETY: guaranteed by the caller: `len` elements `stride` bytes apart; the row is as long.
            unsafe { scatter(row_of_elements.as_ptr(), row, stride, size, len) };
        }
    });
}

fn fill_contiguous(bytes: &mut [u8], element: &[u8]) {
    fn fill<const SIZE: usize>(bytes: &mut [u8], element: &[u8]) {
        let element: [u8; SIZE] = element.try_into().expect("an element's bytes");
        bytes.as_chunks_mut().0.fill(element);
    }
    match element.len() {
        0 => {}
        1 => fill::<1>(bytes, element),
        2 => fill::<2>(bytes, element),
        4 => fill::<4>(bytes, element),
        8 => fill::<8>(bytes, element),
        size => bytes.chunks_exact_mut(size).for_each(|place| place.copy_from_slice(element)),
    }
}

/// Copies the elements of `from` to those of `to`, which has the same extents.
///
/// # Safety
/// The former may be read, the latter written, and they do not overlap.
pub(super) unsafe fn copy(from: &Operand, to: &Operand) {
    let size = from.element.size_bytes;
    let copy_chunk = |first: usize, bytes: &[u8]| {
        for (i, element) in bytes.chunks_exact(size).enumerate() {
            let place = to.pointer.wrapping_add(offset_of(&to.layout, first + i) * size);
            // SAFETY: guaranteed by the caller: one element on either side.
            unsafe { place.copy_from_nonoverlapping(element.as_ptr(), size) };
        }
    };
    if to.layout.is_contiguous() {
        let start = to.pointer.wrapping_add(to.layout.offset * size);
        let copy_chunk = |first: usize, bytes: &[u8]| {
            // SAFETY: guaranteed by the caller: as many elements on either side, contiguous.
            unsafe { start.wrapping_add(first * size).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        };
        // SAFETY: guaranteed by the caller.
        return unsafe { for_each_chunk(from, copy_chunk) };
    }
    // SAFETY: guaranteed by the caller.
    unsafe { for_each_chunk(from, copy_chunk) };
}

/// The index of element number `number` in row-major order: `[row, column]`.
pub(super) fn index_of(layout: &Layout, number: usize) -> Vec<usize> {
    let mut rest = number;
    let mut index: Vec<usize> = layout
        .extents()
        .iter()
        .rev()
        .map(|&extent| {
            let along = rest % extent;
            rest /= extent;
            along
        })
        .collect();
    index.reverse();
    index
}

/// The number of elements from the start of the buffer to element number `number` in row-major order.
pub(super) fn offset_of(layout: &Layout, number: usize) -> usize {
    let index = index_of(layout, number);
    layout.offset + index.iter().zip(layout.strides()).map(|(i, stride)| i * stride as usize).sum::<usize>()
}

/// Calls `f` with the rows along the last axis: the first element, their number, and the stride in bytes. A contiguous
/// operand is one row.
fn for_each_row(operand: &Operand, mut f: impl FnMut(*mut u8, usize, usize)) {
    let (size, layout) = (operand.element.size_bytes, &operand.layout);
    let len = layout.len();
    if len == 0 || size == 0 {
        return;
    }
    if layout.is_contiguous() {
        return f(operand.pointer.wrapping_add(layout.offset * size), len, size);
    }
    let row_len = layout.extents().last().copied().unwrap_or(1);
    let stride = layout.strides().last().map_or(size, |&stride| stride as usize * size);
    for number in (0..len).step_by(row_len) {
        f(operand.pointer.wrapping_add(offset_of(layout, number) * size), row_len, stride);
    }
}
