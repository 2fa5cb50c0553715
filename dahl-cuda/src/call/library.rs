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
    /// How many there are; as numbers they are counted from 0 on.
    pub const COUNT: usize = 2;

    /// What NVIDIA calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cublas => "cuBLAS",
            Self::Cudnn => "cuDNN",
        }
    }
}
