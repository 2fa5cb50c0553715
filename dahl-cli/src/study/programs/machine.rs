//! Machines to be simulated.

use dahl::{Machine, Speed, VirtualDevice};

/// What devices are called.
pub(crate) const DEVICE: &str = "device";

/// How many times as many rows the tiles have that tiles of 16 rows stand for.
const TILE_SCALE: f64 = 32.0;

/// CPU workers of this speed, and nothing else.
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

/// The same for tiles of 512 rows, for which tiles of 16 stand: their tasks and transfers take as long as those of the
/// large ones would. A simulated run computes all it simulates.
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
