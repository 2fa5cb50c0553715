//! The settings of CUDA devices.

use std::sync::Arc;

use super::RuntimeBuilder;
use super::environment::from_environment;
use super::variables;
use crate::clock::Clock;
use crate::cuda::{CudaDevice, DeviceSearch, Now};
use crate::device::CudaSetting;
use crate::error::{Error, ErrorKind, Result};

const DEVICES: &str = "DAHL_NCUDA";
const LIMIT: &str = "DAHL_CUDA_LIMIT_MB";
const TF32: &str = "DAHL_CUDA_TF32";
const GRAPHS: &str = "DAHL_CUDA_GRAPHS";

impl RuntimeBuilder {
    /// Sets how many CUDA devices are used; 0 for none. It is an error if there are fewer. By default all devices are
    /// used, and it is not an error if there are none. A simulated machine uses none.
    pub fn cuda_devices(mut self, devices: usize) -> Self {
        self.cuda_devices = Some(devices);
        self
    }

    /// Limits how much of each CUDA device's memory replicas and kernels' buffers may reserve, in units of 2^20 bytes.
    pub fn cuda_limit_mb(mut self, megabytes: f64) -> Self {
        self.cuda_limit_mb = Some(megabytes);
        self
    }

    /// Sets whether libraries may compute `f32` in TF32 on CUDA devices: faster, with 10 instead of 23 bits of
    /// fraction.
    pub fn cuda_tf32(mut self, allowed: bool) -> Self {
        self.cuda_tf32 = Some(allowed);
        self
    }

    /// Sets whether CUDA devices run programs as CUDA graphs, each with one launch (`docs/cuda-devices.md`). Results have the bits
    /// that single tasks have on the device. The duration of each of these tasks is not known. On by default.
    pub fn cuda_graphs(mut self, graphs: bool) -> Self {
        self.cuda_graphs = Some(graphs);
        self
    }
}

/// The devices, each with the bytes of its memory that may be used.
#[track_caller]
pub(super) fn cuda_devices(
    set: Option<usize>,
    limit_mb: Option<f64>,
    tf32: Option<bool>,
    graphs: Option<bool>,
    clock: &Clock,
) -> Result<Vec<CudaSetting>> {
    if cfg!(dahl_fuzz) {
        return Ok(Vec::new()); // what drivers do follows no schedule
    }
    let setting = if set.is_some() { "cuda_devices" } else { DEVICES };
    let number = |number: u64| usize::try_from(number).ok().map(Some);
    let wanted = from_environment(DEVICES, set.map(Some), None, number)?;
    let limit_bytes = limit_bytes(limit_mb)?;
    let switch = |number: u64| (number <= 1).then_some(number == 1);
    let tf32 = from_environment(TF32, tf32, false, switch)?;
    let graphs = from_environment(GRAPHS, graphs, true, switch)?;
    let clock = clock.clone();
    let now_ns: Now = Arc::new(move || clock.now_ns());
    let (devices, reason) = match CudaDevice::find(wanted.unwrap_or(usize::MAX), &now_ns) {
        DeviceSearch::Devices(devices) => (devices, String::new()),
        DeviceSearch::None(reason) => (Vec::new(), format!(": {reason}")),
    };
    if let Some(wanted) = wanted.filter(|&wanted| wanted > devices.len()) {
        let expected = format!("at most {}, which is how many CUDA devices there are{reason}", devices.len());
        return Err(Error::new(ErrorKind::Config { setting, value: wanted.to_string(), expected }));
    }
    let setting = |device: Arc<CudaDevice>| {
        device.allow_tf32(tf32);
        device.run_graphs(graphs);
        let limit_bytes = limit_bytes.unwrap_or_else(|| device.free_bytes() / 10 * 9);
        CudaSetting { device, limit_bytes }
    };
    Ok(devices.into_iter().map(setting).collect())
}

/// The bytes of each device's memory that may be used, if there is a limit.
#[track_caller]
fn limit_bytes(set: Option<f64>) -> Result<Option<usize>> {
    let (setting, text) = match set {
        Some(megabytes) => ("cuda_limit_mb", megabytes.to_string()),
        None => match variables::text(LIMIT)? {
            Some(text) => (LIMIT, text),
            None => return Ok(None),
        },
    };
    match text.trim().parse::<f64>() {
        Ok(megabytes) if megabytes.is_finite() && megabytes > 0.0 => {
            Ok(Some((megabytes * f64::from(1 << 20)) as usize))
        }
        _ => {
            let expected = variables::accepted(LIMIT).to_owned();
            Err(Error::new(ErrorKind::Config { setting, value: text, expected }))
        }
    }
}
