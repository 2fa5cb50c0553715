//! The CUDA devices that the settings name.

use super::environment::{count, from_environment};
use crate::clock::Clock;
use crate::cuda::{CudaDevice, Found};
use crate::device::CudaSetting;
use crate::error::{Error, ErrorKind, Result};

const DEVICES: &str = "DAHL_NCUDA";

/// The devices, each with how much of its memory may be used.
#[track_caller]
pub(super) fn cuda_devices(
    set: Option<usize>,
    limit_mb: Option<usize>,
    clock: &Clock,
) -> Result<Vec<CudaSetting>> {
    let setting = if set.is_some() { "cuda_devices" } else { DEVICES };
    let number = |number: u64| usize::try_from(number).ok().map(Some);
    let wanted = from_environment(DEVICES, set.map(Some), None, "a whole number", number)?;
    let limit_mb = count("cuda_limit_mb", "DAHL_CUDA_LIMIT_MB", limit_mb, usize::MAX)?;
    let (devices, reason) = match CudaDevice::find(wanted.unwrap_or(usize::MAX), clock) {
        Found::Devices(devices) => (devices, String::new()),
        Found::None(reason) => (Vec::new(), format!(": {reason}")),
    };
    if let Some(wanted) = wanted.filter(|&wanted| wanted > devices.len()) {
        let expected = format!("at most {}, which is how many CUDA devices there are{reason}", devices.len());
        return Err(Error::new(ErrorKind::Config { setting, value: wanted.to_string(), expected }));
    }
    let setting = |device: std::sync::Arc<CudaDevice>| {
        let limit_bytes = if limit_mb == usize::MAX { device.free_bytes() / 10 * 9 } else { limit_mb << 20 };
        CudaSetting { device, limit_bytes }
    };
    Ok(devices.into_iter().map(setting).collect())
}
