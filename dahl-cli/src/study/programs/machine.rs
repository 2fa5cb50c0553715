//! Models of simulated machines.

use dahl::{Machine, Speed, VirtualDevice};

/// The name of the device.
pub(crate) const DEVICE: &str = "device";

/// The factor between the rows of the tiles that are simulated and those of the tiles of 16 rows that are computed.
const TILE_SCALE: f64 = 32.0;

/// A machine with CPU workers of this speed alone.
pub(crate) fn of_cpu(speed: Speed) -> Machine {
    let mut machine = Machine::default();
    machine.cpu.speed = speed;
    machine
}

/// CPU workers of this speed, and a device behind a link of so many microseconds and bytes per nanosecond.
pub(crate) fn beside_cpu(speed: Speed, device: Speed, latency_us: f64, gbytes_per_s: f64) -> Machine {
    let device = VirtualDevice::new(DEVICE).speed(device).link(latency_us, gbytes_per_s);
    Machine { devices: vec![device], ..of_cpu(speed) }
}

/// The same, with the durations of tiles of 512 rows: tasks and transfers of tiles of 16 rows take as long as those of
/// the large ones would. A simulated run really computes what it simulates.
pub(crate) fn of_tiles(mut machine: Machine) -> Machine {
    let scale = |speed: &mut Speed| {
        speed.gflops /= TILE_SCALE.powi(3);
        speed.gbytes_per_s /= TILE_SCALE.powi(2);
    };
    scale(&mut machine.cpu.speed);
    for device in &mut machine.devices {
        scale(&mut device.speed);
        device.link_gbytes_per_s /= TILE_SCALE.powi(2);
    }
    machine
}
