//! [`CudaCall`]: the interface of a kernel that calls a CUDA library instead of being launched (`cuda_call = [..]`).
//!
//! Such a kernel is a Rust function that runs on the thread of the device's worker. It describes the computation by
//! views of the task's arrays on the device, and the library puts the work into the device's stream. `worker::cuda`
//! calls it, and owns the libraries' handles. `cuda/LIBRARIES.md` describes the design.
//!
//! Not here: which of a codelet's kernels runs (`autotune`), and what libraries are told (`dahl_cuda::call`).
#![allow(unsafe_code, reason = "says where a task's arrays are on the device")]
#![cfg_attr(any(dahl_fuzz, not(feature = "cuda")), allow(dead_code, reason = "there are no such devices"))]

use std::ffi::c_void;
use std::ptr::NonNull;

use dahl_cuda::call::{Convolution, CudaArray, CudaArrayMut, CudaCallError, Direction, Gemm, Tensor};

use crate::argument::Argument;
use crate::codelet::Operand;
use crate::element::{Element, Real};

/// A kernel that calls a library.
pub(crate) type CudaEntry = fn(&mut CudaCall<'_>) -> Result<(), CudaCallError>;

/// What the worker of a device lends to a call.
pub(crate) trait Lender {
    /// The stream in which the task is, a `CUstream`.
    fn stream(&self) -> NonNull<c_void>;

    /// Memory of the device for this task alone.
    fn workspace(&mut self, bytes: usize) -> Result<u64, CudaCallError>;

    /// Lets cuBLAS compute a product, or a batch of them.
    fn gemm(&mut self, gemm: &Gemm) -> Result<(), CudaCallError>;

    /// Lets cuDNN compute a convolution, or one of its gradients.
    fn convolve(&mut self, convolution: &Convolution) -> Result<(), CudaCallError>;
}

/// A task that a library of CUDA's is to run: its arrays on the device, its arguments, and the libraries.
///
/// Nothing of it reads or writes the device's memory from the host: what the libraries are told happens in the order of
/// the device's stream. A function that finds that it cannot say what is wanted returns
/// [`CudaCallError::Unsupported`] before it has told them anything, and another kernel runs.
///
/// # Invariant
/// O: for as long as `'a`, work that is put into the device's stream may read the elements of `operands`, and write those of the
/// ones that are written, which nobody else uses.
pub struct CudaCall<'a> {
    operands: &'a [Operand],
    next: usize,
    arguments: &'a [u8],
    lender: &'a mut dyn Lender,
}

impl std::fmt::Debug for CudaCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CudaCall").field("operands", &self.operands.len()).finish_non_exhaustive()
    }
}

impl<'a> CudaCall<'a> {
    /// A call on these operands, whose addresses are the device's.
    ///
    /// # Safety
    /// O.
    pub(crate) unsafe fn new(
        operands: &'a [Operand],
        arguments: &'a [u8],
        lender: &'a mut dyn Lender,
    ) -> Self {
        Self { operands, next: 0, arguments, lender }
    }

    /// Where the next operand is: its first element, extents and strides.
    fn take<T: Element, const N: usize>(&mut self, writes: bool) -> (u64, [usize; N], [isize; N]) {
        let (index, operand) = (self.next, &self.operands[self.next]);
        self.next += 1;
        assert!(
            operand.element.is::<T>(),
            "parameter {index} holds {}, not {}",
            operand.element.name,
            T::NAME
        );
        assert!(operand.writes || !writes, "parameter {index} is read only");
        let start = operand.layout.offset * operand.element.size_bytes;
        let rank = "the kernel takes an array of this rank";
        let extents = operand.layout.extents().try_into().expect(rank);
        let strides = operand.layout.strides().as_slice().try_into().expect(rank);
        ((operand.pointer.addr() + start) as u64, extents, strides)
    }

