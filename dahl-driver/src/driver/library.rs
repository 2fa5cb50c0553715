//! Whether the driver is installed.

use super::calls;
use super::error::{CudaError, check};

/// The first version of CUDA whose graphs have conditional nodes: 12.4.
const CONDITIONAL: i32 = 12_040;

/// Whether graphs have conditional nodes; if not, the driver's version of CUDA.
pub(super) fn has_conditional_nodes() -> Result<(), String> {
    let mut version = 0;
    // SAFETY: room for a number.
    let code = unsafe { calls::cuDriverGetVersion(&raw mut version) };
    check("cuDriverGetVersion", code).map_err(|error| error.to_string())?;
    let text = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
    let (own, needed) = (text(version), text(CONDITIONAL));
    let fact = || format!("the driver is of CUDA {own}, and conditional nodes are of {needed}");
    if version < CONDITIONAL { Err(fact()) } else { Ok(()) }
}

/// Loads the driver, once for the process, and starts it.
///
/// # Errors
/// Why there is none.
pub(super) fn start() -> Result<(), String> {
    calls::load()?;
    // SAFETY: 0 is the only flag that exists. What has been started is not started again.
    check("cuInit", unsafe { calls::cuInit(0) }).map_err(|error: CudaError| error.to_string())
}
