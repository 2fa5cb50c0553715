//! [`Views`]: the arguments of a kernel, taken one parameter at a time.
#![allow(unsafe_code, reason = "this is where a task's accesses become references")]

use std::marker::PhantomData;
use std::slice;

use ndarray::{ArrayView, ArrayViewMut, Dimension};

use super::operand::Operand;
use super::packs::Packs;
use super::run::{self, Run};
use crate::argument::Argument;
use crate::element::{self, Element, ElementType};
use crate::shape::Layout;

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

    /// All remaining operands and arguments, without taking them.
    pub(super) fn operands_left(&self) -> (&'a [Operand], &'a [u8]) {
        (&self.operands[self.next..], self.arguments)
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
}
