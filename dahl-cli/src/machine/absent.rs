//! [`Absence`]: parts that a machine could have and does not.

use std::fs;

use dahl::energy;
use serde::Serialize;

use super::RuntimeFacts;
use super::energy::Uncounted;

/// Something that the machine or the runtime could have, and why it is absent or unused.
#[derive(Serialize)]
pub(super) struct Absence {
    pub(super) what: &'static str,
    pub(super) why: String,
}

/// The kind of CPU workers.
const CPU: &str = "cpu";
const NVIDIA: &str = "/proc/driver/nvidia/gpus";

pub(super) fn absences(runtime: &RuntimeFacts, uncounted: &Uncounted) -> Vec<Absence> {
    let there = fs::read_dir(NVIDIA).map_or(0, Iterator::count);
    let used = if runtime.simulated {
        0
    } else {
        runtime.workers.iter().filter(|worker| worker.kind != CPU).count()
    };
    let devices = cuda(there, used, runtime.simulated).map(|why| Absence { what: "CUDA devices", why });
    let compiler = compiler(there.max(used), dahl::cuda::no_compiler());
    let compiler = compiler.map(|why| Absence { what: "CUDA compiler", why });
    let of_host = energy("energy counters", &uncounted.host);
    // Without a device nobody misses its energy.
    let of_devices = energy("energy of devices", &uncounted.devices).filter(|_| there > 0 || used > 0);
    devices.into_iter().chain(compiler).chain(of_host).chain(of_devices).collect()
}

/// Why devices are not workers; none if all are.
fn cuda(there: usize, used: usize, is_simulated: bool) -> Option<String> {
    match there {
        _ if used > 0 && used >= there => None,
        0 => Some(format!("none: no NVIDIA driver is loaded that has one ({NVIDIA})")),
        _ if is_simulated => {
            Some(format!("the driver has {there} ({NVIDIA}); a simulated machine uses none of them"))
        }
        _ => Some(format!(
            "the driver has {there} ({NVIDIA}), of which a runtime uses {used}: see `DAHL_NCUDA`, and \
             `docs/cuda-devices.md` for what a device needs"
        )),
    }
}

/// What the lack of a compiler means, if there are devices.
fn compiler(devices: usize, reason: Option<String>) -> Option<String> {
    let reason = reason.filter(|_| devices > 0)?;
    Some(format!("{reason}; without it the CPU runs the kernels of crates that were built without nvcc"))
}

/// Why the energy of a part is not measured.
fn energy(what: &'static str, absence: &Option<energy::Absence>) -> Option<Absence> {
    absence.as_ref().map(|absence| Absence { what, why: format!("none: {absence}") })
}

#[cfg(test)]
mod tests {
    use super::{compiler, cuda};

    #[test]
    fn devices_that_are_all_used_are_not_absent() {
        assert_eq!(cuda(2, 2, false), None);
        assert_eq!(cuda(0, 1, false), None, "where the system does not show what the driver has");
    }

    #[test]
    fn a_compiler_is_missed_where_there_are_devices() {
        let reason = || Some("there is no NVRTC (/usr/local/cuda)".to_owned());
        assert_eq!(compiler(0, reason()), None);
        assert_eq!(compiler(1, None), None);
        let why = compiler(1, reason()).expect("it is missed");
        assert!(why.starts_with("there is no NVRTC (/usr/local/cuda)") && why.contains("the CPU"), "{why}");
    }

    #[test]
    fn devices_that_are_not_used_are_told() {
        let why = |there, used, is_simulated| cuda(there, used, is_simulated).expect("some are not used");
        assert!(why(0, 0, false).starts_with("none"));
        assert!(why(2, 1, false).contains("has 2") && why(2, 1, false).contains("uses 1"));
        assert!(why(1, 0, true).contains("simulated"));
    }
}
