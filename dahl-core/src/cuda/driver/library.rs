//! Whether the driver is there.

use std::sync::OnceLock;

use cudarc::driver::sys;

use super::error::{CudaError, check};

/// The file that drivers install.
const LIBRARY: &str = "libcuda.so.1";

/// Loads the driver, once for the process, and starts it.
///
/// # Errors
/// Why there is none.
pub(super) fn start() -> Result<(), String> {
    static LOADED: OnceLock<Result<(), String>> = OnceLock::new();
    LOADED.get_or_init(load).clone()?;
    // SAFETY: the library is there; 0 is the only flag that exists. What has been started is not started again.
    check("cuInit", unsafe { sys::cuInit(0) }).map_err(|error: CudaError| error.to_string())
}

fn load() -> Result<(), String> {
    // cudarc panics where there is no library, so it is asked for first. It stays loaded: cudarc loads the same one.
    // SAFETY: a library of CUDA's, whose initialisation has no requirements.
    let library = unsafe { libloading::Library::new(LIBRARY) }.map_err(|error| error.to_string())?;
    std::mem::forget(library);
    Ok(())
}
