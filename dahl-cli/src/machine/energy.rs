//! [`Energy`]: what the machine's energy counters say of a moment.

use std::time::{Duration, Instant};

use dahl::energy::{Absence, DomainEnergy, Meters, Part, Places};
use serde::Serialize;

/// How long counters are watched: RAPL's move every millisecond, NVML's some ten times.
const WATCHED: Duration = Duration::from_millis(500);

/// The energy counters, and what they have counted while they were watched.
#[derive(Serialize)]
pub(super) struct Energy {
    /// How long that was; none if nothing was measured.
    pub(super) seconds: Option<f64>,
    pub(super) domains: Vec<Watched>,
}

/// A counter.
#[derive(Serialize)]
pub(super) struct Watched {
    #[serde(flatten)]
    pub(super) counted: DomainEnergy,
    /// None if the energy is not known, or nothing was measured.
    pub(super) mean_watts: Option<f64>,
}

/// Why a part of the machine has no counter.
#[derive(Default)]
pub(super) struct Uncounted {
    pub(super) host: Option<Absence>,
    pub(super) devices: Option<Absence>,
}

impl Energy {
    /// Watches the counters of this machine, if that is wanted; and why there are none.
    pub(super) fn watch(is_measured: bool) -> (Self, Uncounted) {
        let wait = || std::thread::sleep(WATCHED);
        Self::watch_while(&Places::default(), is_measured.then_some(wait))
    }

    /// Watches the counters at these places while `wait` runs.
    fn watch_while(places: &Places, wait: Option<impl FnOnce()>) -> (Self, Uncounted) {
        let meters = Meters::find(places);
        let any = Part::Device(String::new());
        let absence = |part: &Part| meters.absence(part).cloned();
        let uncounted = Uncounted { host: absence(&Part::Host), devices: absence(&any) };
        let is_empty = meters.is_empty();
        let begin = Instant::now();
        let mut tally = meters.start(Duration::ZERO);
        let seconds = wait.filter(|_| !is_empty).map(|wait| {
            wait();
            tally.read(begin.elapsed());
            begin.elapsed().as_secs_f64()
        });
        let watched = |counted: DomainEnergy| {
            let mean_watts = counted.energy.value().zip(seconds).map(|(joules, seconds)| joules / seconds);
            Watched { counted, mean_watts }
        };
        (Self { seconds, domains: tally.energies().into_iter().map(watched).collect() }, uncounted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn counters_are_watched_while_time_passes() {
        let root = tempfile::tempdir().expect("a folder");
        let zone = root.path().join("intel-rapl:0");
        fs::create_dir(&zone).expect("a folder");
        let set = |name: &str, text: &str| fs::write(zone.join(name), text).expect("a file");
        set("name", "package-0\n");
        set("max_energy_range_uj", "262143328850\n");
        set("energy_uj", "1000000\n");
        let places = Places {
            powercap: root.path().to_owned(),
            nvml: Some(root.path().join("libnvidia-ml.so.1").into_os_string()),
            ..Places::default()
        };
        let (energy, uncounted) = Energy::watch_while(&places, Some(|| set("energy_uj", "1500000\n")));
        let seconds = energy.seconds.expect("it was measured");
        let [package] = &energy.domains[..] else { panic!("one counter") };
        assert_eq!((&*package.counted.name, package.counted.energy.value()), ("package-0", Some(0.5)));
        assert_eq!(package.mean_watts, Some(0.5 / seconds));
        assert!(uncounted.host.is_none());
        assert!(uncounted.devices.is_some_and(|absence| absence.reason.starts_with("NVML is not there")));
        let (idle, _) = Energy::watch_while(&places, None::<fn()>);
        assert_eq!((idle.seconds, idle.domains.len(), idle.domains[0].mean_watts), (None, 1, None));
    }
}
