//! [`Functions`]: the functions of `libcudnn` that dahl calls.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use dahl_cuda::call::{CudaCallError, Direction};

use super::super::search;
use super::super::status::{Describe, Status, function, outcome};

pub(super) type Handle = *mut c_void;
/// `cudnnTensorDescriptor_t`, `cudnnFilterDescriptor_t`, `cudnnConvolutionDescriptor_t`.
pub(super) type Descriptor = *mut c_void;

type Create = unsafe extern "C" fn(*mut *mut c_void) -> Status;
type Destroy = unsafe extern "C" fn(*mut c_void) -> Status;
type SetStream = unsafe extern "C" fn(Handle, *mut c_void) -> Status;
/// Descriptor, data type, four extents, four strides.
type SetTensor =
    unsafe extern "C" fn(Descriptor, c_int, c_int, c_int, c_int, c_int, c_int, c_int, c_int, c_int) -> Status;
/// Descriptor, data type, format, four extents.
type SetFilter = unsafe extern "C" fn(Descriptor, c_int, c_int, c_int, c_int, c_int, c_int) -> Status;
/// Descriptor, padding, stride and dilation in rows and columns, mode, compute type.
type SetConvolution =
    unsafe extern "C" fn(Descriptor, c_int, c_int, c_int, c_int, c_int, c_int, c_int, c_int) -> Status;
type SetMathType = unsafe extern "C" fn(Descriptor, c_int) -> Status;
/// Handle, descriptors of the two arrays that are read, the convolution, and the array that is written; how many algorithms there
/// is room for, how many there are, and those.
type Advise = unsafe extern "C" fn(
    Handle,
    Descriptor,
    Descriptor,
    Descriptor,
    Descriptor,
    c_int,
    *mut c_int,
    *mut Advice,
) -> Status;
/// Handle, alpha, the two arrays that are read with their descriptors, the convolution, the algorithm, its workspace, beta, and
/// the array that is written.
type Convolve = unsafe extern "C" fn(
    Handle,
    *const c_void,
    Descriptor,
    *const c_void,
    Descriptor,
    *const c_void,
    Descriptor,
    c_int,
    *mut c_void,
    usize,
    *const c_void,
    Descriptor,
    *mut c_void,
) -> Status;

/// `cudnnConvolutionFwdAlgoPerf_t` and its two like, which differ in the names of algorithms alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(super) struct Advice {
    pub(super) algorithm: c_int,
    pub(super) status: Status,
    pub(super) time: f32,
    pub(super) workspace_bytes: usize,
    /// `cudnnDeterminism_t`: 1 if it gives the same bits each time.
    pub(super) determinism: c_int,
    /// `cudnnMathType_t`.
    pub(super) math: c_int,
    pub(super) reserved: [c_int; 3],
}

/// What there is for one direction.
pub(super) struct Way {
    pub(super) advise: Advise,
    pub(super) convolve: Convolve,
    pub(super) advise_name: &'static str,
    pub(super) convolve_name: &'static str,
}

/// The functions of the library.
///
/// # Invariant
/// N: they are those of a library that stays loaded, and of the types in `cudnn_cnn.h` and `cudnn_ops.h` of version 9.
pub(crate) struct Functions {
    pub(super) create: Create,
    pub(super) destroy: Destroy,
    pub(super) set_stream: SetStream,
    pub(super) create_tensor: Create,
    pub(super) destroy_tensor: Destroy,
    pub(super) set_tensor: SetTensor,
    pub(super) create_filter: Create,
    pub(super) destroy_filter: Destroy,
    pub(super) set_filter: SetFilter,
    pub(super) create_convolution: Create,
    pub(super) destroy_convolution: Destroy,
    pub(super) set_convolution: SetConvolution,
    pub(super) set_math_type: SetMathType,
    forward: Way,
    backward_data: Way,
    backward_filter: Way,
    describe: Describe,
}

/// The functions, loaded once for the process; or why there are none.
pub(crate) fn functions() -> Result<&'static Functions, &'static str> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(load).as_ref().map_err(String::as_str)
}

fn load() -> Result<Functions, String> {
    let library = search::load("cudnn", &["9"], "DAHL_CUDNN")?;
    let functions = Functions {
        create: function(&library, b"cudnnCreate\0")?,
        destroy: function(&library, b"cudnnDestroy\0")?,
        set_stream: function(&library, b"cudnnSetStream\0")?,
        create_tensor: function(&library, b"cudnnCreateTensorDescriptor\0")?,
        destroy_tensor: function(&library, b"cudnnDestroyTensorDescriptor\0")?,
        set_tensor: function(&library, b"cudnnSetTensor4dDescriptorEx\0")?,
        create_filter: function(&library, b"cudnnCreateFilterDescriptor\0")?,
        destroy_filter: function(&library, b"cudnnDestroyFilterDescriptor\0")?,
        set_filter: function(&library, b"cudnnSetFilter4dDescriptor\0")?,
        create_convolution: function(&library, b"cudnnCreateConvolutionDescriptor\0")?,
        destroy_convolution: function(&library, b"cudnnDestroyConvolutionDescriptor\0")?,
        set_convolution: function(&library, b"cudnnSetConvolution2dDescriptor\0")?,
        set_math_type: function(&library, b"cudnnSetConvolutionMathType\0")?,
        forward: Way {
            advise: function(&library, b"cudnnGetConvolutionForwardAlgorithm_v7\0")?,
            convolve: function(&library, b"cudnnConvolutionForward\0")?,
            advise_name: "cudnnGetConvolutionForwardAlgorithm_v7",
            convolve_name: "cudnnConvolutionForward",
        },
        backward_data: Way {
            advise: function(&library, b"cudnnGetConvolutionBackwardDataAlgorithm_v7\0")?,
            convolve: function(&library, b"cudnnConvolutionBackwardData\0")?,
            advise_name: "cudnnGetConvolutionBackwardDataAlgorithm_v7",
            convolve_name: "cudnnConvolutionBackwardData",
        },
        backward_filter: Way {
            advise: function(&library, b"cudnnGetConvolutionBackwardFilterAlgorithm_v7\0")?,
            convolve: function(&library, b"cudnnConvolutionBackwardFilter\0")?,
            advise_name: "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
            convolve_name: "cudnnConvolutionBackwardFilter",
        },
        describe: function(&library, b"cudnnGetErrorString\0")?,
    };
    std::mem::forget(library); // N
    Ok(functions)
}

impl Functions {
    /// What became of a call. Statuses from 3000 on say that the library does not have what was asked for.
    pub(super) fn check(&self, call: &str, status: Status) -> Result<(), CudaCallError> {
        outcome(call, status, self.describe, |status| (3000..4000).contains(&status))
    }

    pub(super) fn way(&self, direction: Direction) -> &Way {
        match direction {
            Direction::Forward => &self.forward,
            Direction::BackwardData => &self.backward_data,
            Direction::BackwardFilter => &self.backward_filter,
        }
    }
}
