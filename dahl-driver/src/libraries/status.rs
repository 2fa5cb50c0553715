//! The meaning of a call's status.

use std::ffi::{CStr, c_char, c_int};

use dahl_cuda::call::CudaCallError;
use libloading::{Library, Symbol};

/// A status: a C enum that later versions may add to. So it is a number here.
pub(super) type Status = c_int;

/// A library's text for a status.
///
/// # Safety
/// It takes any number, and returns nothing or a text that ends in zero and is never freed.
pub(super) type Describe = unsafe extern "C" fn(Status) -> *const c_char;

/// A function of a library, for the field of its type: the invariants B of cuBLAS's functions and N of cuDNN's.
///
/// # Errors
/// If the library does not have it.
pub(super) fn function<F: Copy>(library: &Library, name: &[u8]) -> Result<F, String> {
    // SAFETY: the field that it becomes is of the function's type (B, N).
    let found: Result<Symbol<'_, F>, _> = unsafe { library.get(name) };
    found.map(|symbol| *symbol).map_err(|error| error.to_string())
}

/// What became of `call`, whose statuses `is_unsupported` says that the library does not have what was asked for.
pub(super) fn outcome(
    call: &str,
    status: Status,
    describe: Describe,
    is_unsupported: impl FnOnce(Status) -> bool,
) -> Result<(), CudaCallError> {
    if status == 0 {
        return Ok(());
    }
    // SAFETY: `Describe`'s.
    let text = unsafe { describe(status) };
    let text = if text.is_null() {
        "an unknown status".into()
    } else {
        // SAFETY: `Describe`'s.
        unsafe { CStr::from_ptr(text) }.to_string_lossy()
    };
    let message = format!("{call}: {text} ({status})");
    Err(match is_unsupported(status) {
        true => CudaCallError::Unsupported(message),
        false => CudaCallError::Failed(message),
    })
}
