//! [`FetchError`]: why elements cannot be fetched; [`Requester`]: who asked for them.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::cuda::CudaError;
use crate::error::Failure;
use crate::memory::Shortage;

/// Why elements cannot be made available at a memory node.
#[derive(Debug)]
pub(crate) enum FetchError {
    /// A task that should have written them failed, or they were lost with a device.
    Poisoned(Arc<Failure>),
    /// There is not enough memory for them.
    Shortage(Shortage),
    /// The device of memory node `node` failed, or is lost.
    Device { node: usize, error: Option<CudaError> },
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisoned(failure) => write!(f, "{}", failure.report()),
            Self::Shortage(shortage) => write!(f, "out of memory: {shortage}"),
            Self::Device { node, error: Some(error) } => {
                write!(f, "the device of memory {node} failed: {error}")
            }
            Self::Device { node, error: None } => write!(f, "the device of memory {node} is lost"),
        }
    }
}

/// The task or call that needs elements at a memory node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requester {
    /// The codelet of the task, or the host's call.
    pub(crate) name: &'static str,
    /// The line of the submission, or of the call.
    pub(crate) location: &'static Location<'static>,
}
