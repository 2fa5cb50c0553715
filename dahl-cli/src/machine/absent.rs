//! [`Absence`]: what could be there and is not.

use std::fs;
use std::path::Path;

use serde::Serialize;

/// Something that could be there, and why it is not, or not used.
#[derive(Serialize)]
pub(super) struct Absence {
    pub(super) what: &'static str,
    pub(super) why: String,
}

const NVIDIA: &str = "/proc/driver/nvidia/gpus";
const POWERCAP: &str = "/sys/class/powercap";

pub(super) fn absences() -> Vec<Absence> {
    vec![Absence { what: "CUDA devices", why: cuda() }, Absence { what: "energy counters", why: energy() }]
}

/// Why no worker is a CUDA device.
fn cuda() -> String {
    match fs::read_dir(NVIDIA).map(Iterator::count) {
        Ok(0) | Err(_) => format!("none: no NVIDIA driver is loaded that has one ({NVIDIA})"),
        Ok(devices) => format!("the driver has {devices} ({NVIDIA}); dahl runs tasks on none of them yet"),
    }
}

/// Why no energy is measured.
fn energy() -> String {
    let counters: Vec<_> = fs::read_dir(POWERCAP)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("energy_uj"))
        .filter(|path| path.exists())
        .collect();
    let is_readable = |path: &Path| fs::read_to_string(path).is_ok();
    match &counters[..] {
        [] => format!("none: the system shows no RAPL domain ({POWERCAP}/*/energy_uj)"),
        [first, ..] if !is_readable(first) => {
            format!("{} are there, and this user may not read them ({})", counters.len(), first.display())
        }
        [first, ..] => {
            format!("{} are there ({}); dahl measures no energy yet", counters.len(), first.display())
        }
    }
}
