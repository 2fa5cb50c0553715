//! [`Views`]: the arguments of a kernel, taken one parameter at a time.
#![allow(unsafe_code, reason = "this is where a task's accesses become references")]

use std::marker::PhantomData;
use std::panic::Location;
use std::slice;
use std::sync::Arc;

use ndarray::{ArrayView, ArrayViewMut, Dimension, StrideShape};

use super::run::{self, Run};
use crate::argument::Argument;
use crate::element::{self, Element, ElementType};
use crate::memory::{Buffer, Holder, MemoryNode};
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

/// The views of a running task, in the order of the declaration. Each parameter can be taken once.
pub struct Views<'a> {
    operands: &'a [Operand],
    next: usize,
    arguments: &'a [u8],
    /// Whether numeric arguments are replaced by their absolute values.
    absolute: bool,
    packs: &'a mut Packs,
    data: PhantomData<&'a mut u8>,
}

/// The memory of one parameter of a running task, for untyped code.
#[doc(hidden)]
#[derive(Debug)]
pub struct RawOperand {
    /// The first element.
    pub start: *mut u8,
    /// The name of the element type.
    pub element: &'static str,
    /// The extents.
    pub extents: Vec<usize>,
    /// The strides, in elements.
    pub strides: Vec<isize>,
    /// Whether the kernel may write to it.
    pub writes: bool,
}

/// A cache line, the unit of buffers that hold elements of any type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Line([u64; 8]);

/// Contiguous copies of strided operands, for kernels that take slices. Recycled from task to task.
pub(crate) struct Packs {
    /// None if no operand is strided.
    memory: Option<Arc<MemoryNode>>,
    /// The line that submitted the running task.
    location: &'static Location<'static>,
    buffers: Vec<Buffer>,
    used: usize,
    /// Copies to be written back: operand and buffer.
    changed: Vec<(usize, usize)>,
}

impl<'a> Views<'a> {
    /// Views of `operands`.
    ///
    /// # Safety
    /// Invariant V holds for each operand.
    pub(crate) unsafe fn new(operands: &'a [Operand], arguments: &'a [u8], packs: &'a mut Packs) -> Self {
        Self { operands, next: 0, arguments, absolute: false, packs, data: PhantomData }
    }

    /// Replaces numeric arguments by their absolute values, to compute the magnitude of sums.
    pub(crate) fn absolute(mut self) -> Self {
        self.absolute = true;
        self
    }

    fn take<T: Element>(&mut self, writes: bool) -> (usize, &'a Operand) {
        self.take_as(ElementType::of::<T>(), writes)
    }

    fn take_as(&mut self, element: ElementType, writes: bool) -> (usize, &'a Operand) {
        let index = self.next;
        let operand = &self.operands[index];
        self.next += 1;
        assert!(
            operand.element == element,
            "parameter {index} holds {}, not {}",
            operand.element.name,
            element.name
        );
        assert!(operand.writes || !writes, "parameter {index} is read only");
        (index, operand)
    }

    /// The next parameter for a kernel in C: its first element, extents and strides; copied to a contiguous buffer if
    /// it is strided and `as_slice`.
    ///
    /// # Panics
    /// If there is no such parameter, it is read only but `writes`, or its element type is another.
    pub(super) fn take_raw(
        &mut self,
        element: ElementType,
        writes: bool,
        as_slice: bool,
    ) -> (*mut u8, &'a Layout) {
        let (index, operand) = self.take_as(element, writes);
        let start = if as_slice && !operand.layout.is_contiguous() {
            self.packs.pack(index, operand, writes)
        } else {
            operand.pointer.wrapping_add(operand.layout.offset * element.size_bytes)
        };
        (start, &operand.layout)
    }

    /// All remaining operands and arguments, and the copies of strided operands.
    pub(super) fn take_operands(&mut self) -> (&'a [Operand], &'a [u8], &mut Packs) {
        let operands = &self.operands[self.next..];
        self.next = self.operands.len();
        (operands, self.arguments, self.packs)
    }

