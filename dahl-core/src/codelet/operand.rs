//! [`Operand`]: the memory of one parameter of a running task, and copies of its elements in row-major order.
#![allow(unsafe_code, reason = "copies the elements of operands whose invariant the caller keeps")]

use ndarray::{Dimension, StrideShape};

use super::run;
use super::views::Line;
use crate::element::ElementType;
use crate::shape::Layout;

/// The memory of one parameter of a running task.
///
/// Invariant **V**, which the code that makes a list of operands for [`Views::new`] keeps for the views' lifetime:
/// `pointer` and `layout` span initialised elements of type `element`, aligned for it; nothing writes them, and if
/// `writes`, nothing else reads them either, through another operand or otherwise. (It follows from the dependencies of
/// the task: `graph/README.md`. One array passed twice is only read, since the wrappers take `&mut` for every other
/// mode.)
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    pub(crate) pointer: *mut u8,
    pub(crate) layout: Layout,
    pub(crate) element: ElementType,
    pub(crate) writes: bool,
    /// Whether the kernel may read the old content (all modes but `W`).
    pub(crate) reads: bool,
}

impl Operand {
    /// A placeholder.
    pub(crate) const EMPTY: Self = Self {
        pointer: std::ptr::null_mut(),
        layout: Layout::EMPTY,
        element: ElementType::of::<u8>(),
        writes: false,
        reads: false,
    };
}

impl Operand {
    /// The first element, and the extents and strides from there.
    pub(super) fn shape<T, D: Dimension>(&self) -> (*mut T, StrideShape<D>) {
        let start = self.pointer.cast::<T>().wrapping_add(self.layout.offset);
        (start, self.layout.stride_shape())
    }

    /// The bytes of the elements, if these are contiguous.
    pub(crate) fn contiguous_bytes(&self) -> Option<*mut [u8]> {
        let size = self.element.size_bytes;
        let start = self.pointer.wrapping_add(self.layout.offset * size);
        let bytes = || std::ptr::slice_from_raw_parts_mut(start, self.layout.len() * size);
        self.layout.is_contiguous().then(bytes)
    }

    /// Calls `change` with a contiguous copy of the elements, and writes it back.
    ///
    /// # Safety
    /// V, and no views of the operand exist.
    pub(crate) unsafe fn change_packed(&self, change: impl FnOnce(&mut [u8])) {
        let bytes = self.layout.len() * self.element.size_bytes;
        let mut packed = vec![Line::default(); bytes.div_ceil(size_of::<Line>())];
        let bytes = &mut bytemuck::cast_slice_mut(&mut packed)[..bytes];
        // SAFETY: guaranteed by the caller; `bytes` is as long as the operand.
        unsafe { copy_rows(self, bytes.as_mut_ptr(), Direction::Pack) };
        change(bytes);
        // SAFETY: as above.
        unsafe { copy_rows(self, bytes.as_mut_ptr(), Direction::Unpack) };
    }

    /// Copies the elements, in row-major order, to `packed`.
    ///
    /// # Safety
    /// The elements may be read, and as many bytes at `packed` written; they do not overlap.
    pub(crate) unsafe fn pack_into(&self, packed: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { copy_rows(self, packed, Direction::Pack) };
    }

    /// Copies the elements from `packed`, where they lie in row-major order.
    ///
    /// # Safety
    /// As many bytes at `packed` may be read, and the elements written; they do not overlap.
    pub(crate) unsafe fn unpack_from(&self, packed: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { copy_rows(self, packed, Direction::Unpack) };
    }

    /// Copies the bytes from `start` on, of the elements in row-major order, to `packed`.
    ///
    /// # Safety
    /// The elements may be read. They are as many bytes as `packed`, or are contiguous and have as many from `start` on.
    pub(crate) unsafe fn pack_bytes(&self, start: usize, packed: &mut [u8]) {
        if self.layout.is_contiguous() {
            // SAFETY: the caller's; a reference is to memory that nobody else uses, so they do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(self.byte(start), packed.as_mut_ptr(), packed.len()) };
        } else {
            // SAFETY: the caller's: `start` is 0, and `packed` has room for all; for overlaps as above.
            unsafe { self.pack_into(packed.as_mut_ptr()) };
        }
    }

    /// Copies `packed` to the bytes from `start` on, of the elements in row-major order.
    ///
    /// # Safety
    /// The elements may be written. They are as many bytes as `packed`, or are contiguous and have as many from `start` on.
    pub(crate) unsafe fn unpack_bytes(&self, start: usize, packed: &[u8]) {
        if self.layout.is_contiguous() {
            // SAFETY: the caller's; a reference is to memory that nobody else writes, so they do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(packed.as_ptr(), self.byte(start), packed.len()) };
        } else {
            // SAFETY: the caller's: `start` is 0, and `packed` has all, which is only read; for overlaps as above.
            unsafe { self.unpack_from(packed.as_ptr().cast_mut()) };
        }
    }

    /// Where byte `start` of contiguous elements is.
    fn byte(&self, start: usize) -> *mut u8 {
        self.pointer.wrapping_add(self.layout.offset * self.element.size_bytes + start)
    }

    /// Calls `f` with the byte offset, from `pointer`, of each row along the last axis, and the length of a row.
    fn for_each_row(&self, mut f: impl FnMut(usize, usize)) {
        let extents = self.layout.extents();
        let strides = self.layout.strides();
        let Some((&row_len, outer)) = extents.split_last() else {
            return f(self.layout.offset * self.element.size_bytes, 1);
        };
        let rows: usize = outer.iter().product();
        for row in 0..rows {
            let (mut rest, mut offset) = (row, self.layout.offset);
            for axis in (0..outer.len()).rev() {
                offset += (rest % outer[axis]) * strides[axis] as usize;
                rest /= outer[axis];
            }
            f(offset * self.element.size_bytes, row_len);
        }
    }
}

#[derive(PartialEq)]
pub(super) enum Direction {
    Pack,
    Unpack,
}

/// Copies between a strided operand and its elements in row-major order at `packed`.
///
/// # Safety
/// The operand may be read (to pack) or written (to unpack), and `packed` spans as many bytes as it has.
pub(super) unsafe fn copy_rows(operand: &Operand, packed: *mut u8, direction: Direction) {
    let size = operand.element.size_bytes;
    let stride = operand.layout.strides().last().map_or(size, |&stride| stride as usize * size);
    let mut to = packed;
    operand.for_each_row(|offset, len| {
        let row = operand.pointer.wrapping_add(offset);
        if direction == Direction::Pack {
            // SAFETY: `row` has `len` elements `stride` bytes apart; `to` is within `packed`.
            unsafe { run::gather(row, stride, size, len, to) };
        } else {
            // SAFETY: as above, the other way.
            unsafe { run::scatter(to, row, stride, size, len) };
        }
        to = to.wrapping_add(len * size);
    });
}
