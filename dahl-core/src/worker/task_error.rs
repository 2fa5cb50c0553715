//! [`TaskError`]: why a task has no result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::codelet::as_kernel;
use crate::device::FetchError;
use crate::error::{Failure, Shortage};

/// Why a task has no result.
pub(super) enum TaskError {
    /// A dependency failed.
    Cancelled(Arc<Failure>),
    /// It failed itself, with this message.
    Failed(String),
    /// Its worker has no kernel that can run it, for this reason.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    Unable(String),
    /// Memory that it needs cannot be allocated.
    NoRoom(Shortage),
}

impl From<Shortage> for TaskError {
    fn from(shortage: Shortage) -> Self {
        Self::NoRoom(shortage)
    }
}

impl From<FetchError> for TaskError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Poisoned(failure) => Self::Cancelled(failure),
            FetchError::Shortage(shortage) => Self::NoRoom(shortage),
            device @ FetchError::Device { .. } => Self::Failed(device.to_string()),
        }
    }
}

/// Runs a kernel, or other code of the user's; a panic is a failure.
pub(super) fn caught(kernel: impl FnOnce()) -> Result<(), TaskError> {
    catch_unwind(AssertUnwindSafe(|| as_kernel(kernel))).map_err(|panic| TaskError::Failed(message(panic)))
}

/// The message of a kernel's panic, whose payload is dropped.
fn message(panic: Box<dyn Any + Send>) -> String {
    let text = if let Some(text) = panic.downcast_ref::<&str>() {
        format!("panicked: {text}")
    } else if let Some(text) = panic.downcast_ref::<String>() {
        format!("panicked: {text}")
    } else if let Some(shortage) = panic.downcast_ref::<Shortage>() {
        format!("out of memory: {shortage}")
    } else {
        "panicked: a value that is not text".to_owned()
    };
    // The payload is the user's, and its drop may panic. So may the drop of that panic's payload, which is leaked.
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| as_kernel(|| drop(panic)))) {
        std::mem::forget(next);
    }
    text
}