    /// The next parameter, to be read.
    ///
    /// # Panics
    /// If there is no such parameter, or its element type or rank is another.
    pub fn array<T: Element, const N: usize>(&mut self) -> CudaArray<'a, T, N> {
        let (address, extents, strides) = self.take::<T, N>(false);
        // SAFETY: O; `take` has found that the elements are of type `T`.
        unsafe { CudaArray::at(address, extents, strides) }
    }

    /// The next parameter, to be written.
    ///
    /// # Panics
    /// If there is no such parameter, it is read only, or its element type or rank is another.
    pub fn array_mut<T: Element, const N: usize>(&mut self) -> CudaArrayMut<'a, T, N> {
        let (address, extents, strides) = self.take::<T, N>(true);
        // SAFETY: O; `take` has found that the elements are of type `T` and may be written, and each operand is taken once.
        unsafe { CudaArrayMut::at(address, extents, strides) }
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

    /// The stream in which the task is, a `CUstream` of the device's context, which is current: for a library of one's own. What
    /// is put into it may use the arrays of this task; nothing may be put into another stream.
    pub fn stream(&self) -> NonNull<c_void> {
        self.lender.stream()
    }

    /// The address of memory of the device of this many bytes, aligned to 256, for what this call puts into the stream: it is
    /// freed behind that.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn workspace(&mut self, bytes: usize) -> Result<u64, CudaCallError> {
        self.lender.workspace(bytes)
    }

    /// `out = alpha * a x b + beta * out`, by cuBLAS. Where `beta` is 0, what is in `out` is of no meaning.
    ///
    /// Sums are in the compute type, `f32` for `f16` and `bf16`, and for `f32` too without TF32 unless the user asked for it.
    ///
    /// # Shapes
    /// `a: [rows, inner]`, `b: [inner, cols]`, `out: [rows, cols]`.
    ///
    /// # Errors
    /// `Unsupported`, if cuBLAS has no product of such types, or a view has no axis along which its elements lie side by side.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn gemm<T: Real, O: Element>(
        &mut self,
        alpha: f64,
        a: CudaArray<'_, T, 2>,
        b: CudaArray<'_, T, 2>,
        beta: f64,
        out: &mut CudaArrayMut<'_, O, 2>,
    ) -> Result<(), CudaCallError> {
        let gemm = Gemm::new(alpha, a, b, beta, out.reborrow())?;
        self.lender.gemm(&gemm)
    }

    /// `out[i] = alpha * a[i] x b[i] + beta * out[i]` for each `i` of a batch, by one call of cuBLAS; otherwise as
    /// [`gemm`](Self::gemm).
    ///
    /// # Shapes
    /// `a: [batch, rows, inner]`, `b: [batch, inner, cols]`, `out: [batch, rows, cols]`.
    ///
    /// # Errors
    /// As for [`gemm`](Self::gemm).
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn gemm_batched<T: Real, O: Element>(
        &mut self,
        alpha: f64,
        a: CudaArray<'_, T, 3>,
        b: CudaArray<'_, T, 3>,
        beta: f64,
        out: &mut CudaArrayMut<'_, O, 3>,
    ) -> Result<(), CudaCallError> {
        let gemm = Gemm::of_batch(alpha, a, b, beta, out.reborrow())?;
        self.lender.gemm(&gemm)
    }

    /// The convolution of `input` with `filters`, by cuDNN: `out[n, f, r, c] = sum over i, j, k of filters[f, i, j, k] *
    /// input[n, i, r * stride[0] + j - padding[0], c * stride[1] + k - padding[1]]`, with zeros outside of the image.
    ///
    /// Sums are of products, in the compute type, as for [`gemm`](Self::gemm), and of the same bits each time: no transforms, no
    /// atomics. So it is in both gradients.
    ///
    /// # Shapes
    /// `input: [batch, in_channels, rows, cols]`, `filters: [out_channels, in_channels, kernel rows, kernel cols]`,
    /// `out: [batch, out_channels, (rows + 2 padding - kernel rows) / stride + 1, ..]`.
    ///
    /// # Errors
    /// `Unsupported`, if cuDNN has no such convolution of such types, an array has no elements or more than 2^31, elements overlap,
    /// the filters are not contiguous, or the device has no room for what an algorithm needs besides.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn convolution<T: Real>(
        &mut self,
        input: CudaArray<'_, T, 4>,
        filters: CudaArray<'_, T, 4>,
        out: &mut CudaArrayMut<'_, T, 4>,
        stride: [usize; 2],
        padding: [usize; 2],
    ) -> Result<(), CudaCallError> {
        let tensors = [Tensor::of(input), Tensor::of(filters), Tensor::of(out.reborrow())];
        self.convolve::<T>(Direction::Forward, tensors, 0.0, stride, padding)
    }

    /// The gradient of a [`convolution`](Self::convolution) by its input, `out`, from the gradient by its output, by cuDNN.
    ///
    /// # Errors
    /// As for [`convolution`](Self::convolution).
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn convolution_backward_data<T: Real>(
        &mut self,
        gradient: CudaArray<'_, T, 4>,
        filters: CudaArray<'_, T, 4>,
        out: &mut CudaArrayMut<'_, T, 4>,
        stride: [usize; 2],
        padding: [usize; 2],
    ) -> Result<(), CudaCallError> {
        let tensors = [Tensor::of(out.reborrow()), Tensor::of(filters), Tensor::of(gradient)];
        self.convolve::<T>(Direction::BackwardData, tensors, 0.0, stride, padding)
    }

    /// The gradient of a [`convolution`](Self::convolution) by its filters, from the gradient by its output, by cuDNN:
    /// `out = gradient by the filters + beta * out`. Where `beta` is 0, what is in `out` is of no meaning.
    ///
    /// # Errors
    /// As for [`convolution`](Self::convolution). Of halves cuDNN adds up in `f32` and writes halves: sums in an array of `f32` it does
    /// not have.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn convolution_backward_filter<T: Real, O: Element>(
        &mut self,
        input: CudaArray<'_, T, 4>,
        gradient: CudaArray<'_, T, 4>,
        beta: f64,
        out: &mut CudaArrayMut<'_, O, 4>,
        stride: [usize; 2],
        padding: [usize; 2],
    ) -> Result<(), CudaCallError> {
        let tensors = [Tensor::of(input), Tensor::of(out.reborrow()), Tensor::of(gradient)];
        self.convolve::<T>(Direction::BackwardFilter, tensors, beta, stride, padding)
    }

    fn convolve<T: Real>(
        &mut self,
        direction: Direction,
        tensors: [Tensor; 3],
        beta: f64,
        stride: [usize; 2],
        padding: [usize; 2],
    ) -> Result<(), CudaCallError> {
        let convolution = Convolution::new::<T>(direction, tensors, beta, stride, padding)?;
        self.lender.convolve(&convolution)
    }
}