    /// All remaining parameters and arguments, as the emulator of a device passes them to its kernels.
    #[doc(hidden)]
    pub fn take_raw_operands(&mut self) -> (Vec<RawOperand>, &'a [u8]) {
        let operands = &self.operands[self.next..];
        self.next = self.operands.len();
        let raw = operands.iter().map(|operand| RawOperand {
            start: operand.pointer.wrapping_add(operand.layout.offset * operand.element.size_bytes),
            element: operand.element.name,
            extents: operand.layout.extents().to_vec(),
            strides: operand.layout.strides().to_vec(),
            writes: operand.writes,
        });
        (raw.collect(), self.arguments)
    }

    /// The number of remaining parameters.
    pub(super) fn parameters_left(&self) -> usize {
        self.operands.len() - self.next
    }

    /// The remaining encoded arguments.
    pub(super) fn arguments_left(&self) -> &'a [u8] {
        self.arguments
    }

    /// The elements of the next parameter, in row-major order. A strided part is copied to a contiguous buffer.
    ///
    /// # Panics
    /// If there is no such parameter, or its element type is another.
    pub fn slice<T: Element>(&mut self) -> &'a [T] {
        let (index, operand) = self.take::<T>(false);
        let start = if operand.layout.is_contiguous() {
            operand.pointer.cast::<T>().wrapping_add(operand.layout.offset)
        } else {
            self.packs.pack(index, operand, false).cast()
        };
        // SAFETY: V: `len` initialised elements of `T` from `start` on, contiguous, and nothing writes them for 'a. A
        // copy is this task's own, and stays until the next task's `Views::new`.
        unsafe { slice::from_raw_parts(start, operand.layout.len()) }
    }

    /// The elements of the next parameter, in row-major order, mutably. A strided part is copied to a contiguous
    /// buffer, which is written back when the kernel has ended.
    ///
    /// # Panics
    /// If there is no such parameter, it is read only, or its element type is another.
    pub fn slice_mut<T: Element>(&mut self) -> &'a mut [T] {
        let (index, operand) = self.take::<T>(true);
        let start: *mut T = if operand.layout.is_contiguous() {
            operand.pointer.cast::<T>().wrapping_add(operand.layout.offset)
        } else {
            self.packs.pack(index, operand, true).cast()
        };
        // SAFETY: as in `slice`; and V: nothing else reads them, each operand being taken once.
        unsafe { slice::from_raw_parts_mut(start, operand.layout.len()) }
    }

    /// The next parameter as an array view.
    ///
    /// # Panics
    /// If there is no such parameter, or its element type or rank is another.
    pub fn view<T: Element, D: Dimension>(&mut self) -> ArrayView<'a, T, D> {
        let (_, operand) = self.take::<T>(false);
        let (start, shape) = operand.shape::<T, D>();
        // SAFETY: V: the extents and strides from `start` on span initialised elements that nothing writes for 'a.
        unsafe { ArrayView::from_shape_ptr(shape, start) }
    }

    /// The next parameter as a mutable array view.
    ///
    /// # Panics
    /// If there is no such parameter, it is read only, or its element type or rank is another.
    pub fn view_mut<T: Element, D: Dimension>(&mut self) -> ArrayViewMut<'a, T, D> {
        let (_, operand) = self.take::<T>(true);
        let (start, shape) = operand.shape::<T, D>();
        // SAFETY: as in `view`; and V: nothing else reads them, each operand being taken once. Distinct elements have
        // distinct addresses, since the strides come from a partition of a row-major array.
        unsafe { ArrayViewMut::from_shape_ptr(shape, start) }
    }

    /// The next plain argument.
    ///
    /// # Panics
    /// If there is none.
    pub fn argument<A: Argument>(&mut self) -> A {
        let (argument, rest) = self.arguments.split_at(A::SIZE_BYTES);
        self.arguments = rest;
        A::decode(argument)
    }

    /// The next plain argument, of an element type, for a kernel with `f64` in its place.
    ///
    /// # Panics
    /// If there is none, or its type is an element type of another crate.
    pub fn argument_in_f64<T: Element>(&mut self) -> f64 {
        let value = self.argument::<T>();
        let value = element::to_f64(value).unwrap_or_else(|| panic!("{} has no value in f64", T::NAME));
        if self.absolute { value.abs() } else { value }
    }

    /// Divides all remaining parameters into runs of equally many elements, contiguous in each, and calls `f` for each
    /// run. Inputs are broadcast along axes of extent 1. If all are contiguous and have one shape, there is one run.
    pub fn for_each_run(&mut self, mut f: impl FnMut(&mut Run<'_>)) {
        let operands = &self.operands[self.next..];
        self.next = self.operands.len();
        // SAFETY: V, and each operand is taken once: these were left, and now none is.
        unsafe { run::for_each(operands, &mut f) };
    }

    /// As [`for_each_run`](Self::for_each_run), in parallel on several cores if the arrays are large, contiguous and of
    /// one shape. The runs depend only on the arrays.
    pub fn for_each_run_in_parallel(&mut self, f: impl Fn(&mut Run<'_>) + Sync) {
        let operands = &self.operands[self.next..];
        self.next = self.operands.len();
        // SAFETY: as in `for_each_run`.
        unsafe { run::for_each_in_parallel(operands, &f) };
    }
}

impl Operand {
    /// The first element, and the extents and strides from there.
    fn shape<T, D: Dimension>(&self) -> (*mut T, StrideShape<D>) {
        let start = self.pointer.cast::<T>().wrapping_add(self.layout.offset);
        (start, self.layout.stride_shape())
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

impl Packs {
    pub(crate) fn new(memory: Option<Arc<MemoryNode>>) -> Self {
        Self { memory, location: Location::caller(), buffers: Vec::new(), used: 0, changed: Vec::new() }
    }

    /// Starts the views of another task, submitted at `location`.
    pub(crate) fn begin(&mut self, location: &'static Location<'static>) {
        self.location = location;
        self.used = 0;
        self.changed.clear();
    }

    /// Starts other views of the same task.
    pub(crate) fn restart(&mut self) {
        self.begin(self.location);
    }

    /// Where the running task was submitted.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// The copy of an operand. If its memory cannot be had, the kernel is stopped: it unwinds with the [`Shortage`].
    ///
    /// [`Shortage`]: crate::error::Shortage
    fn pack(&mut self, index: usize, operand: &Operand, changes: bool) -> *mut u8 {
        let bytes = operand.layout.len() * operand.element.size_bytes;
        let buffer = self.used;
        self.used += 1;
        if self.buffers.len() == buffer {
            self.buffers.push(Buffer::default());
        }
        let holder = Holder::new("packed copies", self.location);
        let memory = self.memory.as_ref().expect("strided operands have memory for their copies");
        let start = match self.buffers[buffer].at_least(memory, bytes, holder) {
            Ok(start) => start,
            Err(shortage) => std::panic::resume_unwind(Box::new(shortage)),
        };
        if changes {
            self.changed.push((index, buffer));
        }
        if operand.reads {
            // SAFETY: V for the operand; the buffer has `bytes` bytes and is not used elsewhere.
            unsafe { copy_rows(operand, start, Direction::Pack) };
        }
        start
    }

    /// Writes changed copies back after the kernel has ended.
    ///
    /// # Safety
    /// `operands` are those of the views that made the copies, V still holds for them, and no view is left.
    pub(crate) unsafe fn unpack(&mut self, operands: &[Operand]) {
        for (index, buffer) in self.changed.drain(..) {
            let start = self.buffers[buffer].pointer();
            // SAFETY: V: the task may write the operand, and the buffer was copied from its layout.
            unsafe { copy_rows(&operands[index], start, Direction::Unpack) };
        }
    }
}

#[derive(PartialEq)]
enum Direction {
    Pack,
    Unpack,
}

/// Copies between a strided operand and its elements in row-major order at `packed`.
///
/// # Safety
/// The operand may be read (to pack) or written (to unpack), and `packed` spans as many bytes as it has.
unsafe fn copy_rows(operand: &Operand, packed: *mut u8, direction: Direction) {
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
