//! [`CudaLibrary`]: a library that kernels need.

/// A library of CUDA's that dahl loads where it is, and does without where it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CudaLibrary {
    /// Products of matrices: `libcublas`.
    Cublas,
    /// Convolutions: `libcudnn`.
    Cudnn,
}

impl CudaLibrary {
    /// How many there are.
    pub(crate) const COUNT: usize = 2;

    /// What NVIDIA calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cublas => "cuBLAS",
            Self::Cudnn => "cuDNN",
        }
    }
}
