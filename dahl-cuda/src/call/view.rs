//! [`CudaArray`], [`CudaArrayMut`]: the addresses, extents and strides of a task's arrays on the device.
#![allow(unsafe_code, reason = "whoever says where an array is vouches for it")]

use std::fmt;
use std::marker::PhantomData;

use dahl_element::element::Element;

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
    /// An array whose first element is at `address`.
    ///
    /// # Safety
    /// For as long as `'a`, what is put into the device's stream may read elements of type `T` at all places that the
    /// extents and strides lead to.
    pub unsafe fn at(address: u64, extents: [usize; N], strides: [isize; N]) -> Self {
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

impl<'a, T: Element> CudaArray<'a, T, 3> {
    /// The batch of the transposes of this batch of matrices. Nothing is moved.
    pub fn transposed_matrices(mut self) -> Self {
        self.extents.swap(1, 2);
        self.strides.swap(1, 2);
        self
    }

    /// The first matrix of the batch.
    pub(super) fn first_matrix(self) -> CudaArray<'a, T, 2> {
        let ([_, rows, cols], [_, down, along]) = (self.extents, self.strides);
        CudaArray { address: self.address, extents: [rows, cols], strides: [down, along], data: PhantomData }
    }
}

impl<'a, T: Element, const N: usize> CudaArrayMut<'a, T, N> {
    /// An array whose first element is at `address`.
    ///
    /// # Safety
    /// As for [`CudaArray::at`], and the elements may be written: no other view of them is used as long as this is.
    pub unsafe fn at(address: u64, extents: [usize; N], strides: [isize; N]) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { CudaArray::at(address, extents, strides) }, PhantomData)
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

    /// The same array, to say where it is.
    pub fn reborrow(&mut self) -> CudaArray<'_, T, N> {
        self.0
    }
}

impl<'a, T: Element> CudaArrayMut<'a, T, 1> {
    /// The matrix that has this vector as its only column.
    pub fn into_column(self) -> CudaArrayMut<'a, T, 2> {
        CudaArrayMut(self.0.into_column(), PhantomData)
    }
}

/// An array that nobody reads or writes.
#[cfg(test)]
pub(super) fn at<T: Element, const N: usize>(
    address: u64,
    extents: [usize; N],
    strides: [isize; N],
) -> CudaArray<'static, T, N> {
    // SAFETY: nothing is put into a stream: there is no device.
    unsafe { CudaArray::at(address, extents, strides) }
}
