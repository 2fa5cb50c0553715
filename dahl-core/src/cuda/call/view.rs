//! [`CudaArray`], [`CudaArrayMut`]: the addresses, extents and strides of a task's arrays on the device.

use std::fmt;
use std::marker::PhantomData;

use crate::codelet::Operand;
use crate::element::Element;

/// An array on a device, of rank `N`, to be read by what is put into the device's stream. The host cannot look into it.
pub struct CudaArray<'a, T, const N: usize> {
    address: u64,
    extents: [usize; N],
    strides: [isize; N],
    data: PhantomData<&'a [T]>,
}

/// An array on a device, of rank `N`, to be written.
pub struct CudaArrayMut<'a, T, const N: usize>(CudaArray<'a, T, N>, PhantomData<&'a mut [T]>);

impl<T, const N: usize> Clone for CudaArray<'_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for CudaArray<'_, T, N> {}

impl<T, const N: usize> fmt::Debug for CudaArray<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaArray({:#x}, {:?} by {:?})", self.address, self.extents, self.strides)
    }
}

impl<T, const N: usize> fmt::Debug for CudaArrayMut<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'a, T: Element, const N: usize> CudaArray<'a, T, N> {
    /// Where an operand is.
    ///
    /// # Panics
    /// If it is of another rank.
    pub(super) fn of(operand: &Operand) -> Self {
        let start = operand.layout.offset * operand.element.size_bytes;
        let address = (operand.pointer.addr() + start) as u64;
        let rank = "the kernel takes an array of this rank";
        let extents = operand.layout.extents().try_into().expect(rank);
        let strides = operand.layout.strides().as_slice().try_into().expect(rank);
        Self { address, extents, strides, data: PhantomData }
    }

    #[cfg(test)]
    pub(super) fn at(address: u64, extents: [usize; N], strides: [isize; N]) -> Self {
        Self { address, extents, strides, data: PhantomData }
    }

    /// The address of the first element, on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The extents.
    pub fn extents(&self) -> [usize; N] {
        self.extents
    }

    /// The strides, in elements.
    pub fn strides(&self) -> [isize; N] {
        self.strides
    }

    /// The array with its axes in the opposite order: of a matrix, its transpose. Nothing is moved.
    pub fn reversed_axes(mut self) -> Self {
        self.extents.reverse();
        self.strides.reverse();
        self
    }
}

impl<'a, T: Element> CudaArray<'a, T, 1> {
    /// The matrix that has this vector as its only column.
    pub fn into_column(self) -> CudaArray<'a, T, 2> {
        let ([len], [stride]) = (self.extents, self.strides);
        CudaArray { address: self.address, extents: [len, 1], strides: [stride, 1], data: PhantomData }
    }
}

impl<'a, T: Element, const N: usize> CudaArrayMut<'a, T, N> {
    pub(super) fn new(array: CudaArray<'a, T, N>) -> Self {
        Self(array, PhantomData)
    }

    /// The address of the first element, on the device.
    pub fn address(&self) -> u64 {
        self.0.address
    }

    /// The extents.
    pub fn extents(&self) -> [usize; N] {
        self.0.extents
    }

    /// The strides, in elements.
    pub fn strides(&self) -> [isize; N] {
        self.0.strides
    }

    pub(super) fn reborrow(&mut self) -> CudaArray<'_, T, N> {
        self.0
    }
}

impl<'a, T: Element> CudaArrayMut<'a, T, 1> {
    /// The matrix that has this vector as its only column.
    pub fn into_column(self) -> CudaArrayMut<'a, T, 2> {
        CudaArrayMut::new(self.0.into_column())
    }
}
