//! The energy of a device, and of its codelets: a meter is told which device it measures by the PCI address.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dahl_core::energy::{Domain, EnergyMeter, Fault, Joules, Meters, Part, Reading};

use crate::runtime::bed::{Bed, M, add, builder, cuda};

/// What the fake driver says of its first device.
const ADDRESS: &str = "0000:01:00.0";

/// A meter of the first device, which has used as many joules as the test says, and of another one.
struct OfDevices(Arc<AtomicU64>);

impl EnergyMeter for OfDevices {
    fn name(&self) -> &str {
        "device"
    }

    fn domains(&self) -> Vec<Domain> {
        [ADDRESS, "0000:99:00.0"].map(|address| Domain::new(address, Part::Device(address.to_owned()))).into()
    }

    fn read(&mut self, _: Duration) -> Vec<Result<Reading, Fault>> {
        let joules = self.0.load(Ordering::Relaxed) as f64;
        [joules, 1e3 * joules].map(|joules| Ok(Reading::new(joules))).into()
    }
}

#[test]
fn a_device_has_the_energy_of_its_address() {
    let Some(_bed) = Bed::new("seed=0 devices=1") else { return };
    let joules = Arc::new(AtomicU64::new(50));
    let meters = Meters::new(vec![Box::new(OfDevices(Arc::clone(&joules)))]);
    let rt = builder().energy_meters(meters).build().expect("it can be had");
    let x: M<'_> = rt.zeros([1, 4]).expect("it can be had");
    let mut out = rt.zeros([1, 4]).expect("it can be had");
    // As many joules as tasks, three times: a task is a joule, and idle time is none.
    for tasks in [3, 8, 1] {
        (0..tasks).for_each(|_| add(&x, &mut out, cuda(0)).expect("it is right"));
        rt.wait().expect("nothing failed");
        joules.fetch_add(tasks, Ordering::Relaxed);
        rt.statistics();
    }
    let energy = rt.statistics().energy;
    assert_eq!(energy.nodes[1].energy, Joules::measured(12.0, "device"));
    let absence = energy.nodes[0].energy.absence().expect("nobody measures the host");
    assert_eq!(energy.run.absence(), Some(absence), "a part is not the whole");
    let others = energy.domains.iter().filter(|domain| domain.name == "0000:99:00.0");
    assert_eq!(others.map(|domain| domain.energy.value()).collect::<Vec<_>>(), [Some(12e3)]);
    let of_add = energy
        .estimates
        .iter()
        .find(|estimate| estimate.codelet.as_deref().is_some_and(|codelet| codelet.ends_with("::add")));
    let of_add = of_add.expect("it ran");
    assert!(
        (of_add.value - 1.0).abs() < 1e-6 && of_add.worker_kind == rt.worker_infos()[cuda(0)].kind,
        "{of_add:?}"
    );
}
