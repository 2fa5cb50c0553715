//! All meters of a machine.

use std::path::Path;
use std::time::Duration;

use dahl_energy::{Meters, Part, Places};

use crate::nvml_library::Fake;
use crate::powercap::{set, zone};

fn places(root: &Path) -> Places {
    Places {
        powercap: root.join("powercap"),
        pmu: root.join("power"),
        paranoid: root.join("perf_event_paranoid"),
        nvml: None,
    }
}

#[test]
fn processors_and_devices_are_measured_side_by_side() {
    let root = tempfile::tempdir().expect("a folder");
    let file = zone(&root.path().join("powercap"), "intel-rapl:0", "package-0", 1_000_000);
    let fake = Fake::new(1);
    let nvml = Some(fake.path.clone().into_os_string());
    let meters = Meters::find(&Places { nvml, ..places(root.path()) });
    let gpu = Part::Device("0000:01:00.0".to_owned());
    assert_eq!((meters.absence(&Part::Host), meters.absence(&gpu)), (None, None));
    let mut tally = meters.start(Duration::ZERO);
    set(&file, 3_000_000);
    fake.energy(0, 500, 0);
    tally.read(Duration::from_secs(1));
    assert_eq!((tally.of_part(&Part::Host).value(), tally.of_part(&gpu).value()), (Some(2.0), Some(0.5)));
    assert!(tally.period().is_some());
}

#[test]
fn a_machine_without_counters_says_what_was_looked_for() {
    let root = tempfile::tempdir().expect("a folder");
    let nvml = Some(root.path().join("libnvidia-ml.so.1").into_os_string());
    let meters = Meters::find(&Places { nvml, ..places(root.path()) });
    assert!(meters.is_empty());
    let tally = meters.start(Duration::ZERO);
    let host = tally.of_part(&Part::Host);
    let absence = host.absence().expect("there is none");
    assert!(absence.reason.contains("powercap") && absence.reason.contains("power/type"), "{absence}");
    assert!(absence.remedy.contains("intel_rapl_msr") && absence.remedy.contains("`rapl`"), "{absence}");
    let device = tally.of_part(&Part::Device("0000:01:00.0".to_owned()));
    assert!(device.absence().is_some_and(|absence| absence.reason.contains("NVML is not there")), "{device}");
}
