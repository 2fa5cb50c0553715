//! [`Meters`]: all meters of a machine.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::absence::Absence;
use crate::meter::{EnergyMeter, Part};
use crate::nvml::Nvml;
use crate::power_pmu::PowerPmu;
use crate::powercap::Powercap;
use crate::tally::Tally;

/// Where a machine's counters are. The default is where Linux has them.
#[derive(Clone, Debug)]
pub struct Places {
    /// The zones of powercap.
    pub powercap: PathBuf,
    /// The power PMU of perf.
    pub pmu: PathBuf,
    /// Who may use perf.
    pub paranoid: PathBuf,
    /// NVIDIA's management library; none if devices are not to be measured.
    pub nvml: Option<OsString>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            powercap: "/sys/class/powercap".into(),
            pmu: "/sys/bus/event_source/devices/power".into(),
            paranoid: "/proc/sys/kernel/perf_event_paranoid".into(),
            nvml: Some("libnvidia-ml.so.1".into()),
        }
    }
}

/// The meters of a machine, and why parts of it have none.
#[derive(Default)]
pub struct Meters {
    pub(crate) meters: Vec<Box<dyn EnergyMeter>>,
    /// Why the host has none.
    pub(crate) no_host: Option<Absence>,
    /// Why devices have none.
    pub(crate) no_device: Option<Absence>,
}

impl fmt::Debug for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.meters.iter().map(|meter| meter.name())).finish()
    }
}

impl Meters {
    /// These meters, and no other.
    pub fn new(meters: Vec<Box<dyn EnergyMeter>>) -> Self {
        Self { meters, ..Self::default() }
    }

    /// The meters of this machine: RAPL by powercap, else by perf; and NVML.
    pub fn find(places: &Places) -> Self {
        let mut found = Self::default();
        match Powercap::open(&places.powercap) {
            Ok(powercap) => found.meters.push(Box::new(powercap)),
            Err(no_powercap) => match PowerPmu::open(&places.pmu, &places.paranoid) {
                Ok(pmu) => found.meters.push(Box::new(pmu)),
                Err(no_pmu) => found.no_host = Some(Absence::all(&[no_powercap, no_pmu])),
            },
        }
        match places.nvml.as_ref().map(Nvml::open) {
            Some(Ok(nvml)) => found.meters.push(Box::new(nvml)),
            Some(Err(absence)) => found.no_device = Some(absence),
            None => {}
        }
        found
    }

    /// Adds a meter.
    pub fn push(&mut self, meter: impl EnergyMeter + 'static) {
        self.meters.push(Box::new(meter));
    }

    /// Whether there is no meter.
    pub fn is_empty(&self) -> bool {
        self.meters.is_empty()
    }

    /// Why a part has no meter, if the meters were [looked for](Self::find) and none was found.
    pub fn absence(&self, part: &Part) -> Option<&Absence> {
        match part {
            Part::Host => self.no_host.as_ref(),
            Part::Device(_) => self.no_device.as_ref(),
            Part::Machine => None,
        }
    }

    /// Reads all meters, and counts from here.
    pub fn start(self, at: Duration) -> Tally {
        Tally::start(self, at)
    }
}
