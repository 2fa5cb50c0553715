//! [`Descriptors`]: the shape of a convolution as descriptors of cuDNN.

use std::ffi::{c_int, c_void};
use std::ptr;

use dahl_cuda::call::{ConvolutionShape, CudaCallError, Direction, Precision, TensorShape};

use super::super::status::Status;
use super::functions::{Descriptor, Functions};

/// `CUDNN_TENSOR_NCHW`.
const NCHW: c_int = 0;
/// `CUDNN_CROSS_CORRELATION`: filters are not flipped.
const CROSS_CORRELATION: c_int = 1;

/// A descriptor that goes with its owner.
///
/// # Invariant
/// E: `pointer` is one that the library made, of what `destroy` destroys, until this is dropped.
struct Owned {
    pointer: Descriptor,
    destroy: unsafe extern "C" fn(*mut c_void) -> Status,
}

/// The descriptors of a convolution, set to its shape.
pub(super) struct Descriptors {
    input: Owned,
    filters: Owned,
    output: Owned,
    convolution: Owned,
}

/// `cudnnDataType_t`.
fn data_type(precision: Precision) -> c_int {
    match precision {
        Precision::F32 => 0,
        Precision::F64 => 1,
        Precision::F16 => 2,
        Precision::Bf16 => 9,
    }
}

impl Owned {
    /// # Safety
    /// `create` and `destroy` make and destroy descriptors of the same kind, for as long as the process runs.
    unsafe fn new(
        functions: &Functions,
        create: unsafe extern "C" fn(*mut *mut c_void) -> Status,
        destroy: unsafe extern "C" fn(*mut c_void) -> Status,
    ) -> Result<Self, CudaCallError> {
        let mut pointer = ptr::null_mut();
        // SAFETY: room for a pointer; the function is the caller's.
        let status = unsafe { create(&raw mut pointer) };
        functions.check("creating a descriptor of cuDNN's", status)?;
        Ok(Self { pointer, destroy })
    }

    fn tensor(
        functions: &Functions,
        tensor: &TensorShape,
        element: Precision,
    ) -> Result<Self, CudaCallError> {
        // SAFETY: N; these are a pair.
        let this = unsafe { Self::new(functions, functions.create_tensor, functions.destroy_tensor) }?;
        let ([n, c, h, w], [by_n, by_c, by_h, by_w]) = (tensor.extents, tensor.strides);
        let element = data_type(element);
        // SAFETY: N, E.
        let status =
            unsafe { (functions.set_tensor)(this.pointer, element, n, c, h, w, by_n, by_c, by_h, by_w) };
        functions.check("cudnnSetTensor4dDescriptorEx", status)?;
        Ok(this)
    }

    fn filters(
        functions: &Functions,
        filters: &TensorShape,
        element: Precision,
    ) -> Result<Self, CudaCallError> {
        // SAFETY: N; these are a pair.
        let this = unsafe { Self::new(functions, functions.create_filter, functions.destroy_filter) }?;
        let [k, c, h, w] = filters.extents;
        // SAFETY: N, E.
        let status = unsafe { (functions.set_filter)(this.pointer, data_type(element), NCHW, k, c, h, w) };
        functions.check("cudnnSetFilter4dDescriptor", status)?;
        Ok(this)
    }

    fn convolution(functions: &Functions, shape: &ConvolutionShape) -> Result<Self, CudaCallError> {
        // SAFETY: N; these are a pair.
        let this =
            unsafe { Self::new(functions, functions.create_convolution, functions.destroy_convolution) }?;
        let ([down, right], [above, left]) = (shape.stride, shape.padding);
        let compute = data_type(shape.compute);
        // SAFETY: N, E.
        let status = unsafe {
            let set = functions.set_convolution;
            set(this.pointer, above, left, down, right, 1, 1, CROSS_CORRELATION, compute)
        };
        functions.check("cudnnSetConvolution2dDescriptor", status)?;
        Ok(this)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: E.
        unsafe { (self.destroy)(self.pointer) };
    }
}

impl Descriptors {
    pub(super) fn new(functions: &Functions, shape: &ConvolutionShape) -> Result<Self, CudaCallError> {
        Ok(Self {
            input: Owned::tensor(functions, &shape.input, shape.element)?,
            filters: Owned::filters(functions, &shape.filters, shape.element)?,
            output: Owned::tensor(functions, &shape.output, shape.element)?,
            convolution: Owned::convolution(functions, shape)?,
        })
    }

    /// Sets what units may compute it: a `cudnnMathType_t`.
    pub(super) fn set_math(&self, functions: &Functions, math: c_int) -> Result<(), CudaCallError> {
        // SAFETY: N, E.
        let status = unsafe { (functions.set_math_type)(self.convolution.pointer, math) };
        functions.check("cudnnSetConvolutionMathType", status)
    }

    pub(super) fn convolution(&self) -> Descriptor {
        self.convolution.pointer
    }

    /// The arrays in the order of cuDNN's functions: the two that are read, and the one that is written.
    pub(super) fn arrays(&self, direction: Direction) -> [Descriptor; 3] {
        ordered(direction, [self.input.pointer, self.filters.pointer, self.output.pointer])
    }
}

/// What is said of the input, the filters and the output, in the order of cuDNN's functions.
pub(super) fn ordered<A>(direction: Direction, [input, filters, output]: [A; 3]) -> [A; 3] {
    match direction {
        Direction::Forward => [input, filters, output],
        Direction::BackwardData => [filters, output, input],
        Direction::BackwardFilter => [input, output, filters],
    }
}
