//! What libraries of CUDA's are told: a task's arrays on the device, and the product or the convolution of them.
//!
//! [`Gemm`] and [`Convolution`] say it as cuBLAS and cuDNN take it. Not here: the libraries (`dahl-driver`), and the kernels
//! that call them (`dahl-core`, `cuda::call`).

mod convolution;
mod gemm;
mod library;
mod precision;
mod refusal;
mod view;

pub use convolution::{Convolution, ConvolutionShape, Direction, Tensor, TensorShape};
pub use gemm::{Factor, Gemm};
pub use library::CudaLibrary;
pub use precision::Precision;
pub use refusal::CudaCallError;
pub use view::{CudaArray, CudaArrayMut};
