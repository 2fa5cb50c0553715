//! Whether the driver is installed.

use super::calls;
use super::error::{CudaError, check};

/// Loads the driver, once for the process, and starts it.
///
/// # Errors
/// Why there is none.
pub(super) fn start() -> Result<(), String> {
    calls::load()?;
    // SAFETY: 0 is the only flag that exists. What has been started is not started again.
    check("cuInit", unsafe { calls::cuInit(0) }).map_err(|error: CudaError| error.to_string())
}
