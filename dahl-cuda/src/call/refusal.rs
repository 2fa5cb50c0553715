//! [`CudaCallError`]: why a call did not compute.

use std::fmt;

/// Why a call of a library did not compute what was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CudaCallError {
    /// The library cannot do this, or is not there; nothing was put into the stream. Another kernel runs instead.
    Unsupported(String),
    /// It failed, and so does the task.
    Failed(String),
}

impl fmt::Display for CudaCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(reason) | Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for CudaCallError {}
